"""Every pattern takes time in proportion to the text, whatever the text: it may come from anyone.

The hostile texts are made from the patterns themselves: what a pattern repeats, many times, in the surroundings that it
asks for, and then something that it can't match. The growth is measured, not the time, so that slow machines pass.
"""

import ast
import importlib
import math
import pkgutil
import re
import re._parser as parser  # type: ignore[import-not-found] # the tree of a pattern, from Python 3.11 on
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice, pairwise
from time import process_time
from types import ModuleType
from typing import Any

import pytest

import bot
import core
import storage
from core.access.positions import statements
from core.knowledge import covering
from core.service.commands import settings

PACKAGES = (bot, core, storage)
SIZES = (2, 4, 6, 8, 10, 12, 16, 20, 24, *(48 * 2**step for step in range(9)))  # repetitions: small ones for the worst
MOST_CHARACTERS = 16_000
ENOUGH_SECONDS = 0.01  # where the growth is measured; a linear pattern hardly ever takes as long
REPEATS = 9  # the shortest of so many: what else the machine does is no growth
CONFIRMATIONS = 3  # of a growth that is too steep
STEEPEST = 1.5  # exponent of the growth: 1 is linear, 2 quadratic
# Patterns of documents run in the reading child, whose limit on time ends a slow one.
IN_CHILD = ("storage.documents.",)
# Patterns that the code gives only short texts, of at most so many characters.
SHORT_TEXTS = {
    "core.access.positions.statements._SO_FAR": statements.LONGEST,
    "core.access.positions.statements._ALL_OF_IT": statements.LONGEST,
    "core.access.positions.statements._LAST_TWO": statements.LONGEST,
    "core.knowledge.covering._CHANGED": covering.LONGEST,
    "core.knowledge.covering._TOPIC": covering.LONGEST,
    "core.service.commands.settings._PLAIN": settings.LONGEST_PLAIN,
}
# Collections of patterns that are matched from the start of a text alone.
FROM_START = ("bot.slackbot.events.command_text._FITTING", "core.text.everyday._COMPILED")
FEW = 30  # a repetition with a smaller limit can't grow much
# Characters that classes often hold; each class is tried with those of them that it does hold.
TRIED = " \ta0A.,:;-_*'\"“|[](){}<>/\\#@!?=&%\n\x00é中𝔸"
FAILING = ("", "\x00", "\n", "a")
SCANNING = frozenset({"search", "finditer", "findall", "sub", "subn", "split"})


def modules() -> Iterator[ModuleType]:
    for package in PACKAGES:
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__") and ".migrations." not in found.name:
                yield importlib.import_module(found.name)


def patterns_in(value: object, depth: int = 3) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif depth and isinstance(value, Mapping):
        for item in [*value.keys(), *value.values()]:
            yield from patterns_in(item, depth - 1)
    elif depth and isinstance(value, tuple | list | set | frozenset):
        for item in value:
            yield from patterns_in(item, depth - 1)
    elif depth and hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        for name in value.__dataclass_fields__:
            yield from patterns_in(getattr(value, name, None), depth - 1)


@cache
def all_patterns() -> dict[str, re.Pattern[str]]:
    """All patterns of the modules, by module and name."""
    found: dict[str, re.Pattern[str]] = {}
    seen: set[int] = set()
    for module in modules():
        for name, value in vars(module).items():
            for number, pattern in enumerate(patterns_in(value)):
                if id(pattern) not in seen:
                    seen.add(id(pattern))
                    found[f"{module.__name__}.{name}" + (f"[{number}]" if number else "")] = pattern
    return found


@cache
def methods() -> dict[str, set[str]]:
    """The methods that the code calls on each name, such as `_WORD.finditer`."""
    used: dict[str, set[str]] = {}
    for module in modules():
        with open(str(module.__file__), encoding="utf-8") as file:
            for node in ast.walk(ast.parse(file.read())):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    used.setdefault(f"{module.__name__}.{node.value.id}", set()).add(node.attr)
    return used


