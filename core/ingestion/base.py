"""Which reader reads a file: one visible list, asked by suffix and by what stands at the front of the file."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from core.errors import ReadError
from core.ingestion.readers.foundry_journal import FoundryJournalReader
from core.ingestion.readers.html import HtmlReader
from core.ingestion.readers.markdown_vault import MarkdownVaultReader
from core.ingestion.readers.pdf import PdfReader
from core.ingestion.readers.plain_text import PlainTextReader
from core.ports import Reader

# Bytes of a file that `Reader.accepts` is shown.
HEAD_BYTES = 4_096


def build_readers() -> tuple[Reader, ...]:
    """All readers, in the order they are asked. A new kind of file is one file in readers/ and one line here."""
    return (MarkdownVaultReader(), PlainTextReader(), HtmlReader(), FoundryJournalReader(), PdfReader())


def find_reader(path: Path, head: bytes, readers: Iterable[Reader]) -> Reader:
    """The first reader that accepts the file; `head` is its first HEAD_BYTES.

    Raises ReadError when none has its suffix ("no reader for .epub") or none that has recognises it.
    """
    candidates = readers_for(path, readers)
    for reader in candidates:
        if reader.accepts(path, head):
            return reader
    suffix = path.suffix.lower()
    if not candidates:
        raise ReadError(f"no reader for {suffix}" if suffix else "no reader for files without a suffix")
    wanted = " nor ".join(reader.expects for reader in candidates)
    raise ReadError(f"no reader for this {suffix.removeprefix('.').upper()} file: not {wanted}")


def readers_for(path: Path, readers: Iterable[Reader]) -> Sequence[Reader]:
    """Those readers whose suffixes hold the file's."""
    return [reader for reader in readers if path.suffix.lower() in reader.suffixes]
