"""Which recorded run an id means: all of it, or as much of its beginning as only one run has."""

from collections.abc import Sequence

from core.domain.features import StoredCassette
from core.errors import NotFound
from storage.storable import to_storable

FEWEST_CHARACTERS = 6  # of an id that is not written to its end


def the_one(message_id: str, alike: Sequence[StoredCassette]) -> StoredCassette:
    """Of the runs whose ids begin with it. Raises NotFound where none, or more than one, can be meant."""
    wanted = to_storable(message_id)
    exact = [item for item in alike if item.message_id == wanted]
    near = alike if len(wanted) >= FEWEST_CHARACTERS and len(alike) == 1 else []
    if not exact and not near:
        raise unknown(message_id)
    return (exact or near)[0]


def unknown(message_id: str) -> NotFound:
    """The error for an id that no run has."""
    return NotFound(
        f"There is no recorded run {message_id!r}: `footnote replay` lists them. They are kept for some days where "
        "replay.record is on, and go with their conversation and documents."
    )
