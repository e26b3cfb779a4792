"""The text of a question: its [[links]], and asides about reading positions. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from core.access.positions.named_places import MODE, SPEAKER, TARGET
from core.text.words import code_spans, collapse, content_words, words

MOST_LINKS = 100  # of one question that are looked up
_LINK = re.compile(r"(?<!\\)!?\[\[([^\[\]\n]{1,300})\]\]")
_SAID = re.compile(r"[.?!…]\s*$")
_ROLL = re.compile(r"/\w+\s")  # Foundry's inline rolls, as in [[/r 2d6]], have the same brackets


@dataclass(frozen=True, slots=True)
class WikiLink:
    """A link as it is written, in its parts: `[[target#heading|label]]`."""

    target: str
    heading: str = ""  # "A#B" for a heading below another, "^id" for a block
    label: str = ""

    def __str__(self) -> str:
        return f"[[{self.target}#{self.heading}]]" if self.heading else f"[[{self.target}]]"

    @property
    def spoken(self) -> str:
        """The text that a reader sees."""
        return self.label or (f"{self.target} {self.heading}".strip())


def find_links(*texts: str) -> list[WikiLink]:
    """Return the links of texts in order, each target and heading once, at most MOST_LINKS; none in code."""
    found: dict[tuple[str, str], WikiLink] = {}
    for text in texts:
        for match in _matches(text):
            link = _read(match[1])
            if link.target and len(found) < MOST_LINKS:
                found.setdefault((link.target.casefold(), link.heading.casefold()), link)
    return list(found.values())


def spoken(question: str) -> str:
    """Return a question with its links as a reader sees them; only links become a question about them.

    Links after the last sentence belong to the question, but not to its words, and are left out.
    """
    matches = _matches(question)
    if not matches:
        return question
    names = [_read(match[1]).spoken for match in matches]
    rest = _without(question, matches)
    if not any(character.isalnum() for character in rest):
        return f"What is {' and '.join(dict.fromkeys(filter(None, names)))} about?"
    question, matches = _sentences(question, matches)
    said, last = [], 0
    for match, name in zip(matches, names, strict=False):
        said += [question[last : match.start()], name]
        last = match.end()
    return "".join([*said, question[last:]])


def _sentences(question: str, matches: list[re.Match[str]]) -> tuple[str, list[re.Match[str]]]:
    """Cut the links after the last sentence; return the rest and its links."""
    end, kept = len(question), len(matches)
    while kept and not any(map(str.isalnum, question[matches[kept - 1].end() : end])):
        if kept < len(matches) and _SAID.search(question[:end]):
            break
        kept -= 1
        end = matches[kept].start()
    return (question[:end].rstrip(), matches[:kept]) if _SAID.search(question[:end]) else (question, matches)


def _matches(text: str) -> list[re.Match[str]]:
    if "[[" not in text:
        return []
    code = code_spans(text)
    return [
        match
        for match in _LINK.finditer(text)
        if not _ROLL.match(match[1]) and not any(span.start <= match.start() < span.end for span in code)
    ]


def _read(inner: str) -> WikiLink:
    target, _, label = inner.partition("|")
    target, _, heading = target.rstrip("\\").partition("#")
    return WikiLink(collapse(target), collapse(heading), collapse(label))


def _without(text: str, matches: Sequence[re.Match[str]]) -> str:
    last, rest = 0, ""
    for match in matches:
        rest += text[last : match.start()]
        last = match.end()
    return rest + text[last:]


_WHO = rf"(?:(?:the |a )?readers?(?:\s++(?:is|are|has|have|had|was|were))?|{SPEAKER})"
_BOOK = r"(?:(?:all of|the|this|that|whole|entire)\s++)*(?:book|novel|story|it)"
_FAR = rf"{_WHO}\s++(?:{MODE}\s++)+(?:{TARGET}(?:\s++(?:of|in)\s++{_BOOK})?|{_BOOK})"
_WARNING = rf"no spoilers?(?:,?\s++(?:please|past|after|beyond|from)(?:\s++{TARGET})?)*"
# White space is possessive ("++"): otherwise adjacent runs of it would be split in every possible way.
_TOLD = rf"(?:{_FAR}(?:\s*+[,;.]\s*+{_WARNING})?|{_WARNING})"
_THAT_PLACE = re.compile(r"\b(?:this|that|the same)\s++(?:chapter|page|part|section)\b", re.IGNORECASE)
_POINTING = re.compile(r"\b(?:it|here|there(?!\s+\w))\b", re.IGNORECASE)  # not of "is there a boat?"
FEWEST_TELLING = 2  # content words: with fewer, a pointing word is the question's subject


def without_reading(question: str) -> str:
    """Remove asides about a reading position: in brackets, before the question, or as a sentence after it.

    They say nothing about the question's subject; in a query, they would lift text about books, readers and chapters.
    The question stays whole if nothing is left, or if the rest refers to the aside ("in that chapter").
    """
    rest = question
    for aside in _asides():
        rest = aside.sub("", rest)
    rest = rest.strip()
    return rest if words(rest) and not _points_back(rest) else question


@cache
def _asides() -> tuple[re.Pattern[str], ...]:
    """Return the patterns in brackets, before and after the question.

    Compiled for the first question, because it takes a tenth of a second that other commands need not spend.
    """
    return (
        re.compile(rf"\s?[(\[]\s*+{_TOLD}\s*+(?:[.!]\s*+)?[)\]]", re.IGNORECASE),
        re.compile(rf"^\s*+{_TOLD}(?:\s*+[:;.!,]|\s++[-–—])\s*+(?:(?:and|so|but)\s++)?", re.IGNORECASE),
        re.compile(rf"(?<=[?.!])\s*+{_TOLD}\s*+[.!]*+\s*+$", re.IGNORECASE),
    )


def _points_back(rest: str) -> bool:
    if _THAT_PLACE.search(rest):
        return True
    return len(content_words(rest)) < FEWEST_TELLING and _POINTING.search(rest) is not None
