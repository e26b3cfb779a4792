"""The places of a quote on its printed page: within the page, and over the quote's own words."""

import re
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.passages import PageBox, Span
from storage.documents.page_images.boxes import boxes_of_words, find_boxes, find_letters, find_words
from storage.documents.pdf.recognition import Seen
from storage.documents.readers.pdf import PdfReader
from tests.unit.storage.documents.pdf_files import build_pdf

ROOT = Path(__file__).parents[5]
SEASON = ROOT / "bot" / "sample_library" / "documents" / "reports" / "season-2025.pdf"
PAGES = {page.number or 0: page.text for page in PdfReader().read(SEASON, SEASON.parent).pages}
STUDY = (
    "The\ncouncil has asked for a study of an electric boat to replace the Pelican; it is due in\nthe spring of 2027."
)


class Blind:
    """A recogniser that must not be asked."""

    def read(self, picture: object) -> list[Seen]:
        raise AssertionError("a picture was read")


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def words_under(boxes: Sequence[PageBox], path: Path, number: int) -> str:
    """What PDFium reads inside the boxes of an upright page; a box is a little higher than its letters."""
    page = pypdfium2.PdfDocument(path)[number - 1]
    width, height = page.get_size()
    text = page.get_textpage()
    found = []
    for box in boxes:
        edge = box.height / 4
        top, bottom = height * (1 - box.top - edge), height * (1 - box.bottom + edge)
        found.append(text.get_text_bounded(left=width * box.left, bottom=bottom, right=width * box.right, top=top))
    return " ".join(found)


@st.composite
def parts(draw: st.DrawFn) -> tuple[int, Span]:
    """A run of words of one page."""
    number = draw(st.sampled_from(sorted(PAGES)))
    words = [match.span() for match in re.finditer(r"\S+", PAGES[number])]
    first = draw(st.integers(0, len(words) - 1))
    last = draw(st.integers(first, min(first + 40, len(words) - 1)))
    return number, Span(words[first][0], words[last][1])


@given(parts())
def test_boxes_lie_on_the_page_over_the_words_of_the_quote(part: tuple[int, Span]) -> None:
    number, span = part
    boxes = find_boxes(str(SEASON), number, PAGES[number], span)
    quote = letters(span.of(PAGES[number]))

    assert bool(boxes) == bool(quote)
    for box in boxes:
        assert 0 <= box.left < box.right <= 1
        assert 0 <= box.top < box.bottom <= 1
    assert letters(words_under(boxes, SEASON, number)) == quote


def test_a_quote_has_a_box_for_each_of_its_lines() -> None:
    start = PAGES[3].index(STUDY)
    boxes = find_boxes(str(SEASON), 3, PAGES[3], Span(start, start + len(STUDY)))

    assert len(boxes) == 3
    assert [box.top for box in boxes] == sorted(box.top for box in boxes)
    assert words_under(boxes[:1], SEASON, 3).strip() == "The"
    assert words_under(boxes[2:], SEASON, 3).strip() == "the spring of 2027."


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_boxes_turn_with_the_page(tmp_path: Path, rotation: int) -> None:
    start = PAGES[3].index(STUDY)
    span = Span(start, start + len(STUDY))
    upright = find_boxes(str(SEASON), 3, PAGES[3], span)
    turned = pypdfium2.PdfDocument(SEASON)
    turned[2].set_rotation(rotation)
    turned.save(tmp_path / "turned.pdf")
    found = find_boxes(str(tmp_path / "turned.pdf"), 3, PAGES[3], span)

    turns = {
        90: lambda box: PageBox(1 - box.bottom, box.left, box.height, box.width),
        180: lambda box: PageBox(1 - box.right, 1 - box.bottom, box.width, box.height),
        270: lambda box: PageBox(box.top, 1 - box.right, box.height, box.width),
    }
    for one, other in zip(found, map(turns[rotation], upright), strict=True):
        assert (one.left, one.top, one.width, one.height) == pytest.approx(
            (other.left, other.top, other.width, other.height), abs=1e-3
        )


def test_boxes_count_from_the_edges_that_are_shown(tmp_path: Path) -> None:
    start = PAGES[3].index("Nobody")
    span = Span(start, start + len("Nobody"))
    whole = find_boxes(str(SEASON), 3, PAGES[3], span)[0]
    cut = pypdfium2.PdfDocument(SEASON)
    width, height = cut[2].get_size()
    cut[2].set_cropbox(0, height / 2, width, height)  # its upper half
    cut.save(tmp_path / "cut.pdf")
    (found,) = find_boxes(str(tmp_path / "cut.pdf"), 3, PAGES[3], span)

    assert (found.left, found.top) == pytest.approx((whole.left, 2 * whole.top), abs=2e-3)


def test_a_line_that_runs_upwards_has_one_box_too(tmp_path: Path) -> None:
    (tmp_path / "up.pdf").write_bytes(build_pdf([[(100, 100, "The key is here")]], direction="0 1 -1 0"))
    (box,) = find_boxes(str(tmp_path / "up.pdf"), 1, "The key is here", Span(4, 15))

    assert box.height > 3 * box.width
    assert box.bottom < 1 - 100 / 800, "The is below it"


