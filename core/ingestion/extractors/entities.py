"""Entities: the document, what it defines, its people, places and organisations. Rather few than wrong ones."""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from core.domain.corpus import Document, Page, Span
from core.domain.extracts import ExtractorInput, ExtractType, Found
from core.ingestion.definitions import define, is_name
from core.ingestion.foundry_mentions import COMMAND, Mention, find_mentions, kind_of, name_of
from core.ingestion.marked_text import Line, MarkedText, PipeTable, around, plain
from core.texts import collapse

MAX_ALIASES = 20
# Names that one column of a table gives at most: longer ones are data to be looked up in the table.
MAX_COLUMN = 500

_WIKILINK = re.compile(r"!?\[\[(?P<target>[^\[\]|\n]{1,300})\|(?P<label>[^\[\]\n]{1,80})\]\]")
_CODE = re.compile(r"`[^`\n]{1,300}`")
_CAPITAL = r"(?<!\w)[A-ZÀ-ÖØ-ÞΑ-ΩА-ЯĆĘŁŃŚŹŻČŘŠŽĐİŞĞ][\w'’-]{0,30}"
_NAMES = rf"{_CAPITAL}(?: (?:(?:van|von|de|del|la|le) )?{_CAPITAL})"
_TITLED = re.compile(
    rf"\b(?P<title>(?:Mr|Mrs|Ms|Dr|Prof|Rev)\.?|Miss|Professor|Captain|Sir|Lady|Lord|Reverend|Colonel|Major)"
    rf" (?P<name>{_NAMES}{{0,2}})"
)
_HANDLE = re.compile(rf"(?P<name>{_NAMES}{{1,3}}) ?\((?P<handle>@[A-Za-z0-9][\w-]{{0,38}})\)")
_ADDRESS = re.compile(rf"(?P<name>{_CAPITAL}(?: {_CAPITAL}){{1,3}}) <[\w.+-]{{1,64}}(?:@| at )[\w.-]{{1,80}}>")
_SUFFIX = (
    r"(?:Inc\.?|Ltd\.?|LLC|GmbH|Corp\.?|Corporation|Foundation|University|Institute|Agency|Committee|Association|"
    r"Company)"
)
_WHOLE = re.compile(rf" {_SUFFIX}$")
_ORGANISATION = re.compile(
    rf"(?P<name>{_CAPITAL}(?: (?:(?:of|and|for|the|&|&amp;) ){{0,2}}{_CAPITAL}){{0,5}},? "
    rf"{_SUFFIX})"
    r"(?![\w'’-])"
)
_OF = re.compile(
    rf"\b(?P<name>(?:University|Ministry|Department|Bureau|Institute|Bank) of (?:the )?"
    rf"{_CAPITAL}(?: (?:of |and )?{_CAPITAL}){{0,4}})"
)
_PLACE = re.compile(
    rf"(?P<name>{_CAPITAL}(?: {_CAPITAL}){{0,2}} (?:River|Bay|Islands?|Valley|Mountains|County|Castle|Keep|Harbou?r|"
    rf"Street|Peninsula|Falls)|(?:Lake|Mount|Fort|Cape|Port) (?:St\. )?{_CAPITAL}(?: {_CAPITAL})?)(?![\w’'-])"
)
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
_ARTICLES = frozenset(
    "the a an this that these those our your their its my his her in at for on by from and or if when as with".split()
)
_NO_FIRST = frozenset({"Chapter", "Table", "Figure", "Section", "Part", "Page"})
_NO_ALIAS = frozenset(
    "here this that link these those it see more page note read click details docs documentation".split()
)


@dataclass(slots=True, kw_only=True)
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
    """One finding for each name and kind of a document, at its definition, or else where it is named first.

    An alias that only stands on a later page is a finding of its own there: who has not read so far sees none of it.
    """

    name = "entities"
    version = 3
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
    """What is known already, found again on later pages: where it has an alias there that none has before."""
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
        data={
            "name": thing.name,
            "kind": thing.kind,
            "aliases": aliases[:MAX_ALIASES],
            "definition": thing.definition,
        },
        confidence=thing.confidence,
    )


def _all(given: ExtractorInput) -> Iterator[_Thing]:
    """Surest first: what is found again adds its aliases alone."""
    yield _document(given)
    for page, item in define(given):
        aliases = {item.short: None} if item.short else {}
        yield _Thing(
            name=item.name,
            kind="term",
            page_number=page.number,
            span=item.span,
            confidence=item.confidence,
            definition=item.text,
            aliases=aliases,
        )
    if given.document.kind == "foundry":
        yield from _journal_pages(given.pages)
        for mention in find_mentions(given.path, given.pages):
            if mention.kind and is_name(mention.name):
                yield _mentioned(mention)
    for page in given.pages:
        text = MarkedText(page)
        yield from _linked(text)
        yield from _people(text)
        yield from _organisations_and_places(text)
        yield from _in_foundry_links(text)
        for table in text.tables:
            yield from _columns(page, table)


def _mentioned(mention: Mention) -> _Thing:
    return _Thing(
        name=mention.name,
        kind=mention.kind,
        page_number=mention.page.number,
        span=mention.span,
        confidence=0.9,
    )


