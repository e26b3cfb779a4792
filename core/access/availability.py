"""The state of the documents in a place, and the sentences about it: one rule and one catalogue for every entry point.

An empty place has a sentence with the reason and the next step. No sentence counts the documents of a source that the
place may not read.
"""

import shlex
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from core.access.scopes import ATTACHMENTS, Access, Ground, Grounds
from core.access.work_in_progress import WorkInProgress
from core.domain.corpus import SearchScope
from core.domain.incoming import ThreadAddress
from core.errors import FootnoteError
from core.ports import CorpusRepository, SearchIndex
from core.ports.documents import IngestProgressStore

# Promises of an answer on a platform where `core/features/early_questions.py` keeps them.
ANSWERS_LATER = "I'll answer this question as soon as it has been read."
# Of live channels that are closed.
STILL_COMPARING = "I'm still comparing what I kept with what is there now. Ask again in a few minutes."
LOOKS_AGAIN = "I'll look again when they're done."
NAMED_COMMANDS = ("library", "position", "settings", "sources")  # chat commands in the sentences


class LibraryState(StrEnum):
    """Whether a place has documents to search, or the reason why not."""

    READY = "ready"
    NO_DOCUMENTS = "no_documents"  # nothing was added yet
    READING = "reading"  # the first documents are being read
    UNREADABLE = "unreadable"  # none of the files could be read
    EMPTY_SOURCES = "empty_sources"  # the sources that are allowed here have none
    NOT_ALLOWED = "not_allowed"  # the workspace has sources, but none may be read here
    NOT_FOR_ALL = "not_for_all"  # it has sources, but none that everyone who can read the place may read
    UNKNOWN_AUDIENCE = "unknown_audience"  # the readers of the place are unknown
    NOT_COMPARED = "not_compared"  # only live channels may be read, which are still to be compared
    NOT_BEGUN = "not_begun"  # the reading positions hide every document
    REBUILDING = "rebuilding"  # the search index is being rebuilt, and has nothing yet
    NO_INDEX = "no_index"  # the search index is empty, and nothing rebuilds it


class Reader(StrEnum):
    """The person who reads a sentence, by the next step that they can take."""

    OPERATOR = "operator"  # at the machine: in the terminal, the web app or the API
    ADMIN = "admin"  # of a server or team
    MEMBER = "member"  # of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A state with its numbers, which count only documents that the place may read."""

    state: LibraryState
    workspace: str
    done: int = 0  # files read so far
    total: int = 0  # of so many; 0: unknown yet
    failed: int = 0  # files that could not be read
    reason: str = ""  # why the readers of the place are unknown

    @property
    def is_ready(self) -> bool:
        return self.state is LibraryState.READY


