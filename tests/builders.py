"""The smallest valid domain objects; a test names only what it is about."""

from datetime import UTC, datetime
from typing import Any

from core.domain.answer import Citation
from core.domain.conversation import Conversation, Message, Role
from core.domain.corpus import Document, FileStamp, Page, SearchScope, Source
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.jobs import Job, JobKind, JobStatus
from core.domain.passages import Passage, Span
from core.domain.readers import OPEN_TO_ALL

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def build_source(name: str = "handbook", *, workspace: str = "local", **fields: object) -> Source:
    values = {
        "id": f"{workspace}/{name}",
        "kind": "folder",
        "location": f"/{name}",
        "readers": OPEN_TO_ALL,
        **fields,
    }
    return Source(workspace=workspace, name=name, **values)


def build_document(path: str = "guide.md", source: Source | None = None, **fields: object) -> Document:
    source = source or build_source()
    values = {
        "id": f"{source.id}/{path}",
        "title": path,
        "kind": "markdown",
        "revision": "r1",
        "stamp": FileStamp(size=10, modified_ns=20),
        **fields,
    }
    return Document(
        workspace=source.workspace,
        source_id=source.id,
        source=source.name,
        source_kind=source.kind,
        path=path,
        **values,
    )


def build_pages(document: Document, *texts: str) -> list[Page]:
    return [
        Page(
            id=f"{document.id}@{document.revision}#{number}",
            document_id=document.id,
            revision=document.revision or "",
            number=number,
            title=f"Page {number}",
            text=text,
        )
        for number, text in enumerate(texts, start=1)
    ]


def build_passages(pages: list[Page]) -> list[Passage]:
    """One for each page, as long as the page."""
    return [
        Passage(
            id=f"{page.id}:0",
            document_id=page.document_id,
            page_id=page.id,
            page_number=page.number,
            revision=page.revision,
            ordinal=ordinal,
            span=Span(0, len(page.text)),
            text=page.text,
            heading_path=(page.title,),
            sentences=(Span(0, len(page.text)),),
        )
        for ordinal, page in enumerate(pages)
    ]


def build_scope(*sources: Source, workspace: str = "local", **positions: int) -> SearchScope:
    return SearchScope(workspace=workspace, sources=frozenset(source.id for source in sources), positions=positions)


def build_conversation(id: str = "c1", *, thread: str | None = None, **fields: object) -> Conversation:
    values = {
        "address": ThreadAddress(platform="terminal", workspace="local", channel="chat", thread=thread or id),
        "title": "",
        "owner": "ada",
        "created_at": NOON,
        "last_message_at": NOON,
        **fields,
    }
    return Conversation(id=id, **values)


def build_message(id: str = "m1", content: str = "Where is the key?", **fields: object) -> Message:
    values = {"conversation_id": "c1", "role": Role.USER, "author": "ada", "created_at": NOON, **fields}
    return Message(id=id, content=content, **values)


def build_incoming(text: str = "Where is the key?", *, thread: str = "t1", **fields: Any) -> IncomingMessage:
    address = ThreadAddress(platform="web", workspace="local", channel="general", thread=thread)
    values: dict[str, Any] = {"address": address, "author": "ada", "event_key": f"web:local:general:{text}"}
    return IncomingMessage(text=text, **(values | fields))


def build_citation(document_id: str = "d1", **fields: object) -> Citation:
    values = {
        "number": 1,
        "source": "handbook",
        "document": "guide.md",
        "document_title": "Guide",
        "page_id": "p1",
        "page_number": 1,
        "heading_path": ("Keys",),
        "quote": "under the mat",
        "span": Span(3, 16),
        "revision": "r1",
        "proved": True,
        **fields,
    }
    return Citation(document_id=document_id, **values)


def build_job(id: str = "j1", *, parent_id: str | None = None, **fields: object) -> Job:
    values = {
        "workspace": "local",
        "root_id": parent_id or id,
        "kind": JobKind.REQUEST,
        "name": "ask",
        "status": JobStatus.RUNNING,
        "created_at": NOON,
        **fields,
    }
    return Job(id=id, parent_id=parent_id, **values)
