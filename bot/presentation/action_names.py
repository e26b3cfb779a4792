"""The names of buttons and menus: what they do, for which answer, and which part of which post they stand in. Pure.

    fn:<verb>:<id>[:<n>][@<post id>.<part>]

The tail marks a post's part, so that a process that starts again finds its own messages (`find_part`). Discord keeps
names as `custom_id`, Slack as `action_id` and `block_id`; both give them back with what is pressed.

Names: `Verb`, `ActionName`, `to_action_name`, `read_action_name`, `find_part`, `find_answer`, `post_id`, `PATTERN`.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

MAX_ACTION_NAME = 100  # characters, Discord's limit; Slack takes 255
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
    RATE = "rate"  # a pair of buttons whose value is "up" or "down"
    REFERENCES = "refs"  # all that the answer refers to
    HOW = "how"
    STOP = "stop"
    ASK = "ask"  # n: the suggestion, from 0
    CHOOSE = "choose"  # a menu; n: which of several, from 0; its values are places in `choices`, from 0
    AGAIN = "again"  # a stale answer: asks its question once more
    SHARE = "share"  # a private answer, with its channel
    PAGE = "page"  # of a list; n: the page, from 1
    FORM = "form"  # id: the command whose form is to be shown
    PART = "part"  # does nothing: only says which part of a post this is


_OF_ANSWERS = frozenset(
    {Verb.PASSAGES, Verb.UP, Verb.DOWN, Verb.RATE, Verb.ASK, Verb.CHOOSE, Verb.SHARE, Verb.REFERENCES}
)
_NAMED_BY = ("custom_id", "action_id", "block_id")
_HELD_IN = ("components", "children", "elements")


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionName:
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


def to_action_name(name: ActionName) -> str:
    """The name as text, at most 100 characters. ValueError for ids that are none, which is a fault of the caller."""
    text = str(name)
    if PATTERN.fullmatch(text) is None:
        raise ValueError(f"{text[:200]!r} is no name for a button: ids have 1 to 36 letters and digits.")
    return text


def read_action_name(text: str) -> ActionName | None:
    """None for what is not ours."""
    found = PATTERN.fullmatch(text)
    if found is None or found["verb"] not in set(Verb):
        return None
    return ActionName(
        verb=Verb(found["verb"]),
        id=found["id"],
        n=int(found["n"]) if found["n"] else None,
        post_id=found["post"],
        part=int(found["part"]) if found["part"] else None,
    )


def find_part(components: Iterable[object]) -> tuple[str, int] | None:
    """(post id, part from 1) of a message, from its components or blocks, as an API returns them or as objects."""
    for text in _names(components):
        name = read_action_name(text)
        if name is not None and name.post_id is not None and name.part is not None:
            return name.post_id, name.part
    return None


def find_answer(components: Iterable[object]) -> str | None:
    """The id of the answer that a message shows, from its components or blocks; None where it shows none."""
    names = [name for name in map(read_action_name, _names(components)) if name is not None]
    return next((name.id for name in names if name.verb in _OF_ANSWERS), None)


def post_id(message_key: str) -> str:
    """The name of a question's post: the same in every process, short enough for buttons."""
    return hashlib.sha256(message_key.encode()).hexdigest()[:16]


def _names(components: Iterable[object]) -> Iterator[str]:
    for component in components:
        yield from (found for key in _NAMED_BY if isinstance(found := _get(component, key), str))
        for key in _HELD_IN:
            held = _get(component, key)
            if isinstance(held, list | tuple):
                yield from _names(held)
        accessory = _get(component, "accessory")
        if accessory is not None:
            yield from _names([accessory])


def _get(component: object, name: str) -> object:
    if isinstance(component, Mapping):
        return component.get(name)
    return getattr(component, name, None)
