"""What a test tells the server to say or to break."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class Cite:
    """A citation of the request's first search result that holds `quote`: the blocks the quote lies in.

    `overrides` replaces fields of the finished citation, to make a wrong one.
    """

    quote: str
    overrides: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Say:
    """A text block; `pieces` are its streamed deltas (default: one a word)."""

    text: str
    cites: tuple[Cite, ...] = ()
    pieces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; with `cut`, its JSON is streamed only half."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Think:
    text: str


class Break(StrEnum):
    """Where a reply's stream breaks, each after its first content block."""

    CUT = "cut"  # ends like a finished body, without its last events
    DROP = "drop"  # the connection goes away
    STALL = "stall"  # nothing more comes
    PING = "ping"  # only pings come
    BAD_JSON = "bad_json"
    BAD_EVENT = "bad_event"  # JSON of a wrong shape
    ERROR = "error"  # an error event, `error_type`


@dataclass(frozen=True, slots=True)
class Reply:
    """A message. The stop reason follows from its parts unless given."""

    parts: tuple[Say | Call | Think, ...]
    stop_reason: str | None = None
    stop_details: Mapping[str, Any] | None = None
    output_tokens: int = 7
    breaks: Break | None = None
    breaks_after: int = 1  # content blocks sent whole before the break
    error_type: str = "overloaded_error"
    gap_seconds: float = 0.0  # between events
    delay_seconds: float = 0.0  # before the first

    @classmethod
    def of(cls, *parts: Say | Call | Think | str, **options: Any) -> "Reply":
        return cls(parts=tuple(Say(part) if isinstance(part, str) else part for part in parts), **options)


@dataclass(frozen=True, slots=True)
class Fault:
    """An answer with an error status; `status` 0: the connection is dropped, -1: no answer ever comes."""

    status: int
    message: str = "as the test asked"
    type: str = ""
    error_code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None  # instead of the API's JSON, as a proxy would
