"""Mail messages, single or in a folder: headers, text, and the names of attachments."""

import codecs
import email
import re
from collections.abc import Iterator
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from itertools import pairwise
from pathlib import Path

from core.domain.corpus import ParsedDocument, ParsedPage
from core.errors import ReadError
from core.text.dates import stated_day
from core.text.words import collapse
from storage.documents.html.text import html_to_text
from storage.documents.markup.writers import MarkdownWriter, tidy
from storage.documents.texts.encodings import decode, say_hidden

# Messages inside of messages, as far as they are read, and parts of one message.
MAX_LEVELS = 10
MAX_PARTS = 1_000
# Share of the words of a message's HTML that its plain text has to hold to be taken for the same message.
MIN_PLAIN_SHARE = 0.25

_HEADER = re.compile(rb"(?:From [^\n]*\n)?(?:[A-Za-z][A-Za-z0-9-]*:[^\n]*(?:\n|\Z)(?:[ \t]+[^\n]*\n)*){1,}")
# The first line of a message in a folder, after an empty line, and its escaped form in a text.
_FROM = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\n]*\n(?=[A-Za-z>][A-Za-z0-9-]*:)")
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_MBOX = ".mbox"
_SHOWN = ("From", "To", "Cc", "Date", "Reply-To")


class MailReader:
    """Reads `.eml` and `.mbox`: one page a message, with attached messages below it under their own headings."""

    kind = "mail"
    suffixes = frozenset({".eml", _MBOX})
    expects = "a mail message"

    def accepts(self, path: Path, head: bytes) -> bool:
        return bool(_HEADER.match(_as_bytes(head).lstrip().replace(b"\r\n", b"\n")))

    def read(self, path: Path, root: Path) -> ParsedDocument:
        data = _as_bytes(path.read_bytes()).lstrip()
        is_folder = path.suffix.lower() == _MBOX
        messages = _split(data) if is_folder else [data]
        read = [_read_page(message) for message in messages]
        pages = tuple(page for page, _ in read if page is not None)
        if not pages:
            what = "no message of the folder" if is_folder else "the message"
            raise ReadError(f"empty: {what} says {'anything' if is_folder else 'nothing'} and has nothing attached")
        hidden = say_hidden(sum(unseen for _, unseen in read))
        return ParsedDocument(
            title=path.stem if is_folder else pages[0].title or path.stem,
            kind=self.kind,
            pages=pages,
            warnings=(*_warnings(len(read) - len(pages)), *hidden),
            hidden=hidden,
            dated=None if is_folder else stated_day(_header(email.message_from_bytes(data), "Date")),
        )


def _split(data: bytes) -> list[bytes]:
    """Return the messages of a folder in one file. A "From " line starts one only before a header."""
    starts = [match.start() for match in _FROM.finditer(data)]
    parts = [data[start:end] for start, end in pairwise([*starts, len(data)])]
    return [_QUOTED_FROM.sub(rb"\1", part) for part in parts] or [data]


def _read_page(data: bytes) -> tuple[ParsedPage | None, int]:
    """Return a message as a page, if it says anything, and the number of invisible characters."""
    try:
        message = email.message_from_bytes(data)
        writer = MarkdownWriter()
        said = _write(message, writer, 1)
    except RecursionError as error:
        raise ReadError("nested too deeply to be read") from error
    return writer.to_page(_header(message, "Subject")) if said else None, writer.unseen


def _warnings(empty: int) -> tuple[str, ...]:
    return (f"{empty} message{'s' * (empty > 1)} left out: {'they say' if empty > 1 else 'it says'} nothing",) * (
        empty > 0
    )


