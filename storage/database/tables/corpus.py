"""The tables of the library: source -> document -> page -> passage. Deleting the left deletes the right.

What a row can take from the row it belongs to it does not repeat: a document's workspace is its source's, a passage's
document, revision and page number are its page's. Only one revision of a document is ever stored.

A passage keeps its own text, although `substr(page.text, start, length)` would give it: a database walks the page's
text from its beginning for each, which takes seconds on long ones. The check of their lengths holds the two together.
"""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, UniqueConstraint
from sqlmodel import Field

from storage.database.tables.base import FootnoteTable, json_column, key_column, text_column, time_column


class SourceRow(FootnoteTable, table=True):
    __tablename__ = "source"
    __table_args__ = (UniqueConstraint("workspace", "name"),)

    id: str = key_column()
    workspace: str = text_column()
    name: str = text_column()
    kind: str = text_column()
    location: str = text_column()
    link_template: str | None = text_column(default=None)


class DocumentRow(FootnoteTable, table=True):
    """A document; `pages` and `passages` count the rows of its live revision."""

    __tablename__ = "document"
    __table_args__ = (
        UniqueConstraint("source_id", "path"),
        CheckConstraint("pages >= 0 AND passages >= 0", name="counts"),
        CheckConstraint("revision IS NOT NULL OR (pages = 0 AND passages = 0)", name="revision"),
        CheckConstraint("(stamp_size IS NULL) = (stamp_modified_ns IS NULL) AND stamp_size >= 0", name="stamp"),
    )

    id: str = key_column()
    source_id: str = text_column(foreign_key="source.id", ondelete="CASCADE")
    path: str = text_column()
    title: str = text_column()
    kind: str = text_column()
    revision: str | None = text_column(default=None)
    url: str | None = text_column(default=None)
    pages: int = 0
    passages: int = 0
    stamp_size: int | None = Field(default=None, sa_type=BigInteger)
    stamp_modified_ns: int | None = Field(default=None, sa_type=BigInteger)
    crawled_at: datetime | None = time_column(default=None)
    extracted_at: datetime | None = time_column(default=None)
    failed_reason: str | None = text_column(default=None)
    aliases: list[str] = json_column()
    depends_on: list[str] = json_column()


class PageRow(FootnoteTable, table=True):
    """A page. `headings` is [[level, title, start], ...], `anchors` [[name, place], ...]; old ones have no `place`."""

    __tablename__ = "page"
    __table_args__ = (UniqueConstraint("document_id", "number"), CheckConstraint("number >= 1", name="number"))

    id: str = key_column()
    document_id: str = text_column(foreign_key="document.id", ondelete="CASCADE")
    revision: str = text_column()
    number: int
    title: str = text_column()
    deep_link: str | None = text_column(default=None)
    heading_path: list[str] = json_column()
    headings: list[list[int | str]] = json_column()
    anchors: list[list[int | str]] = json_column()
    place: dict[str, int | str] | None = json_column(default=None)
    text: str = text_column()


class PassageRow(FootnoteTable, table=True):
    """A passage. `sentences` is flat: [start, end, start, end, ...], offsets in the page."""

    __tablename__ = "passage"
    __table_args__ = (
        CheckConstraint("ordinal >= 0", name="ordinal"),
        CheckConstraint("span_start >= 0 AND span_end >= span_start", name="span"),
        CheckConstraint("length(text) = span_end - span_start", name="text"),
    )

    id: str = key_column()
    page_id: str = text_column(foreign_key="page.id", ondelete="CASCADE", index=True)
    ordinal: int
    span_start: int
    span_end: int
    heading_path: list[str] = json_column()
    sentences: list[int] = json_column()
    text: str = text_column()
