"""The plain text of a message, for notifications and screen readers: what `text` holds beside blocks. Pure.

Names: `fallback`, `unmarked`.
"""

import re

from bot.presentation.rendering import clean, safe_cut
from bot.slackbot.blocks import neutral
from bot.slackbot.layout import MAX_FALLBACK

_MORE = "…"
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$\n?", re.MULTILINE)
_LINK = re.compile(r"\[((?:\\.|\[\d+\]|[^\[\]\\])*)\]\([^()\s]*\)")
_SIGNS = re.compile(r"\\([!-/:-@\[-`{-~])|\*\*|``?|^#{1,6}[ \t]+", re.MULTILINE)


def unmarked(markdown: str) -> str:
    """Finished Markdown as its words: without addresses, fences and signs."""
    return _SIGNS.sub(lambda match: match[1] or "", _LINK.sub(r"\1", _FENCE.sub("", markdown))).strip()


def fallback(content: str, below: str = "") -> str:
    """Plain text as `text` takes it: escaped, without pings and links, at most MAX_FALLBACK bytes.

    What stands `below` (sources) is kept before the end of a long text, up to a third of the room.
    """
    tail = _cut(_safe(below), MAX_FALLBACK // 3)
    head = _cut(_safe(content), MAX_FALLBACK - len(tail.encode()) - 2)
    return "\n\n".join(piece for piece in (head, tail) if piece) or _MORE


def _safe(content: str) -> str:
    return neutral(clean(content)).strip()


def _cut(safe: str, room: int) -> str:
    """Escaped, and at most `room` bytes then."""
    if len(_escaped(safe).encode()) <= room:
        return _escaped(safe)
    low, high = 0, min(len(safe), room)
    while low < high:
        middle = (low + high + 1) // 2
        fits = len(_escaped(safe[:middle]).encode()) + len(_MORE.encode()) <= room
        low, high = (middle, high) if fits else (low, middle - 1)
    return _escaped(safe[: safe_cut(safe, low)].rstrip()) + _MORE if low > 1 else _MORE


def _escaped(content: str) -> str:
    return content.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
