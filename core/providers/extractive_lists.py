"""Answers that are more than one place: the rows or items a list asks for, the lead sentences of a summary. Pure."""

from collections import Counter
from collections.abc import Sequence

from core.domain.corpus import SourcedPassage, Span
from core.providers.extractive_quotes import Quote, quotable, text_of
from core.providers.extractive_text import is_row
from core.texts import content_words

# What a chat message can hold and people will read.
MOST_ITEMS = 14
MOST_LEADS = 6
# A section with at most this many sentences is quoted from its beginning on; a longer text by its sections.
SHORT_SECTION = 8
MOST_OF_SECTION = 4


def items_like(best: Quote, passages: Sequence[SourcedPassage], question: str) -> list[Quote]:
    """The rows or list items of the section that `best` stands in, in text order; empty where it has none.

    Where some but not all of them have a word of the question, only those that have most of these words are meant
    ("all inhaled poisons" of a table of poisons).
    """
    section = _section(best, passages)
    items = [quote for quote in section if _is_item(quote)]
    if len(items) < 2:
        return []
    asked = {_stem(word) for word in content_words(question)}
    held = [asked & {_stem(word) for word in content_words(quote.text)} for quote in items]
    spread = Counter(word for words in held for word in words)
    telling = {word for word, count in spread.items() if count <= len(items) * 0.7}
    most = max(len(words & telling) for words in held)
    chosen = [item for item, words in zip(items, held, strict=True) if len(words & telling) == most]
    return chosen[:MOST_ITEMS]


def leads(best: Quote, passages: Sequence[SourcedPassage]) -> list[Quote]:
    """The beginning of the section `best` stands in where that is short, else the first sentence of each section."""
    section = [quote for quote in _section(best, passages) if not is_row(quote.text)]
    if 0 < len(section) <= SHORT_SECTION:
        return section[:MOST_OF_SECTION]
    first: dict[tuple[str, ...], Quote] = {}
    for source in sorted(_of_page(best, passages), key=lambda found: found.passage.ordinal):
        for quote in _singles(source, best):
            if not is_row(quote.text) and len(content_words(quote.text)) > 2:
                first.setdefault(source.passage.heading_path, quote)
                break
    return list(first.values())[:MOST_LEADS] or [best]


def _of_page(best: Quote, passages: Sequence[SourcedPassage]) -> list[SourcedPassage]:
    same = [found for found in passages if found.passage.page_id == best.source.passage.page_id]
    unique = {found.passage.id: found for found in [best.source, *same]}
    return sorted(unique.values(), key=lambda found: found.passage.ordinal)


def _section(best: Quote, passages: Sequence[SourcedPassage]) -> list[Quote]:
    """Single sentences of the passages under the same headings as `best`, in text order, each once."""
    path = best.source.passage.heading_path
    found: dict[Span, Quote] = {}
    for source in _of_page(best, passages):
        if source.passage.heading_path == path:
            for quote in _singles(source, best):
                found.setdefault(quote.span, quote)
    return [found[span] for span in sorted(found)]


def _singles(source: SourcedPassage, like: Quote) -> list[Quote]:
    return [
        Quote(source=source, sentences=(source.passage.sentences[place],), logit=like.logit, score=like.score)
        for place in quotable(source)
    ]


def _is_item(quote: Quote) -> bool:
    return is_row(quote.text) or listed(quote.source, quote.span)


def listed(source: SourcedPassage, span: Span) -> bool:
    """Whether a list mark stands before a sentence on its line."""
    before = text_of(source, Span(source.passage.span.start, span.start)).rpartition("\n")[2].strip(" \t>")
    return bool(before) and (before in {"-", "*", "+", "•"} or (before.rstrip(".)").isalnum() and len(before) <= 4))


def _stem(word: str) -> str:
    return word[:-1] if word.endswith("s") and len(word) > 3 else word


def header_rows(quote: Quote) -> tuple[Span, ...]:
    """The first row of the table that a quote begins in, where the passage holds it and the quote does not."""
    if not is_row(text_of(quote.source, quote.sentences[0])):
        return ()
    rows = []
    for span in reversed(quote.source.passage.sentences):
        if span.start >= quote.sentences[0].start:
            continue
        if not is_row(text_of(quote.source, span)):
            break
        rows.append(span)
    return (rows[-1],) if rows else ()
