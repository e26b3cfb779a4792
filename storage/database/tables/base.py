"""What all tables share: their base, and columns by what they hold. Long texts are the last columns of a table.

SQLite reads a row from the left and leaves out the tail that nobody asked for.
"""

from enum import StrEnum
from typing import Any

from sqlalchemy import CheckConstraint, MetaData
from sqlmodel import Field, SQLModel

from storage.database.tables.column_types import CompactJson, StorableText, UtcTime

_NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


class FootnoteTable(SQLModel):
    """Base of all tables: their own metadata, so that nobody else's SQLModel classes get into the migrations."""

    metadata = MetaData(naming_convention=_NAMES)


def one_of(column: str, values: type[StrEnum]) -> CheckConstraint:
    listed = ", ".join(f"'{value.value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


def key_column(**options: Any) -> Any:
    return Field(primary_key=True, sa_type=StorableText, **options)


def text_column(**options: Any) -> Any:
    return Field(sa_type=StorableText, **options)


def json_column(**options: Any) -> Any:
    return Field(sa_type=CompactJson, **options)


def time_column(**options: Any) -> Any:
    return Field(sa_type=UtcTime, **options)
