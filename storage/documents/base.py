"""The list of readers, chosen by suffix and by the first bytes of a file."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from core.domain.ingest_report import NO_READER
from core.domain.reader_kinds import UNREAD_FORMATS
from core.errors import ReadError
from core.ports.documents import Reader
from storage.documents.pdf.recognition import RapidOcr, Recogniser
from storage.documents.readers.canvas import CanvasReader
from storage.documents.readers.channel_export import ChannelExportReader
from storage.documents.readers.csv import CsvReader
from storage.documents.readers.docx import DocxReader
from storage.documents.readers.epub import EpubReader
from storage.documents.readers.foundry_journal import FoundryJournalReader
from storage.documents.readers.html import HtmlReader
from storage.documents.readers.kept_answers import KeptAnswersReader
from storage.documents.readers.live_channel import LiveChannelReader
from storage.documents.readers.mail import MailReader
from storage.documents.readers.markdown_vault import MarkdownVaultReader
from storage.documents.readers.notebook import NotebookReader
from storage.documents.readers.odt import OdtReader
from storage.documents.readers.openapi import OpenApiReader
from storage.documents.readers.org import OrgReader
from storage.documents.readers.pdf import PdfReader
from storage.documents.readers.plain_text import PlainTextReader
from storage.documents.readers.pptx import PptxReader
from storage.documents.readers.rst import RstReader
from storage.documents.readers.rtf import RtfReader
from storage.documents.readers.spreadsheet import SpreadsheetReader

# Bytes of a file that `Reader.accepts` is shown.
HEAD_BYTES = 4_096
_EMPTY = "empty: the file has no bytes"


def build_readers(recogniser: Recogniser | None = None) -> tuple[Reader, ...]:
    """Return all readers in order of precedence. A new kind of file is one file in readers/ and one line here.

    With a recogniser, scanned pages are read, too.
    """
    return (
        KeptAnswersReader(),
        LiveChannelReader(),
        MarkdownVaultReader(),
        PlainTextReader(),
        HtmlReader(),
        OpenApiReader(),
        ChannelExportReader(),
        FoundryJournalReader(),
        PdfReader(recogniser),
        CsvReader(),
        SpreadsheetReader(),
        DocxReader(),
        OdtReader(),
        RtfReader(),
        PptxReader(),
        EpubReader(),
        RstReader(),
        OrgReader(),
        NotebookReader(),
        CanvasReader(),
        MailReader(),
    )


def build_recognising_readers() -> tuple[Reader, ...]:
    """Return all readers, with the recogniser of the extra `ocr`."""
    return build_readers(RapidOcr())


def find_reader(
    path: Path, head: bytes, readers: Sequence[Reader], *, kind: str | None = None, known_kind: str | None = None
) -> Reader:
    """Return the reader of `kind` if one is named, else the first that accepts the file; `head` is its first bytes.

    `known_kind`, the kind the file was read as before, is used if no reader has its suffix.

    Raises ReadError if no reader has its suffix ("no reader for .epub") or accepts it.
    """
    candidates = readers_for(path, readers)
    wanted_kind = kind or (None if candidates else known_kind)
    forced = next((reader for reader in readers if reader.kind == wanted_kind), None)
    if forced is not None:
        if not forced.accepts(path, head):
            raise ReadError(f"not {forced.expects}" if head else _EMPTY)
        return forced
    for reader in candidates:
        if reader.accepts(path, head):
            return reader
    suffix = path.suffix.lower()
    if not candidates:
        advice = f": save it as {UNREAD_FORMATS[suffix][1]} and ingest it again" if suffix in UNREAD_FORMATS else ""
        raise ReadError(f"{NO_READER} {suffix}{advice}" if suffix else f"{NO_READER} files without a suffix")
    if not head:
        raise ReadError(_EMPTY)
    wanted = " nor ".join(reader.expects for reader in candidates)
    raise ReadError(f"{NO_READER} this {suffix.removeprefix('.').upper()} file: not {wanted}")


def readers_for(path: Path, readers: Iterable[Reader]) -> Sequence[Reader]:
    """Return the readers for the file's suffix."""
    return [reader for reader in readers if path.suffix.lower() in reader.suffixes]


def check_readable(path: Path, head: bytes) -> None:
    """Raise ReadError with the reason if no reader takes the file."""
    find_reader(path, head, build_readers())


def has_reader(path: Path) -> bool:
    """Return whether a reader has the file's suffix."""
    return bool(readers_for(path, build_readers()))
