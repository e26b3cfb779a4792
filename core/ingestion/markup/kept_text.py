"""The file that kept answers stand in: Markdown with a line above each section that says where it was said. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from core.texts import collapse, shorten

KEPT_MARK = "<!-- footnote: kept answers -->"  # the first line of the file
TITLE_LENGTH = 200

_SECTION = re.compile(r"^<!-- kept: (\S+) -->[ \t]*\n", re.MULTILINE)
_FORGED = re.compile(r"^(\s*)<!-- kept:", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSection:
    """One kept answer. `text` begins with the heading that `title` stands in."""

    link: str
    title: str
    text: str


def build_section(question: str, answer: str, link: str, ending: str) -> KeptSection:
    """A section of a question, its answer, and a last line; `link` is a web address."""
    title = shorten(question, TITLE_LENGTH).lstrip("# ") or "A kept answer"
    asked = question.strip() if shorten(question, TITLE_LENGTH) != collapse(question) else ""
    parts = [f"## {title}", *filter(None, (_harmless(asked), _harmless(answer.strip()), ending))]
    return KeptSection(link=link, title=title, text="\n\n".join(parts))


def with_section(sections: Sequence[KeptSection], new: KeptSection) -> list[KeptSection]:
    """The sections with a new one at the end, or in the place of the one of the same link."""
    if any(section.link == new.link for section in sections):
        return [new if section.link == new.link else section for section in sections]
    return [*sections, new]


def write_sections(title: str, sections: Sequence[KeptSection]) -> str:
    """The whole file."""
    parts = [f"{KEPT_MARK}\n\n# {title}"]
    parts += [f"<!-- kept: {section.link} -->\n{section.text}" for section in sections]
    return "\n\n".join(parts) + "\n"


def read_sections(text: str) -> list[KeptSection]:
    """The sections of a file; those without a heading or any text are left out."""
    marks = list(_SECTION.finditer(text))
    ends = [mark.start() for mark in marks[1:]]
    found = []
    for mark, end in zip_longest(marks, ends):
        body = text[mark.end() : end].strip()
        title = body.split("\n", 1)[0].removeprefix("## ").strip()
        if title and body.startswith("## "):
            found.append(KeptSection(link=mark[1], title=title, text=body))
    return found


def _harmless(text: str) -> str:
    """Nothing that somebody wrote begins another section."""
    return _FORGED.sub(r"\1&lt;!-- kept:", text)
