"""Documents added through a chat: permitted people add files and links, others propose them.

Each request is stored before it is acknowledged, and each of its steps is safe to repeat: `run`
continues after any process that was killed. Posts belong to the adapters (bot/presentation/additions.py).
"""

import hashlib
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from core.access.scopes import Access
from core.domain.additions import READERS, Addition, AdditionKind, AdditionState
from core.domain.answer import Provenance
from core.domain.audit import Audit, AuditNote, Deed
from core.domain.corpus import Document
from core.domain.footnotes import web_address
from core.domain.incoming import ThreadAddress
from core.domain.ingest_report import failure_words
from core.domain.service import PostRef
from core.errors import BadInput, FootnoteError, InvalidState, NotFound, StorageError
from core.features.uploads import UPLOADS, Uploads, UploadState
from core.features.workspaces import LOCAL_READERS, Workspaces
from core.knowledge.library import Library
from core.ports.documents import FetchLink
from core.ports.service import AdditionRepository
from core.work.commands import Command, CommandCall, CommandResult, Option, OptionKind, readable_by

UNDO_DAYS = timedelta(days=30)  # an addition is kept this long after its end, and so is the file that it replaced
MOST_LISTED = 20
LIBRARY = "library"  # the command
LIST, REMOVE = "list", "remove"
NOT_PERMITTED = "Only an admin, or somebody whom an admin permits, can {what} documents here."
LONGEST_URL = 2_000
Chunks = AsyncIterable[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """An addition as it is now."""

    addition: Addition
    page: int = 0  # read so far
    pages: int = 0  # 0: not known yet
    reason: str = ""  # why it waits


def addition_id(event_key: str) -> str:
    """Return the id of the addition that an event of a platform requests."""
    return hashlib.sha256(event_key.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Additions:
    repository: AdditionRepository
    uploads: Uploads
    library: Library
    access: Access
    workspaces: Workspaces
    fetch: FetchLink

    @property
    def most_bytes(self) -> int:
        """The largest file that is accepted."""
        return self.uploads.most_bytes

    async def request(
        self,
        event_key: str,
        address: ThreadAddress,
        *,
        author: str,
        author_name: str,
        is_permitted: bool,
        name: str = "",
        url: str = "",
        readers: frozenset[str] | None = None,
        details: dict[str, str] | None = None,
    ) -> tuple[Addition, bool]:
        """Store a request to add a file (`name`) or a link (`url`) for some `readers`; durable when this returns.

        Return it, and whether it is new: a repeated event returns the stored one. Raises BadInput unless exactly one of
        the two is given, or if the link is no address of the web.
        """
        if bool(name) == bool(url):
            raise BadInput("Add either a file or a link.")
        link = web_address(url) if url else ""
        if link is None or len(link) > LONGEST_URL:
            raise BadInput(f"“{url[:100]}” isn't a web address. Copy it from the browser, with https:// in front.")
        wanted = AdditionState.ACCEPTED if is_permitted else AdditionState.PROPOSED
        now = self.uploads.clock.now()
        return await self.repository.add(
            Addition(
                id=addition_id(event_key),
                workspace=address.workspace,
                kind=AdditionKind.LINK if link else AdditionKind.FILE,
                name=link or name,
                address=address,
                author=author,
                author_name=author_name,
                state=wanted,
                created_at=now,
                changed_at=now,
                details=(details or {}) | ({} if readers is None else {READERS: " ".join(sorted(readers))}),
            )
        )

    async def get(self, addition_id: str, workspace: str) -> Addition:
        """Raises NotFound for an unknown one, or another workspace's."""
        found = await self.repository.get(addition_id)
        if found.workspace != workspace:
            raise NotFound("This addition belongs to another workspace.")
        return found

    async def unsettled(self, platform: str) -> list[Addition]:
        """Return the unfinished ones, for `run`."""
        return await self.repository.list_unsettled(platform)

    async def claim(self, addition: Addition, *, takes_over: bool = False) -> Addition | None:
        """Return the addition as it is now, to work on until it is released, in no other process.

        None if another process works on it. `takes_over` ends its work instead.
        """
        is_ours = await self.repository.claim(addition.id, takes_over=takes_over)
        return await self.repository.get(addition.id) if is_ours else None

    async def note_post(self, addition: Addition, post_ref: PostRef) -> None:
        await self.repository.set_post(addition.id, post_ref)

    async def settle(self, addition: Addition) -> None:
        """Note that the post shows the addition's state, and drop files that are no longer needed."""
        await self.repository.settle(addition.id, addition.state)
        if addition.state in (AdditionState.DISMISSED, AdditionState.REFUSED, AdditionState.UNDONE):
            await self.uploads.drop(addition.id)

    async def decide(self, addition: Addition, *, by: str, by_name: str, is_added: bool) -> Addition:
        """Add or dismiss a proposal, for a permitted person. Raises InvalidState if it was decided before."""
        state = AdditionState.ACCEPTED if is_added else AdditionState.DISMISSED
        deed = Deed.DOCUMENT_ADDED if is_added else Deed.DOCUMENT_DECLINED
        about = addition.path or addition.id
        audit = AuditNote(workspace=addition.workspace, actor=by, deed=deed, about=about)
        changed = await self._move(
            addition, AdditionState.PROPOSED, state, audit, decided_by=by, decided_by_name=by_name
        )
        if changed is None:
            now = await self.repository.get(addition.id)
            who = f" by {now.decided_by_name}" if now.decided_by_name else ""
            raise InvalidState(f"This proposal was decided already{who}.")
        return changed

    async def undo(self, addition: Addition, *, by: str, by_name: str) -> Addition:
        """Take an addition back, for a permitted person; `run` then removes its document.

        Raises InvalidState if it can't be undone, or if the document was changed since.
        """
        if not addition.can_be_undone:
            raise InvalidState("There is nothing to undo here.")
        if addition.state is AdditionState.READ:
            document = await self._document(addition)
            if document is not None and document.revision != addition.revision:
                raise InvalidState(f"“{addition.path}” was changed after this. To remove it, use /library remove.")
        changed = await self._move(
            addition, addition.state, AdditionState.UNDONE, decided_by=by, decided_by_name=by_name
        )
        return changed or await self.undo(await self.repository.get(addition.id), by=by, by_name=by_name)

    async def run(self, addition: Addition, open_file: Callable[[Addition], Chunks]) -> AsyncIterator[Progress]:
        """Do the remaining steps, and yield each change; the last one is final, or waits for people.

        `open_file` returns the bytes of a file from its platform. A FootnoteError of it refuses the addition.
        """
        if addition.state is AdditionState.UNDONE:
            await self._take_back(addition)
        yield Progress(addition=addition)
        while not (addition.state.is_final or addition.is_waiting):
            if addition.state is AdditionState.READING:
                async for progress in self._read(addition):
                    addition = progress.addition
                    yield progress
                continue
            is_held = bool(addition.path)
            addition = await (self._store(addition) if is_held else self._hold(addition, open_file))
            yield Progress(addition=addition)

    async def readers(self, addition: Addition) -> list[str]:
        """Return the places where a document of the workspace can be read, for people."""
        states = await self.workspaces.list_states()
        readers = next((state.readers for state in states if state.name == addition.workspace), [])
        return sorted(readers, key=lambda reader: reader in LOCAL_READERS)

    async def is_readable_here(self, addition: Addition) -> bool:
        """Return whether the channel of the request may read uploads."""
        sources = await self.access.sources(addition.workspace, addition.address)
        return any(source.kind == UPLOADS for source in sources)

    async def replaces(self, addition: Addition) -> bool:
        """Return whether it replaced a document of the same name, which Undo restores."""
        return bool(addition.path) and await self.uploads.has_replaced(addition.id, addition.path)

    async def added(self, workspace: str) -> dict[str, Addition]:
        """Return the newest addition of each path."""
        return {addition.path: addition for addition in await self.repository.list_kept(workspace)}

    async def delete_files(self, documents: Sequence[Document]) -> None:
        """Delete the files that removed documents replaced. For Library."""
        ids = {document.id for document in documents}
        for workspace in {document.workspace for document in documents}:
            for addition in await self.repository.list_kept(workspace):
                if addition.document_id in ids:
                    await self.uploads.drop(addition.id)

    async def purge(self) -> int:
        """Delete additions that ended long ago, with the files that it replaced; return the number."""
        gone = await self.repository.purge(self.uploads.clock.now() - UNDO_DAYS)
        for addition_id in gone:
            await self.uploads.drop(addition_id)
        return len(gone)

    async def _hold(self, addition: Addition, open_file: Callable[[Addition], Chunks]) -> Addition:
        """Store the bytes aside. They would be lost with the platform's file, and a refusal needs no decision."""
        name, chunks = addition.name, open_file(addition)
        try:
            if addition.kind is AdditionKind.LINK:
                file = await self.fetch(addition.name, self.most_bytes)
                name, chunks = file.name, _one(file.content)
            path = await self.uploads.hold(addition.workspace, addition.id, name, chunks)
        except StorageError:  # of our disk, so that it is worth another try
            raise
        except FootnoteError as error:
            return await self._refuse(addition, error)
        return await self._advance(addition, addition.state, path=path)

    async def _store(self, addition: Addition) -> Addition:
        try:
            file = await self.uploads.accept_held(
                addition.workspace,
                addition.id,
                addition.path,
                readers=addition.readers,
                by=addition.author_name,
                where=str(addition.address),
            )
        except StorageError:
            raise
        except FootnoteError as error:
            return await self._refuse(addition, error)
        return await self._advance(addition, AdditionState.READING, document_id=file.document_id)

    async def _refuse(self, addition: Addition, error: FootnoteError) -> Addition:
        reason = failure_words(addition.name, str(error).removeprefix(f"{addition.name}: "))
        return await self._advance(addition, AdditionState.REFUSED, reason=reason)

    async def _read(self, addition: Addition) -> AsyncIterator[Progress]:
        """Yield the progress of reading, then the outcome."""
        workspace, path = addition.workspace, addition.path
        try:
            if path not in {file.path for file in self.uploads.files(workspace)}:  # an earlier process accepted it
                await self.uploads.read_left(workspace, path, by=addition.author_name, where=str(addition.address))
            async for file in self.uploads.changes(workspace, path):
                if not file.state.is_final:
                    yield Progress(addition=addition, page=file.page, pages=file.pages, reason=file.reason)
        except NotFound as error:
            yield Progress(addition=await self._advance(addition, AdditionState.FAILED, reason=str(error)))
            return
        if file.state is UploadState.FAILED:
            yield Progress(addition=await self._advance(addition, AdditionState.FAILED, reason=file.reason))
            return
        document = await self._document(addition)
        revision = (document.revision if document else None) or ""
        changes = {"pages": file.pages, "revision": revision}
        yield Progress(addition=await self._advance(addition, AdditionState.READ, **changes))

    async def _take_back(self, addition: Addition) -> None:
        """Put the replaced document back, or remove the added one. Safe to repeat."""
        workspace, path = addition.workspace, addition.path
        if not path or await self.uploads.is_held(addition.id, path):
            return
        if await self.uploads.restore(workspace, addition.id, path):
            return
        scope = await self.access.scope(workspace)
        await self.library.remove_documents({addition.document_id}, scope, by=addition.decided_by)
        await self.uploads.delete(workspace, path)

    async def _document(self, addition: Addition) -> Document | None:
        try:
            return await self.uploads.corpus.get_document(
                addition.document_id, await self.access.scope(addition.workspace)
            )
        except NotFound:
            return None

    async def _move(
        self, addition: Addition, was: AdditionState, state: AdditionState, audit: Audit = None, **changes: Any
    ) -> Addition | None:
        """Change the state; None if the stored state isn't `was`."""
        changed = replace(addition, state=state, changed_at=self.uploads.clock.now(), is_settled=False, **changes)
        return changed if await self.repository.change(changed, was=was, audit=audit) else None

    async def _advance(self, addition: Addition, state: AdditionState, **changes: Any) -> Addition:
        """Change the state, unless another person or process did; return the addition as it is then."""
        return await self._move(addition, addition.state, state, **changes) or await self.repository.get(addition.id)


def library_command(additions: Additions) -> Command:
    """Return the row of the table that lists and removes documents that were added by hand."""

    async def run(call: CommandCall) -> CommandResult:
        action, name = call.option("action").lower(), call.option("name")
        if action == REMOVE:
            if not name:
                raise BadInput("Add the document's name after /library remove.")
            return await _remove(additions, call, name)
        if action in ("", LIST):
            return await _list(additions, call)
        raise BadInput("Use /library list, or /library remove NAME.")

    return Command(
        name=LIBRARY,
        usage="list | remove NAME",
        help="list or remove the documents that were added by hand",
        run=run,
        options=(
            Option(name="action", help="list or remove", kind=OptionKind.CHOICE, required=True, choices=(LIST, REMOVE)),
            Option(name="name", help="the document to remove", kind=OptionKind.ADDED),
        ),
        parse=_parse,
    )


async def _list(additions: Additions, call: CommandCall) -> CommandResult:
    """Return the readable uploads, newest first, as Markdown."""
    documents = await additions.library.documents(await readable_by(call, additions.access))
    added = await additions.added(call.workspace)
    found = [document for document in documents if document.source_kind == UPLOADS]
    if not found:
        return CommandResult(text="No documents were added by hand here yet.")
    found.sort(key=lambda document: (document.crawled_at is None, document.crawled_at), reverse=True)
    listed = found[:MOST_LISTED]
    rows = [_row(document, added.get(document.path)) for document in listed]
    more = [f"… and {len(found) - MOST_LISTED} more."] if len(found) > MOST_LISTED else []
    text = "\n".join(["Documents that were added by hand:", "", *rows, *more])
    return CommandResult(text=text, rests_on=Provenance(documents=tuple(document.id for document in listed)))


def _row(document: Document, addition: Addition | None) -> str:
    state = document.failed_reason and "could not be read"
    told = [state or count_pages(document.pages)]
    if addition is not None:
        told.append(f"added by {addition.author_name} on {addition.created_at:%Y-%m-%d}")
    if document.url:
        told.append(document.url)
    return f"- {document.path}: {', '.join(told)}"


async def _remove(additions: Additions, call: CommandCall, name: str) -> CommandResult:
    if not (call.may_add or call.is_admin or call.sees_all):
        raise call.refuse(NOT_PERMITTED.format(what="remove"))
    scope = await readable_by(call, additions.access)
    document = await additions.library.find_document(name, scope)
    if document.source_kind != UPLOADS:
        raise BadInput(
            f"“{document.title}” comes from the source “{document.source}”, so it would come back. Remove it there."
        )
    removal = await additions.library.remove_document(document.id, scope, by=call.author)
    return CommandResult(text=str(removal), is_public=True)


def count_pages(pages: int) -> str:
    return "1 page" if pages == 1 else f"{pages:,} pages"


def _parse(options: Sequence[Option], argument: str) -> Mapping[str, str]:
    """The first word is the action, the rest the name."""
    action, _, name = argument.strip().partition(" ")
    return {"action": action, "name": name.strip().strip('"“”')}


async def _one(content: bytes) -> AsyncIterator[bytes]:
    yield content
