"""Markdown files, single or as notes of an Obsidian, Logseq or Foam vault."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from core.domain.corpus import Heading, ParsedDocument, ParsedPage
from core.domain.readers import READER_FORMS, parse_readers
from core.errors import BadInput, ReadError
from core.text.dates import stated_day
from core.text.words import content_words
from storage.documents.markup.markdown_text import (
    MAX_TITLE,
    PROPERTIES,
    FrontMatter,
    MarkdownParts,
    plain_title,
    read_front_matter,
    read_markdown,
)
from storage.documents.texts.encodings import decode
from storage.documents.texts.sections import split_sections
from storage.documents.texts.structured import Value

_PROPERTY = re.compile(r"([A-Za-z][\w./-]{0,60})::(?:[ \t]++(.*))?")
_BULLET_HEADING = re.compile(r"^[ \t]*[-*+][ \t]+(#{1,6})[ \t]+(\S.*)$", re.MULTILINE)
_BULLET = re.compile(r"^[ \t]*[-*+](?:[ \t]|$)", re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?(```|~~~)", re.MULTILINE)
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_BLOCK_ID = re.compile(rf"^[ \t]*(?:[-*+][ \t]+)?id::[ \t]*({_UUID})[ \t]*$", re.MULTILINE | re.IGNORECASE)
_BLOCK_REFERENCE = re.compile(rf"\(\(({_UUID})\)\)", re.IGNORECASE)
_ALIAS = re.compile(r"\[\[([^\[\]]+)\]\]|([^,\[\]]+)")


def read_properties(text: str) -> Mapping[str, str]:
    """Return the `key:: value` lines at the very front of a text, names in lower case."""
    found: dict[str, str] = {}
    for line in text.split("\n"):
        match = _PROPERTY.fullmatch(line.rstrip())
        if match is None:
            break
        found.setdefault(match[1].lower(), (match[2] or "").strip())
    return found


def list_of_names(value: str) -> tuple[str, ...]:
    """Return the names in a property: "Page, [[Two, words]]"."""
    names = ((match[1] or match[2]).strip() for match in _ALIAS.finditer(value))
    return tuple(dict.fromkeys(name for name in names if name))


def is_outline(text: str) -> bool:
    """Return whether every line at the margin is a bullet or a property."""
    margin = [line for line in text.split("\n") if line and not line[0].isspace()]
    bullets = sum(bool(_BULLET.match(line)) for line in margin)
    return bullets > 0 and all(_BULLET.match(line) or _PROPERTY.fullmatch(line.rstrip()) for line in margin)


def read_headings(text: str, inline: Callable[[str], list[Any]]) -> tuple[Heading, ...]:
    """Return the headings in bullets, in text order; `inline` is a Markdown parser's `parseInline`."""
    fences = [match.start() for match in _FENCE.finditer(text)]
    headings = []
    for match in _BULLET_HEADING.finditer(text):
        inside_code = bisect_left(fences, match.start()) % 2
        title = plain_title(match[2][:MAX_TITLE], inline)
        if title and not inside_code:
            headings.append(Heading(level=len(match[1]), title=title, start=match.start()))
    return tuple(headings)


def block_ids(text: str) -> Iterator[tuple[str, int]]:
    """Yield ids of blocks (`id:: 6404...`) with the positions of their bullets, in text order of the ids."""
    bullets = [match.start() for match in _BULLET.finditer(text)]
    place = 0
    for match in _BLOCK_ID.finditer(text):
        while place + 1 < len(bullets) and bullets[place + 1] <= match.start():
            place += 1
        starts_here = bullets and bullets[place] <= match.start()
        yield match[1], bullets[place] if starts_here else match.start()


def block_references(text: str) -> tuple[str, ...]:
    """Return the blocks that a text refers to or embeds, as written: `((6404...))`, each once."""
    return tuple(dict.fromkeys(match[0] for match in _BLOCK_REFERENCE.finditer(text)))


_READERS, NOBODY = "readers", "nobody"
_STATED = re.compile(rf"^{_READERS}[ \t]*:", re.MULTILINE)

# Front matter that no page tells: names and readers are the document's, and the rest sorts and lays out notes.
_UNTOLD_PROPERTIES = frozenset(
    "title alias aliases tag tags cssclass cssclasses layout permalink publish draft weight".split()
) | {_READERS}

_SIGNS = re.compile(r"[\W_]+")
_UNTOLD = frozenset({"readme", "index", "notes", "untitled"})  # file names that say nothing about the text
# The folder that a Logseq graph keeps its settings in.
_LOGSEQ = "logseq"


