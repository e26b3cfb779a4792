"""Quotes that answer a question: the best runs of sentences in the best passages.

A cross-encoder (ports.AnswerJudge) reads the passages, then their sentences, then runs around the best sentences: an
answer often needs the sentence before or after it. Of 201 questions of our own, one sentence held the answer of .52,
the best run of .60, the two best runs of .67.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from core.domain.corpus import SourcedPassage
from core.domain.passages import Span
from core.knowledge.search.searching import find_named, names_by_number
from core.ports import AnswerJudge, SentenceRanker
from core.text.markup import is_field, is_figures, is_item, is_row, readable, without_targets
from core.text.words import collapse

# Passages that are judged, and the best of them, which are read sentence by sentence. In novels, whose passages are
# alike, the answer is often in the seventh to tenth.
PASSAGES_JUDGED = 10
PASSAGES_READ = 3
READ_WITHIN = 6.0  # logits below the best passage; the others gave none of 497 questions its answer
# Below this logit of the best passage, which tells near misses better than quotes do, nothing answers: .64 of 70 near
# misses of three sets that the judge wasn't fitted on are refused, and .07 of 271 lookups.
NOTHING_BELOW = -4.5
# Places by which a page's next passage moves down, and the cost of a place in logits.
NEXT_ON_PAGE = 0.5
PLACE_COST = 0.2
SENTENCES_JUDGED = 12  # by the cross-encoder; of more, the sentence ranker chooses
# Sentences with the best scores, and the runs tried around each: (sentences before, sentences after).
SEEDS = 2
RUNS = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1))
RUN_WORDS = 110  # maximum
# Logits that another sentence has to add: 0.3 to 0.6 kept the hits at 0.8 of the length.
SENTENCE_COST = 0.3
PASSAGE_WEIGHT = 0.5  # of the passage's logit, added to the sentence's, in the choice of seeds
HEAD_LINES = 4  # above figures, at most
ITEMS_ABOVE = 3  # of a nested list item, at most
_AROUND_COLON = " *_"  # emphasis
BLOCK_CHARACTERS = 500  # of a paragraph, list or passage that is quoted as a whole, at most
BLOCK_COST = 0.6  # logits that one has to be better than a single sentence
NEW_LINE = "\n"
SENTENCE_ENDS = (".", "!", "?", "…", ":", ";", "。", "！", "？")
REPEATED = 3.0  # logits that a quote loses in a follow-up, if the answer before had it
# Logits that a passage gains in a follow-up, if the answer before quoted its document, and more for its page: with 0.7
# five of 650 replies among people were right that had not been, and one no longer, with 1.3 two and three.
TALKED_OF, SAME_PAGE = 1.5, 0.7
SAME_DOCUMENT = 2.0  # logits that a quote gains for a part, if another part is answered from its document
COPY_CHARACTERS = 40  # of a text that two pages have, from which it is a copy; "Owner: Mira" is not
MOST_CERTAIN = 1e-6  # a judge's 0 and 1 have no finite logit

_BLANK = re.compile(r"\n[^\S\n]*\n")
_ANNOUNCES = re.compile(r":$|\b(?:the following|as follows)\b[^.]*\.$", re.IGNORECASE)


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

    @property
    def introduces(self) -> bool:
        """Whether it announces a list, "they are as follows:", or ends with the first items or rows of one."""
        for span in reversed(self.sentences):
            if _ANNOUNCES.search(text_of(self.source, span).rstrip(" *_\n")):
                return True
            if not listed(self.source, span) and not is_row(text_of(self.source, span)):
                return False
        return False

    def is_within(self, other: "Quote") -> bool:
        """Whether another quote has all of this one, or the same text on another page."""
        if self.source.passage.page_id == other.source.passage.page_id:
            return other.span.start <= self.span.start and self.span.end <= other.span.end
        said = collapse(self.text)
        return len(said) >= COPY_CHARACTERS and said in collapse(other.text)

    def overlaps(self, other: "Quote") -> bool:
        same_page = self.source.passage.page_id == other.source.passage.page_id
        shares = same_page and self.span.start < other.span.end and other.span.start < self.span.end
        return shares or self.is_within(other) or other.is_within(self)

    def is_told(self, told: str) -> bool:
        """Whether more than half of it is in an earlier answer."""
        if not told:
            return False
        texts = [readable(text_of(self.source, span)) for span in self.sentences]
        return 2 * sum(len(text) for text in texts if text in told) > sum(map(len, texts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Quotes and passages (with their logits), each best first; both may be empty."""

    quotes: tuple[Quote, ...] = ()
    passages: tuple[tuple[SourcedPassage, float], ...] = ()


