"""The visible text of a model's turn while it runs: the growing answer, and not the words before a tool call."""

from core.domain.answer import ChatRequest, ToolChoice
from core.ports import ProgressSink

# Words before a tool call are a sentence or two; an answer is longer. What turns out to stand before a call after all
# is taken back (`reset`).
HELD_CHARACTERS = 160
# Of a turn that has results of tools before it, which most often is the answer: people wait for its first words.
HELD_AFTER_RESULTS = 32


def held_characters(request: ChatRequest) -> int:
    """How much of a turn's text is held back until it is shown."""
    if request.tool_choice is ToolChoice.NONE or not request.tools:
        return 0
    return HELD_AFTER_RESULTS if request.messages and request.messages[-1].tool_results else HELD_CHARACTERS


class HeldText:
    """Passes a turn's text on to `progress` once it is longer than the usual words before a tool call."""

    def __init__(self, progress: ProgressSink, characters: int = HELD_CHARACTERS) -> None:
        self._progress = progress
        self._characters = characters
        self._held = ""
        self._open = False
        self.heard = False  # whether any text came

    def __call__(self, piece: str) -> None:
        self.heard = self.heard or bool(piece)
        if self._open:
            self._progress.text(piece)
            return
        self._held += piece
        if len(self._held) > self._characters:
            self.release()

    def release(self) -> None:
        """Show the held text: the turn is an answer."""
        if not self._open and self._held:
            self._progress.text(self._held)
        self._open = True
        self._held = ""

    def drop(self) -> None:
        """Discard the text and take back the shown part: the turn is no answer."""
        self._progress.reset()
        self._open = False
        self._held = ""
