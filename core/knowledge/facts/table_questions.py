"""Questions that one table answers: a cell, the highest or lowest, a sum, an average, a count, a difference. Pure.

A question is computed only if a table accounts for all its words; in doubt there is no result. A table is tried as it
is, then with its columns as rows: "in which year were repairs the highest?"
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

from core.knowledge.facts.table_grids import (
    DATE,
    IN_BRACKETS,
    SUMMARY_ROW,
    Grid,
    Number,
    is_one_unit,
    plain_rows,
)
from core.knowledge.facts.table_results import (
    Computed,
    calculate,
    count_digits,
    grid_value,
    is_comparable,
    list_rows,
    title_phrase,
    with_unit,
)
from core.knowledge.facts.table_shapes import YEAR
from core.knowledge.facts.table_words import (
    MONTHS,
    QUANTITIES,
    SHORT_MONTHS,
    Operation,
    TableQuestion,
    is_like,
    names,
    operation_of,
    quantities_called,
)
from core.text.words import words

MOST_COLUMNS = 40  # of a table whose columns are read as rows
_YES, _NO = frozenset({"yes", "y", "true", "x", "✓"}), frozenset({"no", "n", "false", "", "-", "–"})
_OF_PERIODS = re.compile(rf"years?|ended|ending|as|at|of|on|for|the|fiscal|fy|(?:{'|'.join(SHORT_MONTHS)})[a-z]{{0,6}}")
_MEASURED = re.compile(r"\d ?([^\W\d_]{1,12}|°[cCfF]|[€£$¥])")  # a figure and its unit: "30 feet"
_RANGE = re.compile(r"(\d{1,4}) ?[-–] ?(\d{1,4})")


def compute(question: TableQuestion, grid: Grid) -> Computed | None:
    """Answer a question from one table, or return None if the table doesn't account for all its words."""
    if len(grid.columns) < 2 or not grid.rows or not grid.may_have(question.distinct):
        return None
    reading = _Reading(question, grid)
    if (found := reading.answer()) is not None:
        return replace(found, is_exact=reading.is_exact)
    turned = _turned(question, grid) if question.operation not in _OF_ROWS else None
    if turned is None:
        return None
    reading = _Reading(question, turned, is_turned=True)
    found = reading.answer()
    if found is None or reading.column is None:
        return None
    return replace(found, rows=(reading.column - 1,))  # the column was a row


def may_answer(question: TableQuestion, grid: Grid, *, in_full: bool) -> bool:
    """Return whether quoted rows can answer a question, without computing.

    They need a word of the question; `in_full`, and with a quantity that no column, cell or unit has ("how fast"), all.
    """
    own = frozenset[str]().union(*(names(cell) for row in grid.rows for cell in row))
    left = question.needed - own
    left -= frozenset[str]().union(*(grid.named(place, left) for place in range(len(grid.columns))))
    units = {found[1].casefold() for row in grid.rows for cell in row for found in _MEASURED.finditer(cell)}
    left -= frozenset[str]().union(*(quantity.words for quantity in QUANTITIES if quantity.units & units))
    lacks_quantity = any(quantity.words & left for quantity in QUANTITIES)
    left -= grid.explains(left)
    if not any(question.entity in quantity.words for quantity in QUANTITIES):
        left -= {question.entity}  # "which tool cuts": a row need not say so
    if question.is_computed:
        return False
    return not left or (not in_full and not lacks_quantity and len(left) < len(question.needed))


_OF_ROWS = (Operation.COUNT, Operation.ROWS, Operation.VALUE)
_OF_PAIRS = (Operation.SUM, Operation.AVERAGE, Operation.HIGHEST, Operation.LOWEST)


