"""Summaries and comparisons of whole documents without a model: quotes that cover them section by section.

A summary has one sentence for each section, in order: the one whose words are most frequent in its section and its
document, with a bonus for sentences at the beginning. Sections of long books are joined, so that a summary stays short.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from rapidfuzz import fuzz, process

from core.domain.answer import ListedFact
from core.domain.corpus import Document, SearchScope, SourcedPassage
from core.domain.passages import Span
from core.domain.replies import PassageCitation
from core.errors import BadInput, NotFound
from core.knowledge.search.documents import find_by_name
from core.knowledge.search.searching import names_by_number
from core.ports import CorpusRepository
from core.text.markup import is_field, is_row, readable
from core.text.words import collapse, content_words, shorten, tokens

MOST_SECTIONS = 12
MOST_CHANGES = 12
LONGEST = 200  # characters of a request
LONGEST_QUOTE = 400  # characters of a sentence
SAME = 55.0  # points of 100: two sentences say the same thing in other words
MOST_COMPARED = 400  # sentences of each document

_ASK = r"^(?:please |can you |could you |would you )*"
_SUMMARISE = re.compile(
    _ASK
    + r"(?:summari[sz]e|sum up|recap|outline|give (?:me |us )?an? (?:short |brief )?(?:summary|overview|outline) of"
    r"|(?:a )?(?:short |brief )?(?:summary|overview|outline) of) (?:what )?(?P<name>.+?)(?: (?:is|are) about| says?)?$",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"^what (?:is|are|does|do) (?P<name>.+?) (?:all about|about|say|cover|deal with)$", re.IGNORECASE)
_PAIRS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        _ASK + r"compare (?P<first>.+?) (?:and|with|to|against) (?P<second>.+)$",
        r"^(?:what(?: is| are|['’]s) )?(?:the )?(?:main )?differences? between (?P<first>.+?) and (?P<second>.+)$",
        r"^how (?:does|do) (?P<first>.+?) differ from (?P<second>.+)$",
        r"^(?:differences? between )?(?P<first>.+?) (?:vs\.?|versus) (?P<second>.+)$",
    )
)
_CHANGED = re.compile(
    r"^(?:what|how|tell me what|show me what)(?: has| have)? changed (?:between|from|since) (?P<first>.+?)"
    r" (?:and|to|in|until) (?P<second>.+)$",
    re.IGNORECASE,
)
_TOPIC = re.compile(r"^(?P<topic>.+?) (?:in|of|between|according to) (?P<name>.+)$", re.IGNORECASE)
# Two numbered documents in the plural: "Meetings 77 and 79".
_BOTH = re.compile(
    r"\b(?P<kind>[^\W\d_]{2,28})s (?P<first>[^\W\d]{0,8}\d[\w.-]{0,20}) and (?P<second>[^\W\d]{0,8}\d[\w.-]{0,20})"
)
# Words around a document's name that don't belong to it.
_AROUND = frozenset(
    "document documents file files note notes page report book minute minutes meeting protocol journal table sheet "
    "whole entire full pdf".split()
)
_REFERRING = re.compile(r"(?:this|that|these|those|it|he|she|they|however|but|also|then|so|thus|for example)\b", re.I)
_NO_CONTENT = re.compile(
    r"(?:copyright|licen[cs]e|references|see also|external links|contents|table of contents|navigation"
    r"|acknowledge?ments|further reading|bibliography|colophon|imprint|backlinks|footnotes)\W*",
    re.IGNORECASE,
)
_QUOTE_MARKS = " \"'“”‘’„"
_ENDS = (".", "!", "?", "…", "。", "！", "？", "”", '"', ")")


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """A sentence for a section."""

    section: str  # its title; "" for a document without sections
    source: SourcedPassage
    span: Span

    @property
    def text(self) -> str:
        return readable(_text(self.source, self.span))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRequest:
    """A request to compare two documents; `changed`: to say what the second has otherwise."""

    first: str
    second: str
    topic: str = ""
    changed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Aligned:
    """Quotes of one section of two documents; either may be missing."""

    section: str
    first: Covered | None
    second: Covered | None


def read_summary_request(text: str) -> str | None:
    """Return the name of the thing that a text asks to sum up as a whole; None for another request."""
    asked = collapse(text).rstrip("?.! ")
    if len(asked) > LONGEST:
        return None
    found = _SUMMARISE.match(asked) or _ABOUT.match(asked)
    return found["name"].strip(_QUOTE_MARKS) if found is not None else None


def read_pair_request(text: str) -> PairRequest | None:
    """Return the two names that a text asks to compare; None for another request."""
    asked = one_by_one(collapse(text).rstrip("?.! "))
    if len(asked) > LONGEST:
        return None
    changed = _CHANGED.match(asked)
    found = changed or next((match for pattern in _PAIRS if (match := pattern.match(asked)) is not None), None)
    if found is None:
        return None
    first, second = (found[name].strip(_QUOTE_MARKS) for name in ("first", "second"))
    return PairRequest(first=first, second=second, changed=changed is not None)


def one_by_one(text: str, before: str = "") -> str:
    """Return a text that names two numbered documents one by one, the second behind `before`."""
    return _BOTH.sub(rf"\g<kind> \g<first> and {before}\g<kind> \g<second>", text)


def find_whole(name: str, documents: Sequence[Document]) -> Document | None:
    """Return the document that a name means; None if it means none, several, or only a part of one."""
    try:
        found = find_by_name(name, documents)
    except (NotFound, BadInput):
        return _by_number(name, documents)
    own = tokens(" ".join((found.title, found.path, *found.aliases)))
    beyond = set(tokens(name)) - set(own) - set(tokens(" ".join(_AROUND)))
    return _by_number(name, documents) if beyond else found


def _by_number(name: str, documents: Sequence[Document]) -> Document | None:
    """Return the only document that all words of a name and its number mean: "PEP 257" for peps/0257.rst."""
    wanted = {word.lstrip("0") for word in tokens(name)}
    if not any(map(str.isdigit, wanted)):
        return None
    stems = ((each, f"{PurePosixPath(each.path).stem} {' '.join(names_by_number(each.path))}") for each in documents)
    names = ((each, tokens(f"{each.title} {stem}")) for each, stem in stems)
    fitting = [each for each, own in names if wanted <= {word.lstrip("0") for word in own}]
    return fitting[0] if len(fitting) == 1 else None


def split_topic(name: str) -> tuple[str, str] | None:
    """Return topic and name of "the fares in Minutes of May"; None without a topic."""
    found = _TOPIC.match(name)
    return (found["topic"], found["name"]) if found is not None and content_words(found["topic"]) else None


def cover(passages: Sequence[SourcedPassage], most: int = MOST_SECTIONS) -> list[Covered]:
    """Return a sentence for each section of a document, in text order. `passages` are all of one document, in order."""
    sections = _sections(passages, most)
    counts = Counter(token for spans in sections.values() for item in spans for token in set(tokens(item.text)))
    return [_central(sentences, counts) for sentences in sections.values() if sentences]


def about(passages: Sequence[SourcedPassage], topic: str) -> list[Covered]:
    """Return the sentence of a document that has most words of a topic, the first of equals; [] if none has any."""
    wanted = set(tokens(topic))
    sentences = [item for spans in _sections(passages, len(passages) + 1).values() for item in spans]
    held = [len(wanted.intersection(tokens(f"{item.section} {item.text}"))) for item in sentences]
    best = max(range(len(held)), key=lambda place: (held[place], -place), default=None)
    return [sentences[best]] if best is not None and held[best] else []


def align(first: Sequence[Covered], second: Sequence[Covered]) -> list[Aligned]:
    """Return quotes of the same sections side by side, in the order of the first; then the second's other sections."""
    others = {_key(item.section): item for item in reversed(second)}
    pairs = [Aligned(section=item.section, first=item, second=others.pop(_key(item.section), None)) for item in first]
    alone = [item for item in second if others.get(_key(item.section)) is item]
    return [*pairs, *(Aligned(section=item.section, first=None, second=item) for item in alone)]


