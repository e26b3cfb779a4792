"""Quotes that answer a question: the best runs of sentences, the items of a list, the leads of a summary.

A cross-encoder (ports.AnswerJudge) reads the passages, then their sentences, then runs around the best sentences: an
answer often needs the sentence before or after it. Measured on 201 questions of our own, in other words than the
documents: one sentence held the answer in .52 of them, the best run in .60, the two best runs in .67.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.corpus import SourcedPassage, Span
from core.knowledge.search.searching import find_named
from core.ports import AnswerJudge, SentenceRanker
from core.text.markup import is_row, readable
from core.text.words import content_words

# Passages that are judged, and the best of them, which are read sentence by sentence. In novels, whose passages are
# alike, the answer is often in the seventh to tenth.
PASSAGES_JUDGED = 10
PASSAGES_READ = 3
# Places by which a page's next passage moves down, and the cost of a place in logits.
NEXT_ON_PAGE = 0.5
PLACE_COST = 0.2
SENTENCES_JUDGED = 16  # by the cross-encoder; of more, the sentence ranker chooses
# Sentences with the best scores, and the runs tried around each: (sentences before, sentences after).
SEEDS = 3
RUNS = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1))
RUN_WORDS = 110  # maximum
# Logits that another sentence has to add: 0.3 to 0.6 kept the hits at 0.8 of the length.
SENTENCE_COST = 0.3
PASSAGE_WEIGHT = 0.5  # of the passage's logit, added to the sentence's, in the choice of seeds
MOST_CERTAIN = 1e-6  # a judge's 0 and 1 have no finite logit


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A run of sentences of one passage: `logit` is the cross-encoder's, `score` ranks it."""

    source: SourcedPassage
    sentences: tuple[Span, ...]
    logit: float
    score: float

    @property
    def span(self) -> Span:
        return Span(self.sentences[0].start, self.sentences[-1].end)

    @property
    def text(self) -> str:
        return text_of(self.source, self.span)

    def overlaps(self, other: "Quote") -> bool:
        same_page = self.source.passage.page_id == other.source.passage.page_id
        return same_page and self.span.start < other.span.end and other.span.start < self.span.end


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Quotes and passages (with their logits), each best first; both may be empty."""

    quotes: tuple[Quote, ...] = ()
    passages: tuple[tuple[SourcedPassage, float], ...] = ()

    @property
    def strength(self) -> float:
        """The best of all logits."""
        logits = [*(quote.logit for quote in self.quotes), *(logit for _, logit in self.passages)]
        return max(logits, default=-math.inf)


async def find_quotes(
    question: str, passages: Sequence[SourcedPassage], ranker: SentenceRanker, judge: AnswerJudge
) -> Found:
    """Find the quotes in `passages`, in the order of the tools, that answer `question`.

    If the question names documents among them, only their passages count.
    """
    ranked = await rank_passages(question, _of_named_documents(question, passages), judge)
    if not ranked:
        return Found()
    read = ranked[:PASSAGES_READ]
    sentences = await _sentences(question, [source for source, _ in read], ranker)
    texts = [_judged_text(source, source.passage.sentences[place]) for source, place in sentences]
    logits = [to_logit(score) for score in await judge.relevance(question, texts)]
    passage_logits = {source.passage.id: logit for source, logit in read}
    single = {(source.passage.id, place): logit for (source, place), logit in zip(sentences, logits, strict=True)}
    seeds = sorted(
        sentences,
        key=lambda item: -(single[item[0].passage.id, item[1]] + PASSAGE_WEIGHT * passage_logits[item[0].passage.id]),
    )[:SEEDS]
    quotes = await _runs(question, seeds, single, judge)
    return Found(quotes=tuple(sorted(quotes, key=lambda quote: -quote.score)), passages=tuple(ranked))


def _of_named_documents(question: str, passages: Sequence[SourcedPassage]) -> Sequence[SourcedPassage]:
    """Return the passages of documents that the question names; all passages if it names none."""
    named = find_named(question, {found.document.id: found.document for found in passages}.values())
    return passages if named is None else [found for found in passages if found.document.id in named.document_ids]


async def rank_passages(
    question: str, passages: Sequence[SourcedPassage], judge: AnswerJudge
) -> list[tuple[SourcedPassage, float]]:
    """Return the first PASSAGES_JUDGED passages with their logits, best first by logit and place."""
    first = by_place(passages)[:PASSAGES_JUDGED]
    scores = await judge.relevance(question, [_judged_text(found, found.passage.span) for found in first])
    judged = [(found, to_logit(score)) for found, score in zip(first, scores, strict=True)]
    return [pair for _, pair in sorted(enumerate(judged), key=lambda item: item[0] * PLACE_COST - item[1][1])]


def by_place(passages: Sequence[SourcedPassage]) -> list[SourcedPassage]:
    """Return passages in one order, each once, from the tools' order (best pages first, best passages of a page first).

    A page's next passage comes between the first ones of the next two pages. Scores can't decide the order, because
    those of a search within one document don't compare with those of an open search.
    """
    pages: dict[str, int] = {}
    taken: dict[str, int] = {}
    places: dict[str, tuple[float, SourcedPassage]] = {}
    for found in passages:
        if found.passage.id in places:
            continue
        page = pages.setdefault(found.passage.page_id, len(pages))
        inside = taken.get(found.passage.page_id, 0)
        taken[found.passage.page_id] = inside + 1
        places[found.passage.id] = (page + NEXT_ON_PAGE * inside, found)
    return [found for _, found in sorted(places.values(), key=lambda item: item[0])]


def text_of(source: SourcedPassage, span: Span) -> str:
    """Return the text of a span (page offsets) within the passage."""
    start = source.passage.span.start
    return source.passage.text[span.start - start : span.end - start]


def place_of(source: SourcedPassage) -> str:
    """Return the titles above a passage, from the document's down."""
    return " > ".join(dict.fromkeys(filter(None, (source.document.title, *source.passage.heading_path))))


