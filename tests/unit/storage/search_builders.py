"""Passages on their way into an index, and questions to one; a test names only what it is about."""

import re

from core.domain.corpus import Document, SearchQuery, SearchScope, SourcedPassage, document_id, page_id, passage_id
from core.domain.passages import IndexEntry, Passage, Span
from tests.builders import build_document


def build_entry(
    text: str,
    *,
    document: str = "guide.md",
    ordinal: int = 0,
    page: int = 1,
    revision: str = "r1",
    workspace: str = "local",
    source: str = "handbook",
    kind: str = "markdown",
    title: str = "Guide",
    heading_path: tuple[str, ...] = (),
) -> IndexEntry:
    owner = document_id(workspace, source, document)
    passage = Passage(
        id=passage_id(workspace, owner, revision, ordinal),
        document_id=owner,
        page_id=page_id(owner, revision, page),
        page_number=page,
        revision=revision,
        ordinal=ordinal,
        span=Span(0, len(text)),
        text=text,
        heading_path=heading_path,
        sentences=sentence_spans(text),
    )
    return IndexEntry(passage=passage, workspace=workspace, source_id=source, kind=kind, title=title)


def build_sourced(text: str, *, score: float = 1.0, **fields: object) -> SourcedPassage:
    entry = build_entry(text, **fields)
    return SourcedPassage(passage=entry.passage, document=stand_in(entry), page_title="", score=score)


def stand_in(entry: IndexEntry) -> Document:
    return build_document(id=entry.passage.document_id, title=entry.title)


def sentence_spans(text: str) -> tuple[Span, ...]:
    return tuple(Span(*match.span()) for match in re.finditer(r"[^\s.!?][^.!?]*[.!?]?", text))


def ask(text: str, **fields: object) -> SearchQuery:
    return SearchQuery(text=text, **fields)


def within(*sources: str, workspace: str = "local", **positions: int) -> SearchScope:
    """Open to `sources` (default: the handbook); positions by document id."""
    return SearchScope(workspace=workspace, sources=frozenset(sources or ("handbook",)), positions=positions)
