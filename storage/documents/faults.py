"""Faults of a reader in one part of a file: the part is lost, the rest is read, and the report names it."""

from collections.abc import Callable
from typing import TypeVar

from core.errors import FootnoteError

_Part = TypeVar("_Part")

_MEMORY = ("bad_alloc", "bad allocation", "failed to allocate")  # words of engines in C++, as their own kinds of error


def part_or(fallback: _Part, read: Callable[[], _Part], tell: Callable[[str], None]) -> _Part:
    """Return what `read` returns; if the reader fails at this part, tell the reason and return `fallback`.

    FootnoteError, MemoryError and RecursionError are about the whole file, and are raised.
    """
    try:
        return read()
    except (FootnoteError, MemoryError, RecursionError):
        raise
    except Exception as error:  # a bug in a reader may raise anything; only this part is lost
        if is_memory(error):
            raise MemoryError(str(error)) from error
        tell(f"its reader failed ({type(error).__name__}: {error})")
        return fallback


def is_memory(error: Exception) -> bool:
    """Return whether an error is a lack of memory, in any engine's words."""
    return isinstance(error, MemoryError) or any(words in str(error).lower() for words in _MEMORY)
