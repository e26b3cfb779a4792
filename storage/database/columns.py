"""The base of all tables, and their kinds of columns."""

import re
from enum import StrEnum
from typing import Any

from sqlalchemy import CheckConstraint, MetaData
from sqlalchemy.orm import declared_attr
from sqlmodel import Field, SQLModel

from storage.database.column_types import CompactJson, StorableText, UtcTime

_NAMES = {  # of indexes and constraints
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


class FootnoteTable(SQLModel):
    """Base of all tables, with metadata of its own: SQLModel classes of other packages stay out of the migrations.

    A table is named after its class: `channel_settings` of ChannelSettingsRow.
    """

    metadata = MetaData(naming_convention=_NAMES)

    @declared_attr.directive
    def __tablename__(cls) -> str:
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__.removesuffix("Row")).lower()


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
