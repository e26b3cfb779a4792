"""Definition lists of web pages and of reStructuredText as readers write them: a term, its meaning below. Pure."""

import re
from collections.abc import Iterator, Sequence

from core.domain.corpus import Span
from storage.documents.html.writer import MEANING_INDENT
from storage.documents.markup.marked_text import Line, MarkedText, plain
from storage.documents.terms.term_names import is_name

# Kinds whose readers indent what the terms of a definition list mean.
_OF_TAGS = frozenset({"epub", "foundry", "html"})
_BOLD_TERM = re.compile(r"\*\*(?P<names>[^*\n]{1,200})\*\*(?: \([^()\n]{1,60}\))?")


def read_terms(text: MarkedText, kind: str) -> Iterator[tuple[str, str, Span]]:
    """(term, meaning, place of both): the meaning is indented, or stands below a bold term of reStructuredText.

    Several terms in a row share what stands below the last one.
    """
    lines = text.lines
    for at, line in enumerate(lines[1:], 1):
        first = at - 1
        if not _is_text(line) or not _is_term(lines[first], line, kind):
            continue
        end = _end(lines, at)
        said = " ".join(plain(each.text) for each in lines[at:end])
        while first >= 0 and _is_term(lines[first], line, kind):
            place = Span(lines[first].span.start, lines[end - 1].span.end)
            yield from ((name, said, place) for name in _names(lines[first]) if is_name(name))
            if lines[first].follows_blank:
                break
            first -= 1


def _names(line: Line) -> list[str]:
    bold = _BOLD_TERM.fullmatch(line.text)
    return [plain(name) for name in (bold["names"].split(", ") if bold else [line.text])]


def _end(lines: Sequence[Line], at: int) -> int:
    """Behind the last line of a meaning: all that is indented, or else its paragraph."""
    end = at + 1
    while end < len(lines) and _is_text(lines[end]):
        if lines[end].indent < lines[at].indent or (not lines[at].indent and lines[end].follows_blank):
            break
        end += 1
    return end


def _is_term(line: Line, meaning: Line, kind: str) -> bool:
    if not _is_text(line) or line.is_item:
        return False
    if kind == "rst":
        return not meaning.follows_blank and _BOLD_TERM.fullmatch(line.text) is not None
    return kind in _OF_TAGS and meaning.indent - line.indent >= len(MEANING_INDENT) and is_name(plain(line.text))


def _is_text(line: Line) -> bool:
    return not (line.in_code or line.heading or line.is_row)
