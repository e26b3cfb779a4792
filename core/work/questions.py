"""Checks of a question's text. Pure."""

import re
from dataclasses import replace

from core.domain.conversation import IncomingMessage
from core.errors import BadInput

# A question is read by people: longer ones are pasted documents, which belong in the library.
MAX_QUESTION_CHARACTERS = 20_000


# Before a question, on every door: it is to be planned, looked up in parts, and answered in a form of its own.
_DEEP = re.compile(r"\s*deep\s*:\s*", re.IGNORECASE)
DEEP_STRATEGY = "plan_and_synthesise"


def split_deep(text: str) -> tuple[str, bool]:
    """Return the question without a leading `deep:`, and whether it had one."""
    found = _DEEP.match(text)
    return (text[found.end() :], True) if found else (text, False)


def as_asked(message: IncomingMessage) -> IncomingMessage:
    """Return the message with options taken from its first words; the history keeps the original."""
    text, is_deep = split_deep(message.text)
    return replace(message, text=text, strategy=DEEP_STRATEGY) if is_deep else message


def check_question(text: str) -> None:
    """Raise BadInput for an empty question, or one that is far too long."""
    question, is_deep = split_deep(text)
    if not any(character.isalnum() for character in question):
        where = 'There is nothing after "deep:"' if is_deep else "The question is empty"
        raise BadInput(f"{where}: write what you want to know.")
    if len(text) > MAX_QUESTION_CHARACTERS:
        raise BadInput(
            f"The question has {len(text):,} characters, more than the {MAX_QUESTION_CHARACTERS:,} allowed: "
            "put long texts into the library and ask about them."
        )
