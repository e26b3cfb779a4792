"""Ports of the service: the durable inbox, job trees, stored state, chat platforms, maintenance."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from core.domain.additions import Addition, AdditionState
from core.domain.answer import Answer, Provenance
from core.domain.audit import Audit
from core.domain.features import Checked, CitedIn, DueNote, Feedback, LiveTexts, StaleAnswer, StoredCassette, Unchecked
from core.domain.identity import PersonOnPlatform
from core.domain.incoming import Attachment, ChannelAddress, IncomingMessage, Talk, ThreadAddress
from core.domain.jobs import Job, JobKind
from core.domain.limits import QuestionLimit
from core.domain.readers import Audience
from core.domain.service import (
    ChannelSettings,
    Decision,
    DueRemoval,
    InboxEntry,
    InboxStatus,
    Installation,
    Listening,
    PlatformTeam,
    PositionHolder,
    PostFate,
    PostRef,
    SummaryKey,
)
from core.ports import ProgressSink


class InboxStore(Protocol):
    """The durable inbox. Claimed entries belong to the store that claimed them until its lease ends.

    Each instance is a separate owner: `renew`, `finish`, `retry` and `release` change only entries that it still owns,
    and report it. Leases use one clock: the database's, if several processes share one.
    """

    @property
    def lease_seconds(self) -> float:
        """Duration of a claim or a renewal."""

    async def accept(
        self, incoming: IncomingMessage, decision: Decision, limits: Sequence[QuestionLimit] = ()
    ) -> tuple[InboxEntry, bool]:
        """Store an event: return its entry, and whether it is new. Fsynced when it returns, if the decision accepts.

        A known event key changes nothing and returns the first entry. A refused event is stored as final, without its
        text. In one thread, entries are numbered in the order in which they become visible. Accepting an edited
        message withdraws the open entries of its earlier versions, in the same commit.

        An accepted event counts in the windows of `limits` in that commit too, exactly over all owners; if one is
        full, it counts in none, and the entry's decision is the limit's refusal, announced once to each person.
        """

    def overhear(self, incoming: IncomingMessage, decision: Decision) -> None:
        """Note a message left to people, unless it is known: within a second, for this process's reads at once."""

    async def claim(self, limit: int, platforms: Collection[str]) -> list[InboxEntry]:
        """Claim at most `limit` entries to work on, each the first open one of its thread, in the order of their turns.

        Turns are fair over all owners, within the store's limits on questions at a time (core/domain/limits.py).
        Their `attempts` are incremented, and they are RUNNING under a new lease. Entries are skipped, with all after
        them in their thread, if they belong to other platforms, wait for their next attempt or are under a lease.
        """

    async def renew(self, seqs: Collection[int]) -> dict[int, str | None]:
        """Renew leases: return seq -> the user who asked to stop it, or None. A missing seq means a lost lease."""

    async def finish(
        self, seq: int, status: InboxStatus, *, post_ref: PostRef | None = None, error: str | None = None
    ) -> bool:
        """End an entry with a final status. False: not owned any longer, nothing was changed."""

    async def leave(self, seq: int, decision: Decision) -> bool:
        """End an entry without a post, as if it had been refused; its texts and its job tree go. False: not owned."""

    async def retry(
        self, seq: int, *, delay_seconds: float, error: str, final_error: str | None = None, failed: bool = True
    ) -> bool:
        """Return an entry to the queue after the delay; `failed` counts. `final_error`: only the error post remains.

        False: not owned any longer.
        """

    async def release(self, seqs: Collection[int]) -> None:
        """Return entries to the queue at once, as if never claimed (for a shutdown); skip those lost."""

    async def release_abandoned(self) -> int:
        """End all leases of all owners: for the start of the only process on a database. Return their number."""

    async def cancel(self, message_key: str, by: str, *, audit: Audit = None) -> list[InboxEntry]:
        """Note that the open entries of a message should stop; return them, oldest first.

        By WITHDRAWN they end silently, even if a user stopped them before; withdrawn ones are left out.
        """

    async def find(self, event_key: str) -> InboxEntry | None: ...

    async def find_open(self, message_key: str) -> list[InboxEntry]:
        """Return the unfinished entries of a message, oldest first."""

    async def list_versions(self, message_key: str) -> list[InboxEntry]:
        """Return all entries of a message, finished and refused ones, too, oldest first."""

    async def recent(
        self, workspace: str, *, author: str | None = None, address: ThreadAddress | None = None, limit: int = 50
    ) -> list[InboxEntry]:
        """Return entries, newest first, refused ones, too; none of posts that are no answers."""

    async def list_open(self, workspace: str, limit: int | None = None) -> list[InboxEntry]:
        """Return unfinished entries, newest first."""

    async def depth(self) -> dict[InboxStatus, int]:
        """Count unfinished entries by status, over all workspaces."""

    async def forget(self, message_key: str) -> None:
        """Empty the texts of a message's finished entries, and delete their job trees."""

    async def note_shown(
        self, shown: IncomingMessage, post_ref: PostRef, rests_on: Provenance, *, quotes_people: bool = False
    ) -> None:
        """Note a post that is no answer, such as the result of a command; one of the same event key is replaced.

        It is taken back with its author, thread, workspace, anything it rests on, and any person if `quotes_people`.
        """

    async def list_removals(self, platforms: Collection[str], limit: int) -> list[DueRemoval]:
        """Return ended entries whose posts are still to be taken back, and due, oldest first."""

    async def removed(self, seq: int, fate: PostFate) -> None:
        """Note the fate of the post of an entry; repeats are safe."""

    async def removal_failed(self, seq: int, delay_seconds: float) -> None: ...

    async def purge(self, before: datetime) -> int:
        """Delete entries that ended before; return their number. Open entries stay.

        So do those whose post may have to be taken back: with a stored answer, or of note_shown.
        """

    def watch(self, wake: Callable[[], None]) -> AbstractAsyncContextManager[None]:
        """While it is open, call `wake` in this event loop soon after another owner accepted or released an entry.

        A hint that may be lost or repeated, so polls are needed. Does nothing if no other process can write.
        """


