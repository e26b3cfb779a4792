"""Text recognition (OCR) of scanned PDF pages."""

import math
import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import median
from typing import Any, Protocol

from core.domain.passages import PageBox
from storage.documents.faults import is_memory
from storage.documents.pdf.rows import Line, to_page_text

# The error for a scan without text recognition. Such files are read again once recognition is installed.
UNRECOGNISED = (
    "scanned: no text layer; run OCR first, or let Footnote do it: pip install 'footnote[ocr]', [ingest] ocr = true, "
    "and ingest it again"
)
# Threads of the engine: pages are read one by one, and beyond four more hardly help.
THREADS = 4
# Degrees by which lines may lean before the page is taken as printed so: scanners draw sheets in askew.
_MAX_LEAN = 15.0
# Length of lines, in heights, that show the page's angle and direction.
_LONG = 4.0
# Minimum mean score of a page's lines that is the right way up.
GOOD_SCORE = 0.8

# Full-width signs, and their replacements between other letters.
_NARROW = str.maketrans({"℉": "°F", "℃": "°C", "，": ", ", "：": ": ", "；": "; ", "（": " (", "）": ") ", "％": "%"})
_WIDE_SCRIPT = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A line or a word in a picture. Corners in pixels, downwards, in the order of reading: from its upper left."""

    text: str
    score: float  # 0..1
    corners: tuple[Point, Point, Point, Point]

    @property
    def width(self) -> float:
        return math.dist(self.corners[0], self.corners[1])

    @property
    def height(self) -> float:
        return max(math.dist(self.corners[0], self.corners[3]), 1.0)


class Recogniser(Protocol):
    """Reads pictures (PIL's); not for concurrent use."""

    def read(self, picture: Any) -> list[Seen]:
        """Return the lines of text of a picture, in no particular order."""
        ...


class RapidOcr:
    """The recogniser of the extra `ocr`. The models (32 MB) are loaded for the first picture.

    With `has_words`, it returns the words of each line, one after the other, instead of the lines.
    """

    def __init__(self, *, has_words: bool = False) -> None:
        self._has_words = has_words
        self._engine: Any = None

    def read(self, picture: Any) -> list[Seen]:
        import numpy

        pixels = numpy.asarray(picture.convert("RGB"))[:, :, ::-1]  # it wants blue first
        result = self._loaded()(pixels, return_word_box=self._has_words)
        if result.txts is None or result.boxes is None:
            return []
        lines = zip(result.txts, result.scores, result.boxes, strict=True)
        words = (word for line in result.word_results for word in line) if self._has_words else ()
        return [
            Seen(text=_to_text(text), score=float(score), corners=_to_corners(box))
            for text, score, box in (words if self._has_words else lines)
            if text.strip()
        ]

    def _loaded(self) -> Any:
        if self._engine is None:
            import os

            from rapidocr import RapidOCR

            settings = {
                "Global.log_level": "critical",
                "Global.use_cls": False,  # `read_upright` finds a page's direction
                "EngineConfig.onnxruntime.intra_op_num_threads": min(THREADS, os.cpu_count() or 1),
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
            self._engine = RapidOCR(params=settings)
        return self._engine


def is_installed() -> bool:
    """Return whether the extra `ocr` is installed."""
    return find_spec("rapidocr") is not None


def read_upright(picture: Any, recogniser: Recogniser) -> list[Line]:
    """Return the lines of a page's picture with level boxes, for any rotation and angle of the page.

    Boxes are in pixels from the lower left corner of the upright page.
    """
    return _level(_look(picture, recogniser)[0])


def _look(picture: Any, recogniser: Recogniser) -> tuple[list[Seen], int]:
    """Return the lines of the upright picture, and the degrees it was turned counter-clockwise."""
    best, best_turn = recogniser.read(picture), 0
    turns = () if not best else (90, 270) if _is_sideways(best) else (180,)
    for turn in turns:
        if best and _score(best) >= GOOD_SCORE and not _is_sideways(best):
            break
        other = recogniser.read(picture.rotate(turn, expand=True))
        if _rank(other) > _rank(best):
            best, best_turn = other, turn
    return best, best_turn


def _rank(lines: Sequence[Seen]) -> tuple[bool, float]:
    return not _is_sideways(lines), _score(lines)


def _to_text(text: str) -> str:
    return " ".join((text if _WIDE_SCRIPT.search(text) else text.translate(_NARROW)).split())


def _to_corners(box: Any) -> tuple[Point, Point, Point, Point]:
    first, second, third, fourth = ((float(x), float(y)) for x, y in box)
    return first, second, third, fourth


def _is_sideways(lines: Sequence[Seen]) -> bool:
    upright = sum(len(line.text) for line in lines if _extent(line, 1) > _extent(line, 0) * 1.5)
    return upright * 2 > sum(len(line.text) for line in lines)


def _extent(line: Seen, axis: int) -> float:
    places = [corner[axis] for corner in line.corners]
    return max(places) - min(places)


def _score(lines: Sequence[Seen]) -> float:
    """Return the engine's confidence in the average letter, 0..1."""
    letters = sum(len(line.text) for line in lines)
    return sum(line.score * len(line.text) for line in lines) / letters if letters else 0.0


def _level(lines: Sequence[Seen]) -> list[Line]:
    angle = _lean(lines)
    cos, sin = math.cos(-angle), math.sin(-angle)
    levelled = []
    for line in lines:
        turned = [(x * cos - y * sin, x * sin + y * cos) for x, y in line.corners]
        xs, ys = [x for x, _ in turned], [-y for _, y in turned]
        levelled.append(Line(text=line.text, left=min(xs), right=max(xs), bottom=min(ys), top=max(ys)))
    return levelled


def _lean(lines: Sequence[Seen]) -> float:
    angles = [
        math.atan2(line.corners[1][1] - line.corners[0][1], line.corners[1][0] - line.corners[0][0])
        for line in lines
        if line.width > line.height * _LONG
    ]
    angle = median(angles) if angles else 0.0
    return angle if abs(angle) <= math.radians(_MAX_LEAN) else 0.0


# Dots an inch at which a page is drawn: more hardly reads better. Pixels of its longer side at most: the engine makes
# no use of more.
DPI = 200
LONGEST = 2_000
# Pixels that are tried when memory runs out, before the page is given up.
SMALLER = (1_400, 1_000)
# Share of a page that a picture covers when the page is one.
MIN_COVERED = 0.5
# Characters of a page's text layer from which on it is no scan with a stamp on it.
MAX_STAMP = 200
# How many times as many characters recognition has to find to be taken instead of such a stamp.
_MUCH_MORE = 3


def may_be_scanned(document: Any, index: int, text: str) -> bool:
    """Return whether a page may show more than its text layer: a large picture, or anything but text."""
    import pypdfium2

    if len(text) >= MAX_STAMP:
        return False
    try:
        page = document[index]
    except pypdfium2.PdfiumError:
        return False
    with closing(page):
        width, height = page.get_size()
        for item in page.get_objects(max_depth=3):
            if item.type == pypdfium2.raw.FPDF_PAGEOBJ_PATH and not text:
                return True  # letters may be drawn as lines
            if item.type == pypdfium2.raw.FPDF_PAGEOBJ_IMAGE:
                left, bottom, right, top = item.get_bounds()
                covered = (min(right, width) - max(left, 0)) * (min(top, height) - max(bottom, 0))
                if not text or covered >= width * height * MIN_COVERED:
                    return True
    return False


def recognise(document: Any, index: int, text: str, recogniser: Recogniser) -> str:
    """Return the text of the page's picture, or `text`, its text layer, if that is not much shorter."""
    found = _seen_text(document, index, recogniser)
    return found if len(found) > len(text) * _MUCH_MORE else text


def _seen_text(document: Any, index: int, recogniser: Recogniser) -> str:
    """Return the text of the page's picture, drawn smaller if memory runs out; MemoryError if that doesn't help."""
    for longest in (LONGEST, *SMALLER):
        try:
            picture = _draw(document, index, longest)
            return to_page_text(read_upright(picture, recogniser)) if picture is not None else ""
        except Exception as error:
            if not is_memory(error):
                raise
    raise MemoryError("recognising a page")


def recognised_words(document: Any, index: int, recogniser: Recogniser) -> list[tuple[str, PageBox]]:
    """Return the words of the page's picture, each line in one piece, with their places on the page as shown."""
    picture = _draw(document, index)
    if picture is None:
        return []
    words, turn = _look(picture, recogniser)
    width, height = picture.size if turn in (0, 180) else picture.size[::-1]
    return [(word.text, _turned_back(_to_box(word, width, height), turn)) for word in words]


def _to_box(word: Seen, width: int, height: int) -> PageBox:
    across = [min(max(x / width, 0.0), 1.0) for x, _ in word.corners]
    down = [min(max(y / height, 0.0), 1.0) for _, y in word.corners]
    return PageBox(min(across), min(down), max(across) - min(across), max(down) - min(down))


def _turned_back(box: PageBox, turn: int) -> PageBox:
    """Return a box on the page before it was turned counter-clockwise."""
    if turn == 90:
        return PageBox(1 - box.bottom, box.left, box.height, box.width)
    if turn == 180:
        return PageBox(1 - box.right, 1 - box.bottom, box.width, box.height)
    return PageBox(box.top, 1 - box.right, box.height, box.width) if turn == 270 else box


def _draw(document: Any, index: int, longest: int = LONGEST) -> Any:
    import pypdfium2

    try:
        with closing(document[index]) as page:
            longer = max(page.get_size())
            if longer <= 0:
                return None
            return page.render(scale=min(DPI / 72, longest / longer)).to_pil()
    except pypdfium2.PdfiumError:
        return None