class Availability:
    """Finds the state of a place."""

    def __init__(
        self,
        corpus: CorpusRepository,
        access: Access,
        index: Callable[[], SearchIndex] | None = None,
        default_workspace: str = "local",
        platforms: Container[str] = (),
        asked_later: Container[str] = (),
        ingests: IngestProgressStore | None = None,
    ) -> None:
        """`index` opens the search index; `platforms` are those whose people aren't at the machine.

        Commands need no option for `default_workspace`. On `asked_later`, questions that came too early are asked
        once more (core/features/early_questions.py), and the sentences say so. `ingests` tells of other processes.
        """
        self.work = WorkInProgress(ingests)
        self._corpus = corpus
        self._access = access
        self._index = index
        self._default = default_workspace
        self._platforms = platforms
        self._asked_later = asked_later

    async def of(self, scope: SearchScope, address: ThreadAddress | None = None) -> Condition:
        """Return the state of a place with this scope."""

        def condition(state: LibraryState, reason: str = "", **counts: int) -> Condition:
            return Condition(state=state, workspace=scope.workspace, reason=reason, **counts)

        if await self._corpus.has_text(scope):
            if await self._is_indexed():
                return condition(LibraryState.READY)
            return condition(LibraryState.REBUILDING if self.work.repairs else LibraryState.NO_INDEX)
        grounds, _ = await self._access.decide(scope.workspace, address)
        own = [(source, ground) for source, ground in grounds.sources if source.kind != ATTACHMENTS]
        open_here = frozenset(source.id for source, ground in own if ground.is_readable)
        if own and not open_here and any(ground is Ground.UNKNOWN_AUDIENCE for _, ground in own):
            return condition(LibraryState.UNKNOWN_AUDIENCE, grounds.unknown)
        if own and not open_here and any(ground is Ground.NOT_COMPARED for _, ground in own):
            return condition(LibraryState.NOT_COMPARED)
        if own and not open_here and any(ground is Ground.NOT_FOR_ALL for _, ground in own):
            return condition(LibraryState.NOT_FOR_ALL)
        if (own and not open_here) or any(ground is Ground.OTHER_WORKSPACE for _, ground in own):
            return condition(LibraryState.NOT_ALLOWED)
        if running := await self.work.running(open_here):
            done, total = sum(now.done for now in running), sum(now.total for now in running)
            return condition(LibraryState.READING, done=done, total=total)
        documents = await self._corpus.list_readable(replace(scope, sources=open_here))
        if any(document.revision is not None for document in documents):
            return condition(LibraryState.NOT_BEGUN)
        if await self._are_hidden(open_here, grounds):
            state = LibraryState.UNKNOWN_AUDIENCE if grounds.unknown else LibraryState.NOT_FOR_ALL
            return condition(state, grounds.unknown)
        if failed := sum(document.failed_reason is not None for document in documents):
            return condition(LibraryState.UNREADABLE, failed=failed)
        is_limited = len(open_here) < len(own)
        return condition(LibraryState.EMPTY_SOURCES if is_limited else LibraryState.NO_DOCUMENTS)

    async def _are_hidden(self, sources: frozenset[str], grounds: Grounds) -> bool:
        """Return whether there are documents, and not everyone who can read the place may read these."""
        if not grounds.hidden:
            return False
        found = await self._corpus.list_documents(grounds.workspace, sources)
        return any(document.id in grounds.hidden and document.revision is not None for document in found)

    async def explain(
        self, scope: SearchScope, address: ThreadAddress | None = None, *, is_admin: bool = False
    ) -> str | None:
        """Return why nothing can be searched in a place, and the reader's next step; None if documents can be."""
        found = await self.of(scope, address)
        return None if found.is_ready else self.sentence(found, address, is_admin=is_admin)

    def sentence(self, found: Condition, address: ThreadAddress | None, *, is_admin: bool) -> str:
        """Return the sentences about a state that isn't ready, for one reader."""
        if address is not None and address.platform in self._asked_later and found.state in _LATER:
            return _LATER[found.state](found)
        is_elsewhere = address is not None and address.platform in self._platforms
        reader = (Reader.ADMIN if is_admin else Reader.MEMBER) if is_elsewhere else Reader.OPERATOR
        return describe(found, reader, self._default)

    async def is_reading(self, scope: SearchScope) -> bool:
        """Return whether documents within a scope are being read."""
        return bool(await self.work.running(scope.sources))

    async def caveat(self, scope: SearchScope, address: ThreadAddress | None = None) -> str | None:
        """Return why a search may have missed something; None if it saw everything."""
        if running := [now for now in await self.work.running(scope.sources) if now.done < now.total]:
            done, total = sum(now.done for now in running), sum(now.total for now in running)
            if address is not None and address.platform in self._asked_later:
                return still_reading(total - done)
            return f"I'm still reading documents here ({done} of {total}). Ask again when they're done."
        if self.work.repairs and not await self._is_complete():
            return "The search index is being rebuilt, so I may have missed something. Ask again in a few minutes."
        grounds, _ = await self._access.decide(scope.workspace, address)
        if any(ground is Ground.NOT_COMPARED for _, ground in grounds.sources):
            return f"I left out what was said in channels. {STILL_COMPARING}"
        return None

    async def _is_indexed(self) -> bool:
        """Return whether the index has anything; True if it can't be asked, which a search reports better."""
        try:
            return self._index is None or await self._index().count() > 0
        except FootnoteError:
            return True

    async def _is_complete(self) -> bool:
        expected = sum((await self._corpus.live_revisions()).values())
        return self._index is None or await self._index().count() >= expected


def still_reading(files: int) -> str:
    """Say that files are still being read, and that the question is asked again; 0: their number isn't known."""
    count = f"{files} file{'' if files == 1 else 's'}" if files else "the documents"
    return f"Still reading {count}. {LOOKS_AGAIN}"


# The sentences about these states where a question is asked once more by itself.
_LATER: Mapping[LibraryState, Callable[[Condition], str]] = {
    LibraryState.NO_DOCUMENTS: lambda _: f"I have nothing to read yet. Add a document, and {ANSWERS_LATER}",
    LibraryState.READING: lambda found: still_reading(found.total - found.done),
    LibraryState.UNREADABLE: lambda found: (
        f"{'The only file' if found.failed == 1 else f'All {found.failed} files'} here could not be read. "
        f"The library lists the reasons. Add a document that can be read, and {ANSWERS_LATER}"
    ),
}
NO_MODEL = "no model, so answers are quotes from the documents; to have answers written, see docs/models.md"


