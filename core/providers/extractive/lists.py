"""Answers that are more than one place: the rows or items a list asks for, the lead sentences of a summary. Pure."""

from collections import Counter
from collections.abc import Sequence

from core.domain.corpus import SourcedPassage, Span
from core.providers.extractive.quotes import Quote, quotable, text_of
from core.providers.extractive.text import is_row
from core.texts import content_words

# What a chat message can hold and people will read.
MOST_ITEMS = 14
MOST_LEADS = 6
# "Summarise" and one word more: the request names a title and nothing beyond.
WORDS_BESIDE_TITLES = 2
# A word that more of a section's items have than this share does not tell them apart.
COMMON = 0.7
# A section with at most this many sentences is quoted from its beginning on; a longer text by its sections.
SHORT_SECTION = 8
MOST_OF_SECTION = 4


def items_for(question: str, passages: Sequence[SourcedPassage], like: Quote) -> list[Quote]:
    """The rows or list items of the one section that fits the question best, in text order; empty where none does.

    A section fits by the words of the question that its titles and the items meant have; the better found wins a tie.
    Where some but not all items of a section have a word of the question, only those that have most of these words are
    meant ("all inhaled poisons" of a table of poisons). `like` lends its scores.
    """
    asked = _stems(question)
    best: list[Quote] = []
    most = len(asked & (_stems(like.text) | _titles(like.source))) - 1
    for group in _sections(passages, like):
        items = _meant([quote for quote in group if _is_item(quote)], asked)
        held = asked & _titles(group[0].source).union(*(_stems(item.text) for item in items))
        if len(items) > 1 and len(held) > most:
            best, most = items, len(held)
    return best[:MOST_ITEMS]


def _meant(items: Sequence[Quote], asked: set[str]) -> list[Quote]:
    held = [asked & _stems(item.text) for item in items]
    spread = Counter(word for words in held for word in words)
    telling = {word for word, count in spread.items() if count <= len(items) * COMMON}
    most = max((len(words & telling) for words in held), default=0)
    return [item for item, words in zip(items, held, strict=True) if len(words & telling) == most]


def _sections(passages: Sequence[SourcedPassage], like: Quote) -> list[list[Quote]]:
    """Single sentences by page and heading path, each section in text order, sections as they were found."""
    sections: dict[tuple[str, tuple[str, ...]], dict[Span, Quote]] = {}
    for source in passages:
        section = sections.setdefault((source.passage.page_id, source.passage.titles), {})
        for quote in _singles(source, like):
            section.setdefault(quote.span, quote)
    return [[section[span] for span in sorted(section)] for section in sections.values() if section]


def leads(best: Quote, passages: Sequence[SourcedPassage], question: str) -> list[Quote]:
    """What a summary quotes.

    Where the request says no more than titles do, the beginning of the section `best` stands in, if that is short, else
    the first sentence of each section of its page. Where it asks for more, the sentences around `best` on its page.
    """
    if len(_stems(question) - _titles(best.source)) > WORDS_BESIDE_TITLES:
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
    """The passages of the page that `best` stands on, in text order, each once."""
    same = [found for found in passages if found.passage.page_id == best.source.passage.page_id]
    unique = {found.passage.id: found for found in [best.source, *same]}
    return sorted(unique.values(), key=lambda found: found.passage.ordinal)


def _section(best: Quote, passages: Sequence[SourcedPassage]) -> list[Quote]:
    """Single sentences of the passages under the same headings as `best`, in text order, each once."""
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


def listed(source: SourcedPassage, span: Span) -> bool:
    """Whether a list mark stands before a sentence on its line."""
    before = text_of(source, Span(source.passage.span.start, span.start)).rpartition("\n")[2].strip(" \t>")
    return bool(before) and (before in {"-", "*", "+", "•"} or (before.rstrip(".)").isalnum() and len(before) <= 4))


def _stems(text: str) -> set[str]:
    return {word[:-1] if word.endswith("s") and len(word) > 3 else word for word in content_words(text)}


def _titles(source: SourcedPassage) -> set[str]:
    return _stems(" ".join((source.document.title, source.page_title, *source.passage.titles)))


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
    else:
        if quote.source.passage.titles != quote.source.passage.heading_path:
            return ()  # the passage begins below the first row
    return (rows[-1],) if rows else ()
