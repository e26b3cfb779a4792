"""Words and white space: the few text rules that proof, grounding and reading positions share. All pure."""

import csv
import re
import unicodedata
from collections.abc import Iterable

from core.domain.corpus import Span

_WORD = re.compile(r"\w+(?:[.,']\w+)*", re.UNICODE)
# What a name can't stand with as it is, and words that mean all or no names where names are asked for.
_QUOTED = re.compile(r'.*[,"“”].*|\s.*|.*\s|all|none', re.IGNORECASE | re.DOTALL)
_QUOTES = str.maketrans("“”", '""')
MOST_DIGITS = 9  # of a number that somebody writes
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
# English function words: they say nothing about what a sentence is about.
STOPWORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between both but by
    can could did do does doing down during each few for from further had has have having he her here hers him his how i
    if in into is it its itself just me more most my no nor not now of off on once only or other our out over own same
    she should so some such than that the their them then there these they this those through to too under until up
    very was we were what when where which while who whom why will with would you your""".split()
)


def collapse(text: str) -> str:
    """Text with every run of white space as one space, none at the ends."""
    return " ".join(text.split())


def words(text: str) -> list[str]:
    """Lower-cased words in order; numbers keep their points and commas inside."""
    return [match.group().lower() for match in _WORD.finditer(unicodedata.normalize("NFKC", text))]


def content_words(text: str) -> set[str]:
    """The words that carry meaning."""
    return {word for word in words(text) if word not in STOPWORDS}


def code_spans(text: str) -> list[Span]:
    """Fenced blocks (an unclosed one runs to the end) and inline code."""
    return [Span(match.start(), match.end()) for match in _CODE.finditer(text)]


def is_number(text: str) -> bool:
    """Digits that int() takes and a database's column holds: people paste more than that, and "²" is a digit, too."""
    return text.isdecimal() and len(text) <= MOST_DIGITS


def join_names(names: Iterable[str]) -> str:
    """Names as one line that `split_names` reads: `handbook, "minutes, 2026"`."""
    return ", ".join(f'"{name.replace(chr(34), chr(34) * 2)}"' if _QUOTED.fullmatch(name) else name for name in names)


def split_names(line: str) -> list[str]:
    """Names between commas; one that has a comma itself stands in quotes, which are doubled inside."""
    [row] = csv.reader([collapse(line.translate(_QUOTES))], skipinitialspace=True)
    return [name.strip() for name in row if name.strip()]


def took(milliseconds: float) -> str:
    """A duration as people read it: `130 ms`, `4.4 s`, `2 min 5 s`."""
    if round(milliseconds) < 1_000:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 59_950:  # 59.95 s would be shown as 60.0
        return f"{milliseconds / 1_000:.1f} s"
    minutes, seconds = divmod(round(milliseconds / 1_000), 60)
    return f"{minutes} min {seconds} s"


def shorten(text: str, limit: int) -> str:
    """One line of at most `limit` characters, cut at a word, with an ellipsis where it was cut."""
    line = collapse(text)
    if len(line) <= limit:
        return line
    head = line[: limit - 1]
    return (head.rsplit(" ", 1)[0] if " " in head else head).rstrip(" ,;:") + "…"
