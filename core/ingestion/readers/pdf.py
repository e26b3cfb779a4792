"""PDF files: the text layer, page by page, under the PDF's own page numbers and the labels printed on its pages."""

import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.domain.corpus import Heading, ParsedDocument, ParsedPage
from core.errors import ReadError
from core.ingestion.patience import ask_for_time
from core.ingestion.pdf.layout import sorted_corners, turned
from core.ingestion.pdf.recognition import UNRECOGNISED, Recogniser
from core.ingestion.pdf.rows import Line, needs_rows, to_rows
from core.ingestion.pdf.scanned_pages import may_be_scanned, recognise
from core.ingestion.pdf.table_text import with_ruled_tables
from core.ingestion.pdf.turning import upright_text
from core.ingestion.texts.encodings import clean

# Entries of an outline that are read: more is a broken file, not a book.
MAX_OUTLINE = 5_000
# Characters of a page's label: a longer one is no number of a page.
MAX_LABEL = 40
# Letters and digits that all pages together must hold to count as a text layer: less is a stamp on a scan.
MIN_TEXT = 3
# Characters of a page below which it is asked whether they stand on the page at all: scanners leave notes beside it.
OFF_PAGE_TEXT = 200

_NOTHING_RECOGNISED = "scanned: no words were recognised on its pages; scan it anew, sharper and upright"

# What a document's title field holds when nobody gave it one.
_NO_TITLE = re.compile(
    r"untitled.*|\(?anonymous\)?|document\d*|microsoft \w+ - .*"
    r"|.*\.(?:pdf|docx?|xlsx?|pptx?|indd|tex|dvi|odt|rtf|txt|html?)",
    re.IGNORECASE,
)
# PDFium writes U+FFFE (older versions U+0002) for a hyphen that breaks a word at the end of a line.
_BROKEN_WORD = re.compile("[\ufffe\x02](?:\n)?")
# Line ends, and the form feeds and other controls that no text holds on purpose.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_WORDS = re.compile(r"\w")
_REASONS = {
    3: "corrupt: not a readable PDF, it may be cut off",
    4: "encrypted: the PDF needs a password; save it without one and ingest it again",
    5: "encrypted with a security scheme that can't be read; save it without one and ingest it again",
}


class PdfReader:
    """Reads the text layer of `.pdf`; pages without text are left out, and the numbers of the others stay.

    With a recogniser, the text of scanned pages is what it sees in their pictures; each may take as long as a file.
    A page that is labelled otherwise than its number ("iv", "A-3") has that label, also as its anchor.
    """

    kind = "pdf"
    suffixes = frozenset({".pdf"})
    expects = "a PDF (no %PDF mark at its start)"

    def __init__(self, recogniser: Recogniser | None = None) -> None:
        self._recogniser = recogniser

    def accepts(self, path: Path, head: bytes) -> bool:
        return b"%PDF-" in head

    def read(self, path: Path, root: Path) -> ParsedDocument:
        with _opened(path) as document:
            texts = [_page_text(document, index) for index in range(len(document))]
            recognised = self._recognise(document, texts)
            if not texts:
                raise ReadError("empty: the PDF has no pages")
            if len(_WORDS.findall("".join(texts))) < MIN_TEXT:
                raise ReadError(_NOTHING_RECOGNISED if self._recogniser else UNRECOGNISED)
            entries = _outline(document)
            labels = [_label(document, index) for index in range(len(document))]
            title = " ".join(clean(document.get_metadata_value("Title")).split())
        return ParsedDocument(
            title=title if title and not _NO_TITLE.fullmatch(title) else path.stem,
            kind=self.kind,
            pages=_to_pages(texts, entries, labels),
            warnings=tuple(_warnings(texts, recognised)),
        )

    def _recognise(self, document: Any, texts: list[str]) -> list[int]:
        """Put the text of scanned pages into `texts`; the numbers of those where some was found."""
        if self._recogniser is None:
            return []
        recognised = []
        for index, text in enumerate(texts):
            if may_be_scanned(document, index, text):
                if not ask_for_time():
                    break
                texts[index] = _clean_page(recognise(document, index, text, self._recogniser))
                if texts[index] != text:
                    recognised.append(index + 1)
        return recognised


def _warnings(texts: Sequence[str], recognised: Sequence[int]) -> Iterator[str]:
    if recognised:
        yield f"read from pictures (OCR), letters may be wrong: page{_numbers(recognised)}"
    if empty := [number for number, text in enumerate(texts, 1) if not text]:
        yield f"no text on page{_numbers(empty)}: scanned or blank"


def _numbers(pages: Sequence[int]) -> str:
    return f"{'s' * (len(pages) > 1)} {', '.join(map(str, pages))}"


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path.read_bytes())
    except pypdfium2.PdfiumError as error:
        code = getattr(error, "err_code", None)
        raise ReadError(_REASONS.get(code or 3, f"corrupt: {error}")) from error
    with closing(document):
        yield document


