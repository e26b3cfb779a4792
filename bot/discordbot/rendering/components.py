"""The components of a message: texts, buttons and menus as values, and their conversion to a discord.py view. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any

import discord
from discord import ui

from bot.presentation.action_names import ActionName, Verb, read_action_name, to_action_name
from bot.presentation.answer_buttons import (
    MAX_MENUS,
    MORE_LABEL,
    ActionButton,
    ChoiceMenu,
    Emphasis,
    action_buttons,
    action_name,
    choice_menus,
    more_options,
    running_buttons,
    steps_button,
)
from bot.presentation.answer_files import AnswerFile
from bot.presentation.markdown import clip
from core.domain.answer import Answer

# Discord's limits on a message of components (v2).
MAX_LABEL = 80  # characters of a button
MAX_OPTIONS = 25  # of a menu
MAX_OPTION = 100  # characters of an option's label
MAX_ROW = 5  # buttons
# Units of weight: fewer than Discord's 4,000 characters over all texts, as labels may count, and than its bytes.
TEXT_BUDGET = 3_600
MENU_CHOICES = MAX_MENUS * MAX_OPTIONS
_STYLES = {
    Emphasis.PRIMARY: discord.ButtonStyle.primary,
    Emphasis.NORMAL: discord.ButtonStyle.secondary,
    Emphasis.DANGER: discord.ButtonStyle.danger,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Finished Discord Markdown."""

    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Separator:
    """A horizontal line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkButton:
    label: str
    url: str  # at most 512 characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One to five buttons, or one menu."""

    items: tuple[ActionButton | LinkButton | ChoiceMenu, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A box around texts."""

    items: tuple[Text | Separator, ...]


Block = Text | Separator | Row | Container | AnswerFile


@dataclass(frozen=True, slots=True, kw_only=True)
class PartView:
    """One message. `numbers`: footnotes in its text and its line of sources, ascending."""

    blocks: tuple[Block, ...]
    numbers: tuple[int, ...] = ()
    is_quiet: bool = False  # without a notification

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts, top to bottom."""
        items = (item for block in self.blocks for item in (block.items if isinstance(block, Container) else (block,)))
        return tuple(item.content for item in items if isinstance(item, Text))

    @property
    def files(self) -> tuple[AnswerFile, ...]:
        return tuple(block for block in self.blocks if isinstance(block, AnswerFile))


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


def to_files(part: PartView) -> list[discord.File]:
    """Return the part's files, for one request: sending reads them."""
    return [discord.File(BytesIO(file.content.encode()), filename=file.name) for file in part.files]


def answer_rows(answer: Answer, post_id: str) -> tuple[Row, ...]:
    """Return menus for choices, and one row of actions on the answer."""
    menus = choice_menus(answer, most_options=MAX_OPTIONS, longest=MAX_OPTION)
    buttons = action_buttons(answer, post_id)
    if answer.message_id and not answer.note_on:
        buttons.append(ActionButton(label=MORE_LABEL, name=action_name(Verb.MORE, answer.message_id)))
    return (*(Row(items=(menu,)) for menu in menus), Row(items=tuple(buttons[:MAX_ROW])))


def more_row(answer: Answer, *, is_private: bool, thread: str = "") -> Row:
    """Return the menu behind ⋯. Its name holds the answer's thread, which the menu's own message doesn't tell."""
    options = more_options(answer, longest=MAX_OPTION, most=MAX_OPTIONS, is_private=is_private)
    mark = (thread, 1) if thread else (None, None)
    name = to_action_name(ActionName(verb=Verb.MORE, id=answer.message_id, post_id=mark[0], part=mark[1]))
    return Row(items=(ChoiceMenu(name=name, placeholder="Choose what to do", options=options),))


def running_row(post_id: str) -> Row:
    """Return the buttons below an answer in progress."""
    return Row(items=tuple(running_buttons(post_id)))


def steps_row(post_id: str) -> Row:
    """Return the button below a post that isn't an answer."""
    return Row(items=(steps_button(post_id),))


def page_row(list_id: str, page: int, pages: int) -> Row:
    """Return the buttons to the previous and the next page, counted from 1."""
    previous = action_name(Verb.PAGE, list_id, max(1, page - 1))
    following = action_name(Verb.PAGE, list_id, page + 1)
    return Row(
        items=(
            ActionButton(label="Previous page", name=previous, is_disabled=page <= 1),
            ActionButton(label="Next page", name=following, is_disabled=page >= pages),
        )
    )


def mark_parts(parts: Sequence[PartView], post_id: str) -> tuple[PartView, ...]:
    """Return the parts with the mark that `find_part` reads: the first button or menu names the post and the part.

    Each of several parts also shows its number: the last one among its actions, the others in a row of their own.
    """
    marked = []
    for number, part in enumerate(parts, start=1):
        blocks = part.blocks
        if len(parts) > 1:
            name = action_name(Verb.PART, post_id, min(number, 9_999))
            label = ActionButton(label=f"Part {number} of {len(parts)}", name=name, is_disabled=True)
            last = blocks[-1]
            if isinstance(last, Row) and len(last.items) < MAX_ROW and not isinstance(last.items[0], ChoiceMenu):
                blocks = (*blocks[:-1], Row(items=(*last.items, label)))
            else:
                blocks = (*blocks, Row(items=(label,)))
        marked.append(replace(part, blocks=_mark(blocks, post_id, number)))
    return tuple(marked)


def _mark(blocks: tuple[Block, ...], post_id: str, part: int) -> tuple[Block, ...]:
    for place, block in enumerate(blocks):
        if isinstance(block, Row) and not isinstance(block.items[0], LinkButton):
            name = read_action_name(block.items[0].name)
            if name is not None:
                first = replace(block.items[0], name=to_action_name(replace(name, post_id=post_id, part=part)))
                return (*blocks[:place], Row(items=(first, *block.items[1:])), *blocks[place + 1 :])
    return blocks


def _to_item(block: Block) -> ui.Item[Any]:
    match block:
        case Text(content=content):
            return ui.TextDisplay(content)
        case Separator():
            return ui.Separator()
        case Container(items=items):
            return ui.Container(*map(_to_item, items))
        case AnswerFile(name=name):
            return ui.File(f"attachment://{name}")
        case Row(items=items):
            return ui.ActionRow(*map(_to_control, items))


def _to_control(item: ActionButton | LinkButton | ChoiceMenu) -> ui.Item[Any]:
    match item:
        case LinkButton(label=label, url=url):
            return ui.Button(style=discord.ButtonStyle.link, label=label, url=url)
        case ActionButton(label=label, name=name):
            style = _STYLES[item.emphasis]
            return ui.Button(style=style, label=clip(label, MAX_LABEL), custom_id=name, disabled=item.is_disabled)
        case ChoiceMenu(name=name, placeholder=placeholder, options=options):
            choices = [discord.SelectOption(label=label, value=value) for label, value in options]
            return ui.Select(custom_id=name, placeholder=placeholder, options=choices)
