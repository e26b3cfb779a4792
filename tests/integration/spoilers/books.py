"""Random books: every page has words of its own in its title, text, tables, names, definitions and the like.

A word says which page it is from, so what is told of a page can be found in any text: `places_beyond`.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

from tests.unit.storage.documents.epub_files import build_epub, entry

KINDS = ("md", "txt", "epub", "html")
FEATURES = ("table", "terms", "people", "alias", "figure", "links", "minutes", "section", "money", "api")
_WORD = re.compile(r"q[a-z]+x([a-z])q")


def word(kind: str, page: int) -> str:
    """A capitalised word that stands on one page alone; pages count from 1."""
    return f"Q{kind}x{chr(96 + page)}q"


def places_beyond(text: str, last: int, known: Collection[str] = ()) -> list[int]:
    """Where a text holds words of pages behind `last`, but for words that are known already."""
    lower = {item.casefold() for item in known}
    return [
        match.start()
        for match in _WORD.finditer(text.casefold())
        if ord(match[1]) - 96 > last and match[0] not in lower
    ]


@dataclass(frozen=True, kw_only=True)
class Book:
    kind: str
    pages: tuple[frozenset[str], ...]  # the features of each

    @property
    def name(self) -> str:
        return f"novel.{self.kind}"

    def write(self, folder: Path) -> Path:
        path = folder / self.name
        path.write_bytes(self.content)
        return path

    @property
    def content(self) -> bytes:
        texts = [markdown(number, features) for number, features in enumerate(self.pages, start=1)]
        if self.kind == "md":
            return ("---\ntitle: The Novel\n---\n" + "\n\n".join(texts)).encode()
        if self.kind == "txt":
            return "\n\n\n".join(_plain(text) for text in texts).encode()
        bodies = [_html(text) for text in texts]
        if self.kind == "html":
            head = "<html><head><title>The Novel</title></head>"
            return f"{head}<body><main>{''.join(bodies)}</main></body></html>".encode()
        files = {f"c{number}.xhtml": body for number, body in enumerate(bodies, start=1)}
        contents = "".join(
            entry(f"Chapter {number}: {word('title', number)}", f"c{number}.xhtml")
            for number in range(1, len(texts) + 1)
        )
        return build_epub(files, contents, title="The Novel")


def markdown(number: int, features: Collection[str]) -> str:
    """One chapter; later ones name people and terms of the first in other words."""

    def own(kind: str) -> str:
        return word(kind, number)

    parts = [
        f"# Chapter {number}: {own('title')}",
        f"The {own('text')} crossed the river at night. Nobody in the village had expected {own('second')} so soon.",
    ]
    more = {
        "section": f"## {own('heading')}\n\nBelow the bridge lay {own('under')}.",
        "table": f"| Person | Reward |\n|---|---|\n| {own('cell')} | {number}00 |\n| {own('row')} | {number}50 |",
        "terms": f"**{own('term')}**: a kind of {own('definition')} that was used on the river.\n\n"
        f"The {own('long')} Order ({own('short')}) is an order of ferrymen.",
        "people": f"Captain {own('person')} met Dr. {own('doctor')} at {own('place')} Castle of {own('firm')} Ltd.",
        "alias": f"They called her [[{word('person', 1)}|{own('alias')}]], and [[{own('note')}|{own('label')}]] again.",
        "figure": f"Figure {number}: {own('caption')}\n\n![{own('picture')}](a.png)\n\nSee it there. ^{own('anchor')}",
        "links": f"See [{own('link')}]({own('target')}.md) and [[{own('wiki')}]].",
        "minutes": f"## Meeting of 2026-05-{number:02}\n\nAttendees: {own('ann')}, {own('ben')}\n\n### Decisions\n\n"
        f"- We will {own('decision')} the pump\n\n### Action items\n\n- [ ] {own('owner')}: {own('task')} "
        f"(due 2026-06-{number:02})",
        "money": f"| Quarter | Revenue ({own('unit')}) |\n|---|---|\n| {own('quarter')} 2026 | {number}000 |",
        "api": "## Endpoints\n\n| Method | Path | Description |\n|---|---|---|\n"
        f"| GET | /{own('path')}/items | Lists {own('items')} |",
    }
    parts += [text for feature, text in more.items() if feature in features]
    return "\n\n".join(parts)


@st.composite
def books(draw: st.DrawFn, kind: str | None = None) -> Book:
    features = st.frozensets(st.sampled_from(FEATURES), min_size=2)
    pages = draw(st.lists(features, min_size=3, max_size=5))
    return Book(kind=kind or draw(st.sampled_from(KINDS)), pages=tuple(pages))


def _plain(text: str) -> str:
    """As a plain text prints it."""
    first, *rest = [re.sub(r"^#+ ", "", line) for line in text.splitlines()]
    _, number, title = first.split(" ", 2)
    return "\n".join([f"CHAPTER {number.rstrip(':')} {title}", *rest])


def _html(text: str) -> str:
    from markdown_it import MarkdownIt

    return str(MarkdownIt("commonmark").enable("table").render(text))