def _page_text(document: Any, index: int) -> str:
    """The text of one page; "" where the page or its text can't be loaded."""
    import pypdfium2

    try:
        page = document[index]
    except pypdfium2.PdfiumError:
        return ""
    with closing(page):
        try:
            text_page = upright_text(page)
        except pypdfium2.PdfiumError:
            return ""
        with closing(text_page):
            return with_ruled_tables(_clean_page(_raw_text(page, text_page)), page, text_page)


def _raw_text(page: Any, text_page: Any) -> str:
    raw: str = text_page.get_text_range()
    if len(raw) < OFF_PAGE_TEXT and not text_page.get_text_bounded().strip():
        return ""  # what there is stands outside of the page
    lines = raw.split("\r\n")
    return to_rows(_place_lines(text_page, lines, turned(page))) if needs_rows(lines) else raw


def _place_lines(text_page: Any, lines: list[str], turn: Any) -> list[Line]:
    """Each line with its box, in points from the lower left corner of the page as it is shown; `turn` puts it there.

    Lines without a box are left out.
    """
    placed = []
    start = 0
    for line in lines:
        inked = [place for place, character in enumerate(line) if not character.isspace()]
        if inked:
            boxes = [text_page.get_charbox(start + place, loose=True) for place in (inked[0], inked[-1])]
            first, last = (sorted_corners(turn(box[0], box[1]), turn(box[2], box[3])) for box in boxes)
            bottom, top = min(first[0][1], last[0][1]), max(first[1][1], last[1][1])
            placed.append(Line(text=line, left=first[0][0], right=last[1][0], bottom=bottom, top=top))
        start += len(line) + 2
    return placed


def _clean_page(raw: str) -> str:
    """Text with plain line ends and hyphens as hyphens: "adip-" stays at the end of its line, as printed."""
    text = _BROKEN_WORD.sub("-\n", raw.replace("\r\n", "\n"))
    text = clean(_CONTROLS.sub(" ", text))
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def _label(document: Any, index: int) -> str:
    """What is printed on a page as its number, where the PDF says that it is another one; else ""."""
    label = " ".join(clean(_CONTROLS.sub(" ", document.get_page_label(index))).split())
    return "" if label == str(index + 1) else label[:MAX_LABEL]


@dataclass(frozen=True, slots=True)
class _Entry:
    level: int
    title: str
    index: int


def _outline(document: Any) -> list[_Entry]:
    entries: list[_Entry] = []
    last = 0
    for bookmark in document.get_toc():
        destination = bookmark.get_dest()
        index = destination.get_index() if destination else None
        title = " ".join(clean(bookmark.get_title() or "").split())
        if title and not _NO_TITLE.fullmatch(title) and index is not None and last <= index < len(document):
            entries.append(_Entry(min(bookmark.level + 1, 6), title, index))
            last = index
        if len(entries) >= MAX_OUTLINE:
            break
    return entries


def _to_pages(texts: list[str], entries: list[_Entry], labels: list[str]) -> tuple[ParsedPage, ...]:
    """Pages with text. Outline entries that stand in the page's text are headings, the others lead its heading path."""
    by_page: dict[int, list[_Entry]] = {}
    for entry in entries:
        by_page.setdefault(entry.index, []).append(entry)
    pages = []
    above: list[Heading] = []
    for index, text in enumerate(texts):
        headings = _find_headings(text, by_page.get(index, []))
        unplaced = [heading for heading in headings if heading.start < 0]
        path = _under([*above, *unplaced])
        placed = tuple(heading for heading in headings if heading.start >= 0)
        if text:
            titles = tuple(heading.title for heading in path)
            anchors = ((labels[index], 0),) if labels[index] else ()
            page = ParsedPage(
                title="",
                text=text,
                headings=placed,
                heading_path=titles,
                anchors=anchors,
                number=index + 1,
                label=labels[index],
            )
            pages.append(page)
        above = _under([*above, *headings])
    return tuple(pages)


def _find_headings(text: str, entries: list[_Entry]) -> list[Heading]:
    found = []
    place = 0
    for entry in entries:
        words = r"\s+".join(re.escape(word) for word in entry.title.split())
        match = re.compile(rf"^[ \t]*(?:[\dA-Z.]+\s+)?{words}", re.MULTILINE | re.IGNORECASE).search(text, place)
        found.append(Heading(level=entry.level, title=entry.title, start=match.start() if match else -1))
        place = match.end() if match else place
    return found


def _under(headings: list[Heading]) -> list[Heading]:
    """The headings still open after the last of these, outermost first."""
    above: list[Heading] = []
    for heading in headings:
        while above and above[-1].level >= heading.level:
            above.pop()
        above.append(heading)
    return above
