"""The server: one aiohttp application on loopback with the API, Socket Mode and the files, and hooks to break them."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from fnmatch import fnmatchcase

from aiohttp import web

from tests.platform_faults import Hang
from tests.platform_server import TIMEOUT_SECONDS, PlatformServer
from tests.slack_launch import API_VARIABLE
from tests.slack_server.calls import Call
from tests.slack_server.delivery import ACK_SECONDS, RETRY_SECONDS, Delivery, Hold, LostAcks, Parcel
from tests.slack_server.faults import Fault, Faults, Limit
from tests.slack_server.http_events import HttpEvents
from tests.slack_server.interactions import Interactions
from tests.slack_server.people import Person
from tests.slack_server.serving import Serving
from tests.slack_server.socket_mode import SocketMode
from tests.slack_server.state import PANE, STATUS_SECONDS, App, Channel, Kind, Message, Team
from tests.slack_server.transcript import text_of, transcript_of
from tests.slack_server.triggers import TRIGGER_SECONDS, Triggers
from tests.slack_server.web_api import WebApi
from tests.slack_server.world import World

POST_SHOWN = 100  # letters of a post in the report of a failure


class SlackServer(PlatformServer):
    """`async with SlackServer() as server:`

    `ack_seconds` is Slack's limit for an acknowledgement, `trigger_seconds` that for opening a modal: on a busy machine
    a bot may need more. `retry_seconds` are the pauses before deliveries are tried again, on the server's clock.
    """

    launcher = "tests.slack_launch"
    faults: Faults

    def __init__(
        self,
        *,
        ack_seconds: float = ACK_SECONDS,
        trigger_seconds: float = TRIGGER_SECONDS,
        retry_seconds: Sequence[float] = RETRY_SECONDS,
    ) -> None:
        self.world = World()
        self.delivery = Delivery(self.world, ack_seconds, retry_seconds)
        self.socket = SocketMode(self.world)
        self.http = HttpEvents(self.world)
        self.delivery.transport = self.socket
        self.triggers = Triggers(self.world.clock, trigger_seconds)
        self.web_api = WebApi(self.world, self.socket, self.triggers)
        self.faults = Faults(self.world.clock.now)
        self.log: list[Call] = []
        self._interactions = Interactions(self.world, self.delivery, self.triggers, self.web_api)
        self._serving = Serving(self.world, self.web_api, self.faults, self.log)
        super().__init__(self.world.waiting)

    def _application(self) -> web.Application:
        app = self._serving.application()
        app.router.add_get("/link/", self.socket.serve)
        return app

    def _listens_at(self, place: str) -> None:
        self.world.address = f"http://{place}"
        self.socket.address = f"ws://{place}/link/"

    async def _close(self) -> None:
        await self.delivery.close()
        await self.socket.close()
        await self.http.close()

    def _unknown_calls(self) -> Sequence[str]:
        return self.gaps

    # ------------------------------------------------------------------ the world

    @property
    def app(self) -> App:
        return self.world.app

    @property
    def api(self) -> str:
        """The base URL for slack_sdk's clients."""
        return f"{self.world.address}/api/"

    @property
    def gaps(self) -> list[str]:
        return self.web_api.gaps

    def create_team(self, name: str = "acme", *, installed: bool = True) -> Team:
        team = self.world.create_team(name)
        if installed:
            self.world.install(team)
        return team

    def create_organisation(self, name: str, *teams: str) -> list[Team]:
        """The app is installed in the whole organisation, and approved for new teams with these names."""
        created = [self.world.create_team(one) for one in teams]
        self.world.install_organisation(name, created)
        return created

    def create_channel(
        self, team: Team, name: str, *people: Person, private: bool = False, with_bot: bool = True
    ) -> Channel:
        """The bot and these people are members of it."""
        bot = [team.bot.id] if with_bot else []
        kind = Kind.PRIVATE if private else Kind.PUBLIC
        return self.world.create_channel(team, name, kind, [*bot, *(one.id for one in people)])

    def person(self, name: str, *channels: Channel, team: Team | None = None) -> Person:
        """A new user, member of these channels, or of a team alone."""
        return self._join(name, channels, team, bot=False)

    def other_bot(self, name: str, *channels: Channel) -> Person:
        """A bot that is not ours: what it says comes with a `bot_id`."""
        return self._join(name, channels, None, bot=True)

    def advance(self, seconds: float) -> None:
        """Moves the server's clock: streams end, triggers and response_urls expire, deliveries are tried again."""
        self.world.clock.advance(seconds)
        self.world.changed()

    # ------------------------------------------------------------------ transports

    @property
    def environment(self) -> Mapping[str, str]:
        return {API_VARIABLE: self.api}

    async def use_http(self, url: str) -> None:
        """From now on everything goes to this address, which has to answer the challenge first."""
        await self.http.verify(url)
        self.delivery.transport = self.http

    # ------------------------------------------------------------------ waiting and looking

    async def wait_for_connection(self, times: int = 1, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        """Until that many connections were greeted in all, and one of them takes envelopes."""
        await self.wait_for(
            lambda: self.socket.opened >= times and self.socket.connected,
            timeout_seconds,
            what=f"{times} connections",
        )

    @property
    def parcels(self) -> list[Parcel]:
        """What was delivered to the bot, or is on its way, as it came to be."""
        return self.delivery.parcels

    @property
    def acknowledged_after(self) -> list[float]:
        """Seconds, of one acknowledged delivery after the other."""
        return [one.after_seconds for one in self.parcels if one.after_seconds is not None]

    async def settle(self, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        """Until all deliveries are acknowledged or given up."""
        await self.wait_for(lambda: all(one.over for one in self.parcels), timeout_seconds, what="all deliveries")

    def calls(self, method: str = "*") -> list[Call]:
        """Calls that match, as they came: `calls("chat.*")`."""
        return [call for call in self.log if fnmatchcase(call.method, method)]

    def posts(self, place: Channel) -> list[Call]:
        """Messages that the bot made in a channel, streams too; also those whose reply was lost."""
        return [one for one in self.log if one.posted and one.channel == place.id]

    def updates(self, place: Channel) -> list[Call]:
        """Changes that the bot made to messages of a channel, what it appended to streams too."""
        return [one for one in self.log if one.updated and one.channel == place.id]

    def answers(self, place: Channel, *, thread: Message | str | None = None) -> list[Message]:
        """The bot's messages in a channel (or one thread of it) as they are now, oldest first; ephemeral ones too."""
        root = thread.root if isinstance(thread, Message) else thread
        own = [one for one in place.messages.values() if one.user == place.team.bot.id]
        own = [one for one in own if one.subtype not in ("tombstone", PANE)]
        return sorted((one for one in own if root in (None, one.root)), key=lambda one: one.ts)

    def status(self, place: Channel, thread: Message | str) -> str | None:
        """The status line of a thread as its reader sees it: it fades after two minutes."""
        told = place.statuses.get(thread.root if isinstance(thread, Message) else thread)
        faded = told is None or self.world.clock.now() - told["at"] >= STATUS_SECONDS
        return None if told is None or faded else str(told["status"])

    def transcript(self, place: Channel, viewer: Person | None = None, *, thread: Message | str | None = None) -> str:
        """What a reader of the channel sees, a line a message; without a viewer all that anybody sees."""
        root = thread.root if isinstance(thread, Message) else thread
        return transcript_of(place, viewer.id if viewer else None, root)

    def _lately(self) -> Mapping[str, Sequence[str]]:
        return {
            "calls": [f"{call.method} -> {call.error or call.status}" for call in self.log],
            "deliveries": [f"{one.name} {one.failures} {one.acknowledged}" for one in self.parcels],
            "posts": [
                f"{text_of(one)[:POST_SHOWN]!r}"
                for team in self.world.teams.values()
                if team.install is not None
                for place in team.channels.values()
                for one in self.answers(place)
            ],
        }

    def _join(self, name: str, channels: Sequence[Channel], team: Team | None, *, bot: bool) -> Person:
        home = team or channels[0].team
        user = self.world.create_user(home, name, bot=bot)
        for channel in channels:
            channel.members.append(user.id)
        return Person(self.world, self._interactions, self.web_api, home, user)

    # ------------------------------------------------------------------ hooks

    def fail_next(
        self, method: str, error: str | None = None, times: int = 1, *, status: int = 0, retry_after_seconds: int = 1
    ) -> Fault:
        """Refuses the next matching calls, which are not carried out: by an error's name, or by 429 or 5xx."""
        assert (error is None) != (status == 0), "an error or a status"
        fault = Fault(method=method, times=times, status=status, error=error, retry_after_seconds=retry_after_seconds)
        return self.faults.add(fault)

    def hang_next(self, method: str, times: int = 1, *, after: bool = False, saying: str = "") -> Hang:
        """The next matching calls get no reply until released; `after`: they are carried out before that.

        `saying`: only those whose parameters, as JSON, hold these words.
        """
        return self.faults.hang(Fault(method=method, times=times, after=after, saying=saying))

    def lose_reply_of_next(self, method: str, times: int = 1, *, status: int = 0, saying: str = "") -> Fault:
        """The next matching calls are carried out, but the connection breaks, or `status` (504) is the reply."""
        fault = Fault(method=method, times=times, status=status, after=True, lost=status == 0, saying=saying)
        return self.faults.add(fault)

    def limit(self, method: str, calls: int, seconds: float, *, each_channel: bool = False) -> Limit:
        """From now on so many matching calls in so many seconds of the server's clock, each method by itself."""
        return self.faults.limit(Limit(method=method, calls=calls, seconds=seconds, each_channel=each_channel))

    def use_tiers(self, *, distributed: bool = False) -> None:
        """From now on Slack's own limits hold; `distributed`: those of an app that is not in Slack's marketplace."""
        self.faults.use_tiers(distributed=distributed)
        self.app.most_read = 15 if distributed else None

    def lose_acks(self, times: int = 1, name: str = "*") -> LostAcks:
        """Slack does not get the next acknowledgements, and counts them as late at once; `name`: "app_mention"."""
        self.delivery.lost.append(lost := LostAcks(name=name, times=times))
        return lost

    def deliver_twice(self, times: int = 1, name: str = "*") -> LostAcks:
        """The next matching events come two times over, with one and the same event id."""
        self.delivery.twice.append(twice := LostAcks(name=name, times=times))
        return twice

    def hold_events(self, times: int = 1, name: str = "*") -> Hold:
        """The next matching events come late: when released."""
        self.delivery.holds.append(hold := Hold(name, times))
        return hold

    def redeliver(self, parcel: Parcel) -> None:
        """The same event once more."""
        self.delivery.redeliver(parcel)

    async def disconnect(self, reason: str = "refresh_requested") -> None:
        """Bots in Socket Mode are told to connect anew; also "warning" and "link_disabled"."""
        await self.socket.disconnect(reason)

    async def drop_sockets(self, *, politely: bool = True) -> None:
        """Ends every connection; slack_sdk comes back at once after a close frame, else after its ping interval."""
        await self.socket.drop(politely=politely)

    @asynccontextmanager
    async def sockets_down(self) -> AsyncIterator[None]:
        """Within it bots hear nothing; afterwards they are greeted again."""
        self.socket.hold()
        await self.drop_sockets()
        try:
            yield
        finally:
            self.socket.let_in()

    def revoke(self, team: Team, error: str = "token_revoked") -> None:
        """The team's token is refused from now on: also "invalid_auth" and "account_inactive"."""
        assert team.install is not None
        team.install.refusal = error
        self.world.changed()