def marked(printed: str, text: str, quote: str, nth: int = 0) -> str:
    """The letters that are found for a quote, its n-th occurrence in the text."""
    start = -1
    for _ in range(nth + 1):
        start = text.index(quote, start + 1)
    places = find_letters(printed, text, Span(start, start + len(quote)))
    return "".join(letter if place in places else "_" for place, letter in enumerate(printed))


@pytest.mark.parametrize(
    ("printed", "text", "quote", "nth", "found"),
    [
        (
            "No. A key is\r\nhere (red).",
            "No. A key is here (red).",
            "A key is here (red).",
            0,
            "____A_key_is__here_(red).",
        ),
        ("adip\ufffe\r\niscing elit", "adip-\niscing elit", "adip-\niscing", 0, "adip\ufffe__iscing_____"),
        ("ﬁne of\ufb01ce", "fine office", "fine office", 0, "ﬁne_ofﬁce"),
        ("ten men, ten oxen", "ten men, ten oxen", "ten", 1, "_________ten_____"),
        (
            "Fuel 5 Wages 8 Fuel 9",
            "| Fuel | 5 |\n| Wages | 8 |\n| Fuel | 9 |",
            "| Fuel | 9 |",
            0,
            "_______________Fuel_9",
        ),
        ("a1 b1\r\na2 b2", "a1\ta2\nb1\tb2", "a1\ta2", 0, "a1_____a2___"),  # another order of columns
        ("TITLE", "Title", "Title", 0, "TITLE"),
        ("مرحبا بكم", "مرحبا بكم", "بكم", 0, "______بكم"),
    ],
)
def test_only_letters_and_digits_are_compared(printed: str, text: str, quote: str, nth: int, found: str) -> None:
    assert marked(printed, text, quote, nth) == found


@pytest.mark.parametrize(
    ("printed", "text"), [("", "A scan of words"), ("Page 1 of 3", "A scan of words"), ("§§§", "§§§"), ("x", "  ")]
)
def test_a_quote_that_the_page_lacks_has_no_place(printed: str, text: str) -> None:
    assert find_letters(printed, text, Span(0, len(text))) == []


def test_a_page_or_a_file_that_cant_be_read_has_no_boxes(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7 and no more")

    assert find_boxes(str(tmp_path / "a.pdf"), 1, "words", Span(0, 5)) == []
    assert find_boxes(str(SEASON), 9, "words", Span(0, 5)) == []


def laid_out(lines: Sequence[Sequence[str]]) -> list[tuple[str, PageBox]]:
    """Words on a sheet, each letter and each line a fiftieth of its sides."""
    words = []
    for number, line in enumerate(lines):
        left = 0.0
        for word in line:
            words.append((word, PageBox(left / 50, number / 50, len(word) / 50, 0.012)))
            left += len(word) + 1
    return words


def words_inside(boxes: Sequence[PageBox], words: Sequence[tuple[str, PageBox]]) -> list[str]:
    return [
        word
        for word, place in words
        if any(
            box.left <= place.left + place.width / 2 <= box.right
            and box.top <= place.top + place.height / 2 <= box.bottom
            for box in boxes
        )
    ]


WORD = st.text("abcdé1Ж漢", min_size=1, max_size=6)
LINES = st.lists(st.lists(WORD, min_size=1, max_size=6), min_size=1, max_size=12)


@given(LINES, st.data())
def test_the_boxes_of_a_quote_on_a_scan_hold_its_words_and_no_others(
    lines: list[list[str]], data: st.DataObject
) -> None:
    text, words = "\n".join(map(" ".join, lines)), laid_out(lines)
    places = [match.span() for match in re.finditer(r"\S+", text)]
    first = data.draw(st.integers(0, len(places) - 1))
    last = data.draw(st.integers(first, len(places) - 1))
    boxes = boxes_of_words(words, text, Span(places[first][0], places[last][1]))

    assert words_inside(boxes, words) == [word for word, _ in words[first : last + 1]]
    assert len(boxes) == text.count("\n", places[first][0], places[last][1]) + 1, "one for each line"


@given(LINES, st.randoms(use_true_random=False))
def test_lines_of_a_scan_are_found_in_any_order(lines: list[list[str]], random: Random) -> None:
    """Text recognition goes from top to bottom, a reader column by column."""
    numbered = [[f"n{number}x", *line] for number, line in enumerate(lines)]
    words = laid_out(numbered)
    read = random.sample(numbered, len(numbered))
    text = "\n".join(map(" ".join, read))
    for line in read:
        start = text.index(" ".join(line))
        boxes = boxes_of_words(words, text, Span(start, start + len(" ".join(line))))
        assert words_inside(boxes, words) == line


@pytest.mark.parametrize(
    ("seen", "found"),
    [
        ("The key hangs under the stalrs", ["The", "key", "hangs", "under", "the"]),  # a letter is read otherwise
        ("The cat sat on the mat", []),
        ("", []),
    ],
)
def test_words_that_are_read_otherwise_now_have_no_box(seen: str, found: list[str]) -> None:
    words, text = laid_out([seen.split()]), "The key hangs under the stairs"

    assert words_inside(boxes_of_words(words, text, Span(0, len(text))), words) == found


def test_a_page_that_isnt_scanned_is_not_read_from_its_picture() -> None:
    assert find_words(str(SEASON), 3, Blind()) == []
    assert find_words(str(SEASON), 9, Blind()) == []
