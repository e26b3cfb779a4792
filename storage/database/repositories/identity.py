"""Signed-in browsers and API tokens in SQL."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Executable, delete, insert, select, update

from core.domain.audit import Audit
from core.domain.identity import ApiToken, Role, TokenScope, WebSession
from storage.database import Commit, Database
from storage.database.repositories import audit as noted
from storage.database.tables import TABLES
from storage.text import to_storable_value

_SESSIONS, _TOKENS, _PEOPLE = (TABLES[name] for name in ("web_session", "api_token", "web_person"))


class SqlIdentityRepository:
    """IdentityRepository on a Database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_session(self, session: WebSession) -> None:
        old = delete(_SESSIONS).where(_SESSIONS.c.expires_at <= session.created_at)
        values = asdict(to_storable_value(session)) | {"role": session.role.value}
        await self._database.write(
            lambda connection: (connection.execute(old), connection.execute(insert(_SESSIONS), values)), Commit.DURABLE
        )

    async def find_session(self, secret_hash: str, now: datetime) -> WebSession | None:
        same = (_SESSIONS.c.secret_hash == secret_hash, _SESSIONS.c.expires_at > now)
        rows = await self._database.rows(select(_SESSIONS).where(*same))
        return _to_session(rows[0]) if rows else None

    async def remove_session(self, secret_hash: str) -> None:
        gone = delete(_SESSIONS).where(_SESSIONS.c.secret_hash == secret_hash)
        await self._database.change(gone, commit=Commit.DURABLE)

    async def remove_sessions(self, *, audit: Audit = None) -> int:
        return await self._change(delete(_SESSIONS), None, audit)

    async def meet(self, identity: str, author: str, name: str, groups: frozenset[str] = frozenset()) -> str:
        person = to_storable_value({"identity": identity, "author": author, "name": name, "groups": sorted(groups)})
        known = select(_PEOPLE).where(_PEOPLE.c.identity == identity)
        rows = await self._database.rows(known)
        if not rows or (rows[0].name, rows[0].groups) != (person["name"], person["groups"]):
            await self._database.change(self._database.upsert(_PEOPLE, keep={"author"}), person, Commit.DURABLE)
            rows = await self._database.rows(known)  # another process may have met them first
        return str(rows[0].author)

    async def names(self) -> dict[str, str]:
        rows = await self._database.rows(select(_PEOPLE.c.author, _PEOPLE.c.name))
        return {row.author: row.name for row in rows}

    async def groups_of(self, mark: str) -> frozenset[str]:
        found = select(_PEOPLE.c.author, _PEOPLE.c.groups).where(_PEOPLE.c.identity.startswith(mark, autoescape=True))
        rows = [row for row in await self._database.rows(found) if row.author.endswith(f" {mark}")]
        return frozenset(rows[0].groups) if len(rows) == 1 else frozenset()

    async def add_token(self, token: ApiToken, *, audit: Audit = None) -> None:
        readers = None if token.readers is None else sorted(token.readers)
        values = asdict(to_storable_value(token)) | {"scope": token.scope.value, "readers": readers}
        await self._change(insert(_TOKENS), values, audit)

    async def use_token(self, secret_hash: str, now: datetime) -> ApiToken | None:
        rows = await self._database.rows(select(_TOKENS).where(_TOKENS.c.secret_hash == secret_hash))
        if not rows:
            return None
        token = _to_token(rows[0])
        if token.used_at is None or token.used_at.date() != now.date():
            await self._database.change(update(_TOKENS).where(_TOKENS.c.id == token.id).values(used_at=now))
        return token

    async def list_tokens(self) -> list[ApiToken]:
        rows = await self._database.rows(select(_TOKENS).order_by(_TOKENS.c.created_at, _TOKENS.c.id))
        return [_to_token(row) for row in rows]

    async def remove_token(self, id: str, *, audit: Audit = None) -> bool:
        return await self._change(delete(_TOKENS).where(_TOKENS.c.id == id), None, audit) == 1

    async def _change(self, statement: Executable, values: Mapping[str, Any] | None, audit: Audit) -> int:
        """Run one statement durably, and note it if it changed anything; return the number of rows."""
        return await self._database.write(
            lambda connection: noted.change(connection, statement, values, audit), Commit.DURABLE
        )


def _to_session(row: Any) -> WebSession:
    return WebSession(**{**row._mapping, "role": Role(row.role)})


def _to_token(row: Any) -> ApiToken:
    readers = None if row.readers is None else frozenset(row.readers)
    return ApiToken(**{**row._mapping, "scope": TokenScope(row.scope), "readers": readers})
