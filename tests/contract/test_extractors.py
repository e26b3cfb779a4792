"""The contract of Extractor: the same for every kind of data, whatever stands in a page."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.domain.corpus import Page
from core.domain.extracts import ExtractorInput, Found, Unread
from core.ports.documents import Extractor
from storage.documents.base import build_readers
from storage.documents.extraction.by_rules import MAX_EXTRACTS, to_extracts
from storage.documents.extractors.base import build_extractors
from storage.documents.markup.markdown_text import MarkdownParts, read_markdown
from storage.documents.readers.pdf import PdfReader
from storage.documents.texts.sections import split_sections
from tests.builders import build_document
from tests.unit.storage.documents.pdf_files import build_pdf

NOTE = (
    "# Ferry\n\nIt sails at **seven**, see [[Harbour#Pier 2|pier]] and [fares](fares.md#adults). ^times\n\n"
    "**Pier**: where boats land. 日本語 😀\n\n- **Bollard** - a post for ropes.\n\nTide\n: How high the sea stands.\n\n"
    "## Figures\n\n![A boat](boat.png)\n*Figure 3: The boat at dawn.*\n\n| Term | Definition |\n|---|---|\n"
    "| Ebb | Falling tide |\n| Flood | Rising tide |\n\nTable 2: Tides.\n\nSee @UUID[JournalEntry.aaaa]{Old Ben}.\n"
)
MINUTES = (
    "# Harbour board 2024-03-04\n\nDate: 4 March 2024\nAttendees: Ann Lee (chair), Ben, Carla Núñez\n\n## Decisions\n\n"
    "1. The pier is closed in May.\n2. Fares stay.\n\n## Action items\n\n- [ ] @ann: ask for offers by 2024-04-01\n"
    "- [x] Ben to paint the gate.\n\n| Action | Owner | Due |\n| --- | --- | --- |\n| Order rope | Carla | Friday |\n\n"
    "We agreed to meet monthly. AGREED: no dogs.\n"
)
API = (
    "# Ferry API\n\nBase URL: https://api.ferry.example/v1\n\nSend a bearer token in the Authorization header.\n\n"
    "## Get Pier % GET /piers/{pier.id}\n\n| Method | Path | What |\n|---|---|---|\n| POST | `/piers` | Adds one |\n"
    "| DELETE | /piers/:id | Removes one |\n\n"
    "```bash\ncurl -X PUT https://api.ferry.example/v1/boats/7 -d '{}'\n```\n\n"
    '<Route method="PATCH">/boats/[\\{boat.id\\}](/boats#boat)</Route>\n\nHEAD /boats/{id} HTTP/1.1\n'
)
REPORT = (
    "# Ferry plc (NYSE: FRRY)\n\nAnnual report on Form 10-K, 31 December 2024.\n\n(in millions of USD)\n\n"
    "| Metric | 2023 | 2024 | Q1 2025 |\n| --- | --- | --- | --- |\n| Revenue | 1,200.5 | $1,400 | (12) |\n"
    "| Net income | 80 | 95 | -3 |\n| EPS | 0.80 | 0.95 | n/a |\n| Margin | 6.6% | 6.8% |  |\n\n"
    "| Date | Price |\n| --- | --- |\n| 2024-01-31 | 12.5 |\n| 2024-02-29 | 13 |\n"
)
SHEET = "| Sector | Name | P/E |\n| --- | --- | --- |\n| Ships | Ferry \\| Co | 12.1 |\n| Rope | Knot | 9 |\n"
WEB = "Fares\n\nWho\tFare\nadult\t4\nchild\t2\n\nPath | Method\n---|---\n/boats | GET\n"
# Labels side by side, names below a label, a head of two rows, signs in columns of their own, meanings below terms.
FRONT = (
    "MINUTES 4 March 2024\n\nPRESENT:   Mrs A. Lee (Chair)\n           Mr B. Ruiz\nAPOLOGIES: Dan\n\n"
    "Chair: Ann. Here: Ann, Ben | Away: Dan\n\nAnn, Ben and Carla attended the meeting. Carried by 4 votes to 1.\n\n"
    "\tThree months ended\t\n\t2024\t\t2023\t\nFares\t$\t(12\t)\t$\t9\t\nRopes\t\t4\t\t\t3\n\n"
    "Ebb\n    Falling tide.\n\n**Flood**\nRising tide.\n\n"
    "| Pier | Boats | |\n| - | - | - |\n| | 2023 | 2024 |\n| N | 4.5 | 5 |\n"
)
SAMPLES = {"front": FRONT, "web": WEB, "note": NOTE, "minutes": MINUTES, "api": API, "report": REPORT, "sheet": SHEET}
# Pieces of the marks that extractors look for: many in one line is what makes a careless pattern slow.
PIECES = [
    "[", "]", "[[", "]]", "[[a|", "](", "![", "(", ")", "|", "| ", "|-", "*", "**", "**a**:", "_", "`", "```",
    "~~~", "#", "# ", "^", " ^a", "@", "@UUID[", "@UUID[a]{", "{", "}", "\\", "\\{", "<", "<Route method=",
    '<a href="', "</", ">", ":", ": ", "::", " - ", "- ", "- [ ] ", "1. ", "1.1", "1,", "$1", "(1", "%", "/",
    "/a", "/{a", "GET ", "GET /a ", "curl -X ", "http://", "a.", "a ", "A ", "Aa ", "A. ", "Figure 1",
    "Table 1: ", "Action: ", "Ann to ", "by ", "2024-", "4 March ", "Q1 ", "EUR ", "\t", "  ", "\n", "\n\n",
    "\n| ", "\n# ", "\n- ", "\n---", "\n===", "\n    ", "$", ")", "Present: ", "Ann, ", " attended",
    "é", "日", "😀", "\xa0",
]  # fmt: skip
KINDS = sorted(reader.kind for reader in build_readers())

extractors = pytest.mark.parametrize("extractor", build_extractors(), ids=lambda extractor: extractor.name)
samples = pytest.mark.parametrize("sample", SAMPLES)


def build_given(text: str, kind: str = "markdown", path: Path | None = None) -> ExtractorInput:
    """A document cut into pages and headings as readers do it."""
    document = build_document(f"ferry.{kind}", kind=kind, title="Ferry", aliases=("boat",))
    parts = read_markdown(text) if kind != "pdf" else MarkdownParts((), (), ())
    pages = tuple(
        Page(
            id=f"p{number}",
            document_id=document.id,
            revision="r1",
            number=number,
            title=page.title,
            text=page.text,
            heading_path=page.heading_path,
            headings=page.headings,
            anchors=page.anchors,
        )
        for number, page in enumerate(split_sections(text, parts.headings, parts.anchors), 1)
    )
    return ExtractorInput(document=document, pages=pages, path=path)


def check(extractor: Extractor, given: ExtractorInput) -> list[Found]:
    """What holds for all that an extractor finds in any document."""
    if not given.pages or not extractor.reads(given.document):
        return []
    texts = {page.number: page.text for page in given.pages}
    unread = [item for item in extractor.extract(given) if isinstance(item, Unread)]
    assert all(item.reason and item.page_number in texts for item in unread)
    found = found_in(extractor, given)
    checked = to_extracts(found, extractor, given)
    assert checked.error is None
    assert len(checked.extracts) == len(found) <= MAX_EXTRACTS
    places = [(item.page_number, item.span.start) for item in found]
    assert places == sorted(places)
    for item in found:
        assert item.span.of(texts[item.page_number]).strip()
        for page_number, (start, end) in inner_places(item.data):
            assert 0 <= start < end <= len(texts[page_number])
            assert texts[page_number][start:end].strip()
        if extractor.name == "tables":
            check_rows(item, texts[item.page_number])
    return found


def check_rows(table: Found, text: str) -> None:
    """Each row's cells stand in its place, in their order, whatever marks and white space are between them."""
    data = dict[str, Any](table.data)
    for row, (start, end) in zip(data["rows"], data["row_spans"], strict=True):
        letters = re.sub(r"\W", "", text[start:end])
        assert re.sub(r"\W", "", "".join(row)) == letters