def changes(first: Sequence[SourcedPassage], second: Sequence[SourcedPassage]) -> list[Aligned]:
    """Return the sentences that two documents don't share: changed ones side by side, then removed and added ones."""
    before, after = (
        [item for spans in _sections(each, len(each) + 1, prose_only=False).values() for item in spans][:MOST_COMPARED]
        for each in (first, second)
    )
    known, new = {item.text for item in before}, {item.text for item in after}
    gone = [item for item in before if item.text not in new]
    come = [item for item in after if item.text not in known]
    pairs: list[Aligned] = []
    for item in gone:
        texts = [each.text for each in come]
        near = process.extractOne(item.text, texts, scorer=fuzz.token_sort_ratio) if texts else None
        partner = come.pop(near[2]) if near is not None and near[1] >= SAME else None
        pairs.append(Aligned(section=item.section, first=item, second=partner))
    pairs += [Aligned(section=item.section, first=None, second=item) for item in come]
    return pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """Quotes below a heading, in groups (`ListedFact.document`), with the passages they are from."""

    heading: str
    rows: tuple[ListedFact, ...]
    passages: tuple[SourcedPassage, ...]


class WholeDocuments:
    """Answers about whole documents. Every read takes the scope it may see."""

    def __init__(self, corpus: CorpusRepository) -> None:
        self._corpus = corpus

    async def answer(self, text: str, scope: SearchScope, focus: Document | None = None) -> Quoted | None:
        """Sum up or compare the documents that a text names; None for other requests, and if it names none.

        `focus` is the document that "this document" means.
        """
        pair = read_pair_request(text)
        name = read_summary_request(text) if pair is None else None
        if pair is None and name is None:
            return None
        documents = [item for item in await self._corpus.list_readable(scope) if item.revision is not None]
        if pair is not None:
            return await self._compare(pair, documents, scope)
        said = name or ""
        document = focus if content_words(said) <= _AROUND else find_whole(said, documents)
        if document is None:
            return None
        covered = cover(await self._passages(document, scope))
        return _to_quoted(f"“{document.title}”, section by section", [("", _line(item)) for item in covered])

    async def _compare(self, pair: PairRequest, documents: Sequence[Document], scope: SearchScope) -> Quoted | None:
        named = [_named(pair.first, documents), _named(pair.second, documents)]
        topic = named[0][0] or named[1][0]
        known = [document for _, document in named if document is not None]
        if len(known) == 1:
            missing = pair.first if named[0][1] is None else pair.second
            heading = f"I found no document called “{missing}” to compare with. “{known[0].title}”"
            return _to_quoted(heading, [("", _line(item)) for item in await self._about(known[0], topic, scope)])
        if len({document.id for document in known}) < 2:
            return None
        first, second = known
        if pair.changed and not topic:
            found = changes(await self._passages(first, scope), await self._passages(second, scope))
            return _changed(first, second, found)
        covered = [await self._about(document, topic, scope) for document in known]
        silent = [document.title for document, own in zip(known, covered, strict=True) if not own]
        told = "".join(f"I found nothing about it in “{title}”. " for title in silent)
        heading = f"{told}“{first.title}” and “{second.title}” side by side"
        pairs = align(*([replace(item, section="") for item in own] if topic else own for own in covered))
        return _to_quoted(heading, list(_side_by_side(pairs, first.title, second.title)))

    async def _about(self, document: Document, topic: str, scope: SearchScope) -> list[Covered]:
        passages = await self._passages(document, scope)
        return about(passages, topic) if topic else cover(passages)

    async def _passages(self, document: Document, scope: SearchScope) -> list[SourcedPassage]:
        pages = await self._corpus.list_pages(document.id, scope)
        return [item for page in pages for item in await self._corpus.list_page_passages(page.id, scope)]


