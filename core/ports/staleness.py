"""What noticing stale answers needs from outside: what was compared, and which notes are due. Others: core/ports."""

from collections.abc import Sequence
from typing import Protocol

from core.domain.staleness import Checked, DueNote, LiveTexts, StaleAnswer, Unchecked


class StaleRepository(Protocol):
    """How far answers were compared with what their documents say now. It all goes with its message."""

    async def list_unchecked(self) -> list[Unchecked]:
        """Answers that cite a document whose live revision they were not compared with, over all workspaces.

        By conversation, then message and document.
        """

    async def live_texts(self, document_id: str) -> LiveTexts | None:
        """Of one moment; None where the document is not there, or never was read."""

    async def record(self, conversation_id: str, checked: Sequence[Checked], note_id: str) -> bool:
        """Keep what comparisons found in a conversation, and mark its answers stale or not any more; in one commit.

        What somebody else has compared meanwhile (`was` does not fit), or removed, is left as it is. An answer that
        loses its first quote of a document is due to be told of by the note `note_id`, unless it is old; True when
        there is any.
        """

    async def due_notes(self) -> list[DueNote]:
        """Those that nobody has taken care of yet, over all workspaces, by id."""

    async def note_done(self, note_id: str) -> None:
        """Taken care of; unknown ids are ignored."""

    async def list_stale(self, workspace: str, conversation_id: str | None = None) -> list[StaleAnswer]:
        """Stale answers without their questions, by conversation (most recently used first), then oldest first.

        None: of all conversations.
        """
