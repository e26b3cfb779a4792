"""What a message shows, as plain values: built by the renderer, turned into a LayoutView by `views.to_view`. Pure.

Names: `Text`, `Separator`, `Button`, `ButtonStyle`, `LinkButton`, `Option`, `Select`, `Row`, `Container`, `PartView`,
`DiscordPost`, and Discord's limits.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

# Discord's limits on a message of components (v2).
MAX_TEXT = 4_000  # characters over all texts
MAX_LABEL = 80  # characters of a button
MAX_OPTIONS = 25  # of a menu
MAX_OPTION = 100  # characters of an option's label and description
MAX_PLACEHOLDER = 150
MAX_ROW = 5  # buttons
# What we fill with text. Documentation says "all text": labels may count.
TEXT_BUDGET = 3_600


class ButtonStyle(Enum):
    """The values are Discord's."""

    PRIMARY = 1
    SECONDARY = 2
    SUCCESS = 3
    DANGER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Markdown of the platform, finished."""

    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Separator:
    """A line between what is above and below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    label: str
    custom_id: str
    style: ButtonStyle = ButtonStyle.SECONDARY
    disabled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkButton:
    label: str
    url: str  # at most 512 characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    label: str
    value: str
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Select:
    """A menu of which one option is taken."""

    custom_id: str
    placeholder: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One to five buttons, or one menu."""

    items: tuple[Button | LinkButton, ...] | tuple[Select]


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A box around texts."""

    items: tuple[Text | Separator, ...]


Block = Text | Separator | Row | Container


@dataclass(frozen=True, slots=True, kw_only=True)
class PartView:
    """One message. `numbers` are the footnotes its text uses, `listed` those its sources block has, ascending."""

    blocks: tuple[Block, ...]
    numbers: tuple[int, ...] = ()
    listed: tuple[int, ...] = ()
    is_quiet: bool = False  # nobody's phone rings for it

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts, top to bottom."""
        return tuple(text.content for text in _texts(self.blocks))

    @property
    def custom_ids(self) -> tuple[str, ...]:
        """Of buttons and menus, top to bottom."""
        rows = (block for block in self.blocks if isinstance(block, Row))
        return tuple(item.custom_id for row in rows for item in row.items if not isinstance(item, LinkButton))


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordPost:
    """What is posted, in one message or several, in order."""

    parts: tuple[PartView, ...]


def _texts(blocks: tuple[Block, ...] | tuple[Text | Separator, ...]) -> Iterator[Text]:
    for block in blocks:
        if isinstance(block, Text):
            yield block
        elif isinstance(block, Container):
            yield from _texts(block.items)
