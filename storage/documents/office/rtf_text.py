"""An RTF document to text: a walk over its tokens that keeps, for each open group, what the text in it is for."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from core.text.words import collapse
from storage.documents.office.rtf_body import Paragraph, RtfBody
from storage.documents.office.rtf_tokens import DEFAULT_CODEC, Token, TokenKind, codec_of_charset, codec_of_page

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


@dataclass(slots=True)
class _Group:
    """What holds inside a pair of braces; the text of a hidden group is dropped."""

    purpose: str = "body"  # body | note | mark | fonts | styles | info | title | skip
    codec: str = ""  # of the font; "": that of the document
    skip_after: int = 1  # bytes that stand in for a character given by its number
    is_hidden: bool = False


class RtfText:
    """Takes tokens. `title` is what the document's properties state; `body` holds what it shows."""

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
        self._properties: dict[str, Callable[[int], None]] = {
            "f": self._set_font, "fcharset": self._set_charset, "ansicpg": self._set_page, "uc": self._set_skip,
            "v": self._set_hidden, "deleted": self._set_hidden, "s": self._set_style, "outlinelevel": self._set_outline,
            "ilvl": self._set_depth,
        }  # fmt: skip
        self._events: dict[str, Callable[[], None]] = {
            "par": self.body.end_paragraph, "\n": self.body.end_paragraph, "\r": self.body.end_paragraph,
            "sect": self.body.end_paragraph, "page": self.body.end_paragraph,
            "cell": self.body.end_cell, "row": self.body.end_row, "trowd": self.body.begin_row,
            "cellx": self.body.end_column, "clmrg": lambda: self.body.join("left"), "footnote": self._begin_note,
            "clvmrg": lambda: self.body.join("above"), "intbl": self._enter_table, "pard": self._reset_paragraph,
        }  # fmt: skip

    def read(self, tokens: Iterable[Token]) -> None:
        """All tokens of a document; afterwards everything is written."""
        for token in tokens:
            if token.kind is TokenKind.TEXT:
                self._take_bytes(token.data)
                continue
            self._flush()
            if token.kind is TokenKind.OPEN:
                self._open()
            elif token.kind is TokenKind.CLOSE:
                self._close()
            else:
                self._take_word(token.word, token.number)
        self._flush()
        self.is_cut_off = bool(self._groups)
        self.body.end()

    def _take_bytes(self, data: bytes) -> None:
        skipped = min(self._skip, len(data))
        self._skip -= skipped
        if self._group.purpose != "skip":
            self._bytes += data[skipped:]

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
        elif self._group.is_hidden:
            return
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
        elif word in self._properties:
            self._properties[word](1 if number is None else number)
        elif word == "plain":
            self._group.is_hidden = False
        elif word in self._events:
            self._take_event(word)

    def _take_event(self, word: str) -> None:
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

    def _paragraph(self) -> Paragraph:
        """What a property of paragraphs is said of: the one being written, or the style being defined; else nothing."""
        purpose = self._group.purpose
        return self._named if purpose == "styles" else self.body.paragraph if purpose == "body" else Paragraph()

    def _set_style(self, number: int) -> None:
        self._paragraph().style = number

    def _set_outline(self, number: int) -> None:
        self._paragraph().outline = number

    def _set_depth(self, number: int) -> None:
        self._paragraph().depth = number

    def _set_font(self, number: int) -> None:
        if self._group.purpose == "fonts":
            self._font = number
        else:
            self._group.codec = self._fonts.get(number, "")

    def _set_charset(self, number: int) -> None:
        if self._group.purpose == "fonts":
            self._fonts[self._font] = codec_of_charset(number)

    def _set_page(self, number: int) -> None:
        self._default_codec = codec_of_page(number)

    def _set_skip(self, number: int) -> None:
        self._group.skip_after = max(0, min(number, 4))

    def _set_hidden(self, number: int) -> None:
        self._group.is_hidden = number != 0
