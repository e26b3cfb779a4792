"""What goes wrong on purpose on a platform's test server: refusals, hanging requests and lost replies."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from aiohttp import web

LOST = 0  # the status of a request whose reply never left
GONE = 499  # of one that was not carried out, since the bot was gone by then


@dataclass(kw_only=True, slots=True)
class Fault:
    """Happens to the next `times` requests that match; `method` is what the platform calls one."""

    method: str
    times: int
    status: int = 0  # 0: not answered with an error
    retry_after_seconds: float = 1
    after: bool = False  # the request is carried out first
    lost: bool = False  # and the connection closed without a reply
    held: asyncio.Event | None = None  # nothing happens until it is set
    saying: str = ""  # what the request's JSON has to hold
    met: int = 0  # requests it happened to


class Hang:
    """Requests that wait: `reached` is set by the first one, `release()` lets all go on."""

    def __init__(self, fault: Fault, reached: asyncio.Event) -> None:
        self._fault = fault
        self.reached = reached

    def release(self) -> None:
        self._fault.times = 0
        assert self._fault.held is not None
        self._fault.held.set()


AnyFault = TypeVar("AnyFault", bound=Fault)
AnyLimit = TypeVar("AnyLimit")


class Faults(Generic[AnyFault, AnyLimit]):
    """The faults and rate limits of one server, first come first served."""

    def __init__(self) -> None:
        self._faults: list[AnyFault] = []
        self._limits: list[AnyLimit] = []
        self._reached: dict[int, asyncio.Event] = {}

    def add(self, fault: AnyFault) -> AnyFault:
        self._faults.append(fault)
        return fault

    def hang(self, fault: AnyFault) -> Hang:
        fault.held = asyncio.Event()
        reached = self._reached[id(self.add(fault))] = asyncio.Event()
        return Hang(fault, reached)

    def limit(self, limit: AnyLimit) -> AnyLimit:
        self._limits.append(limit)
        return limit

    def take_first(self, fits: Callable[[AnyFault], bool]) -> AnyFault | None:
        """The first fault that is not used up and fits; one time of it is used up by that."""
        fault = next((one for one in self._faults if one.times > 0 and fits(one)), None)
        if fault is None:
            return None
        fault.times -= 1
        fault.met += 1
        if reached := self._reached.get(id(fault)):
            reached.set()
        return fault

    def release_all(self) -> None:
        for fault in self._faults:
            fault.times = 0
            if fault.held is not None:
                fault.held.set()


class AnyCall(Protocol):
    """A request as the server's log keeps it."""

    status: int | None  # None: not answered yet


async def answer(
    request: web.Request,
    call: AnyCall,
    fault: AnyFault | None,
    *,
    carry_out: Callable[[], web.Response],
    refuse: Callable[[AnyFault], web.Response],
    changed: Callable[[], None],
) -> web.Response:
    """The reply to a request that meets a fault, or none; `changed` tells those who wait."""
    if fault is not None and fault.held is not None and not fault.after:
        changed()
        await fault.held.wait()
        if request.transport is None:
            call.status = GONE
            changed()
            return web.Response(status=GONE)
    is_refused = fault is not None and fault.held is None and not fault.after
    reply = refuse(fault) if fault is not None and is_refused else carry_out()
    call.status = reply.status
    if fault is not None and fault.after:
        reply = await _spoil(request, call, fault, reply, refuse, changed)
    changed()
    return reply


async def _spoil(
    request: web.Request,
    call: AnyCall,
    fault: AnyFault,
    reply: web.Response,
    refuse: Callable[[AnyFault], web.Response],
    changed: Callable[[], None],
) -> web.Response:
    """What was carried out is not told, or told late."""
    if fault.held is not None:
        changed()
        await fault.held.wait()
        return reply
    call.status = LOST
    if fault.lost and request.transport is not None:
        request.transport.abort()
    return refuse(fault) if fault.status else reply
