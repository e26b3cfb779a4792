"""Passages as Anthropic `search_result` blocks, and the citations that come back. All pure.

The smallest thing that can be cited is one text block, so a passage is sent as one block a sentence. A citation names
its passage by `source` and a range of blocks; its index over the request shifts when history is trimmed, so it is
never looked at.
"""

import logging
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from core.domain.answer import ChatMessage, NumberedPassage, PassageCitation
from core.domain.corpus import Passage, SourcedPassage, Span

if TYPE_CHECKING:
    from anthropic.types import CitationsSearchResultLocation, SearchResultBlockParam, TextCitation

logger = logging.getLogger(__name__)

SOURCE_PREFIX = "footnote://passage/"


def passages_shown(messages: Iterable[ChatMessage]) -> dict[str, Passage]:
    """All passages a request holds, by their `source` text."""
    return {
        source_of(item.source.passage): item.source.passage
        for message in messages
        for result in message.tool_results
        for item in result.passages
    }


def source_of(passage: Passage) -> str:
    return f"{SOURCE_PREFIX}{passage.id}"


def block_spans(passage: Passage) -> tuple[Span, ...]:
    """Page spans of the text blocks of a passage, in order, touching, none blank; empty for a blank passage.

    Each runs from the start of a sentence to the start of the next, white space between included: blocks joined
    without separator are the page's text. Text before the first sentence is a block of its own. The last is trimmed.
    """
    starts = [sentence.start for sentence in passage.sentences]
    bounds = sorted({passage.span.start, *starts, passage.span.end})
    spans: list[Span] = []
    for start, end in pairwise(bounds):
        if _text(passage, Span(start, end)).strip():
            spans.append(Span(start, end))
        elif spans:
            spans[-1] = Span(spans[-1].start, end)
    return (*spans[:-1], _trimmed(passage, spans[-1])) if spans else ()


def to_search_result(item: NumberedPassage) -> "SearchResultBlockParam | None":
    """The block a passage is shown as; None for a blank passage, which the API would refuse."""
    passage = item.source.passage
    spans = block_spans(passage)
    if not spans:
        return None
    return {
        "type": "search_result",
        "source": source_of(passage),
        "title": title_of(item.source),
        "content": [{"type": "text", "text": _text(passage, span)} for span in spans],
        "citations": {"enabled": True},
    }


def to_numbered_text(item: NumberedPassage) -> str:
    """The passage under the number that it may be cited by, for requests that can't have citations."""
    return f"[{item.number}] {title_of(item.source)}\n{item.source.passage.text}"


def title_of(source: SourcedPassage) -> str:
    """`Document > heading > subheading, p. 3`."""
    path = [source.document.title or source.document.path, *source.passage.heading_path]
    return f"{' > '.join(path)}, p. {source.passage.page_number}"


def to_citation(citation: "TextCitation", shown: Mapping[str, Passage]) -> PassageCitation | None:
    """A vendor's citation as a claim about a passage; None, with a warning in the log, when it points nowhere."""
    if citation.type != "search_result_location":
        logger.warning("left out a citation of kind %r: only search results are sent", citation.type)
        return None
    passage = shown.get(citation.source)
    spans = block_spans(passage) if passage else ()
    first, end = citation.start_block_index, citation.end_block_index
    if passage is None or not 0 <= first < end <= len(spans):
        logger.warning("left out a citation of %r, blocks %s to %s: not in the request", citation.source, first, end)
        return None
    span = _trimmed(passage, Span(spans[first].start, spans[end - 1].end))
    return PassageCitation(passage_id=passage.id, span=span, cited_text=_cited_text(citation, passage, span))


def _cited_text(citation: "CitationsSearchResultLocation", passage: Passage, span: Span) -> str:
    """The cited words as given; where only white space differs, as they stand in the page.

    Blocks may come back joined with their outer white space lost ("One.Two."), which no later comparison that merely
    collapses white space would take for the page's "One. Two.".
    """
    own = _text(passage, span)
    return own if "".join(own.split()) == "".join(citation.cited_text.split()) else citation.cited_text


def _text(passage: Passage, span: Span) -> str:
    return passage.text[span.start - passage.span.start : span.end - passage.span.start]


def _trimmed(passage: Passage, span: Span) -> Span:
    return Span(span.start, span.start + len(_text(passage, span).rstrip()))
