"""Entities: the document, the terms it defines, names in columns and links. Rather few than wrong ones."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from core.domain.corpus import Document, Page
from core.domain.extracts import ExtractorInput, ExtractType, Found
from core.domain.passages import Span
from core.text.words import collapse
from storage.documents.foundry.links import COMMAND, find_mentions, kind_of, name_of
from storage.documents.markup.definitions import define, is_name
from storage.documents.markup.marked_text import MarkedText, PipeTable, around, plain

MAX_ALIASES = 20
# Names that one column of a table gives at most: longer ones are data to be looked up in the table.
MAX_COLUMN = 500

_WIKILINK = re.compile(r"!?\[\[(?P<target>[^\[\]|\n]{1,300})\|(?P<label>[^\[\]\n]{1,80})\]\]")
_CODE = re.compile(r"`[^`\n]{1,300}`")
_COLUMNS = (
    (
        "person",
        re.compile(r"(?:person|people|author|attendee|participant|speaker|employee|maintainer|contact)s?(?: name)?"),
    ),
    (
        "place",
        re.compile(r"(?:country|countries|city|cities|town|location|place|region|state|province|harbou?r|port)s?"),
    ),
    (
        "organisation",
        re.compile(r"(?:company|companies|organi[sz]ation|institution|employer|vendor|supplier|customer)s?(?: name)?"),
    ),
)
_NO_NAMES = re.compile(
    r"(?:total|all|other|others|world|average|mean|sum|none|n/?a|various|unknown|name|see .*)\b.*", re.IGNORECASE
)
_NO_ALIAS = frozenset(
    "here this that link these those it see more page note read click details docs documentation".split()
)
_ARTICLES = frozenset(
    "the a an this that these those our your their its my his her in at for on by from and or if when as with".split()
)


@dataclass(slots=True)
class _Thing:
    name: str
    kind: str
    page_number: int
    span: Span
    confidence: float
    definition: str = ""
    aliases: dict[str, None] = field(default_factory=dict)
    aliases_later: dict[str, None] = field(default_factory=dict)  # on later pages: findings of their own


class EntitiesExtractor:
    """One finding for each name and kind of a document, at its definition, or else at its first place.

    An alias of a later page is a finding of its own there, hidden from people who have not read so far.
    """

    name = "entities"
    version = 5
    types = frozenset({ExtractType.ENTITY})

    def reads(self, document: Document) -> bool:
        return True

    def extract(self, given: ExtractorInput) -> Iterable[Found]:
        things: dict[tuple[str, str], _Thing] = {}
        later: list[tuple[_Thing, _Thing]] = []
        for thing in _all(given):
            key = (thing.name.casefold(), thing.kind)
            known = things.setdefault(key, thing)
            if known is not thing and thing.page_number <= known.page_number:
                known.aliases.update(thing.aliases)
            elif known is not thing:
                later.append((known, thing))
        ordered = sorted([*things.values(), *_later(later)], key=lambda thing: (thing.page_number, thing.span))
        return [_to_found(thing) for thing in ordered]


def _later(found: Iterable[tuple[_Thing, _Thing]]) -> Iterator[_Thing]:
    """Yield known things again at later pages with a new alias."""
    for known, thing in sorted(found, key=lambda pair: (pair[1].page_number, pair[1].span)):
        told = known.aliases | known.aliases_later
        new = {alias: None for alias in thing.aliases if alias not in told}
        if new.keys() - {thing.name}:
            known.aliases_later.update(new)
            yield replace(thing, aliases=new, definition="")


def _to_found(thing: _Thing) -> Found:
    aliases = [alias for alias in thing.aliases if alias.casefold() != thing.name.casefold()]
    return Found(
        type=ExtractType.ENTITY,
        page_number=thing.page_number,
        span=thing.span,
        data={"name": thing.name, "kind": thing.kind, "aliases": aliases[:MAX_ALIASES], "definition": thing.definition},
        confidence=thing.confidence,
    )


def _all(given: ExtractorInput) -> Iterator[_Thing]:
    """Yield things, the surest first: a repeated one only adds its aliases."""
    yield _document(given)
    for page, item in define(given):
        yield _Thing(item.name, "term", page.number, item.span, item.confidence, item.text)
    if given.document.kind == "foundry":
        yield from _journal_pages(given.pages)
        for mention in find_mentions(given.path, given.pages):
            if mention.kind and is_name(mention.name):
                yield _Thing(mention.name, mention.kind, mention.page.number, mention.span, 0.9)
    for page in given.pages:
        text = MarkedText(page)
        yield from _linked(text)
        yield from _in_foundry_links(text)
        for table in text.tables:
            yield from _columns(page, table)


def _document(given: ExtractorInput) -> _Thing:
    first = given.pages[0]
    lines = MarkedText(first).lines
    titled = next((line for line in lines if collapse(plain(line.text)) == given.document.title), None)
    place = titled or (lines[0] if lines else None)
    span = place.span if place else Span(0, len(first.text))
    aliases = dict.fromkeys(alias[:2_000] for alias in given.document.aliases if alias)
    return _Thing(given.document.title[:2_000], "document", first.number, span, 1.0, aliases=aliases)


def _journal_pages(pages: Sequence[Page]) -> Iterator[_Thing]:
    """Yield the pages of a journal: each names a person, a place, a rule."""
    for page in pages:
        lines = MarkedText(page).lines
        if page.deep_link and lines and is_name(page.title):
            yield _Thing(
                name=page.title, kind="journal page", page_number=page.number, span=lines[0].span, confidence=0.9
            )


def _linked(text: MarkedText) -> Iterator[_Thing]:
    """Yield the notes behind links, with the links' labels as aliases."""
    for line in text.lines:
        if line.in_code or "[[" not in line.text:
            continue
        words = _CODE.sub("", line.text).replace("\\|", "|")
        for match in _WIKILINK.finditer(words):
            target = match["target"].partition("#")[0].rpartition("/")[2].strip().removesuffix(".md")
            label = plain(match["label"])
            if is_name(target) and is_name(label) and _is_alias(label, target):
                yield _Thing(target, "document", text.page.number, line.span, 0.7, aliases={label: None})


def _is_alias(label: str, target: str) -> bool:
    """Return whether a link's label is a name of its target, rather than words of the sentence around it."""
    words = label.casefold().split()
    if len(words) > 4 or set(words) & _NO_ALIAS or words[0] in _ARTICLES:
        return False
    known = set(re.findall(r"\w+", target.casefold()))
    return bool(known & set(re.findall(r"\w+", label.casefold()))) or label[:1].isupper()


def _in_foundry_links(text: MarkedText) -> Iterator[_Thing]:
    for line in text.lines:
        for match in COMMAND.finditer(line.text) if "@" in line.text else ():
            name, kind = name_of(match, {}), kind_of(match["kind"], match["target"])
            if kind and is_name(name):
                span = around(line, match.start(), match.end())
                yield _Thing(name=name, kind=kind, page_number=text.page.number, span=span, confidence=0.9)


def _columns(page: Page, table: PipeTable) -> Iterator[_Thing]:
    """Yield the names in columns with a kind as header."""
    for at, column in enumerate(table.columns):
        kind = next((kind for kind, pattern in _COLUMNS if pattern.fullmatch(column)), None)
        for row in table.rows[:MAX_COLUMN] if kind else ():
            name = plain(row.cells[at]) if at < len(row.cells) else ""
            if is_name(name) and name[:1].isupper() and not any(map(str.isdigit, name)) and not _NO_NAMES.match(name):
                yield _Thing(name=name, kind=kind or "", page_number=page.number, span=row.span, confidence=0.7)
