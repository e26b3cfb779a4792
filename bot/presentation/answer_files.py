"""Tables and code that would fill too many messages, as files of an answer. Pure."""

import csv
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TypeVar

from bot.presentation.markdown import clean, weight
from bot.presentation.markdown.blocks import bare_cell, code_or_table, read_table
from core.answering.citations import MARKER

MOST_MESSAGES = 3  # of an answer, before its longest tables and code become files
MOST_FILES = 10  # Discord's limit for a message
_LEAST_WEIGHT = 1_000  # of a table or code that is worth a file
_HEAD_LINES = 5  # rows or lines that stay in the message
_HEAD_WEIGHT = 600
# A spreadsheet takes such a cell for a formula, unless it is a number.
_FORMULA = re.compile(r"[=@\t\r]|[+-](?![\d.,]+%?$)")
_BYTE_ORDER = "\ufeff"  # by which spreadsheets recognise UTF-8
PartT = TypeVar("PartT")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFile:
    """A file that is posted with an answer."""

    name: str  # letters, digits, a hyphen and one point
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """Lines of Markdown. `kind` is "table", "code", or "" for anything else."""

    kind: str
    lines: Sequence[str]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def fit_messages(
    text: str,
    length: int,
    pack: Callable[[str], list[PartT]],
    *,
    most_files: int = MOST_FILES,
    notes: Collection[int] = (),
    files_are_a_message: bool = False,
) -> tuple[list[PartT], tuple[AnswerFile, ...]]:
    """Return a Markdown text in messages, and its longest tables and code as files if it takes more than three.

    `pack` returns the messages of a text, each of at most `length` units of weight. The first rows or lines stay in the
    text if there is room for them, with a sentence that names the file, and the footnotes among `notes` that the text
    would lose. Some platforms post files as another message.
    """
    pieces = list(_pieces(clean(text).split("\n")))
    weights = {place: weight(piece.text) for place, piece in enumerate(pieces) if piece.kind}
    by_weight = sorted((place for place in weights if weights[place] >= _LEAST_WEIGHT), key=lambda it: -weights[it])
    by_weight = by_weight[:most_files]
    whole = weight(text)
    for count in range(len(by_weight) + 1):
        filed = by_weight[:count]
        is_hopeless = whole - sum(weights[place] for place in filed) > 2 * MOST_MESSAGES * length
        if is_hopeless and count < len(by_weight):
            continue
        said, files = _with_files(pieces, filed, _HEAD_LINES, notes)
        parts = pack(said)
        if len(parts) + (files_are_a_message and bool(files)) <= MOST_MESSAGES:
            return parts, files
    said, files = _with_files(pieces, by_weight, 0, notes)
    return (pack(said) if by_weight else parts), files


def _with_files(
    pieces: Sequence[_Piece], filed: Collection[int], most_lines: int, notes: Collection[int]
) -> tuple[str, tuple[AnswerFile, ...]]:
    """Return the text with the heads of the pieces at the places `filed`, and these pieces as files."""
    texts: list[str] = []
    files: list[AnswerFile] = []
    seen: set[int] = set()  # footnotes
    for place, piece in enumerate(pieces):
        if place not in filed:
            texts.append(piece.text)
            seen.update(_notes_in(piece.text))
            continue
        number = 1 + sum(pieces[other].kind == piece.kind for other in filed if other < place)
        file, head = (_table if piece.kind == "table" else _code)(piece, number, most_lines)
        files.append(file)
        if piece.kind == "table":
            seen.update(_notes_in(head))
            lost = [note for note in _notes_in(piece.text) if note in notes and note not in seen]
            head += f"Its other footnotes: {' '.join(f'[{note}]' for note in lost)}\n" if lost else ""
            seen.update(lost)
        texts.append(head)
    return "\n".join(texts), tuple(files)


def _notes_in(text: str) -> dict[int, None]:
    """Return the numbers of the marks in a text, in order of their first use."""
    return {int(number): None for marks in MARKER.findall(text) for number in re.findall(r"\d+", marks)}


def _table(piece: _Piece, number: int, most_rows: int) -> tuple[AnswerFile, str]:
    table = read_table(piece.lines)
    written = StringIO()
    csv.writer(written, lineterminator="\n").writerows(map(_cell, row) for row in (table.head, *table.rows))
    file = AnswerFile(name=f"table-{number}.csv", content=f"{_BYTE_ORDER}{written.getvalue()}")
    shown = _head_of(piece.lines[:2], piece.lines[2:], most_rows)
    size = f"{len(table.rows)} rows and {len(table.head)} columns"
    if not shown:
        return file, f"\nA table of {size} is in the file `{file.name}`.\n"
    head = "\n".join([*piece.lines[:2], *shown])
    return file, f"\n{head}\n\nThe table goes on: all {size} are in the file `{file.name}`.\n"


def _code(piece: _Piece, number: int, most_lines: int) -> tuple[AnswerFile, str]:
    opening, *code = piece.lines
    closing = opening.strip()[:3]
    if code and code[-1].strip().startswith(closing):
        code.pop()
    file = AnswerFile(name=f"code-{number}.txt", content="\n".join([*code, ""]))
    shown = _head_of([opening], code, most_lines)
    if not shown:
        return file, f"\n{len(code)} lines of code are in the file `{file.name}`.\n"
    head = "\n".join([opening, *shown, opening[: len(opening) - len(opening.lstrip("`~ \t"))]])
    return file, f"\n{head}\n\nThe code goes on: all {len(code)} lines are in the file `{file.name}`.\n"


def _head_of(before: Sequence[str], lines: Sequence[str], most: int) -> Sequence[str]:
    """Return the first lines for which a head has room, behind the lines `before`."""
    room = _HEAD_WEIGHT - sum(map(weight, before))
    count = 0
    while count < min(most, len(lines)) and weight(lines[count]) <= room:
        room -= weight(lines[count])
        count += 1
    return lines[:count]


def _cell(cell: str) -> str:
    text = bare_cell(cell)
    return f"'{text}" if _FORMULA.match(text) else text


def _pieces(lines: Sequence[str]) -> Iterator[_Piece]:
    place = start = 0
    while place < len(lines):
        kind, end = code_or_table(lines, place)
        if kind:
            if start < place:
                yield _Piece(kind="", lines=lines[start:place])
            yield _Piece(kind=kind, lines=lines[place:end])
            start = end
        place = end
    if start < len(lines):
        yield _Piece(kind="", lines=lines[start:])