async def find_quotes(
    question: str,
    passages: Sequence[SourcedPassage],
    ranker: SentenceRanker,
    judge: AnswerJudge,
    told: str = "",
    talked_of: SourcedPassage | None = None,
) -> Found:
    """Find the quotes in `passages`, in the order of the tools, that answer `question`; none if no passage may.

    If the question names documents among them, only their passages count. `told` is the answer before, which is
    rarely asked for again; `talked_of` is the last passage that it quoted: a follow-up rather asks about its page.
    """
    ranked = await rank_passages(question, _of_named_documents(question, passages), judge, talked_of)
    best = max((logit for _, logit in ranked), default=-math.inf)
    if best < NOTHING_BELOW:
        return Found(passages=tuple(ranked))
    read = [(source, logit) for source, logit in ranked[:PASSAGES_READ] if logit >= best - READ_WITHIN]
    sentences = await _sentences(question, [source for source, _ in read], ranker)
    texts = [judged_text(source, source.passage.sentences[place]) for source, place in sentences]
    logits = [to_logit(score) for score in await judge.relevance(question, texts)]
    passage_logits = {source.passage.id: logit for source, logit in read}
    single = {
        (source.passage.page_id, source.passage.sentences[place]): logit
        for (source, place), logit in zip(sentences, logits, strict=True)
    }
    weighed = [
        logit + PASSAGE_WEIGHT * passage_logits[source.passage.id]
        for (source, _), logit in zip(sentences, logits, strict=True)
    ]
    best_first = sorted(range(len(sentences)), key=lambda place: -weighed[place])
    runs = [*_runs([sentences[place] for place in best_first[:SEEDS]]), *_whole_blocks([each for each, _ in read])]
    quotes = [
        replace(
            quote,
            score=quote.score - REPEATED * quote.is_told(told) + _gain(quote.source, talked_of),
        )
        for quote in await _judged(question, runs, single, judge)
    ]
    return Found(quotes=tuple(sorted(quotes, key=lambda quote: -quote.score)), passages=tuple(ranked))


def far_from_best(found: Found) -> set[str]:
    """Return passages so far below the best one that another reading of the question needn't judge them."""
    best = max((logit for _, logit in found.passages), default=0.0)
    return {source.passage.id for source, logit in found.passages if logit < best - READ_WITHIN}


def of_one_document(answering: Sequence[Sequence[Quote]]) -> list[Quote | None]:
    """Return the best quote of each part; documents that better parts are answered from gain."""
    chosen: list[Quote | None] = [None] * len(answering)
    among: set[str] = set()
    by_score = sorted(range(len(answering)), key=lambda place: -max((q.score for q in answering[place]), default=0.0))
    for place in by_score:
        if answering[place]:
            best = max(answering[place], key=lambda q: q.score + SAME_DOCUMENT * (q.source.document.id in among))
            chosen[place] = best
            among.add(best.source.document.id)
    return chosen


def _of_named_documents(question: str, passages: Sequence[SourcedPassage]) -> Sequence[SourcedPassage]:
    named = find_named(question, {found.document.id: found.document for found in passages}.values())
    return passages if named is None else [found for found in passages if found.document.id in named.document_ids]


async def rank_passages(
    question: str, passages: Sequence[SourcedPassage], judge: AnswerJudge, talked_of: SourcedPassage | None = None
) -> list[tuple[SourcedPassage, float]]:
    """Return the first PASSAGES_JUDGED passages with their logits, best first by logit and place."""
    first = by_place(passages)[:PASSAGES_JUDGED]
    scores = await judge.relevance(question, [judged_text(found, found.passage.span) for found in first])
    judged = [(found, to_logit(score) + _gain(found, talked_of)) for found, score in zip(first, scores, strict=True)]
    return [pair for _, pair in sorted(enumerate(judged), key=lambda item: item[0] * PLACE_COST - item[1][1])]


def _gain(source: SourcedPassage, talked_of: SourcedPassage | None) -> float:
    if talked_of is None or source.document != talked_of.document:
        return 0.0
    return TALKED_OF + SAME_PAGE * (source.passage.page_id == talked_of.passage.page_id)