def work_of(name: str, pattern: re.Pattern[str]) -> Callable[[str], object]:
    """How the code uses a pattern: at the start of a text alone, or anywhere in it."""
    used = methods().get(name, set())
    if name.startswith(FROM_START) or (used & {"match", "fullmatch"} and not used & SCANNING):
        return lambda text: (pattern.match(text), pattern.fullmatch(text))
    return lambda text: deque(pattern.finditer(text), maxlen=0)


def characters(items: Iterable[tuple[Any, Any]]) -> list[str]:
    """Characters that a class holds: those usually tried, and its own first ones."""
    items = list(items)
    own = [
        chr(value if str(kind) == "LITERAL" else value[0]) for kind, value in items if str(kind) in ("LITERAL", "RANGE")
    ]
    compiled = re.compile(_source(items))
    return [sign for sign in dict.fromkeys([*own[:4], *TRIED]) if compiled.match(sign)][:6]


_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d", "CATEGORY_NOT_DIGIT": r"\D", "CATEGORY_SPACE": r"\s", "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w", "CATEGORY_NOT_WORD": r"\W",
}  # fmt: skip


def _source(items: list[tuple[Any, Any]]) -> str:
    """The source of a class."""
    parts = []
    for kind, value in items:
        match str(kind):
            case "LITERAL":
                parts.append(re.escape(chr(value)))
            case "RANGE":
                parts.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
            case "CATEGORY":
                parts.append(_CATEGORIES[str(value)])
    negated = any(str(kind) == "NEGATE" for kind, _ in items)
    return f"[{'^' if negated else ''}{''.join(parts)}]"


def samples(tree: Any, groups: dict[int, str], most: int = 8) -> list[str]:
    """A few texts that a part of a pattern matches, as far as they are found without search."""
    found = [""]
    for kind, value in tree:
        ends = list(islice(samples_of(str(kind), value, groups), most))
        found = [start + end for start in found[:3] for end in (ends or [""])][:most]
    return found


def samples_of(kind: str, value: Any, groups: dict[int, str]) -> Iterator[str]:
    match kind:
        case "LITERAL":
            yield chr(value)
        case "NOT_LITERAL":
            yield from (sign for sign in TRIED if ord(sign) != value)
        case "IN":
            yield from characters(value)
        case "ANY":
            yield from 'a 0"'
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            for sample in samples(value[2], groups):
                yield sample * max(value[0], 1 if value[1] else 0)
        case "SUBPATTERN":
            for sample in samples(value[3], groups):
                if value[0] is not None:
                    groups.setdefault(value[0], sample)
                yield sample
        case "ATOMIC_GROUP":
            yield from samples(value, groups)
        case "BRANCH":
            for branch in value[1]:
                yield from samples(branch, groups, 3)
        case "GROUPREF":
            yield groups.get(value, "")
        case "ASSERT" if value[0] > 0:
            yield ""
        case _:
            yield ""


def repeats(tree: Any, before: str, groups: dict[int, str]) -> Iterator[tuple[str, str]]:
    """Each unbounded repetition: a text in front of it, and a text that it repeats."""
    for kind, value in tree:
        match str(kind):
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                if value[1] > FEW:
                    for sample in samples(value[2], groups):
                        yield before, sample
                yield from repeats(value[2], before, groups)
            case "SUBPATTERN":
                yield from repeats(value[3], before, groups)
            case "ATOMIC_GROUP":
                yield from repeats(value, before, groups)
            case "BRANCH":
                for branch in value[1]:
                    yield from repeats(branch, before, groups)
            case "ASSERT" | "ASSERT_NOT":
                yield from repeats(value[1], before, groups)
        before += next(iter(islice(samples_of(str(kind), value, groups), 1)), "")