class JobRepository(Protocol):
    """Job trees, written while they run."""

    async def save(self, *jobs: Job) -> None:
        """Insert or replace by id, all in one commit. For display: a power cut may lose the last ones."""

    async def get(self, job_id: str, workspace: str) -> Job:
        """Raise NotFound for unknown ids and other workspaces' jobs."""

    async def list_roots(self, workspace: str, limit: int = 50) -> list[Job]:
        """Return roots, newest first."""

    async def list_running(self, kind: JobKind, name: str | None = None) -> list[Job]:
        """Return the roots of this kind (and name) with status running, of all workspaces, oldest first."""

    async def list_tree(self, root_id: str) -> list[Job]:
        """Return the root first, then jobs by creation."""

    async def purge(self, before: datetime) -> int:
        """Delete trees whose root ended before, or began before and never ended; return the number of jobs."""


class CitedRepository(Protocol):
    """The documents that the answers of a workspace cite, deleted with their messages."""

    async def cited(self, workspace: str, document_id: str | None = None) -> list[CitedIn]:
        """Return one for each conversation and document, or for only one document, by conversation and document."""


class FeedbackRepository(Protocol):
    """Ratings of answers, deleted with their messages."""

    async def save(self, feedback: Feedback) -> None:
        """Insert, or replace by message and author. Raises NotFound for an unknown message."""

    async def remove(self, message_id: str, author: str) -> None:
        """Ignore unknown ones."""

    async def list_feedback(self, conversation_id: str) -> list[Feedback]:
        """Return ratings in the order of the messages, then by author."""


