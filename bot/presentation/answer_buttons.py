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
    hidden_reference_count,
)
from bot.presentation.markdown import clip
from core.domain.answer import Answer

MAX_MENUS = 4  # of one post
MAX_SUGGESTIONS = 5


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
    """A menu with one choice; the values are places in `Answer.choices`, from 0."""

    name: str
    placeholder: str
    options: Sequence[tuple[str, str]]  # label, value


def action_buttons(
    answer: Answer, post_id: str, *, with_ratings: bool = False, can_share: bool = False
) -> list[ActionButton]:
    """Return the actions on an answer; without a message id, only the button for its steps.

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
    is_rated = can_be_rated(answer)
    passages = ActionButton(label="Show passages", name=action_name(Verb.PASSAGES, id), emphasis=Emphasis.PRIMARY)
    ratings = [_button("Helpful", Verb.UP, id), _button("Not helpful", Verb.DOWN, id)]
    return [
        *([passages] if answer.citations else []),
        *(ratings if with_ratings and is_rated else []),
        steps_button(id),
        *([_button(ALL_REFERENCES_LABEL, Verb.REFERENCES, id)] if hidden_reference_count(answer) else []),
        *([_button("Share with the channel", Verb.SHARE, id)] if can_share and is_rated else []),
    ]


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


def suggestion_buttons(answer: Answer, longest: int) -> list[ActionButton]:
    """Return a button for each suggested question, its label at most `longest` units."""
    if not answer.message_id or answer.note_on:
        return []
    labels = [clip(text, longest) for text in answer.suggestions[:MAX_SUGGESTIONS]]
    return [_button(label, Verb.ASK, answer.message_id, place) for place, label in enumerate(labels) if label]


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
