"""Ports of the service: the durable inbox, job trees, stored state, chat platforms, upkeep."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from core.domain.answer import Answer
from core.domain.conversation import Attachment, ChannelAddress, IncomingMessage, Talk, ThreadAddress
from core.domain.features import Checked, CitedIn, DueNote, Feedback, LiveTexts, StaleAnswer, StoredCassette, Unchecked
from core.domain.jobs import Job, JobKind
from core.domain.service import (
    ChannelSettings,
    Decision,
    InboxEntry,
    InboxStatus,
    Installation,
    Listening,
    PositionHolder,
    PostRef,
    SummaryKey,
)
from core.ports import ProgressSink


class InboxStore(Protocol):
    """The durable inbox. Claimed entries belong to the store that claimed them until its lease ends.

    Each instance is an owner of its own: `renew`, `finish`, `retry` and `release` change only what it still owns and
    say so, which keeps a process that lost its lease from writing over its successor. Leases are compared with one
    clock: the database's, where several processes share one.
    """

    @property
    def lease_seconds(self) -> float:
        """How long a claim or a renewal holds."""

    async def accept(self, incoming: IncomingMessage, decision: Decision) -> tuple[InboxEntry, bool]:
        """The entry of the event, and whether it is new; fsynced when it returns, if the decision accepts.

        A known event key changes nothing and gives the first entry. What a decision refuses is stored as final,
        without its text. In one thread, entries are numbered in the order in which they become visible. Accepting an
        edited message withdraws the open entries of its earlier versions, in the same commit.
        """

    async def claim(self, limit: int, platforms: Collection[str]) -> list[InboxEntry]:
        """At most `limit` entries to work on, oldest first, each the first open one of its thread.

        Their `attempts` are counted up, and they are RUNNING under a new lease. Entries of other platforms, those that
        wait for their next try and those under a lease are left alone, and so is everything behind them.
        """

    async def renew(self, seqs: Collection[int]) -> dict[int, str | None]:
        """Lengthen the leases of what is still owned: seq -> who wants it stopped, or None. Missing: lost."""

    async def finish(
        self, seq: int, status: InboxStatus, *, post_ref: PostRef | None = None, error: str | None = None
    ) -> bool:
        """End it, with a final status. False: not owned any more, nothing was changed."""

    async def retry(
        self, seq: int, *, delay_seconds: float, error: str, final_error: str | None = None, failed: bool = True
    ) -> bool:
        """Back into the queue, not before the delay. `final_error`: given up, only the error post is still due.

        `failed` counts it as a failure. False: not owned any more.
        """

    async def release(self, seqs: Collection[int]) -> None:
        """Back into the queue at once, as if never claimed (a shutdown); what is not owned any more is left alone."""

    async def release_abandoned(self) -> int:
        """End all leases, whoever holds them: for the start of the only process on a database. How many there were."""

    async def cancel(self, message_key: str, by: str) -> list[InboxEntry]:
        """Note that the open entries of a message are to be stopped; gives them, oldest first. None open: empty.

        By WITHDRAWN they end silently, whoever wanted them stopped before; what is withdrawn already stays so and is
        left out.
        """

    async def find(self, event_key: str) -> InboxEntry | None: ...

    async def find_open(self, message_key: str) -> list[InboxEntry]:
        """The entries of a message that have not ended, oldest first."""

    async def list_versions(self, message_key: str) -> list[InboxEntry]:
        """All entries of a message, ended and refused ones included, oldest first."""

    async def recent(
        self, workspace: str, *, author: str | None = None, address: ThreadAddress | None = None, limit: int = 50
    ) -> list[InboxEntry]:
        """Newest first, refused ones included."""

    async def list_open(self, workspace: str, limit: int | None = None) -> list[InboxEntry]:
        """What has not ended, newest first."""

    async def depth(self) -> dict[InboxStatus, int]:
        """How many entries have not ended, by status (over all workspaces)."""

    async def purge(self, before: datetime) -> int:
        """Forget what ended before; returns how many. Open entries stay, however old."""

    def watch(self, wake: Callable[[], None]) -> AbstractAsyncContextManager[None]:
        """While it is open, `wake` is called in this event loop soon after another owner accepted or gave back one.

        A hint that may be lost or come twice: polls stay. Where no other process can write, there is none.
        """


class JobRepository(Protocol):
    """Job trees, written while they run."""

    async def save(self, *jobs: Job) -> None:
        """Insert or replace by id, all in one commit. Records for people: a power cut may cost the last ones."""

    async def get(self, job_id: str, workspace: str) -> Job:
        """NotFound for unknown ids and other workspaces' jobs."""

    async def list_roots(self, workspace: str, limit: int = 50) -> list[Job]:
        """Newest first."""

    async def list_running(self, kind: JobKind, name: str | None = None) -> list[Job]:
        """The roots of this kind (and name) that say that they run, of all workspaces, oldest first."""

    async def list_tree(self, root_id: str) -> list[Job]:
        """The root first, then by creation."""

    async def purge(self, before: datetime) -> int:
        """Forget the trees whose root ended before, or began before and never ended; how many jobs those were."""


