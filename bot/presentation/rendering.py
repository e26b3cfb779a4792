"""Text for chat platforms: Markdown made harmless and split at safe places. Shared by all adapters; pure.

    parts = split_markdown(answer.text, 3_000, Flavour(footnote=..., is_allowed=...))

Names: `split_markdown` (`read_markdown` and `pack` in one), `Part`, `Flavour` (what a platform's Markdown can do),
`clip`, `clean`, `safe_cut`, `units`, `link_target`, `allow_none`.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.presentation.markdown.blocks import Block, Line, read_blocks
from bot.presentation.markdown.characters import clean, clip, safe_cut, units
from bot.presentation.markdown.flavour import Flavour, allow_none, link_target
from bot.presentation.markdown.inline import Token

__all__ = [
    "Flavour",
    "Part",
    "allow_none",
    "clean",
    "clip",
    "link_target",
    "pack",
    "read_markdown",
    "safe_cut",
    "split_markdown",
    "units",
]

# Units: fences, a table's head and one long word must find room.
SMALLEST_LIMIT = 300
# Of a token (a link, a span of code): any limit from here on has room for it and the mark of a quote.
LONGEST_TOKEN = 1_000
_MARK = 8
# A line that has to be cut begins in what is left of a part, if that is not too little.
_WORTH_FILLING = 0.3
# A cut at a sentence's end may leave so much of the room empty, one between words less.
_SENTENCE_FROM = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A piece of a text that stands for itself: finished Markdown, and the footnotes it uses, ascending."""

    text: str
    numbers: tuple[int, ...] = ()


def split_markdown(text: str, limit: int, flavour: Flavour | None = None) -> list[Part]:
    """The text, harmless, in parts of at most `limit` UTF-16 units, in order; none for a text of white space.

    Cut between paragraphs, else between items, rows or lines, sentences, words, and inside a word only where nothing
    else is left. Fences are closed at a part's end and opened again with their language, tables repeat their head.
    ValueError for a limit under 300.
    """
    return pack(read_markdown(text, flavour or Flavour(), min(limit - _MARK, LONGEST_TOKEN)), limit)


def read_markdown(text: str, flavour: Flavour, longest: int = LONGEST_TOKEN) -> list[Block]:
    """The text, harmless, in blocks for `pack`: for who tries several limits, all above `longest`."""
    return read_blocks(clean(text), flavour, longest)


def pack(blocks: Sequence[Block], limit: int) -> list[Part]:
    """What `split_markdown` gives, of blocks that have been read."""
    if limit < SMALLEST_LIMIT:
        raise ValueError(f"A limit of {limit} is too small for Markdown: give at least {SMALLEST_LIMIT}.")
    packer = _Packer(limit)
    for block in blocks:
        packer.add(block)
    return packer.finish()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    text: str
    numbers: tuple[int, ...]
    separator: str  # between it and the piece before
    is_heading: bool


class _Packer:
    """Fills parts with blocks, in order."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[Part] = []
        self._pieces: list[_Piece] = []
        self._used = 0

    def add(self, block: Block) -> None:
        size = _size(block, block.lines)
        if size > self._limit:
            self._add_cut(block)
            return
        if size > self._room(block):
            self._flush()
        self._put(block, block.lines)

    def finish(self) -> list[Part]:
        self._flush(is_end=True)
        return [part for part in self._parts if part.text.strip()]

    def _add_cut(self, block: Block) -> None:
        """Item by item, else line by line; a line that fits nowhere is cut itself."""
        pending: list[Line] = []
        size = _frame(block)
        groups = deque(_groups(block))
        while groups:
            group = groups.popleft()
            more = sum(_line_size(line) + 1 for line in group)
            if size + more - 1 <= self._room(block):
                pending += group
                size += more
                continue
            if _frame(block) + more - 1 > self._limit and len(group) > 1:
                groups.extendleft([line] for line in reversed(group))
                continue
            self._put(block, pending)
            pending = group if _frame(block) + more - 1 <= self._limit else self._cut_line(block, group[0])
            if pending is group:
                self._flush()
            size = _frame(block) + sum(_line_size(line) + 1 for line in pending)
        self._put(block, pending)

    def _cut_line(self, block: Block, line: Line) -> list[Line]:
        """All of a line but its end, each piece in a part; the end is given back."""
        rest = deque(line.tokens)
        while True:
            room = self._room(block) - _frame(block) - units(line.prefix)
            if self._pieces and (room < _WORTH_FILLING * self._limit or units(rest[0].text) > room):
                self._flush()
                continue
            taken = replace(line, tokens=_take(rest, room, is_code=block.is_code))
            if not rest:
                return [taken]
            self._put(block, [taken])
            self._flush()

    def _room(self, block: Block) -> int:
        return self._limit - self._used - (len(_separator(block)) if self._pieces else 0)

    def _put(self, block: Block, lines: Sequence[Line]) -> None:
        if not lines:
            return
        text = "\n".join(line.prefix + "".join(token.text for token in line.tokens) for line in lines)
        piece = _Piece(
            text=f"{block.opening}{text}{block.closing}",
            numbers=tuple(number for line in lines for token in line.tokens for number in token.numbers),
            separator=_separator(block),
            is_heading=block.is_heading,
        )
        self._used += units(piece.text) + (len(piece.separator) if self._pieces else 0)
        self._pieces.append(piece)

    def _flush(self, *, is_end: bool = False) -> None:
        """End the part; headings at its end begin the next one."""
        kept: list[_Piece] = []
        while not is_end and len(self._pieces) > 1 and self._pieces[-1].is_heading:
            kept.insert(0, self._pieces.pop())
        if self._pieces:
            text = "".join(
                f"{piece.separator if place else ''}{piece.text}" for place, piece in enumerate(self._pieces)
            )
            numbers = {number for piece in self._pieces for number in piece.numbers}
            self._parts.append(Part(text=text, numbers=tuple(sorted(numbers))))
        self._pieces = kept
        self._used = sum(units(piece.text) for piece in kept) + sum(len(piece.separator) for piece in kept[1:])


def _separator(block: Block) -> str:
    return "\n\n" if block.is_apart else "\n"


def _frame(block: Block) -> int:
    return units(block.opening) + units(block.closing)


def _line_size(line: Line) -> int:
    return units(line.prefix) + sum(units(token.text) for token in line.tokens)


def _size(block: Block, lines: Sequence[Line]) -> int:
    return _frame(block) + sum(_line_size(line) + 1 for line in lines) - 1


def _groups(block: Block) -> list[list[Line]]:
    """Lines that stay together if they can: an item with what belongs to it."""
    groups: list[list[Line]] = []
    for line in block.lines:
        if line.is_border or not groups:
            groups.append([line])
        else:
            groups[-1].append(line)
    return groups


def _take(rest: deque[Token], room: int, *, is_code: bool) -> tuple[Token, ...]:
    """Tokens for at most `room` units from the front of `rest`, cut at the best place; at least one."""
    taken: list[Token] = []
    used = best = 0
    after_sentence = False
    while rest and (not taken or used + units(rest[0].text) <= room):
        token = rest.popleft()
        taken.append(token)
        used += units(token.text)
        after_sentence = token.ends_sentence or (after_sentence and (bool(token.numbers) or token.text.isspace()))
        if after_sentence and token.ends_word and used >= _SENTENCE_FROM * room:
            best = len(taken)
    if rest and not is_code:
        words = max((place for place, token in enumerate(taken, 1) if token.ends_word), default=0)
        while len(taken) > (best or words or len(taken)):
            rest.appendleft(taken.pop())
    return tuple(taken)
