"""The names of buttons and menus: their action, their answer, and the part of a post that they mark. Pure.

    fn:<verb>:<id>[:<n>][@<post id>.<part>]

The suffix marks a part, so that a process that starts again finds its own messages (`find_part`). Discord stores names
as `custom_id`, Slack as `action_id` and `block_id`; both return them with an interaction.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

MAX_ACTION_NAME = 100  # characters, Discord's limit; Slack takes 255
_ID = r"[0-9A-Za-z_-]{1,36}"  # 32 hexadecimal digits as a rule, a UUID with hyphens at most
# Also the template of Discord's DynamicItem.
PATTERN = re.compile(
    rf"fn:(?P<verb>[a-z]{{1,8}}):(?P<id>{_ID})(?::(?P<n>\d{{1,4}}))?(?:@(?P<post>{_ID})\.(?P<part>\d{{1,4}}))?"
)


class Verb(StrEnum):
    """The action of a button or menu."""

    PASSAGES = "passages"
    UP = "up"
    DOWN = "down"
    RATE = "rate"  # a pair of buttons whose value is "up" or "down"
    REFERENCES = "refs"  # all references of the answer
    HOW = "how"
    STOP = "stop"
    ASK = "ask"  # n: the suggestion, from 0
    CHOOSE = "choose"  # a menu; n: its number, from 0; its values are places in `choices`, from 0
    AGAIN = "again"  # of a stale answer: asks its question again
    SHARE = "share"  # of a private answer: shows it to its channel
    PAGE = "page"  # of a list; n: the page, from 1
    ADD = "add"  # of a proposed document; id: the addition
    DISMISS = "dismiss"  # likewise
    UNDO = "undo"  # takes an addition back
    ADDFILES = "addfiles"  # of a message with files and no question; id: the message
    ASKFILES = "askfiles"  # likewise: asks for their contents
    FORM = "form"  # id: the command whose form it opens
    HELP = "help"  # a menu's value is the topic
    MORE = "more"  # of an answer: the menu of its other actions; the values are their verbs
    MUTE = "mute"  # in that menu: no more answers in the thread without a mention
    KEEP = "keep"  # in that menu: proposes the answer
    PART = "part"  # no action; shows the number of a part


_OF_ANSWERS = frozenset(
    {Verb.PASSAGES, Verb.UP, Verb.DOWN, Verb.RATE, Verb.ASK, Verb.CHOOSE, Verb.SHARE, Verb.REFERENCES, Verb.MORE}
)
_OF_ADDITIONS = frozenset({Verb.ADD, Verb.DISMISS, Verb.UNDO})
_NAMED_BY = ("custom_id", "action_id", "block_id")
_HELD_IN = ("components", "children", "elements")


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionName:
    """A parsed name. `id` is the answer's message id; for an answer in progress, the id of its post."""

    verb: Verb
    id: str
    n: int | None = None
    post_id: str | None = None  # None: it marks no part
    part: int | None = None  # from 1

    def __str__(self) -> str:
        place = f":{self.n}" if self.n is not None else ""
        mark = f"@{self.post_id}.{self.part}" if self.post_id is not None else ""
        return f"fn:{self.verb.value}:{self.id}{place}{mark}"


def to_action_name(name: ActionName) -> str:
    """Return the name as text of at most 100 characters. Raises ValueError for malformed ids."""
    text = str(name)
    if PATTERN.fullmatch(text) is None:
        raise ValueError(f"{text[:200]!r} isn't a name for a button: ids have 1 to 36 letters and digits.")
    return text


def read_action_name(text: str) -> ActionName | None:
    """Return the parsed name; None if another app made it."""
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
    """Return a message's post id and part (from 1), by its components or blocks: JSON or objects."""
    for text in _names(components):
        name = read_action_name(text)
        if name is not None and name.post_id is not None and name.part is not None:
            return name.post_id, name.part
    return None


def find_answer(components: Iterable[object]) -> str | None:
    """Return the id of the answer in a message, by its components or blocks; None without an answer."""
    names = [name for name in map(read_action_name, _names(components)) if name is not None]
    return next((name.id for name in names if name.verb in _OF_ANSWERS), None)


def find_addition(components: Iterable[object]) -> str | None:
    """Return the id of the addition whose post a message is, by its buttons; None if it has none."""
    names = [name for name in map(read_action_name, _names(components)) if name is not None]
    return next((name.id for name in names if name.verb in _OF_ADDITIONS), None)


def post_id(message_key: str) -> str:
    """Return the id of a question's post: the same in every process, short enough for buttons."""
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
