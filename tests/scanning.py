"""Looks for words in all that a data directory and its databases hold: raw bytes of files, and every column of rows."""

import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, inspect, make_url, text

LONGEST_BEGINNING = 200  # characters of a value that is shown


def find_in_files(folder: Path, words: Sequence[str]) -> list[str]:
    """The files below a folder whose bytes hold one of the words, in any case, also compressed or as UTF-16."""
    return [
        f"{path.relative_to(folder)}: {word}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for word in _found(path.read_bytes(), words)
    ]


def find_in_database(url: str, words: Sequence[str]) -> list[str]:
    """The columns of a PostgreSQL schema or of a SQLite file that hold one of the words."""
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg") if "postgres" in url else url)
    found = []
    try:
        with engine.connect() as connection:
            for table in inspect(engine).get_table_names():
                for row in connection.execute(text(f'SELECT * FROM "{table}"')).mappings():
                    found += [
                        f"{table}.{column}: {word} in {str(value)[:LONGEST_BEGINNING]!r}"
                        for column, value in row.items()
                        for word in _found(_to_bytes(value), words)
                    ]
    finally:
        engine.dispose()
    return found


def _to_bytes(value: Any) -> bytes:
    return bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode("utf-8", "replace")


def _found(data: bytes, words: Iterable[str]) -> list[str]:
    forms = [form.lower() for form in _forms(data)]
    return [
        word
        for word in words
        if any(word.lower().encode() in form or word.lower().encode("utf-16-le") in form for form in forms)
    ]


def _forms(data: bytes) -> Iterator[bytes]:
    yield data
    with suppress(zlib.error):
        yield zlib.decompress(data)
    if data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            yield from (packed.read(name) for name in packed.namelist())