class MarkdownVaultReader:
    """Reads `.md`, `.markdown` and `.mdx`; a page for each top-level section, and one for the front matter at the end.

    Of Obsidian: aliases, wikilinks, embeds, `^block` ids. Of Logseq: `key:: value` properties at the front, headings in
    bullets, `id::` and `((block))` references, and names of files that stand for names of pages.
    """

    kind = "markdown"
    suffixes = frozenset({".md", ".markdown", ".mdx"})
    expects = "a Markdown note"

    def accepts(self, path: Path, head: bytes) -> bool:
        return True

    def read(self, path: Path, root: Path) -> ParsedDocument:
        decoded = decode(path.read_bytes())
        front = read_front_matter(decoded.text)
        body = decoded.text[front.body_start :]
        if not body.strip():
            raise ReadError("empty: nothing after the front matter")
        parts = read_markdown(body)
        properties = read_properties(body)
        readers, problems = _readers(decoded.text[: front.body_start], front, properties)
        headings = _headings(body, parts)
        anchors = [*parts.anchors, *block_ids(body)]
        name = _name(path, root)
        return ParsedDocument(
            title=front.string("title") or properties.get("title") or _heading_of_all(headings, name) or name,
            kind=self.kind,
            pages=(*split_sections(body, headings, sorted(anchors, key=lambda anchor: anchor[1])), *_properties(front)),
            aliases=front.strings("aliases", "alias")
            or list_of_names(properties.get("alias") or properties.get("aliases") or ""),
            url=_address(front, properties),
            links=(*parts.links, *block_references(body)),
            warnings=(*decoded.warnings, *front.warnings, *problems),
            dated=_date(front, properties),
            readers=readers,
        )


def _properties(front: FrontMatter) -> tuple[ParsedPage, ...]:
    text = front.properties(without=_UNTOLD_PROPERTIES)
    return (ParsedPage(title=PROPERTIES, text=text, headings=()),) if text else ()


def _headings(body: str, parts: MarkdownParts) -> tuple[Heading, ...]:
    if parts.headings or not is_outline(body):
        return parts.headings
    from markdown_it import MarkdownIt

    return read_headings(body, MarkdownIt("commonmark").parseInline)


def _heading_of_all(headings: Sequence[Heading], name: str) -> str:
    """Return the first top heading; "" for one of several that has no word of the note's name: it heads a section.

    "Summary" is no title of "0102-moderation-team", if "Motivation" follows on the same level.
    """
    first, *others = [heading.title for heading in headings if heading.level == 1] or [""]
    telling = {word for word in content_words(_SIGNS.sub(" ", name)) if not word.isdecimal()} - _UNTOLD
    return "" if others and telling and not telling & content_words(first) else first


def _name(path: Path, root: Path) -> str:
    """Return the name of a note: that of its file; Logseq writes `a___b%3F` for the page "a/b?"."""
    if path.parent.name in ("pages", "journals") and (path.parent.parent / _LOGSEQ).is_dir() and path.parent != root:
        return unquote(path.stem.replace("___", "/")).strip() or path.stem
    return path.stem


def _address(front: FrontMatter, properties: Mapping[str, str]) -> str | None:
    for key in ("url", "source"):
        for value in (front.string(key), properties.get(key, "")):
            if value.startswith(("http://", "https://")):
                return value
    return None


def _readers(
    written: str, front: FrontMatter, properties: Mapping[str, str]
) -> tuple[frozenset[str] | None, tuple[str, ...]]:
    """Return the readers that a note states, and warnings; None if it states none. Unclear ones are an empty set."""
    stated: Value = front.values.get(_READERS, properties.get(_READERS))
    if _READERS not in front.values and _READERS not in properties and not (front.warnings and _STATED.search(written)):
        return None, ()
    words = list(list_of_names(stated)) if isinstance(stated, str) else stated
    try:
        if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
            raise BadInput(f"Use a list of {READER_FORMS}, or of {NOBODY}.")
        return (frozenset() if words == [NOBODY] else parse_readers(map(str, words))), ()
    except BadInput as error:
        return frozenset(), (f"nobody may read this note in chats, as its `readers` are unclear: {error}",)


def _date(front: FrontMatter, properties: Mapping[str, str]) -> str | None:
    said = (text for key in ("date", "created") for text in (front.string(key), properties.get(key, "")))
    return next((day for text in said if (day := stated_day(text)) is not None), None)
