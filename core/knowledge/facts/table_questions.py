"""Questions that one table answers: a cell, the highest or lowest, a sum, an average, a count. Pure.

A question is computed only if a table accounts for all its words; in doubt there is no result, and the usual search
answers.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import fsum

from core.knowledge.facts.matching import stem
from core.text.words import STOPWORDS, words

LONGEST = 200  # characters of a question
MOST_ADDED = 6  # numbers that a sum spells out


class Operation(StrEnum):
    VALUE = "value"
    HIGHEST = "highest"
    LOWEST = "lowest"
    SUM = "sum"
    AVERAGE = "average"
    COUNT = "count"


_OPERATIONS: Mapping[str, Operation] = {
    **dict.fromkeys(
        "highest largest biggest greatest most longest heaviest tallest maximum".split(), Operation.HIGHEST
    ),
    **dict.fromkeys("latest last newest".split(), Operation.HIGHEST),
    **dict.fromkeys("lowest smallest least fewest shortest lightest minimum cheapest".split(), Operation.LOWEST),
    **dict.fromkeys("first earliest oldest".split(), Operation.LOWEST),
    **dict.fromkeys("total sum altogether overall combined".split(), Operation.SUM),
    **dict.fromkeys("average mean".split(), Operation.AVERAGE),
}
_IN_TIME = frozenset("latest last newest first earliest oldest".split())  # of a column of years
_COUNTS = re.compile(r"^(?:how many|count the|what is the number of)\s+(\w+)", re.IGNORECASE)
_ENTITY = re.compile(r"^(?:which|what)\s+(\w+)", re.IGNORECASE)
_ASKS = re.compile(
    r"^(?:what|which|who|how (?:many|much|long|old|tall|high|big)|count|give|tell|name)\b", re.IGNORECASE
)
_BEYOND = frozenset(
    "why when where not except without than difference compare between change increase more less per and or".split()
)
# Words of questions that no table has to have.
_ASKING = frozenset(
    """row column table list number value figure much many there have had has does did do got give tell name show amount
    single entry altogether carry carries carried contain contains hold holds held include includes report reported
    record recorded use used need needs""".split()
)
# The column that a superlative compares, if the question doesn't name the column.
_COMPARED: Mapping[str, frozenset[str]] = {
    "longest": frozenset({"length", "duration"}),
    "shortest": frozenset({"length", "duration", "height"}),
    "tallest": frozenset({"height"}),
    "highest": frozenset({"height", "altitude", "elevation"}),
    "heaviest": frozenset({"weight", "mass"}),
    "lightest": frozenset({"weight", "mass"}),
    "cheapest": frozenset({"price", "cost", "fare"}),
    "largest": frozenset({"size", "area"}),
    "biggest": frozenset({"size", "area"}),
    "smallest": frozenset({"size", "area"}),
}
_NUMBER = re.compile(
    r"(?P<minus>[-\u2212(]?) ?(?P<before>[^\d\s.,()-]{0,3}) ?(?P<digits>\d[\d,]*(?:\.\d+)?)\)?(?P<after>\D{0,12})"
)
_YEAR = re.compile(r"1[4-9]\d\d|20\d\d")
_SUMMARY_ROW = re.compile(r"(?:grand |sub)?-?totals?\b|sum\b|all\b|average\b|mean\b|overall\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableQuestion:
    operation: Operation
    said: tuple[str, ...]  # its words, as `_stems`, without words that ask
    entity: str = ""  # of "which boat", "how many boats"
    superlative: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A whole table: `rows` of cells as written, `about` the words of its title and document."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    text: str  # one line, shown above its rows
    rows: tuple[int, ...]  # that it rests on
    covered: int  # words of the question that the table itself has


def read_table_question(text: str) -> TableQuestion | None:
    """Read a question, or return None if it asks for something else, or for two things."""
    question = " ".join(text.split()).rstrip("?!. ")
    if len(question) > LONGEST or not _ASKS.match(question) or re.search(r"[?;!]\s+\S", text):
        return None
    all_words = words(question)
    if _BEYOND & set(all_words):
        return None
    operations = [(word, _OPERATIONS[word]) for word in all_words if word in _OPERATIONS]
    said = tuple(_stems(word for word in all_words if word not in STOPWORDS and word not in _ASKING))
    if len({operation for _, operation in operations}) > 1 or not said:
        return None
    counted = _COUNTS.match(question)
    entity = counted or _ENTITY.match(question)
    named = stem(entity[1].casefold()) if entity and entity[1].casefold() not in STOPWORDS else ""
    if operations:
        return TableQuestion(operation=operations[0][1], said=said, entity=named, superlative=operations[0][0])
    return TableQuestion(operation=Operation.COUNT if counted else Operation.VALUE, said=said, entity=named)


def compute(question: TableQuestion, grid: Grid) -> Computed | None:
    """Answer a question from one table, or return None if the table doesn't account for all its words."""
    if len(grid.columns) < 2 or not grid.rows:
        return None
    cell = _cell(question, grid)
    if cell is not None or question.operation is Operation.VALUE:
        return cell
    said = frozenset(question.said) - {question.superlative, stem(question.superlative)}
    chosen, filtered = _filter(said, grid)
    about = _names(f"{grid.title} {grid.about}")
    if question.operation is Operation.COUNT:
        return _count(question, said, grid, chosen, filtered)
    measure = _measure(question, said, grid, chosen)
    if measure is None:
        return None
    column, covered = measure
    if said - about - filtered - covered - {question.entity}:
        return None
    found = calculate(question.operation, grid, column, chosen, called=question.superlative)
    return replace(found, covered=len((covered | filtered) & said)) if found is not None else None


