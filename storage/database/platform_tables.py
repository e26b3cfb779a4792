"""The tables of people and platforms: servers and teams, greetings, documents added through a chat, kept answers,
installed apps, signed-in browsers, API tokens and the audit log.
"""

from datetime import datetime

from sqlalchemy import Index, text
from sqlmodel import Field

from core.domain.additions import AdditionKind, AdditionState
from core.domain.identity import Role, TokenScope
from core.domain.kept_answers import KeptState
from storage.database.columns import FootnoteTable, json_column, key_column, one_of, text_column, time_column


class PlatformTeamRow(FootnoteTable, table=True):
    """A server or team of a chat platform, and the workspace that it is bound to; NULL: its own."""

    platform: str = key_column()
    id: str = key_column()
    name: str = text_column()
    is_connected: bool = False
    workspace: str | None = text_column(default=None)
    changed_at: datetime | None = time_column(default=None)
    left_at: datetime | None = time_column(default=None)


class GreetingRow(FootnoteTable, table=True):
    """A server, team or channel that the bot joined; it is greeted once."""

    platform: str = key_column()
    place: str = key_column()
    is_greeted: bool = False


class AdditionRow(FootnoteTable, table=True):
    """A document that a person added or proposed through a chat. No foreign key: its document may not be read yet."""

    __table_args__ = (
        one_of("kind", AdditionKind),
        one_of("state", AdditionState),
        Index(None, "workspace", "state"),
        Index(None, "platform", "is_settled"),
    )

    id: str = key_column()
    workspace: str = text_column()
    kind: str = text_column()
    name: str = text_column()
    platform: str = text_column()
    channel: str = text_column()
    thread: str = text_column()
    author: str = text_column()
    author_name: str = text_column()
    state: str = text_column()
    is_settled: bool = False
    post_ref: str | None = text_column(default=None)
    decided_by: str = text_column()
    decided_by_name: str = text_column()
    path: str = text_column()
    document_id: str = text_column()
    revision: str = text_column()
    pages: int
    created_at: datetime = time_column()
    changed_at: datetime | None = time_column(default=None)
    owner: str | None = text_column(default=None)  # the process that works on it
    lease_until: datetime | None = time_column(default=None)
    details: dict[str, str] = json_column()
    reason: str = text_column()


class KeptAnswerRow(FootnoteTable, table=True):
    """An answer that a person proposed to keep. `rests_on` has the lists of a Provenance.

    No foreign keys: lost messages and documents are found by comparing.
    """

    __table_args__ = (one_of("state", KeptState), Index(None, "workspace", "created_at"))

    id: str = key_column()
    workspace: str = text_column()
    state: str = text_column()
    platform: str = text_column()
    channel: str = text_column()
    thread: str = text_column()
    said_by: str = text_column()
    said_by_name: str = text_column()
    author: str = text_column()
    author_name: str = text_column()
    decided_by: str = text_column()
    decided_by_name: str = text_column()
    answer_id: str = text_column()
    origin: str = text_column()
    document_id: str = text_column(index=True)
    link: str = text_column()
    created_at: datetime = time_column()
    changed_at: datetime = time_column()
    expires_at: datetime = time_column()
    readers: list[str] = json_column()
    rests_on: dict[str, list[str]] = json_column()
    question: str = text_column()
    text: str = text_column()


class ChannelMessageRow(FootnoteTable, table=True):
    """A message of a person in a live channel; without a text, it was deleted. It goes with its channel's source."""

    source_id: str = key_column(foreign_key="source.id", ondelete="CASCADE")
    id: str = key_column()
    root: str = text_column(index=True)
    author: str = text_column(index=True)
    author_name: str = text_column()
    said_at: datetime = time_column()
    begun_at: datetime = time_column()
    text: str = text_column()
    link: str = text_column()
    version: int
    is_gone: bool
    is_read: bool


class ChannelVisitRow(FootnoteTable, table=True):
    """The last time that a person wrote in a live channel, or caught up with it."""

    source_id: str = key_column(foreign_key="source.id", ondelete="CASCADE")
    person: str = key_column()
    seen_at: datetime = time_column()


class InstallationRow(FootnoteTable, table=True):
    """A team that installed the app. `sealed_token` is encrypted (encryption.py); `scopes` are sorted."""

    platform: str = key_column()
    team_id: str = key_column()
    team_name: str = text_column()
    team_url: str = text_column()
    bot_user_id: str = text_column()
    bot_id: str = text_column()
    sealed_token: str = text_column()
    scopes: list[str] = json_column()
    installed_at: datetime = time_column()
    installed_by: str = text_column()


class OneTimeCodeRow(FootnoteTable, table=True):
    """A code that was issued and not consumed yet; only its SHA-256 is kept, so that a copy of the table is no key."""

    purpose: str = key_column()
    code_hash: str = key_column()
    expires_at: datetime = time_column()


class WebSessionRow(FootnoteTable, table=True):
    """A browser that signed in to the web app; its secret is only in the browser."""

    __table_args__ = (one_of("role", Role),)

    secret_hash: str = key_column()
    person: str = text_column()
    name: str = text_column()
    role: str = text_column()
    created_at: datetime = time_column()
    expires_at: datetime = time_column(index=True)


class WebPersonRow(FootnoteTable, table=True):
    """A person who signed in to the web app. Their messages keep the author of the first sign-in."""

    identity: str = key_column()
    author: str = text_column()
    name: str = text_column()
    groups: list[str] = json_column(sa_column_kwargs={"server_default": text("'[]'")})


class ApiTokenRow(FootnoteTable, table=True):
    """A person's key to the API; its secret was shown once."""

    __table_args__ = (one_of("scope", TokenScope),)

    id: str = key_column()
    secret_hash: str = text_column(unique=True)
    person: str = text_column()
    scope: str = text_column()
    created_at: datetime = time_column()
    used_at: datetime | None = time_column(default=None)
    readers: list[str] | None = json_column(default=None)


class AuditEntryRow(FootnoteTable, table=True):
    """An act of an admin or a moderator; `deed` is a Deed. The ids rise in the order of the commits."""

    __table_args__ = (Index(None, "workspace", "id"),)

    id: int | None = Field(default=None, primary_key=True)
    workspace: str = text_column()
    done_at: datetime = time_column()
    actor: str = text_column()
    deed: str = text_column()
    about: str = text_column()
