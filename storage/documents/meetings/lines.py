"""Lines of notes and minutes by their form: headings, list items, rows, plain text; each with its place.

Pure. Spans are offsets in the text of the page.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from itertools import zip_longest
from pathlib import Path

from core.domain.corpus import Page
from core.domain.passages import Span
from core.text.words import collapse, placed_lines

# Characters: a longer line is prose, read only for its sentences, or data.
MAX_LINE = 2_000
# Characters: no handwritten line is longer.
_LONGEST_LINE = 20_000
# Level of headings outside of Markdown, below its six.
BOLD_LEVEL = 7
# Characters from which a line that continues in the next one may have been wrapped by its writer.
_WRAPPED = 55

_HEADING = re.compile(r"[ \t]{0,3}(#{1,6})[ \t]++")
_WIKI_HEADING = re.compile(r"(={2,6})[ \t]*+([^=\s].*?)(?<![ \t])[ \t]*+\1[ \t]*+|h([1-6])\.[ \t]++(\S.*)")
_BOLD_LINE = re.compile(r"(?:\*\*|__|'''|\*)([^*_'|]{2,90})(?:\*\*|__|'''|\*)[ \t]*:?[ \t]*")
_ITEM = re.compile(
    r"([-*+•◦▪‣·–—o→⇒✓☐☑✅⬜]|[-=]>|[*#]{2,4}|#|\(?\d{1,3}[.)]|\d{1,2}(?:\.\d{1,2}){1,3}\.?|\(?[a-zA-Z][.)]"
    r"|[ivx]{1,4}[.)])[ \t]+(?=\S)"
)
_BOX = re.compile(r"\\?\[([ xX✓✔-]?)\\?\][ \t]*|([☐⬜☑✅✔✓])\ufe0f?[ \t]*")
_RULE = re.compile(r"[ \t]*(?:[-=*_~][ \t]*){3,}")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*\|?[ \t]*")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_PIECE = re.compile(r"\S+(?: \S+)*")  # of an aligned table: two blanks or more are between cells
_FEWEST_COLUMNS = 2
_SHIFT = 1  # characters that a cell may begin before its column
_CELL_MARK = re.compile(r"(?<!\\)\||\t")
_LINKED_PIPE = re.compile(r"\[\[[^\[\]\n]{1,300}\]\]")
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)+")
_INDENT = re.compile(r"[ \t]*")
_OPEN_LABEL = re.compile(r"[^:]{1,40}:(?:\s|$)|.{0,3}\*\*")
# Starts of lines about people, with a colon or as a sentence: "Apologies were received from Dan".
_PEOPLE = re.compile(r"(?:Apologies|Regrets|Absent|Present|In attendance|Also present|Attendees)\b")
_LINK = re.compile(r"!?\[((?:[^\[\]]|\\[\[\]]){0,300})\]\([^()\s]{0,500}(?:\s[^()]{0,80})?\)")
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|\n]{0,200}\|)?([^\[\]|\n]{1,200})\]\]")
_MARKS = re.compile(
    r"\*\*|__|~~|'''|`|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])|(?<!\w)_(?=\S)|(?<=\S)_(?!\w)|<[/a-zA-Z][^<>]{0,80}>"
)
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|>~])")


# Signs of ticked and open boxes and bullets.
_TICKED = "xX✓✔☑✅"
_UNTICKED = "☐⬜"


class Form(StrEnum):
    HEADING = "heading"
    ITEM = "item"
    ROW = "row"
    TEXT = "text"
    RULE = "rule"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteLine:
    """A line, or one with the lines that it was wrapped to. `span` leaves bullets and check boxes out."""

    page_number: int
    span: Span
    form: Form
    raw: str  # as written at `span`
    level: int = 0  # of a heading, from 1; else the indent in characters
    after_gap: bool = False  # whether a blank line is before it
    done: bool | None = None  # the state of its check box
    cells: tuple[str, ...] = ()  # of a row, as written
    header: bool = False  # whether a row is above a rule and names the columns
    aligned: bool = False  # whether blanks put the cells of a row below those of its header

    @property
    def text(self) -> str:
        """The readable text: without markup, in one line."""
        return plain(self.raw)


@cache
def load_words(table: str) -> Mapping[str, Sequence[str]]:
    """Return a table of words.toml: key -> words and phrases, in lower case."""
    with Path(__file__).with_name("words.toml").open("rb") as file:
        found: Mapping[str, Sequence[str]] = tomllib.load(file)[table]
    return found


@cache
def load_phrases(table: str) -> Mapping[str, str]:
    """Return phrase -> its key in a table of words.toml; the first key of a phrase wins. "task(s)" is two phrases."""
    found: dict[str, str] = {}
    for value, listed in load_words(table).items():
        for phrase in listed:
            found.setdefault(phrase.replace("(s)", ""), value)
            found.setdefault(phrase.replace("(s)", "s"), value)
    return found


@cache
def word_list(name: str) -> frozenset[str]:
    return frozenset(load_words("words")[name])


def phrases(listed: str) -> frozenset[str]:
    """Return the phrases of a table: "one, two words"."""
    return frozenset(" ".join(listed.split()).split(", "))


def plain(raw: str) -> str:
    """Return text without the marks of Markdown, wiki and HTML, white space collapsed; links become their words."""
    text = _WIKILINK.sub(r"\1", _LINK.sub(r"\1", raw))
    return collapse(_ESCAPED.sub(r"\1", _MARKS.sub("", text)))


def read_lines(pages: Iterable[Page], *, wrapped: bool = True) -> list[NoteLine]:
    """Return the lines of all pages, in text order, without blank lines and code.

    `wrapped`: a line may continue in the next one, as in handwritten files; False for lines that tags end.
    """
    join = _joined if wrapped else iter
    return [line for page in pages for line in join(_with_headers(list(_with_whole_rows(_page_lines(page)))))]


def _page_lines(page: Page) -> Iterator[NoteLine]:
    headings = {heading.start: heading.level for heading in page.headings}
    wiki = not headings and any(map(_WIKI_HEADING.fullmatch, page.text.split("\n")))  # where "# " is an item of a list
    gap, fenced = True, False
    columns: tuple[int, ...] = ()  # where those of an aligned table begin
    for start, raw in placed_lines(page.text):
        if _FENCE.match(raw):
            fenced = not fenced
        elif len(raw) > _LONGEST_LINE or not raw.strip():
            gap, columns = True, ()
        elif not fenced:
            line = _to_line(page.number, raw, start, headings.get(start), wiki=wiki)
            columns = columns or _find_columns(raw)
            if columns and line.form in (Form.TEXT, Form.ITEM):
                line = replace(
                    _Source(page.number, raw, start, 0).line(Form.ROW, 0, len(raw)),
                    cells=_cut(raw, columns),
                    aligned=True,
                )
            yield replace(line, after_gap=gap)
            gap = False


def _find_columns(raw: str) -> tuple[int, ...]:
    """Return where the columns begin that a line names: "Action      Owner   Due"; () for other lines."""
    pieces = list(_PIECE.finditer(raw)) if len(raw) <= MAX_LINE else []
    names = load_phrases("columns")
    if len(pieces) < _FEWEST_COLUMNS or any(piece[0].casefold().strip(" :") not in names for piece in pieces):
        return ()
    return tuple(piece.start() for piece in pieces)


def _cut(raw: str, columns: Sequence[int]) -> tuple[str, ...]:
    """Return the cells of a line below these columns; a piece belongs to the last column that begins before it."""
    cells: list[list[str]] = [[] for _ in columns]
    for piece in _PIECE.finditer(raw):
        place = sum(begin <= piece.start() + _SHIFT for begin in columns)
        cells[max(0, place - 1)].append(piece[0])
    return tuple(map(" ".join, cells))


def _with_whole_rows(lines: Iterable[NoteLine]) -> Iterator[NoteLine]:
    """Yield the lines; a row of an aligned table takes in the next one if that has a single cell."""
    last: NoteLine | None = None
    for line in lines:
        if (
            last is not None
            and last.aligned
            and line.aligned
            and sum(map(bool, line.cells)) == 1
            and not line.after_gap
        ):
            cells = tuple(" ".join(filter(None, pair)) for pair in zip(last.cells, line.cells, strict=True))
            last = replace(last, raw=f"{last.raw}\n{line.raw}", cells=cells, span=Span(last.span.start, line.span.end))
            continue
        if last is not None:
            yield last
        last = line
    if last is not None:
        yield last


@dataclass(frozen=True, slots=True)
class _Source:
    """A line of a page."""

    page_number: int
    raw: str
    start: int  # in the page's text
    indent: int

    def line(self, form: Form, begin: int, end: int, level: int | None = None) -> NoteLine:
        inside = self.raw[begin:end]
        begin += len(inside) - len(inside.lstrip())
        end = max(begin, begin + len(inside.strip()))
        return NoteLine(
            page_number=self.page_number,
            span=Span(self.start + begin, self.start + end),
            form=form,
            raw=self.raw[begin:end],
            level=self.indent if level is None else level,
        )


def _to_line(page_number: int, raw: str, start: int, level: int | None, *, wiki: bool) -> NoteLine:
    """Return the line; `level` is the level of the heading that begins here, if any."""
    quote = _QUOTE.match(raw)
    space = _INDENT.match(raw, quote.end() if quote else 0)
    content = space.end() if space else 0
    source = _Source(page_number, raw, start, len(raw[quote.end() if quote else 0 : content].expandtabs(4)))
    if len(raw) > MAX_LINE:
        return source.line(Form.TEXT, content, len(raw))
    if _RULE.fullmatch(raw, content) or (_TABLE_RULE.fullmatch(raw, content) and "|" in raw):
        return source.line(Form.RULE, content, len(raw))
    heading = _HEADING.match(raw)
    if heading and not wiki:
        title = raw[heading.end() :].rstrip(" \t").rstrip("#").rstrip(" \t")
        return source.line(Form.HEADING, heading.end(), heading.end() + len(title), len(heading[1]))
    if level is not None:
        return source.line(Form.HEADING, content, len(raw), level)
    titled = _WIKI_HEADING.fullmatch(raw, content)
    if titled:
        group = 2 if titled[1] else 4
        return source.line(Form.HEADING, *titled.span(group), len(titled[1]) if titled[1] else int(titled[3]))
    bold = _BOLD_LINE.fullmatch(raw, content)
    if bold and not source.indent:
        return source.line(Form.HEADING, *bold.span(1), BOLD_LEVEL)
    return _to_row(source, content) or _to_item(source, content)


def _to_row(source: _Source, content: int) -> NoteLine | None:
    cells = _cells(source.raw, content)
    return replace(source.line(Form.ROW, content, len(source.raw)), cells=cells) if cells else None


def _to_item(source: _Source, content: int) -> NoteLine:
    """Return an item of a list, ticked or not, or plain text."""
    raw = source.raw
    item = _ITEM.match(raw, content)
    begin = item.end() if item else content
    box = _BOX.match(raw, begin)
    done = item[1] in _TICKED if item and item[1] in _TICKED + _UNTICKED else None
    if box and (box[2] or item or len(box[1]) == 1):
        done = (box[2] or box[1] or " ") in _TICKED
        begin = box.end()
    form = Form.ITEM if item or done is not None else Form.TEXT
    return replace(source.line(form, begin, len(raw)), done=done)


def _cells(raw: str, content: int) -> tuple[str, ...]:
    text = _LINKED_PIPE.sub(lambda match: match[0].replace("|", "\0"), raw[content:].strip())
    if "|" not in text and "\t" not in text:
        return ()
    parts = _CELL_MARK.split(text.strip("|") if text.startswith("|") else text)
    parts = [part.strip().replace("\0", "|") for part in parts]
    return tuple(parts) if text.startswith("|") or sum(map(bool, parts)) > 1 else ()


def _with_headers(lines: Sequence[NoteLine]) -> Iterator[NoteLine]:
    """Yield the lines; a row above a rule is a header, an underlined line a heading."""
    for line, following in zip_longest(lines, lines[1:]):
        ruled = following is not None and following.form is Form.RULE and not following.after_gap
        if ruled and line.form is Form.ROW:
            yield replace(line, header=True)
        elif ruled and line.form is Form.TEXT and len(line.raw) < 90 and line.after_gap:
            yield replace(line, form=Form.HEADING, level=1 if following and following.raw.startswith("=") else 2)
        else:
            yield line


def _joined(lines: Iterable[NoteLine]) -> Iterator[NoteLine]:
    """Yield the lines, each joined with the lines that continue it."""
    last: NoteLine | None = None
    for line in lines:
        if last is not None and _continues(last, line):
            raw = f"{last.raw}\n{line.raw}"
            cells = (*last.cells[:-1], f"{last.cells[-1]} {line.raw}") if last.cells else ()
            last = replace(last, raw=raw, cells=cells, span=Span(last.span.start, line.span.end))
            continue
        if last is not None:
            yield last
        last = line
    if last is not None:
        yield last


def _continues(last: NoteLine, line: NoteLine) -> bool:
    if line.form is not Form.TEXT or line.after_gap or last.form in (Form.HEADING, Form.RULE) or last.header:
        return False
    if len(last.raw) + len(line.raw) > MAX_LINE or _OPEN_LABEL.match(line.raw):
        return False
    if line.level > last.level + 3 and "," not in last.raw and _OPEN_LABEL.match(last.raw):
        return False  # one name a line, below a label
    if _PEOPLE.match(line.raw):
        return False
    tail = last.raw.rsplit("\n", 1)[-1].rstrip()
    if last.form is Form.ITEM and line.level > last.level:
        return True
    if tail.endswith((".", "!", "?", ":")):
        return False
    return tail.endswith((",", ";", " and", " &")) or len(tail) >= (
        _WRAPPED // 2 if line.raw[:1].islower() else _WRAPPED
    )
