"""The [[links]] of a question. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.text.words import code_spans, collapse

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
