"""Searches as people ask: pages by their best passages, with a second look inside the document that is meant.

The second look goes into the documents that a query names ("in Treasure Island, ..."), or into a long document that
leads the first search (long_documents.py).

Every passage has its document's title above it, so title words in a question tell the place to search, and not the
subject. If they stayed in the query, they would lift passages about the title's words.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from core.domain.corpus import Document, PageHit, SearchQuery, SearchScope, SourcedPassage
from core.domain.kept_answers import SAID_KINDS
from core.domain.passages import Span
from core.errors import InvalidState
from core.knowledge.asides import without_reading
from core.knowledge.search.long_documents import LongDocuments, best_first
from core.ports import CorpusRepository, SearchIndex
from core.text.dates import find_date_in_name, find_dates
from core.text.words import STOPWORDS, content_words

_PASSAGES_PER_PAGE = 4  # requested from the index for each page, because several passages of one page often match
# Passages of the first and of the last request: if hits of one page crowd out the rest, three times as many follow.
_FEWEST_PASSAGES = 40
_MOST_PASSAGES = 1_000
_NAMED_WEIGHT = 1.25  # factor by which a page elsewhere has to be better than one of a named document
_KEPT_WEIGHT = 1.25  # factor by which a message of people has to be better than a document
# A document leads with this many of the first passages found, and is long with this many of its own.
LOOKED_AT = 10
LEADING = 5
LONG = 100


class PassageSearch:
    """The search behind the library: texts and scope in, pages out."""

    def __init__(self, corpus: CorpusRepository, index: SearchIndex) -> None:
        self._corpus = corpus
        self._index = index
        self._long = LongDocuments(corpus)

    async def pages(self, query: SearchQuery, scope: SearchScope) -> list[PageHit]:
        """Return pages with a matching passage, ordered by their best passage, at most `query.limit`."""
        query = replace(query, text=without_reading(query.text))
        found = await self._passages(query, scope)
        named = find_named(query.text, {item.document.id: item.document for item in found}.values())
        if named is None:
            return _grouped(await self._look_inside(query, found, scope))[: query.limit]
        inside = replace(query, text=named.rest, document_ids=named.document_ids)
        meant = await self._look_inside(inside, await self._passages(inside, scope), scope)
        elsewhere = [item for item in found if item.document.id not in named.document_ids]
        return _grouped(best_first([*map(_weighed, meant), *elsewhere]))[: query.limit]

    async def _passages(self, query: SearchQuery, scope: SearchScope) -> list[SourcedPassage]:
        """Return live passages, best first, of as many pages as are wanted, if there are so many."""
        asked = max(query.limit * _PASSAGES_PER_PAGE, _FEWEST_PASSAGES)
        while True:
            hits = await self._index.search(replace(query, limit=asked), scope)
            if not hits:
                await self._require_index()
                return []
            scores = {hit.passage_id: hit.score for hit in hits}
            live = await self._corpus.list_passages(list(scores), scope)
            pages = {sourced.passage.page_id for sourced in live}
            if len(pages) >= query.limit or len(hits) < asked or asked >= _MOST_PASSAGES:
                return _kept_below([replace(sourced, score=scores[sourced.passage.id]) for sourced in live])
            asked = min(asked * 3, _MOST_PASSAGES)

    async def _require_index(self) -> None:
        """Raise InvalidState if the index is empty and the library isn't: "nothing found" would be wrong."""
        if await self._index.count() == 0 and any((await self._corpus.live_revisions()).values()):
            raise InvalidState(
                "The search index is empty, but the library isn't. Rebuild the index with `footnote db reindex`; a "
                "service does so when it starts."
            )

    async def _look_inside(
        self, query: SearchQuery, found: list[SourcedPassage], scope: SearchScope
    ) -> list[SourcedPassage]:
        """Reorder the passages of a long document that leads `found`, within the places that they have."""
        leading = leading_document(found)
        if leading is None or query.rerank:
            return found
        return await self._long.reorder(query, found, leading, scope, self._passages)


def leading_document(found: Sequence[SourcedPassage]) -> Document | None:
    """Return the long document that has most of the first passages, or None."""
    first = found[:LOOKED_AT]
    counts = Counter(item.document.id for item in first)
    return next((d.document for d in first if counts[d.document.id] >= LEADING and d.document.passages >= LONG), None)


def _weighed(found: SourcedPassage, weight: float = _NAMED_WEIGHT) -> SourcedPassage:
    return replace(found, score=found.score * weight if found.score >= 0 else found.score / weight)


def _kept_below(found: Sequence[SourcedPassage]) -> list[SourcedPassage]:
    """Return the passages, messages of people below documents of the same relevance."""
    if all(item.document.kind not in SAID_KINDS for item in found):
        return list(found)
    return best_first(
        [_weighed(item, 1 / _KEPT_WEIGHT) if item.document.kind in SAID_KINDS else item for item in found]
    )


def _grouped(passages: Sequence[SourcedPassage]) -> list[PageHit]:
    by_page: dict[str, list[SourcedPassage]] = {}
    for sourced in passages:
        by_page.setdefault(sourced.passage.page_id, []).append(sourced)
    return [
        PageHit(
            document=group[0].document,
            page_id=page_id,
            page_number=group[0].passage.page_number,
            heading_path=group[0].passage.titles,
            passages=tuple(group),
            score=group[0].score,
        )
        for page_id, group in by_page.items()
    ]


# ------------------------------------------------------------------------------------------- documents that are named

# A name of this many content words is meant in any place. A shorter one may be the question's subject ("how do daily
# notes work?") and needs a word before it that points to a place.
TELLING_WORDS = 3
MOST_NAMED = 5  # documents: a name that more of them share ("index", "minutes") points to none