def calculate(
    operation: Operation, grid: Grid, column: int, chosen: Sequence[int], *, called: str = ""
) -> Computed | None:
    """Compute the highest, lowest, sum or average of a column over some rows; None if some cells can't be compared.

    `called` is the word for the highest or lowest.
    """
    numbers = {row: number for row in chosen if (number := _number(grid.rows[row][column])) is not None}
    filled = [row for row in chosen if grid.rows[row][column].strip(" -–—")]
    if len(numbers) < len(filled) or not numbers or len({unit for _, unit in numbers.values()}) > 1:
        return None
    value, rows = _run(operation, {row: value for row, (value, _) in numbers.items()})
    text = _say(operation, called or operation.value, grid, column, value, rows, len(numbers))
    return Computed(text=text, rows=rows, covered=0)


def _count(
    question: TableQuestion, said: frozenset[str], grid: Grid, chosen: Sequence[int], filtered: frozenset[str]
) -> Computed | None:
    """Count rows, if they are what the question counts: not if a column of figures does ("how many passengers")."""
    if any(question.entity in _names(column) for column in grid.columns[1:]):
        return None
    labels, title = _names(grid.columns[0]), [*_stems(words(grid.title))]
    is_counted = question.entity in labels or title[:1] == [question.entity]
    known = labels | filtered | _names(f"{grid.title} {grid.about}")
    if not is_counted or said - known or not chosen:
        return None
    text = f"{len(chosen)} {'row' if len(chosen) == 1 else 'rows'}{_of(grid)}"
    return Computed(text=text, rows=tuple(chosen), covered=len(said & (labels | filtered)))


def _cell(question: TableQuestion, grid: Grid) -> Computed | None:
    """Answer with one cell, if the question names a row and a column."""
    said = frozenset(question.said)
    labels = [(row, cells) for row in range(len(grid.rows)) if (cells := _labels(grid.rows[row], said))]
    if not labels:
        return None
    most = max(len(cells) for _, cells in labels)
    best = [(row, cells) for row, cells in labels if len(cells) == most]
    named = {place: own for place, name in enumerate(grid.columns) if (own := _names(name)) and own <= said}
    about = _names(f"{grid.title} {grid.about}")
    found: list[tuple[int, int, frozenset[str]]] = []
    for row, cells in best:
        places = [place for place in named if not _labelled(grid.rows[row][place], cells)]
        if not places and len(grid.columns) == 2:
            places, own = [1], _names(" ".join(grid.columns))
        else:
            own = frozenset[str]()
        for place in places:
            covered = cells | named.get(place, frozenset()) | own
            if not said - covered - about and grid.rows[row][place].strip():
                found.append((row, place, covered))
    if not found:
        return None
    longest = max(len(covered) for _, _, covered in found)
    first, *others = [item for item in found if len(item[2]) == longest]
    if others:
        return None  # two cells fit
    row, place, covered = first
    label = next(cell for cell in grid.rows[row] if _labelled(cell, covered))
    text = f"{grid.rows[row][place].strip()} ({grid.columns[place].strip()}, {label.strip()})"
    return Computed(text=text, rows=(row,), covered=len(covered & said))


def _labels(cells: Sequence[str], said: frozenset[str]) -> frozenset[str]:
    """The words of a row's labels that are all in the question."""
    return frozenset(word for cell in cells if _labelled(cell, said) for word in _stems(words(cell)))


def _labelled(cell: str, said: frozenset[str]) -> bool:
    own = frozenset(_stems(word for word in words(cell) if word not in STOPWORDS))
    return bool(own) and own <= said and any(any(map(str.isalpha, word)) for word in own)


