"""The door of the service: what comes in is decided about once, stored, and only then acknowledged.

`receive` reads from top to bottom: a command? a gate that says no? then into the durable inbox, and wake the worker.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from core.answering import check_question
from core.domain.conversation import IncomingMessage, ThreadAddress
from core.domain.inbox import CommandLine, Decision, InboxEntry, Receipt
from core.domain.jobs import RETENTION
from core.errors import BadInput, StorageError
from core.ports import Clock
from core.service_ports import InboxStore

OWN_MESSAGE = "own"  # key of IncomingMessage.metadata, set by adapters on what the bot itself wrote

NOT_FOR_US = "not_for_us"  # key of IncomingMessage.metadata, set by adapters on what people say to each other

ACCEPTED = Decision(code="accepted", sentence="I am answering this.", accepted=True)
COMMAND = Decision(code="command", sentence="This is a command: it is run at once.", accepted=False)
OWN = Decision(code="own_message", sentence="I wrote this message myself.", accepted=False)

BETWEEN_PEOPLE = Decision(
    code="not_for_us",
    sentence="This was said to somebody else, so I left it alone: mention @footnote to ask me.",
    accepted=False,
)

_COMMAND = re.compile(r"/([a-z]+)(?:\s+(.*))?\Z", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One named reason to refuse a message; `check` gives the refusal, or None to let it through."""

    name: str
    check: Callable[[IncomingMessage], Awaitable[Decision | None]]


async def not_my_own(incoming: IncomingMessage) -> Decision | None:
    """What the bot wrote is no question."""
    return OWN if incoming.metadata.get(OWN_MESSAGE) else None


async def for_us(incoming: IncomingMessage) -> Decision | None:
    """What people say to each other is left alone."""
    return BETWEEN_PEOPLE if incoming.metadata.get(NOT_FOR_US) else None


async def readable(incoming: IncomingMessage) -> Decision | None:
    """Empty questions and pasted books are refused with the sentence that says what to do."""
    try:
        check_question(incoming.text)
    except BadInput as error:
        return Decision(code="bad_question", sentence=str(error), accepted=False)
    return None


# In this order; adapters with more to ask (access, a rate) put their gates behind these.
STANDARD_GATES = (
    Gate(name="own message", check=not_my_own),
    Gate(name="for us", check=for_us),
    Gate(name="readable", check=readable),
)


def within_rate(take: Callable[[IncomingMessage], float]) -> Gate:
    """A gate for too many messages: `take` gives the seconds to wait, 0 when there is room."""

    async def check(incoming: IncomingMessage) -> Decision | None:
        seconds = take(incoming)
        if seconds <= 0:
            return None
        sentence = f"Too many questions at once: try again in {max(1, round(seconds))} seconds."
        return Decision(code="over_limit", sentence=sentence, accepted=False)

    return Gate(name="rate", check=check)


class Inbox:
    """Receives messages of all platforms. `wake` is called when there is something new to work on."""

    def __init__(self, store: InboxStore, gates: Sequence[Gate], clock: Clock, wake: Callable[[], None]) -> None:
        self._store = store
        self._gates = tuple(gates)
        self._clock = clock
        self._wake = wake

    async def receive(self, incoming: IncomingMessage) -> Receipt:
        """Decide about a message and store the decision; an accepted one is fsynced when this returns.

        Acknowledge to the platform after this, never before. A repeated event gets the first one's receipt. Raises
        StorageError when it can't be stored: nothing is promised then, and the platform may send it again.
        """
        if not incoming.message_key:
            incoming = replace(incoming, message_key=incoming.event_key)
        command = to_command(incoming.text)
        decision = COMMAND if command is not None else await self._decide(incoming)
        try:
            entry, is_new = await self._store.accept(incoming, decision)
        except StorageError as error:
            raise StorageError(f"This message was not taken in: send it again later. {error}") from error
        if is_new and entry.decision.accepted:
            self._wake()
        return Receipt(
            decision=entry.decision,
            message_key=entry.message_key,
            conversation_id=incoming.conversation_id,
            command=command if is_new else None,
            repeated=not is_new,
        )

    async def why(self, workspace: str, author: str, address: ThreadAddress | None = None) -> InboxEntry | None:
        """The newest message of an author (in a thread) with the decision about it; commands are passed over."""
        entries = await self._store.recent(workspace, author=author, address=address)
        return next((entry for entry in entries if entry.decision.code != COMMAND.code), None)

    async def recent(self, workspace: str, limit: int = 50) -> list[InboxEntry]:
        """The newest messages with their decisions."""
        return await self._store.recent(workspace, limit=limit)

    async def tidy(self) -> int:
        """Forget what ended longer ago than RETENTION; how many that were. Called once a day."""
        return await self._store.purge(self._clock.now() - RETENTION)

    async def _decide(self, incoming: IncomingMessage) -> Decision:
        for gate in self._gates:
            refusal = await gate.check(incoming)
            if refusal is not None:
                return refusal
        return ACCEPTED


def to_command(text: str) -> CommandLine | None:
    """`/name argument` as a command; None for everything else."""
    found = _COMMAND.match(text.strip())
    return CommandLine(name=found[1].lower(), argument=(found[2] or "").strip()) if found else None
