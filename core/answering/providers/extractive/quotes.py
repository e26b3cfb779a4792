"""Finds the quotes that answer: the best passages first, then runs of up to three sentences in them.

A cross-encoder (ports.AnswerJudge) reads the passages, then their sentences, then runs around the best sentences: an
answer often needs the sentence before or after it. Measured on 201 questions of our own, whose wording differs from
the documents': one sentence held the answer in .52 of them, the best run in .60, the two best runs in .67.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.corpus import SourcedPassage, Span
from core.knowledge.search.named_documents import find_named
from core.ports import AnswerJudge, SentenceRanker
from core.text.readable import readable

# The passages that are judged; of these the best are read sentence by sentence. In novels, whose passages are alike,
# the one that answers is often the seventh to tenth.
PASSAGES_JUDGED = 10
PASSAGES_READ = 3
# How many pages on a page's next passage is worth, and what a place further down costs, in logits.
NEXT_ON_PAGE = 0.5
PLACE_COST = 0.2
# Sentences judged by the cross-encoder at most; where there are more, the sentence ranker chooses.
SENTENCES_JUDGED = 16
# Sentences around which longer runs are tried, and the runs: (sentences before, sentences after).
SEEDS = 3
RUNS = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1))
RUN_WORDS = 110  # a longer run is no quote any more
# What a sentence more has to bring, in logits: 0.3 to 0.6 kept the hits at 0.8 of the length.
SENTENCE_COST = 0.3
PASSAGE_WEIGHT = 0.5  # of the passage's logit beside the sentence's, when seeds are chosen
# A judge's 0 and 1 have no finite logit.
MOST_CERTAIN = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A run of sentences of one passage. `logit` is the cross-encoder's, `score` the one it is ranked by."""

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
    """Quotes, best first, and the passages with their logits, best first. Both empty when there was nothing."""

    quotes: tuple[Quote, ...] = ()
    passages: tuple[tuple[SourcedPassage, float], ...] = ()

    @property
    def strength(self) -> float:
        """The best logit of all."""
        logits = [*(quote.logit for quote in self.quotes), *(logit for _, logit in self.passages)]
        return max(logits, default=-math.inf)


async def find_quotes(
    question: str, passages: Sequence[SourcedPassage], ranker: SentenceRanker, judge: AnswerJudge
) -> Found:
    """What of `passages`, as the tools listed them, answers `question`; of a document it names, if they are of it."""
    ranked = await rank_passages(question, _meant(question, passages), judge)
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


def _meant(question: str, passages: Sequence[SourcedPassage]) -> Sequence[SourcedPassage]:
    """The passages of the documents that the question names; all of them, where it names none."""
    named = find_named(question, {found.document.id: found.document for found in passages}.values())
    return passages if named is None else [found for found in passages if found.document.id in named.document_ids]


async def rank_passages(
    question: str, passages: Sequence[SourcedPassage], judge: AnswerJudge
) -> list[tuple[SourcedPassage, float]]:
    """The first PASSAGES_JUDGED passages with their logits, best first: by logit and place."""
    first = by_place(passages)[:PASSAGES_JUDGED]
    scores = await judge.relevance(question, [_judged_text(found, found.passage.span) for found in first])
    judged = [(found, to_logit(score)) for found, score in zip(first, scores, strict=True)]
    return [pair for _, pair in sorted(enumerate(judged), key=lambda item: item[0] * PLACE_COST - item[1][1])]


def by_place(passages: Sequence[SourcedPassage]) -> list[SourcedPassage]:
    """Passages as tools list them (pages best first, the passages of a page best first) in one order, each once.

    A page's next passage comes between the first ones of the next two pages. Scores can't decide: those of a search
    within a document and of an open one do not compare.
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
    """What stands at a place of the page that lies in the passage."""
    start = source.passage.span.start
    return source.passage.text[span.start - start : span.end - start]


def place_of(source: SourcedPassage) -> str:
    """The titles that a passage stands under, from the document's down."""
    return " > ".join(dict.fromkeys(filter(None, (source.document.title, *source.passage.heading_path))))


def quotable(source: SourcedPassage) -> list[int]:
    """Places of the sentences that say something: not the passage's own heading, not a rule or an image."""
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
    """(passage, place of the sentence in it); a sentence that two passages share is taken once."""
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
    """With the titles above it: many sentences do not say what they are about."""
    return f"{place_of(source)}: {text_of(source, span)}"
