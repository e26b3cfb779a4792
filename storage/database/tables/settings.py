"""The tables of what people set."""

from sqlalchemy import CheckConstraint

from core.domain.service import Listening
from storage.database.tables.base import FootnoteTable, json_column, key_column, one_of, text_column

# The channel of positions that hold where nobody else reads: no platform has one without a platform's name.
OWN_THREADS = "own threads"


class ChannelSettingsRow(FootnoteTable, table=True):
    """What is set for a channel. `sources` are names; NULL is every one."""

    __tablename__ = "channel_settings"
    __table_args__ = (CheckConstraint("questions_per_minute >= 1", name="questions_per_minute"),)

    workspace: str = key_column()
    platform: str = key_column()
    channel: str = key_column()
    auto_answer: bool = False
    answer_posts: bool = False
    questions_per_minute: int | None = None
    language: str | None = text_column(default=None)
    strategy: str | None = text_column(default=None)
    sources: list[str] | None = json_column(default=None)


class ThreadListeningRow(FootnoteTable, table=True):
    """Whether questions of a thread need a mention."""

    __tablename__ = "thread_listening"
    __table_args__ = (one_of("listening", Listening),)

    workspace: str = key_column()
    platform: str = key_column()
    channel: str = key_column()
    thread: str = key_column()
    listening: str = text_column()


class ReadingPositionRow(FootnoteTable, table=True):
    """How far a document may be read: in a channel (`person` is empty), or by a person (platform and channel are).

    What a person sees in their own threads alone has OWN_THREADS as its channel. 0 is a book that nobody has begun.
    No foreign key: a document that is taken out and read in again keeps its id, and its spoilers.
    """

    __tablename__ = "reading_position"
    __table_args__ = (CheckConstraint("last_page >= 0", name="last_page"),)

    workspace: str = key_column()
    platform: str = key_column()
    channel: str = key_column()
    person: str = key_column()
    document_id: str = key_column()
    last_page: int
