"""Comparisons and trends of a sentence against the figures of its quotes. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

from core.answering.support.texts import Text
from core.domain.support import Finding, FindingKind
from core.text.quantities import Quantity, find_quantities
from core.text.words import tokens

_THAN = re.compile(
    r"\b(?:(?P<more>more|higher|larger|bigger|greater|longer)|(?P<less>fewer|less|lower|smaller|shorter))\b"
    r"(?P<of>[^.;]{0,60}?)\bthan\b(?P<right>[^.;,]{1,80})",
    re.IGNORECASE,
)
_ROSE = re.compile(
    r"\b(?:rose|grew|increased|climbed|went up|improved|stieg|wuchs|aumentó|subió|crec\w+)\b", re.IGNORECASE
)
_FELL = re.compile(
    r"\b(?:fell|shrank|decreased|declined|dropped|went down|sank|fiel|bajó|disminuy\w+)\b", re.IGNORECASE
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_PIECE = re.compile(
    r"(?<=[.;:])\s|,\s|\b(?:while|whereas|but|and|against|compared with|versus|mientras|während|y|und)\b"
)
Cell = tuple[set[str], float, str, str]  # words of its labels, its figure, as written, and its dimension


def check_comparisons(claim: Text, evidence: Text) -> Iterator[Finding]:
    """Yield a comparison, or a trend, that goes against the figures of the quotes."""
    cells = _cells(evidence.written) or _pieces(evidence.text)
    match = _THAN.search(claim.text)
    if match is not None and not claim.negations and all(map(_is_year, find_quantities(match["right"]))):
        before = {*tokens(claim.text[: match.start()]), *tokens(match["of"])}
        right = set(tokens(match["right"]))
        pair = _pair(cells, before - right, right - before, before | right)
        if pair is not None:
            (_, one, _, _), (_, other, written, _) = pair
            if (one <= other) if match["more"] else (one >= other):
                yield Finding(FindingKind.OPPOSITE, match["more"] or match["less"], written, is_sure=True)
        return
    yield from _trends(claim, evidence)


def _pair(cells: Sequence[Cell], left: set[str], right: set[str], said: set[str]) -> tuple[Cell, Cell] | None:
    """Return the cell of each side of a comparison, if the labels leave no doubt."""
    found: list[tuple[int, Cell, Cell]] = []
    for one, other in permutations(cells[:_MOST_CELLS], 2):
        a, b = one[0] & said, other[0] & said
        if one[3] == other[3] and (b - a) & right and (a - b) & left and not a & right:
            found.append((len(a) + len(b), one, other))
    best = max((score for score, _, _ in found), default=0)
    chosen = [(one, other) for score, one, other in found if score == best]
    return chosen[0] if len(chosen) == 1 else None


_MOST_CELLS = 80


def _rows(written: str) -> list[list[str]]:
    lines = [line for line in written.splitlines() if line.count("|") > 1 and re.search(r"[^\s|:-]", line)]
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines]


def _figure(cell: str) -> float | None:
    found = find_quantities(cell)
    return found[0].values[0] if len(found) == 1 else None


def _cells(written: str) -> list[Cell]:
    rows = _rows(written)
    return [
        ({*tokens(cells[0]), *tokens(head)}, figure, cell, "")
        for cells in rows[1:]
        for head, cell in list(zip(rows[0], cells, strict=False))[1:]
        if (figure := _figure(cell)) is not None
    ]


def _is_year(quantity: Quantity) -> bool:
    return not quantity.dimension and _FIRST_YEAR <= quantity.values[0] < _LAST_YEAR


_FIRST_YEAR, _LAST_YEAR = 1000, 2100


def _pieces(text: str) -> list[Cell]:
    """The clauses with one figure, which is no year."""
    found: list[Cell] = []
    for piece in _PIECE.split(text):
        figures = [one for one in find_quantities(piece) if not _is_year(one)]
        if len(figures) == 1 and figures[0].dimension not in ("%", "clock"):
            found.append(
                (set(tokens(piece)), figures[0].values[0] * figures[0].factor, piece.strip(), figures[0].dimension)
            )
    return found


def _trends(claim: Text, evidence: Text) -> Iterator[Finding]:
    """Yield "fell" for a row of a table that rises from the first of its years to the last, or the other way round."""
    rose, fell = _ROSE.search(claim.text), _FELL.search(claim.text)
    if bool(rose) is bool(fell) or claim.negations:
        return
    rows = _rows(evidence.written)
    years = {place: int(cell) for place, cell in enumerate(rows[0]) if _YEAR.fullmatch(cell)} if rows else {}
    named = {int(year) for year in _YEAR.findall(claim.text)}
    asked = {place: year for place, year in years.items() if year in named}
    years = asked if len(asked) > 1 else years
    row = _named_row(rows, set(tokens(claim.text)))
    if len(years) < _TWO or row is None:
        return
    places: Mapping[int, int] = {year: place for place, year in years.items()}
    first, last = (
        _figure(row[places[year]]) if places[year] < len(row) else None for year in (min(places), max(places))
    )
    if first is not None and last is not None and ((last <= first) if rose else (last >= first)):
        word = (rose or fell or [""])[0]
        yield Finding(FindingKind.OPPOSITE, word, " | ".join(row), is_sure=True)


_TWO = 2


def _named_row(rows: Sequence[Sequence[str]], said: set[str]) -> Sequence[str] | None:
    """Return the row whose label the sentence has; of several, the longest."""
    found = [row for row in rows[1:] if (label := set(tokens(row[0]))) and label <= said]
    return max(found, key=lambda row: len(tokens(row[0])), default=None)
