"""Passages of pages, as they are stored, indexed and found; spans of text."""

from dataclasses import dataclass

# Begins a table's header row in the heading path of a passage from the table's middle.
TABLE_HEAD = "| "


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open range of characters (code points) in a page's text: `text[start:end]`."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]

    def contains(self, other: "Span") -> bool:
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True)
class PageBox:
    """A rectangle on a printed page, in shares of the page's width and height, from its upper left corner."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return self.top + self.height


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """The indexed piece of a page. `text == page.text[span]`; sentence spans are page offsets inside it, in order."""

    id: str
    document_id: str
    page_id: str
    page_number: int
    revision: str
    ordinal: int  # from 0 in the document
    span: Span
    text: str
    heading_path: tuple[str, ...]  # the head row of the table that it begins in the middle of is the last, `| a | b |`
    sentences: tuple[Span, ...]

    @property
    def titles(self) -> tuple[str, ...]:
        """The headings above it, without a table's header row."""
        is_in_table = self.heading_path and self.heading_path[-1].startswith(TABLE_HEAD)
        return self.heading_path[:-1] if is_in_table else self.heading_path


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """A passage on its way into the index, with the payload that filters need."""

    passage: Passage
    workspace: str
    source_id: str
    kind: str
    title: str  # the document's; goes, with the heading path, into the embedded and the BM25 text


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexHit:
    """A passage the index found. Scores compare within one search only; higher is better."""

    passage_id: str
    document_id: str
    page_id: str
    revision: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredSpan:
    """A sentence that may answer a question. `score` is 0..1, calibrated only within one ranker."""

    passage_id: str
    span: Span
    score: float
