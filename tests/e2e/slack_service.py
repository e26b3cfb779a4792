"""Runs the real `footnote serve` against a Slack on loopback, over either transport; tells what people see there."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from tests.anthropic_server import AnthropicServer
from tests.anthropic_server.server import KEY, MODEL
from tests.bot_process import BotProcess
from tests.e2e.platform_service import QUESTION, READY, TEAM, PlatformService, url_of
from tests.slack_server import Channel, Message, Person, SlackServer, Team, View, text_of
from tests.slack_server.choosing import blocks_of
from tests.slack_server.transcript import elements, label_of

Transport = Literal["socket", "http"]
TRANSPORTS: tuple[Transport, ...] = ("socket", "http")
ACK_SECONDS = 30.0  # Slack's are 3: how fast the bot is, the benchmark measures
EVENTS_PATH = "slack/events"
FINAL = "👍"  # a button that only whole answers have


class SlackService(PlatformService):
    """`server` is its Slack, `team` the one that its token is of."""

    def __init__(self, server: SlackServer, data: Path, folder: Path, transport: Transport = "socket") -> None:
        super().__init__(server, data, folder)
        self.server = server
        self.transport = transport
        self.team = server.create_team("acme")
        self._workspaces: dict[str, str] = {}
        self.documents_of(self.team, TEAM)

    def documents_of(self, team: Team, workspace: str) -> None:
        """A team reads the documents of a workspace; before the start."""
        self._workspaces[team.id] = workspace

    def answer_by(self, model: AnthropicServer) -> None:
        """By a writing model instead of the built-in one that quotes; before the start."""
        self.settings |= {
            "FOOTNOTE_PROVIDER__NAME": "anthropic",
            "FOOTNOTE_PROVIDER__MODEL": MODEL,
            "FOOTNOTE_PROVIDER__BASE_URL": model.url,
            "ANTHROPIC_API_KEY": KEY,
        }

    def settle_in(self, name: str = "general") -> tuple[Channel, Person]:
        """A channel of the team, and a person in it: each time another one."""
        channel = self.server.create_channel(self.team, name)
        return channel, self.server.person("ada", channel)

    def _environment(self) -> Mapping[str, str]:
        assert self.team.install is not None
        return {
            "SLACK_BOT_TOKEN": self.team.install.token,
            "SLACK_APP_TOKEN": self.server.app.token,
            "SLACK_SIGNING_SECRET": self.server.app.signing_secret,
            "FOOTNOTE_SLACK__TRANSPORT": self.transport,
        }

    def _config_lines(self) -> Sequence[str]:
        return ["[slack.workspaces]", *(f'{team} = "{workspace}"' for team, workspace in self._workspaces.items())]

    async def start(self) -> None:
        await self.start_process(self.process)

    async def start_process(self, process: BotProcess) -> None:
        """Until this process hears what is said."""
        opened, ready = self.server.socket.opened, process.printed.count(READY)
        process.start()
        if self.transport == "socket":
            await self.until(lambda: self.server.socket.opened > opened or not process.running, "a connection to Slack")
        else:
            await self.until(lambda: process.printed.count(READY) > ready or not process.running, "a page to call")
        assert process.running, process.printed
        if self.transport == "http":
            await self.server.use_http(url_of(process) + EVENTS_PATH)

    # ------------------------------------------------------------------ what people see

    def finals(self, place: Channel, thread: Message | str | None = None) -> list[Message]:
        """The whole answers in a place, oldest first."""
        return [message for message in self.server.answers(place, thread=thread) if FINAL in buttons(message)]

    async def answered(self, place: Channel, count: int = 1, *, thread: Message | str | None = None) -> list[str]:
        """What the bot's answers in a place say, when there are so many and all of its posts there are answers."""

        def is_done() -> bool:
            finals = self.finals(place, thread)
            return len(finals) >= count and finals == self.server.answers(place, thread=thread)

        await self.until(is_done, f"{count} answers in {place.name}, and nothing else")
        return [text_of(message) for message in self.finals(place, thread)]

    async def ask(self, person: Person, channel: Channel, question: str = QUESTION) -> Message:
        """Mentions the bot in a channel; gives the question, when it is answered in its thread."""
        asked = await person.mention(channel, question)
        await self.answered(channel, thread=asked)
        return asked

    async def told(self, person: Person, place: Channel, words: str) -> Message:
        """The latest of the bot's posts that a person sees in a place and that has these words, when there is one."""

        def find() -> Message | None:
            own = [message for message in person.sees(place) if message.user == place.team.bot.id]
            return next((message for message in reversed(own) if words in text_of(message)), None)

        await self.until(find, f"a post with {words!r}")
        found = find()
        assert found is not None
        return found


def buttons(where: Message | View) -> Mapping[str, str]:
    """Label -> action id; of thumbs the label of the first."""
    return {label_of(one): str(one.get("action_id", "")) for one in elements(blocks_of(where))}
