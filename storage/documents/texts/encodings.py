"""Decoding of text files: byte order marks, UTF-8, UTF-16, legacy encodings, and detection of binary data."""

import codecs
import re
from dataclasses import dataclass

from core.errors import ReadError

# Share of NULs at the even or odd places from which bytes count as UTF-16 without a mark: Latin text is near 1.0.
UTF16_NUL_SHARE = 0.4
# Share of control bytes above which bytes that are valid UTF-8 are no text: a stray NUL in a short note stays below.
MAX_CONTROL_SHARE = 0.3
# The same for bytes that are not valid UTF-8; random bytes hold 10 %.
MAX_CONTROL_SHARE_LEGACY = 0.02
# Bytes of lines with non-ASCII characters that encoding detection looks at: enough for certainty, milliseconds to do.
SAMPLE_BYTES = 65_536
# Invalid sequences that may be damage in a UTF-8 file, for each valid multi-byte sequence.
MAX_DAMAGE_PER_SEQUENCE = 1.0

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16 LE, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CANDIDATES = [
    "cp1252", "cp932", "euc_jp", "gb18030", "big5", "cp949",
    "cp1251", "koi8_r", "cp1253", "cp1255", "cp1256", "cp1250",
]  # fmt: skip
_CONTROL_BYTES = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_MULTIBYTE = re.compile(rb"[\xc2-\xf4][\x80-\xbf]+")
_NON_ASCII = re.compile(r"[^\x00-\x7f]")
_LETTER_BESIDE_ASCII = re.compile(r"[A-Za-z](?=[^\W\d_])[^\x00-\x7f]|(?=[^\W\d_])[^\x00-\x7f][A-Za-z]")
_TYPOGRAPHY = re.compile(
    "[\u2018-\u201e\u2013\u2014\u2022\u2026\u20ac\u00a0\u00a3\u00a7\u00a9\u00ab\u00ae\u00b0\u00b7\u00bb]"
)
# Words of one letter, as in French, Spanish and Italian.
_SHORT_WORD = re.compile(r"(?<!\S)[àáéèíóúÀÁÉÈÍÓÚ](?!\S)")
# Signs inside words of Polish or Czech bytes read as Western ones.
_SIGN_IN_WORD = re.compile(r"[^\W\d_][¿³¹¼¾£¥]|[¿³¹£¥][^\W\d_]")
# A run of bytes beyond ASCII; and one that is a single Western letter, as in the middle of "B\xfcro".
_FOREIGN_RUN = re.compile(rb"[\x80-\xff]+")
_LONE_LETTER = re.compile(rb"(?<![\x80-\xff])[\xc0-\xd6\xd8-\xf6\xf8-\xff](?![\x80-\xff])")
# Minimum share of such runs in a text in Latin letters.
MIN_LONE_LETTERS = 0.8
_SURROGATE = re.compile("[\ud800-\udfff]")

# The warning of all readers that leave such text out: it may be meant only for the model.
HIDDEN_TEXT = "text that no reader sees left out"


def say_hidden(letters: int) -> tuple[str, ...]:
    """Return the warning with the number of characters; none for 0."""
    return (f"{HIDDEN_TEXT}: {letters:,} character{'s' * (letters > 1)}",) if letters else ()


@dataclass(frozen=True, slots=True)
class DecodedText:
    """Text with line feeds as line ends and no NUL. `warnings`: a sentence for all that was guessed or lost."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def decode(data: bytes) -> DecodedText:
    """Decode the bytes of a text file.

    Raises ReadError when the bytes are no text ("not text: binary") or hold nothing but white space ("empty").
    """
    text, encoding, warnings = _decode(data)
    nulls = text.count("\0")
    if nulls:
        warnings = [*warnings, f"{nulls} NUL character{'s' * (nulls > 1)} left out"]
    text = clean(text)
    if not text.strip():
        raise ReadError("empty: the file has no text" if data else "empty: the file has no bytes")
    return DecodedText(text, encoding, tuple(warnings))


def clean(text: str) -> str:
    """Return text that can be stored: line feeds as line ends, no NUL or leading mark, lone surrogates as U+FFFD."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return _SURROGATE.sub("\ufffd", text)


