"""From a draft's claims of support to numbered, proved footnotes.

Two kinds of claims end in the same footnotes: citations a provider gives with its text, and `[n]` markers that name
a passage the model was shown. Neither is believed: a footnote is built only from `page.text[span]` as stored.
"""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.domain.answer import Citation, Draft, Evidence
from core.domain.chat import NumberedPassage
from core.domain.corpus import Page
from core.domain.footnotes import cite
from core.domain.passages import Span
from core.domain.replies import PassageCitation
from core.text.words import code_spans, collapse, content_words

# A marker: [3], [1, 2], [1][2]; not a markdown link's text `[3](...)`, not a wikilink `[[3]]`.
MARKER = re.compile(r"(?<![\[\\])\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\](?![(\]])")
# A quote for a marker: at most this many neighbouring sentences of the passage, so that a footnote stays readable.
QUOTE_SENTENCES = 2


@dataclass(frozen=True, slots=True)
class _Claim:
    """A place in the draft's text (after which the marker goes) and the span said to support it."""

    at: int
    page_id: str
    span: Span
    source: NumberedPassage


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvedText:
    """Text with markers 1..n in order of first use, its footnotes, and how many claims of support fell through."""

    text: str
    citations: tuple[Citation, ...]
    dropped: int
    segments: tuple[str, ...] = ()  # the segments of the draft with markers; together they are the text


def cited_page_ids(draft: Draft) -> list[str]:
    """Return ids of all pages that the draft may cite, to be reread within scope before `prove`."""
    named = [c.passage_id for segment in draft.segments for c in segment.citations]
    text = "".join(segment.text for segment in draft.segments)
    numbers = {n for match in MARKER.finditer(text) for n in _numbers(match)}
    marked = [item for item in draft.evidence.passages.values() if draft.is_numbered and item.number in numbers]
    found = [draft.evidence.passages[name] for name in named if name in draft.evidence.passages]
    return list(dict.fromkeys(item.source.passage.page_id for item in [*found, *marked]))


def prove(draft: Draft, pages: Mapping[str, Page]) -> ProvedText:
    """Prove the footnotes of a draft and number them.

    `pages` are the live pages by id, as stored now. A claim is dropped if its page was removed, its revision changed,
    or its quote is missing; its text stays, without a marker. Touching spans on one page share one number.
    """
    text, claims, dropped, ends = _collect(draft, pages)
    groups = _merge(claims, pages)
    numbers: dict[tuple[str, Span], int] = {}
    citations: list[Citation] = []
    markers: dict[int, str] = {}
    for at in sorted({claim.at for claim in claims}):
        used: list[int] = []
        for claim in claims:
            if claim.at != at:
                continue
            key = (claim.page_id, _group_of(claim, groups))
            if key not in numbers:
                numbers[key] = len(numbers) + 1
                source = claim.source.source
                citations.append(cite(numbers[key], source.document, pages[claim.page_id], key[1], source.passage.id))
            if numbers[key] not in used:
                used.append(numbers[key])
        markers[at] = "".join(f"[{number}]" for number in sorted(used))
    segments = tuple(_with_markers(text, markers, ends))
    return ProvedText(text="".join(segments), citations=tuple(citations), dropped=dropped, segments=segments)


def strip_markers(text: str) -> str:
    """Text without `[n]` markers: old numbers mean nothing in a new prompt."""
    return re.sub(r"(?<![ \t])[ \t]*" + MARKER.pattern, "", text)


def _with_markers(text: str, markers: Mapping[int, str], ends: Sequence[int]) -> Iterator[str]:
    """Split the text at the ends of spans; a marker at an end belongs to the part before it."""
    places = sorted(markers, reverse=True)
    last = 0
    for end in ends:
        piece = ""
        while places and places[-1] <= end:
            at = places.pop()
            piece += text[last:at] + markers[at]
            last = at
        yield piece + text[last:end]
        last = end


def _collect(draft: Draft, pages: Mapping[str, Page]) -> tuple[str, list[_Claim], int, list[int]]:
    """The text without any marker, the proved claims by place, how many claims were dropped, the segments' ends."""
    text, claims, dropped = "", [], 0
    ends: list[int] = []
    shown = {item.number for item in draft.evidence.passages.values()} if draft.is_numbered else set()
    for segment in draft.segments:
        clean, marks = _take_markers(segment.text, shown)
        offset = len(text)
        text += clean
        for at, number in marks:
            found = _claim_of_marker(number, offset + at, text, draft.evidence, pages)
            claims.extend(found)
            dropped += not found
        end = offset + len(clean.rstrip())
        for citation in segment.citations:
            claim = _claim_of_citation(citation, end, draft.evidence, pages)
            claims.extend([claim] if claim else [])
            dropped += claim is None
        ends.append(len(text))
    return text, claims, dropped, ends


