"""Message intake: decide once, store durably, then acknowledge.

`receive` reads from top to bottom: gates, commands, the durable inbox, and a call to wake the worker.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace

from core.domain.incoming import ChannelAddress, IncomingMessage, RepliesTo, is_asked_again, is_asked_later
from core.domain.jobs import RETENTION
from core.domain.limits import MINUTE, Asker, QuestionLimit
from core.domain.service import ACCEPTED, Decision, InboxEntry, Receipt
from core.errors import BadInput, StorageError
from core.ports import Clock
from core.ports.service import InboxStore, SettingsRepository
from core.service.addressing import LEFT_TO_PEOPLE, decide
from core.service.turns import Turns
from core.work.questions import WITHOUT_SIGNS, check_question, to_command

COMMAND = Decision(code="command", sentence="This is a command: it is run at once.", accepted=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One named reason to refuse a message; `check` gives the refusal, or None to let it through."""

    name: str
    check: Callable[[IncomingMessage], Awaitable[Decision | None]]
    for_commands: bool = False  # commands have to pass it, too
    before_turns: bool = False  # decides by rules; turn-taking follows for the messages that pass it


async def readable(incoming: IncomingMessage) -> Decision | None:
    """Refuse empty questions and pasted books, with the way out. Signs ("?") are a question only to the bot."""
    how = incoming.circumstances
    try:
        is_for_us = (how.mentioned or how.direct) and incoming.address.platform not in WITHOUT_SIGNS
        check_question(incoming.text, needs_words=not is_for_us)
    except BadInput as error:
        return Decision(code="bad_question", sentence=str(error), accepted=False)
    return None


# The gates of platforms that only receive questions; others add theirs.
STANDARD_GATES = (Gate(name="readable", check=readable),)


OTHER_CHANNEL = Decision(
    code="other_channel",
    sentence="I only answer in the channels that my admin has chosen. Ask in one of them.",
    accepted=False,
)
MAY_NOT_ASK = Decision(
    code="may_not_ask",
    sentence="I only answer people that my admin has chosen. Ask an admin to add you.",
    accepted=False,
)


def askers_gate(
    channels: Collection[str], is_allowed: Callable[[IncomingMessage], Awaitable[bool]] | None
) -> Gate | None:
    """Return the gate of who may ask, or None if everyone may.

    `channels` are ids; without any, every channel and direct messages are allowed. `is_allowed` checks the author.
    """

    async def check(incoming: IncomingMessage) -> Decision | None:
        if channels and incoming.address.channel not in channels:
            return OTHER_CHANNEL
        return None if is_allowed is None or await is_allowed(incoming) else MAY_NOT_ASK

    return Gate(name="who may ask", check=check, for_commands=True) if channels or is_allowed else None


