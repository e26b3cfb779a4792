"""Word documents: the text in reading order, with its lists, tables and notes."""

import zipfile
from pathlib import Path
from typing import Any

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from core.ingestion.docx_lists import Lists
from core.ingestion.docx_text import BodyReader, name
from core.ingestion.office_files import check_office, is_office
from core.ingestion.sections import split_sections
from core.ingestion.text_writer import to_title
from core.ingestion.xml_parts import parse_part

WHAT = "Word document"


class DocxReader:
    """Reads `.docx`; a page for each top-level section, without table of contents, headers, footers, deleted text."""

    kind = "docx"
    suffixes = frozenset({".docx"})
    expects = "a Word document"

    def accepts(self, path: Path, head: bytes) -> bool:
        return is_office(head)

    def read(self, path: Path, root: Path) -> ParsedDocument:
        check_office(path, WHAT, newer=".docx")
        document = _opened(path)
        notes = {kind: _notes(document, kind) for kind in ("footnotes", "endnotes")}
        body = BodyReader(document.styles.element, Lists(_part(document, "numbering"), name), notes)
        body.write(document.element.body)
        text, headings = body.writer.finish()
        if not text:
            raise ReadError("empty: the document has no text; what pictures show is not read")
        tops = [heading.title for heading in headings if heading.level == 1]
        only = tops[0] if len(tops) == 1 else ""
        return ParsedDocument(
            title=body.title or to_title(document.core_properties.title) or only or path.stem,
            kind=self.kind,
            pages=split_sections(text, headings),
        )


def _opened(path: Path) -> Any:
    import docx
    from docx.opc.exceptions import OpcError
    from lxml.etree import LxmlError

    try:
        return docx.Document(str(path))
    except (OpcError, LxmlError, zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ReadError(f"corrupt: not a readable {WHAT} ({error})") from error


def _part(document: Any, kind: str) -> Any:
    """The root element of a part that the document refers to, None without one."""
    for relation in document.part.rels.values():
        if relation.reltype.endswith(f"/{kind}") and not relation.is_external:
            return parse_part(relation.target_part.blob, kind, WHAT)
    return None


def _notes(document: Any, kind: str) -> dict[str, Any]:
    root = _part(document, kind)
    return {} if root is None else {note.get(name("id"), ""): note for note in root}
