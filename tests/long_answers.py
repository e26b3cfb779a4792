"""Answers as long models write them, for tests that deliver many: headings, tables, code, lists, scripts, footnotes.

Each word stands once in an answer, so that a test sees which are lost. `random_answer(seed)` is always the same.
"""

import random
import re
from collections.abc import Iterator, Sequence

from core.domain.answer import Answer
from tests.builders import build_citation
from tests.unit.bot.any_answers import build_answer

ALPHABETS = (
    "abcdefghijklmnop",
    "אבגדהוזחטיכלמנס",
    "日月火水木金土人口山川田目耳手足",
    "กขคงจฉชซญดตถทนบป",
    "абвгдежзиклмнопр",
)
MOST_NOTES = 60
_NOTE = re.compile(r"\[\d+\]")


def random_answer(seed: int) -> Answer:
    chance = random.Random(seed)
    return _Writer(chance).answer()


def words_of(answer: Answer) -> list[str]:
    """The words that have to be delivered, in their order."""
    return re.findall(r"x[^\W_]+x", _NOTE.sub(" ", answer.text))


class _Writer:
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._count = 0
        self._alphabet = chance.choice(ALPHABETS)
        self._notes = chance.choice((0, 1, 3, 12, MOST_NOTES))

    def answer(self) -> Answer:
        kinds = (self._prose, self._headings, self._table, self._wide_table, self._code, self._list, self._rules)
        pieces = [piece for _ in range(self._chance.randint(1, 6)) for piece in self._chance.choice(kinds)()]
        documents = self._chance.choice((1, 3, MOST_NOTES))
        citations = tuple(
            build_citation(f"d{number % documents}", number=number, document_title=f"Guide {number % documents}")
            for number in range(1, self._notes + 1)
        )
        return build_answer("\n\n".join(pieces), citations=citations)

    def _word(self) -> str:
        """A word that no other place of the answer has: its number in letters of the answer's script."""
        self._count += 1
        number, letters = self._count, ""
        while number:
            number, digit = divmod(number, len(self._alphabet))
            letters += self._alphabet[digit]
        return f"x{letters}x"

    def _words(self, count: int) -> str:
        return " ".join(self._word() for _ in range(count))

    def _note(self) -> str:
        return f"[{self._chance.randint(1, self._notes)}]" if self._notes and self._chance.random() < 0.5 else ""

    def _sentences(self, count: int) -> str:
        return " ".join(f"{self._words(self._chance.randint(3, 14))}{self._note()}." for _ in range(count))

    def _prose(self) -> Iterator[str]:
        yield from (self._sentences(self._chance.randint(1, 8)) for _ in range(self._chance.choice((1, 4, 25))))

    def _headings(self) -> Iterator[str]:
        for _ in range(self._chance.choice((2, 12, 70))):
            yield f"{'#' * self._chance.randint(1, 5)} {self._words(3)}"
            yield self._sentences(1)

    def _rows(self, rows: int, columns: int) -> str:
        lines: Sequence[str] = [f"| {' | '.join(self._word() for _ in range(columns))} |" for _ in range(rows)]
        return "\n".join([lines[0], "|" + "---|" * columns, *lines[1:]])

    def _table(self) -> Iterator[str]:
        yield self._rows(self._chance.choice((3, 9, 120)), self._chance.randint(2, 6))

    def _wide_table(self) -> Iterator[str]:
        yield self._rows(self._chance.choice((4, 40, 500)), 30)

    def _code(self) -> Iterator[str]:
        lines = "\n".join(self._words(5) for _ in range(self._chance.choice((2, 30, 200))))
        yield f"```python\n{lines}\n```"

    def _list(self) -> Iterator[str]:
        yield "\n".join(f"- {self._sentences(1)}" for _ in range(self._chance.choice((3, 20, 80))))

    def _rules(self) -> Iterator[str]:
        for _ in range(self._chance.choice((2, 15, 40))):
            yield self._sentences(1)
            yield "---"
