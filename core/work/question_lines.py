"""A line of a question file (JSON lines), for batches and evaluations. Pure; raises BadInput naming the line."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import BadInput

FORM = 'write {"id": "...", "question": "..."}'
_HALF = re.compile("[\ud800-\udfff]")  # of a surrogate pair: JSON can escape one, no other text holds it


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
