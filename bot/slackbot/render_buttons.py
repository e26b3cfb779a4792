"""Buttons and menus below a post, and the mark by which its parts are found again. Pure.

The mark is the `block_id` of a part's last block: an action name with the post's id and the part's number.

Names: `MENU_CHOICES`, `MAX_SUGGESTIONS`, `answer_blocks`, `running_actions`, `how_actions`, `page_actions`, `mark_of`,
`part_note`.
"""

from dataclasses import replace

from bot.presentation.action_names import ActionName, Verb, to_action_name
from bot.presentation.answer_text import (
    ALL_REFERENCES_LABEL,
    RATED_STATUSES,
    STEPS_LABEL,
    ask_again_label,
    hidden_reference_count,
)
from bot.presentation.rendering import clip
from bot.slackbot.blocks import Element, actions, button, context, feedback, menu
from bot.slackbot.layout import MAX_ACTIONS, MAX_LABEL, MAX_OPTIONS, Block
from core.domain.answer import Answer

MAX_MENUS = 4  # of one post
MENU_CHOICES = MAX_MENUS * MAX_OPTIONS
MAX_SUGGESTIONS = 5
_MOST_PARTS = 9_999  # that names have room for


def answer_blocks(answer: Answer, post_id: str, *, is_private: bool) -> list[Block]:
    """Menus for choices, suggestions, thumbs, and what can be done with the answer: the last block, not yet marked.

    Without a message id: only how. Below a note about stale answers: a button for each, to ask it again.
    """
    if answer.note_on:
        return [actions(*_again(answer))]
    how = button(STEPS_LABEL, _name(Verb.HOW, answer.message_id or post_id))
    if not answer.message_id:
        return [actions(how)]
    is_rated = answer.status in RATED_STATUSES
    buttons = [how]
    if answer.citations:
        buttons.insert(0, button("Show passages", _name(Verb.PASSAGES, answer.message_id), style="primary"))
    if hidden_reference_count(answer):
        buttons.append(button(ALL_REFERENCES_LABEL, _name(Verb.REFERENCES, answer.message_id)))
    if is_private and is_rated:
        buttons.append(button("Share with the channel", _name(Verb.SHARE, answer.message_id)))
    thumbs = [feedback(_name(Verb.RATE, answer.message_id))] if is_rated else []
    return [*_menus(answer), *_suggestions(answer), *thumbs, actions(*buttons)]


def _again(answer: Answer) -> list[Element]:
    notes = answer.note_on[:MAX_ACTIONS]
    return [
        button(ask_again_label(note.question, alone=len(notes) == 1), _name(Verb.AGAIN, note.message_id))
        for note in notes
    ]


def running_actions(post_id: str) -> Block:
    """For an answer that is being made; it marks the post's first part."""
    stop = button("Stop", _name(Verb.STOP, post_id), style="danger")
    return actions(stop, button(STEPS_LABEL, _name(Verb.HOW, post_id)), block_id=mark_of(post_id, 1))


def how_actions(post_id: str) -> Block:
    """For a post that is no answer; it marks its first part."""
    return actions(button(STEPS_LABEL, _name(Verb.HOW, post_id)), block_id=mark_of(post_id, 1))


def page_actions(list_id: str, page: int, pages: int, verb: Verb = Verb.PAGE) -> list[Block]:
    """To the pages before and behind, from 1; nothing where there is no other page."""
    ways: list[Element] = []
    if page > 1:
        ways.append(button("Previous page", _name(verb, list_id, min(page - 1, pages))))
    if page < pages:
        ways.append(button("Next page", _name(verb, list_id, page + 1)))
    return [actions(*ways)] if ways else []


def mark_of(post_id: str, part: int) -> str:
    """The block_id of a part's last block."""
    part = min(part, _MOST_PARTS)
    return to_action_name(replace(ActionName(verb=Verb.PART, id=post_id), post_id=post_id, part=part))


def part_note(number: int, count: int, mark: str | None = None) -> Block:
    """Which of several messages this is."""
    return context(f"Part {number} of {count}", mark)


def _menus(answer: Answer) -> list[Block]:
    blocks = []
    shown = answer.choices[:MENU_CHOICES]
    for place, first in enumerate(range(0, len(shown), MAX_OPTIONS)):
        options = [
            (clip(choice, MAX_LABEL) or f"Choice {value + 1}", str(value))
            for value, choice in enumerate(shown[first : first + MAX_OPTIONS], start=first)
        ]
        last = first + len(options)
        words = "Choose one" if len(shown) <= MAX_OPTIONS else f"Choose one of {first + 1} to {last}"
        blocks.append(actions(menu(words, _name(Verb.CHOOSE, answer.message_id, place), options)))
    return blocks


def _suggestions(answer: Answer) -> list[Block]:
    buttons = [
        button(text, _name(Verb.ASK, answer.message_id, place))
        for place, text in enumerate(answer.suggestions[:MAX_SUGGESTIONS])
        if clip(text, MAX_LABEL)
    ]
    return [actions(*buttons)] if buttons else []


def _name(verb: Verb, target: str, n: int | None = None) -> str:
    return to_action_name(ActionName(verb=verb, id=target, n=n))
