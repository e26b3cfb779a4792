"""Names in prose: of people by title, handle or address, of organisations and places by a word of theirs. Pure."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.domain.corpus import Span
from storage.documents.markup.marked_text import Line, MarkedText, around

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
ARTICLES = frozenset(
    "the a an this that these those our your their its my his her in at for on by from and or if when as with".split()
)
_NO_FIRST = frozenset({"Chapter", "Table", "Figure", "Section", "Part", "Page"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProseName:
    """A name as one line of a page gives it."""

    name: str
    kind: str  # person, organisation, place
    span: Span  # in the page's text, with the words around it
    confidence: float
    alias: str = ""  # a person's handle


def names_in_prose(text: MarkedText) -> Iterator[ProseName]:
    """People in the order of the lines, then organisations and places; one name may come several times."""
    yield from _people(text)
    yield from _organisations_and_places(text)


def _people(text: MarkedText) -> Iterator[ProseName]:
    for line in text.lines:
        if line.in_code:
            continue
        for match in _TITLED.finditer(line.text):
            yield _named(line, match, _bare(match[0]), "person", 0.7)
        if "@" in line.text or " at " in line.text:
            for match in _HANDLE.finditer(line.text):
                yield _named(line, match, _bare(match["name"]), "person", 0.9, match["handle"])
            for match in _ADDRESS.finditer(line.text):
                yield _named(line, match, _bare(match["name"]), "person", 0.9)


def _bare(name: str) -> str:
    """Without the ending of a genitive."""
    return re.sub(r"['’]s?$", "", name)


def _organisations_and_places(text: MarkedText) -> Iterator[ProseName]:
    for line in text.lines:
        if line.in_code or line.heading:
            continue
        for pattern, kind in ((_ORGANISATION, "organisation"), (_OF, "organisation"), (_PLACE, "place")):
            for match in pattern.finditer(line.text):
                for part in _apart(match["name"]):
                    name = html.unescape(_without_articles(part))
                    if " " in name and name.split()[0] not in _NO_FIRST:
                        yield _named(line, match, name, kind, 0.7)


def _apart(name: str) -> list[str]:
    """The names that an "and" joins, where what stands before it is whole by itself."""
    first, _, rest = name.partition(" and ")
    return [first, rest] if rest and _WHOLE.search(first) else [name]


def _without_articles(name: str) -> str:
    words = name.split()
    while words and words[0].casefold() in ARTICLES:
        words.pop(0)
    while words and len(words[-1]) == 1:
        words.pop()
    return " ".join(words)


def _named(line: Line, match: re.Match[str], name: str, kind: str, confidence: float, alias: str = "") -> ProseName:
    span = around(line, match.start(), match.end())
    return ProseName(name=name, kind=kind, span=span, confidence=confidence, alias=alias)