class CitedRepository(Protocol):
    """Which documents the answers of a workspace cite; what is cited goes with its message."""

    async def cited(self, workspace: str) -> list[CitedIn]:
        """One for each conversation and document, by conversation and document."""


class FeedbackRepository(Protocol):
    """What people thought of answers; goes with its message."""

    async def save(self, feedback: Feedback) -> None:
        """Insert, or replace by message and author. NotFound for an unknown message."""

    async def remove(self, message_id: str, author: str) -> None:
        """Unknown ones are ignored."""

    async def list_feedback(self, conversation_id: str) -> list[Feedback]:
        """In the order of the messages, then by author."""


class SettingsRepository(Protocol):
    """What is set for channels, threads and people. Reading what nobody set gives the default."""

    async def channel(self, address: ChannelAddress) -> ChannelSettings: ...

    async def save_channel(self, address: ChannelAddress, settings: ChannelSettings) -> None:
        """Insert or replace."""

    async def listening(self, address: ThreadAddress) -> Listening: ...

    async def save_listening(self, address: ThreadAddress, listening: Listening) -> None:
        """Insert or replace."""

    async def positions(self, holder: PositionHolder) -> Mapping[str, int]:
        """Document id -> the last page that the holder may see of it; documents that nobody set are left out."""

    async def positions_of(self, holders: Sequence[PositionHolder]) -> list[Mapping[str, int]]:
        """`positions` of each, in one go."""

    async def positioned(self, workspace: str) -> frozenset[str]:
        """Ids of the documents that somebody in the workspace, or a channel of it, has not read to the end."""

    async def save_position(self, holder: PositionHolder, document_id: str, last_page: int | None) -> None:
        """Insert or replace; None takes it away, and what is not there is ignored."""


class SummaryRepository(Protocol):
    """Summaries that were made once, one for each kind and subject: that of the revision it was made of last.

    It goes with its document, page (so with the document's revision) or conversation.
    """

    async def find(self, keys: Collection[SummaryKey]) -> Mapping[SummaryKey, str]:
        """Those that are kept; keys of other revisions, and of what is unknown, are left out."""

    async def save(self, key: SummaryKey, text: str) -> None:
        """Insert or replace. A subject that is not there (any more) is ignored. A power cut may cost the last ones."""

    async def remove(self, workspace: str, subject: str) -> None:
        """Forget all kinds of a subject that stays; unknown ones are ignored."""


class CassetteRepository(Protocol):
    """Recorded runs, under the id of their answer's message. One goes with that, and with any of its documents."""

    async def save(self, cassette: StoredCassette) -> None:
        """Insert or replace. Ignored where the message or a document is gone. A power cut may cost the last ones."""

    async def find(self, message_id: str, workspace: str) -> StoredCassette:
        """By the message's id, or how it begins where that is clear. NotFound says what to do."""

    async def list_cassettes(
        self, workspace: str, *, cases_only: bool = False, limit: int = 50
    ) -> list[StoredCassette]:
        """Newest first, without their data."""

    async def mark_case(self, message_id: str, *, is_case: bool) -> None:
        """Keep it as a regression case, or no longer. NotFound for an unknown one."""

    async def purge(self, before: datetime) -> int:
        """Forget what was recorded before and is no case; returns how many."""


class InstallationRepository(Protocol):
    """The teams that installed the app. Tokens are encrypted where they are stored, in a database and its backups.

    What can't be decrypted with the configured keys raises ConfigError.
    """

    async def save(self, installation: Installation) -> None:
        """Insert, or replace by platform and team; on the disk when it returns."""

    async def find(self, platform: str, team_id: str) -> Installation | None: ...

    async def list_installations(self, platform: str) -> list[Installation]:
        """By team id."""

    async def remove(self, platform: str, team_id: str) -> None:
        """Unknown ones are ignored."""