def _named(name: str, documents: Sequence[Document]) -> tuple[str, Document | None]:
    """Return the topic and the document of "the fares in Minutes of May"; a whole name comes first."""
    if (whole := find_whole(name, documents)) is not None:
        return "", whole
    parts = split_topic(name)
    return (parts[0], find_whole(parts[1], documents)) if parts is not None else ("", None)


def _changed(first: Document, second: Document, found: Sequence[Aligned]) -> Quoted | None:
    counts = [
        sum(item.first is not None and item.second is not None for item in found),
        sum(item.second is None for item in found),
        sum(item.first is None for item in found),
    ]
    told = ", ".join(f"{count} {kind}" for count, kind in zip(counts, ("changed", "removed", "added"), strict=True))
    shown = f"; the first {MOST_CHANGES}" if len(found) > MOST_CHANGES else ""
    heading = f"From “{first.title}” to “{second.title}”: {told}{shown}"
    rows = list(_side_by_side(found[:MOST_CHANGES], "Before", "Now", gone=("Removed", "Added")))
    return _to_quoted(heading, rows)


def _side_by_side(
    pairs: Sequence[Aligned], first: str, second: str, gone: tuple[str, str] | None = None
) -> Iterator[tuple[str, tuple[str, Covered]]]:
    """Yield a group, and a quote below its label; `gone` are the labels of quotes without a counterpart."""
    for pair in pairs:
        labels = (first, second) if gone is None or (pair.first and pair.second) else gone
        for label, item in zip(labels, (pair.first, pair.second), strict=True):
            if item is not None:
                yield pair.section, (label, item)


