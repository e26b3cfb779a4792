"""The components of a message as plain values, and their conversion to a discord.py view. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

import discord
from discord import ui

# Discord's limits on a message of components (v2).
MAX_TEXT = 4_000  # characters over all texts
MAX_LABEL = 80  # characters of a button
MAX_OPTIONS = 25  # of a menu
MAX_OPTION = 100  # characters of an option's label and description
MAX_PLACEHOLDER = 150
MAX_ROW = 5  # buttons
# The part of MAX_TEXT that we fill. Documentation says "all text", so labels may count.
TEXT_BUDGET = 3_600


class ButtonStyle(Enum):
    """The values are Discord's."""

    PRIMARY = 1
    SECONDARY = 2
    SUCCESS = 3
    DANGER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Finished Discord Markdown."""

    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Separator:
    """A horizontal line."""


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
    """A menu with one choice."""

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
    """One message. `numbers`: footnotes in its text; `listed`: footnotes in its list of sources; both ascending."""

    blocks: tuple[Block, ...]
    numbers: tuple[int, ...] = ()
    listed: tuple[int, ...] = ()
    is_quiet: bool = False  # without a notification

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
    """A post: one message or more, in order."""

    parts: tuple[PartView, ...]


def to_view(part: PartView) -> ui.LayoutView:
    """Return the part as a view of components (v2), to be sent without content and embeds.

    discord.py doesn't keep it: `actions.buttons` recognises buttons by their custom ids.
    """
    view = ui.LayoutView(timeout=None)
    for block in part.blocks:
        view.add_item(_to_item(block))
    view.stop()
    return view


def _texts(blocks: tuple[Block, ...] | tuple[Text | Separator, ...]) -> Iterator[Text]:
    for block in blocks:
        if isinstance(block, Text):
            yield block
        elif isinstance(block, Container):
            yield from _texts(block.items)


def _to_item(block: Block) -> ui.Item[Any]:
    match block:
        case Text(content=content):
            return ui.TextDisplay(content)
        case Separator():
            return ui.Separator()
        case Container(items=items):
            return ui.Container(*map(_to_item, items))
        case Row(items=items):
            return ui.ActionRow(*map(_to_control, items))


def _to_control(item: Button | LinkButton | Select) -> ui.Item[Any]:
    match item:
        case LinkButton(label=label, url=url):
            return ui.Button(style=discord.ButtonStyle.link, label=label, url=url)
        case Button(label=label, custom_id=custom_id, style=style, disabled=disabled):
            return ui.Button(
                style=discord.ButtonStyle(style.value), label=label, custom_id=custom_id, disabled=disabled
            )
        case Select(custom_id=custom_id, placeholder=placeholder, options=options):
            choices = [
                discord.SelectOption(label=item.label, value=item.value, description=item.description or None)
                for item in options
            ]
            return ui.Select(custom_id=custom_id, placeholder=placeholder, options=choices)