_WORD = re.compile(r"[^\W_]+")
_NUMBER_FIRST = re.compile(r"(?:(?P<kind>[^\W\d_]{2,12})[-_ ])?(?P<number>\d{1,5})(?![^\W_]|[-_. ]\d)")
_ARTICLES = ("the", "a", "an")
_POINTER = re.compile(
    r"(?:\b(?:according(?: to)?|as told in|in|of|from|per|within|throughout)\s+)"
    r"(?:(?:the|a|an|this|our|my)\s+)?(?:(?:book|novel|story|document|notes?|report|file|paper|journal)\s+)?"
    r"[\"“‘'(]*(?:(?:the|an?)\s+)?$",
    re.IGNORECASE,
)
_ON = re.compile(r"\bon\s+$", re.IGNORECASE)
# A name of one word has to be set apart, before or after the question.
_APART_BEFORE = re.compile(r"\b(?:in|according(?: to)?|from|per)\s+(?:the\s+)?[\"“‘'(]*$", re.IGNORECASE)
_APART_AFTER = re.compile(r"[\"”’')]*\s*(?:[,:;?]|$)")
_ARTICLE = re.compile(r"(?<![\"“‘'(])[\"“‘'(]*+\b(?:the|an?)\s++$", re.IGNORECASE)
_LEFT_OVER = re.compile(r"^[\s,:;\"”’')]++|(?<![\s,:;\"“‘'(])[\s,:;\"“‘'(]++$")


@dataclass(frozen=True, slots=True)
class Named:
    """The documents that a query names, and the query without their names."""

    document_ids: frozenset[str]
    rest: str


def find_named(query: str, documents: Iterable[Document]) -> Named | None:
    """Find the documents that `query` names by title, alias or file name; None if it names none, or nothing else.

    The date of a document named by its day ("minutes/2024-05-14.md") names it, too.
    """
    words = [(_plain(match.group()), match.start(), match.end()) for match in _WORD.finditer(query)]
    days = {day: _with_pointer(query, written.span) for written in find_dates(query) if (day := written.iso())}
    found: dict[str, Span] = {}
    for document in documents:
        if document.id not in found and (span := _longest(query, words, days, document)) is not None:
            found[document.id] = span
    spans = sorted({span for span in found.values() if not any(_holds(other, span) for other in found.values())})
    named = frozenset(document for document, span in found.items() if span in spans)
    rest = _without(query, spans)
    if not named or len(named) > MOST_NAMED or not content_words(rest):
        return None
    return Named(named, rest)


def _holds(whole: Span, part: Span) -> bool:
    return whole != part and whole.contains(part)


def _longest(
    query: str, words: Sequence[tuple[str, int, int]], days: Mapping[str, Span], document: Document
) -> Span | None:
    names = (document.title, *document.aliases, PurePosixPath(document.path).stem, *names_by_number(document.path))
    places = [place for name in names if (place := _place(query, words, name)) is not None]
    dated = [written.iso() for name in names if days and (written := find_date_in_name(name)) is not None]
    places += [days[day] for day in dated if day is not None and day in days]
    return max(places, key=lambda span: span.end - span.start, default=None)


def names_by_number(path: str) -> list[str]:
    """Return kind and number of a document that its file's name numbers, "RFC 12" of rfcs/0012-mail.md; or []."""
    file = PurePosixPath(path)
    found = _NUMBER_FIRST.match(file.stem)
    if found is None or find_date_in_name(file.stem) is not None:
        return []
    kind = found["kind"] or file.parent.name.removesuffix("s")
    return [f"{kind.upper()} {_plain(found['number'])}"] if kind.isalpha() else []


def _place(query: str, words: Sequence[tuple[str, int, int]], name: str) -> Span | None:
    """Find `name` in the query as a pointer to a document, together with the words that point."""
    wanted = [_plain(match.group()) for match in _WORD.finditer(name)]
    while wanted and wanted[0] in _ARTICLES:
        wanted = wanted[1:]
    telling = sum(word not in STOPWORDS for word in wanted)
    if not telling:
        return None
    for first in range(len(words) - len(wanted) + 1):
        if [word for word, _, _ in words[first : first + len(wanted)]] != wanted:
            continue
        start, end = words[first][1], words[first + len(wanted) - 1][2]
        before = _POINTER.search(query, 0, start)
        is_numbered = telling > 1 and wanted[-1].isdecimal()  # "Meeting 12"
        if telling >= TELLING_WORDS or is_numbered or (before and (telling > 1 or _is_apart(query, start, end))):
            before = before or _ARTICLE.search(query, 0, start)
            return Span(before.start() if before else start, end)
    return None


def _plain(word: str) -> str:
    """Return a word in lower case, a number without the zeros before it."""
    return word.lstrip("0") or word if word.isdecimal() else word.casefold()


def _with_pointer(query: str, span: Span) -> Span:
    before = _POINTER.search(query, 0, span.start) or _ON.search(query, 0, span.start)
    return Span(before.start() if before else span.start, span.end)


def _is_apart(query: str, start: int, end: int) -> bool:
    return _APART_BEFORE.search(query, 0, start) is not None and _APART_AFTER.match(query, end) is not None


def _without(query: str, cuts: Sequence[Span]) -> str:
    rest = query
    for cut in reversed(cuts):
        before, after = rest[: cut.start].rstrip(" ,"), _LEFT_OVER.sub("", rest[cut.end :])
        rest = before + after if after[:1] in ("?", "!", ".") else f"{before} {after}".strip()
    return rest
