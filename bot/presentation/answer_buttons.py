"""The buttons and menus of an answer, as values that every chat platform turns into its own controls. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.presentation.action_names import ActionName, Verb, to_action_name
from bot.presentation.answer_text import (
    ALL_REFERENCES_LABEL,
    STEPS_LABEL,
    ask_again_label,
    can_be_rated,
    has_other_references,
)
from bot.presentation.markdown import clip, units
from core.domain.answer import Answer
from core.text.words import collapse
from core.work.commands import CommandResult

MAX_MENUS = 4  # of one post
MAX_SUGGESTIONS = 2
MAX_PLACE = 3  # digits of a suggestion's place
SOURCES_LABEL = "Show sources"
HOW_LABEL = "How this was answered"
HELPFUL, NOT_HELPFUL = "👍", "👎"
MORE_LABEL = "⋯"


class Emphasis(StrEnum):
    PRIMARY = "primary"
    NORMAL = "normal"
    DANGER = "danger"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionButton:
    label: str
    name: str  # an action name
    emphasis: Emphasis = Emphasis.NORMAL
    is_disabled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceMenu:
    """A menu with one choice. Of an answer, the values are places in `Answer.choices`, from 0."""

    name: str
    placeholder: str
    options: Sequence[tuple[str, str]]  # label, value


def action_buttons(answer: Answer, post_id: str) -> list[ActionButton]:
    """Return the actions on an answer, before its menu; without a message id, only the button for its steps.

    A note about stale answers has a button for each answer, to ask its question again.
    """
    if answer.note_on:
        return [
            _button(ask_again_label(note.question, alone=len(answer.note_on) == 1), Verb.AGAIN, note.message_id)
            for note in answer.note_on
        ]
    id = answer.message_id
    if not id:
        return [steps_button(post_id)]
    return [
        *([_button(SOURCES_LABEL, Verb.PASSAGES, id)] if answer.citations else []),
        *([_button(HELPFUL, Verb.UP, id), _button(NOT_HELPFUL, Verb.DOWN, id)] if can_be_rated(answer) else []),
    ]


def more_options(answer: Answer, *, longest: int, most: int, is_private: bool) -> list[tuple[str, str]]:
    """Return the rest of the actions as labels and values of a menu; empty for a note or an answer without an id."""
    if not answer.message_id or answer.note_on:
        return []
    is_rated = can_be_rated(answer)
    asked = [
        (f"Ask: {question}", f"{Verb.ASK}{place}")
        for place, question in enumerate(map(collapse, answer.suggestions[:MAX_SUGGESTIONS]))
        if question and units(question) + len("Ask: ") <= longest
    ]
    options = [
        *([("Share with the channel", Verb.SHARE.value)] if is_private and is_rated else []),
        (HOW_LABEL, Verb.HOW.value),
        *([(ALL_REFERENCES_LABEL, Verb.REFERENCES.value)] if has_other_references(answer) else []),
        *asked,
        *([] if is_private else [("Be quiet in this thread", Verb.MUTE.value)]),
        *([("Propose as a kept answer", Verb.KEEP.value)] if not is_private and is_rated and answer.citations else []),
    ]
    return options[:most]


def chosen_action(name: ActionName, value: str) -> ActionName | None:
    """Return the action that a value of the menu stands for; None for a value of an earlier version."""
    verb, place = value.rstrip("0123456789"), value.lstrip("abcdefghijklmnopqrstuvwxyz")
    if verb not in set(Verb) or len(place) > MAX_PLACE:
        return None
    return ActionName(verb=Verb(verb), id=name.id, n=int(place) if place else None)


def choice_menus(answer: Answer, *, most_options: int, longest: int) -> list[ChoiceMenu]:
    """Return menus of at most `most_options` choices, each at most `longest` units; at most MAX_MENUS menus."""
    shown = answer.choices[: MAX_MENUS * most_options] if answer.message_id and not answer.note_on else ()
    menus = []
    for number, first in enumerate(range(0, len(shown), most_options)):
        choices = shown[first : first + most_options]
        options = [
            (clip(choice, longest) or f"Choice {place + 1}", str(place)) for place, choice in enumerate(choices, first)
        ]
        is_only = len(shown) <= most_options
        placeholder = "Choose one" if is_only else f"Choose one of {first + 1} to {first + len(choices)}"
        name = action_name(Verb.CHOOSE, answer.message_id, number)
        menus.append(ChoiceMenu(name=name, placeholder=placeholder, options=options))
    return menus


def help_menu(result: CommandResult) -> ChoiceMenu | None:
    """Return the menu of a command's result; None if it has none."""
    if result.menu is None:
        return None
    return ChoiceMenu(
        name=action_name(Verb.HELP, result.menu.command), placeholder=result.menu.title, options=result.menu.options
    )


def running_buttons(post_id: str) -> list[ActionButton]:
    """Return the buttons below an answer in progress."""
    stop = ActionButton(label="Stop", name=action_name(Verb.STOP, post_id), emphasis=Emphasis.DANGER)
    return [stop, steps_button(post_id)]


def steps_button(id: str) -> ActionButton:
    return _button(STEPS_LABEL, Verb.HOW, id)


def action_name(verb: Verb, target: str, n: int | None = None) -> str:
    return to_action_name(ActionName(verb=verb, id=target, n=n))


def _button(label: str, verb: Verb, id: str, n: int | None = None) -> ActionButton:
    return ActionButton(label=label, name=action_name(verb, id, n))
