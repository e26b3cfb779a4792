"""The documents of a library by name, kind, source and day, and the words that describe them. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from core.access.scopes import ATTACHMENTS
from core.domain.corpus import Document, LibrarySummary
from core.knowledge.facts.matching import stem
from core.text.words import STOPWORDS, shorten, words

TITLE_CHARACTERS = 80
# Words that people add to a document's name: they count only where names have them.
_GENERIC = frozenset(
    map(stem, "document file note meeting minutes session report paper entry journal book text record".split())
)
_GATHERINGS = frozenset(map(stem, "meeting minutes session".split()))  # a name with one of them has all


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFilter:
    """Which documents to list. Empty fields filter nothing."""

    words: str = ""  # each in the title, the path or an alias
    kind: str | None = None
    source: str | None = None
    since: date | None = None  # their own day
    until: date | None = None  # inclusive


def select_documents(documents: Iterable[Document], wanted: DocumentFilter) -> list[Document]:
    """Return the documents with text that fit, in their order. Words like "meetings" may be missing in names."""
    kept = [document for document in documents if document.revision is not None and _fits(document, wanted)]
    asked = {stem(word) for word in words(wanted.words) if word not in STOPWORDS}
    if not asked:
        return kept
    names = [{stem(word) for word in words(" ".join([item.title, item.path, *item.aliases]))} for item in kept]
    for named in names:
        named.update(_GATHERINGS if named & _GATHERINGS else ())
    for needed in (asked, asked - _GENERIC):
        found = [item for item, named in zip(kept, names, strict=True) if needed <= named]
        if needed and found:
            return found
    return []


def newest_first(documents: Iterable[Document]) -> list[Document]:
    """Return documents by their own day; those without one come last, by the time they were read."""
    return sorted(documents, key=lambda item: (item.dated or "", _read_at(item), item.path), reverse=True)


def latest_of(documents: Iterable[Document], today: date) -> list[Document]:
    """Return the documents up to today, newest first; only those with a day, if any has one."""
    past = [document for document in documents if document.dated is None or document.dated <= today.isoformat()]
    return newest_first([document for document in past if document.dated] or past)


def changed_since(documents: Iterable[Document], start: date, now: datetime) -> list[Document]:
    """Return the documents with text that were added or changed here since a day, the newest first."""
    read = [
        (document.crawled_at, document)
        for document in documents
        if document.revision is not None and document.crawled_at is not None
    ]
    since = [item for item in read if item[0].astimezone(now.tzinfo).date() >= start]
    return [document for _, document in sorted(since, key=lambda item: item[0], reverse=True)]


def document_line(document: Document) -> str:
    """`- minutes/2026-06-09.md: "Council", dated 2026-06-09, markdown, 3 pages, source notes`."""
    dated = f", dated {document.dated}" if document.dated else ""
    return f"- {document.path}: {_quoted(document)}{dated}, {document.kind}, {pages(document)}, {place(document)}"


def place(document: Document) -> str:
    return "attached here" if document.source_kind == ATTACHMENTS else f"source {document.source}"


def pages(document: Document) -> str:
    return "1 page" if document.pages == 1 else f"{document.pages} pages"


def counts(numbers: Mapping[str, int]) -> str:
    """`8 markdown, 4 pdf`, the largest first."""
    ordered = sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} {name}" for name, count in ordered)


def written_day(day: date) -> str:
    """`Tuesday, 9 June 2026`."""
    return f"{day:%A}, {day.day} {day:%B %Y}"


# ------------------------------------------------------------------------------------------------- a model's prompt

NEWEST_SHOWN = 8  # titles: about 250 tokens with the counts
_MOST_SOURCES = 12


def describe_library(summary: LibrarySummary, now: datetime) -> str:
    """Return the note for a prompt: today with its time zone, and the library in numbers, within the scope."""
    offset = f"{now:%z}"
    zone = f"{now.tzname()}, UTC{offset[:3]}:{offset[3:]}"
    return "\n".join([f"Today is {written_day(now.date())} ({zone}).", *_catalogue(summary)])


def _catalogue(summary: LibrarySummary) -> Iterator[str]:
    if not summary.total:
        return
    documents = "1 document" if summary.total == 1 else f"{summary.total} documents"
    largest = sorted(summary.sources, key=lambda name: -summary.sources[name])[:_MOST_SOURCES]
    yield (
        f"The library holds {documents} that can be read here ({counts(summary.kinds)}; by source: "
        f"{counts({name: summary.sources[name] for name in largest})})."
    )
    few = summary.total <= len(summary.newest)
    yield "All of them:" if few else "The newest (list_documents has the others):"
    for document in summary.newest:
        yield f"- {_quoted(document)} ({document.path}){f', dated {document.dated}' if document.dated else ''}"


def named_in(text: str, documents: Sequence[Document]) -> list[Document]:
    """Return the documents whose title or path a text holds."""
    said = text.casefold()
    return [item for item in documents if item.title.casefold() in said or item.path.casefold() in said]


def _fits(document: Document, wanted: DocumentFilter) -> bool:
    if wanted.kind is not None and document.kind.casefold() != wanted.kind.casefold():
        return False
    if wanted.source is not None and document.source.casefold() != wanted.source.casefold():
        return False
    if wanted.since is None and wanted.until is None:
        return True
    day = document.dated
    if day is None or (wanted.since is not None and day < wanted.since.isoformat()):
        return False
    return wanted.until is None or day <= wanted.until.isoformat()


def _read_at(document: Document) -> float:
    return document.crawled_at.timestamp() if document.crawled_at is not None else 0.0


def _quoted(document: Document) -> str:
    return f'"{shorten(document.title, TITLE_CHARACTERS)}"'
