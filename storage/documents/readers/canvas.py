"""Canvases of Obsidian: cards in reading order, group by group, and the connections between them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from core.text.words import collapse, shorten
from storage.documents.markup.marked_text import plain
from storage.documents.markup.writers import MarkdownWriter, tidy
from storage.documents.texts.encodings import decode
from storage.documents.texts.structured import Value, list_of, read_json, string_of

# Maximum cards and arrows, and maximum characters of a card's name in a connection.
MAX_CARDS = 20_000
MAX_NAME = 80

_CONNECTIONS = "Connections"
_ARROWS = {(False, True): "→", (True, False): "←", (True, True): "↔", (False, False): "–"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Card:
    """A card, or the frame of a group, with its box; y grows downwards."""

    id: str
    text: str  # Markdown
    name: str
    is_group: bool
    left: float
    top: float
    width: float
    height: float

    def holds(self, other: "_Card") -> bool:
        """Return whether the middle of a card that is not larger is inside this one."""
        x, y = other.left + other.width / 2, other.top + other.height / 2
        inside = self.left <= x <= self.left + self.width and self.top <= y <= self.top + self.height
        return inside and self.area > other.area

    @property
    def area(self) -> float:
        return self.width * self.height


class CanvasReader:
    """Reads `.canvas`: cards from top to bottom and left to right, a heading a group, then the arrows as a list.

    A card that shows a file is a link to it: the file is a document of its own.
    """

    kind = "canvas"
    suffixes = frozenset({".canvas"})
    expects = "a canvas of Obsidian"

    def accepts(self, path: Path, head: bytes) -> bool:
        return True

    def read(self, path: Path, root: Path) -> ParsedDocument:
        decoded = decode(path.read_bytes())
        canvas = read_json(decoded.text)
        if not isinstance(canvas, dict):
            raise ReadError("not a canvas of Obsidian: it has no cards")
        cards = [card for node in _dicts(canvas.get("nodes")) if (card := _to_card(node)) is not None]
        writer = MarkdownWriter()
        links: list[str] = []
        for card in _in_order(cards):
            if card.is_group:
                writer.add_heading(2, card.name)
            else:
                links += writer.add_markdown(card.text)
        _write_arrows(_dicts(canvas.get("edges")), {card.id: card.name for card in cards}, writer)
        empty = "no card of the canvas holds anything"
        return writer.to_document(path, self.kind, (), empty=empty, links=links, warnings=decoded.warnings)


def _dicts(value: Value) -> list[dict[str, Value]]:
    return [item for item in list_of(value) if isinstance(item, dict)][:MAX_CARDS]


def _to_card(node: dict[str, Value]) -> _Card | None:
    kind = node.get("type")
    if kind == "file":
        target = f"{string_of(node.get('file'))}{string_of(node.get('subpath'))}"
        text, name = f"[[{target}]]" if target else "", target.rpartition("/")[2].removesuffix(".md")
    elif kind == "link":
        text = name = string_of(node.get("url"))
    elif kind == "group":
        text = name = string_of(node.get("label"))
    else:
        text = tidy(string_of(node.get("text"))).strip("\n").rstrip()
        name = next(filter(None, (plain(line).lstrip("#>- ") for line in text.split("\n"))), "")
    if not text.strip() and kind != "group":
        return None
    left, top, width, height = (_number(node, key) for key in ("x", "y", "width", "height"))
    return _Card(
        id=string_of(node.get("id")), text=text, name=shorten(collapse(name), MAX_NAME), is_group=kind == "group",
        left=left, top=top, width=width, height=height,
    )  # fmt: skip


def _in_order(cards: Sequence[_Card]) -> Iterator[_Card]:
    """Yield cards outside of all groups, then each group with its cards; a card in two groups is in the smaller."""
    groups = sorted((card for card in cards if card.is_group), key=_place)
    held: dict[str, list[_Card]] = {}
    for card in sorted((card for card in cards if not card.is_group), key=_place):
        around = min((group for group in groups if group.holds(card)), key=lambda group: group.area, default=None)
        if around is None:
            yield card
        else:
            held.setdefault(around.id, []).append(card)
    for group in groups:
        if group.id in held:
            yield group
            yield from held.pop(group.id)


def _place(card: _Card) -> tuple[float, float]:
    return card.top, card.left


def _write_arrows(edges: Sequence[dict[str, Value]], names: dict[str, str], writer: MarkdownWriter) -> None:
    lines = []
    for edge in edges:
        ends = names.get(string_of(edge.get("fromNode")), ""), names.get(string_of(edge.get("toNode")), "")
        if all(ends):
            arrow = _ARROWS[edge.get("fromEnd") == "arrow", edge.get("toEnd", "arrow") == "arrow"]
            label = collapse(tidy(string_of(edge.get("label"))))
            lines.append(f"{ends[0]} {arrow} {ends[1]}{f': {label}' if label else ''}")
    if lines:
        writer.add_heading(2, _CONNECTIONS)
        for line in lines:
            writer.add_item(line)


def _number(item: dict[str, Value], key: str) -> float:
    value = item.get(key)
    return float(value) if isinstance(value, int | float) and abs(value) < 1e12 else 0.0
