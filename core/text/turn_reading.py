"""A message and the ones before it, as the two texts that the turn model reads. Pure.

The model was fitted on texts in this form (tests/training/turns.py): a change here needs a new fit.
"""

from core.domain.turns import Turn, Utterance
from core.text.glossary import in_english
from core.text.language import Language, language_of
from core.text.spelling import LibraryWords

LINES = 4  # earlier messages
LONGEST_BEFORE, LONGEST = 160, 300  # characters of an earlier message, and of this one
LONGEST_NAME = 14
ANSWERED = "bot answered."
_NO_LIBRARY = LibraryWords(counts={})


def written(turn: Turn) -> tuple[str, str]:
    """Return the place with the last messages, and the message; other languages word by word in English."""
    lines: list[str] = []
    for said in turn.before[-LINES - 3 :]:
        line = _line(said, turn.author)
        if line != ANSWERED or lines[-1:] != [ANSWERED]:
            lines.append(line)
    mention = " @bot" if turn.is_named else ""
    return f"{turn.where}{mention} | {' / '.join(lines[-LINES:])}", _english(turn.text)[:LONGEST]


def _line(said: Utterance, author: str) -> str:
    if said.author is None:
        return ANSWERED
    who = "me" if said.author == author else said.author[:LONGEST_NAME]
    return f"{who}: {_english(said.text)[:LONGEST_BEFORE] or '...'}"


def _english(text: str) -> str:
    language = language_of(text)
    return text if language in (None, Language.ENGLISH) else in_english(text, language, _NO_LIBRARY).text
