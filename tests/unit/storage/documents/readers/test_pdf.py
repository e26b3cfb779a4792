"""PDF files: pages, numbers, headings, and what can't be read."""

from pathlib import Path

import pytest

from core.errors import ReadError
from storage.documents.readers.pdf import PdfReader
from tests.unit.storage.documents.pdf_files import build_pdf

FERRY = (50, 700, "The ferry sails at seven.")


def read(path: Path, data: bytes):
    file = path / "timetable.pdf"
    file.write_bytes(data)
    return PdfReader().read(file, path)


def test_pages_keep_the_numbers_of_the_pdf_where_empty_ones_are_left_out(tmp_path: Path) -> None:
    document = read(tmp_path, build_pdf([[FERRY], [], [(50, 700, "Fares")]]))
    assert [(page.number, page.text) for page in document.pages] == [(1, "The ferry sails at seven."), (3, "Fares")]
    assert document.warnings == ("no text on page 2: scanned or blank",)


@pytest.mark.parametrize(("title", "expected"), [("The  timetable", "The timetable"), ("untitled", "timetable")])
def test_the_title_is_the_files_own_where_it_says_something(title: str, expected: str, tmp_path: Path) -> None:
    assert read(tmp_path, build_pdf([[FERRY]], title=title)).title == expected


def test_outline_entries_are_headings_where_they_stand_and_lead_the_pages_after(tmp_path: Path) -> None:
    pages = [[(50, 700, "Chapter 1 Boats"), (50, 680, "text one")], [(50, 700, "more of it")], [(50, 700, "third")]]
    document = read(tmp_path, build_pdf(pages, outline=[("Chapter 1 Boats", 0), ("Not printed", 2), ("a.pdf", 2)]))
    first, second, third = document.pages
    assert [(heading.title, heading.start) for heading in first.headings] == [("Chapter 1 Boats", 0)]
    assert (first.heading_path, second.heading_path) == ((), ("Chapter 1 Boats",))
    assert third.heading_path == ("Not printed",)


def test_without_an_outline_short_lines_in_larger_type_are_headings(tmp_path: Path) -> None:
    text = [
        (50, 660 - 15 * place, f"A line of the text in the size of most of it, number {place}.") for place in range(9)
    ]
    head = (50, 780, "Ferry News")  # in large type on every page
    pages = [
        [head, (50, 700, "Fares and"), (50, 680, "passes"), *text],
        [head, *text],
        [head, (50, 700, "1 2 3"), *text],
    ]
    large = ("Ferry News", "Fares and", "passes", "1 2 3")
    first, second, third = read(tmp_path, build_pdf(pages, large=large)).pages
    assert [(heading.level, heading.title) for heading in first.headings] == [(1, "Fares and passes")]
    assert first.text[first.headings[0].start :].startswith("Fares and\npasses\nA line")
    assert (second.heading_path, third.headings) == (("Fares and passes",), ())
    with_outline = read(tmp_path, build_pdf(pages, outline=[("Prices", 0)], large=large))
    assert (with_outline.pages[0].headings, with_outline.pages[0].heading_path) == ((), ("Prices",))


def test_the_last_word_of_a_section_is_no_number_of_the_next_heading(tmp_path: Path) -> None:
    text = [
        (50, 700, "It opens again in"),
        (50, 685, "February."),
        (50, 660, "Fares"),
        (50, 640, "A ticket is 4 crowns, as before."),
    ]
    [page] = read(tmp_path, build_pdf([text], outline=[("Fares", 0)])).pages
    assert page.text[page.headings[0].start :].startswith("Fares")
    [numbered] = read(tmp_path, build_pdf([[(50, 700, "3.1"), (50, 685, "Fares")]], outline=[("Fares", 0)])).pages
    assert numbered.headings[0].start == 0


def test_a_page_with_a_heading_is_not_under_the_one_that_it_closes(tmp_path: Path) -> None:
    text = [
        (50, 660 - 15 * place, f"A line of the text in the size of most of it, number {place}.") for place in range(9)
    ]
    pages = [[(50, 700, "Fares"), *text], [(50, 700, "Routes"), *text], text]
    paths = [page.heading_path for page in read(tmp_path, build_pdf(pages, large=("Fares", "Routes"))).pages]
    assert paths == [(), (), ("Routes",)]


