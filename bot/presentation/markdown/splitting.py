"""Markdown made harmless and split at safe places.

parts = split_markdown(answer.text, 3_000, Flavour(footnote=..., is_allowed=...))
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.presentation.markdown.blocks import Block, Line, read_blocks
from bot.presentation.markdown.flavour import Flavour, clean, weight
from bot.presentation.markdown.inline import Token

SMALLEST_LIMIT = 300  # units: enough for fences, a table's head and one long word
# Units of a token (a link, a span of code). Any larger limit fits it with the mark of a quote.
LONGEST_TOKEN = 1_000
_MARK = 8
_HEAVIEST = 0.8  # units of a token in one unit of weight, at least
# A list, or a line that must be cut, starts in the rest of a part if at least this share of the part is free.
_WORTH_FILLING = 0.3
# A cut at the end of a sentence may leave this share of a part empty; a cut between words leaves less.
_SENTENCE_FROM = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A complete piece of finished Markdown, and its footnotes, ascending."""

    text: str
    numbers: tuple[int, ...] = ()


def split_markdown(text: str, limit: int, flavour: Flavour | None = None) -> list[Part]:
    """Return the harmless text in parts of at most `limit` units of weight; no part for white space.

    Cuts between paragraphs, else between items, rows or lines, sentences, words, and only then inside a word. Closes
    fences at the end of a part and reopens them with their language; tables repeat their head. Raises ValueError for a
    limit below 300.
    """
    flavour = flavour or Flavour()
    longest = int((limit - _MARK) * _HEAVIEST)
    return pack(read_markdown(text, flavour, min(longest, LONGEST_TOKEN)), limit, flavour)


def read_markdown(text: str, flavour: Flavour, longest: int = LONGEST_TOKEN) -> list[Block]:
    """Return the harmless text in blocks for `pack`, to try several limits, all above `longest`."""
    return read_blocks(clean(text), flavour, longest)


def pack(blocks: Sequence[Block], limit: int, flavour: Flavour | None = None) -> list[Part]:
    """Return parts of at most `limit` units of weight. Raises ValueError as `split_markdown` does."""
    if limit < SMALLEST_LIMIT:
        raise ValueError(f"A limit of {limit} is too small for Markdown: give at least {SMALLEST_LIMIT}.")
    packer = _Packer(limit, flavour or Flavour())
    for block in blocks:
        packer.add(block)
    return packer.finish()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    text: str
    numbers: tuple[int, ...]
    separator: str  # between it and the piece before
    is_heading: bool
    is_own: bool


