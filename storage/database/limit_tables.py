"""The tables of limits: windows of questions, whose turn it was last, and the ledger of model calls."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, Index
from sqlmodel import Field

from core.domain.spending import CallPurpose
from storage.database.columns import FootnoteTable, key_column, one_of, text_column, time_column


class QuestionWindowRow(FootnoteTable, table=True):
    """The questions of a person, channel or workspace in its present window.

    A row whose key ends with "told ..." notes that this person heard of the full window that began then.
    """

    __table_args__ = (CheckConstraint("asked >= 0", name="asked"),)

    workspace: str = key_column()
    key: str = key_column()
    started_at: datetime = time_column(index=True)
    asked: int = 0


class QueueTurnRow(FootnoteTable, table=True):
    """When a question of a person or channel was last claimed."""

    workspace: str = key_column()
    key: str = key_column()
    served_at: datetime = time_column(index=True)


class ModelCallRow(FootnoteTable, table=True):
    """A call of a model. With a `lease_until` it runs, or its process was killed: its reservation counts until then.

    `day` is YYYY-MM-DD (UTC); money is in millionths of a dollar, NULL for a model without a price.
    """

    __table_args__ = (one_of("purpose", CallPurpose), Index(None, "workspace", "day"))

    id: str = key_column()
    day: str = text_column(index=True)
    workspace: str = text_column()
    channel: str = text_column()
    person: str = text_column()
    answer: str = text_column()
    purpose: str = text_column()
    model: str = text_column()
    lease_until: datetime | None = time_column(default=None)
    reserved_tokens: int
    reserved_micros: int | None = Field(default=None, sa_type=BigInteger)
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_micros: int | None = Field(default=None, sa_type=BigInteger)