def platform_gates(settings: SettingsRepository, askers: Gate | None = None) -> tuple[Gate, ...]:
    """The gates of chat platforms, in their order: is it for us, may the person ask, can it be read?

    `askers` None: everyone may ask.
    """

    async def for_us(incoming: IncomingMessage) -> Decision | None:
        how = incoming.circumstances
        opens_thread = not (how.in_thread or how.in_our_thread or how.replies_to is not RepliesTo.NOBODY)
        is_new = opens_thread and not _is_edit(incoming)  # nobody has chosen anything for its thread yet
        listening, channel = await settings.lately(incoming.address, opens_thread=is_new)
        return decide(incoming.circumstances, listening, channel)

    return (
        Gate(name="for us", check=for_us, for_commands=True, before_turns=True),
        *([askers] if askers else []),
        *STANDARD_GATES,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionLimits:
    """Limits on questions an hour, and limits of channels' admins on each person there. 0: any number.

    The hourly ones hold on some platforms: who asks at the machine itself is not limited.
    """

    settings: SettingsRepository
    person: int = 0
    channel: int = 0
    workspace: int = 0
    platforms: Collection[str] = frozenset()

    async def of(self, incoming: IncomingMessage) -> list[QuestionLimit]:
        """Return the limits that hold for a question."""
        address = incoming.address
        asker = Asker(
            platform=address.platform, workspace=address.workspace, channel=address.channel, author=incoming.author
        )
        here = (await self.settings.channel(ChannelAddress.of(address))).questions_per_minute or 0
        person, channel = asker.person_key, asker.channel_key
        hourly = (
            QuestionLimit(key=person, subject="You have", most=self.person),
            QuestionLimit(key=channel, subject="People in this channel have", most=self.channel),
            QuestionLimit(key="workspace", subject="People in this workspace have", most=self.workspace),
        )
        own = QuestionLimit(key=f"{person} in {channel}", subject="In this channel, you have", most=here, length=MINUTE)
        limits = (*hourly, own) if address.platform in self.platforms else (own,)
        return [limit for limit in limits if limit.most]


class Inbox:
    """Receives the messages of all platforms. `wake` is called after each new entry.

    `withdraw` (Worker.withdraw) gets an edited message's key and its new entry's number, and ends runs of earlier
    versions at once. Without it they end with the worker's next beat. `limits` None: questions aren't limited.
    `turns` None: all that the gates let through is answered.
    """

    def __init__(
        self,
        store: InboxStore,
        gates: Sequence[Gate],
        clock: Clock,
        wake: Callable[[], None],
        withdraw: Callable[[str, int], None] | None = None,
        limits: QuestionLimits | None = None,
        turns: Turns | None = None,
    ) -> None:
        self._store = store
        self._turns = turns
        self._limits = limits
        self._gates = tuple(gates)
        self._clock = clock
        self._wake = wake
        self._withdraw = withdraw
        self._receiving: dict[str, asyncio.Event] = {}  # by event key: one event may come twice at the same time

    async def receive(self, incoming: IncomingMessage) -> Receipt:
        """Decide about a message and store the decision; an accepted one is fsynced when this returns.

        Acknowledge to the platform only after this. A repeated event gets the first one's receipt. Raises StorageError
        if it can't be stored: nothing is promised then, and the platform may send it again.

        An edit replaces earlier versions of its message: their open entries end without a post. An edit with unchanged
        text counts as a repeated event, and so does a version that arrives after its edit.
        """
        if not incoming.message_key:
            incoming = replace(incoming, message_key=incoming.event_key)
        key = incoming.event_key
        while (same_event := self._receiving.get(key)) is not None:
            await same_event.wait()
        received = self._receiving[key] = asyncio.Event()
        try:
            return await self._receive(incoming)
        finally:
            del self._receiving[key]
            received.set()

    async def tidy(self) -> int:
        """Delete entries that ended more than RETENTION ago; return how many. Called once a day."""
        return await self._store.purge(self._clock.now() - RETENTION)

    async def _receive(self, incoming: IncomingMessage) -> Receipt:
        """A repeated event that may be for us passes no gate: it would count against how often its author may ask."""
        if (left := await self._left_by_rules(incoming)) is not None:
            self._store.overhear(incoming, left)
            return _receipt(left, incoming, is_new=True)
        versions = await self._store.list_versions(incoming.message_key)
        if (earlier := _earlier(versions, incoming)) is not None:
            return _receipt(earlier.decision, incoming, is_new=False)
        if self._turns is not None:
            incoming = await self._turns.read(incoming)
        command = to_command(incoming.text)
        decision = await self._decide(incoming, is_command=command is not None)
        limits = await self._limits_of(incoming) if decision.accepted else ()
        try:
            entry, is_new = await self._store.accept(incoming, decision, limits)
        except StorageError as error:
            raise StorageError(f"I couldn't save this message. Send it again later. {error}") from error
        if is_new and entry.decision.accepted:
            if self._withdraw is not None and _is_edit(incoming):
                self._withdraw(entry.message_key, entry.seq)
            self._wake()
        is_run = is_new and entry.decision.code == COMMAND.code
        return replace(_receipt(entry.decision, incoming, is_new=is_new), command=command if is_run else None)

    async def _left_by_rules(self, incoming: IncomingMessage) -> Decision | None:
        """Return the decision about talk outside our threads, most of a channel's messages; None: look closer.

        No earlier version matters to it, except of an edit.
        """
        if self._turns is None or _is_edit(incoming) or incoming.circumstances.in_our_thread:
            return None
        meant = await self._turns.read(incoming)
        for gate in self._gates:
            if gate.before_turns and (refusal := await gate.check(meant)) is not None:
                return refusal if refusal.code in LEFT_TO_PEOPLE else None
        return None

    async def _limits_of(self, incoming: IncomingMessage) -> Sequence[QuestionLimit]:
        """Return the limits of a question; none of one that the bot itself asks again, as it promised."""
        if self._limits is None or is_asked_later(incoming.event_key, incoming.message_key):
            return ()
        return await self._limits.of(incoming)

    async def _decide(self, incoming: IncomingMessage, *, is_command: bool) -> Decision:
        for gate in self._gates:
            refusal = await gate.check(incoming) if gate.for_commands or not is_command else None
            if refusal is None and gate.before_turns and self._turns is not None and not is_command:
                refusal = await self._turns.decide(incoming)
            if refusal is not None:
                return refusal
        if is_command:
            return COMMAND
        return ACCEPTED if self._turns is None else await self._turns.accept(incoming)


def _earlier(versions: Sequence[InboxEntry], incoming: IncomingMessage) -> InboxEntry | None:
    """Return the version of a message that makes an event a repeat, or None.

    It is the event's own, an edit that arrived before its original, which is outdated then, or the newest accepted one
    where an edit left its text as it was.
    """
    own = next((entry for entry in versions if entry.event_key == incoming.event_key), None)
    if own is not None:
        return own
    if not _is_edit(incoming):
        return versions[-1] if versions else None
    if is_asked_again(incoming.event_key, incoming.message_key):
        return None
    accepted = [entry for entry in versions if entry.decision.accepted]
    return accepted[-1] if accepted and accepted[-1].incoming.text == incoming.text else None


def _is_edit(incoming: IncomingMessage) -> bool:
    return incoming.event_key != incoming.message_key


def _receipt(decision: Decision, incoming: IncomingMessage, *, is_new: bool) -> Receipt:
    return Receipt(
        decision=decision,
        message_key=incoming.message_key,
        conversation_id=incoming.conversation_id,
        repeated=not is_new,
        is_unasked=incoming.circumstances.is_unasked,
    )
