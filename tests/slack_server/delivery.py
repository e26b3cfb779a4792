"""What reaches the bot: events, retried until acknowledged, and what people ask it, told once."""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Protocol

from tests.slack_server.hearing import hears
from tests.slack_server.state import Channel, Team
from tests.slack_server.world import World

JSON = dict[str, Any]

ACK_SECONDS = 3.0
RETRY_SECONDS = (0.0, 60.0, 300.0)  # on the server's clock, after a failed delivery


@dataclass(kw_only=True, slots=True)
class Reply:
    """What came back for one attempt; `failure` as in x-slack-retry-reason, None: it was acknowledged."""

    payload: Any = None
    failure: str | None = None
    retry: bool = True  # False: the bot asked for no more


@dataclass(kw_only=True, eq=False, slots=True)
class Parcel:
    kind: str  # "events_api", "interactive", "slash_commands"
    payload: JSON
    failures: list[str] = field(default_factory=list)  # of the attempts so far
    acknowledged: bool = False
    reply: Any = None  # what the acknowledgement held
    after_seconds: float | None = None  # from the attempt that was acknowledged
    over: bool = False  # acknowledged or given up

    @property
    def event(self) -> JSON:
        return dict(self.payload.get("event") or {})

    @property
    def name(self) -> str:
        """An event's type, with its subtype if it has one; of anything else its kind."""
        event = self.event
        return f"{event['type']}.{event['subtype']}" if event.get("subtype") else event.get("type", self.kind)


class Transport(Protocol):
    async def carry(self, parcel: Parcel, ack_seconds: float) -> Reply:
        """One attempt: the parcel's failures so far say which."""
        ...


class Hold:
    """Events that wait: `held` of them so far, `release()` lets them go and no more are held."""

    def __init__(self, name: str, times: int) -> None:
        self.name = name
        self.times = times
        self.held = 0
        self.gate = asyncio.Event()

    def release(self) -> None:
        self.times = 0
        self.gate.set()


@dataclass(kw_only=True, slots=True)
class LostAcks:
    """The next acknowledgements that Slack does not get; counted in `met`."""

    name: str
    times: int
    met: int = 0

    def take(self, name: str) -> bool:
        if self.times <= 0 or not fnmatchcase(name, self.name):
            return False
        self.times -= 1
        self.met += 1
        return True


class Delivery:
    """`parcels` holds all that was on its way, as it came to be."""

    def __init__(self, world: World, ack_seconds: float, retry_seconds: Sequence[float]) -> None:
        self._world = world
        self.ack_seconds = ack_seconds
        self.retry_seconds = retry_seconds
        self.transport: Transport | None = None
        self.parcels: list[Parcel] = []
        self.holds: list[Hold] = []
        self.lost: list[LostAcks] = []
        self.twice: list[LostAcks] = []
        self._tasks: set[asyncio.Task[None]] = set()
        world.hear = self.hear

    def hear(self, team: Team, event: JSON, channel: Channel | None) -> None:
        """From the world: an event that the bot may hear is on its way."""
        if not hears(team, event, channel):
            return
        parcel = Parcel(kind="events_api", payload=self._envelope(team, event))
        self.parcels.append(parcel)
        self._start(self._deliver(parcel))
        if any(one.take(parcel.name) for one in self.twice):
            self.redeliver(parcel)

    def redeliver(self, parcel: Parcel) -> None:
        """The same event once more, although it may have been acknowledged."""
        again = Parcel(kind=parcel.kind, payload=parcel.payload, failures=[*parcel.failures, "timeout"])
        self.parcels.append(again)
        self._start(self._deliver(again))

    async def ask(self, kind: str, payload: JSON) -> Parcel:
        """Tells the bot once; over when it acknowledged, or the time for that is."""
        parcel = Parcel(kind=kind, payload=payload)
        self.parcels.append(parcel)
        await self._attempt(parcel)
        parcel.over = True
        self._world.changed()
        return parcel

    async def close(self) -> None:
        """Cancels until all have ended: Python 3.11's wait_for loses a cancellation that comes with its result."""
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks, timeout=0.1)

    # ------------------------------------------------------------------ one parcel

    def _envelope(self, team: Team, event: JSON) -> JSON:
        organisation = team.organisation.id if team.organisation else None
        who = {"enterprise_id": organisation, "team_id": team.id, "user_id": team.bot.id, "is_bot": True}
        return {
            "token": "verification-token",
            "team_id": team.id,
            "api_app_id": self._world.app.id,
            "event": event,
            "type": "event_callback",
            "event_id": self._world.new_id("Ev"),
            "event_time": int(self._world.clock.now()),
            "authorizations": [{**who, "is_enterprise_install": organisation is not None}],
            "is_ext_shared_channel": self._is_external(team, event),
            "event_context": self._world.new_id("EC"),
        }

    def _is_external(self, team: Team, event: JSON) -> bool:
        channel = team.channels.get(event["channel"]) if isinstance(event.get("channel"), str) else None
        return channel is not None and channel.is_external

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _deliver(self, parcel: Parcel) -> None:
        await self._wait_for_release(parcel)
        retry = await self._attempt(parcel)
        for seconds in self.retry_seconds[max(len(parcel.failures) - 1, 0) :] if retry else ():
            await self._rest(seconds)
            if not await self._attempt(parcel):
                break
        parcel.over = True
        self._world.changed()

    async def _wait_for_release(self, parcel: Parcel) -> None:
        hold = next((one for one in self.holds if one.times > 0 and fnmatchcase(parcel.name, one.name)), None)
        if hold is not None:
            hold.times -= 1
            hold.held += 1
            self._world.changed()
            await hold.gate.wait()

    async def _rest(self, seconds: float) -> None:
        clock = self._world.clock
        due = clock.now() + seconds
        await self._world.waiting.until(lambda: clock.now() >= due, seconds + 1)

    async def _attempt(self, parcel: Parcel) -> bool:
        """Whether to try again."""
        assert self.transport is not None
        start = asyncio.get_running_loop().time()
        reply = await self.transport.carry(parcel, self.ack_seconds)
        if reply.failure is None and any(one.take(parcel.name) for one in self.lost):
            reply = Reply(failure="timeout")
        if reply.failure is None:
            parcel.acknowledged, parcel.reply = True, reply.payload
            parcel.after_seconds = asyncio.get_running_loop().time() - start
        else:
            parcel.failures.append(reply.failure)
        self._world.changed()
        return reply.failure is not None and reply.retry
