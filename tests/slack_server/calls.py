"""A request as the bot made it, how it was answered, and its parameters, however they were sent."""

import base64
import binascii
import json
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.slack_server.refusals import Refusal

# Parameters that hold JSON: a form sends them as text.
NESTED = {
    "blocks", "attachments", "view", "metadata", "chunks", "files", "prompts", "loading_messages", "unfurls",
}  # fmt: skip

POSTS = ("chat.postMessage", "chat.postEphemeral", "chat.startStream")
UPDATES = ("chat.update", "chat.delete", "chat.appendStream", "chat.stopStream")


class Params(dict[str, Any]):
    """The parameters of one call, JSON already read."""

    def text(self, name: str) -> str:
        """Refuses the call when there is none."""
        value = self.get(name)
        if value is None or value == "":
            raise Refusal("invalid_arguments", messages=[f"[ERROR] missing required field: {name}"])
        return str(value)

    def maybe(self, name: str) -> str | None:
        value = self.get(name)
        return None if value is None or value == "" else str(value)

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.get(name)
        return default if value is None else str(value).lower() in ("1", "true")

    def number(self, name: str, default: int) -> int:
        try:
            return int(self.get(name) or default)
        except ValueError:
            raise Refusal("invalid_arguments", messages=[f"[ERROR] must be a number [json-pointer:/{name}]"]) from None

    def listed(self, name: str) -> list[Any] | None:
        value = self.get(name)
        if value is None or value == "":
            return None
        if not isinstance(value, list):
            raise Refusal(f"invalid_{name}_format" if name == "blocks" else "invalid_arguments")
        return value

    def mapped(self, name: str) -> dict[str, Any] | None:
        value = self.get(name)
        if value is None or value == "":
            return None
        if not isinstance(value, dict):
            raise Refusal("invalid_metadata_format" if name == "metadata" else "invalid_arguments")
        return value


@dataclass(kw_only=True, slots=True)
class Call:
    method: str  # "chat.postMessage"; "response_url", "upload" and "download" for what is no method
    params: Params
    token: str | None = None
    basic: tuple[str, str] | None = None  # client id and secret
    at: float  # loop time at which it came
    status: int | None = None  # None: not answered yet; 0: carried out, reply lost
    reply: dict[str, Any] = field(default_factory=dict)  # the JSON it was answered with

    @property
    def error(self) -> str | None:
        """Why Slack refused it; None: it did not."""
        return self.reply.get("error")

    @property
    def channel(self) -> str | None:
        """The channel it was about: of its parameters, or of what was done."""
        told = self.reply.get("channel")
        return told if isinstance(told, str) else self.params.get("channel")

    @property
    def carried_out(self) -> bool:
        return bool(self.reply.get("ok"))

    @property
    def posted(self) -> bool:
        """Whether it made a message."""
        made = self.method in POSTS or (self.method == "response_url" and not self._replaces)
        return made and self.carried_out

    @property
    def updated(self) -> bool:
        """Whether it changed a message, or took one away."""
        changed = self.method in UPDATES or (self.method == "response_url" and self._replaces)
        return changed and self.carried_out

    @property
    def _replaces(self) -> bool:
        return self.params.flag("replace_original") or self.params.flag("delete_original")


async def read_call(request: web.Request, method: str, at: float) -> Call:
    params = Params(request.query)
    if request.content_type == "application/json":
        read = json.loads(await request.read() or b"{}")
        params.update(read if isinstance(read, dict) else {})
    elif request.can_read_body and request.content_type.startswith(("application/x-www-form", "multipart/form")):
        params.update({name: value for name, value in (await request.post()).items() if isinstance(value, str)})
    for name in NESTED & params.keys():
        params[name] = _unpacked(params[name])
    kind, _, credentials = request.headers.get("Authorization", "").partition(" ")
    token = credentials if kind == "Bearer" else params.pop("token", None)
    return Call(method=method, params=params, token=token, basic=_basic(kind, credentials), at=at)


def _unpacked(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value) if value else None
    except ValueError:
        return value  # refused where it is used


def _basic(kind: str, credentials: str) -> tuple[str, str] | None:
    if kind != "Basic":
        return None
    try:
        name, _, secret = base64.b64decode(credentials).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return name, secret
