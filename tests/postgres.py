"""A schema of its own on the PostgreSQL server that the environment names; tests skip where it names none."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import create_engine, make_url, text

POSTGRES_VARIABLE = "FOOTNOTE_TEST_POSTGRES_URL"


@contextmanager
def postgres_schema() -> Iterator[str]:
    """The URL of an empty schema, dropped at the end."""
    server = os.environ.get(POSTGRES_VARIABLE)
    if not server:
        pytest.skip(f"{POSTGRES_VARIABLE} is not set")
    schema = f"footnote_test_{uuid.uuid4().hex[:12]}"
    engine = create_engine(make_url(server).set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    try:
        yield make_url(server).update_query_dict({"options": f"-csearch_path={schema}"}).render_as_string(False)
    finally:
        with engine.begin() as connection:
            connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
        engine.dispose()