def _turned(question: TableQuestion, grid: Grid) -> Grid | None:
    """Return a table of figures with its columns as rows; None if there are no figures to compare so.

    Of columns of years, only one kind counts: not the notes, and not the percentages.
    """
    if len(grid.columns) > MOST_COLUMNS or len(grid.rows) > 10 * MOST_COLUMNS:
        return None
    places = _columns_of_years(grid) or range(1, len(grid.columns))
    if not all(grid.is_numeric[place] for place in places):
        return None
    heads = [IN_BRACKETS.sub(" ", grid.columns[place]).strip() for place in places]
    years = [found[0] for head in heads if (found := YEAR.search(head)) is not None]
    are_years = len(years) == len(heads) == len(set(years)) and len({_beside_year(head) for head in heads}) == 1
    units = {" ".join(IN_BRACKETS.findall(grid.columns[place])) for place in places}
    are_alike = are_years or bool(question.pairs or question.ends) or (len(units) == 1 and "" not in units)
    if question.operation in (Operation.SUM, Operation.AVERAGE) and not are_alike:
        return None  # passengers and cars don't add up
    return Grid(
        title=grid.title,
        about=" ".join((grid.about, *heads)) if are_years else grid.about,
        columns=("Year" if are_years else "", *(row[0] for row in grid.rows)),
        rows=[
            (head, *(row[place] for row in grid.rows))
            for place, head in zip(places, years if are_years else heads, strict=True)
        ],
    )


def _columns_of_years(grid: Grid) -> Sequence[int]:
    """Return the columns that differ only in their year, of the largest group; none if two are as large."""
    groups: dict[str, list[int]] = {}
    for place, column in enumerate(grid.columns):
        if place and YEAR.search(column) is not None:
            groups.setdefault(_beside_year(column), []).append(place)
    first, *others = sorted(groups.values(), key=len, reverse=True) or [[]]
    return first if len(first) > 1 and (not others or len(others[0]) < len(first)) else ()


def _beside_year(column: str) -> str:
    """Return a name without its period: "Budget" of "Budget for the year ended 31 May 2024"."""
    return " ".join(word for word in words(column) if not word.isdigit() and not _OF_PERIODS.fullmatch(word))