def test_a_pdf_mostly_in_large_type_has_no_headings(tmp_path: Path) -> None:
    slide = [(50, 700, "What we carried in the year"), (50, 600, "Four boats and two crews"), (50, 500, "all of them")]
    document = read(tmp_path, build_pdf([slide], large=[slide[0][2]]))
    assert document.pages[0].headings == ()


def test_pages_that_are_labelled_otherwise_than_numbered_have_their_labels_as_anchors(tmp_path: Path) -> None:
    pages = [[(50, 700, f"Page of words {number}")] for number in range(4)]
    labels = "0 << /S /r >> 2 << /S /D /P (A-) >> 3 << /S /D /St 4 >>"
    document = read(tmp_path, build_pdf(pages, labels=labels))
    assert [page.number for page in document.pages] == [1, 2, 3, 4]
    assert [page.anchors for page in document.pages] == [(("i", 0),), (("ii", 0),), (("A-1", 0),), ()]


def test_a_table_given_column_by_column_comes_out_in_rows(tmp_path: Path) -> None:
    labels = [(50, 700 - 20 * place, f"Label {name}") for place, name in enumerate("abcdef")]
    figures = [(300, 700 - 20 * place, f"{place},000.50") for place in range(1, 7)]
    text = read(tmp_path, build_pdf([labels + [(x, y + 20, figure) for x, y, figure in figures]])).pages[0].text
    assert text.split("\n")[0] == "Label a\t1,000.50"
    assert text.split("\n")[5] == "Label f\t6,000.50"


def test_text_outside_of_the_page_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="scanned: no text layer; run OCR first"):
        read(tmp_path, build_pdf([[(50, 2000, "Background")]]))


def test_a_pdf_without_text_is_called_scanned(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="scanned: no text layer; run OCR first"):
        read(tmp_path, build_pdf([[], []]))


@pytest.mark.parametrize("keep", [20, 200])
def test_a_pdf_cut_off_is_called_corrupt(keep: int, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="corrupt"):
        read(tmp_path, build_pdf([[FERRY]])[:keep])


def test_an_encrypted_pdf_asks_for_one_without_a_password(tmp_path: Path) -> None:
    data = build_pdf([[FERRY]])
    lock = b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >> /ID [<00> <00>] " % (
        b"11" * 32,
        b"22" * 32,
    )
    with pytest.raises(ReadError, match="encrypted: the PDF needs a password"):
        read(tmp_path, data.replace(b"trailer << ", b"trailer << " + lock))


def test_a_mark_is_what_makes_a_pdf() -> None:
    assert PdfReader().accepts(Path("a.pdf"), b"junk\n%PDF-1.4")
    assert not PdfReader().accepts(Path("a.pdf"), b"This is only text.")


LINES = [(50, 700 - 20 * place, f"Line {place} of the timetable") for place in range(5)]


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_page_that_is_shown_turned_is_read_from_its_first_line_to_its_last(degrees: int, tmp_path: Path) -> None:
    document = read(tmp_path, build_pdf([LINES], rotation=degrees))
    assert document.pages[0].text.split("\n") == [text for _, _, text in LINES]


def test_a_page_drawn_sideways_and_shown_upright_keeps_its_order(tmp_path: Path) -> None:
    turned = [(100 + 20 * place, 50, text) for place, (_, _, text) in enumerate(LINES)]
    document = read(tmp_path, build_pdf([turned], rotation=90, direction="0 1 -1 0"))
    assert document.pages[0].text.split("\n") == [text for _, _, text in LINES]


def test_a_page_drawn_upside_down_and_shown_upright_keeps_its_order(tmp_path: Path) -> None:
    turned = [(550, 100 + 20 * place, text) for place, (_, _, text) in enumerate(LINES)]
    document = read(tmp_path, build_pdf([turned], rotation=180, direction="-1 0 0 -1"))
    assert document.pages[0].text.split("\n") == [text for _, _, text in LINES]


def test_columns_of_figures_on_a_turned_page_come_out_in_rows(tmp_path: Path) -> None:
    labels = [(550, 100 + 20 * place, f"Label {name}") for place, name in enumerate("abcdef")]
    figures = [(300, 100 + 20 * place, f"{place},000.50") for place in range(1, 7)]
    document = read(tmp_path, build_pdf([[*labels, *figures]], rotation=180, direction="-1 0 0 -1"))
    lines = document.pages[0].text.split("\n")
    assert lines[:3] == ["Label a", "Label b\t1,000.50", "Label c\t2,000.50"]