class SettingsRepository(Protocol):
    """Settings of channels, threads and people. Reading an absent setting returns the default."""

    async def channel(self, address: ChannelAddress) -> ChannelSettings: ...

    async def save_channel(self, address: ChannelAddress, settings: ChannelSettings, *, audit: Audit = None) -> None:
        """Insert or replace."""

    async def listening(self, address: ThreadAddress) -> Listening: ...

    async def save_listening(self, address: ThreadAddress, listening: Listening, *, audit: Audit = None) -> None:
        """Insert or replace."""

    async def lately(self, address: ThreadAddress, *, opens_thread: bool) -> tuple[Listening, ChannelSettings]:
        """Return both, up to a second before changes of other processes: for talk, never for access."""

    async def positions(self, holder: PositionHolder) -> Mapping[str, int]:
        """Map document id -> the last page that the holder may see of it, for documents with a position."""

    async def positions_of(self, holders: Sequence[PositionHolder]) -> list[Mapping[str, int]]:
        """Return `positions` of several holders, in one request."""

    async def positioned(self, workspace: str) -> frozenset[str]:
        """Return ids of the documents with a position of any person or channel of the workspace."""

    async def save_position(
        self, holder: PositionHolder, document_id: str, last_page: int | None, *, audit: Audit = None
    ) -> None:
        """Insert or replace; None removes it, and an absent one is ignored."""


class SummaryRepository(Protocol):
    """Kept summaries, one for each kind and subject, of the latest summarised revision.

    Deleted with their document, page (so with the document's revision) or conversation.
    """

    async def find(self, keys: Collection[SummaryKey]) -> Mapping[SummaryKey, str]:
        """Return the kept summaries; keys of other revisions and unknown subjects are left out."""

    async def save(self, key: SummaryKey, text: str) -> None:
        """Insert or replace. An unknown subject is ignored. A power cut may lose the last ones."""

    async def remove(self, workspace: str, subject: str) -> None:
        """Remove all kinds of a subject that stays; unknown ones are ignored."""


class CassetteRepository(Protocol):
    """Recorded runs, by the id of their answer's message. Deleted with it, and with any of their documents."""

    async def save(self, cassette: StoredCassette) -> None:
        """Insert or replace. Ignored if the message or a document was deleted. A power cut may lose the last ones."""

    async def find(self, message_id: str, workspace: str) -> StoredCassette:
        """Find a recording by the message's id or an unambiguous beginning of it. NotFound tells the next step."""

    async def list_cassettes(
        self, workspace: str, *, cases_only: bool = False, limit: int = 50
    ) -> list[StoredCassette]:
        """Return recordings, newest first, without their data."""

    async def mark_case(self, message_id: str, *, is_case: bool) -> None:
        """Keep it as a regression case, or stop keeping it. Raises NotFound for an unknown one."""

    async def purge(self, before: datetime) -> int:
        """Delete recordings made before that are no cases; return their number."""


class TeamRepository(Protocol):
    """Servers and teams of the chat platforms: their names, and the workspaces that they are bound to."""

    async def list_teams(self) -> list[PlatformTeam]:
        """Return teams by platform, then id."""

    async def bind(
        self, platform: str, team_id: str, workspace: str | None, now: datetime, *, audit: Audit = None
    ) -> None:
        """Bind a team, which may be unknown; None unbinds it. Names stay. Durable when it returns."""

    async def record_connected(self, platform: str, names: Mapping[str, str], now: datetime) -> None:
        """Store the teams that the bot is in, id -> name, and that it is in no others, left `now`. Bindings stay.

        An empty name keeps the stored one. A team that is new owes a greeting, by the same commit, unless the platform
        had none before: those were joined before anything was stored.
        """

    async def record_joined(self, platform: str, team_id: str, places: Collection[str]) -> None:
        """Store the places of a team that the bot is in. New ones owe a greeting, by the same commit.

        Those of a team's first list count as greeted, unless the team itself is new by `record_connected`.
        """

    async def owe_greeting(self, platform: str, place: str) -> bool:
        """Note that a place, a server or a channel, is to be greeted; False if it was greeted before."""

    async def owed_greetings(self, platform: str) -> list[str]:
        """Return the places that are still to be greeted."""

    async def greeted(self, platform: str, place: str) -> None:
        """Note that a place was greeted, so that it never is again."""

    async def forget_greetings(self, platform: str, team_id: str) -> None:
        """Forget the greetings of a team that the bot was removed from, and of its channels: invited again, it greets.

        Durable when it returns.
        """


