"""The durable inbox: what came in, what was decided about it, and how far its answer is."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from core.domain.conversation import IncomingMessage, ThreadAddress

# Where a platform put a post, in the platform's own words ("channel/message id"); opaque to core.
PostRef: TypeAlias = str

AGAIN = "again-"  # begins the edit version of a message that nobody edited: it is asked once more

# Key of the metadata of an entry that nobody asked: a note about these stale answers (ids of messages, in one string).
NOTE_ON = "note_on"

# Who stopped an entry whose message was edited or deleted meanwhile: it ends without a post.
WITHDRAWN = "(withdrawn)"


def message_key(address: ThreadAddress, message_id: str) -> str:
    """The posting key: one message is answered in one post, however often it is edited.

    `message_id` is the platform's, unique in its channel.
    """
    return f"{address.platform}:{address.workspace}:{address.channel}:{message_id}"


def event_key(address: ThreadAddress, message_id: str, edit: str = "") -> str:
    """The dedupe key: the posting key and the edit version ("" for a message as first written)."""
    key = message_key(address, message_id)
    return f"{key}@{edit}" if edit else key


def again_key(message_key: str, number: str) -> str:
    """The dedupe key of a message that is to be answered once more as it stands; `number` is new for each time."""
    return f"{message_key}@{AGAIN}{number}"


def is_asked_again(event_key: str, message_key: str) -> bool:
    return event_key.startswith(f"{message_key}@{AGAIN}")


def is_note(message: IncomingMessage) -> bool:
    """Whether nobody asked it: its post tells a thread that answers in it are stale."""
    return NOTE_ON in message.metadata


class InboxStatus(StrEnum):
    REFUSED = "refused"  # a gate said no, or it is a command: stored for `/why`, never claimed
    QUEUED = "queued"  # waits for its turn, or for its next try
    RUNNING = "running"
    DONE = "done"  # the answer is posted
    FAILED = "failed"  # the one error post is posted
    CANCELLED = "cancelled"  # the asker stopped it, and the post says so

    @property
    def is_final(self) -> bool:
        return self not in (InboxStatus.QUEUED, InboxStatus.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What became of a received message: one code for programs, one sentence for people."""

    code: str
    sentence: str
    accepted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """A message that is a command: run at once by the adapter, never queued behind a question."""

    name: str  # without the slash, lower case
    argument: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What an adapter learns when it hands in a message; durable when it is given.

    For a repeated event it is the first one's, with `repeated`: there is nothing to do then.
    """

    decision: Decision
    message_key: str
    conversation_id: str | None = None  # the conversation the message named, where it named one
    command: CommandLine | None = None  # not accepted, because it is to be run instead
    repeated: bool = False

    @property
    def accepted(self) -> bool:
        return self.decision.accepted


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxEntry:
    """One stored event. `seq` orders a thread; the text of a refused message is not kept."""

    seq: int
    incoming: IncomingMessage
    message_key: str
    status: InboxStatus
    decision: Decision
    created_at: datetime
    finished_at: datetime | None = None
    attempts: int = 0  # claims so far, those that a crash or a kill ended included
    failures: int = 0  # attempts that ended in an error
    error: str | None = None  # what went wrong last, one sentence
    final_error: str | None = None  # given up: this sentence is to be posted
    cancelled_by: str | None = None  # the asker wants it stopped; WITHDRAWN: it ends silently
    post_ref: PostRef | None = None
    waits_until: datetime | None = field(default=None)  # the next try is not before

    @property
    def event_key(self) -> str:
        return self.incoming.event_key

    @property
    def address(self) -> ThreadAddress:
        return self.incoming.address

    @property
    def thread(self) -> str:
        """What is answered in order: the address as one string."""
        return str(self.incoming.address)

    @property
    def workspace(self) -> str:
        return self.incoming.address.workspace