def quotable(source: SourcedPassage) -> list[int]:
    """Return the places of the sentences that aren't the passage's own heading, a rule or an image."""
    titles = {title.strip().lower() for title in (*source.passage.heading_path, source.document.title)}
    texts = [readable(text_of(source, span)) for span in source.passage.sentences]
    said = [place for place, text in enumerate(texts) if text and text.lower() not in titles]
    return said or [place for place, text in enumerate(texts) if text]


def to_logit(score: float) -> float:
    bounded = min(max(score, MOST_CERTAIN), 1 - MOST_CERTAIN)
    return math.log(bounded / (1 - bounded))


async def _sentences(
    question: str, passages: Sequence[SourcedPassage], ranker: SentenceRanker
) -> list[tuple[SourcedPassage, int]]:
    """Return pairs of a passage and a sentence's place in it; a sentence that two passages share comes once."""
    seen: set[tuple[str, Span]] = set()
    found: list[tuple[SourcedPassage, int]] = []
    for source in passages:
        for place in quotable(source):
            key = (source.passage.page_id, source.passage.sentences[place])
            if key not in seen:
                seen.add(key)
                found.append((source, place))
    if len(found) <= SENTENCES_JUDGED:
        return found
    ranked = await ranker.rank(question, passages, limit=SENTENCES_JUDGED)
    wanted = {(scored.passage_id, scored.span) for scored in ranked}
    chosen = [item for item in found if (item[0].passage.id, item[0].passage.sentences[item[1]]) in wanted]
    return chosen or found[:SENTENCES_JUDGED]


async def _runs(
    question: str,
    seeds: Sequence[tuple[SourcedPassage, int]],
    single: dict[tuple[str, int], float],
    judge: AnswerJudge,
) -> list[Quote]:
    runs: dict[tuple[str, int, int], SourcedPassage] = {}
    for source, place in seeds:
        for before, after in RUNS:
            first, last = max(place - before, 0), min(place + after, len(source.passage.sentences) - 1)
            span = Span(source.passage.sentences[first].start, source.passage.sentences[last].end)
            if first == last or len(text_of(source, span).split()) <= RUN_WORDS:
                runs[source.passage.id, first, last] = source
    unknown = [key for key in runs if key[1] != key[2] or (key[0], key[1]) not in single]
    texts = [_judged_text(runs[key], _span(runs[key], key[1], key[2])) for key in unknown]
    logits = dict(zip(unknown, map(to_logit, await judge.relevance(question, texts)), strict=True))
    quotes = []
    for key, source in runs.items():
        passage_id, first, last = key
        logit = logits[key] if key in logits else single[passage_id, first]
        sentences = source.passage.sentences[first : last + 1]
        score = logit - SENTENCE_COST * len(sentences)
        quotes.append(Quote(source=source, sentences=sentences, logit=logit, score=score))
    return quotes


def _span(source: SourcedPassage, first: int, last: int) -> Span:
    return Span(source.passage.sentences[first].start, source.passage.sentences[last].end)


def _judged_text(source: SourcedPassage, span: Span) -> str:
    """Put the titles above it: many sentences don't name their subject."""
    return f"{place_of(source)}: {text_of(source, span)}"


# ---------------------------------------------------------------------------------------------- lists and summaries