def by_place(passages: Sequence[SourcedPassage]) -> list[SourcedPassage]:
    """Return passages in one order, each once, from the tools' order (best pages first, best passages of a page
    first).

    A page's next passage comes between the first ones of the next two pages. Scores can't decide the order, because
    scores of a search within one document don't compare with an open search.
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


def judged_text(source: SourcedPassage, span: Span) -> str:
    """Put its place above it, because many sentences don't name their subject: the titles, the items that a
    list item is nested in, the lines above figures.
    """
    above = (readable(text_of(source, item)).rstrip(" :") for item in items_above(source, span))
    path = " > ".join(filter(None, (*names_by_number(source.document.path), place_of(source), *above)))
    head = figures_head(source, span)
    begin = f"{collapse(text_of(source, head))}: " if head is not None else ""
    return f"{path}: {begin}{text_of(source, span)}"


def quotable(source: SourcedPassage) -> list[int]:
    """Return the places of the sentences that aren't the passage's own heading, a rule or an image."""
    titles = {title.strip().lower() for title in (*source.passage.heading_path, source.document.title)}
    texts = [readable(without_targets(text_of(source, span))) for span in source.passage.sentences]
    said = [place for place, text in enumerate(texts) if text and text.lower() not in titles]
    return said or [place for place, text in enumerate(texts) if text]


def to_logit(score: float) -> float:
    bounded = min(max(score, MOST_CERTAIN), 1 - MOST_CERTAIN)
    return math.log(bounded / (1 - bounded))


async def _sentences(
    question: str, passages: Sequence[SourcedPassage], ranker: SentenceRanker
) -> list[tuple[SourcedPassage, int]]:
    """Return pairs of a passage and a sentence's place in it; a sentence that passages or pages share comes once."""
    seen: set[str | tuple[str, Span]] = set()
    found: list[tuple[SourcedPassage, int]] = []
    for source in passages:
        for place in quotable(source):
            span = source.passage.sentences[place]
            text = collapse(text_of(source, span))
            key = text if len(text) >= COPY_CHARACTERS else (source.passage.page_id, span)
            if key not in seen:
                seen.add(key)
                found.append((source, place))
    if len(found) <= SENTENCES_JUDGED:
        return found
    ranked = await ranker.rank(question, passages, limit=SENTENCES_JUDGED)
    wanted = {(scored.passage_id, scored.span) for scored in ranked}
    chosen = [item for item in found if (item[0].passage.id, item[0].passage.sentences[item[1]]) in wanted]
    return chosen or found[:SENTENCES_JUDGED]


Run = tuple[SourcedPassage, tuple[Span, ...], float]  # sentences of a passage, and the cost of a quote of them


def _runs(seeds: Sequence[tuple[SourcedPassage, int]]) -> Iterator[Run]:
    """Yield the runs around sentences, without titles; rows have no prose around them."""
    for source, place in seeds:
        own = quotable(source)
        for before, after in RUNS:
            run = tuple(source.passage.sentences[at] for at in range(place - before, place + after + 1) if at in own)
            is_alike = len({is_row(text_of(source, each)) for each in run}) == 1 and not _is_form(source, run)
            if len(run) == 1 or (is_alike and len(text_of(source, _span(run)).split()) <= RUN_WORDS):
                yield source, run, SENTENCE_COST * len(run)


def _whole_blocks(passages: Sequence[SourcedPassage]) -> Iterator[Run]:
    """Yield the short paragraphs and lists of passages, and the passages that are short."""
    for source in passages:
        blocks = _blocks(source)
        whole = [source.passage.sentences[place] for place in quotable(source)] if blocks else []
        for block in (*blocks, whole):
            if len(block) > 1 and block[-1].end - block[0].start <= BLOCK_CHARACTERS:
                yield source, tuple(block), BLOCK_COST


async def _judged(
    question: str, runs: Iterable[Run], single: Mapping[tuple[str, Span], float], judge: AnswerJudge
) -> list[Quote]:
    """Return a quote of each place, with the lowest of its costs; the logits of `single` sentences are known."""
    found: dict[tuple[str, Span], Run] = {}
    for source, sentences, cost in runs:
        if (key := (source.passage.page_id, _span(sentences))) not in found or cost < found[key][2]:
            found[key] = source, sentences, cost
    logits = {key: single[key] for key in found if key in single}
    unknown = [key for key in found if key not in logits]
    texts = [judged_text(found[key][0], key[1]) for key in unknown]
    logits |= dict(zip(unknown, map(to_logit, await judge.relevance(question, texts)), strict=True))
    return [
        Quote(source=source, sentences=sentences, logit=logits[key], score=logits[key] - cost)
        for key, (source, sentences, cost) in found.items()
    ]


def _span(sentences: Sequence[Span]) -> Span:
    return Span(sentences[0].start, sentences[-1].end)


def items_above(source: SourcedPassage, span: Span) -> list[Span]:
    """Return the items in which a list item is nested, and the line that announces its list, from the top.

    Of each, the first sentence, if the passage has it.
    """
    if not listed(source, span):
        return []
    lines = _lines_until(source, span)
    depth = _depth(lines.pop()[1])
    found: list[Span] = []
    for first, line in reversed(lines):
        own = _depth(line)
        if own < depth and is_item(line.lstrip()):
            found.insert(0, first)
            depth = own
        elif own <= depth and not is_item(line.lstrip()):
            if line.rstrip(_AROUND_COLON).endswith(":"):
                found.insert(0, first)
            break
    return found[-ITEMS_ABOVE:]