def _take_markers(text: str, shown: Container[int]) -> tuple[str, list[tuple[int, int]]]:
    """Text without its markers, and (place, number) for each. Markers inside code are code.

    A number that the model was not shown is the text's own ("Smith et al. [4]"): it stays, escaped.
    """
    code = code_spans(text)
    clean, last = "", 0
    marks: list[tuple[int, int]] = []
    for match in MARKER.finditer(text):
        if any(span.start <= match.start() < span.end for span in code):
            continue
        numbers = _numbers(match)
        if not all(number in shown for number in numbers):
            clean += text[last : match.start()] + escape_brackets(match.group())
            last = match.end()
            continue
        clean += text[last : match.start()].rstrip(" \t")
        last = match.end()
        marks.extend((len(clean), number) for number in numbers)
    return clean + text[last:], marks


def escape_brackets(text: str) -> str:
    """Write brackets so that Markdown shows them and no renderer takes them for a footnote."""
    return text.replace("[", "\\[").replace("]", "\\]")


def _numbers(match: re.Match[str]) -> list[int]:
    return [int(part) for part in re.split(r"[,;]", match.group(1))]


def _claim_of_marker(number: int, at: int, text: str, evidence: Evidence, pages: Mapping[str, Page]) -> list[_Claim]:
    item = evidence.by_number(number)
    page = _live_page(item, pages)
    if item is None or page is None:
        return []
    span = _best_quote(_sentence_before(text, at), item, page)
    return [_Claim(at, page.id, span, item)] if span.start < span.end else []


def _claim_of_citation(
    citation: PassageCitation, at: int, evidence: Evidence, pages: Mapping[str, Page]
) -> _Claim | None:
    item = evidence.passages.get(citation.passage_id)
    page = _live_page(item, pages)
    if item is None or page is None:
        return None
    span = _verbatim(citation, item, page)
    return _Claim(at, page.id, span, item) if span else None


def _live_page(item: NumberedPassage | None, pages: Mapping[str, Page]) -> Page | None:
    """The stored page of a passage, if it is the very revision that was shown and still says the same."""
    if item is None:
        return None
    passage = item.source.passage
    page = pages.get(passage.page_id)
    if page is None or page.revision != passage.revision or passage.span.of(page.text) != passage.text:
        return None
    return page


def _verbatim(citation: PassageCitation, item: NumberedPassage, page: Page) -> Span | None:
    """Return the trimmed span if it is in the passage and has the cited text; else the place of that text."""
    inside = item.source.passage.span
    wanted = collapse(citation.cited_text)
    span = _trim(citation.span, page.text)
    if inside.contains(span) and span.start < span.end and wanted == collapse(span.of(page.text)):
        return span
    if not wanted:
        return None
    pattern = r"\s+".join(re.escape(word) for word in wanted.split(" "))
    match = re.compile(pattern).search(page.text, inside.start, inside.end)
    return Span(match.start(), match.end()) if match else None


def _best_quote(claim: str, item: NumberedPassage, page: Page) -> Span:
    """The run of up to QUOTE_SENTENCES sentences of the passage that shares most words with the claim.

    Without a shared word (the claim may be in another language), it is the first sentence that is no heading.
    """
    sentences: Sequence[Span] = item.source.passage.sentences or (item.source.passage.span,)
    words = content_words(claim)
    weights = [len(words & content_words(s.of(page.text))) / (1 + len(words)) for s in sentences]
    headings = {heading.start for heading in page.headings}
    starts = [page.text.rfind("\n", 0, span.start) + 1 for span in sentences]
    best = max(range(len(sentences)), key=lambda i: (weights[i], not any(weights) and starts[i] not in headings))
    first = last = best
    missing = words - content_words(sentences[best].of(page.text))
    while last - first + 1 < QUOTE_SENTENCES:
        after = last + 1 < len(sentences) and len(missing & content_words(sentences[last + 1].of(page.text)))
        before = first > 0 and len(missing & content_words(sentences[first - 1].of(page.text)))
        if not after and not before:
            break
        first, last = (first, last + 1) if after >= before else (first - 1, last)
    return _trim(Span(sentences[first].start, sentences[last].end), page.text)


def _sentence_before(text: str, at: int) -> str:
    head = text[:at].rstrip()
    start = max(head.rfind(mark, 0, max(len(head) - 1, 0)) for mark in (". ", "! ", "? ", "\n", "。"))
    return head[start + 1 :]


def _trim(span: Span, text: str) -> Span:
    quote = text[max(span.start, 0) : span.end]
    left = len(quote) - len(quote.lstrip())
    return Span(max(span.start, 0) + left, max(span.start, 0) + left + len(quote.strip()))


def _merge(claims: Sequence[_Claim], pages: Mapping[str, Page]) -> dict[str, list[Span]]:
    """Group the claimed spans by page, with those merged that overlap or touch (only white space between)."""
    merged: dict[str, list[Span]] = {}
    for claim in sorted(claims, key=lambda c: (c.page_id, c.span)):
        spans = merged.setdefault(claim.page_id, [])
        gap = pages[claim.page_id].text[spans[-1].end : claim.span.start] if spans else "x"
        if spans and (claim.span.start <= spans[-1].end or not gap.strip()):
            spans[-1] = Span(spans[-1].start, max(spans[-1].end, claim.span.end))
        else:
            spans.append(claim.span)
    return merged


def _group_of(claim: _Claim, groups: Mapping[str, Sequence[Span]]) -> Span:
    return next(span for span in groups[claim.page_id] if span.contains(claim.span))
