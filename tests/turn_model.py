"""The turn model, loaded once for all tests of a process, and one that is unsure."""

from core.domain.turns import Act, Reading, Turn
from storage.models.local.turns import LocalTurnModel

TURN_MODEL = LocalTurnModel()


class UnsureTurns:
    """A turn model that takes every message for a question, or with this probability for one of another kind."""

    def __init__(self, kind: Act, share: float) -> None:
        self.reading = Reading({**dict.fromkeys(Act, 0.0), Act.ASK: 1 - share, kind: share})

    async def read(self, turn: Turn) -> Reading:
        return self.reading