def _lines_until(source: SourcedPassage, span: Span) -> list[tuple[Span, str]]:
    """Return the lines up to a sentence, its own last, each with its first sentence."""
    lines: dict[int, tuple[Span, str]] = {}
    text, start = source.passage.text, source.passage.span.start
    for each in source.passage.sentences:
        if each.start > span.start:
            break
        begin = text.rfind("\n", 0, each.start - start) + 1
        end = text.find("\n", each.start - start)
        lines.setdefault(begin, (each, text[begin : end if end >= 0 else len(text)]))
    return list(lines.values())


def _depth(line: str) -> int:
    """Return the columns that a line is indented by."""
    bare = line.expandtabs(4)
    return len(bare) - len(bare.lstrip())


def in_block(quote: Quote, *, lists: bool) -> Quote:
    """Return a quote with the rest of its paragraph, or with `lists` of its list, if that is short."""
    source, own = quote.source, set(quote.sentences)
    if not lists and any(listed(source, each) for each in own):
        return quote
    blocks = [block for block in _blocks(source) if own & set(block)]
    sentences = tuple(each for block in blocks for each in block)
    if not own <= set(sentences) or sentences[-1].end - sentences[0].start > BLOCK_CHARACTERS:
        return quote
    return replace(quote, sentences=sentences)


def _blocks(source: SourcedPassage) -> list[list[Span]]:
    """Return the sentences of each paragraph and list of a passage; rows, figures and titles are left out."""
    blocks: list[list[Span]] = []
    end = -1
    for place in quotable(source):
        each = source.passage.sentences[place]
        text = text_of(source, each)
        if is_row(text) or is_figures(text.split("\n", 1)[0]):
            end = -1
            continue
        if end < 0 or _BLANK.search(text_of(source, Span(end, each.start))) is not None:
            blocks.append([])
        blocks[-1].append(each)
        end = each.end
    return [block for block in blocks if not _is_form(source, block)]


def _is_form(source: SourcedPassage, sentences: Sequence[Span]) -> bool:
    """Return whether all sentences are lines with a label and its value: each answers by itself."""
    return not any(text_before(source, each) or not is_field(readable(text_of(source, each))) for each in sentences)


def figures_head(source: SourcedPassage, span: Span) -> Span | None:
    """Return the lines above rows whose columns got lost: their title, and the names and years above the figures."""
    if not is_figures(text_of(source, span).split("\n", 1)[0]):
        return None
    above: list[Span] = []
    below = span.start
    for each in reversed(source.passage.sentences):
        if each.end > span.start:
            continue
        text = text_of(source, each)
        if "\n\n" in text_of(source, Span(each.end, below)) or text.endswith((".", "!", "?")):
            break
        above.insert(0, each)
        below = each.start
    rows = (place for place, each in enumerate(above) if _begins_row(text_of(source, each)))
    head = above[: next(rows, len(above))][-HEAD_LINES:]
    return Span(head[0].start, head[-1].end) if head else None


def _begins_row(text: str) -> bool:
    return text[:1].isalpha() and is_figures(text)


def listed(source: SourcedPassage, span: Span) -> bool:
    """Return whether a list mark precedes a sentence on its line."""
    before = text_before(source, span)
    return bool(before) and (before in {"-", "*", "+", "•"} or (before.rstrip(".)").isalnum() and len(before) <= 4))


def text_before(source: SourcedPassage, span: Span) -> str:
    """Return the text before a sentence on its line."""
    return text_of(source, Span(source.passage.span.start, span.start)).rpartition("\n")[2].strip(" \t>")


def shown_items(source: SourcedPassage, run: Sequence[Span], *, as_list: bool) -> list[str]:
    """Format a run for chat: rows and other whole lines on lines of their own, each list item as a text of its own."""
    shown: list[str] = []
    before = ""
    for span in run:
        raw = text_of(source, span)
        text = readable(raw)
        if not text:
            continue
        item = listed(source, span) or (as_list and not shown)
        begins = not text_before(source, span)
        is_line = item or is_row(raw) or (begins and (is_item(raw) or not before.endswith(SENTENCE_ENDS)))
        text = f"- {text}" if item else text
        if not shown or item or (begins and is_item(raw)):
            shown.append(text)
        else:
            shown[-1] += f"{NEW_LINE if is_line else ' '}{text}"
        before = raw.rstrip("*_\"'”’)")
    return shown
