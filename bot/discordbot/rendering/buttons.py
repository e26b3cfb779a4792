"""Buttons and menus below a post, and the mark by which another process finds the post's parts. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bot.discordbot.rendering.components import (
    MAX_LABEL,
    MAX_OPTION,
    MAX_OPTIONS,
    MAX_ROW,
    Block,
    Button,
    ButtonStyle,
    LinkButton,
    Option,
    PartView,
    Row,
    Select,
)
from bot.presentation.action_names import Verb, read_action_name, to_action_name
from bot.presentation.answer_buttons import (
    MAX_MENUS,
    ActionButton,
    Emphasis,
    action_buttons,
    action_name,
    choice_menus,
    running_buttons,
    steps_button,
    suggestion_buttons,
)
from bot.presentation.rendering import clip
from core.domain.answer import Answer

MENU_CHOICES = MAX_MENUS * MAX_OPTIONS
_STYLES = {
    Emphasis.PRIMARY: ButtonStyle.PRIMARY,
    Emphasis.NORMAL: ButtonStyle.SECONDARY,
    Emphasis.DANGER: ButtonStyle.DANGER,
}


def answer_rows(answer: Answer, post_id: str) -> tuple[Row, ...]:
    """Return menus for choices, then suggestions, then the actions on the answer."""
    menus = [
        Row(
            items=(
                Select(
                    custom_id=menu.name,
                    placeholder=menu.placeholder,
                    options=tuple(Option(label=label, value=value) for label, value in menu.options),
                ),
            )
        )
        for menu in choice_menus(answer, most_options=MAX_OPTIONS, longest=MAX_OPTION)
    ]
    suggestions = suggestion_buttons(answer, MAX_LABEL)
    actions = action_buttons(answer, post_id, with_ratings=True)[:MAX_ROW]
    return (*menus, *([_row(suggestions)] if suggestions else []), _row(actions))


def running_row(post_id: str) -> Row:
    """Return the buttons below an answer in progress."""
    return _row(running_buttons(post_id))


def steps_row(post_id: str) -> Row:
    """Return the button below a post that isn't an answer."""
    return _row([steps_button(post_id)])


def page_row(list_id: str, page: int, pages: int) -> Row:
    """Return the buttons to the previous and the next page, counted from 1."""
    previous, following = max(1, page - 1), page + 1
    return Row(
        items=(
            Button(label="Previous page", custom_id=action_name(Verb.PAGE, list_id, previous), disabled=page <= 1),
            Button(label="Next page", custom_id=action_name(Verb.PAGE, list_id, following), disabled=page >= pages),
        )
    )


def mark_parts(parts: Sequence[PartView], post_id: str) -> tuple[PartView, ...]:
    """Return the parts with the mark that `find_part` reads: the first button or menu names the post and the part.

    Each of several parts also shows its number: the last one among its actions, the others in a row of their own.
    """
    marked = []
    for number, part in enumerate(parts, start=1):
        blocks = _with_number(part.blocks, post_id, number, len(parts)) if len(parts) > 1 else part.blocks
        marked.append(replace(part, blocks=_mark(blocks, post_id, number)))
    return tuple(marked)


def _row(buttons: Iterable[ActionButton]) -> Row:
    return Row(
        items=tuple(
            Button(label=clip(item.label, MAX_LABEL), custom_id=item.name, style=_STYLES[item.emphasis])
            for item in buttons
        )
    )


def _with_number(blocks: tuple[Block, ...], post_id: str, number: int, count: int) -> tuple[Block, ...]:
    name = action_name(Verb.PART, post_id, min(number, 9_999))
    label = Button(label=f"Part {number} of {count}", custom_id=name, disabled=True)
    last = blocks[-1]
    if isinstance(last, Row) and len(last.items) < MAX_ROW and not isinstance(last.items[0], Select):
        return (*blocks[:-1], Row(items=(*last.items, label)))
    return (*blocks, Row(items=(label,)))


def _mark(blocks: tuple[Block, ...], post_id: str, part: int) -> tuple[Block, ...]:
    for place, block in enumerate(blocks):
        if isinstance(block, Row) and not isinstance(block.items[0], LinkButton):
            name = read_action_name(block.items[0].custom_id)
            if name is not None:
                custom_id = to_action_name(replace(name, post_id=post_id, part=part))
                items = (replace(block.items[0], custom_id=custom_id), *block.items[1:])
                return (*blocks[:place], Row(items=items), *blocks[place + 1 :])  # type: ignore[arg-type]  # as it was
    return blocks