class _Reading:
    """A question read over one table; `column` is the one that was compared."""

    def __init__(self, question: TableQuestion, grid: Grid, *, is_turned: bool = False) -> None:
        self.question = question
        self.grid = grid
        self.is_turned = is_turned
        self.said = frozenset(question.said)
        explained = [
            pair for pair in question.letters if any(pair in own for own in grid.known)
        ]  # "S&P" of "sp500.csv"
        self.needed = question.needed - frozenset("".join(explained))
        self.is_exact = True
        self.is_joined = False
        known = {word for row in grid.labels for own in row for word in own}
        starts = {word: word[:4] for word in self.said}
        self._forms = {own: word for own in known for word in starts if own[:4] == starts[word] and is_like(word, own)}
        self.column: int | None = None

    def answer(self) -> Computed | None:
        question = self.question
        if question.operation is not Operation.DIFFERENCE and (cell := self._cell()) is not None:
            return cell
        if question.operation is Operation.VALUE and not question.lists:
            return None
        self.said = self.said - {question.called, *names(question.called)}
        if question.operation is Operation.DIFFERENCE:
            return self._difference()
        rows, covered = self._select(plain_rows(self.grid))
        if question.pairs and question.operation in _OF_PAIRS and question.ends is None:
            rows, covered = self._joined(rows, covered)
        if question.lists and not covered:
            return None
        if question.operation in (Operation.HIGHEST, Operation.LOWEST) and not covered:
            rows, covered = self._in_block(rows)
        rows, covered = self._marked(rows, covered)
        if question.ends is not None and not covered.issuperset(question.ends):
            rows, covered = self._between(rows, covered)
        return self._over(rows, covered)

    def _over(self, rows: Sequence[int], covered: frozenset[str]) -> Computed | None:
        """Answer from rows: as they fit a condition, in the asked order, or computed."""
        question, grid = self.question, self.grid
        column = None
        is_plain = question.lists or question.operation in (Operation.COUNT, Operation.ROWS)
        if question.limit is not None or not is_plain:
            if (measure := self._measure(self.said - covered, rows)) is None:
                return None
            column, covered = measure[0], covered | measure[1]
            self.column = column
        if question.limit is not None and column is not None:
            if not is_comparable(grid, column, rows):
                return None
            rows = [row for row in rows if _holds(question, grid.numbers[row][column])]
        if question.without:
            if not any(question.without in cell for row in rows for cell in grid.labels[row]):
                return None
            rows = [row for row in rows if not any(question.without in cell for cell in grid.labels[row])]
        is_by_chance = not self.is_exact and len(rows) == 1  # "passengers notice" is no kind of passenger
        if question.every and len(rows) != question.every:
            return None
        is_added = question.operation in (Operation.SUM, Operation.AVERAGE) and question.limit is None
        if is_added and len(rows) == 1 < len(plain_rows(self.grid)):
            return None  # nothing to add up
        if not rows or is_by_chance or not self._accounts(covered, rows):
            return None
        own = len(covered & frozenset(question.said)) + self._has_entity()
        if question.operation is Operation.COUNT:
            return self._count(rows, own, covered)
        if question.operation is Operation.ROWS or question.lists:
            return Computed(text=list_rows(grid, rows, column), rows=tuple(rows), covered=own)
        assert column is not None  # nosec B101  # noqa: S101 - measured above
        operation = operation_of(question, grid.quantities[column])
        found = calculate(operation, grid, column, rows, called=question.called, most=question.most)
        if found is None:
            return None
        if self.is_joined and (others := [row for row in rows if row not in found.rows]) and len(rows) == 2:
            said = ", ".join(f"{grid.label_of(row)}: {grid.rows[row][column].strip()}" for row in others)
            found = replace(found, text=f"{found.text}; {said}", rows=tuple(sorted(rows)))  # both sides
        return replace(found, covered=own)

    def _has_entity(self) -> bool:
        """Return whether a column of words, or the title, is named like the thing asked for: "which boat"."""
        columns = zip(self.grid.names, self.grid.is_numeric, strict=True)
        own = names(self.grid.title).union(*(name for name, numeric in columns if not numeric))
        return bool(self.question.entity) and any(is_like(self.question.entity, name) for name in own)

    def _accounts(self, covered: frozenset[str], rows: Sequence[int], *, of_entity: bool = True) -> bool:
        """Return whether nothing that the question says is left over."""
        left = self.said & self.needed - covered
        left -= self.grid.explains(left)
        for place, own in enumerate(self.grid.names):  # "of the Dart class": a column whose cells name the rows
            if any(self._said_of(self.grid.labels[row][place]) & covered for row in rows):
                left = frozenset(word for word in left if not any(is_like(word, name) for name in own))
        if of_entity and self.question.operation is not Operation.COUNT:
            left -= {self.question.entity}
        if self.question.pairs and not self.is_joined and self.question.operation is not Operation.DIFFERENCE:
            joined = any(
                {"and", "or", "&"} & set(cell.casefold().split()) for row in rows for cell in self.grid.rows[row]
            )
            if not joined and not any("and" in column.split() for column in self.grid.columns):
                return False
        return not left or (self.question.operation is Operation.COUNT and left == {self.question.entity})

    def _count(self, rows: Sequence[int], covered: int, labelled: frozenset[str]) -> Computed | None:
        """Count rows, or different cells, if the question counts them, and not figures of a column."""
        grid, entity = self.grid, self.question.entity
        counted = [place for place, own in enumerate(grid.names) if any(is_like(entity, name) for name in own)]
        if any(grid.is_numeric[place] for place in counted if place > 0):
            return None
        in_title = any(is_like(entity, name) for name in names(f"{grid.title} {grid.about}"))
        if not counted and not in_title and entity not in labelled:
            return None
        text = f"{len(rows)} {'row' if len(rows) == 1 else 'rows'}{title_phrase(grid)}"
        if counted:
            found = dict.fromkeys(grid.rows[row][counted[0]].strip() for row in rows)
            shown = ", ".join(found)
            if len(found) < len(rows):
                text = f"{len(found)} ({grid.columns[counted[0]].strip()}{title_phrase(grid)}: {shown})"
        return Computed(text=text, rows=tuple(rows), covered=covered)

    def _select(self, among: Sequence[int]) -> tuple[list[int], frozenset[str]]:
        """Return the rows that the question names by their labels, and the words that name them; all without any."""
        among = [row for row in among if any(cell.strip() for cell in self.grid.rows[row][1:])]  # not headings
        own = {row: frozenset[str]().union(*self._fitting(row)) for row in among}
        most = max((len(cells) for cells in own.values()), default=0)
        if not most:
            return self._select_in_part(among)
        every = frozenset[str]().union(*own.values())
        chosen = [row for row in among if own[row] == every] or [row for row in among if len(own[row]) == most]
        sets = {own[row] for row in chosen}
        if len(sets) > 1:
            return list(among), frozenset()
        under = {row: self.grid.headings[row] & self.said for row in chosen}
        worth = {row: (len(under[row]), -len(self.grid.headings[row] - under[row])) for row in chosen}
        best = max(worth.values())
        if best[0]:  # "Revenue", not "Cost of revenue"
            chosen = [row for row in chosen if worth[row] == best]
        return chosen, next(iter(sets)) | under[chosen[0]]

    def _fitting(self, row: int) -> Iterator[frozenset[str]]:
        """Yield the words of the row's cells that are all in the question; of a date, its month, with it the day."""
        for place, own in enumerate(self.grid.labels[row]):
            is_figure = self.grid.numbers[row][place] is not None
            if own and own <= self._forms.keys() and (not is_figure or place == 0):
                yield frozenset(self._forms[word] for word in own) & self.said
        if (day := self.grid.days[row]) is not None:
            months = {word for word in self.said if MONTHS.get(word) == day.month}
            yield frozenset(months.union(word for word in self.said if months and word == str(day.day)))
        if (span := _RANGE.fullmatch(self.grid.rows[row][0].strip())) is not None:
            low, high = map(int, span.groups())
            yield frozenset(word for word in self.said if word.isdecimal() and low <= int(word) <= high)

    def _said_of(self, label: frozenset[str]) -> frozenset[str]:
        return frozenset(self._forms[word] for word in label if word in self._forms)

    def _select_in_part(self, among: Sequence[int]) -> tuple[list[int], frozenset[str]]:
        """Return the one row of whose label the question has a third ("Hallow" of "Great Tern - Hallow"); else all."""
        left = self.said & self.needed
        left -= self.grid.explains(left)
        parts = {
            row: max(((own & left, own) for own in self.grid.labels[row]), key=lambda pair: len(pair[0]))
            for row in among
        }
        most = max((len(said) for said, _ in parts.values()), default=0)
        best = [row for row in among if most and len(parts[row][0]) == most]
        named = frozenset[str]().union(*(self.grid.named(place, left) for place in range(len(self.grid.columns))))
        if len(best) == 1 and not parts[best[0]][0] <= named and most * 3 >= len(parts[best[0]][1]):
            self.is_exact = False
            return best, parts[best[0]][0]
        return list(among), frozenset()

    def _joined(self, rows: Sequence[int], covered: frozenset[str]) -> tuple[list[int], frozenset[str]]:
        """Return all rows that are named: "of 2022 and 2023"."""
        plain = {row: self._said_of(own) for row in plain_rows(self.grid) if (own := self.grid.labels[row][0])}
        named = {row: own for row, own in plain.items() if len(own) == len(self.grid.labels[row][0])}
        ends = {row for pair in self.question.pairs for row, own in named.items() if own & {*pair}}
        if self.question.operation in (Operation.HIGHEST, Operation.LOWEST):
            counts = Counter(word for own in plain.values() for word in own)
            named = {row: own for row, own in plain.items() if any(counts[word] == 1 for word in own)}
            ends = {*named} if len(named) == 2 else set()  # "the northern or the southern road": a word tells them
        if len(ends) < 2 or ends != named.keys():
            return list(rows), covered
        self.is_joined = True
        return list(named), frozenset[str]().union(*named.values())

    def _in_block(self, rows: Sequence[int]) -> tuple[list[int], frozenset[str]]:
        """Return the rows above the total that the question names ("items of expense"), up to the total before."""
        plain = set(plain_rows(self.grid))
        first = 0
        for row, cells in enumerate(self.grid.rows):
            if row in plain:
                continue
            own = names(SUMMARY_ROW.sub("", cells[0].strip(), count=1))
            said = frozenset(word for word in self.said if any(is_like(word, name) for name in own))
            if own and len(said) == len(own):
                return [each for each in rows if first <= each < row], said
            first = row + 1
        return list(rows), frozenset()

    def _has_some(self, place: int, rows: Sequence[int]) -> list[int]:
        """Return the rows with more than nothing in a column of figures; [] for a column of anything else."""
        numbers = {row: self.grid.numbers[row][place] for row in rows}
        empty = {row for row, number in numbers.items() if number is None}
        if any(self.grid.rows[row][place].strip().casefold() not in _NO for row in empty):
            return []
        return [row for row, number in numbers.items() if number is not None and number.value > 0]

    def _marked(self, rows: Sequence[int], covered: frozenset[str]) -> tuple[list[int], frozenset[str]]:
        """Return the rows with a "yes" in a column that the question names: "huts with a warden".

        Of rows that are counted, also those with more than none: "huts with beds".
        """
        is_counted = self.question.operation is Operation.COUNT and self.question.limit is None
        for place, own in enumerate(self.grid.names):
            cells = {self.grid.rows[row][place].strip().casefold() for row in rows}
            said = frozenset(word for word in self.said if any(is_like(word, name) for name in own))
            if said and cells <= _YES | _NO and cells & _YES:
                rows = [row for row in rows if self.grid.rows[row][place].strip().casefold() in _YES]
                covered = covered | said
            elif is_counted and place and said - {self.question.entity} and (some := self._has_some(place, rows)):
                rows, covered = some, covered | said
        return list(rows), covered

    def _between(self, rows: Sequence[int], covered: frozenset[str]) -> tuple[list[int], frozenset[str]]:
        """Return the rows from one label to another: "from January to June"."""
        ends = [names(end) for end in self.question.ends or ()]
        places = [row for end in ends for row in range(len(self.grid.rows)) if self.grid.labels[row][0] == end]
        if len(places) != len(ends):
            return list(rows), covered
        first, last = sorted(places)
        return [row for row in plain_rows(self.grid) if first <= row <= last], covered.union(*ends)

    def _cell(self) -> Computed | None:
        """Answer with one cell, if the question names a row and a column."""
        is_ranked = self.question.operation in (Operation.HIGHEST, Operation.LOWEST)
        rows, covered = self._select(plain_rows(self.grid) if is_ranked else range(len(self.grid.rows)))
        if len(rows) != 1 or not covered or self.question.limit is not None or self.question.without:
            return None
        if is_ranked and not self.is_exact:
            self.is_exact = True
            return None  # of "the most assets", no row about one kind of assets
        row, grid = rows[0], self.grid
        left = self.said - covered
        label = next((place for place, own in enumerate(grid.labels[row]) if self._said_of(own) & covered), 0)
        found = _best(grid, left, [place for place in range(len(grid.columns)) if place != label])
        if found is None and len(grid.columns) == 2 and label == 0:
            found = 1, grid.named(1, left)
        if found is None or not grid.rows[row][found[0]].strip(" $€£%"):
            return None
        place, own = found
        if not self._accounts(covered | own, rows, of_entity=False):
            return None
        text = f"{grid.rows[row][place].strip()} ({grid.columns[place].strip()}, {grid.rows[row][label].strip()})"
        return Computed(text=text, rows=(row,), covered=len((covered | own) & self.said))

    def _difference(self) -> Computed | None:
        """Subtract one cell of a column from another, if the question names the column and two rows."""
        grid, said = self.grid, self.question.said
        labelled = {row: max(self._fitting(row), key=len, default=frozenset[str]()) for row in range(len(grid.rows))}
        found = [row for row, own in labelled.items() if own and not any(own < other for other in labelled.values())]
        if len(found) != 2 or labelled[found[0]] == labelled[found[1]]:
            return None
        first, second = sorted(found, key=lambda row: min(said.index(word) for word in labelled[row]))
        covered = labelled[first] | labelled[second]
        measure = self._measure(self.said - covered, found)
        if measure is None:
            return None
        column, own = measure
        self.column = column
        one, other = grid.numbers[first][column], grid.numbers[second][column]
        if (
            one is None
            or other is None
            or not is_one_unit((one.unit, other.unit))
            or not self._accounts(covered | own, found)
        ):
            return None
        ends = (second, first) if self.question.ends is not None and not self.question.falls else (first, second)
        if self.question.ends is None and one.value < other.value:
            ends = second, first
        cells = [grid.rows[row][column].strip() for row in ends]
        value = abs(grid_value(grid, ends[0], column)) - abs(grid_value(grid, ends[1], column))
        if one.unit == DATE:
            return None
        shown = f"{value:,.{count_digits(cells)}f}"
        formula = " − ".join(f"{cell} ({grid.rows[row][0].strip()})" for cell, row in zip(cells, ends, strict=True))
        name = f"{grid.columns[column].strip()}, difference{title_phrase(grid)}"
        text = f"{with_unit(shown, cells[0])} ({name}: {formula})"
        return Computed(text=text, rows=ends, covered=len((covered | own) & self.said))

    def _measure(self, said: frozenset[str], rows: Sequence[int]) -> tuple[int, frozenset[str]] | None:
        """Return the column that is compared, and the words of the question that name it."""
        grid = self.grid
        if any(is_like(self.question.entity, name) for name in grid.names[0]):
            said = said - {self.question.entity}
        numeric = [
            place for place in range(1, len(grid.columns)) if any(grid.numbers[row][place] is not None for row in rows)
        ]
        called = [*quantities_called(self.question.called)]
        compared = [place for place in numeric if any(each in called for each in grid.quantities[place])]
        meant = [place for place in compared if grid.says_quantity(place)]
        if len(meant) == 1 and not grid.named(meant[0], said) and _best(grid, said, compared) is None:
            return meant[0], frozenset()  # "longest" of "Duration"
        if (found := _best(grid, said, compared) or _best(grid, said, numeric)) is not None:
            column, own = found
            is_participle = any(word.endswith("ed") and is_like(word, grid.columns[column].casefold()) for word in own)
            return column, own | (self.question.nouns if is_participle else frozenset())
        if self.is_turned or any(grid.named(place, said) for place in numeric):
            return None  # none or several are named
        compared = [place for place in compared if grid.says_quantity(place)] or compared
        if not compared and not called:
            compared = [
                place for place in numeric if any(n and n.unit != DATE for n in (grid.numbers[r][place] for r in rows))
            ]
        return (compared[0], frozenset()) if len(compared) == 1 else None


def _best(grid: Grid, said: frozenset[str], places: Sequence[int]) -> tuple[int, frozenset[str]] | None:
    """Return the column that most words name, with the fewest other words in its name; None for two or none."""
    named = [(place, own) for place in places if (own := grid.named(place, said))]
    if not named:
        return None

    def worth(item: tuple[int, frozenset[str]]) -> tuple[int, bool, int]:
        place, own = item
        return len(own), grid.says_quantity(place), -len(grid.names[place] - own)

    first, *others = sorted(named, key=worth, reverse=True)
    return None if others and worth(others[0]) == worth(first) else first


def _holds(question: TableQuestion, number: Number | None) -> bool:
    if number is None or question.limit is None:
        return False
    value = date.fromordinal(int(number.value)).year if number.unit == DATE else number.value
    return question.limit.holds(value)
