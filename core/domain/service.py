"""State of the running service: the durable inbox, settings, kept summaries, installed apps."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from core.domain.incoming import ChannelAddress, IncomingMessage, ThreadAddress

# The platform's reference of a post ("channel/message id"); opaque to core.
PostRef: TypeAlias = str

# The user that stopped an entry whose message was edited or deleted meanwhile: it ends without a post.
WITHDRAWN = "(withdrawn)"


class InboxStatus(StrEnum):
    REFUSED = "refused"  # a gate said no, or it is a command: stored for `/why`, never claimed
    QUEUED = "queued"  # waits for its turn or the next attempt
    RUNNING = "running"
    DONE = "done"  # the answer is posted
    FAILED = "failed"  # the one error post is posted
    CANCELLED = "cancelled"  # stopped by the asker, as the post shows

    @property
    def is_final(self) -> bool:
        return self not in (InboxStatus.QUEUED, InboxStatus.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The decision about a received message: a code for programs, a sentence for people."""

    code: str
    sentence: str
    accepted: bool


ACCEPTED = Decision(code="accepted", sentence="I am answering this.", accepted=True)
# Of a question in a channel with auto-answers: if they are live, in shadow mode, and without an answer.
UNASKED = Decision(
    code="unasked",
    sentence="Nobody named me, but this was a question, and the documents seemed to answer it.",
    accepted=True,
)
WOULD_ANSWER = Decision(
    code="would_answer",
    sentence="Nobody named me. I would have answered this, but auto-answer is in shadow mode here, so I only noted it. "
    "An admin can change that with /settings auto_answer live.",
    accepted=False,
)
NO_ANSWER = Decision(
    code="no_answer",
    sentence="Nobody named me, and I found no answer to this in the documents, so I stayed silent. Mention me to ask "
    "anyway.",
    accepted=False,
)
# Of an entry for a post that is no answer. It is kept to take the post back.
SHOWN = Decision(code="shown", sentence="I posted this for you.", accepted=True)
LOST = "lost"  # its code once something that it rests on was removed


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """A message that is a command: run at once by the adapter, never queued behind a question."""

    name: str  # without the slash, lower case
    argument: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The adapter's result for a message; durable when it is returned.

    For a repeated event it is the first one's, with `repeated`: nothing has to be done.
    """

    decision: Decision
    message_key: str
    conversation_id: str | None = None  # the conversation that the message named, if any
    command: CommandLine | None = None  # not accepted, because it is to be run instead
    repeated: bool = False
    is_unasked: bool = False  # the bot was not asked: refusals and signs of work stay unposted

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
    attempts: int = 0  # claims so far, also crashed ones
    failures: int = 0  # attempts that ended in an error
    error: str | None = None  # the last error, one sentence
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
        """The thread whose entries are answered in order: the address as one string."""
        return str(self.incoming.address)

    @property
    def workspace(self) -> str:
        return self.incoming.address.workspace


class PostFate(StrEnum):
    """The fate of a post whose answer was taken out of the history."""

    DELETED = "deleted"  # the answer is deleted
    REDACTED = "redacted"  # the answer was emptied, and its post tells it
    STAYS = "stays"  # nothing was posted, or a newer answer is in the post


@dataclass(frozen=True, slots=True, kw_only=True)
class DueRemoval:
    """An entry whose post is to be taken back from its platform."""

    entry: InboxEntry
    fate: PostFate


class Listening(StrEnum):
    """Whether follow-ups in a thread need a mention."""

    NORMAL = "normal"  # in our own threads they need none, elsewhere they do
    MUTED = "muted"  # every question needs a mention, in our own threads, too
    HELD = "held"  # muted by a moderator, and only one can undo it
    LISTENING = "listening"  # none needs one, in people's threads either

    @property
    def is_muted(self) -> bool:
        return self in (Listening.MUTED, Listening.HELD)


class FollowUps(StrEnum):
    """Which messages in threads of a channel are answered without a mention."""

    NAMED = "named"  # none
    ASKER = "asker"  # in threads that the bot opened: its asker's follow-ups, and questions that the library answers
    ALL = "all"  # also in people's threads that it was called into


class AutoAnswer(StrEnum):
    """Whether questions in a channel itself need a mention."""

    OFF = "off"  # they do
    SHADOW = "shadow"  # they do, but the bot notes which ones it would have answered
    LIVE = "live"  # questions that the library covers need none


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonAddress:
    """A person in a workspace, on any platform."""

    workspace: str
    person: str  # the platform's id
    alone: bool = False  # only in private places: positions lifted there


# Holders of reading positions: a channel's are for all its readers, a person's are their own.
PositionHolder: TypeAlias = ChannelAddress | PersonAddress

# The last page of a reader who has finished a book, however long its next revision is.
TO_THE_END = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSettings:
    """Settings of a channel. The default applies to a channel without any."""

    auto_answer: AutoAnswer = AutoAnswer.OFF
    auto_answer_by: str = ""  # the admin who began its shadow mode, and gets the reports; "" without one
    auto_answer_since: datetime | None = None  # the beginning of its shadow mode
    answer_posts: bool = False  # new posts of a forum are answered
    sources: frozenset[str] | None = None  # names of the sources that may be read here; None: every one
    language: str | None = None  # answers are written in it; None: in the question's
    strategy: str | None = None  # how questions are answered; None: as configured
    questions_per_minute: int | None = None  # of one person; None: the configured rate
    follow_ups: FollowUps = FollowUps.ASKER

    def allows(self, source_name: str) -> bool:
        return self.sources is None or source_name in self.sources


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratings:
    """Numbers of auto-answers; each counts once, by the majority of its ratings."""

    helpful: int = 0
    unhelpful: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Decisions about the messages of a channel in a period."""

    messages: int
    would_answer: tuple[InboxEntry, ...]  # newest first, without their texts


class SummaryKind(StrEnum):
    """The kind of a summary's subject, which its id identifies."""

    DOCUMENT_LINE = "document_line"  # one line for lists, of a document
    SECTION = "section"  # of a page: a journal's section, a chapter
    ROLLING = "rolling"  # of a conversation's earlier turns, for the model
    THREAD = "thread"  # of a conversation, for people


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryKey:
    workspace: str
    kind: SummaryKind
    subject: str  # id of the document, page or conversation
    revision: str  # of the subject: a content hash, or the id of the last message


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformTeam:
    """A server or team of a chat platform that the bot is in, or was."""

    platform: str
    id: str  # the platform's
    name: str = ""  # as people there see it; "" until the bot has been in it
    is_connected: bool = False  # whether the bot was in it when it last looked
    workspace: str | None = None  # that it is bound to; None: its own
    changed_at: datetime | None = None  # time of the last binding or unbinding
    left_at: datetime | None = None  # when the bot was found to be no longer in it; None: it is in it, or never was


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """A team that installed the app in a browser. `token` acts as the bot there: it is a secret.

    `team_id`, `bot_user_id` and `bot_id` are the platform's; `scopes` were granted by the team.
    """

    platform: str
    team_id: str
    team_name: str
    team_url: str  # "https://acme.slack.com/", or empty
    bot_user_id: str
    bot_id: str
    token: str = field(repr=False)
    scopes: frozenset[str] = frozenset()
    installed_at: datetime
    installed_by: str  # the person's id on the platform
