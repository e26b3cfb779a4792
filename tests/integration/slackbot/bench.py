"""The platform alone on a Slack of its own: what the worker would do to it, step by step, in time that tests move."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from bot.presentation.direct_threads import private_address
from bot.slackbot.delivery.platform import SlackPlatform
from bot.slackbot.events.directory import People
from bot.slackbot.events.teams import Team as OurTeam
from bot.slackbot.events.teams import Teams
from bot.slackbot.events.translate import MESSAGE, RESPONSE, TEAM, thread_address
from bot.slackbot.web_api import build_client
from core.domain.answer import Answer, AnswerStatus
from core.domain.incoming import IncomingMessage, ThreadAddress, message_key
from core.domain.jobs import JobKind, JobStatus
from core.domain.service import Decision, InboxEntry
from core.ports import ProgressSink
from tests.builders import build_citation, build_job
from tests.fakes import ManualClock
from tests.slack_server import Channel, Message, SlackServer, Team, text_of
from tests.slack_server.triggers import ResponseUrl
from tests.stores import Stores

WORKSPACE = "house"
NOWHERE = "http://127.0.0.1:9/api/"  # nothing listens at this port
ACCEPTED = Decision(code="accepted", sentence="It is answered.", accepted=True)
KEY = "The key hangs behind the door[1]."
SHOWN = "The key hangs behind the door"


class Pauses:
    """Time for the bot and for Slack, which passes when a test says so."""

    def __init__(self, server: SlackServer, clock: ManualClock) -> None:
        self._server = server
        self._clock = clock
        self._waiting: list[tuple[float, float, asyncio.Event]] = []  # until when, how long, who

    async def pause(self, seconds: float) -> None:
        waits = (self._clock.monotonic() + seconds, seconds, asyncio.Event())
        self._waiting.append(waits)
        self._server.world.changed()
        try:
            await waits[2].wait()
        finally:
            self._waiting.remove(waits)

    @property
    def waiting(self) -> list[float]:
        """How long those pauses are that go on, shortest first."""
        return sorted(seconds for _, seconds, _ in self._waiting)

    def advance(self, seconds: float) -> None:
        self._clock.advance(seconds)
        self._server.advance(seconds)
        for until, _, event in self._waiting:
            if until <= self._clock.monotonic():
                event.set()


class Bench:
    """One team with a channel and Ada in it; `platform` is the process that works on questions now."""

    def __init__(self, server: SlackServer) -> None:
        self.server = server
        self.clock = ManualClock(datetime.now(UTC))
        self.time = Pauses(server, self.clock)
        self.team = server.create_team("acme")
        self.general = server.create_channel(self.team, "general")
        self.ada = server.person("ada", self.general)
        self.store = Stores().inbox(self.clock)
        self._platforms: list[SlackPlatform] = []
        self.ours = our_team(server, self.team)
        self.people = People(self.clock)
        self.platform = self.start()

    def start(self) -> SlackPlatform:
        """Another process; the one before it is as dead as after a kill: whatever it still does reaches nobody."""
        self.ours.client.base_url = NOWHERE
        self.ours = our_team(self.server, self.team)
        self.teams = Teams([self.ours])
        self.platform = SlackPlatform(
            self.teams, self.people, self.store, lambda citation, address, answer: None, self.clock, self.time.pause
        )
        self._platforms.append(self.platform)
        self.clock.advance(0.1)
        return self.platform

    async def close(self) -> None:
        self.server.faults.release_all()
        for platform in self._platforms:
            await platform.close()
        await self.people.close()

    # ------------------------------------------------------------------ questions

    async def ask(self, text: str = "where is the key?", *, thread: Message | None = None) -> InboxEntry:
        """Ada's question in the channel, or in a thread of it; taken in, and claimed."""
        return await self.take_in(await self.ada.mention(self.general, text, thread=thread))

    async def take_in(self, message: Message, *, edit: str = "") -> InboxEntry:
        address = thread_address(WORKSPACE, message.channel.id, message.root)
        return await self._accept(address, message.ts, edit=edit)

    async def ask_privately(self, *, by_command: bool = True) -> InboxEntry:
        """As a slash command does, or as a question whose answer nobody else may read."""
        address = private_address(thread_address(WORKSPACE, self.general.id, ""), self.ada.id)
        more = {RESPONSE: self.response_url()} if by_command else {}
        return await self._accept(address, f"{self.clock.now().timestamp():.6f}", **more)

    def response_url(self) -> str:
        told = ResponseUrl(id="R1", user=self.ada.user, channel=self.general, at=self.server.world.clock.now())
        self.server.triggers.new_response(told)
        return f"{self.server.world.address}/respond/{told.id}"

    async def claim(self) -> InboxEntry:
        """The next attempt at what is open."""
        await self.store.release_abandoned()
        [entry] = await self.store.claim(1, [self.platform.name])
        return entry

    async def give_up(self, entry: InboxEntry, sentence: str) -> InboxEntry:
        """What the worker does after an error that no further try mends: the error post is due in the next claim."""
        await self.store.retry(entry.seq, delay_seconds=0, error=sentence, final_error=sentence)
        return await self.claim()

    async def _accept(self, address: ThreadAddress, ts: str, *, edit: str = "", **more: str) -> InboxEntry:
        key = message_key(address, ts)
        incoming = IncomingMessage(
            address=address,
            author=self.ada.id,
            author_name="Ada",
            text="where is the key?",
            event_key=f"{key}@{edit}" if edit else key,
            message_key=key,
            private=address.private_to is not None,
            metadata={TEAM: self.team.id, MESSAGE: ts, **more},
        )
        await self.store.accept(incoming, ACCEPTED)
        return await self.claim()

    # ------------------------------------------------------------------ answers

    async def open(self, entry: InboxEntry) -> ProgressSink:
        return await self.platform.open(entry)

    async def post(self, entry: InboxEntry, text: str = KEY, *, platform: SlackPlatform | None = None) -> str:
        """As the worker does it."""
        look_first = entry.attempts > 1 or entry.event_key != entry.message_key
        posting = platform or self.platform
        return await posting.post(entry.address, entry.message_key, answer(text), look_first=look_first)

    async def fail(self, entry: InboxEntry, sentence: str) -> str:
        return await self.platform.fail(entry.address, entry.message_key, sentence)

    # ------------------------------------------------------------------ what is seen

    def posts(self, place: Channel | None = None) -> list[Message]:
        return self.server.answers(place or self.general)

    def the_post(self, place: Channel | None = None) -> Message:
        """The one and only."""
        [post] = self.posts(place)
        return post

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        await self.server.wait_for(condition, what=what)

    async def rested(self, seconds: float, *, passing: float | None = None) -> None:
        """When a pause of so many seconds goes on: its time passes, or more than that."""
        await self.until(lambda: seconds in self.time.waiting, f"a pause of {seconds:g} s")
        self.time.advance(passing or seconds)

    async def streams(self, *, words: str = "") -> Message:
        """The draft, when it is streamed and has these words."""
        await self.until(
            lambda: any(one.stream is not None and words in one.text for one in self.posts()),
            f"a stream with {words!r}",
        )
        return next(one for one in self.posts() if one.stream is not None)

    def count(self, method: str) -> int:
        return len(self.server.calls(method))


def our_team(server: SlackServer, team: Team) -> OurTeam:
    assert team.install is not None
    return OurTeam(
        id=team.id,
        name=team.name,
        workspace=WORKSPACE,
        bot_user_id=team.bot.id,
        bot_id=team.bot.bot_id or "",
        client=build_client(team.install.token, server.api),
        token=team.install.token,
        url=f"https://{team.name}.slack.com/",
    )


def answer(text: str = KEY) -> Answer:
    return Answer(
        status=AnswerStatus.ANSWERED, text=text, citations=(build_citation(),), grounded=True, message_id="m1"
    )


def long_answer(paragraphs: int = 40) -> str:
    """More than one message holds."""
    return "\n\n".join(f"Paragraph {number}. {'It hangs there. ' * 40}" for number in range(paragraphs))


def step(id: str = "s1", status: JobStatus = JobStatus.RUNNING) -> Any:
    return build_job(id, parent_id="r1", name="search the library", kind=JobKind.TOOL, status=status)


def reads(message: Message) -> str:
    return text_of(message)