def plain_rows(grid: Grid) -> list[int]:
    """Return the rows without those of totals."""
    return [row for row, cells in enumerate(grid.rows) if not _SUMMARY_ROW.match(cells[0].strip())]


def _filter(said: frozenset[str], grid: Grid) -> tuple[list[int], frozenset[str]]:
    """Return the rows that the question is limited to, without rows of totals, and the words that limit it."""
    plain = plain_rows(grid)
    named = {row: _labels(grid.rows[row], said) for row in plain}
    words_of = frozenset(word for labels in named.values() for word in labels)
    fitting = [row for row in plain if words_of and named[row] == words_of]
    return (fitting, words_of) if fitting else (plain, frozenset())


def _measure(
    question: TableQuestion, said: frozenset[str], grid: Grid, rows: Sequence[int]
) -> tuple[int, frozenset[str]] | None:
    """Return the column that is compared, and the words of the question that name it."""
    numeric = [
        place for place in range(len(grid.columns)) if any(_number(grid.rows[row][place]) is not None for row in rows)
    ]
    if question.superlative in _IN_TIME:
        numeric = [place for place in numeric if all(_YEAR.fullmatch(grid.rows[row][place].strip()) for row in rows)]
    named = [(place, own & said) for place in numeric if (own := _names(grid.columns[place])) & said]
    whole = [item for item in named if _names(grid.columns[item[0]]) <= said]
    compared = _COMPARED.get(question.superlative, frozenset())
    best = whole or named or [(place, frozenset[str]()) for place in numeric if _names(grid.columns[place]) & compared]
    if not best and len(numeric) == 1:
        return numeric[0], frozenset()
    if not best:
        return None
    most = max(len(covered) for _, covered in best)
    first, *others = [item for item in best if len(item[1]) == most]
    return None if others else first


def _run(operation: Operation, numbers: Mapping[int, float]) -> tuple[float, tuple[int, ...]]:
    """Return the result, and the rows that it rests on."""
    if operation in (Operation.SUM, Operation.AVERAGE):
        total = fsum(numbers.values())
        return (total if operation is Operation.SUM else total / len(numbers)), tuple(numbers)
    value = max(numbers.values()) if operation is Operation.HIGHEST else min(numbers.values())
    return value, tuple(row for row, number in numbers.items() if number == value)


def _say(
    operation: Operation, called: str, grid: Grid, column: int, value: float, rows: Sequence[int], compared: int
) -> str:
    name, cells = grid.columns[column].strip(), [grid.rows[row][column].strip() for row in rows]
    if operation in (Operation.HIGHEST, Operation.LOWEST):
        labels = ", ".join(grid.rows[row][0].strip() for row in rows)
        return f"{labels} ({name} {cells[0]}, the {called} of {compared}{_of(grid)})"
    added = " + ".join(cells) if len(cells) <= MOST_ADDED else f"all {len(cells)} rows"
    digits = max((len(cell.partition(".")[2].rstrip(")% ")) for cell in cells), default=0)
    if operation is Operation.SUM:
        return f"{value:,.{digits}f} ({name}, sum{_of(grid)}: {added})"
    return f"{value:,.{digits + 2}f} ({name}, average{_of(grid)}: {added}, divided by {len(cells)})"


def _of(grid: Grid) -> str:
    return f" in “{grid.title}”" if grid.title else ""


def sorted_rows(grid: Grid, column: int, chosen: Sequence[int], *, falling: bool) -> list[int]:
    """Return rows by a column: numbers by value, others by their text, empty cells last."""

    def key(row: int) -> tuple[float, str]:
        cell = grid.rows[row][column].strip()
        number = _number(cell)
        return (number[0], "") if number is not None else (0.0, cell.casefold())

    filled = [row for row in chosen if grid.rows[row][column].strip()]
    return [*sorted(filled, key=key, reverse=falling), *(row for row in chosen if row not in set(filled))]


def _number(cell: str) -> tuple[float, str] | None:
    """Return a cell's number and its unit, as written around it; None for another cell."""
    found = _NUMBER.fullmatch(cell.strip())
    if found is None:
        return None
    value = float(found["digits"].replace(",", ""))
    unit = f"{found['before']} {found['after'].strip(' )')}".strip().casefold()
    return (-value if found["minus"] else value), unit


def _names(text: str) -> frozenset[str]:
    return frozenset(_stems(words(text)))


def _stems(said: Iterator[str] | Sequence[str]) -> Iterator[str]:
    return (stem(word.casefold()) for word in said)