# As much as a chat message holds, and people read.
MOST_ITEMS = 14
MOST_LEADS = 6
WORDS_NEXT_TO_TITLES = 2  # "summarise" and one word more: the request names nothing but a title
# An item without a list mark begins with a label: "**77.1** ...", "Ferries (3): ...".
_LABEL = re.compile(r"(\*\*|__)\S[^*_\n]{0,70}\1|[\w(][^.:;!?\n]{0,70}:\s")
LINE_WORDS = 30  # maximum of a short line that is an item, with others above or below it
UNMARKED = 3  # minimum of items without a list mark
PARALLEL = 3  # minimum of similar sentences about different things, which make a list across sections
# Words with the same meaning in questions and minutes.
_SAME = dict.fromkeys(
    "attend attended attendee attendance attending present participant participated participate".split(), "attend"
)
_ASKING = frozenset({"list", "name", "enumerate", "give"})
COMMON = 0.7  # share of a section's items: a word that more of them have doesn't distinguish them
SHORT_SECTION = 8  # sentences: a summary quotes the beginning of a short section, else of each section
MOST_OF_SECTION = 4


def items_for(question: str, passages: Sequence[SourcedPassage], like: Quote) -> list[Quote]:
    """Return the rows or list items of the section that fits the question best, in text order; empty if none fits.

    A section fits by the words of the question in its titles and items; the better search result wins a tie. If only
    some items have a word of the question, those with most of its words are meant ("all inhaled poisons" of a table of
    poisons). If no section has items, sentences that are parallel to the best one are returned. `like` is the best
    quote, whose scores the items get.
    """
    asked = _stems(question) - _ASKING
    best: list[Quote] = []
    most = len(asked & (_stems(like.text) | _titles(like.source))) - 1
    for group in _sections(passages, like):
        listing = _items(group)
        items = _asked_items(listing, asked)
        shown = [*items, *filter(_is_header, listing)]
        held = asked & _titles(group[0].source).union(
            *(_stems(item.text if _is_item(item) else _label(item) or item.text) for item in shown)
        )
        if len(items) > 1 and len(held) > most:
            best, most = items, len(held)
    return best[:MOST_ITEMS] or _parallel(asked, passages, like)[:MOST_ITEMS]


def _items(section: Sequence[Quote]) -> list[Quote]:
    """Return rows and marked items; without any, labelled sentences; without these, short lines below each other."""
    if len(marked := [quote for quote in section if _is_item(quote)]) > 1:
        return marked
    labelled = [quote for quote in section if _label(quote) and not _before(quote.source, quote.span)]
    distinct = len({_label(quote) for quote in labelled}) == len(labelled)  # else people speak in turn
    if distinct and len(labelled) >= UNMARKED:
        return labelled
    lines = [quote for quote in section if _is_line(quote)]
    return lines if len(lines) >= UNMARKED else []


def _parallel(asked: set[str], passages: Sequence[SourcedPassage], like: Quote) -> list[Quote]:
    """Return the sentences of the document that share the best one's words of the question; empty if too few."""
    said = asked & _stems(like.text)
    if len(said) < 2:
        return []
    same = [source for source in passages if source.document.id == like.source.document.id]
    found = [quote for section in _sections(same, like) for quote in section if said <= _stems(quote.text)]
    place = {source.passage.id: source.passage.ordinal for source in same}
    ordered = sorted(found, key=lambda quote: (place[quote.source.passage.id], quote.span))
    return ordered if len(ordered) >= PARALLEL else []


def _asked_items(listing: Sequence[Quote], asked: set[str]) -> list[Quote]:
    """Return the items with most words of the question; by their labels, if only one item is left.

    A table's first row and the titles apply to all items, so their words don't decide.
    """
    items = [item for item in listing if not _is_header(item)]
    asked = asked.difference(*(_titles(item.source) for item in items[:1]))
    chosen = _having_most(items, [_stems(item.text) for item in items], asked)
    if len(chosen) == 1 and all(map(_label, items)):
        return _having_most(items, [_stems(_label(item)) for item in items], asked)
    return chosen


def _having_most(items: Sequence[Quote], said: Sequence[set[str]], asked: set[str]) -> list[Quote]:
    held = [asked & stems for stems in said]
    spread = Counter(word for words in held for word in words)
    telling = {word for word, count in spread.items() if count <= len(items) * COMMON}
    most = max((len(words & telling) for words in held), default=0)
    return [item for item, words in zip(items, held, strict=True) if len(words & telling) == most]


def _sections(passages: Sequence[SourcedPassage], like: Quote) -> list[list[Quote]]:
    """Group single sentences by page and heading path: each in text order, sections in the order of the search."""
    sections: dict[tuple[str, tuple[str, ...]], dict[Span, Quote]] = {}
    for source in passages:
        section = sections.setdefault((source.passage.page_id, source.passage.titles), {})
        for quote in _singles(source, like):
            section.setdefault(quote.span, quote)
    return [[section[span] for span in sorted(section)] for section in sections.values() if section]


