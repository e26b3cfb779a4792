"""Texts of questions: checks, options, commands, and lines of question files (JSON lines). Pure; raise BadInput."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from core.domain.incoming import IncomingMessage
from core.domain.service import CommandLine
from core.errors import BadInput

# A question is read by people: longer ones are pasted documents, which belong in the library.
MAX_QUESTION_CHARACTERS = 20_000

# Platforms where a text of signs ("?") is a slip; in a chat, it is a message.
WITHOUT_SIGNS = frozenset({"terminal", "api"})
# Before a question, on every door: it is to be planned, looked up in parts, and answered in a form of its own.
_DEEP = re.compile(r"\s*deep\s*:\s*", re.IGNORECASE)
DEEP_STRATEGY = "plan_and_synthesise"

_COMMAND = re.compile(r"/([a-z]+)(?:\s+(.*))?\Z", re.DOTALL | re.IGNORECASE)
FORM = 'write {"id": "...", "question": "..."}'
_HALF = re.compile("[\ud800-\udfff]")  # of a surrogate pair: JSON can escape one, no other text holds it


def split_deep(text: str) -> tuple[str, bool]:
    """Return the question without a leading `deep:`, and whether it had one."""
    found = _DEEP.match(text)
    return (text[found.end() :], True) if found else (text, False)


def as_asked(message: IncomingMessage) -> IncomingMessage:
    """Return the message with options taken from its first words; the history keeps the original."""
    text, is_deep = split_deep(message.text)
    return replace(message, text=text, strategy=DEEP_STRATEGY) if is_deep else message


def check_question(text: str, *, needs_words: bool = True) -> None:
    """Raise BadInput for an empty question, or one that is far too long; with `needs_words`, for one of signs ("?")."""
    question, is_deep = split_deep(text)
    if not question.strip() or (needs_words and not any(character.isalnum() for character in question)):
        where = 'There is nothing after "deep:"' if is_deep else "The question is empty"
        raise BadInput(f"{where}: write what you want to know.")
    if len(text) > MAX_QUESTION_CHARACTERS:
        raise BadInput(
            f"The question has {len(text):,} characters, more than the {MAX_QUESTION_CHARACTERS:,} allowed: "
            "put long texts into the library and ask about them."
        )


def to_command(text: str) -> CommandLine | None:
    """`/name argument` as a command; None for everything else."""
    found = _COMMAND.match(text.strip())
    return CommandLine(name=found[1].lower(), argument=(found[2] or "").strip()) if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionLine:
    """An object of a line that is numbered from 1."""

    number: int
    fields: Mapping[str, object]

    @property
    def id(self) -> str:
        """Its own, or `line 3`."""
        return self.text("id") or f"line {self.number}"

    @property
    def question(self) -> str:
        asked = self.fields.get("question")
        if not isinstance(asked, str):
            raise BadInput(f"Line {self.number} has no question: {FORM}.")
        return _whole(asked)

    def text(self, *names: str) -> str | None:
        """The first of these fields that says something; numbers are taken as they are written."""
        for name in names:
            value = self.fields.get(name)
            if isinstance(value, bool) or not isinstance(value, str | int | None):
                raise BadInput(f"Line {self.number}: {name!r} has to be a text.")
            if value not in (None, ""):
                return _whole(str(value))
        return None

    def texts(self, name: str) -> tuple[str, ...]:
        """A text, or a list of them."""
        value = self.fields.get(name)
        if value is None:
            return ()
        if isinstance(value, str):
            return (_whole(value),)
        if not isinstance(value, list):
            raise BadInput(f"Line {self.number}: {name!r} has to be a text or a list of texts.")
        return tuple(_whole(str(item)) for item in value)


def read_line(line: str, number: int) -> QuestionLine:
    try:
        fields = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadInput(f"Line {number} is not JSON ({error.msg} at character {error.colno}): {FORM}.") from error
    except (RecursionError, ValueError) as error:  # nested without end, or a number of thousands of digits
        raise BadInput(f"Line {number} is not JSON that can be read: {FORM}.") from error
    if not isinstance(fields, dict):
        raise BadInput(f"Line {number} is no object: {FORM}.")
    return QuestionLine(number=number, fields=fields)


def _whole(text: str) -> str:
    return _HALF.sub("\ufffd", text)
