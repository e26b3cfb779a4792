"""Ruled tables in a page's text: rows with tabs between their cells, and no word lost."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.corpus import Page
from core.domain.extracts import ExtractorInput, Found
from storage.documents.extractors.tables import PdfTableExtractor
from storage.documents.pdf.layout import Layout, Rule, Word
from storage.documents.pdf.page_text import write_ruled_tables
from storage.documents.readers.pdf import PdfReader
from tests.builders import build_document
from tests.unit.storage.documents.extractors.test_pdf_tables import ROWS, frame, place
from tests.unit.storage.documents.pdf_files import Piece, Stroke, build_pdf

TABBED = "\n".join("\t".join(row) for row in ROWS)
ABOVE, BELOW = (60, 740, "Boats by pier, as the harbour counts them."), (60, 600, "Prices hold until May.")


def text_of(folder: Path, pieces: Sequence[Piece], strokes: Sequence[Stroke]) -> str:
    path = folder / "harbour.pdf"
    path.write_bytes(build_pdf([pieces], strokes=strokes))
    return PdfReader().read(path, folder).pages[0].text


def test_a_ruled_table_stands_in_rows_between_its_paragraphs(tmp_path: Path) -> None:
    assert text_of(tmp_path, [ABOVE, *place(ROWS), BELOW], frame(4)) == f"{ABOVE[2]}\n{TABBED}\n{BELOW[2]}"


def test_a_file_that_gives_it_column_by_column_makes_no_difference(tmp_path: Path) -> None:
    pieces = sorted(place(ROWS), key=lambda piece: (piece[0], -piece[1]))
    assert text_of(tmp_path, [ABOVE, *pieces, BELOW], frame(4)) == f"{ABOVE[2]}\n{TABBED}\n{BELOW[2]}"


def test_cells_without_words_keep_their_place_and_cells_of_two_lines_are_one(tmp_path: Path) -> None:
    rows = [*ROWS[:2], ("Southern pier", "", "12")]
    pieces = [*place(rows), (60, 652, "and its mole")]
    strokes = [*frame(3)[:3], (50, 645, 520, 645), *((edge, 645, edge, 715) for edge in (50, 250, 390, 520))]
    assert text_of(tmp_path, pieces, strokes).split("\n")[2] == "Southern pier and its mole\t\t12"


def test_rows_that_stand_together_are_written_where_the_whole_table_does_not(tmp_path: Path) -> None:
    first, *rest = place(ROWS)
    text = text_of(tmp_path, [first, BELOW, *rest], frame(4))
    assert "\n".join("\t".join(row) for row in ROWS[1:]) in text
    assert sorted(text.split()) == sorted(f"{TABBED} {BELOW[2]}".split())


def test_without_lines_the_text_is_as_the_file_gives_it(tmp_path: Path) -> None:
    assert "\t" not in text_of(tmp_path, place(ROWS), [])


def test_the_extractor_finds_the_table_in_that_text(tmp_path: Path) -> None:
    text = text_of(tmp_path, [ABOVE, *place(ROWS), BELOW], frame(4))
    page = Page(id="p", document_id="d", revision="r", number=1, title="", text=text)
    given = ExtractorInput(
        document=build_document("harbour.pdf", kind="pdf"), pages=(page,), path=tmp_path / "harbour.pdf"
    )
    (found,) = PdfTableExtractor().extract(given)
    assert isinstance(found, Found)
    assert found.span.of(text) == TABBED
    spans = found.data["row_spans"]
    assert isinstance(spans, tuple)
    assert [tuple(text[start:end].split("\t")) for start, end in spans] == ROWS[1:]


WIDTH, HEIGHT = 100, 20
LETTERS = st.text("abcdefgh0123456789.,%-", min_size=1, max_size=6)


@st.composite
def pages(draw: st.DrawFn) -> tuple[str, Layout]:
    """A grid of cells with up to two words each, its words in any order, with other words somewhere between."""
    rows, columns = draw(st.integers(2, 4)), draw(st.integers(2, 4))
    boxes: list[tuple[str, float, float]] = []
    for row in range(rows):
        for column in range(columns):
            for number, word in enumerate(draw(st.lists(LETTERS, max_size=2))):
                boxes.append((word, column * WIDTH + 5 + 45 * number, 500 - row * HEIGHT))
    boxes += [(word, 5, 100 - 20 * number) for number, word in enumerate(draw(st.lists(LETTERS, max_size=3)))]
    ordered = draw(st.permutations(boxes))
    words, text = [], ""
    for word, left, top in ordered:
        text += draw(st.sampled_from([" ", "\n"])) if text else ""
        words.append(Word(word, left, left + 40, top - 12, top, len(text)))
        text += word
    level = tuple(Rule(504 - HEIGHT * row, 0, WIDTH * columns) for row in range(rows + 1))
    upright = tuple(Rule(WIDTH * column, 504 - HEIGHT * rows, 504) for column in range(columns + 1))
    return text, Layout(words=tuple(words), level=level, upright=upright)


@given(pages())
def test_no_word_is_lost_doubled_or_joined(page: tuple[str, Layout]) -> None:
    text, layout = page
    assert sorted(write_ruled_tables(text, layout).split()) == sorted(text.split())


@pytest.mark.parametrize("text", ["", "other words than those of the page"])
def test_a_text_without_the_tables_words_stays(text: str) -> None:
    words = tuple(Word(name, 5 + 100 * place, 45 + 100 * place, 480, 492, place) for place, name in enumerate("abcd"))
    level = (Rule(500, 0, 400), Rule(480, 0, 400), Rule(460, 0, 400))
    upright = tuple(Rule(100 * column, 460, 500) for column in range(5))
    assert write_ruled_tables(text, Layout(words=words, level=level, upright=upright)) == text


def test_a_page_written_from_right_to_left_keeps_its_words(tmp_path: Path) -> None:
    rows = [("BA C", "AC", "CB"), ("CAB", "BB", "AAC"), ("ABC", "CC", "AB")]
    hebrew = b"/Helvetica /Encoding << /Differences [65 /afii57664 /afii57665 /afii57666] >> >>"
    path = tmp_path / "harbour.pdf"
    path.write_bytes(build_pdf([place(rows)], strokes=frame(3)).replace(b"/Helvetica >>", hebrew))
    assert PdfReader().read(path, tmp_path).pages[0].text.split("\n")[1].split() == [
        "\u05d2\u05d0\u05d0",
        "\u05d1\u05d1",
        "\u05d1\u05d0\u05d2",
    ]
