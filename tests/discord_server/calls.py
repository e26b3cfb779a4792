"""A request as the bot made it, and how it was answered."""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from aiohttp import BodyPartReader, web


@dataclass(slots=True)
class Upload:
    """One uploaded file, as simcord's routes read it."""

    filename: str
    data: bytes
    description: str | None = None
    fp: io.BytesIO = field(init=False)

    def __post_init__(self) -> None:
        self.fp = io.BytesIO(self.data)


@dataclass(kw_only=True, slots=True)
class Call:
    method: str
    path: str  # without "/api/v10", still percent-encoded
    params: Mapping[str, str]
    json: Any = None
    files: list[Upload] = field(default_factory=list)
    reason: str | None = None  # for the audit log
    authorization: str | None = None
    at: float  # loop time at which it came
    status: int | None = None  # None: not answered yet; 0: carried out, reply lost
    reply: Any = None  # the JSON it was answered with

    @property
    def parts(self) -> list[str]:
        return self.path.strip("/").split("/")

    @property
    def body(self) -> dict[str, Any]:
        return self.json if isinstance(self.json, dict) else {}


async def read_call(request: web.Request, at: float) -> Call:
    reason = request.headers.get("X-Audit-Log-Reason")
    call = Call(
        method=request.method,
        path="/" + request.rel_url.raw_path.split("/", 3)[3],
        params=dict(request.query),
        reason=None if reason is None else unquote(reason),
        authorization=request.headers.get("Authorization"),
        at=at,
    )
    if request.content_type == "multipart/form-data":
        await _read_form(request, call)
    elif request.can_read_body:
        call.json = json.loads(await request.read() or b"null")
    return call


async def _read_form(request: web.Request, call: Call) -> None:
    async for part in await request.multipart():
        assert isinstance(part, BodyPartReader)
        data = bytes(await part.read())
        if part.filename is not None:
            call.files.append(Upload(part.filename, data))
        elif part.name == "payload_json":
            call.json = json.loads(data)
    for told in _message_body(call.body).get("attachments") or []:
        if str(told.get("id")).isdigit() and int(told["id"]) < len(call.files):
            call.files[int(told["id"])].description = told.get("description")


def _message_body(body: dict[str, Any]) -> dict[str, Any]:
    """The message in the body: itself, an interaction's `data`, or a forum post's `message`."""
    nested = body.get("data") or body.get("message")
    return nested if isinstance(nested, dict) else body
