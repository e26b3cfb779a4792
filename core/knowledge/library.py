"""Use cases of the library: search it, find a document, open a page, remove documents and sources."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace

from core.access.scopes import ATTACHMENTS
from core.domain.audit import Audit, AuditNote, Deed
from core.domain.channels import LIVE_KIND
from core.domain.corpus import Document, Page, SearchScope, Source
from core.domain.footnotes import page_links
from core.errors import BadInput, NotFound, StorageError
from core.knowledge.search.documents import Linked, NamesOfWorkspaces, find_by_name, only_journals
from core.knowledge.search.searching import PassageSearch
from core.ports import ConversationRepository, CorpusRepository, SearchIndex

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """An opened page, with its neighbours and its addresses."""

    document: Document
    page: Page
    previous: str | None  # page id, if readable
    next: str | None
    url: str | None
    deep_link: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """A removed source or document."""

    name: str  # of the source, or path of the document
    documents: int
    conversations: int  # pinned to them, focused on them, or with answers that rest on them

    def __str__(self) -> str:
        documents = "1 document" if self.documents == 1 else f"{self.documents} documents"
        return f"Removed {self.name!r} ({documents}). {removal_effect(self.documents, self.conversations)}"

    def to_json(self) -> dict[str, object]:
        return {"removed": self.name, "documents": self.documents, "conversations": self.conversations}


def removal_effect(documents: int, conversations: int) -> str:
    """Return a sentence about the effect of a removal on conversations, and on the posts of their answers."""
    them = "it" if documents == 1 else "them"
    if not conversations:
        return f"No conversation is about {them}."
    stays = "1 conversation stays" if conversations == 1 else f"{conversations} conversations stay"
    return (
        f"{stays}, but answers that rest on {them} are deleted for good, with their quotes, steps and recordings. "
        "A note replaces their posts in Discord and Slack."
    )


class Library:
    """Sources, documents and pages. Every read takes the scope it may see."""

    def __init__(
        self,
        corpus: CorpusRepository,
        index: SearchIndex,
        conversations: ConversationRepository,
        *,
        delete_files: Callable[[Sequence[Document]], Awaitable[None]] | None = None,
        delete_mirror: Callable[[Source], Awaitable[None]] | None = None,
        after_removal: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        """`delete_files` deletes files of removed documents that Footnote keeps, so that none is read again.

        `delete_mirror` deletes all files that were fetched for a removed source.
        `after_removal` is called after documents were removed, so that answers that cite them become stale.
        """
        self._delete_files = delete_files
        self._delete_mirror = delete_mirror
        self._after_removal = after_removal
        self._corpus = corpus
        self._index = index
        self.search = PassageSearch(corpus, index).pages
        self._conversations = conversations
        self.names = NamesOfWorkspaces(corpus)

    async def documents(self, scope: SearchScope) -> list[Document]:
        """Return all documents by source name, then path; failed ones, too."""
        return await self._corpus.list_readable(scope)

    async def find_document(self, name: str, scope: SearchScope) -> Document:
        """Return the document meant by an id, path, title or alias, or something close (DocumentNames.find).

        Raises:
            BadInput: several are meant; the message lists them.
            NotFound: none is meant; the message names the nearest.
        """
        names = await self.names.of(scope.workspace)
        found = await asyncio.to_thread(names.find, name, scope.allows)
        return await self._corpus.get_document(found.id, scope)

    async def find_linked(self, targets: Sequence[str], scope: SearchScope) -> list[Linked]:
        """Look up the targets of [[links]], in their order (DocumentNames.linked).

        Failures and stamps of the documents may be out of date.
        """
        names = await self.names.of(scope.workspace)
        return await asyncio.to_thread(lambda: [names.linked(target, scope.allows) for target in targets])

    async def find_journal(self, name: str, scope: SearchScope) -> Document:
        """Find a document among the journals, or among all documents if there are no journals."""
        return find_by_name(name, only_journals(await self.documents(scope)))

    async def page(self, page_id: str, scope: SearchScope) -> PageView:
        """Open a page. Raises NotFound for unknown ids, old revisions, and pages outside the scope."""
        return await self._view(await self._corpus.get_page(page_id, scope), scope)

    async def page_by_number(self, document: str, number: int, scope: SearchScope) -> PageView:
        """Open a page, numbered from 1, of the document that `document` names (see find_document).

        Raises:
            NotFound: the document or page is unknown.
            BadInput: several documents are meant.
        """
        found = await self.find_document(document, scope)
        page = await self._corpus.find_page(found.id, number, scope)
        if page is None:
            pages = await self._range(found, scope)
            raise NotFound(f"{found.path!r} has no page {number} that you can read here: {pages}")
        return await self._view(page, scope)

    async def remove_document(self, name: str, scope: SearchScope, *, by: str = "") -> Removal:
        """Remove a document until its file is ingested again. Raises as `find_document` does."""
        document = await self.find_document(name, scope)
        conversations = await self.forget([document], by=by)
        return Removal(name=document.path, documents=1, conversations=conversations)

    async def remove_documents(self, ids: Collection[str], scope: SearchScope, *, by: str = "") -> list[Document]:
        """Remove several documents by their IDs, and return them; unknown ones are ignored."""
        documents = [document for document in await self.documents(scope) if document.id in ids]
        await self.forget(documents, by=by)
        return documents

    async def sources(self, workspace: str) -> list[Source]:
        """Return the sources by name, without attachments, which belong to their threads."""
        return [source for source in await self._corpus.list_sources(workspace) if source.kind != ATTACHMENTS]

    async def remove_source(self, workspace: str, name: str, *, by: str = "") -> Removal:
        """Remove a source and all its documents. Raises NotFound for an unknown name."""
        source = await self.source(workspace, name)
        documents = await self._corpus.list_documents(workspace, frozenset({source.id}))
        conversations = await self.forget(documents)
        if self._delete_mirror is not None:
            await self._delete_mirror(source)
        await self._corpus.remove_source(source.id, audit=_note(workspace, by, Deed.SOURCE_REMOVED, source.name))
        return Removal(name=source.name, documents=len(documents), conversations=conversations)

    async def set_readers(self, workspace: str, name: str, readers: frozenset[str], *, by: str = "") -> Source:
        """Replace a source's readers, and return it. NotFound for an unknown name, BadInput for a live channel."""
        source = await self.source(workspace, name)
        if source.kind == LIVE_KIND:
            raise BadInput(f"{name!r} is a live channel: those who can read the channel are its readers.")
        about = f"{source.name}: {', '.join(sorted(readers)) or 'nobody'}"
        await self._corpus.set_readers(source.id, readers, audit=_note(workspace, by, Deed.READERS, about))
        return replace(source, readers=readers)

    async def source(self, workspace: str, name: str) -> Source:
        """Find a source by its name. Raises NotFound for an unknown one."""
        source = await self._corpus.find_source(workspace, name)
        if source is None:
            names = ", ".join(repr(known.name) for known in await self.sources(workspace)) or "none"
            raise NotFound(f"Unknown source {name!r}. Sources here: {names}.")
        return source

    async def forget(self, documents: Sequence[Document], *, by: str = "") -> int:
        """Remove documents; return the number of conversations about them. `by`: the person who removes each.

        From the database first: after an interruption, leftovers in the index are hidden and swept.
        """
        conversations = await self.count_conversations(documents)
        if self._delete_files is not None:
            await self._delete_files(documents)
        await self._corpus.remove_documents([document.id for document in documents], by=by)
        for document in documents:
            await self._index.remove_document(document.id)
        if documents:
            await self._erase()
        if self._after_removal is not None:
            await self._after_removal()
        return conversations

    async def _erase(self) -> None:
        try:
            await self._index.erase()
        except StorageError as error:  # the daily tidying tries again
            _log.warning("The search index keeps bytes of removed passages for now: %s", error)

    async def count_conversations(self, documents: Sequence[Document]) -> int:
        """Count the conversations that are pinned to the documents, focused on them, or rest on them."""
        return await self._conversations.count_about(documents)

    async def _view(self, page: Page, scope: SearchScope) -> PageView:
        document = await self._corpus.get_document(page.document_id, scope)
        before, after = await self._neighbours(page, scope)
        url, deep_link = page_links(document, page)
        return PageView(
            document=document,
            page=page,
            previous=before.id if before else None,
            next=after.id if after else None,
            url=url,
            deep_link=deep_link,
        )

    async def _range(self, document: Document, scope: SearchScope) -> str:
        pages = await self._corpus.list_pages(document.id, scope)
        if pages:
            return f"its pages are {pages[0].number} to {pages[-1].number}"
        return "none of its pages is" if scope.positions.get(document.id) is not None else "it could not be read"

    async def _neighbours(self, page: Page, scope: SearchScope) -> tuple[Page | None, Page | None]:
        """Return the pages before and after. Numbers have gaps for a PDF's pages without text."""
        before = await self._corpus.find_page(page.document_id, page.number - 1, scope)
        after = await self._corpus.find_page(page.document_id, page.number + 1, scope)
        if before is None or after is None:
            pages = await self._corpus.list_pages(page.document_id, scope)
            before = max((p for p in pages if p.number < page.number), key=lambda p: p.number, default=None)
            after = min((p for p in pages if p.number > page.number), key=lambda p: p.number, default=None)
        return before, after


def _note(workspace: str, by: str, deed: Deed, about: str) -> Audit:
    return AuditNote(workspace=workspace, actor=by, deed=deed, about=about) if by else None
