"""The windows of questions, and turns, in SQL: read and changed inside the transactions of the inbox.

A window's row is locked until the commit, so that two processes never count the same place twice.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, select

from core.domain.incoming import IncomingMessage
from core.domain.limits import Asker, QuestionLimit, Window, admit
from core.domain.service import Decision
from storage.database import Database
from storage.database.column_types import UtcTime
from storage.database.tables import TABLES
from storage.text import to_storable

_WINDOW, _TURN = TABLES["question_window"], TABLES["queue_turn"]
_BEFORE = bindparam("before", type_=UtcTime)
_PURGE = (delete(_WINDOW).where(_WINDOW.c.started_at < _BEFORE), delete(_TURN).where(_TURN.c.served_at < _BEFORE))
_SERVED = select(_TURN).where(
    _TURN.c.workspace.in_(bindparam("workspaces", expanding=True)), _TURN.c.key.in_(bindparam("keys", expanding=True))
)


class Limits:
    def __init__(self, database: Database) -> None:
        self._save_windows, self._save_turns = database.upsert(_WINDOW), database.upsert(_TURN)
        # Changes nothing in a row that is there, but locks it.
        self._lock = (
            database.insert(_WINDOW)
            .on_conflict_do_update(index_elements=[*_WINDOW.primary_key], set_={"asked": _WINDOW.c.asked})
            .returning(_WINDOW.c.started_at, _WINDOW.c.asked)
        )

    def admit(
        self, connection: Connection, incoming: IncomingMessage, limits: Sequence[QuestionLimit], now: datetime
    ) -> Decision | None:
        """Count a question in all its windows, or return the refusal of the one that is full."""
        workspace = to_storable(incoming.address.workspace)
        # In one order, so that two questions never wait for each other's locks.
        windows = {key: self._find(connection, workspace, key, now) for key in sorted(limit.key for limit in limits)}
        counted, full = admit(limits, windows, now)
        if full is None:
            self._save(connection, workspace, counted)
            return None
        told_key = f"{full.key} told {incoming.address.platform}:{incoming.author}"
        window = counted[full.key]
        told = self._find(connection, workspace, told_key, window.started_at)
        is_announced = told.asked > 0 and told.started_at == window.started_at
        self._save(connection, workspace, {told_key: Window(started_at=window.started_at, asked=1)})
        return full.refuse(window, is_announced=is_announced)

    def served(self, connection: Connection, askers: Collection[Asker]) -> Mapping[tuple[str, str], datetime]:
        """Return when these people and channels had a turn last, by workspace and key."""
        keys = {key for asker in askers for key in asker.keys}
        wanted = {"workspaces": sorted({key[0] for key in keys}), "keys": sorted({key[1] for key in keys})}
        return {(row.workspace, row.key): row.served_at for row in connection.execute(_SERVED, wanted)}

    def record_turns(self, connection: Connection, askers: Collection[Asker], now: datetime) -> None:
        rows = [
            {"workspace": workspace, "key": key, "served_at": now}
            for workspace, key in sorted({key for asker in askers for key in asker.keys})
        ]
        if rows:
            connection.execute(self._save_turns, rows)

    def purge(self, connection: Connection, before: datetime) -> None:
        for statement in _PURGE:
            connection.execute(statement, {"before": before})

    def _find(self, connection: Connection, workspace: str, key: str, now: datetime) -> Window:
        """Return a window, locked; a new one begins now."""
        values = {"workspace": workspace, "key": key, "started_at": now, "asked": 0}
        row = connection.execute(self._lock, values).one()
        return Window(started_at=row.started_at, asked=row.asked)

    def _save(self, connection: Connection, workspace: str, windows: Mapping[str, Window]) -> None:
        rows = [
            {"workspace": workspace, "key": key, "started_at": item.started_at, "asked": item.asked}
            for key, item in windows.items()
        ]
        connection.execute(self._save_windows, rows)