class AdditionRepository(Protocol):
    """Documents that people added, or proposed, through a chat.

    Where several processes share a database, each instance is a separate owner, and works only on what it claimed,
    until its lease ends. Where only one process works, it owns everything.
    """

    async def claim(self, addition_id: str, *, takes_over: bool) -> bool:
        """Take an addition that no other owner has under a lease; any, if it `takes_over`. False: another has it."""

    async def renew(self, addition_id: str) -> bool:
        """Renew the lease; False if another owner took over."""

    async def release(self, addition_id: str) -> None:
        """End the lease, if it is still this owner's."""

    async def add(self, addition: Addition) -> tuple[Addition, bool]:
        """Store it, and return it with True; for a known id, return the stored one with False. Durable."""

    async def get(self, addition_id: str) -> Addition:
        """Raises NotFound for an unknown id."""

    async def change(self, addition: Addition, *, was: AdditionState, audit: Audit = None) -> bool:
        """Store a changed addition, except its post, if the stored one is still in the state `was`. Durable.

        A new state isn't settled. False: another process or person was faster, nothing was changed.
        """

    async def set_post(self, addition_id: str, post_ref: PostRef) -> None: ...

    async def settle(self, addition_id: str, state: AdditionState) -> None:
        """Mark it as settled, if it is still in this state, and no other owner took over."""

    async def list_unsettled(self, platform: str) -> list[Addition]:
        """Return those with something left to do, oldest first."""

    async def list_kept(self, workspace: str) -> list[Addition]:
        """Return those whose file is among the uploads, oldest first."""

    async def links(self, workspace: str) -> Mapping[str, str]:
        """Map the path of each kept link, among the uploads, to its web address."""

    async def purge(self, before: datetime) -> list[str]:
        """Delete settled ones that changed before, and return their ids. Proposals that wait and kept links stay."""


class InstallationRepository(Protocol):
    """Teams that installed the app. Tokens are encrypted in the database and its backups.

    Raises ConfigError if a token can't be decrypted with the configured keys.
    """

    async def save(self, installation: Installation) -> None:
        """Insert, or replace by platform and team; on disk when it returns."""

    async def find(self, platform: str, team_id: str) -> Installation | None: ...

    async def list_installations(self, platform: str) -> list[Installation]:
        """Return installations by team id."""

    async def remove(self, platform: str, team_id: str) -> None:
        """Ignore unknown ones."""


class ChatPlatform(Protocol):
    """A platform that answers are posted to. A message key has one post, which shows the last call; repeats are safe.

    Raises PlatformError if the platform refuses a post.
    """

    @property
    def name(self) -> str:
        """The `platform` of its thread addresses."""

    async def open(self, entry: InboxEntry) -> ProgressSink:
        """Show that work on it has begun (a typing sign, a placeholder post), and return the display of its progress.

        With `entry.attempts > 1`, an earlier process may have posted a placeholder already, which is found and used.
        """

    async def post(self, address: ThreadAddress, message_key: str, answer: Answer, *, look_first: bool) -> PostRef:
        """Post the final answer, or update the post of the same message key.

        `look_first`: a crashed process may have made a post that this one doesn't know; ask the platform before
        posting.
        """

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> PostRef:
        """Post the one clear error as the post of the message key; always looks first."""

    async def remove(self, entry: InboxEntry) -> None:
        """Delete the post of a deleted answer's entry; a missing one is ignored."""

    async def redact(self, entry: InboxEntry, sentence: str) -> None:
        """Replace the post of an emptied answer's entry by a sentence; a missing one is ignored."""


