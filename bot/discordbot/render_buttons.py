"""Buttons and menus below a post, and the mark by which its parts are found again. Pure.

Names: `answer_rows`, `running_row`, `how_row`, `page_row`, `mark_parts`.
"""

from collections.abc import Sequence
from dataclasses import replace

from bot.discordbot.layout import (
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
from bot.presentation.action_names import ActionName, Verb, read_action_name, to_action_name
from bot.presentation.answer_text import (
    ALL_REFERENCES_LABEL,
    RATED_STATUSES,
    STEPS_LABEL,
    ask_again_label,
    hidden_reference_count,
)
from bot.presentation.rendering import clip
from core.domain.answer import Answer

MAX_MENUS = 4  # of one post: a hundred choices
MENU_CHOICES = MAX_MENUS * MAX_OPTIONS


def answer_rows(answer: Answer, post_id: str) -> tuple[Row, ...]:
    """Menus for choices, suggestions, and what can be done with the answer. Without a message id: only how.

    Below a note about stale answers: a button for each, to ask it again.
    """
    if answer.note_on:
        return (Row(items=_again(answer)),)
    how = Button(label=STEPS_LABEL, custom_id=_name(Verb.HOW, answer.message_id or post_id))
    if not answer.message_id:
        return (Row(items=(how,)),)
    actions = [how]
    if answer.status in RATED_STATUSES:
        up = Button(label="Helpful", custom_id=_name(Verb.UP, answer.message_id))
        down = Button(label="Not helpful", custom_id=_name(Verb.DOWN, answer.message_id))
        actions = [up, down, how]
    if answer.citations:
        shown = Button(
            label="Show passages", custom_id=_name(Verb.PASSAGES, answer.message_id), style=ButtonStyle.PRIMARY
        )
        actions.insert(0, shown)
    if hidden_reference_count(answer):
        actions.append(Button(label=ALL_REFERENCES_LABEL, custom_id=_name(Verb.REFERENCES, answer.message_id)))
    return (*_menus(answer), *_suggestions(answer), Row(items=tuple(actions)))


def running_row(post_id: str) -> Row:
    """For an answer that is being made."""
    stop = Button(label="Stop", custom_id=_name(Verb.STOP, post_id), style=ButtonStyle.DANGER)
    return Row(items=(stop, Button(label=STEPS_LABEL, custom_id=_name(Verb.HOW, post_id))))


def how_row(post_id: str) -> Row:
    """For a post that is no answer."""
    return Row(items=(Button(label=STEPS_LABEL, custom_id=_name(Verb.HOW, post_id)),))


def page_row(list_id: str, page: int, pages: int) -> Row:
    """To the pages before and behind, from 1."""
    before = Button(label="Previous page", custom_id=_name(Verb.PAGE, list_id, max(1, page - 1)), disabled=page <= 1)
    behind = Button(label="Next page", custom_id=_name(Verb.PAGE, list_id, page + 1), disabled=page >= pages)
    return Row(items=(before, behind))


def mark_parts(parts: Sequence[PartView], post_id: str) -> tuple[PartView, ...]:
    """The parts with what `find_part` finds: their first button or menu names the post and the part.

    Of several parts each says which one it is: with the last one's actions, the others alone.
    """
    marked = []
    for number, part in enumerate(parts, start=1):
        blocks = _say_part(part.blocks, post_id, number, len(parts)) if len(parts) > 1 else part.blocks
        marked.append(replace(part, blocks=_mark(blocks, post_id, number)))
    return tuple(marked)


def _again(answer: Answer) -> tuple[Button, ...]:
    notes = answer.note_on[:MAX_ROW]
    return tuple(
        Button(
            label=clip(ask_again_label(note.question, alone=len(notes) == 1), MAX_LABEL),
            custom_id=_name(Verb.AGAIN, note.message_id),
        )
        for note in notes
    )


def _menus(answer: Answer) -> list[Row]:
    rows = []
    shown = answer.choices[:MENU_CHOICES]
    for menu, first in enumerate(range(0, len(shown), MAX_OPTIONS)):
        options = tuple(
            Option(label=clip(choice, MAX_OPTION) or f"Choice {place + 1}", value=str(place))
            for place, choice in enumerate(shown[first : first + MAX_OPTIONS], start=first)
        )
        last = first + len(options)
        placeholder = "Choose one" if len(shown) <= MAX_OPTIONS else f"Choose one of {first + 1} to {last}"
        select = Select(custom_id=_name(Verb.CHOOSE, answer.message_id, menu), placeholder=placeholder, options=options)
        rows.append(Row(items=(select,)))
    return rows


def _suggestions(answer: Answer) -> list[Row]:
    buttons = tuple(
        Button(label=clip(text, MAX_LABEL), custom_id=_name(Verb.ASK, answer.message_id, place))
        for place, text in enumerate(answer.suggestions[:MAX_ROW])
        if clip(text, MAX_LABEL)
    )
    return [Row(items=buttons)] if buttons else []


def _say_part(blocks: tuple[Block, ...], post_id: str, number: int, count: int) -> tuple[Block, ...]:
    says = Button(
        label=f"Part {number} of {count}", custom_id=_name(Verb.PART, post_id, min(number, 9_999)), disabled=True
    )
    last = blocks[-1]
    if isinstance(last, Row) and len(last.items) < MAX_ROW and not isinstance(last.items[0], Select):
        return (*blocks[:-1], Row(items=(*last.items, says)))
    return (*blocks, Row(items=(says,)))


def _mark(blocks: tuple[Block, ...], post_id: str, part: int) -> tuple[Block, ...]:
    for place, block in enumerate(blocks):
        if isinstance(block, Row) and not isinstance(block.items[0], LinkButton):
            name = read_action_name(block.items[0].custom_id)
            if name is not None:
                custom_id = to_action_name(replace(name, post_id=post_id, part=part))
                items = (replace(block.items[0], custom_id=custom_id), *block.items[1:])
                return (*blocks[:place], Row(items=items), *blocks[place + 1 :])  # type: ignore[arg-type]  # as it was
    return blocks


def _name(verb: Verb, target: str, n: int | None = None) -> str:
    return to_action_name(ActionName(verb=verb, id=target, n=n))
