"""Cassettes as bytes and back: JSON, packed."""

import json
import zlib
from dataclasses import replace
from functools import cache

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from core.domain.answer import Answer, Usage
from core.domain.features import Cassette
from core.errors import InvalidState
from core.serializers.objects import answer_json

# Part of an answer that every run has of its own.
_OWN = ("conversation_id", "message_id", "jobs", "timings_ms")
# A packed cassette of some bytes may stand for gigabytes; none that we wrote comes near.
MOST_BYTES = 64 * 1024 * 1024


def pack(cassette: Cassette) -> bytes:
    """Halves of characters, which platforms and models may send, become "?". InvalidState for more than MOST_BYTES."""
    try:
        text = _adapter().dump_json(cassette)
    except PydanticSerializationError:
        shown = _adapter().dump_python(cassette, mode="json")
        text = json.dumps(shown, ensure_ascii=False).encode("utf-8", "replace")
    if len(text) > MOST_BYTES:
        raise InvalidState(f"This run is larger than {MOST_BYTES:,} bytes: it is not kept.")
    return zlib.compress(text, level=1)  # three times as fast as the default, for a fifth more bytes


def unpack(data: bytes) -> Cassette:
    """Return the cassette. InvalidState for data of another version."""
    opened = zlib.decompressobj()
    try:
        text = opened.decompress(data, MOST_BYTES)
        if opened.unconsumed_tail:
            raise InvalidState(f"This cassette is larger than {MOST_BYTES:,} bytes: it is not one of ours.")
        return _adapter().validate_json(text)
    except (zlib.error, ValidationError) as error:
        raise InvalidState(
            "This cassette was recorded by another version of Footnote and can't be read any more: ask again."
        ) from error


def answer_bytes(answer: Answer) -> bytes:
    """Return the bytes that two runs must share: the answer object without IDs, times and jobs."""
    shown = answer_json(replace(answer, usage=Usage(), timings_ms={}))
    kept = {name: value for name, value in shown.items() if name not in _OWN}
    return json.dumps(kept, ensure_ascii=False, sort_keys=True, indent=1).encode("utf-8", "replace")


@cache
def _adapter() -> "TypeAdapter[Cassette]":
    """Made at the first use: it takes a tenth of a second."""
    return TypeAdapter(Cassette)
