"""What a test tells the server to say or to break."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class Say:
    """Text; `cites` are quotes whose passages' numbers go behind it, as the request shows them."""

    text: str
    cites: tuple[str, ...] = ()
    pieces: tuple[str, ...] = ()  # as streamed; default: one a word


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; `raw` instead of arguments goes out as it stands."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None  # None: one of the server's own; "": none
    raw: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Think:
    """Thoughts: under a field's name, or between tags in the text."""

    text: str
    place: str = "reasoning_content"  # or "reasoning", or "<think>"


class Numbering(StrEnum):
    """How tool calls are told apart."""

    GOOD = "good"
    ALL_ZERO = "all zero"  # each under index 0
    NONE = "none"  # no index at all
    RUN_TOGETHER = "run together"  # index 0 and no ids: arguments one behind the other


class Break(StrEnum):
    """Where a reply's stream breaks, each after its first piece."""

    CUT = "cut"  # ends like a finished body, without a finish_reason
    DROP = "drop"  # the connection goes away
    STALL = "stall"  # nothing more comes
    COMMENTS = "comments"  # only comments come
    BAD_JSON = "bad_json"
    BAD_CHUNK = "bad_chunk"  # JSON of a wrong shape
    ERROR = "error"  # an error event, `error`


@dataclass(frozen=True, slots=True)
class Reply:
    """A message. The finish reason follows from its parts unless given."""

    parts: tuple[Say | Call | Think, ...]
    finish: str | None = None
    refusal: str | None = None
    numbering: Numbering = Numbering.GOOD
    breaks: Break | None = None
    breaks_after: int = 1  # pieces sent before the break
    error: Mapping[str, Any] = field(default_factory=lambda: {"message": "as the test asked", "code": "server_error"})
    gap_seconds: float = 0.0  # between pieces
    output_tokens: int = 7

    @classmethod
    def of(cls, *parts: Say | Call | Think | str, **options: Any) -> "Reply":
        return cls(parts=tuple(Say(part) if isinstance(part, str) else part for part in parts), **options)


@dataclass(frozen=True, slots=True)
class Fault:
    """An answer with an error status; `status` 0: the connection is dropped, -1: no answer ever comes."""

    status: int
    message: str = "as the test asked"
    code: str | int | None = None
    type: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None  # instead of JSON, as a proxy would
