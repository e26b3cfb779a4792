"""Characters of a text, and the Markdown of a platform with its dangers. Pure."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, inf

from core.text.markup import without_controls

# Longer addresses are not linked: a part must have space for a footnote and its text.
LONGEST_ADDRESS = 1_000
_IN_LINK = re.compile(r"[\s<>()\[\]{}\"'`\\|^]")
_PING = re.compile(r"@(?=everyone|here|channel)", re.IGNORECASE)
# Clients search the raw text for mentions, so `<` is separated from the next character. They ignore an escaped `<` for
# addresses in `<...>`, so it is escaped, too.
_LESS_THAN = re.compile(r"(\\[!-/:-;=-@\[-`{-~])|\\?<(?![\s\u200b])")
# In code, `<` is common: only text that a client would treat as a mention or a link is changed.
_CODE_PING = re.compile(
    r"@(?=everyone|here|channel)"
    r"|<(?=[@#][!&]?\w|!\w|a?:\w|t:|id:|/[^<>\n]{1,100}:\d|(?:mailto|tel|sms):|[a-z][\w+.-]*:/)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"[a-z][\w+.-]{0,40}://[^\s<>`\"']*|://", re.IGNORECASE)
_SIGNS = re.compile(r"[\\*_~`|\[\]()#>]")
_BEGINS_BLOCK = re.compile(r"^([ \t]*)([-+=]|\d+(?=[.)]))", re.MULTILINE)
# The point in `guide.md` and `ada@example.org`: a client may treat a file as a host.
_HOST = re.compile(r"([\w-]\\?)\.(?=[^\W\d_]{2})")
# `[label]: address` at the start of a line is a link definition, which isn't shown.
_DEFINITION = re.compile(r"^([ \t]*\[[^\]\n]{1,300}\]):", re.MULTILINE)
_INVITE = re.compile(r"(discord(?:app)?)\.(?=gg/|com/|me/|new/|gift/)", re.IGNORECASE)
_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029\x0b\x0c\x85]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_JOINER = "\u200d"
# A platform may limit the bytes of a message, too: Discord fails above 10,170 (discord-api-docs#8554), and is sent at
# most 3,600 units, which have to fit into 9,000 bytes.
_BYTES_PER_UNIT = 2.45
# Characters that a cut may go back: longer clusters of marks aren't writing, and are cut.
_LONGEST_CLUSTER = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class Flavour:
    """A platform's Markdown. The defaults are Discord's.

    `breaker` is invisible and has no width. After the first character of a ping or an address, it disables it and keeps
    it readable. Discord's own libraries use U+200B.
    """

    breaker: str = "\u200b"
    footnote: Callable[[int], str | None] = "[{}]".format  # None: the number isn't a footnote, and stays text
    is_allowed: Callable[[str], bool] = lambda _: False  # addresses in the text that may be links
    link: Callable[[str, str], str] = "[{}]({})".format  # finished label and address -> markup
    escape: Callable[[str], str] = str  # last, for text and code alike (Slack: & < >)
    links_hosts: bool = False  # clients link host names and mail addresses without a scheme
    has_tables: bool = False
    deepest_heading: int = 3  # deeper ones become bold
    has_rules: bool = True  # False: a rule is a line of dashes
    table_columns: int = 60  # maximum of a fixed-width table; wider ones become rows of "key: value"
    # Slack makes blocks of headings, rules, tables and the text between them: so many may be in a part, and each takes
    # so many units besides its text.
    most_blocks: float = inf
    block_weight: int = 0

    @property
    def makes_blocks(self) -> bool:
        return self.most_blocks < inf

    def harmless(self, text: str) -> str:
        """Return the text with disabled pings and addresses; it looks the same."""
        return self._disabled(_LESS_THAN.sub(lambda match: match[1] or f"\\<{self.breaker}", text))

    def harmless_code(self, text: str) -> str:
        """Return code with disabled pings and addresses, otherwise unchanged: people copy it."""
        text = _CODE_PING.sub(rf"\g<0>{self.breaker}", text)
        return _ADDRESS.sub(self._break_address, _INVITE.sub(rf"\g<1>{self.breaker}.", text))

    def neutral(self, text: str) -> str:
        """Return the cleaned text without added signs, for fields that may or may not render Markdown."""
        return self.escape(self._disabled(clean(text).replace("<", f"<{self.breaker}")))

    def plain(self, text: str) -> str:
        """Return Markdown that shows a plain text (a title, a quote) as it is, line by line."""
        escaped = _BEGINS_BLOCK.sub(_escape_block, _SIGNS.sub(r"\\\g<0>", clean(text)))
        return self.escape(self.harmless(escaped))

    def linked(self, label: str, address: str | None) -> str:
        """Return a plain text as a link, or as text if the address can't be linked."""
        target = link_target(address)
        return self.link(self.plain(label), target) if target is not None else self.plain(label)

    def _disabled(self, text: str) -> str:
        """Return the text with all pings and links disabled that don't begin with `<`."""
        text = _PING.sub(rf"\g<0>{self.breaker}", text)
        text = _INVITE.sub(rf"\g<1>{self.breaker}.", text)
        text = _HOST.sub(rf"\g<1>.{self.breaker}", text) if self.links_hosts else text
        text = _DEFINITION.sub(rf"\g<1>{self.breaker}:", text)
        return text.replace("://", f":{self.breaker}//").replace("](", f"]{self.breaker}(")

    def _break_address(self, match: re.Match[str]) -> str:
        address = match[0]
        if address.count("://") == 1 and self.is_allowed(address):
            return address
        return address.replace("://", f":{self.breaker}//")


