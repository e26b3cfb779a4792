"""A drawing of the graph of documents. Pure and deterministic.

Forces move the documents from a circle to their places (Fruchterman and Reingold): each pushes all others away, lines
pull their ends together, and the middle attracts all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from core.domain.corpus import Document
from core.domain.features import Connection
from core.text.words import shorten

MOST_DRAWN = 60  # documents; more are unreadable, and take a second to place
MARGIN = 48.0
ROUNDS = 80
TO_THE_MIDDLE = 3.0  # attraction of the middle, which keeps unconnected parts together
# A label's character width, height, and distance from the rim of its dot, at 13 px.
CHARACTER_WIDTH, LABEL_HEIGHT, LABEL_DROP = 6.6, 15.0, 12.0
LEAST_RADIUS, MOST_RADIUS = 5.0, 14.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """The size of a drawing."""

    width: float
    height: float
    side_margin: float  # half of the longest label, centred below its dot
    label: int  # characters


WIDE = Sheet(width=960.0, height=640.0, side_margin=112.0, label=30)
NARROW = Sheet(width=360.0, height=480.0, side_margin=72.0, label=20)  # of a phone


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A document in the drawing; all numbers are its coordinates."""

    document: Document
    label: str
    x: float
    y: float
    radius: float
    is_centre: bool = False
    is_shy: bool = False  # its label would cover another one, so it only shows on hover

    @property
    def label_y(self) -> float:
        return self.y + self.radius + LABEL_DROP


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    x1: float
    y1: float
    x2: float
    y2: float
    width: float
    is_link: bool  # else only cited together
    told: str  # "Links: 2, cited together in 1 thread"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    dots: tuple[Dot, ...]
    lines: tuple[Line, ...]
    width: float
    height: float


def draw(
    documents: Sequence[Document], connections: Sequence[Connection], centre: str | None = None, sheet: Sheet = WIDE
) -> Drawing:
    """Draw the first MOST_DRAWN documents and their connections; `centre` is highlighted."""
    shown = {document.id: document for document in documents[:MOST_DRAWN]}
    lines = [item for item in connections if item.first in shown and item.second in shown]
    places = _placed([*shown], lines, sheet)
    weights = dict.fromkeys(shown, 0)
    for item in lines:
        weights[item.first] += item.links + item.together
        weights[item.second] += item.links + item.together
    most = max(weights.values(), default=0) or 1
    dots = [
        Dot(
            document=document,
            label=shorten(document.title, sheet.label),
            x=places[id][0],
            y=places[id][1],
            radius=round(LEAST_RADIUS + (MOST_RADIUS - LEAST_RADIUS) * sqrt(weights[id] / most), 1),
            is_centre=id == centre,
        )
        for id, document in shown.items()
    ]
    return Drawing(
        dots=_without_covered_labels(dots),
        lines=tuple(_line(item, places) for item in lines),
        width=sheet.width,
        height=sheet.height,
    )


def _without_covered_labels(dots: Sequence[Dot]) -> tuple[Dot, ...]:
    """Return the dots in order. The centre and the best connected get their labels first."""
    labelled: list[Dot] = []
    for dot in sorted(dots, key=lambda dot: (not dot.is_centre, -dot.radius)):
        if not any(_labels_meet(dot, other) for other in labelled):
            labelled.append(dot)
    return tuple(dot if dot in labelled else replace(dot, is_shy=True) for dot in dots)


def _labels_meet(one: Dot, other: Dot) -> bool:
    widths = (len(one.label) + len(other.label)) * CHARACTER_WIDTH
    return abs(one.x - other.x) < widths / 2 and abs(one.label_y - other.label_y) < LABEL_HEIGHT


def told(links: int, together: int) -> str:
    """Describe the connection of two documents."""
    parts = [
        f"{links} link{'' if links == 1 else 's'}" if links else "",
        f"cited together in {together} thread{'' if together == 1 else 's'}" if together else "",
    ]
    return ", ".join(filter(None, parts))


def _line(item: Connection, places: Mapping[str, tuple[float, float]]) -> Line:
    (x1, y1), (x2, y2) = places[item.first], places[item.second]
    return Line(
        x1=x1,
        y1=y1,
        x2=x2,
        y2=y2,
        width=round(min(6.0, 0.8 + 0.6 * sqrt(item.links + item.together)), 1),
        is_link=bool(item.links),
        told=told(item.links, item.together),
    )


def _placed(ids: Sequence[str], lines: Sequence[Connection], sheet: Sheet) -> dict[str, tuple[float, float]]:
    """Return positions within the drawing, by ID."""
    count = len(ids)
    points = np.exp(2j * np.pi * np.arange(count) / max(count, 1))  # x and y as one complex number
    place = {id: number for number, id in enumerate(ids)}
    firsts = [place[item.first] for item in lines]
    seconds = [place[item.second] for item in lines]
    wanted = 2.0 / sqrt(count) if count else 1.0  # distance at which the forces balance
    for number in range(ROUNDS):
        apart = points[:, None] - points
        pushes = (apart * wanted**2 / np.maximum(np.abs(apart) ** 2, 1e-4)).sum(axis=1)
        moves = pushes - TO_THE_MIDDLE * points
        stretched = points[firsts] - points[seconds]
        pulls = stretched * np.abs(stretched) / wanted
        np.subtract.at(moves, firsts, pulls)
        np.add.at(moves, seconds, pulls)
        lengths, reach = np.abs(moves), 0.2 * (1 - number / ROUNDS)
        points += moves * np.minimum(1.0, reach / np.maximum(lengths, 1e-9))
    xs, ys = _fitted(points.real, sheet.width, sheet.side_margin), _fitted(points.imag, sheet.height, MARGIN)
    return dict(zip(ids, zip(xs, ys, strict=True), strict=True))


def _fitted(values: NDArray[np.float64], size: float, margin: float) -> list[float]:
    """Scale coordinates to fill the drawing inside its margin; centre a single one."""
    span = np.ptp(values) if len(values) else 0.0
    if span <= 1e-9:
        return [size / 2] * len(values)
    scaled = margin + (values - values.min()) / span * (size - 2 * margin)
    return [round(float(value), 1) for value in scaled]