class OneTimeCodes(Protocol):
    """Codes that prove, once and for some time, that somebody comes back from where we sent them."""

    async def issue(self, purpose: str, seconds: float) -> str:
        """A new code, safe in a URL, that nobody can guess. Codes that ran out are forgotten on the way."""

    async def consume(self, purpose: str, code: str) -> bool:
        """Whether the code was issued for this, in time, and not consumed before, by any process; it is gone now."""


class ChatPlatform(Protocol):
    """Where answers are posted. Every call may be repeated: a message key has one post, which the last call shows.

    Raises PlatformError when the platform does not take a post.
    """

    @property
    def name(self) -> str:
        """The `platform` of its thread addresses."""

    async def open(self, entry: InboxEntry) -> ProgressSink:
        """Show that work on it has begun (a typing sign, a placeholder post), and where its progress goes.

        `entry.attempts > 1`: an earlier process may have posted a placeholder already, which is to be found and used.
        """

    async def post(self, address: ThreadAddress, message_key: str, answer: Answer, *, look_first: bool) -> PostRef:
        """Post the final answer, or make the post of the same message key show it.

        `look_first`: this process may not know of a post that a crashed one made; ask the platform before posting.
        """

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> PostRef:
        """The one clear error post, through the post of the message key; always looks first."""


class ThreadReader(Protocol):
    """What is read of a platform's threads, for platforms whose posts are not our own history."""

    async def talk_before(self, question: IncomingMessage, limit: int) -> Sequence[Talk]:
        """The last things people said in the thread before a question, oldest first, at most `limit`.

        Asked when the bot is called into a thread that it has no history of. Raises PlatformError when it can't be
        read.
        """

    async def read_attachment(self, question: IncomingMessage, attachment: Attachment) -> bytes:
        """The bytes of a file. PlatformError when it can't be had (any more)."""


class StaleRepository(Protocol):
    """How far answers were compared with what their documents say now. It all goes with its message."""

    async def list_unchecked(self) -> list[Unchecked]:
        """Answers that cite a document whose live revision they were not compared with, over all workspaces.

        By conversation, then message and document.
        """

    async def live_texts(self, document_id: str) -> LiveTexts | None:
        """Of one moment; None where the document is not there, or never was read."""

    async def record(self, conversation_id: str, checked: Sequence[Checked], note_id: str) -> bool:
        """Keep what comparisons found in a conversation, and mark its answers stale or not any more; in one commit.

        What somebody else has compared meanwhile (`was` does not fit), or removed, is left as it is. An answer that
        loses its first quote of a document is due to be told of by the note `note_id`, unless it is old; True when
        there is any.
        """

    async def due_notes(self) -> list[DueNote]:
        """Those that nobody has taken care of yet, over all workspaces, by id."""

    async def note_done(self, note_id: str) -> None:
        """Taken care of; unknown ids are ignored."""

    async def list_stale(self, workspace: str, conversation_id: str | None = None) -> list[StaleAnswer]:
        """Stale answers without their questions, by conversation (most recently used first), then oldest first.

        None: of all conversations.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseFacts:
    """How a database is."""

    name: str  # the file's path, or the URL without its password
    kind: str  # "SQLite" or "PostgreSQL"
    schema: str  # the newest revision of storage/database/migrations that it has
    bytes: int  # on its disk
    rows: Mapping[str, int]  # by what they are, in the order in which people think of them


class DatabaseUpkeep(Protocol):
    """Looks at a database, and copies it; changes nothing."""

    async def describe(self) -> DatabaseFacts: ...

    async def find_faults(self) -> list[str]:
        """One sentence for each thing that is wrong, with what to do; none of them: it is sound.

        Looked at are the file's own structure, rows that belong to nothing, and that every passage is verbatim in its
        page. Reads everything: seconds for ten thousand pages.
        """

    async def back_up(self, target: Path) -> int:
        """Write database, kept answers and the key that signs links to one new file, of one moment; gives its bytes.

        While others read and write. Everything else follows from these. The file is its owner's alone.
        InvalidState when it exists, or when the database is a server's; StorageError when it can't be written.
        """
