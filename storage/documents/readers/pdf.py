"""PDF files: the text layer, page by page, under the PDF's own page numbers and the labels printed on its pages."""

import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from core.domain.corpus import Heading, ParsedDocument, ParsedPage
from core.errors import ReadError
from core.text.dates import find_date_in_name
from storage.documents.deadline import extend_deadline
from storage.documents.faults import part_or
from storage.documents.pdf.form_fields import open_forms
from storage.documents.pdf.headers_footers import find_headers_footers
from storage.documents.pdf.page_text import clean_page, page_text, without_controls
from storage.documents.pdf.recognition import UNRECOGNISED, Recogniser, may_be_scanned, recognise
from storage.documents.pdf.type_sizes import Entry, SizedLine, find_headings
from storage.documents.texts.encodings import HIDDEN_TEXT, clean
from storage.documents.texts.sections import enter

# Entries of an outline that are read: more is a broken file, not a book.
MAX_OUTLINE = 5_000
# Characters of a page's label: a longer one is no number of a page.
MAX_LABEL = 40
# Letters and digits that all pages together must hold to count as a text layer: less is a stamp on a scan.
MIN_TEXT = 3

_NO_MEMORY = "pages from {} on are not recognised: memory ran out; raise [ingest] parse_memory_mb, and ingest it again"
_NOTHING_RECOGNISED = "scanned: no words were recognised on its pages; scan it again, sharper and upright"

# Characters of a PDF's time up to its day: D:20260609101500Z.
_DAY = 10
# Default titles, set by programs.
_NO_TITLE = re.compile(
    r"untitled.*|\(?anonymous\)?|document\d*|microsoft \w+ - .*"
    r"|.*\.(?:pdf|docx?|xlsx?|pptx?|indd|tex|dvi|odt|rtf|txt|html?)",
    re.IGNORECASE,
)
_WORDS = re.compile(r"\w")
# Before a heading: "3.1", which may stand on a line of its own, "A." or "IV.".
_NUMBERED = r"(?:[A-Z]?\d[\d.]*\s+|(?:[A-Z]|[IVXLC]+)[.)]?[ \t]+)?"
_REASONS = {
    3: "corrupt: not a readable PDF, it may be cut off",
    4: "encrypted: the PDF needs a password; save it without one and ingest it again",
    5: "encrypted with a security scheme that can't be read; save it without one and ingest it again",
}


