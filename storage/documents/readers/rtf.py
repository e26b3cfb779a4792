"""Rich Text Format: the text in reading order, with its lists, tables and notes."""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from core.text.words import collapse
from storage.documents.markup.writers import TextWriter, to_title

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?[0-9]{1,10})? ?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\", re.DOTALL
)
# Code pages of fonts' character sets; others use the document's code page.
_CHARSETS = {
    0: 1252, 77: 10000, 128: 932, 129: 949, 130: 1361, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258, 177: 1255,
    178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250, 254: 437, 255: 850,
}  # fmt: skip
_NAMES = {10000: "mac_roman", 65001: "utf-8", 936: "gbk", 1361: "johab"}
DEFAULT_CODEC = "cp1252"


# A control word or symbol with its number, the start or end of a group, or bytes of text in the font's code page.
Token = tuple[str, int | None] | bytes
OPEN, CLOSE = "open group", "close group"  # no control word has a blank


def read_tokens(data: bytes) -> Iterator[Token]:
    """Yield the tokens in order, without binary data and line ends."""
    place = 0
    while place < len(data) and (match := _TOKEN.match(data, place)):
        place = match.end()
        word, number, byte, symbol, brace, text = match.groups()
        if word:
            value = int(number) if number else None
            if word == b"bin":
                place += max(0, min(value or 0, len(data) - place))
                continue
            yield word.decode("ascii"), value
        elif byte:
            yield bytes.fromhex(byte.decode("ascii"))
        elif symbol:
            yield symbol.decode("latin-1"), None
        elif brace:
            yield OPEN if brace == b"{" else CLOSE, None
        elif text:
            yield text