def _as_bytes(data: bytes) -> bytes:
    """Return a message as sent: without a byte order mark, and not in UTF-16."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").encode()
    return data.removeprefix(codecs.BOM_UTF8)


def _write(message: Message, writer: MarkdownWriter, level: int) -> bool:
    """Write a message; return whether it holds anything but its header."""
    writer.add_heading(min(level, 6), _header(message, "Subject"))
    lines = [f"{name}: {value}" for name in _SHOWN if (value := _header(message, name))]
    writer.add("\n".join(lines))
    said = False
    attached: list[str] = []
    inner: list[Message] = []
    for part in _leaves(message):
        if part.get_content_type() == "message/rfc822":
            inner += _payload(part)
        elif _is_attached(part):
            attached.append(_attachment(part))
        else:
            text, unseen = _read_text(part)
            writer.unseen += unseen
            said |= writer.add(text) is not None
    if attached:
        writer.add("Attachments:")
        for name in attached:
            writer.add_item(name)
    for item in inner:
        said |= level < MAX_LEVELS and _write(item, writer, level + 1)
    return said or bool(attached)


def _leaves(message: Message) -> Iterator[Message]:
    """Yield the parts with content in order, and one of several alternatives."""
    waiting = [message]
    for _ in range(MAX_PARTS):
        if not waiting:
            return
        part = waiting.pop()
        inner = _payload(part)
        if part.get_content_type() == "message/rfc822" or not inner:
            yield part
        elif part.get_content_type() == "multipart/alternative":
            waiting.append(_best(inner))
        else:
            waiting += reversed(inner)


def _payload(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [item for item in payload if isinstance(item, Message)] if isinstance(payload, list) else []


def _best(parts: list[Message]) -> Message:
    """Return the plain text unless it is much shorter than the HTML: "your program can't show this message"."""
    plain = next((part for part in parts if part.get_content_type() == "text/plain"), None)
    rich = next((part for part in parts if part.get_content_type() != "text/plain"), None)
    if plain is None or rich is None:
        return plain or rich or parts[0]
    if rich.get_content_type() == "text/html":
        words = len(_text(rich).split())
        return plain if len(_text(plain).split()) >= words * MIN_PLAIN_SHARE else rich
    return plain if _text(plain).strip() else rich


def _is_attached(part: Message) -> bool:
    disposition = str(part.get("Content-Disposition", "")).strip().lower()
    return (
        disposition.startswith("attachment")
        or part.get_content_maintype() not in ("text", "multipart")
        or bool(_file_name(part))
    )


def _attachment(part: Message) -> str:
    size = len(_bytes(part))
    said = f"{size / 1024:,.0f} KB" if size >= 1024 else f"{size} bytes"
    return f"{_file_name(part) or 'without a name'} ({tidy(part.get_content_type())}, {said})"


def _file_name(part: Message) -> str:
    try:
        return _decoded(part.get_filename() or "")
    except (ValueError, LookupError, TypeError):  # a name in an encoding that there is not
        return ""


def _text(part: Message) -> str:
    return _read_text(part)[0]


def _read_text(part: Message) -> tuple[str, int]:
    """Return the text, and the number of invisible characters that were left out."""
    data = _bytes(part)
    if not data.strip():
        return "", 0
    try:
        text = data.decode(str(part.get_content_charset() or "utf-8"))
    except (LookupError, UnicodeError):
        try:
            text = decode(data).text
        except ReadError:
            return "", 0
    if part.get_content_type() != "text/html":
        return tidy(text).strip("\n"), 0
    page = html_to_text(text)
    return page.text, page.unseen


def _bytes(part: Message) -> bytes:
    try:
        data = part.get_payload(decode=True)
    except (ValueError, LookupError):
        return b""
    return data if isinstance(data, bytes) else b""


def _header(message: Message, name: str) -> str:
    return _decoded(str(message.get(name, "")))


def _decoded(value: str) -> str:
    """Decode a header: `=?utf-8?q?Sp=C3=A4ter?=` is "Später"."""
    pieces = []
    try:
        for piece, charset in decode_header(value):
            pieces.append(piece if isinstance(piece, str) else piece.decode(charset or "utf-8", "replace"))
    except (HeaderParseError, ValueError, LookupError):
        pieces = [value]
    return collapse(tidy("".join(pieces)))