class PdfReader:
    """Reads the text layer of `.pdf`; pages without text are left out, the others keep their numbers.

    With a recogniser, the text of scanned pages is recognised; each page may take the time limit of a file. A page
    label that is not the page's number ("iv", "A-3") is its label and anchor.
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
            hiding: list[int] = []
            faults: list[str] = []
            entries = _outline(document)
            sizes: list[SizedLine] | None = None if entries else []
            texts = [_page_text(document, index, hiding, faults, sizes) for index in range(len(document))]
            recognised = self._recognise(document, texts, faults)
            if not texts:
                raise ReadError("empty: the PDF has no pages")
            if len(_WORDS.findall("".join(texts))) < MIN_TEXT:
                if faults:
                    raise ReadError(faults[0])
                raise ReadError(_NOTHING_RECOGNISED if self._recogniser else UNRECOGNISED)
            labels = [_label(document, index) for index in range(len(document))]
            title = " ".join(clean(document.get_metadata_value("Title")).split())
            made = find_date_in_name(clean(document.get_metadata_value("CreationDate"))[:_DAY])
        hidden = (f"{HIDDEN_TEXT}: page{_numbers(hiding)}",) if hiding else ()
        return ParsedDocument(
            title=title if title and not _NO_TITLE.fullmatch(title) else path.stem,
            kind=self.kind,
            pages=_to_pages(texts, entries or find_headings(sizes or ())[:MAX_OUTLINE], labels, outlined=bool(entries)),
            warnings=(*hidden, *faults, *_warnings(texts, recognised)),
            hidden=hidden,
            created=made.iso() if made is not None else None,
        )

    def _recognise(self, document: Any, texts: list[str], faults: list[str]) -> list[int]:
        """Put the text of scanned pages into `texts`; the numbers of those where some was found."""
        if self._recogniser is None:
            return []
        recognised = []
        for index, text in enumerate(texts):
            if may_be_scanned(document, index, text):
                if not extend_deadline():
                    break
                read = partial(recognise, document, index, text, self._recogniser)
                tell = partial(_tell, faults, f"page {index + 1} is not recognised")
                try:
                    texts[index] = clean_page(part_or(text, read, tell))
                except MemoryError:
                    faults.append(_NO_MEMORY.format(index + 1))
                    break
                if texts[index] != text:
                    recognised.append(index + 1)
        return recognised


def _page_text(document: Any, index: int, hiding: list[int], faults: list[str], sizes: list[SizedLine] | None) -> str:
    """Return the text of a page; "" if its reader fails, as it might show hidden text."""
    of_tables = partial(_tell, faults, f"tables of page {index + 1} are read as lines")
    of_page = partial(_tell, faults, f"page {index + 1} is left out")
    return part_or("", partial(page_text, document, index, hiding, of_tables, sizes), of_page)


def _tell(faults: list[str], part: str, reason: str) -> None:
    faults.append(f"{part}: {reason}")


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
        open_forms(document)
        yield document


def _label(document: Any, index: int) -> str:
    label = " ".join(clean(without_controls(document.get_page_label(index))).split())
    return "" if label == str(index + 1) else label[:MAX_LABEL]


def _outline(document: Any) -> list[Entry]:
    entries: list[Entry] = []
    last = 0
    for bookmark in document.get_toc():
        destination = bookmark.get_dest()
        index = destination.get_index() if destination else None
        title = " ".join(clean(bookmark.get_title() or "").split())
        if title and not _NO_TITLE.fullmatch(title) and index is not None and last <= index < len(document):
            entries.append(Entry(min(bookmark.level + 1, 6), title, index))
            last = index
        if len(entries) >= MAX_OUTLINE:
            break
    return entries


def _to_pages(
    texts: list[str], entries: Sequence[Entry], labels: list[str], *, outlined: bool
) -> tuple[ParsedPage, ...]:
    """Return the pages with text. Entries in the page's text are headings, others of an outline its path."""
    by_page: dict[int, list[Entry]] = {}
    for entry in entries:
        by_page.setdefault(entry.index, []).append(entry)
    pages = []
    running = find_headers_footers(texts)
    above: list[Heading] = []
    for index, text in enumerate(texts):
        headings = _find_headings(text, by_page.get(index, []))
        if not outlined:  # in a table, say, whose rows are written otherwise
            headings = [heading for heading in headings if heading.start >= 0]
        unplaced = [heading for heading in headings if heading.start < 0]
        path = _under([*above, *unplaced])
        placed = tuple(heading for heading in headings if heading.start >= 0)
        if text:
            # A page has one path: what its own headings close is left out of it.
            titles = tuple(heading.title for heading in path if all(heading.level < each.level for each in placed))
            anchors = ((labels[index], 0),) if labels[index] else ()
            page = ParsedPage(
                title="",
                text=text,
                headings=placed,
                heading_path=titles,
                anchors=anchors,
                number=index + 1,
                label=labels[index],
                running=running[index],
            )
            pages.append(page)
        above = _under([*above, *headings])
    return tuple(pages)


def _find_headings(text: str, entries: list[Entry]) -> list[Heading]:
    found = []
    place = 0
    for entry in entries:
        words = r"\s+".join(re.escape(word) for word in entry.title.split())
        match = re.compile(rf"^[ \t]*{_NUMBERED}{words}", re.MULTILINE | re.IGNORECASE).search(text, place)
        found.append(Heading(level=entry.level, title=entry.title, start=match.start() if match else -1))
        place = match.end() if match else place
    return found


def _under(headings: list[Heading]) -> list[Heading]:
    """Return the headings still open after the last of these, outermost first."""
    above: list[Heading] = []
    for heading in headings:
        enter(heading, above)
    return above
