"""More time for what takes long by its nature: a reader asks for the whole time limit anew before each such step.

Whoever runs the reader says what asking does; where nobody does, there is all the time in the world.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ask: ContextVar[Callable[[], bool] | None] = ContextVar("ask_for_time", default=None)


def ask_for_time() -> bool:
    """Begin a step that may take as long as the time limit of a file; False when no more such steps are allowed."""
    ask = _ask.get()
    return ask is None or ask()


@contextmanager
def answering(ask: Callable[[], bool]) -> Iterator[None]:
    """Answer `ask_for_time` by `ask` inside of the block."""
    token = _ask.set(ask)
    try:
        yield
    finally:
        _ask.reset(token)