def found_in(extractor: Extractor, given: ExtractorInput) -> list[Found]:
    return [item for item in extractor.extract(given) if isinstance(item, Found)]


def inner_places(value: object) -> Iterator[tuple[int, tuple[int, int]]]:
    """The places of all items inside of what was found."""
    if isinstance(value, Mapping):
        if "page_number" in value and "span" in value:
            start, end = value["span"]
            yield value["page_number"], (start, end)
        for inner in value.values():
            yield from inner_places(inner)
    elif isinstance(value, Iterable) and not isinstance(value, str):
        for inner in value:
            yield from inner_places(inner)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A text cut off, with foreign pieces in it, joined from two, read in a wrong encoding, or nothing but pieces."""
    text = draw(st.sampled_from(sorted(SAMPLES.values())))
    kind = draw(st.sampled_from(["cut", "spliced", "joined", "transcoded", "junk", "lines"]))
    junk = draw(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=40).map("".join))
    place = draw(st.integers(0, len(text)))
    if kind == "cut":
        damaged_text = text[:place]
    elif kind == "spliced":
        damaged_text = text[:place] + junk + text[place + draw(st.integers(0, 40)) :]
    elif kind == "joined":
        damaged_text = text[place:] + draw(st.sampled_from(sorted(SAMPLES.values())))[:place]
    elif kind == "transcoded":
        damaged_text = text.encode("utf-8").decode(draw(st.sampled_from(["latin-1", "cp1251", "utf-16"])), "replace")
    elif kind == "lines":
        damaged_text = "\n".join(draw(st.permutations(text.split("\n"))))
    else:
        damaged_text = junk
    return damaged_text.replace("\0", "").replace("\r", "\n").encode("utf-8", "replace").decode("utf-8")


def test_extractors_have_names_of_their_own() -> None:
    names = [extractor.name for extractor in build_extractors()]
    assert len(set(names)) == len(names)
    assert all(extractor.types and extractor.version >= 1 for extractor in build_extractors())


@extractors
@samples
def test_what_is_found_is_valid_in_text_order_and_at_its_place(extractor: Extractor, sample: str) -> None:
    for kind in KINDS:
        document = build_given(SAMPLES[sample], kind)
        assert check(extractor, document) == check(extractor, document)


@extractors
def test_an_extractor_finds_what_it_is_for(extractor: Extractor, tmp_path: Path) -> None:
    givens = [*map(build_given, SAMPLES.values()), build_paper(tmp_path / "ferry.pdf")]
    found = [item for document in givens for item in check(extractor, document)]
    assert {item.type for item in found} == extractor.types


@extractors
@settings(max_examples=250, deadline=None)
@given(text=damaged(), kind=st.sampled_from(KINDS))
def test_junk_gives_what_is_valid_or_nothing(extractor: Extractor, text: str, kind: str) -> None:
    document = build_given(text, kind)
    assert check(extractor, document) == check(extractor, document)


@extractors
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_file_that_is_not_what_its_pages_say_does_no_harm(
    extractor: Extractor, data: st.DataObject, tmp_path: Path
) -> None:
    whole = build_pdf([[(50, 700, "The ferry sails at seven.")]])
    junk = data.draw(st.binary(max_size=80) | st.integers(0, len(whole)).map(lambda end: whole[:end]))
    path = tmp_path / "ferry"
    path.write_bytes(junk)
    for kind in ("pdf", "foundry", "html", "csv", "openapi"):
        check(extractor, build_given(REPORT, kind, path))
    path.unlink()
    gone = build_given(REPORT, "pdf", path)
    assert check(extractor, gone) == check(extractor, replace(gone, path=None))


@pytest.mark.slow
@pytest.mark.timeout(120)
@extractors
@pytest.mark.parametrize("piece", PIECES, ids=repr)
def test_a_long_line_of_one_mark_takes_no_time_of_its_square(extractor: Extractor, piece: str) -> None:
    """Patterns run in C, where steps can't be counted: what goes wrong here runs into its time limit."""
    given = build_plain(piece * (100_000 // len(piece)))
    if extractor.reads(given.document):
        [page] = given.pages
        assert all(0 <= item.span.start < item.span.end <= len(page.text) for item in found_in(extractor, given))


@extractors
@samples
def test_the_work_grows_with_the_text_and_not_with_its_square(extractor: Extractor, sample: str) -> None:
    few, many = (steps_of(extractor, build_plain(SAMPLES[sample] * times)) for times in (20, 60))
    assert few > 0
    assert many <= few * 5 + 5_000  # thrice the text; nine times is the square


def build_paper(path: Path) -> ExtractorInput:
    """A PDF of one page with a table, as its reader gives it."""
    rows = [("", "2023", "2024"), ("Fares", "1,200", "1,400"), ("Freight", "310", "(25)"), ("Mail", "40", "38")]
    places = [
        (x, 700 - 16 * line, cell) for line, row in enumerate(rows) for x, cell in zip((60, 260, 400), row, strict=True)
    ]
    path.write_bytes(build_pdf([[piece for piece in places if piece[2]]]))
    return replace(build_given(PdfReader().read(path, path.parent).pages[0].text, "pdf"), path=path)


def build_plain(text: str) -> ExtractorInput:
    """One page without headings, so that no reader's work is measured."""
    document = build_document("ferry.md", title="Ferry")
    page = Page(id="p1", document_id=document.id, revision="r1", number=1, title="", text=text.strip() or "-")
    return ExtractorInput(document=document, pages=(page,))


def steps_of(extractor: Extractor, given: ExtractorInput) -> int:
    """How many lines of our own code an extraction runs."""
    steps = 0

    def count(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal steps
        if "/storage/documents/" not in frame.f_code.co_filename:
            return None
        steps += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        list(extractor.extract(given))
    finally:
        sys.settrace(before)
    return steps