class _Packer:
    """Fills parts with blocks, in order."""

    def __init__(self, limit: int, flavour: Flavour) -> None:
        self._limit = limit
        self._most_blocks = flavour.most_blocks
        self._block_weight = flavour.block_weight
        self._parts: list[Part] = []
        self._pieces: list[_Piece] = []
        self._used = 0
        self._count = 0  # blocks that a platform finds in the pieces

    def add(self, block: Block) -> None:
        size = _frame(block) + sum(_line_size(line) + 1 for line in block.lines) - 1
        if self._count + self._adds(block) > self._most_blocks:
            self._flush()
        room = self._room(block)
        is_list = not block.opening and len(_groups(block)) > 1
        if size + self._block_weight > self._limit or (size > room >= _WORTH_FILLING * self._limit and is_list):
            self._add_cut(block)
            return
        if size > room:
            self._make_room(block, size)
        self._put(block, block.lines)

    def finish(self) -> list[Part]:
        self._flush(is_end=True)
        return [part for part in self._parts if part.text.strip()]

    def _add_cut(self, block: Block) -> None:
        """Add a block item by item, else line by line; cut lines that are too long."""
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
            whole = _frame(block) + more - 1
            pending = group if whole <= self._limit else self._cut_line(block, group[0])
            if pending is group:
                self._make_room(block, whole)
            size = _frame(block) + sum(_line_size(line) + 1 for line in pending)
        self._put(block, pending)

    def _cut_line(self, block: Block, line: Line) -> list[Line]:
        """Put all pieces of a line but the last into parts; return the last."""
        rest = deque(line.tokens)
        while True:
            room = self._room(block) - _frame(block) - weight(line.prefix)
            if self._pieces and (room < _WORTH_FILLING * self._limit or weight(rest[0].text) > room):
                self._flush()
                continue
            taken = replace(line, tokens=_take(rest, room, is_code=block.is_code))
            if not rest:
                return [taken]
            self._put(block, [taken])
            self._flush()

    def _make_room(self, block: Block, size: int) -> None:
        """End the part, and the headings that go on to the next one if they leave too little of it."""
        self._flush()
        if size > self._room(block):
            self._flush(is_end=True)

    def _room(self, block: Block) -> int:
        separator = len(_separator(block)) if self._pieces else 0
        return self._limit - self._used - separator - self._adds(block) * self._block_weight

    def _adds(self, block: Block | _Piece) -> int:
        """Return the number of a platform's blocks that a block adds: text joins the text before it."""
        return 1 if block.is_own or not self._pieces or self._pieces[-1].is_own else 0

    def _put(self, block: Block, lines: Sequence[Line]) -> None:
        if not lines:
            return
        text = "\n".join(line.prefix + "".join(token.text for token in line.tokens) for line in lines)
        piece = _Piece(
            text=f"{block.opening}{text}{block.closing}",
            numbers=tuple(number for line in lines for token in line.tokens for number in token.numbers),
            separator=_separator(block),
            is_heading=block.is_heading,
            is_own=block.is_own,
        )
        self._used += self._adds(piece) * self._block_weight
        self._count += self._adds(piece)
        self._used += weight(piece.text) + (len(piece.separator) if self._pieces else 0)
        self._pieces.append(piece)

    def _flush(self, *, is_end: bool = False) -> None:
        """End the part; headings at its end start the next one."""
        kept: list[_Piece] = []
        while not is_end and len(self._pieces) > 1 and self._pieces[-1].is_heading:
            kept.insert(0, self._pieces.pop())
        if self._pieces:
            text = "".join(
                f"{piece.separator if place else ''}{piece.text}" for place, piece in enumerate(self._pieces)
            )
            numbers = {number for piece in self._pieces for number in piece.numbers}
            self._parts.append(Part(text=text, numbers=tuple(sorted(numbers))))
        self._pieces, self._count = [], 0
        for piece in kept:
            self._count += self._adds(piece)
            self._pieces.append(piece)
        self._used = sum(weight(piece.text) for piece in kept) + sum(len(piece.separator) for piece in kept[1:])
        self._used += self._count * self._block_weight


def _separator(block: Block) -> str:
    return "\n\n" if block.is_apart else "\n"


def _frame(block: Block) -> int:
    return weight(block.opening) + weight(block.closing)


def _line_size(line: Line) -> int:
    return weight(line.prefix) + sum(weight(token.text) for token in line.tokens)


def _groups(block: Block) -> list[list[Line]]:
    """Return lines that stay together if possible: an item with its further lines."""
    groups: list[list[Line]] = []
    for line in block.lines:
        if line.is_border or not groups:
            groups.append([line])
        else:
            groups[-1].append(line)
    return groups


def _take(rest: deque[Token], room: int, *, is_code: bool) -> tuple[Token, ...]:
    """Take tokens for at most `room` units from the front of `rest`, cut at the best place; at least one."""
    taken: list[Token] = []
    used = best = 0
    after_sentence = False
    while rest and (not taken or used + weight(rest[0].text) <= room):
        token = rest.popleft()
        taken.append(token)
        used += weight(token.text)
        after_sentence = token.ends_sentence or (after_sentence and (bool(token.numbers) or token.text.isspace()))
        if after_sentence and token.ends_word and used >= _SENTENCE_FROM * room:
            best = len(taken)
    if rest and not is_code:
        words = max((place for place, token in enumerate(taken, 1) if token.ends_word), default=0)
        while len(taken) > (best or words or len(taken)):
            rest.appendleft(taken.pop())
    return tuple(taken)
