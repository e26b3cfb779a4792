"""Checks of Office and OpenDocument files, and their XML parts."""

import io
import re
import zipfile
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from core.domain.read_limits import MEBIBYTE
from core.errors import ReadError
from storage.documents.archives import ZIP_MARK, Archive, open_archive


def parse_part(data: bytes, part: str, label: str) -> Any:
    """Return the root element of a part. Raises ReadError that names part and file if it is broken."""
    from lxml import etree

    try:
        return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True))
    except (etree.XMLSyntaxError, ValueError) as error:
        raise ReadError(f"corrupt: {part!r} of the {label} can't be read ({error})") from error


def check_part(data: bytes, part: str, label: str) -> None:
    """Raise ReadError if a part is not well-formed XML, without keeping it in memory."""
    from xml.parsers import expat

    try:
        expat.ParserCreate().Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise ReadError(f"corrupt: {part!r} of the {label} can't be read ({error})") from error


def inside(container: Any, wanted: Container[str], wrappers: Container[str]) -> Iterator[Any]:
    """Yield the elements of a container that have a tag of `wanted`, also those inside of `wrappers`."""
    for child in container:
        if child.tag in wanted:
            yield child
        elif child.tag in wrappers:
            yield from inside(child, wanted, wrappers)


def outermost(element: Any, tag: str, *, but_in: str = "") -> Iterator[Any]:
    """Yield the elements named `tag` below `element`, except those inside another or inside one named `but_in`."""
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag != but_in:
            yield from outermost(child, tag, but_in=but_in)


# The older container: .doc, .xls and .ppt are in it, and so is every encrypted file of the newer kinds.
OLE_MARK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# A text that unpacks to more than this many times its size, and to more than these bytes, was made to fill memory:
# Office's own XML reaches 20 to 40.
MAX_EXPANSION = 100
MIN_EXPANDED = 10 * MEBIBYTE

# Cells between the first and the last filled one of a sheet; a table of a million rows has twenty columns.
MAX_AREA = 20_000_000

# A cell of an Excel sheet with content.
_FILLED = re.compile(rb'<c r="([A-Z]{1,3})([0-9]{1,7})"(?:>|[^>]*[^/>]>)')
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_ENTITY = b"<!ENTITY"
# Kinds of containers, by the name of a part, with the suffix of their files.
_KINDS = {
    "word/": ("a Word document", ".docx"),
    "xl/": ("an Excel workbook", ".xlsx"),
    "ppt/": ("a PowerPoint presentation", ".pptx"),
    "META-INF/container.xml": ("an EPUB", ".epub"),
}
# Names in ISO's strict form, and in the usual one; both are in the container's root part.
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/"
_ROOT = "_rels/.rels"
_MANIFEST = "META-INF/manifest.xml"  # of OpenDocument files: names the parts that are encrypted


def created_on(properties: Any) -> str | None:
    """Return the day on which a file was made, by its core properties (python-docx, python-pptx)."""
    try:
        made = properties.created
    except (ValueError, TypeError):  # a time that there is not
        return None
    return made.date().isoformat() if made is not None else None


def is_office(head: bytes) -> bool:
    """Return whether a file starts like one of the two containers."""
    return head.startswith((ZIP_MARK, OLE_MARK))


def is_old(path: Path) -> bool:
    """Return whether a file is in the older container."""
    with path.open("rb") as file:
        return file.read(len(OLE_MARK)) == OLE_MARK


def why_encrypted(label: str) -> str:
    """Return the reason for an encrypted file."""
    return f"encrypted: the {label} needs a password; save it without one and ingest it again"


def is_encrypted(data: bytes) -> bool:
    """Return whether the bytes of an older container hold an encrypted file of a newer format."""
    return _ENCRYPTED in data


def check_office(path: Path, label: str, *, newer: str, is_sheet: bool = False) -> None:
    """Unpack all XML of a file once, to rule out damage and zip bombs before a library reads it.

    `label` names the file in errors ("Word document"), `newer` the suffix to save an old one under. The XML of
    spreadsheets must be complete, because their library would wait for its end; only the limits of the archive apply,
    because tables of equal cells compress well.

    Raises ReadError for another kind of file, or one that is encrypted, old, damaged, too large unpacked, or has
    entities in its XML.
    """
    if is_old(path):
        raise ReadError(_why_old(path.read_bytes(), label, newer))
    with open_archive(path, label) as archive:
        _check_kind(archive, label, newer)
        if _MANIFEST in archive and b"encryption-data" in archive.read(_MANIFEST):
            raise ReadError(why_encrypted(label))
        names = [name for name in archive.names if name.endswith((".xml", ".rels"))]
        sizes = [_check_part(archive, name, label, is_sheet=is_sheet) for name in names]
    expanded, packed = sum(sizes), path.stat().st_size
    if not is_sheet and expanded > max(MIN_EXPANDED, packed * MAX_EXPANSION):
        raise ReadError(
            f"too large: {packed // 1024:,} KB that unpack to {expanded // MEBIBYTE:,} MB are no {label} that people "
            "wrote; if it is one, save it anew and ingest it again"
        )


def _check_kind(archive: Archive, label: str, suffix: str) -> None:
    kinds = [kind for part, kind in _KINDS.items() if any(name.startswith(part) for name in archive.names)]
    if kinds and suffix not in (own for _, own in kinds):
        other, own = kinds[0]
        raise ReadError(f"not a {label} as its name says, but {other}: name it {own} and ingest it again")


def as_transitional(path: Path, label: str) -> BinaryIO:
    """Return the file, to be closed, with usual names instead of ISO's strict names."""
    with open_archive(path, label) as archive:
        if _ROOT not in archive or _STRICT.search(archive.read(_ROOT)) is None:
            return path.open("rb")
        written = io.BytesIO()
        with zipfile.ZipFile(written, "w") as copy:
            for name in archive.names:
                if name.endswith((".xml", ".rels")):
                    copy.writestr(name, _STRICT.sub(_TRANSITIONAL, archive.read(name)))
    written.seek(0)
    return written


def _check_part(archive: Archive, name: str, label: str, *, is_sheet: bool) -> int:
    data = archive.read(name)
    if _ENTITY in data or _ENTITY.decode().encode("utf-16-le") in data or _ENTITY.decode().encode("utf-16-be") in data:
        raise ReadError(f"refused: its part {name!r} defines entities, which no {label} needs; save it anew")
    if is_sheet and name.startswith(("xl/", "content.xml")):
        check_part(data, name, label)
        _check_area(data, label)
    return len(data)


def _check_area(data: bytes, label: str) -> None:
    """Limit the area from the first to the last filled cell: two cells in opposite corners span 17 billion."""
    places = _FILLED.findall(data)
    columns = max((column_number(column.decode()) for column in {column for column, _ in places}), default=0)
    rows = max((int(row) for row in {row for _, row in places}), default=0)
    if rows * columns > MAX_AREA:
        raise ReadError(
            f"too large: a sheet of the {label} reaches over {rows:,} rows and {columns:,} columns; clear the cells "
            "far from its tables, or split it"
        )


def column_number(letters: str) -> int:
    """Return the number of an Excel column, from 1."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def _why_old(data: bytes, label: str, newer: str) -> str:
    if is_encrypted(data):
        return why_encrypted(label)
    return f"not a {label} as its name says, but a file of the older format: save it as {newer} and ingest it again"
