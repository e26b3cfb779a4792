"""The parts of a Markdown text: front matter, headings, wikilinks and block anchors, each with its position. Pure."""

import re
from bisect import bisect_right
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from core.domain.corpus import Heading
from core.errors import ReadError
from core.text.words import collapse, placed_lines
from storage.documents.texts.structured import Value, read_yaml

# Characters of a heading or paragraph that are looked at for markup: longer ones are data, not prose.
MAX_TITLE = 1_000
PROPERTIES = "Properties"  # title of the page of front matter, as Obsidian calls it
MAX_PROPERTIES = 100  # lines that are shown of front matter: longer ones are data, too

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
# An escaped character, a run of backticks, or a wikilink, read from left to right.
_PIECE = re.compile(r"\\.|(`+)|\[\[([^\[\]\n]+)\]\]", re.DOTALL)
_TICKS = re.compile(r"`+")
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]")
_MARKS = re.compile(r"[\\`*_<&\[\]!]")
_TEXT_TOKENS = frozenset({"text", "code_inline", "text_special", "softbreak", "hardbreak", "image"})
_BLOCK_ID = re.compile(r"(?:^|\s)\^([A-Za-z0-9-]+)[ \t]*\Z")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The mapping at the top of a note, and where the body begins. A broken one is empty, with a warning."""

    values: Mapping[str, Value] = field(default_factory=dict)
    body_start: int = 0
    warnings: tuple[str, ...] = ()

    def strings(self, *keys: str) -> tuple[str, ...]:
        """Return the values of the first key found: a list, or one string split at its commas."""
        for key in keys:
            value = self.values.get(key)
            if isinstance(value, str):
                value = list(value.split(","))
            if isinstance(value, list):
                found = (str(item).strip() for item in value if isinstance(item, str))
                return tuple(dict.fromkeys(item for item in found if item))
        return ()

    def string(self, key: str) -> str:
        value = self.values.get(key)
        return collapse(value) if isinstance(value, str) else ""

    def properties(self, without: Container[str]) -> str:
        """Return a line for each value: "start-date: 2019-04-28", "topics: one, two", "milestone beta: v1.5"."""
        lines = (line for key, value in self.values.items() if key not in without for line in _lines(key, value))
        return "\n".join(islice(lines, MAX_PROPERTIES))


def is_front_matter(title: str, text: str) -> bool:
    """Return whether a page is that of front matter, and no section with its title."""
    return title == PROPERTIES and not text.lstrip("#*-+ ").startswith(PROPERTIES)


def _lines(name: str, value: Value) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _lines(f"{name} {key}", inner)
        return
    items = value if isinstance(value, list) else [value]
    if said := ", ".join(filter(None, (collapse(item) for item in items if isinstance(item, str)))):
        yield f"{collapse(name)}: {said}"
    for item in items:
        if isinstance(item, dict | list):
            yield from _lines(name, item)


@dataclass(frozen=True, slots=True)
class MarkdownParts:
    """Headings, wikilink targets (as written, each once) and block anchors, in text order."""

    headings: tuple[Heading, ...]
    links: tuple[str, ...]
    anchors: tuple[tuple[str, int], ...]


def read_front_matter(text: str) -> FrontMatter:
    match = _FRONT_MATTER.match(text)
    if match is None:
        return FrontMatter()
    try:
        values = read_yaml(match[1])
    except ReadError as error:
        return FrontMatter({}, match.end(), (f"front matter left out: {error}",))
    if values is None or isinstance(values, dict):
        return FrontMatter(values or {}, match.end())
    return FrontMatter({}, match.end(), ("front matter left out: it is not a list of names and values",))


def read_markdown(text: str) -> MarkdownParts:
    """Return the parts of a Markdown text, without headings in code, quotes and lists, and links in code."""
    from markdown_it import MarkdownIt

    inline = MarkdownIt("commonmark").parseInline
    tokens = MarkdownIt("commonmark").disable(["inline", "text_join"]).parse(text)
    lines = [start for start, _ in placed_lines(text)]
    headings: list[Heading] = []
    links: dict[str, None] = {}
    anchors: list[tuple[str, int]] = []
    block = 0  # first line of the top-level block before this one
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0:
            title = plain_title(tokens[place + 1].content, inline)
            if title:
                headings.append(Heading(level=int(token.tag[1]), title=title, start=lines[_first_line(token)]))
        if token.type == "inline":
            links.update(dict.fromkeys(wikilinks(token.content)))
            anchor = _BLOCK_ID.search(token.content[-MAX_TITLE:])
            if anchor:
                own_line = token.content.strip() == f"^{anchor[1]}"
                anchors.append((anchor[1], lines[block if own_line else _first_line(token)]))
        if token.level == 0 and token.map and token.nesting >= 0 and not _is_lone_anchor(tokens, place):
            block = _first_line(token)
    return MarkdownParts(tuple(headings), tuple(links), tuple(sorted(anchors, key=lambda anchor: anchor[1])))


def _first_line(token: Any) -> int:
    return int(token.map[0]) if token.map else 0


def _is_lone_anchor(tokens: list[Any], place: int) -> bool:
    following = tokens[place + 1] if place + 1 < len(tokens) else None
    if following is None or following.type != "inline" or len(following.content) > MAX_TITLE:
        return False
    return bool(_BLOCK_ID.fullmatch(following.content))


def wikilinks(text: str) -> Iterator[str]:
    """Yield the targets of `[[target]]`, `[[target|label]]` and `![[target]]` as written, not in code, not escaped."""
    runs: dict[int, list[int]] = {}
    for run in _TICKS.finditer(text):
        runs.setdefault(len(run[0]), []).append(run.start())
    place = 0
    while match := _PIECE.search(text, place):
        place = match.end()
        if match[1]:
            closers = runs.get(len(match[1]), [])
            following = bisect_right(closers, match.start())
            if following < len(closers):
                place = closers[following] + len(match[1])
        elif match[2]:
            target = match[2].split("|", 1)[0].rstrip("\\").strip()
            if target:
                yield target


def plain_title(content: str, inline: Callable[[str], list[Any]]) -> str:
    """Return a heading's words without emphasis, links, code, wikilinks and block ids.

    `inline` is a Markdown parser's `parseInline`.
    """
    content = _BLOCK_ID.sub("", " ".join(content[:MAX_TITLE].split()))
    if not _MARKS.search(content):
        return content
    tokens = inline(_WIKILINK.sub(r"\1", content))
    children = tokens[0].children or [] if tokens else []
    words = "".join(
        " " if child.type.endswith("break") else child.content for child in children if child.type in _TEXT_TOKENS
    )
    return collapse(words) or content
