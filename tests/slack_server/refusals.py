"""How Slack says no: an error's name in a reply of status 200, with details where it gives them."""

from collections.abc import Sequence
from typing import Any


class Refusal(Exception):
    """`messages` are the details in `response_metadata`; `more` are further fields of the reply."""

    def __init__(self, error: str, *, messages: Sequence[str] = (), **more: Any) -> None:
        super().__init__(error)
        self.error = error
        self.messages = list(messages)
        self.more = more

    def to_json(self) -> dict[str, Any]:
        details = {"response_metadata": {"messages": self.messages}} if self.messages else {}
        return {"ok": False, "error": self.error, **self.more, **details}


def invalid(error: str, problems: Sequence[str], **more: Any) -> Refusal:
    """What is wrong with blocks or a view: each problem names its place."""
    listed = {"errors": list(problems)} if error == "invalid_blocks" else {}
    return Refusal(error, messages=[f"[ERROR] {one}" for one in problems], **listed, **more)
