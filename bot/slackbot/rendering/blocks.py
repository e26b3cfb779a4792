"""Messages and views in Block Kit: values, Slack's limits, builders of blocks, and plain text.

The text of a `rich_text` block is literal: it can't ping, and only its link elements can be clicked. Builders clean
strings; callers keep to the lengths, except for labels, which are cut.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

from bot.presentation.answer_files import AnswerFile
from bot.presentation.markdown import Flavour, clean, clip, link_target, safe_cut

# Block Kit as Slack's API takes it.
Block: TypeAlias = dict[str, Any]
View: TypeAlias = dict[str, Any]  # a modal or the home tab
# Slack's limits (https://docs.slack.dev/reference/block-kit, and slack_sdk's validators).
MAX_BLOCKS = 50  # of a message; a view has 100
# Slack expands Markdown before it counts: a heading, a rule, a table and the text between two of them are a block each.
# So many of a text leave room for sources and buttons.
MAX_EXPANDED = 40
MAX_VIEW_BLOCKS = 100
MAX_LABEL = 75  # characters of a button, an option's label and description
MAX_OPTION_VALUE = 150
MAX_OPTIONS = 100  # of a menu
MAX_ACTIONS = 25  # elements of an actions block
MAX_PLAIN = 3_000  # characters of any other plain text
MAX_TITLE = 24  # characters of a modal's title and buttons
MAX_TASK_ID = 255
MAX_TASK_TEXT = 256  # characters of a task's title, details and output
VIEW_BUDGET = 16_000  # characters of all texts of a view: Slack accepts 250 KB of JSON, up to twelve bytes each
# Characters of all texts of a message, plus EACH_BLOCK per block: Slack fails near 13,200 (bolt-js#2509).
TEXT_BUDGET = 11_000
EACH_BLOCK = 125
# Bytes of `text`, escaped: an update accepts 4,000 (public reports).
MAX_FALLBACK = 3_000
Element: TypeAlias = dict[str, Any]  # of a block
_ENTITY = re.compile(r"&(?=#?\w{1,40};)")
_NOTHING = "…"  # for empty text, which Slack refuses
_MORE = "…"
_FORMAT = re.compile(r"[*_~`]")  # signs of mrkdwn, which has no escapes: next to a space of no width they are none
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$\n?", re.MULTILINE)
_LINK = re.compile(r"\[((?:\\.|\[\d+\]|[^\[\]\\])*)\]\([^()\s]*\)")
_SIGNS = re.compile(r"\\([!-/:-@\[-`{-~])|\*\*|``?|^#{1,6}[ \t]+", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackMessage:
    """A message. `text` is its escaped fallback for notifications and screen readers, at most MAX_FALLBACK bytes.

    `numbers` are the footnotes in its text and its line of sources, ascending.
    """

    text: str
    blocks: tuple[Block, ...]
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackPost:
    """One or several messages, in order, and files behind them."""

    parts: tuple[SlackMessage, ...]
    files: tuple[AnswerFile, ...] = ()


def _escape(content: str) -> str:
    """Break character references."""
    return _ENTITY.sub("&\u200b", content)


def _link(label: str, address: str) -> str:
    return f"[{label}]({_ENTITY.sub('%26', address)})"


# Markdown as Slack's markdown blocks read it, without footnotes and links: `replace` it.
FLAVOUR = Flavour(
    escape=_escape, link=_link, has_tables=True, links_hosts=True, most_blocks=MAX_EXPANDED, block_weight=EACH_BLOCK
)


def fitted(content: str, limit: int) -> str:
    """Return one line of text without pings and links, in at most `limit` characters (from 20)."""
    room = limit
    while len(safe := FLAVOUR.neutral(clip(content, room))) > limit:
        room = max(3, room - (len(safe) - limit))
    return safe


# ---------------------------------------------------------------------- blocks


def markdown(content: str) -> Block:
    """Return finished Markdown as a block; Slack sets its id."""
    return {"type": "markdown", "text": content}


def section(content: str) -> Block:
    """Return literal text of several lines, at most MAX_PLAIN characters."""
    return {"type": "section", "text": {"type": "plain_text", "text": content, "emoji": False}}


def rich_text(*elements: Element) -> Block:
    return {"type": "rich_text", "elements": list(elements)}


def actions(*elements: Element, block_id: str | None = None) -> Block:
    return {"type": "actions", "elements": list(elements), **({"block_id": block_id} if block_id else {})}


def context(content: str, block_id: str | None = None) -> Block:
    """Return small plain text."""
    return {"type": "context", "elements": [plain(content)], **({"block_id": block_id} if block_id else {})}


def small(content: str) -> Block:
    """Return small text with finished links, in which Slack finds no others."""
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": content, "verbatim": True}]}


def small_link(label: str, address: str | None) -> str:
    """Return a plain text as a link for `small`, or as text if the address can't be linked."""
    target, shown = link_target(address), _unformatted(label)
    return f"<{_escaped(target)}|{shown}>" if target is not None else shown


