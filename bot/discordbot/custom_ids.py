"""The names of buttons and menus: what they do, for which answer, and which part of which post they stand in. Pure.

    fn:<verb>:<id>[:<n>][@<post id>.<part>]

The tail marks a post's part, so that a process that starts again finds its own messages: the first button or menu of
every part carries it (`find_part`).

Names: `Verb`, `CustomId`, `to_custom_id`, `read_custom_id`, `find_part`, `find_answer`, `PATTERN`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

MAX_CUSTOM_ID = 100  # characters, Discord's limit
_ID = r"[0-9A-Za-z_-]{1,36}"  # 32 hexadecimal digits as a rule, a UUID with hyphens at most
# For `discord.ui.DynamicItem`, and for reading back what an interaction brings.
PATTERN = re.compile(
    rf"fn:(?P<verb>[a-z]{{1,8}}):(?P<id>{_ID})(?::(?P<n>\d{{1,4}}))?(?:@(?P<post>{_ID})\.(?P<part>\d{{1,4}}))?"
)


class Verb(StrEnum):
    """What a button or menu asks for."""

    PASSAGES = "passages"
    UP = "up"
    DOWN = "down"
    HOW = "how"
    STOP = "stop"
    ASK = "ask"  # n: the suggestion, from 0
    CHOOSE = "choose"  # a menu; n: which of several, from 0; its values are places in `choices`, from 0
    PAGE = "page"  # of a list; n: the page, from 1
    PART = "part"  # disabled: only says which part of a post this is


_OF_ANSWERS = frozenset({Verb.PASSAGES, Verb.UP, Verb.DOWN, Verb.ASK, Verb.CHOOSE})  # their ids are answers' ids


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomId:
    """A name, read. `id` is the answer's message id; of stop and of what runs, the post's."""

    verb: Verb
    id: str
    n: int | None = None
    post_id: str | None = None  # None: this one marks no part
    part: int | None = None  # from 1

    def __str__(self) -> str:
        place = f":{self.n}" if self.n is not None else ""
        mark = f"@{self.post_id}.{self.part}" if self.post_id is not None else ""
        return f"fn:{self.verb.value}:{self.id}{place}{mark}"


def to_custom_id(name: CustomId) -> str:
    """The name as text, at most 100 characters. ValueError for ids that are none, which is a fault of the caller."""
    text = str(name)
    if PATTERN.fullmatch(text) is None:
        raise ValueError(f"{text[:200]!r} is no name for a button: ids have 1 to 36 letters and digits.")
    return text


def read_custom_id(text: str) -> CustomId | None:
    """None for what is not ours."""
    found = PATTERN.fullmatch(text)
    if found is None or found["verb"] not in set(Verb):
        return None
    return CustomId(
        verb=Verb(found["verb"]),
        id=found["id"],
        n=int(found["n"]) if found["n"] else None,
        post_id=found["post"],
        part=int(found["part"]) if found["part"] else None,
    )


def find_part(components: Iterable[object]) -> tuple[str, int] | None:
    """(post id, part from 1) of a message, from its components: as the API returns them, or discord.py's objects."""
    for custom_id in _custom_ids(components):
        name = read_custom_id(custom_id)
        if name is not None and name.post_id is not None and name.part is not None:
            return name.post_id, name.part
    return None


def find_answer(components: Iterable[object]) -> str | None:
    """The id of the answer that a message shows, from its components; None where it shows none."""
    names = [name for name in map(read_custom_id, _custom_ids(components)) if name is not None]
    return next((name.id for name in names if name.verb in _OF_ANSWERS), None)


def _custom_ids(components: Iterable[object]) -> Iterator[str]:
    for component in components:
        found = _get(component, "custom_id")
        if isinstance(found, str):
            yield found
        children = _get(component, "components") or _get(component, "children")
        if isinstance(children, list | tuple):
            yield from _custom_ids(children)
        accessory = _get(component, "accessory")
        if accessory is not None:
            yield from _custom_ids([accessory])


def _get(component: object, name: str) -> object:
    if isinstance(component, Mapping):
        return component.get(name)
    return getattr(component, name, None)
