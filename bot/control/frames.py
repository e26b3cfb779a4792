"""Frames on the control socket: four bytes of length, most significant first, then one JSON object in ASCII.

A caller sends one frame, and after it at most the byte STOP: it does not want the result any more. One that dies sends
nothing.
"""

import asyncio
import json
from typing import Any

HEADER_BYTES = 4
# A list of all documents of a large library takes some 10 MB; more than this is a mistake.
MAX_FRAME_BYTES = 256 * 1024 * 1024
STOP = b"\x03"
PROTOCOL = 2  # raised when frames or calls stop fitting older processes


async def read_frame(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    """The next frame, or None at the end. ValueError for anything else; ConnectionError when it breaks off."""
    try:
        size = int.from_bytes(await reader.readexactly(HEADER_BYTES))
        if size > MAX_FRAME_BYTES:
            raise ValueError(f"a frame of {size} bytes is too long")
        frame = json.loads(await reader.readexactly(size))
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise ConnectionResetError("the connection broke in the middle of a frame") from error
        return None
    if not isinstance(frame, dict):
        raise ValueError("a frame that is no object")
    return frame


def frame_bytes(frame: dict[str, Any]) -> bytes:
    """ASCII, so that lone surrogates of odd file names pass."""
    body = json.dumps(frame, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    return len(body).to_bytes(HEADER_BYTES) + body
