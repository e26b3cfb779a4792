"""What one platform's Markdown can do, and what it must be kept from doing."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from bot.presentation.markdown.characters import clean, units

# Longer addresses are not linked: a part must have room for a footnote and its text.
LONGEST_ADDRESS = 1_000
_IN_LINK = re.compile(r"[\s<>()\[\]{}\"'`\\|^]")
_PING = re.compile(r"@(?=everyone|here|channel)", re.IGNORECASE)
# Mentions are looked for in the raw text, so `<` is parted from what follows; addresses in `<...>` where it is no
# escaped sign, so it is escaped, too.
_LESS_THAN = re.compile(r"(\\[!-/:-;=-@\[-`{-~])|\\?<(?![\s\u200b])")
# In code, where `<` is common, only what a client would take for a mention or a link.
_CODE_PING = re.compile(
    r"@(?=everyone|here|channel)"
    r"|<(?=[@#][!&]?\w|!\w|a?:\w|t:|id:|/[^<>\n]{1,100}:\d|(?:mailto|tel|sms):|[a-z][\w+.-]*:/)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"[a-z][\w+.-]*://[^\s<>`\"']*|://", re.IGNORECASE)
_SIGNS = re.compile(r"[\\*_~`|\[\]()#>]")
_BEGINS_BLOCK = re.compile(r"^([ \t]*)([-+=]|\d+(?=[.)]))", re.MULTILINE)
# The point in `guide.md` and `ada@example.org`, where a client may take a file for a host.
_HOST = re.compile(r"([\w-]\\?)\.(?=[^\W\d_]{2})")
# `[label]: address` at a line's beginning is read as an address for later, and not shown.
_DEFINITION = re.compile(r"^([ \t]*\[[^\]\n]{1,300}\]):", re.MULTILINE)
_INVITE = re.compile(r"(discord(?:app)?)\.(?=gg/|com/|me/|new/|gift/)", re.IGNORECASE)


def allow_none(_: str) -> bool:
    """No address may be clicked."""
    return False


def plain_footnote(number: int) -> str | None:
    """A footnote as it stands in the answer."""
    return f"[{number}]"


def masked_link(label: str, address: str) -> str:
    """`[label](address)`, as most Markdown has it."""
    return f"[{label}]({address})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flavour:
    """A platform's Markdown. The defaults are Discord's.

    `breaker` is invisible and of no width: put behind the first character of a ping or an address, it leaves a text to
    read and nothing to fire. Discord's own libraries use U+200B for it.
    """

    breaker: str = "\u200b"
    footnote: Callable[[int], str | None] = plain_footnote  # None: this number is no footnote, and stays text
    is_allowed: Callable[[str], bool] = allow_none  # which addresses in the text may be clicked
    link: Callable[[str, str], str] = masked_link  # label and address, both finished -> markup
    escape: Callable[[str], str] = str  # last, for text and code alike (Slack: & < >)
    links_hosts: bool = False  # clients link names of hosts, and addresses of mail, without a scheme before them
    has_tables: bool = False
    deepest_heading: int = 3  # deeper ones become bold
    table_columns: int = 60  # of a fixed-width table; wider ones become rows of "key: value"

    def harmless(self, text: str) -> str:
        """Text whose pings and addresses do nothing; visibly the same."""
        return self._parted(_LESS_THAN.sub(lambda match: match[1] or f"\\<{self.breaker}", text))

    def harmless_code(self, text: str) -> str:
        """The same for code, in which as little as possible is touched: people copy it."""
        text = _CODE_PING.sub(rf"\g<0>{self.breaker}", text)
        return _ADDRESS.sub(self._break_address, _INVITE.sub(rf"\g<1>{self.breaker}.", text))

    def neutral(self, text: str) -> str:
        """Text, cleaned, for a place of which nobody says whether Markdown is read there: no sign is added to it."""
        return self.escape(self._parted(clean(text).replace("<", f"<{self.breaker}")))

    def plain(self, text: str) -> str:
        """Text that is no Markdown (a title, a quote) as Markdown that shows it as it is, line by line."""
        escaped = _BEGINS_BLOCK.sub(_escape_block, _SIGNS.sub(r"\\\g<0>", clean(text)))
        return self.escape(self.harmless(escaped))

    def linked(self, label: str, address: str | None) -> str:
        """Plain text as a link; as text where there is no address that can be linked."""
        target = link_target(address)
        return self.link(self.plain(label), target) if target is not None else self.plain(label)

    def _parted(self, text: str) -> str:
        """Text in which nothing pings or can be clicked that does not begin with `<`."""
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
    """A web address as it may stand in a link's brackets; None for what is none, or too long."""
    if address is None or not re.match(r"https?://[^\s/]", address, re.IGNORECASE):
        return None
    target = _IN_LINK.sub(_percent, clean(address))
    scheme, _, rest = target.partition("://")
    target = f"{scheme}://{rest.replace('://', '%3A//')}"  # one address, not two
    target = re.sub(r"@(?=everyone|here|channel)", "%40", target, flags=re.IGNORECASE)
    return target if units(target) <= LONGEST_ADDRESS else None


def _escape_block(match: re.Match[str]) -> str:
    sign = match[2]
    return f"{match[1]}{sign}\\" if sign.isdigit() else f"{match[1]}\\{sign}"


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode())
