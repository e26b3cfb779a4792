"""Which relations lead from a thing, to it, or both. Pure."""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from core.knowledge.facts.matching import Aliases, names_of, stem
from core.knowledge.facts.rows import Fact
from core.text.words import words


class Direction(StrEnum):
    """Where in a relation the thing stands that is followed."""

    SOURCE = "source"
    TARGET = "target"
    BOTH = "both"


def follow(
    relations: Sequence[Fact], name: str, aliases: Aliases, *, kind: str | None = None, direction: Direction
) -> list[Fact]:
    """The relations of a thing, by any of its names; where none has such a name, those whose names hold its words."""
    names = names_of(name, aliases)
    fitting = [fact for fact in relations if kind is None or _holds(str(fact.fields["kind"]), [kind])]
    exactly = [fact for fact in fitting if any(end.casefold() in names for end in _ends(fact, direction))]
    return exactly or [fact for fact in fitting if any(_holds(end, names) for end in _ends(fact, direction))]


def named_things(relations: Iterable[Fact]) -> list[str]:
    """All that relations lead from and to, each once."""
    return list(dict.fromkeys(end for fact in relations for end in _ends(fact, Direction.BOTH)))


def _ends(fact: Fact, direction: Direction) -> list[str]:
    places = (Direction.SOURCE, Direction.TARGET) if direction is Direction.BOTH else (direction,)
    return [str(fact.fields[place.value]) for place in places]


def _holds(text: str, names: Iterable[str]) -> bool:
    there = {stem(word) for word in words(text)}
    return any(bool(words(name)) and all(stem(word) in there for word in words(name)) for name in names)
