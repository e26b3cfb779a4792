"""Word documents: the text in reading order, with its lists, tables and notes."""

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.office.docx_lists import Lists
from storage.documents.office.docx_text import BodyReader, name
from storage.documents.office.office_files import as_transitional, check_office, is_office
from storage.documents.office.text_writer import to_title
from storage.documents.office.xml_parts import parse_part
from storage.documents.texts.sections import split_sections

WHAT = "Word document"
_LINKED = ("numbering", "footnotes", "endnotes")


class DocxReader:
    """Reads `.docx`; a page for each top-level section, without table of contents, headers, footers, deleted text."""

    kind = "docx"
    suffixes = frozenset({".docx"})
    expects = "a Word document"

    def accepts(self, path: Path, head: bytes) -> bool:
        return is_office(head)

    def read(self, path: Path, root: Path) -> ParsedDocument:
        check_office(path, WHAT, newer=".docx")
        parts = _read_parts(path)
        body = BodyReader(parts.styles, Lists(parts.linked.get("numbering"), name), _notes(parts))
        body.write(parts.body)
        text, headings = body.writer.finish()
        if not text:
            raise ReadError("empty: the document has no text; what pictures show is not read")
        tops = [heading.title for heading in headings if heading.level == 1]
        only = tops[0] if len(tops) == 1 else ""
        return ParsedDocument(
            title=body.title or to_title(parts.title) or only or path.stem,
            kind=self.kind,
            pages=split_sections(text, headings),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """What is read of the file, as XML elements; `linked` by the kind of link to them."""

    body: Any
    styles: Any
    linked: Mapping[str, Any]
    title: str


def _read_parts(path: Path) -> _Parts:
    import docx
    from docx.opc.exceptions import OpcError
    from lxml.etree import LxmlError

    try:
        with as_transitional(path, WHAT) as file:
            document = docx.Document(file)
        return _Parts(
            body=document.element.body,
            styles=document.styles.element,
            linked={kind: part for kind in _LINKED if (part := _part(document, kind)) is not None},
            title=document.core_properties.title,
        )
    # The library takes elements to be what they should be: an AttributeError says that one is not.
    except (OpcError, LxmlError, zipfile.BadZipFile, KeyError, ValueError, AttributeError) as error:
        raise ReadError(f"corrupt: not a readable {WHAT} ({error})") from error


def _part(document: Any, kind: str) -> Any:
    """The root element of a part that the document refers to, None without one."""
    for relation in document.part.rels.values():
        if relation.reltype.endswith(f"/{kind}") and not relation.is_external:
            return parse_part(relation.target_part.blob, kind, WHAT)
    return None


def _notes(parts: _Parts) -> dict[str, dict[str, Any]]:
    """The elements of footnotes and endnotes by id."""
    return {kind: {note.get(name("id"), ""): note for note in parts.linked.get(kind, ())} for kind in _LINKED[1:]}
