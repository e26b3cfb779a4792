"""Messages and views in Block Kit: values, Slack's limits, builders of blocks, and plain text.

The text of a `rich_text` block is literal: it can't ping, and only its link elements can be clicked. Builders clean
strings; callers keep to the lengths, except for labels, which are cut.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

from bot.presentation.markdown import Flavour, clean, clip, link_target, safe_cut

# Block Kit as Slack's API takes it.
Block: TypeAlias = Mapping[str, Any]
View: TypeAlias = Mapping[str, Any]  # a modal or the home tab
# Slack's limits (https://docs.slack.dev/reference/block-kit, and slack_sdk's validators).
MAX_BLOCKS = 50  # of a message; a view has 100
MAX_VIEW_BLOCKS = 100
MAX_MARKDOWN = 12_000  # characters of all markdown blocks of a message
MAX_LABEL = 75  # characters of a button, an option's label and description
MAX_OPTION_VALUE = 150
MAX_OPTIONS = 100  # of a menu
MAX_ACTIONS = 25  # elements of an actions block
MAX_HEADER = 150  # characters
MAX_TITLE = 24  # characters of a modal's title and buttons
MAX_TASK_ID = 255
MAX_TASK_TEXT = 256  # characters of a task's title, details and output
VIEW_BUDGET = 16_000  # characters of all texts of a view: Slack accepts 250 KB of JSON, up to twelve bytes each
# Characters of all texts of a message, plus EACH_BLOCK per block: Slack fails near 13,200 (bolt-js#2509).
TEXT_BUDGET = 11_000
EACH_BLOCK = 125
# Bytes of `text`, escaped: an update accepts 4,000 (public reports).
MAX_FALLBACK = 3_000
Element: TypeAlias = Mapping[str, Any]  # of a block
Option: TypeAlias = tuple[str, str]  # label and value
_ENTITY = re.compile(r"&(?=#?\w{1,40};)")
_NOTHING = "…"  # for empty text, which Slack refuses
_MORE = "…"
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$\n?", re.MULTILINE)
_LINK = re.compile(r"\[((?:\\.|\[\d+\]|[^\[\]\\])*)\]\([^()\s]*\)")
_SIGNS = re.compile(r"\\([!-/:-@\[-`{-~])|\*\*|``?|^#{1,6}[ \t]+", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackMessage:
    """A message. `text` is its escaped fallback for notifications and screen readers, at most MAX_FALLBACK bytes.

    `numbers` are the footnotes in its text, `listed` those in its sources, ascending.
    """

    text: str
    blocks: tuple[Block, ...]
    numbers: tuple[int, ...] = ()
    listed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackPost:
    """One or several messages, in order."""

    parts: tuple[SlackMessage, ...]


def _escape(content: str) -> str:
    """Break character references."""
    return _ENTITY.sub("&\u200b", content)


def _link(label: str, address: str) -> str:
    return f"[{label}]({_ENTITY.sub('%26', address)})"


# Markdown as Slack's markdown blocks read it, without footnotes and links: `replace` it.
FLAVOUR = Flavour(escape=_escape, link=_link, has_tables=True, links_hosts=True)


def neutral(content: str) -> str:
    """Return text that pings no one and has no links, whether its Markdown is rendered or not."""
    return FLAVOUR.neutral(content)


def fitted(content: str, limit: int) -> str:
    """Return one line of `neutral` text with at most `limit` characters (from 20)."""
    room = limit
    while len(safe := neutral(clip(content, room))) > limit:
        room = max(3, room - (len(safe) - limit))
    return safe


# ---------------------------------------------------------------------- blocks


def markdown(content: str) -> Block:
    """Return finished Markdown as a block; Slack sets its id."""
    return {"type": "markdown", "text": content}


def rich_text(*elements: Element, block_id: str | None = None) -> Block:
    return _named({"type": "rich_text", "elements": list(elements)}, block_id)


def actions(*elements: Element, block_id: str | None = None) -> Block:
    return _named({"type": "actions", "elements": list(elements)}, block_id)


def context(content: str, block_id: str | None = None) -> Block:
    """Return small plain text."""
    return _named({"type": "context", "elements": [_plain(content)]}, block_id)


def header(content: str) -> Block:
    return {"type": "header", "text": _plain(clip(content, MAX_HEADER))}


def feedback(action_id: str) -> Block:
    """Return a pair of thumbs with the values "up" and "down"."""
    pair = {
        "type": "feedback_buttons",
        "action_id": action_id,
        "positive_button": {"text": _plain("Helpful"), "value": "up"},
        "negative_button": {"text": _plain("Not helpful"), "value": "down"},
    }
    return {"type": "context_actions", "elements": [pair]}


def modal(title: str, blocks: Iterable[Block], *, close: str = "Close", metadata: str = "") -> View:
    """Return a modal without inputs. `metadata` (at most 3,000 characters) come back with each button."""
    view: dict[str, Any] = {
        "type": "modal",
        "title": _plain(clip(title, MAX_TITLE)),
        "close": _plain(clip(close, MAX_TITLE)),
        "blocks": list(blocks),
    }
    return view | ({"private_metadata": metadata} if metadata else {})


def home(blocks: Iterable[Block]) -> View:
    return {"type": "home", "blocks": list(blocks)}


# ---------------------------------------------------------------------- elements


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a rich_text; None pieces are left out. `is_quoted` marks other people's words."""

    pieces: tuple[Element | None, ...]
    is_quoted: bool = False

    @property
    def size(self) -> int:
        """Characters, with a line end."""
        return 1 + sum(len(piece["text"]) for piece in self.pieces if piece is not None)