def codec_of_page(page: int) -> str:
    """Return Python's name of a code page, that of Western Europe if unknown."""
    name = _NAMES.get(page, f"cp{page}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return DEFAULT_CODEC


def codec_of_charset(charset: int) -> str:
    """Return the codec of a font's character set, "" for the document's own."""
    page = _CHARSETS.get(charset)
    return codec_of_page(page) if page else ""


# Cells of a row: more is made to be slow.
MAX_CELLS = 256

_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_CONTENTS = re.compile(r"(?:toc|contents) (?:\d|heading)", re.IGNORECASE)
_BULLET = re.compile(r"[^\w(]*")


@dataclass(slots=True)
class Paragraph:
    """The properties of a paragraph, or of the style being defined."""

    style: int = 0
    outline: int | None = None  # 0 for a heading of level 1, and so on; 9 for none
    depth: int = 0
    in_table: bool = False


@dataclass(slots=True)
class _Row:
    """The row being read: its cells, and for each column whether it continues the cell to the left or above."""

    cells: list[str] = field(default_factory=list)
    cell: list[str] = field(default_factory=list)  # the paragraphs of the one not ended yet
    joins: list[str] = field(default_factory=list)


class RtfBody:
    """Writes text and the ends of its parts. `title` is the text of the first paragraph in the style Title."""

    def __init__(self) -> None:
        self.writer = TextWriter()
        self.title = ""
        self.paragraph = Paragraph()
        self._text: list[str] = []
        self._mark: list[str] = []
        self._notes: list[str] = []
        self._note_count = 0
        self._styles: dict[int, tuple[str, int]] = {}  # name, level of heading
        self._rows: list[_Row] = []
        self._row = _Row()
        self._join = ""

    def add(self, text: str) -> None:
        self._text.append(text)

    def add_to_mark(self, text: str) -> None:
        """Add text of the bullet or number before the paragraph."""
        self._mark.append(text)

    def cite_note(self) -> None:
        """Start a note, whose text `add_note` adds."""
        self._note_count += 1
        self.add(f"[^{self._note_count}]")

    def add_note(self, text: str) -> None:
        self._notes.append(f"[^{self._note_count}]: {text}")

    def define_style(self, properties: Paragraph, name: str) -> None:
        heading = _HEADING.fullmatch(name)
        level = int(heading[1]) if heading else 1 if name.lower() == "title" else _level(properties.outline)
        self._styles[properties.style] = (name, level)

    def end(self) -> None:
        """End the document at any position."""
        self.paragraph.in_table = False
        self.end_paragraph()
        self._end_table()

    def end_paragraph(self) -> None:
        if self.paragraph.in_table:
            self._add_to_cell()
            return
        self._end_table()
        self._write_paragraph()
        self._write_notes()

    def end_cell(self) -> None:
        self._add_to_cell()
        if len(self._row.cells) < MAX_CELLS:
            self._row.cells.append(" ".join(self._row.cell))
        self._row.cell.clear()

    def begin_row(self) -> None:
        """Start a new definition of columns."""
        self._row.joins = []
        self._join = ""

    def join(self, side: str) -> None:
        """Merge the column being defined with the cell to the "left" or "above"."""
        self._join = side

    def end_column(self) -> None:
        """End the definition of a column."""
        if len(self._row.joins) < MAX_CELLS:
            self._row.joins.append(self._join)
        self._join = ""

    def end_row(self) -> None:
        self._rows.append(self._row)
        self._row = _Row(joins=self._row.joins)

    def _write_paragraph(self) -> None:
        text, mark = self._taken()
        name, level = self._styles.get(self.paragraph.style, ("", 0))
        if self.paragraph.outline is not None:
            level = _level(self.paragraph.outline)
        if _CONTENTS.fullmatch(name) or not text.strip():
            return
        if name.lower() == "title" and not self.title:
            self.title = collapse(text)
        if level:
            self.writer.add_heading(level, f"{mark} {text}" if mark not in ("", "-") else text)
        elif mark:
            self.writer.add_item(text, level=self.paragraph.depth, mark=mark)
        else:
            self.writer.add_paragraph(text)

    def _taken(self) -> tuple[str, str]:
        text, mark = "".join(self._text), collapse("".join(self._mark))
        self._text.clear()
        self._mark.clear()
        return text, "-" if mark and _BULLET.fullmatch(mark) else mark

    def _add_to_cell(self) -> None:
        text, mark = self._taken()
        if text.strip():
            self._row.cell.append(collapse(f"{mark} {text}"))

    def _end_table(self) -> None:
        if self._row.cells or self._row.cell:
            self.end_cell()
            self.end_row()
        rows, self._rows = self._rows, []
        self._row = _Row()
        if rows:
            # merged cells: their text is in each cell they cover
            grid: list[list[str]] = []
            for row in rows:
                line = list(row.cells)
                joins = [*row.joins, *[""] * len(line)][: len(line)]
                over_all = joins[1:] == ["left"] * (len(line) - 1)  # a title between rows stays once
                for place, join in enumerate(joins):
                    if join == "above" and grid and place < len(grid[-1]):
                        line[place] = grid[-1][place]
                    elif join == "left" and place and not over_all:
                        line[place] = line[place - 1]
                grid.append(line)
            self.writer.add_table(grid)
            self._write_notes()

    def _write_notes(self) -> None:
        notes, self._notes = self._notes, []
        for note in notes:
            self.writer.add_paragraph(note)


def _level(outline: int | None) -> int:
    return outline + 1 if outline is not None and 0 <= outline < 9 else 0


# Groups inside each other: more is made to be slow.
MAX_GROUPS = 2_000

# Groups whose text is none of the document's.
_SKIPPED = frozenset(
    """annotation atnauthor atndate atnicn atnid atnparent atnref atrfend atrfstart author bkmkend bkmkstart colortbl
    comment company creatim datafield datastore doccomm docvar falt filetbl fldinst fname footer footerf footerl footerr
    formfield ftncn ftnsep ftnsepc aftncn aftnsep aftnsepc generator header headerf headerl headerr hlinkbase keywords
    latentstyles listoverridetable listtable listpicture manager nonesttables nonshppict objclass objdata objname
    operator panose pict pntxta pntxtb printim private pxe revtbl revtim rsidtbl rxe sn subject sv tc template themedata
    txe userprops wgrffmtfilter xe xmlnstbl""".split()
)
# Groups that are read although a program need not know them.
_OPTIONAL = frozenset({"footnote", "shpinst", "shptxt", "listtext", "pntext", "shppict"})
# Groups that hold something else than text.
_PURPOSES = {
    "fonttbl": "fonts", "stylesheet": "styles", "info": "info", "title": "title", "listtext": "mark", "pntext": "mark",
}  # fmt: skip
_CHARACTERS = {
    "tab": " ", "emdash": "—", "endash": "–", "emspace": " ", "enspace": " ", "qmspace": " ", "bullet": "•",
    "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "line": "\n", "~": " ", "_": "-", "{": "{",
    "}": "}", "\\": "\\", "softline": "\n", "nestcell": " ", "nestrow": "; ",
}  # fmt: skip


# Control words with a number, and the property of paragraphs that some of them set.
_PROPERTIES = {
    "f": "", "fs": "", "fcharset": "", "ansicpg": "", "uc": "", "v": "", "deleted": "",
    "s": "style", "outlinelevel": "outline", "ilvl": "depth",
}  # fmt: skip


@dataclass(slots=True)
class _Group:
    """The state of a group; the text of a hidden group is dropped."""

    purpose: str = "body"  # body | note | mark | fonts | styles | info | title | skip
    codec: str = ""  # of the font; "": that of the document
    skip_after: int = 1  # bytes that replace a character given by its number
    is_deleted: bool = False  # by its author, in a document that tracks changes
    is_hidden: bool = False
    is_tiny: bool = False


class RtfText:
    """Reads tokens. `title` is from the document's properties; `body` writes the text."""

    def __init__(self) -> None:
        self.body = RtfBody()
        self.title = ""
        self.is_cut_off = False
        self._group = _Group()
        self._groups: list[_Group] = []
        self._is_optional = False
        self._skip = 0
        self._bytes = bytearray()
        self._high = 0  # the first half of a character given as two numbers
        self._pieces: list[str] = []  # of a note, a title or the name of a style
        self._default_codec = DEFAULT_CODEC
        self._fonts: dict[int, str] = {}
        self._font = 0
        self._named = Paragraph()  # the style that is being defined
        self._events: dict[str, Callable[[], None]] = {
            "par": self.body.end_paragraph, "\n": self.body.end_paragraph, "\r": self.body.end_paragraph,
            "sect": self.body.end_paragraph, "page": self.body.end_paragraph,
            "cell": self.body.end_cell, "row": self.body.end_row, "trowd": self.body.begin_row,
            "cellx": self.body.end_column, "clmrg": lambda: self.body.join("left"), "footnote": self._begin_note,
            "clvmrg": lambda: self.body.join("above"), "intbl": self._enter_table, "pard": self._reset_paragraph,
        }  # fmt: skip

    def read(self, tokens: Iterable[Token]) -> None:
        """Read all tokens of a document and write it."""
        for token in tokens:
            if isinstance(token, bytes):
                skipped = min(self._skip, len(token))
                self._skip -= skipped
                if self._group.purpose != "skip":
                    self._bytes += token[skipped:]
                continue
            self._flush()
            if token[0] == OPEN:
                self._open()
            elif token[0] == CLOSE:
                self._close()
            else:
                self._take_word(*token)
        self._flush()
        self.is_cut_off = bool(self._groups)
        self.body.end()

    def _flush(self) -> None:
        if self._bytes:
            data, self._bytes = self._bytes, bytearray()
            self._take_text(data.decode(self._group.codec or self._default_codec, "replace"))

    def _take_text(self, text: str) -> None:
        purpose = self._group.purpose
        if purpose == "styles":
            name, ends, _ = text.partition(";")
            self._pieces.append(name)
            if ends:
                self.body.define_style(self._named, self._taken())
                self._named = Paragraph()
        elif self._group.is_deleted:
            return
        elif self._group.is_hidden or self._group.is_tiny:
            self.body.writer.unseen += len(text)
        elif purpose == "body":
            self.body.add(text)
        elif purpose == "mark":
            self.body.add_to_mark(text)
        elif purpose in ("note", "title"):
            self._pieces.append(text)

    def _taken(self) -> str:
        text = collapse("".join(self._pieces))
        self._pieces.clear()
        return text

    def _open(self) -> None:
        if len(self._groups) < MAX_GROUPS:
            self._groups.append(self._group)
            self._group = replace(self._group)
        self._is_optional = False
        self._skip = 0

    def _close(self) -> None:
        self._is_optional = False
        self._skip = 0
        if not self._groups:
            return
        ended, self._group = self._group, self._groups.pop()
        if ended.purpose == self._group.purpose:
            return
        if ended.purpose == "note":
            self.body.add_note(self._taken())
        elif ended.purpose == "title":
            self.title = self._taken()

    def _take_word(self, word: str, number: int | None) -> None:
        is_optional, self._is_optional = self._is_optional, word == "*"
        if self._group.purpose == "skip":
            return
        if word in _SKIPPED or (is_optional and word not in _OPTIONAL):
            self._group.purpose = "skip"
        elif word in _PURPOSES:
            self._group.purpose = _PURPOSES[word]
        elif word == "u":
            self._take_number(number or 0)
        elif word in _CHARACTERS:
            self._take_text(_CHARACTERS[word])
        elif word in _PROPERTIES:
            self._set_property(word, 1 if number is None else number)
        elif word == "plain":
            self._group.is_hidden = False
        elif word in self._events:
            if self._group.purpose == "body":
                self._events[word]()
            elif word in ("par", "\n", "\r"):  # in a note
                self._take_text(" ")

    def _take_number(self, number: int) -> None:
        self._skip = self._group.skip_after
        code = number % 0x10000
        if 0xD800 <= code < 0xDC00:
            self._high = code
            return
        if 0xDC00 <= code < 0xE000 and self._high:
            code = 0x10000 + ((self._high - 0xD800) << 10) + code - 0xDC00
        self._high = 0
        self._take_text(chr(code))

    def _enter_table(self) -> None:
        self.body.paragraph.in_table = True

    def _reset_paragraph(self) -> None:
        self.body.paragraph = Paragraph()

    def _begin_note(self) -> None:
        self.body.cite_note()
        self._group.purpose = "note"
        self._pieces.clear()

    def _set_property(self, word: str, number: int) -> None:
        is_font = self._group.purpose == "fonts"
        if word == "f" and is_font:
            self._font = number
        elif word == "f":
            self._group.codec = self._fonts.get(number, "")
        elif word == "fcharset" and is_font:
            self._fonts[self._font] = codec_of_charset(number)
        elif word == "ansicpg":
            self._default_codec = codec_of_page(number)
        elif word == "uc":
            self._group.skip_after = max(0, min(number, 4))
        elif word == "deleted":
            self._group.is_deleted = number != 0
        elif word == "v":
            self._group.is_hidden = number != 0
        elif word == "fs":
            self._group.is_tiny = number <= TINY
        elif _PROPERTIES[word] and self._group.purpose in ("styles", "body"):
            paragraph = self._named if self._group.purpose == "styles" else self.body.paragraph
            setattr(paragraph, _PROPERTIES[word], number)


MARK = b"{\\rtf"
TINY = 2  # half points: no reader can see such letters


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
        if document.is_cut_off and not document.body.writer.text:
            raise ReadError("corrupt: the file is cut off before its text begins")
        warnings = ("cut off: the file ends in the middle of its text",) if document.is_cut_off else ()
        return document.body.writer.to_office_document(
            path, self.kind, [document.body.title, to_title(document.title)], warnings
        )
