from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.corpus import Page
from storage.documents.chunking import chunk
from storage.documents.pdf.headers_footers import find_headers_footers, without_headers_footers
from storage.documents.readers.pdf import PdfReader
from tests.unit.storage.documents.pdf_files import build_pdf

WORDS = "anchor barge cable diver eider fender gull harbour island jetty".split()


def page(number: int, *, top: str = "", bottom: str = "") -> str:
    body = [
        f"The {WORDS[number]} lies at the pier,",
        f"and the {WORDS[-number]} is seen",
        f"from the {WORDS[number - 5]} by all.",
    ]
    return "\n".join([*([top] if top else []), *body, *([bottom] if bottom else [])])


def found(texts: Sequence[str]) -> list[list[str]]:
    return [[span.of(text) for span in spans] for text, spans in zip(texts, find_headers_footers(texts), strict=True)]


def test_a_title_on_every_page_stays_on_its_first() -> None:
    texts = [page(number, top="Harbour handbook 2031, draft") for number in range(4)]
    assert found(texts) == [[], *[["Harbour handbook 2031, draft"]] * 3]


@pytest.mark.parametrize("form", ["{}", "- {} -", "Page {}", "{}/5", "page {} of 5", "Seite {} von 5"])
def test_numbers_of_pages_are_left_out_everywhere(form: str) -> None:
    texts = [page(number, bottom=form.format(number)) for number in range(1, 6)]
    assert found(texts) == [[form.format(number)] for number in range(1, 6)]


def test_roman_numbers_of_pages_are_left_out() -> None:
    texts = [page(place, top=roman) for place, roman in enumerate(["xi", "xii", "xiii", "xiv"])]
    assert found(texts) == [["xi"], ["xii"], ["xiii"], ["xiv"]]


def test_titles_of_left_and_right_pages_with_their_numbers_are_running_lines() -> None:
    lines = [f"{41 + place} The Harbour Book" if place % 2 else f"Of old ferries {41 + place}" for place in range(8)]
    texts = [page(place, top=line) for place, line in enumerate(lines)]
    assert found(texts) == [[], [], *([line] for line in lines[2:])]


def test_two_numbered_pages_are_enough_where_the_line_says_what_it_is() -> None:
    texts = [page(1, bottom="Page 1 of 2"), page(2, bottom="Page 2 of 2")]
    assert found(texts) == [["Page 1 of 2"], ["Page 2 of 2"]]
    assert found([page(1, bottom="7"), page(2, bottom="8")]) == [[], []]


@pytest.mark.parametrize(
    "lines",
    [
        ["Invoice 1042", "Invoice 2211", "Invoice 1077", "Invoice 3100"],
        ["Total 12", "Total 9", "Total 31", "Total 4"],
        ["Session 1", "Session 2", "Session 3", "Session 4"],
        ["Fares", "Times", "Piers", "Boats"],
    ],
)
def test_lines_that_differ_are_text(lines: list[str]) -> None:
    assert found([page(place, top=line) for place, line in enumerate(lines)]) == [[], [], [], []]


def test_what_stands_in_the_middle_of_a_page_is_text_however_often() -> None:
    texts = [f"{page(number)}\nSee the harbour master.\n{page(number + 4)}" for number in range(4)]
    assert found(texts) == [[], [], [], []]


def test_a_page_of_running_lines_alone_keeps_them() -> None:
    texts = [page(1, top="Handbook"), page(2, top="Handbook"), page(3, top="Handbook"), "Handbook"]
    assert found(texts)[3] == []


def test_passages_hold_no_running_line_and_the_page_does(tmp_path: Path) -> None:
    path = tmp_path / "book.pdf"
    path.write_bytes(
        build_pdf(
            [
                [(50, 780, "Ferry handbook"), (50, 700, f"The {word} lies at the pier"), (50, 40, f"{place} / 4")]
                for place, word in enumerate(WORDS[:4], 1)
            ]
        )
    )
    document = chunk(PdfReader().read(path, tmp_path), "local", "d")
    assert [passage.text for passage in document.passages] == [
        "Ferry handbook\nThe anchor lies at the pier",
        *(f"The {word} lies at the pier" for word in WORDS[1:4]),
    ]
    assert document.pages[2].text == "Ferry handbook\nThe cable lies at the pier\n3 / 4"


def test_extractors_are_given_blanks_of_the_same_length() -> None:
    texts = [page(number, top="Ferry handbook", bottom=str(number)) for number in range(1, 5)]
    pages = [
        Page(id=str(number), document_id="d", revision="r", number=number, title="", text=text)
        for number, text in enumerate(texts, 1)
        if number != 2  # one without text is not there
    ]
    blanked = without_headers_footers(pages)
    assert [len(each.text) for each in blanked] == [len(each.text) for each in pages]
    assert "handbook" not in blanked[1].text
    assert blanked[1].text.strip() == page(3)
    assert without_headers_footers([]) == []


@given(st.lists(st.text(alphabet="ab1ivx \n-/", max_size=60), max_size=8))
def test_running_lines_are_whole_lines_of_pages_that_hold_more(texts: list[str]) -> None:
    for text, spans in zip(texts, find_headers_footers(texts), strict=True):
        assert list(spans) == sorted(spans)
        assert all(span.of(text) in text.split("\n") for span in spans)
        if spans:
            assert sum(bool(line.strip()) for line in text.split("\n")) > len(spans)
