"""OpenDocument texts, as LibreOffice writes them: the text in reading order, with its lists, tables and notes."""

from pathlib import Path
from typing import Any

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.archives import Archive, open_archive
from storage.documents.office.odt_text import BODY, OdtBodyReader
from storage.documents.office.office_files import check_office, is_office
from storage.documents.office.text_writer import to_title
from storage.documents.office.xml_parts import parse_part
from storage.documents.texts.sections import split_sections

WHAT = "OpenDocument text"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"


class OdtReader:
    """Reads `.odt` and `.ott`; a page for each top-level section, without directories, comments and deleted text."""

    kind = "odt"
    suffixes = frozenset({".odt", ".ott"})
    expects = "an OpenDocument text"

    def accepts(self, path: Path, head: bytes) -> bool:
        return is_office(head)

    def read(self, path: Path, root: Path) -> ParsedDocument:
        check_office(path, WHAT, newer=".odt")
        with open_archive(path, WHAT) as archive:
            content, styles, meta = (_part(archive, f"{name}.xml") for name in ("content", "styles", "meta"))
        found = None if content is None else content.find(BODY)
        if found is None:
            raise ReadError(f"corrupt: the {WHAT} lacks its text")
        body = OdtBodyReader(*(part for part in (content, styles) if part is not None))
        body.write(found)
        text, headings = body.writer.finish()
        if not text:
            raise ReadError("empty: the document has no text; what pictures show is not read")
        stated = next(meta.iter(_TITLE), None) if meta is not None else None
        tops = [heading.title for heading in headings if heading.level == 1]
        only = tops[0] if len(tops) == 1 else ""
        return ParsedDocument(
            title=body.title or to_title("" if stated is None else stated.text) or only or path.stem,
            kind=self.kind,
            pages=split_sections(text, headings),
        )


def _part(archive: Archive, name: str) -> Any:
    """The root element of a part, None without one."""
    return parse_part(archive.read(name), name, WHAT) if name in archive else None