def leads(best: Quote, passages: Sequence[SourcedPassage], question: str) -> list[Quote]:
    """Return the quotes of a summary.

    If the request names only titles: the beginning of the section of `best` if that is short, else the first sentence
    of each section of its page. If it asks for more: the sentences from `best` on.
    """
    if len(_stems(question) - _titles(best.source)) > WORDS_NEXT_TO_TITLES:
        after = [quote for quote in _singles(best.source, best) if quote.span.start >= best.span.start]
        return after[:MOST_OF_SECTION]
    section = [quote for quote in _section(best, passages) if not is_row(quote.text)]
    if 0 < len(section) <= SHORT_SECTION:
        return section[:MOST_OF_SECTION]
    first: dict[tuple[str, ...], Quote] = {}
    for source in _of_page(best, passages):
        for quote in _singles(source, best):
            if not is_row(quote.text) and len(content_words(quote.text)) > 2:
                first.setdefault(source.passage.titles, quote)
                break
    return list(first.values())[:MOST_LEADS] or [best]


def _of_page(best: Quote, passages: Sequence[SourcedPassage]) -> list[SourcedPassage]:
    """Return the passages of the page of `best`, in text order, each once."""
    same = [found for found in passages if found.passage.page_id == best.source.passage.page_id]
    unique = {found.passage.id: found for found in [best.source, *same]}
    return sorted(unique.values(), key=lambda found: found.passage.ordinal)


def _section(best: Quote, passages: Sequence[SourcedPassage]) -> list[Quote]:
    """Return single sentences under the same headings as `best`, in text order, each once."""
    titles = best.source.passage.titles
    same = [source for source in _of_page(best, passages) if source.passage.titles == titles]
    return _sections(same, best)[0]


def _singles(source: SourcedPassage, like: Quote) -> list[Quote]:
    return [
        Quote(source=source, sentences=(source.passage.sentences[place],), logit=like.logit, score=like.score)
        for place in quotable(source)
    ]


def _is_item(quote: Quote) -> bool:
    return is_row(quote.text) or listed(quote.source, quote.span)


def _is_header(quote: Quote) -> bool:
    """Return whether a row is its table's first; a passage may begin in the middle of a table."""
    sentences = quote.source.passage.sentences
    place = next((place for place, span in enumerate(sentences) if span == quote.span), 0)
    first = place > 0 and not is_row(text_of(quote.source, sentences[place - 1]))
    followed = place + 1 < len(sentences) and is_row(text_of(quote.source, sentences[place + 1]))
    return first and followed and is_row(quote.text)


def _label(quote: Quote) -> str:
    """Return the label at the beginning of an item; empty if it has none."""
    found = None if is_row(quote.text) else _LABEL.match(quote.text)
    return found[0] if found else ""


def _is_line(quote: Quote) -> bool:
    """Return whether a short sentence is a whole line, directly below or above another line."""
    if _before(quote.source, quote.span) or len(quote.text.split()) > LINE_WORDS or quote.text.rstrip().endswith(":"):
        return False
    start, text = quote.source.passage.span.start, quote.source.passage.text
    above, below = text[: quote.span.start - start], text[quote.span.end - start :]
    is_whole = not below or below.startswith("\n")
    return is_whole and (below[:2].strip("\n") != "" or above[-2:].strip("\n") != "")


def listed(source: SourcedPassage, span: Span) -> bool:
    """Return whether a list mark precedes a sentence on its line."""
    before = _before(source, span)
    return bool(before) and (before in {"-", "*", "+", "•"} or (before.rstrip(".)").isalnum() and len(before) <= 4))


def _before(source: SourcedPassage, span: Span) -> str:
    """Return the text before a sentence on its line."""
    return text_of(source, Span(source.passage.span.start, span.start)).rpartition("\n")[2].strip(" \t>")


def _stems(text: str) -> set[str]:
    stems = {word[:-1] if word.endswith("s") and len(word) > 3 else word for word in content_words(text)}
    return {_SAME.get(stem, stem) for stem in stems}


def _titles(source: SourcedPassage) -> set[str]:
    return _stems(" ".join((source.document.title, source.page_title, *source.passage.titles)))


def header_rows(quote: Quote) -> tuple[Span, ...]:
    """Return the first row of the table that a quote begins in, if the passage holds it and the quote doesn't."""
    if not is_row(text_of(quote.source, quote.sentences[0])):
        return ()
    rows = []
    for span in reversed(quote.source.passage.sentences):
        if span.start >= quote.sentences[0].start:
            continue
        if not is_row(text_of(quote.source, span)):
            break
        rows.append(span)
    else:
        if quote.source.passage.titles != quote.source.passage.heading_path:
            return ()  # the passage begins below the first row
    return (rows[-1],) if rows else ()
