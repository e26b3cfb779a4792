"""RTF cut into its tokens: groups, control words, characters and bytes of text."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?[0-9]{1,10})? ?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\", re.DOTALL
)
# Code pages of the character sets a font may have; the others are those of the document.
_CHARSETS = {
    0: 1252, 77: 10000, 128: 932, 129: 949, 130: 1361, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258, 177: 1255,
    178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250, 254: 437, 255: 850,
}  # fmt: skip
_NAMES = {10000: "mac_roman", 65001: "utf-8", 936: "gbk", 1361: "johab"}
DEFAULT_CODEC = "cp1252"


class TokenKind(StrEnum):
    OPEN = "open"
    CLOSE = "close"
    WORD = "word"  # a control word or symbol, with its number where it has one
    TEXT = "text"  # bytes in the code page of the font


@dataclass(frozen=True, slots=True)
class Token:
    kind: TokenKind
    word: str = ""
    number: int | None = None
    data: bytes = b""


def read_tokens(data: bytes) -> Iterator[Token]:
    """The tokens in order; binary data is skipped, line ends are no text."""
    place = 0
    while place < len(data) and (match := _TOKEN.match(data, place)):
        place = match.end()
        word, number, byte, symbol, brace, text = match.groups()
        if word:
            value = int(number) if number else None
            if word == b"bin":
                place += max(0, min(value or 0, len(data) - place))
                continue
            yield Token(TokenKind.WORD, word.decode("ascii"), value)
        elif byte:
            yield Token(TokenKind.TEXT, data=bytes.fromhex(byte.decode("ascii")))
        elif symbol:
            yield Token(TokenKind.WORD, symbol.decode("latin-1"))
        elif brace:
            yield Token(TokenKind.OPEN if brace == b"{" else TokenKind.CLOSE)
        elif text:
            yield Token(TokenKind.TEXT, data=text)


def codec_of_page(page: int) -> str:
    """Python's name of a code page; that of Western Europe where it knows none."""
    name = _NAMES.get(page, f"cp{page}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return DEFAULT_CODEC


def codec_of_charset(charset: int) -> str:
    """The codec of a font's character set, "" where it is the document's own."""
    page = _CHARSETS.get(charset)
    return codec_of_page(page) if page else ""