def link_target(address: str | None) -> str | None:
    """Return a web address escaped for a link; None if it isn't one, or is too long."""
    if address is None or not re.match(r"https?://[^\s/]", address, re.IGNORECASE):
        return None
    target = _IN_LINK.sub(lambda sign: "".join(f"%{byte:02X}" for byte in sign[0].encode()), clean(address))
    scheme, _, rest = target.partition("://")
    target = f"{scheme}://{rest.replace('://', '%3A//')}"  # one address, not two
    target = re.sub(r"@(?=everyone|here|channel)", "%40", target, flags=re.IGNORECASE)
    return target if units(target) <= LONGEST_ADDRESS else None


def _escape_block(match: re.Match[str]) -> str:
    sign = match[2]
    return f"{match[1]}{sign}\\" if sign.isdigit() else f"{match[1]}\\{sign}"


def units(text: str) -> int:
    """Return the length in UTF-16 units, which some clients count; never less than characters."""
    return len(text) if text.isascii() else len(text) + len(_ASTRAL.findall(text))


def weight(text: str) -> int:
    """Return the share of a message's limit that a text takes: its units, or more if it has many bytes."""
    return len(text) if text.isascii() else max(units(text), ceil(len(text.encode(errors="replace")) / _BYTES_PER_UNIT))


def clean(text: str) -> str:
    """Return the text without control characters and half characters; every line ends with a line feed."""
    return _SURROGATE.sub("\ufffd", without_controls(_LINE_ENDS.sub("\n", text)))


def safe_cut(text: str, limit: int) -> int:
    """Return the place to cut a text to at most `limit` (from 2) units, between visible characters.

    At least 1, and `len(text)` if all of it fits. Never between a backslash and the character that it escapes.
    """
    place = _by_units(text, limit)
    if place == len(text):
        return place
    for back in range(min(_LONGEST_CLUSTER, place)):
        if _is_boundary(text, place - back):
            return place - back
    return max(place, 1)


def clip(text: str, limit: int) -> str:
    """Return the text on one line of at most `limit` (from 3) units, with an ellipsis if it was cut."""
    line = " ".join(clean(text).split())
    if units(line) <= limit:
        return line
    return line[: safe_cut(line, limit - 1)].rstrip(" ,;:") + "…"


def columns(text: str) -> int:
    """Return the width in a fixed-width font: wide East Asian characters and emoji have two columns, marks none."""
    if text.isascii():
        return len(text)
    widths = (2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text if not _is_mark(sign))
    return sum(widths)


def _by_units(text: str, limit: int) -> int:
    place = min(len(text), limit)
    while place > 1 and units(text[:place]) > limit:
        place -= max(1, (units(text[:place]) - limit) // 2)
    return place


def _is_boundary(text: str, place: int) -> bool:
    if place <= 0:
        return False
    before, behind = text[place - 1], text[place]
    if _is_mark(behind) or before == _JOINER or 0x1F3FB <= ord(behind) <= 0x1F3FF:
        return False
    if _is_flag_letter(before) and _is_flag_letter(behind):
        letters = len(text[:place]) - len(text[:place].rstrip("".join(map(chr, range(0x1F1E6, 0x1F200)))))
        return letters % 2 == 0
    return (place - len(text[:place].rstrip("\\"))) % 2 == 0


def _is_mark(sign: str) -> bool:
    return unicodedata.category(sign) in ("Mn", "Me", "Mc") or sign == _JOINER or 0xE0020 <= ord(sign) <= 0xE007F


def _is_flag_letter(sign: str) -> bool:
    return 0x1F1E6 <= ord(sign) <= 0x1F1FF
