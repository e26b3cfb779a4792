"""Which way a page lies and how it leans, by what a recogniser sees in its picture."""

import math
from collections.abc import Sequence

import pytest
from PIL import Image, ImageOps

from storage.documents.pdf.recognition import Seen, _to_box, _to_text, _turned_back, is_installed, read_upright

WIDTH, HEIGHT = 200, 300


def seen(text: str, left: float, top: float, width: float, height: float, score: float = 0.95) -> Seen:
    right, bottom = left + width, top + height
    return Seen(text=text, score=score, corners=((left, top), (right, top), (right, bottom), (left, bottom)))


class Glasses:
    """Sees `upright` when the picture was turned by `turn` degrees, else the garbage that a page that way gives."""

    def __init__(self, turn: int, upright: Sequence[Seen]) -> None:
        self.turn = turn
        self.upright = list(upright)
        self.looks = 0

    def read(self, picture: Image.Image) -> list[Seen]:
        self.looks += 1
        corner = {0: (0, 0), 90: (0, HEIGHT - 1), 180: (WIDTH - 1, HEIGHT - 1), 270: (WIDTH - 1, 0)}
        now = next(turn for turn, place in corner.items() if self._black(picture, turn, place))
        missing = (self.turn - now) % 360
        if missing == 0:
            return self.upright
        if missing == 180:
            return [seen("pueq ou", 10, 10, 80, 10, 0.5)]
        return [seen("sideways", 10, 10, 10, 120, 0.9)]

    def _black(self, picture: Image.Image, turn: int, place: tuple[int, int]) -> bool:
        """Whether the page's upper left corner, which is black, is where this turn takes it."""
        wide, high = picture.size
        x, y = {0: (0, 0), 90: (0, high - 1), 180: (wide - 1, high - 1), 270: (wide - 1, 0)}[turn]
        return picture.getpixel((x, y)) == 0


def page() -> Image.Image:
    picture = Image.new("L", (WIDTH, HEIGHT), 255)
    picture.putpixel((0, 0), 0)
    return picture


@pytest.mark.parametrize(("turn", "looks"), [(0, 1), (90, 2), (180, 2), (270, 3)])
def test_a_page_is_turned_until_it_can_be_read(turn: int, looks: int) -> None:
    glasses = Glasses(turn, [seen("The ferry sails at seven.", 10, 20, 150, 10)])
    assert [line.text for line in read_upright(page(), glasses)] == ["The ferry sails at seven."]
    assert glasses.looks == looks


def test_an_empty_page_is_looked_at_once() -> None:
    glasses = Glasses(0, [])
    assert read_upright(page(), glasses) == []
    assert glasses.looks == 1


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_words_are_where_the_page_shows_them_however_it_lies(turn: int) -> None:
    """The sheet holds one black word; the recogniser sees it on the sheet turned upright."""
    sheet = Image.new("L", (WIDTH, HEIGHT), 255)
    sheet.paste(0, (20, 30, 60, 45))
    left, top, right, bottom = ImageOps.invert(sheet.rotate(turn, expand=True)).getbbox() or (0, 0, 0, 0)
    upright = sheet.rotate(turn, expand=True).size
    word = _to_box(seen("word", left, top, right - left, bottom - top), *upright)

    box = _turned_back(word, turn)
    assert (box.left, box.top) == pytest.approx((20 / WIDTH, 30 / HEIGHT))
    assert (box.right, box.bottom) == pytest.approx((60 / WIDTH, 45 / HEIGHT))


@pytest.mark.parametrize(("degrees", "expected"), [(2, 0.0), (-3, 0.0), (30, 30.0)])
def test_what_a_scanner_draws_in_askew_is_levelled(degrees: float, expected: float) -> None:
    angle = math.radians(degrees)

    def turned(x: float, y: float) -> tuple[float, float]:
        return x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle)

    def row(left: float) -> Seen:
        right = left + 90
        corners = (turned(left, 50), turned(right, 50), turned(right, 60), turned(left, 60))
        return Seen(text="A row", score=0.9, corners=corners)

    lines = [row(10), row(400)]
    one, other = read_upright(page(), Glasses(0, lines))
    assert math.degrees(math.atan2(one.top - other.top, other.left - one.left)) == pytest.approx(expected, abs=0.2)


@pytest.mark.parametrize(
    ("given", "expected"),
    [("98.6℉ （normal）", "98.6°F (normal)"), ("温度：37℃", "温度：37℃"), ("  two  words ", "two words")],
)
def test_signs_have_the_width_of_their_script(given: str, expected: str) -> None:
    assert _to_text(given).strip() == expected


def test_the_extra_is_found_without_loading_it() -> None:
    assert isinstance(is_installed(), bool)
