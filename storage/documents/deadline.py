"""Deadline extensions for slow readers: each slow step may take the whole time limit.

The process that runs the reader sets the handler; without one, time is unlimited.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_handler: ContextVar[Callable[[], bool] | None] = ContextVar("deadline_handler", default=None)


def extend_deadline() -> bool:
    """Start a step that may take the time limit of a file; return False if no more such steps are allowed."""
    handler = _handler.get()
    return handler is None or handler()


@contextmanager
def deadline_handler(handler: Callable[[], bool]) -> Iterator[None]:
    """Handle `extend_deadline` with `handler` inside the block."""
    token = _handler.set(handler)
    try:
        yield
    finally:
        _handler.reset(token)
