"""The tables of what people set and install, beside those of corpus.py; whoever needs all imports this one."""

from datetime import datetime

from sqlalchemy import CheckConstraint
from sqlmodel import Field

from core.domain.settings import Listening
from storage.tables.column_types import CompactJson, StorableText, UtcTime
from storage.tables.corpus import FootnoteTable

# The channel of positions that hold where nobody else reads: no platform has one without a platform's name.
OWN_THREADS = "own threads"

__all__ = [
    "ChannelSettingsRow",
    "FootnoteTable",
    "InstallationRow",
    "OneTimeCodeRow",
    "ReadingPositionRow",
    "ThreadListeningRow",
]


class ChannelSettingsRow(FootnoteTable, table=True):
    """What is set for a channel. `sources` are names; NULL is every one."""

    __tablename__ = "channel_settings"
    __table_args__ = (CheckConstraint("questions_per_minute >= 1", name="questions_per_minute"),)

    workspace: str = Field(primary_key=True, sa_type=StorableText)
    platform: str = Field(primary_key=True, sa_type=StorableText)
    channel: str = Field(primary_key=True, sa_type=StorableText)
    auto_answer: bool = False
    answer_posts: bool = False
    questions_per_minute: int | None = None
    language: str | None = Field(default=None, sa_type=StorableText)
    strategy: str | None = Field(default=None, sa_type=StorableText)
    sources: list[str] | None = Field(default=None, sa_type=CompactJson)


class ThreadListeningRow(FootnoteTable, table=True):
    """Whether questions of a thread need a mention."""

    __tablename__ = "thread_listening"
    __table_args__ = (
        CheckConstraint(f"listening IN ({', '.join(repr(item.value) for item in Listening)})", name="listening"),
    )

    workspace: str = Field(primary_key=True, sa_type=StorableText)
    platform: str = Field(primary_key=True, sa_type=StorableText)
    channel: str = Field(primary_key=True, sa_type=StorableText)
    thread: str = Field(primary_key=True, sa_type=StorableText)
    listening: str = Field(sa_type=StorableText)


class ReadingPositionRow(FootnoteTable, table=True):
    """How far a document may be read: in a channel (`person` is empty), or by a person (platform and channel are).

    What a person sees in their own threads alone has OWN_THREADS as its channel. 0 is a book that nobody has begun.
    No foreign key: a document that is taken out and read in again keeps its id, and its spoilers.
    """

    __tablename__ = "reading_position"
    __table_args__ = (CheckConstraint("last_page >= 0", name="last_page"),)

    workspace: str = Field(primary_key=True, sa_type=StorableText)
    platform: str = Field(primary_key=True, sa_type=StorableText)
    channel: str = Field(primary_key=True, sa_type=StorableText)
    person: str = Field(primary_key=True, sa_type=StorableText)
    document_id: str = Field(primary_key=True, sa_type=StorableText)
    last_page: int


class InstallationRow(FootnoteTable, table=True):
    """A team that installed the app. `sealed_token` is encrypted (storage/sql/sealing.py); `scopes` are sorted."""

    __tablename__ = "installation"

    platform: str = Field(primary_key=True, sa_type=StorableText)
    team_id: str = Field(primary_key=True, sa_type=StorableText)
    team_name: str = Field(sa_type=StorableText)
    team_url: str = Field(sa_type=StorableText)
    bot_user_id: str = Field(sa_type=StorableText)
    bot_id: str = Field(sa_type=StorableText)
    sealed_token: str = Field(sa_type=StorableText)
    scopes: list[str] = Field(sa_type=CompactJson)
    installed_at: datetime = Field(sa_type=UtcTime)
    installed_by: str = Field(sa_type=StorableText)


class OneTimeCodeRow(FootnoteTable, table=True):
    """A code that was issued and not consumed yet; only its SHA-256 is kept, so that a copy of the table is no key."""

    __tablename__ = "one_time_code"

    purpose: str = Field(primary_key=True, sa_type=StorableText)
    code_hash: str = Field(primary_key=True, sa_type=StorableText)
    expires_at: datetime = Field(sa_type=UtcTime)