def stack(rows: Iterable[Row]) -> tuple[Element, ...]:
    """Return rows as sections and quotes; adjacent rows of one kind are joined."""
    runs = ((is_quoted, list(run)) for is_quoted, run in groupby(rows, lambda row: row.is_quoted))
    return tuple(
        {"type": "rich_text_quote" if is_quoted else "rich_text_section", "elements": _lines(run)}
        for is_quoted, run in runs
    )


def bullets(rows: Iterable[Row], indent: int = 0) -> Element:
    items = [{"type": "rich_text_section", "elements": _lines([row])} for row in rows]
    return {"type": "rich_text_list", "style": "bullet", "indent": indent, "elements": items}


def text(content: str, *, bold: bool = False, italic: bool = False) -> Element | None:
    """Return literal text; None if empty, which Slack refuses."""
    content = clean(content)
    if not content:
        return None
    style = {name: True for name, is_set in (("bold", bold), ("italic", italic)) if is_set}
    return {"type": "text", "text": content} | ({"style": style} if style else {})


def link(label: str, address: str | None, *, bold: bool = False) -> Element | None:
    """Return a link, or text if the address can't be linked."""
    target = link_target(address)
    label = clean(label)
    if target is None or not label.strip():
        return text(label, bold=bold)
    return {"type": "link", "url": target, "text": label} | ({"style": {"bold": True}} if bold else {})


def button(label: str, action_id: str, *, style: str | None = None, value: str | None = None) -> Element:
    """`style` is "primary" or "danger"."""
    made = {"type": "button", "text": _plain(clip(label, MAX_LABEL)), "action_id": action_id}
    return made | ({"style": style} if style else {}) | ({"value": value} if value else {})


def menu(placeholder: str, action_id: str, options: Sequence[Option]) -> Element:
    return {
        "type": "static_select",
        "action_id": action_id,
        "placeholder": _plain(placeholder),
        "options": [{"text": _plain(clip(label, MAX_LABEL)), "value": value} for label, value in options],
    }


# ---------------------------------------------------------------------- sizes and texts


def size_of(blocks: Iterable[Block]) -> int:
    """Return the share of a message's TEXT_BUDGET that blocks take."""
    return sum(EACH_BLOCK + sum(len(found) for found in _texts(block)) for block in blocks)


def plain_of(block: Block) -> str:
    """Return the words of a rich_text or context block, line by line."""
    if block["type"] == "rich_text":
        return "\n".join(_words_of(element) for element in block["elements"])
    return "\n".join(_texts(block))


def _words_of(element: Element) -> str:
    if element["type"] == "rich_text_list":
        return "\n".join(f"{'  ' * element['indent']}- {_words_of(item)}" for item in element["elements"])
    return "".join(piece["text"] for piece in element["elements"])


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        if isinstance(value.get("text"), str):
            yield value["text"]
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _lines(rows: Iterable[Row]) -> list[Element]:
    """Join the pieces of all rows; Slack refuses an empty section."""
    joined: list[Element] = []
    for row in rows:
        joined += [{"type": "text", "text": "\n"}] if joined else []
        joined += [piece for piece in row.pieces if piece is not None] or [{"type": "text", "text": " "}]
    return joined


def _plain(content: str) -> Element:
    return {"type": "plain_text", "text": clean(content).strip() or _NOTHING, "emoji": False}


def _named(block: dict[str, Any], block_id: str | None) -> Block:
    return block if block_id is None else {**block, "block_id": block_id}


def unmarked(markdown: str) -> str:
    """Return the words of finished Markdown, without addresses, fences and signs."""
    return _SIGNS.sub(lambda match: match[1] or "", _LINK.sub(r"\1", _FENCE.sub("", markdown))).strip()


def fallback(content: str, below: str = "") -> str:
    """Return plain text for `text`: escaped, without pings and links, at most MAX_FALLBACK bytes.

    If a long text is cut, `below` (sources) keeps up to a third of the room.
    """
    tail = _cut(_safe(below), MAX_FALLBACK // 3)
    head = _cut(_safe(content), MAX_FALLBACK - len(tail.encode()) - 2)
    return "\n\n".join(piece for piece in (head, tail) if piece) or _MORE


def _safe(content: str) -> str:
    return neutral(clean(content)).strip()


def _cut(safe: str, room: int) -> str:
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