def _unformatted(content: str) -> str:
    return _escaped(_FORMAT.sub("\u200b\\g<0>\u200b", FLAVOUR.neutral(content)))


def modal(title: str, blocks: Iterable[Block], *, close: str = "Close", **more: Any) -> View:
    """Return a modal; `more` are further fields, such as `private_metadata`, which come back with each button."""
    bounded = {"title": plain(title, MAX_TITLE), "close": plain(close, MAX_TITLE)}
    return {"type": "modal", **bounded, "blocks": list(blocks), **more}


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


def link(label: str, address: str | None) -> Element | None:
    """Return a link, or text if the address can't be linked."""
    target = link_target(address)
    label = clean(label)
    return {"type": "link", "url": target, "text": label} if target is not None and label.strip() else text(label)


def button(label: str, action_id: str, *, style: str | None = None) -> Element:
    """`style` is "primary" or "danger"."""
    made = {"type": "button", "text": plain(label, MAX_LABEL), "action_id": action_id}
    return made | ({"style": style} if style else {})


def menu(placeholder: str, action_id: str, options: Iterable[tuple[str, str]]) -> Element:
    """`options` are labels and values."""
    offered = [option(label, value) for label, value in options]
    return {"type": "static_select", "action_id": action_id, "placeholder": plain(placeholder), "options": offered}


def overflow(action_id: str, options: Iterable[tuple[str, str]]) -> Element:
    """Return the menu behind ⋯; `options` are labels and values."""
    return {"type": "overflow", "action_id": action_id, "options": [option(label, value) for label, value in options]}


def option(label: str, value: str) -> Element:
    return {"text": plain(label, MAX_LABEL), "value": value}


def plain(content: str, most: int = MAX_PLAIN) -> Element:
    """Return one line of plain text in at most `most` characters."""
    return {"type": "plain_text", "text": clip(content, most) or _NOTHING, "emoji": False}


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


def unmarked(markdown: str) -> str:
    """Return the words of finished Markdown, without addresses, fences and signs."""
    return _SIGNS.sub(lambda match: match[1] or "", _LINK.sub(r"\1", _FENCE.sub("", markdown))).strip()


def fallback(content: str, below: str = "") -> str:
    """Return plain text for `text`: escaped, without pings and links, at most MAX_FALLBACK bytes.

    If a long text is cut, `below` (sources) keeps up to a third of the room.
    """
    tail = _cut(below, MAX_FALLBACK // 3)
    head = _cut(content, MAX_FALLBACK - len(tail.encode()) - 2)
    return "\n\n".join(piece for piece in (head, tail) if piece) or _MORE


def _cut(content: str, room: int) -> str:
    """Return escaped text in at most `room` bytes."""
    safe = FLAVOUR.neutral(content).strip()
    if len(_escaped(safe).encode()) <= room:
        return _escaped(safe)
    places = range(min(len(safe), room) + 1)
    longest = (
        bisect_right(places, room - len(_MORE.encode()), key=lambda place: len(_escaped(safe[:place]).encode())) - 1
    )
    return _escaped(safe[: safe_cut(safe, longest)].rstrip()) + _MORE if longest > 1 else _MORE


def _escaped(content: str) -> str:
    return content.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
