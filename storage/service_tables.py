"""The tables of what people set, beside those of storage/tables.py: whoever needs all of them imports this module."""

from sqlalchemy import CheckConstraint
from sqlmodel import Field

from core.domain.settings import Listening
from storage.column_types import CompactJson, StorableText
from storage.tables import FootnoteTable

__all__ = ["ChannelSettingsRow", "FootnoteTable", "ReadingPositionRow", "ThreadListeningRow"]


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

    No foreign key: a document that is taken out and read in again keeps its id, and its spoilers.
    """

    __tablename__ = "reading_position"
    __table_args__ = (CheckConstraint("last_page >= 1", name="last_page"),)

    workspace: str = Field(primary_key=True, sa_type=StorableText)
    platform: str = Field(primary_key=True, sa_type=StorableText)
    channel: str = Field(primary_key=True, sa_type=StorableText)
    person: str = Field(primary_key=True, sa_type=StorableText)
    document_id: str = Field(primary_key=True, sa_type=StorableText)
    last_page: int
