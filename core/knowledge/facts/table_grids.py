"""Tables as grids of cells: their numbers with units, the words that name rows and columns. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from core.knowledge.facts.table_words import MONTHS, QUANTITIES, ROOT, Quantity, is_like, names, spoken
from core.text.words import words

DATE = "date"  # the unit of dates
NUMBER = re.compile(
    r"(?P<minus>[-\u2212(]?) ?(?P<before>[^\d\s.,()-]{0,3}) ?(?P<digits>\d[\d,]*(?:\.\d+)?)(?P<close>\)?)"
    r"(?P<after>\D{0,12})"
)
_ZEROS = frozenset({"none", "nil"})
_ISO = re.compile(r"((?:1[4-9]|20)\d\d)-(\d\d)-(\d\d)")
IN_BRACKETS = re.compile(r"[(\[]([^()\[\]]{0,80})[)\]]")
SUMMARY_ROW = re.compile(r"(?:grand |sub)?-?totals?\b|sum\b|all\b|average\b|mean\b|overall\b", re.IGNORECASE)
_NOTES = re.compile(r"\([^()]{0,80}\)|, net\b.*")  # of a label: "Receivables, net (1)"


@dataclass(frozen=True, slots=True)
class Number:
    value: float
    unit: str  # as written around it
    is_charge: bool = False  # in brackets, as accounts write costs


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A whole table: `rows` of cells as written, `about` the words of its title and document."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    about: str = ""
    weight: int = 0  # of several tables, those with more are believed: statements

    @cached_property
    def numbers(self) -> Sequence[Sequence[Number | None]]:
        return [[read_number(cell) for cell in row] for row in self.rows]

    @cached_property
    def labels(self) -> Sequence[Sequence[frozenset[str]]]:
        """The words of each cell that can name its row: not of figures, except in the first column."""
        return [
            [
                _label(cell) if place == 0 or self.numbers[row][place] is None else frozenset[str]()
                for place, cell in enumerate(cells)
            ]
            for row, cells in enumerate(self.rows)
        ]

    @cached_property
    def days(self) -> Sequence[date | None]:
        """The date in the first cell of each row, or None; figures for whole years have no dates."""
        firsts = [row[0] if row else None for row in self.numbers]
        found = [date.fromordinal(int(first.value)) if first and first.unit == DATE else None for first in firsts]
        known = [day for day in found if day is not None]
        is_yearly = len({day.month for day in known}) == 1 and len({day.year for day in known}) == len(known)
        return [None] * len(found) if is_yearly else found

    @cached_property
    def headings(self) -> Sequence[frozenset[str]]:
        """The words of the heading above each row: a row with nothing but a label."""
        above, found = self.names[0], list[frozenset[str]]()
        for cells in self.rows:
            if cells and cells[0].strip() and not any(cell.strip() for cell in cells[1:]):
                above = names(cells[0])
            found.append(above)
        return found

    @cached_property
    def names(self) -> Sequence[frozenset[str]]:
        return [names(column) for column in self.columns]

    @cached_property
    def quantities(self) -> Sequence[Sequence[Quantity]]:
        """The kinds of quantity of each column, by the unit of its name or cells, or by the words of its name."""
        return [list(_quantities(self, place)) for place in range(len(self.columns))]

    def says_quantity(self, place: int) -> bool:
        """Return whether a column's own name is a measure: "Length"."""
        return any(self.names[place] & quantity.words for quantity in self.quantities[place])

    @cached_property
    def is_numeric(self) -> Sequence[bool]:
        return [any(row[place] is not None for row in self.numbers) for place in range(len(self.columns))]

    def label_of(self, row: int) -> str:
        """Return a row's name: its cell of the column "Name", else its first one."""
        place = next((place for place, own in enumerate(self.names) if own == {"name"}), 0)
        return self.rows[row][place].strip()

    @cached_property
    def known(self) -> frozenset[str]:
        """Words that say nothing about rows: of the title, the document, and the first column."""
        return names(f"{self.title} {self.about}") | self.names[0]

    def may_have(self, said: frozenset[str]) -> bool:
        """Return whether the beginnings of all words are somewhere in the table: cheap, before it is read."""
        text = "\n".join([self.title, self.about, *map(spoken, self.columns), *map("\t".join, self.rows)]).casefold()
        if _ISO.search(text):
            said = frozenset(word for word in said if word not in MONTHS)  # dates have the numbers of their months
        return all(word[:ROOT] in text or (word.isdigit() and len(word) < ROOT) for word in said)  # "3" of "2-4"

    def explains(self, said: frozenset[str]) -> frozenset[str]:
        """Return the words that the title, the document or the first column has."""
        parts = [word for word in self.known if len(word) > 3 and not word.isdigit()]
        return frozenset(
            word
            for word in said
            if any(is_like(word, own) for own in self.known)
            or (len(word) > 2 and any(word in own for own in parts))  # "500" of "sp500-figures"
        )

    def named(self, place: int, said: frozenset[str]) -> frozenset[str]:
        """Return the words that name a column, or speak of its kind of quantity."""
        own = self.names[place].union(*(quantity.words for quantity in self.quantities[place]))
        return frozenset(word for word in said if any(is_like(word, name) for name in own))