def attacks(pattern: re.Pattern[str]) -> list[tuple[str, str, str]]:
    """Texts to try: (beginning, what is repeated, end)."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    groups: dict[int, str] = {}
    found: dict[tuple[str, str], None] = {}
    for before, sample in repeats(tree, "", groups):
        if sample:
            found |= dict.fromkeys([("", sample), (before, sample), ("\n", sample), ("", before + sample)])
    for whole in samples(tree, groups)[:2]:  # the beginning of a match again and again
        found |= dict.fromkeys([("", whole[:1]), ("", whole)] if whole else [])
    return [(before, sample, end) for before, sample in found for end in FAILING if sample]


def growth(work: Callable[[str], object], before: str, sample: str, end: str) -> float:
    """The exponent with which the time grows; 0 if there is hardly any."""
    for smaller, size in pairwise(SIZES):
        if size * len(sample) > MOST_CHARACTERS:
            return 0.0
        longer = before + sample * size + end
        if all(seconds(work, longer) > ENOUGH_SECONDS for _ in range(REPEATS)):
            shorter = before + sample * smaller + end
            took = [(seconds(work, shorter), seconds(work, longer)) for _ in range(REPEATS)]
            grown = min(pair[1] for pair in took) / max(min(pair[0] for pair in took), 1e-9)
            return math.log(grown) / math.log(size / smaller)
    return 0.0


def seconds(work: Callable[[str], object], text: str) -> float:
    begun = process_time()
    work(text)
    return process_time() - begun


def steepness_of(work: Callable[[str], object], before: str, sample: str, end: str) -> float:
    """The growth, the least of several measurements if the first is steep: a busy machine may feign it once."""
    steepness = growth(work, before, sample, end)
    again = CONFIRMATIONS if steepness > STEEPEST else 0
    return min([steepness, *(growth(work, before, sample, end) for _ in range(again))])


def faults_of(name: str, pattern: re.Pattern[str]) -> str | None:
    """Return why a pattern is too slow, with the text that shows it."""
    work = work_of(name, pattern)
    for before, sample, end in attacks(pattern):
        steepness = steepness_of(work, before, sample, end)
        if steepness > STEEPEST:
            return f"{name}: {before!r} + {sample!r} * n + {end!r} takes n ** {steepness:.1f}: {pattern.pattern!r}"
    return None


def test_all_patterns_are_found() -> None:
    names = set(all_patterns())

    assert len(names) > 550
    assert {"core.text.words._BLANKS", "bot.presentation.markdown.inline._LINK"} & names
    assert set(SHORT_TEXTS) <= names


@pytest.mark.slow
def test_every_pattern_that_sees_the_text_of_people_is_linear() -> None:
    exempt = (*IN_CHILD, *SHORT_TEXTS)
    tried = {name: pattern for name, pattern in all_patterns().items() if not name.startswith(exempt)}

    assert [fault for name, pattern in tried.items() if (fault := faults_of(name, pattern))] == []


# Patterns of documents that are linear though they have the limits of the child.
LINEAR_IN_CHILD = (
    "books.chapters._LINE",
    "extractors.api_specs._AFTER",
    "foundry.links._FILE",
    "foundry.links._OPTION",
    "html.text._MARKUP",
    "meetings.action_items._CLOSING",
    "meetings.action_items._DATE_SIGN",
    "meetings.action_items._STATE",
    "meetings.action_items._TICK",
    "meetings.lines._HEADING",
    "meetings.lines._WIKI_HEADING",
    "meetings.people._NOTE",
    "meetings.record._ISSUE_LINK",
    "pdf.rows._FIGURE",
    "readers.channel_export._MENTION",
    "readers.markdown_vault._PROPERTY",
    "readers.org._BLOCK",
    "tables.text_tables._GRID_RULE",
)


@pytest.mark.parametrize("name", LINEAR_IN_CHILD)
def test_patterns_of_documents_that_were_slow_stay_linear(name: str) -> None:
    full = f"storage.documents.{name}"

    assert faults_of(full, all_patterns()[full]) is None


@pytest.mark.parametrize(
    "pattern",
    [
        r"[ \t]+(?=\[)",
        r"\s*\n\s*\n",
        r"[\"“]+x",
        r"^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$",
        r"(?:a|a)*b",
        r"(\w+\s?)*!",
        r"\[([^\]]*)\]\([^)]*\)",
        r"(`+)(.+?)\1(?!`)",
        r"\S+@\S+\.\S+",
        r"<!--.*?-->",
    ],
)
def test_a_slow_pattern_is_found(pattern: str) -> None:
    assert faults_of("tests.slow", re.compile(pattern))
