"""Messages from platforms: their addresses, their circumstances, and the keys that make repeats one message."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from core.domain.answer import QueryType

AGAIN = "again-"  # begins the edit version of an unedited message that is asked again
LATER = f"{AGAIN}later-"  # begins that of one that came before its documents
# Metadata key of an entry that is a note about these stale answers (ids of messages, in one string).
NOTE_ON = "note_on"
# Of the talk in a channel before a question that opens its thread. Older talk is about something else.
CHANNEL_TALK = timedelta(minutes=15)
PRIVATE_THREAD = "private:"  # begins the thread of private answers to a person in a channel; the person's id follows


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadAddress:
    """The place of a conversation, by which it is found again."""

    platform: str  # discord | slack | web | terminal | api
    workspace: str
    channel: str
    thread: str

    def __str__(self) -> str:
        return f"{self.platform}:{self.workspace}:{self.channel}:{self.thread}"

    @property
    def private_to(self) -> str | None:
        """The person whose private thread in a channel this is; None: everyone in the channel can read it."""
        return self.thread.removeprefix(PRIVATE_THREAD) if self.thread.startswith(PRIVATE_THREAD) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelAddress:
    platform: str
    workspace: str
    channel: str

    @classmethod
    def of(cls, address: ThreadAddress) -> "ChannelAddress":
        return cls(platform=address.platform, workspace=address.workspace, channel=address.channel)


class RepliesTo(StrEnum):
    """The author of the message that was replied to."""

    NOBODY = "nobody"
    US = "us"
    SOMEBODY = "somebody"  # another person, or another bot


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """The circumstances of a message, which decide whether it is for us (addressing.py). By default it asks us."""

    mentioned: bool = True  # it names the bot, or came as a command or by a button
    direct: bool = False  # in a channel of one person and the bot
    in_thread: bool = False  # of a channel, also of other people; else in the channel itself
    in_our_thread: bool = False  # the bot opened it, or answered in it before
    opened_by_us: bool = False  # the bot opened the thread, according to the platform
    replies_to: RepliesTo = RepliesTo.NOBODY
    mentions_others: bool = False  # it names other people, or calls one of them first
    opens_post: bool = False  # the first message of a forum post
    from_bot: bool = False  # another bot or a webhook wrote it
    is_own: bool = False  # the bot itself wrote it

    @property
    def is_unasked(self) -> bool:
        """Whether it was said in a channel itself, and not to the bot: an answer would be an auto-answer."""
        is_asked = self.mentioned or self.direct or self.opens_post or self.replies_to is RepliesTo.US
        return not (is_asked or self.in_thread or self.in_our_thread)


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A message on the platform that didn't ask the bot: context for a question."""

    message_id: str  # the platform's, unique in its channel
    author: str  # display name
    text: str
    said_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file sent with a message; its bytes stay on the platform until its question is worked on."""

    name: str
    size_bytes: int
    reference: str  # the platform's reference: a URL, a file id
    content_type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingMessage:
    """A question from an adapter. The event key makes repeats of one event one message.

    `message_key` and `event_key` make both keys; without a posting key the event key is it.
    """

    address: ThreadAddress
    author: str
    text: str
    event_key: str  # of this version of the message: the dedupe key
    message_key: str = ""  # of the message, however often it is edited: the posting key
    conversation_id: str | None = None  # resume this one instead of the address's own
    document: str | None = None  # path, title or alias: answer only from this document
    journal: str | None = None  # the same for a journal, matched loosely
    query_type: QueryType = QueryType.QUESTION
    position: str | None = None  # "[DOCUMENT=]N or chapter name"
    to_the_end: bool = False  # once without reading positions; only if the answer is private
    model: str | None = None
    strategy: str | None = None
    author_name: str = ""  # how people see the author; "" where `author` is that already
    circumstances: Circumstances = field(default_factory=Circumstances)
    about: Talk | None = None  # the message it is a question about: one replied to, or picked from a menu
    attachments: tuple[Attachment, ...] = ()  # read only for this thread
    private: bool = False  # only the asker sees the answer, also after retries
    language: str | None = None  # to answer in; None: the question's
    metadata: Mapping[str, str] = field(default_factory=dict)  # the adapter's own, given back to it

    @property
    def is_alone(self) -> bool:
        """Whether only its author reads the answer."""
        return self.circumstances.direct or self.address.private_to is not None

    @property
    def is_note(self) -> bool:
        """Whether it is a note that answers of the thread are stale, and not a question."""
        return NOTE_ON in self.metadata


def message_key(address: ThreadAddress, message_id: str) -> str:
    """Return the posting key: one message is answered in one post, however often it is edited.

    `message_id` is the platform's, unique in its channel.
    """
    return f"{address.platform}:{address.workspace}:{address.channel}:{message_id}"


def event_key(address: ThreadAddress, message_id: str, edit: str = "") -> str:
    """Return the dedupe key: the posting key and the edit version ("" for a message as first written)."""
    key = message_key(address, message_id)
    return f"{key}@{edit}" if edit else key


def again_key(message_key: str, number: str) -> str:
    """Return the dedupe key of a message to be answered again unchanged; `number` is new each time."""
    return f"{message_key}@{AGAIN}{number}"


def later_key(message_key: str, answer_id: str) -> str:
    """Return the dedupe key of a message to be answered again in place of an answer that came too early."""
    return f"{message_key}@{LATER}{answer_id[:12]}"


def is_asked_later(event_key: str, message_key: str) -> bool:
    return event_key.startswith(f"{message_key}@{LATER}")


def is_asked_again(event_key: str, message_key: str) -> bool:
    return event_key.startswith(f"{message_key}@{AGAIN}")
