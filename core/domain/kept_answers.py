"""The file of kept answers: Markdown with a line above each section that holds the link of its message. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

KEPT_MARK = "<!-- footnote: kept answers -->"  # the first line of the file

_SECTION = re.compile(r"^<!-- kept: (\S+) -->[ \t]*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSection:
    """One kept answer. `text` begins with the heading `title`."""

    link: str
    title: str
    text: str


def with_section(sections: Sequence[KeptSection], new: KeptSection) -> list[KeptSection]:
    """Return the sections with a new one at the end, or instead of the one with the same link."""
    if any(section.link == new.link for section in sections):
        return [new if section.link == new.link else section for section in sections]
    return [*sections, new]


def write_sections(title: str, sections: Sequence[KeptSection]) -> str:
    """Return the whole file."""
    parts = [f"{KEPT_MARK}\n\n# {title}"]
    parts += [f"<!-- kept: {section.link} -->\n{section.text}" for section in sections]
    return "\n\n".join(parts) + "\n"


def read_sections(text: str) -> list[KeptSection]:
    """Return the sections of a file that have a heading and text."""
    marks = list(_SECTION.finditer(text))
    ends = [mark.start() for mark in marks[1:]]
    found = []
    for mark, end in zip_longest(marks, ends):
        body = text[mark.end() : end].strip()
        title = body.split("\n", 1)[0].removeprefix("## ").strip()
        if title and body.startswith("## "):
            found.append(KeptSection(link=mark[1], title=title, text=body))
    return found
