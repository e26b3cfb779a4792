from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import pytest

from storage.documents.pdf.layout import LayoutReader
from storage.documents.readers.pdf import PdfReader
from tests.unit.storage.documents.pdf_files import Piece, build_pdf

# Widths of Helvetica's letters at 12 points.
WIDTHS = {"H": 8.66, "e": 6.67, "l": 2.67, "o": 6.67, "b": 6.67, "k": 6, "p": 6.67, "r": 4}
PLAIN = (50, 500, "Plain 112233 bookkeeper")
HEADING = [(50, 760 - 15 * line, f"Line {line} of a long heading") for line in range(12)]


def letter_by_letter(word: str, shifts: Sequence[tuple[float, float]]) -> list[Piece]:
    starts = [50, *accumulate((WIDTHS[letter] for letter in word), initial=50)][1:]
    return [
        (start + across, 700 + up, letter) for letter, start in zip(word, starts, strict=False) for across, up in shifts
    ]


def read(pieces: Sequence[Piece], folder: Path) -> str:
    path = folder / "a.pdf"
    path.write_bytes(build_pdf([pieces]))
    return PdfReader().read(path, folder).pages[0].text


@pytest.mark.parametrize("shift", [0, 0.3, 0.8])
def test_lines_drawn_again_at_the_end_of_the_file_are_read_once(shift: float, tmp_path: Path) -> None:
    again = [(left + shift, bottom, text) for left, bottom, text in HEADING]
    text = read([*HEADING, PLAIN, *again], tmp_path)
    assert text.splitlines() == [*(text for _, _, text in HEADING), PLAIN[2]]


@pytest.mark.parametrize("shifts", [[(0, 0), (1.2, 0)], [(0, 0), (0.9, 0), (0, 0.9), (0.9, 0.9)]])
def test_letters_drawn_several_times_are_read_once(shifts: list[tuple[float, float]], tmp_path: Path) -> None:
    text = read([*letter_by_letter("Hello", shifts), PLAIN], tmp_path)
    assert text.splitlines() == ["Hello", PLAIN[2]]


def test_words_of_tables_are_read_once(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(build_pdf([[*HEADING, *HEADING]]))
    reader = LayoutReader(tmp_path / "a.pdf")
    layout = reader.read(1)
    reader.close()
    assert layout is not None
    assert len(layout.words) == 6 * len(HEADING)


def test_equal_lines_at_other_places_stay(tmp_path: Path) -> None:
    pieces = [(50, 700, "Total of 12 boats"), (300, 700, "Total of 12 boats"), (50, 640, "Total of 12 boats")]
    text = read([*pieces, *letter_by_letter("bookkeeper", [(0, 0)])], tmp_path)
    assert text.count("Total of 12 boats") == 3
    assert "bookkeeper" in text