def _line(item: Covered) -> tuple[str, Covered]:
    return item.section, item


def _to_quoted(heading: str, rows: Sequence[tuple[str, tuple[str, Covered]]]) -> Quoted | None:
    listed = [
        ListedFact(
            text=f"**{label}**: {shorten(item.text, LONGEST_QUOTE)}" if label else shorten(item.text, LONGEST_QUOTE),
            document=group,
            citation=PassageCitation(
                passage_id=item.source.passage.id, span=item.span, cited_text=_text(item.source, item.span)
            ),
        )
        for group, (label, item) in rows
    ]
    if not listed:
        return None
    passages = dict.fromkeys(item.source.passage.id for _, (_, item) in rows)
    by_id = {item.source.passage.id: item.source for _, (_, item) in rows}
    return Quoted(heading=heading, rows=tuple(listed), passages=tuple(by_id[key] for key in passages))


def _sections(
    passages: Sequence[SourcedPassage], most: int, *, prose_only: bool = True
) -> Mapping[tuple[str, ...], list[Covered]]:
    """Return the sentences of each section, at most `most` sections: by titles, else by pages, else joined evenly."""
    found: dict[tuple[str, ...], list[Covered]] = {}
    seen: set[tuple[str, Span]] = set()
    for source in passages:
        titles = {title.strip().casefold() for title in (*source.passage.titles, source.document.title)}
        section = source.passage.titles[-1] if source.passage.titles else source.page_title
        sentences = found.setdefault((source.passage.page_id, *source.passage.titles), [])
        for span in source.passage.sentences:
            item = Covered(section=section, source=source, span=span)
            if (source.passage.page_id, span) not in seen and item.text and item.text.casefold() not in titles:
                seen.add((source.passage.page_id, span))
                sentences.append(item)
    if not prose_only:
        return found
    named = {key: own for key, own in found.items() if own and not _NO_CONTENT.fullmatch(own[0].section)} or found
    prose = {key: [item for item in own if _is_sentence(item)] for key, own in named.items()}
    told = {key: own for key, own in prose.items() if own} or named
    if len(told) <= most:
        return told
    pages: dict[tuple[str, ...], list[Covered]] = {}
    for key, own in told.items():
        pages.setdefault(key[:1], []).extend(own)
    return pages if len(pages) <= most else _joined(list(pages.values()), most)


def _joined(sections: Sequence[list[Covered]], most: int) -> dict[tuple[str, ...], list[Covered]]:
    size = math.ceil(len(sections) / most)
    parts = [sections[place : place + size] for place in range(0, len(sections), size)]
    return {(str(number),): [item for own in part for item in own] for number, part in enumerate(parts)}


def _central(sentences: Sequence[Covered], counts: Mapping[str, int]) -> Covered:
    own = Counter(token for item in sentences for token in set(tokens(item.text)))

    def score(place: int) -> float:
        item = sentences[place]
        said = set(tokens(item.text))
        if not said:
            return 0.0
        weight = sum(math.log(own[token]) + math.log(counts.get(token, 1)) / 2 + 0.5 for token in said)
        bonus = max(1.0 - 0.08 * place, 0.6) * (0.7 if place and _REFERRING.match(item.text) else 1.0)
        length = 0.6 if len(item.text) > LONGEST_QUOTE or len(said) < 4 or item.text.endswith("?") else 1.0
        return weight / math.sqrt(len(said) + 4) * bonus * length

    return sentences[max(range(len(sentences)), key=score)]


def _is_sentence(item: Covered) -> bool:
    text = item.text
    is_prose = text.endswith(_ENDS) or len(text.split()) > 8
    return is_prose and not is_field(text) and not text.isupper() and not is_row(_text(item.source, item.span))


def _key(section: str) -> str:
    return " ".join(tokens(section)) or section.casefold()


def _text(source: SourcedPassage, span: Span) -> str:
    start = source.passage.span.start
    return source.passage.text[span.start - start : span.end - start]