def read_number(cell: str) -> Number | None:
    """Return a cell's number, or date; None for another cell."""
    text = cell.strip()
    if text.casefold() in _ZEROS:
        return Number(0.0, "")
    if (day := _ISO.fullmatch(text)) is not None:
        try:
            return Number(date(*map(int, day.groups())).toordinal(), DATE)
        except ValueError:
            return None
    found = NUMBER.fullmatch(text)
    if found is None:
        return None
    value = float(found["digits"].replace(",", ""))
    unit = f"{found['before'].strip()} {found['after'].strip(' )')}".strip().casefold()
    return Number(-value if found["minus"] else value, unit, found["minus"] == "(" and bool(found["close"]))


def _label(cell: str) -> frozenset[str]:
    """Return the words by which a cell names its row; of a date, its year."""
    day = _ISO.fullmatch(cell.strip())
    return frozenset({day[1]}) if day is not None else names(_NOTES.sub(" ", cell)) or names(cell)


def _quantities(grid: Grid, place: int) -> Iterator[Quantity]:
    bracketed = " ".join(IN_BRACKETS.findall(grid.columns[place])).casefold().split()
    said = {*bracketed, *words(spoken(grid.columns[place]))}
    units = {number.unit for row in grid.numbers if (number := row[place]) is not None}
    by_name = [quantity for quantity in QUANTITIES if grid.names[place] & quantity.words]
    for quantity in by_name or QUANTITIES:
        if by_name or quantity.units & ({*bracketed} | units) or (quantity.units & said and not units - {""}):
            yield quantity


def is_one_unit(units: Iterable[str]) -> bool:
    """Return whether units are one: accounts write the sign of a currency only in the first and last row."""
    found = set(units)
    return len(found) == 1 or (len(found) == 2 and "" in found and bool(found & set("$€£¥")))


def plain_rows(grid: Grid) -> list[int]:
    """Return the rows without totals: by their label, or figures without any word."""
    return [
        row
        for row, cells in enumerate(grid.rows)
        if not SUMMARY_ROW.match(cells[0].strip())
        and (cells[0].strip() or any(cell.strip() and grid.numbers[row][at] is None for at, cell in enumerate(cells)))
    ]


def sorted_rows(grid: Grid, column: int, chosen: Sequence[int], *, falling: bool) -> list[int]:
    """Return rows by a column: numbers by value, others by their text, empty cells last."""

    def key(row: int) -> tuple[float, str]:
        number = grid.numbers[row][column]
        return (number.value, "") if number is not None else (0.0, grid.rows[row][column].strip().casefold())

    filled = [row for row in chosen if grid.rows[row][column].strip()]
    return [*sorted(filled, key=key, reverse=falling), *(row for row in chosen if row not in set(filled))]
