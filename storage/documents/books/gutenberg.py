"""Where a book of Project Gutenberg begins and ends between the project's own header and licence. Pure."""

import re
from collections.abc import Sequence
from dataclasses import replace

from core.domain.corpus import Heading, Span

# Paragraphs after the mark of the start that may say who typed the book and where else it is to be had.
MAX_CREDITS = 5

# "*** START OF THE PROJECT GUTENBERG EBOOK ULYSSES ***", over one line or two; older ones say ETEXT or end a "small
# print" instead.
_START = re.compile(
    r"^[ \t]*\*{2,3} ?START OF (?:THE|THIS) PROJECT GUTENBERG E-?(?:BOOK|TEXT)[^*]{0,300}(?:\*{2,3}[ \t]*)?$"
    r"|^[^\n]*\*END[* ]+THE SMALL PRINT[^\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_END = re.compile(
    r"^[ \t]*\*{2,3} ?END OF (?:THE|THIS) PROJECT GUTENBERG E-?(?:BOOK|TEXT)"
    r"|^[ \t]*End of (?:the |this )?Project Gutenberg(?:'s|’s)?\b",
    re.IGNORECASE | re.MULTILINE,
)
_PARAGRAPH = re.compile(r"\s*(\S[^\n]*(?:\n[^\n]*\S[^\n]*)*)")
_CREDIT = re.compile(
    r"(?:e-?text|produced|transcribed|prepared|scanned|this e-?(?:book|text) was \w+|\[?transcriber'?s? note)\b"
    r"|[^\n]*\bproject gutenberg\b",
    re.IGNORECASE,
)


def book_span(text: str) -> Span:
    """The book itself; all of `text` where the project's marks do not stand in it."""
    first = _START.search(text)
    start = _after_credits(text, first.end()) if first else 0
    last = _END.search(text, start)
    end = last.start() if last else len(text)
    return Span(start, end) if text[start:end].strip() else Span(0, len(text))


def without_licence(
    text: str, headings: Sequence[Heading], anchors: Sequence[tuple[str, int]] = ()
) -> tuple[str, tuple[Heading, ...], tuple[tuple[str, int], ...]]:
    """The book itself, with those headings and anchors that stand in it."""
    span = book_span(text)
    if span == Span(0, len(text)):
        return text, tuple(headings), tuple(anchors)
    inside = (item for item in headings if span.start <= item.start < span.end)
    return (
        span.of(text),
        tuple(replace(item, start=item.start - span.start) for item in inside),
        tuple((name, place - span.start) for name, place in anchors if span.start <= place < span.end),
    )


def _after_credits(text: str, start: int) -> int:
    for _ in range(MAX_CREDITS):
        paragraph = _PARAGRAPH.match(text, start)
        if paragraph is None or not _CREDIT.match(paragraph[1]):
            break
        start = paragraph.end()
    return start