class ThreadReader(Protocol):
    """Reads threads of platforms whose posts aren't our own history."""

    async def talk_before(self, question: IncomingMessage, limit: int) -> Sequence[Talk]:
        """Return people's last messages in the thread before a question, oldest first, at most `limit`.

        For a question that opens its thread: from its channel, since CHANNEL_TALK before it. Raises PlatformError.
        """

    async def is_admin(self, question: IncomingMessage) -> bool:
        """Return whether the asker is an admin of the server or team; False if that can't be looked up."""

    async def read_attachment(self, question: IncomingMessage, attachment: Attachment) -> bytes:
        """Return the bytes of a file. Raises PlatformError if it isn't available."""


class Audiences(Protocol):
    """Looks up live who can read the places of a platform. Administrators, who can read every place, don't count.

    `named` are the readers that the sources of the workspace name: only these channels, roles and groups have to be
    looked up. Results may be kept for a minute, and are dropped when the platform reports a change. Raises
    PlatformError, with the reason in a sentence, if that can't be looked up.
    """

    async def of_place(self, address: ThreadAddress, named: frozenset[str]) -> Audience:
        """Return everyone who can read the thread now; no parts if it doesn't exist or the bot can't see it."""

    async def of_person(self, workspace: str, person: str, named: frozenset[str]) -> Audience:
        """Return one person; no parts if they are in no server or team that reads the workspace."""


class StaleRepository(Protocol):
    """Comparisons of answers with the present text of their documents, deleted with their messages."""

    async def list_unchecked(self) -> list[Unchecked]:
        """Return answers that cite a document whose live revision they weren't compared with, over all workspaces.

        By conversation, then message and document.
        """

    async def live_texts(self, document_id: str) -> LiveTexts | None:
        """Return the texts of one moment; None for a document that was removed or never read."""

    async def record(self, conversation_id: str, checked: Sequence[Checked], note_id: str) -> bool:
        """Store comparisons of a conversation, and mark its answers stale or not stale; in one commit.

        Answers that were compared meanwhile by another process (`was` doesn't match), or removed, stay unchanged. An
        answer that loses its first quote of a document becomes due for the note `note_id`, unless it is old; return
        whether any does.
        """

    async def due_notes(self) -> list[DueNote]:
        """Return unfinished notes, over all workspaces, by id."""

    async def note_done(self, note_id: str) -> None:
        """Mark it as finished; unknown ids are ignored."""

    async def list_stale(self, workspace: str, conversation_id: str | None = None) -> list[StaleAnswer]:
        """Return stale answers without their questions, by conversation (most recently used first), then oldest first.

        None: of all conversations.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseFacts:
    """The state of a database."""

    name: str  # the file's path, or the URL without its password
    kind: str  # "SQLite" or "PostgreSQL"
    schema: str  # the newest revision of storage/database/migrations that it has
    bytes: int  # on its disk
    rows: Mapping[str, int]  # by kind, in the usual order


class DatabaseMaintenance(Protocol):
    """Reads a database and copies it; changes nothing."""

    async def describe(self) -> DatabaseFacts: ...

    async def check_integrity(self) -> list[str]:
        """Return one sentence for each fault, with the next step.

        Checks the file's own structure, rows without an owner, and that every passage is verbatim in its page. Reads
        everything: seconds for ten thousand pages.
        """

    async def back_up(self, target: Path) -> int:
        """Write database, kept answers, uploads and the key that signs links to one new file; return its bytes.

        Others may read and write meanwhile. Everything else follows from these. Only the owner can read the file.
        Raises InvalidState if it exists, or if the database is a server's; StorageError if it can't be written.
        """


class PersonRecords(Protocol):
    async def find(self, person: PersonOnPlatform) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return the records about a person by kind, oldest first, all of one moment.

        They hold no answers. `messages` are of all people, by name, in conversations that the person began.
        """
