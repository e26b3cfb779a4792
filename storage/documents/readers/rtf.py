"""Rich Text Format: the text in reading order, with its lists, tables and notes."""

from pathlib import Path

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.office.rtf_text import RtfText
from storage.documents.office.rtf_tokens import read_tokens
from storage.documents.office.text_writer import to_title
from storage.documents.texts.sections import split_sections

MARK = b"{\\rtf"


class RtfReader:
    """Reads `.rtf`; a page for each top-level section, without headers, footers, comments and hidden text."""

    kind = "rtf"
    suffixes = frozenset({".rtf"})
    expects = "an RTF document"

    def accepts(self, path: Path, head: bytes) -> bool:
        return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(MARK)

    def read(self, path: Path, root: Path) -> ParsedDocument:
        data = path.read_bytes()
        document = RtfText()
        document.read(read_tokens(data[data.find(MARK) :]))
        text, headings = document.body.writer.finish()
        if not text and document.is_cut_off:
            raise ReadError("corrupt: the file is cut off before its text begins")
        if not text:
            raise ReadError("empty: the document has no text; what pictures show is not read")
        tops = [heading.title for heading in headings if heading.level == 1]
        only = tops[0] if len(tops) == 1 else ""
        return ParsedDocument(
            title=document.body.title or to_title(document.title) or only or path.stem,
            kind=self.kind,
            pages=split_sections(text, headings),
            warnings=("cut off: the file ends in the middle of its text",) if document.is_cut_off else (),
        )