def _document(given: ExtractorInput) -> _Thing:
    first = given.pages[0]
    lines = MarkedText(first).lines
    titled = next((line for line in lines if collapse(plain(line.text)) == given.document.title), None)
    place = titled or (lines[0] if lines else None)
    return _Thing(
        name=given.document.title[:2_000],
        kind="document",
        page_number=first.number,
        span=place.span if place else Span(0, len(first.text)),
        confidence=1.0,
        aliases=dict.fromkeys(alias[:2_000] for alias in given.document.aliases if alias),
    )


def _journal_pages(pages: Sequence[Page]) -> Iterator[_Thing]:
    """A journal's pages have names of their own: of a person, a place, a rule."""
    for page in pages:
        lines = MarkedText(page).lines
        if page.deep_link and lines and is_name(page.title):
            yield _Thing(
                name=page.title, kind="journal page", page_number=page.number, span=lines[0].span, confidence=0.9
            )


def _linked(text: MarkedText) -> Iterator[_Thing]:
    """Notes that links name, with the names that links give them."""
    for line in text.lines:
        if line.in_code or "[[" not in line.text:
            continue
        words = _CODE.sub("", line.text).replace("\\|", "|")
        for match in _WIKILINK.finditer(words):
            target = match["target"].partition("#")[0].rpartition("/")[2].strip().removesuffix(".md")
            label = plain(match["label"])
            if is_name(target) and is_name(label) and _is_alias(label, target):
                yield _Thing(
                    name=target,
                    kind="document",
                    page_number=text.page.number,
                    span=line.span,
                    confidence=0.7,
                    aliases={label: None},
                )


def _is_alias(label: str, target: str) -> bool:
    """Whether a link's label is a name of its target, rather than words of the sentence it stands in."""
    words = label.casefold().split()
    if len(words) > 4 or set(words) & _NO_ALIAS or words[0] in _ARTICLES:
        return False
    known = set(re.findall(r"\w+", target.casefold()))
    return bool(known & set(re.findall(r"\w+", label.casefold()))) or label[:1].isupper()


def _people(text: MarkedText) -> Iterator[_Thing]:
    for line in text.lines:
        if line.in_code:
            continue
        for match in _TITLED.finditer(line.text):
            yield _thing(text, line, match, _named(match[0]), "person", 0.7)
        if "@" in line.text or " at " in line.text:
            for match in _HANDLE.finditer(line.text):
                yield _thing(text, line, match, _named(match["name"]), "person", 0.9, match["handle"])
            for match in _ADDRESS.finditer(line.text):
                yield _thing(text, line, match, _named(match["name"]), "person", 0.9)


def _named(name: str) -> str:
    return re.sub(r"['’]s?$", "", name)


def _organisations_and_places(text: MarkedText) -> Iterator[_Thing]:
    for line in text.lines:
        if line.in_code or line.heading:
            continue
        for pattern, kind in ((_ORGANISATION, "organisation"), (_OF, "organisation"), (_PLACE, "place")):
            for match in pattern.finditer(line.text):
                for part in _apart(match["name"]):
                    name = html.unescape(_without_articles(part))
                    if " " in name and name.split()[0] not in _NO_FIRST:
                        yield _thing(text, line, match, name, kind, 0.7)


def _apart(name: str) -> list[str]:
    """The names that an "and" joins, where what stands before it is whole by itself."""
    first, _, rest = name.partition(" and ")
    return [first, rest] if rest and _WHOLE.search(first) else [name]


def _without_articles(name: str) -> str:
    words = name.split()
    while words and words[0].casefold() in _ARTICLES:
        words.pop(0)
    while words and len(words[-1]) == 1:
        words.pop()
    return " ".join(words)


def _in_foundry_links(text: MarkedText) -> Iterator[_Thing]:
    for line in text.lines:
        for match in COMMAND.finditer(line.text) if "@" in line.text else ():
            name, kind = name_of(match, {}), kind_of(match["kind"], match["target"])
            if kind and is_name(name):
                yield _thing(text, line, match, name, kind, 0.9)


def _thing(
    text: MarkedText, line: Line, match: re.Match[str], name: str, kind: str, confidence: float, *aliases: str
) -> _Thing:
    return _Thing(
        name=name,
        kind=kind,
        page_number=text.page.number,
        span=around(line, match.start(), match.end()),
        confidence=confidence,
        aliases=dict.fromkeys(aliases),
    )


def _columns(page: Page, table: PipeTable) -> Iterator[_Thing]:
    """Names that a column lists, where its head says of what."""
    for at, column in enumerate(table.columns):
        kind = next((kind for kind, pattern in _COLUMNS if pattern.fullmatch(column)), None)
        for row in table.rows[:MAX_COLUMN] if kind else ():
            name = plain(row.cells[at]) if at < len(row.cells) else ""
            if is_name(name) and name[:1].isupper() and not any(map(str.isdigit, name)) and not _NO_NAMES.match(name):
                yield _Thing(name=name, kind=kind or "", page_number=page.number, span=row.span, confidence=0.7)
