"""The turn model, loaded once for all tests of a process."""

from storage.models.local.turns import LocalTurnModel

TURN_MODEL = LocalTurnModel()