def _decode(data: bytes) -> tuple[str, str, list[str]]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode_as(data[len(mark) :], encoding, note=encoding != "utf-8")
    unmarked = _utf16_without_mark(data)
    if unmarked:
        return _decode_as(data, unmarked, note=True)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        _refuse_binary(data, MAX_CONTROL_SHARE_LEGACY)
        return _decode_legacy(data)
    _refuse_binary(data, MAX_CONTROL_SHARE)
    return text, "utf-8", []


def _decode_as(data: bytes, encoding: str, *, note: bool) -> tuple[str, str, list[str]]:
    text = data.decode(encoding, errors="replace")
    if len(_CONTROL_BYTES.findall(text.encode("utf-8", "replace"))) > len(text) * MAX_CONTROL_SHARE:
        raise ReadError(_binary_reason(data))
    warnings = [f"read as {encoding.upper()}"] if note else []
    lost = text.count("\ufffd")
    if lost:
        warnings.append(f"{lost} invalid character{'s' * (lost > 1)} replaced, read as {encoding.upper()}")
    return text, encoding, warnings


def _utf16_without_mark(data: bytes) -> str | None:
    head = data[: SAMPLE_BYTES & ~1]
    half = len(head) // 2
    if half < 2:
        return None
    even, odd = head[0::2].count(0) / half, head[1::2].count(0) / half
    if max(even, odd) < UTF16_NUL_SHARE or min(even, odd) > 0.05:
        return None
    return "utf-16-be" if even > odd else "utf-16-le"


def _refuse_binary(data: bytes, limit: float) -> None:
    if len(_CONTROL_BYTES.findall(data)) > len(data) * limit:
        raise ReadError(_binary_reason(data))


def _binary_reason(data: bytes) -> str:
    import puremagic

    if data.startswith(b"PK\x03\x04"):
        return "not text: binary, it looks like a ZIP archive or an Office file"
    try:
        name = puremagic.from_string(data[:4096])
    except (puremagic.PureError, ValueError):
        return "not text: binary"
    return f"not text: binary, it looks like a {name} file" if name else "not text: binary"


def _decode_legacy(data: bytes) -> tuple[str, str, list[str]]:
    damaged = data.decode("utf-8", errors="replace")
    lost = damaged.count("\ufffd")
    if lost > len(_MULTIBYTE.findall(data)) * MAX_DAMAGE_PER_SEQUENCE:
        encoding = _detect(data)
        if encoding:
            text = data.decode(encoding, errors="replace")
            unread = text.count("\ufffd")
            rest = f", {unread} bytes could not be read" if unread else ""
            return text, encoding, [f"read as {encoding}: not UTF-8, the encoding was guessed{rest}"]
    return damaged, "utf-8", [f"{lost} invalid byte{'s' * (lost > 1)} replaced: not quite UTF-8"]


def _detect(data: bytes) -> str | None:
    from charset_normalizer import from_bytes

    lines = [line for line in data.splitlines(keepends=True) if not line.isascii()]
    sample = b"".join(lines)[:SAMPLE_BYTES]
    if len(_LONE_LETTER.findall(sample)) >= len(_FOREIGN_RUN.findall(sample)) * MIN_LONE_LETTERS:
        return _western_or_central(sample)
    best = from_bytes(sample, cp_isolation=_CANDIDATES, preemptive_behaviour=False).best()
    encoding = best.encoding if best else "cp1252"
    if encoding in ("cp1250", "cp1252"):
        return _western_or_central(sample)
    return encoding


def _western_or_central(sample: bytes) -> str | None:
    western = sample.decode("cp1252", errors="replace")
    if _SIGN_IN_WORD.search(western):
        return "cp1250"
    foreign = len(_NON_ASCII.findall(western))
    plausible = sum(len(kind.findall(western)) for kind in (_LETTER_BESIDE_ASCII, _TYPOGRAPHY, _SHORT_WORD))
    return "cp1252" if plausible * 2 >= foreign else None