def not_connected(label: str) -> str:
    """Say that a bot isn't in a server or team that is bound to a workspace."""
    return f"The bot isn't in {label} now. Invite it (`footnote doctor` prints the link), and start `footnote serve`."


def ingest_command(workspace: str, default: str | None) -> str:
    """Return the command that adds documents to a workspace; `default` is the one that needs no option."""
    option = "" if workspace == default else f" --workspace {shlex.quote(workspace)}"
    return f"footnote ingest PATH{option}"


# The next step where a place may read no source.
_OPEN_A_SOURCE = dict.fromkeys(
    (Reader.OPERATOR, Reader.ADMIN),
    "Let more people read a source, on the machine that runs Footnote: `footnote sources readers`.",
) | {Reader.MEMBER: "Ask an admin."}


def _unknown_audience(found: Condition, reader: Reader) -> str:
    why = f": {found.reason.rstrip('.')}" if found.reason and reader is not Reader.MEMBER else ""
    unknown = "Nothing may be read here now, because I could not find out who can read this place"
    return f"{unknown}{why}. Ask again in a minute."


def describe(found: Condition, reader: Reader, default_workspace: str = "local") -> str:
    """Return the sentences about a state that isn't ready, with the next step that the reader can take."""
    step = f"`{ingest_command(found.workspace, default_workspace)}`"
    match found.state:
        case LibraryState.NO_DOCUMENTS:
            in_browser = ", or in the web app under Library" if found.workspace == default_workspace else ""
            said = {
                Reader.OPERATOR: f"The workspace {found.workspace!r} has no documents yet. Add some with {step}"
                f"{in_browser}.",
                Reader.ADMIN: "I have no documents to read here yet. Add some with /library add, or on the machine "
                f"that runs Footnote: {step}. Or let me read another workspace here: `footnote workspaces bind`.",
                Reader.MEMBER: "I have no documents to read here yet. Ask an admin to add some. Or propose one with "
                "/library add.",
            }
            return said[reader]
        case LibraryState.READING:
            count = f" ({found.done} of {found.total})" if found.total else ""
            return f"I'm still reading the documents here{count}. Ask again when they're done."
        case LibraryState.UNREADABLE:
            files = "The only file" if found.failed == 1 else f"All {found.failed} files"
            where = "`footnote documents` lists" if reader is Reader.OPERATOR else "/sources lists"
            fix = "Ask an admin to replace them." if reader is Reader.MEMBER else "Replace them, and ingest them again."
            return f"{files} here could not be read. {where} the reasons. {fix}"
        case LibraryState.EMPTY_SOURCES:
            fix = (
                "Ask an admin to add some."
                if reader is Reader.MEMBER
                else f"Add some with {step}, or allow other sources with /settings sources."
            )
            return f"The sources that I may read here have no documents yet. {fix}"
        case LibraryState.NOT_ALLOWED:
            fix = (
                "Ask an admin to allow some sources here."
                if reader is Reader.MEMBER
                else "Allow some sources here with /settings sources."
            )
            return f"I may not read any documents here. {fix}"
        case LibraryState.NOT_FOR_ALL:
            closed = "Nothing may be read here yet: no documents are open to everyone who can read this place."
            return f"{closed} {_OPEN_A_SOURCE[reader]}"
        case LibraryState.UNKNOWN_AUDIENCE:
            return _unknown_audience(found, reader)
        case LibraryState.NOT_COMPARED:
            return f"I have only what was said in channels here. {STILL_COMPARING}"
        case LibraryState.NOT_BEGUN:
            return (
                "By the reading positions that are set here, no document has been begun, so there is nothing to show "
                "without spoilers. Set how far you have read with /position."
            )
        case LibraryState.REBUILDING:
            return "The search index is being rebuilt. Ask again in a few minutes."
        case LibraryState.NO_INDEX:
            steps = {
                Reader.OPERATOR: "Build it again: `footnote db reindex`.",
                Reader.ADMIN: "Build it again on the machine that runs Footnote: `footnote db reindex`.",
                Reader.MEMBER: "Ask an admin to build it again.",
            }
            return f"The search index is empty. {steps[reader]}"
        case LibraryState.READY:
            raise ValueError("there is nothing to explain")
