"""Answers that are more than one place: the rows or items of a list, the leads of a summary. Pure."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from core.answering.providers.extractive.quotes import (
    SENTENCE_ENDS,
    Quote,
    items_above,
    listed,
    quotable,
    text_before,
    text_of,
)
from core.domain.corpus import SourcedPassage
from core.domain.passages import Span
from core.knowledge.facts.list_intent import without_columns
from core.text.markup import is_row, readable
from core.text.words import content_words, words

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
_PLURAL = re.compile(
    r"^(?:and )?(?:what|which) (?:(?:are|were) (?:(?:the|our|its|their) )?(?:[\w-]+ ){0,3}?(?P<these>[\w-]{3,}s)\b"
    r"|(?:[\w-]+ ){0,3}?(?P<noun>[\w-]{3,}s) (?:are|were|can|may|must|should|will|do|does|did|have)\b)",
    re.IGNORECASE,
)
_Listing = tuple[Sequence[Quote], Sequence[Quote], tuple[str, ...]]  # sentences, the items among them, titles
_SINGULAR = ("ss", "us", "is")
_ASKING = frozenset({"list", "name", "enumerate", "give"})
COMMON = 0.7  # share of a section's items: a word that more of them have doesn't distinguish them
INDENT = 4  # blanks before a definition
TERM_WORDS = 8  # maximum of a defined term
SHORT_SECTION = 8  # sentences: a summary quotes the beginning of a short section, else of each section
MOST_OF_SECTION = 4


def items_for(question: str, passages: Sequence[SourcedPassage], like: Quote) -> list[Quote]:
    """Return the rows or list items of the section that fits the question best, in text order; empty if none fits.

    A section fits by the words of the question in its titles and items, most by its own title, and if the best quote is
    in it; the better search result wins a tie. If only
    some items have a word of the question, those with most of its words are meant ("all inhaled poisons" of a table of
    poisons). If no section has items, sentences that are parallel to the best one are returned. `like` is the best
    quote, whose scores the items get.
    """
    asked = _stems(without_columns(question)) - _ASKING
    least = len(asked & (_stems(like.text) | _titles(like.source)))
    document = like.source.document.id
    best: list[Quote] = []
    most = 0
    sections = [(group, _items(group), group[0].source.passage.titles) for group in _sections(passages, like)]
    for group, listing, titles in (*sections, *_sections_below(passages, like)):
        items = _asked_items(listing, asked)
        shown = [*items, *filter(_is_header, listing)]
        held = asked & _titles(group[0].source).union(
            *(_stems(item.text if _is_item(item) else _label(item) or item.text) for item in shown)
        )
        own = asked & _stems(" ".join(titles[-1:]))
        is_same = group[0].source.document.id == document  # its opening may have words that no section repeats
        worth = len(held) + len(own) + is_same + _is_in(like, group[0].source)
        if len(items) > 1 and (is_same or len(held) >= least) and worth > most:
            best, most = items, worth
    found = best or _parallel(asked, passages, like) or _all_items(passages, like)
    defined = [_with_term(item) for item in found[:MOST_ITEMS]]
    return [item for item in defined if not any(item is not other and item.is_within(other) for other in defined)]


def _with_term(item: Quote) -> Quote:
    """Return a definition with its term, the line above it; readers of HTML indent definitions."""
    sentences = item.source.passage.sentences
    place = sentences.index(item.sentences[0]) if item.sentences[0] in sentences else 0
    if place == 0 or _indent(item.source, sentences[place]) < INDENT or _indent(item.source, sentences[place - 1]):
        return item
    term = text_of(item.source, sentences[place - 1])
    is_name = not is_row(term) and len(term.split()) <= TERM_WORDS and not term.rstrip().endswith(SENTENCE_ENDS)
    return replace(item, sentences=(sentences[place - 1], *item.sentences)) if is_name else item


def _indent(source: SourcedPassage, span: Span) -> int:
    """Return how many blanks begin a sentence's line; 0 if anything else is before it."""
    before = text_of(source, Span(source.passage.span.start, span.start)).rpartition("\n")[2]
    return len(before) if not before.strip(" ") else 0


def asks_several(question: str) -> bool:
    """Return whether a question asks for things in the plural: "which forms can it have", "what are the goals"."""
    found = _PLURAL.match(question.strip())
    return found is not None and not (found["these"] or found["noun"]).lower().endswith(_SINGULAR)


def items_around(question: str, passages: Sequence[SourcedPassage], best: Quote) -> list[Quote]:
    """Return the items of the best quote's own section, if it is one of them; else nothing."""
    own = [source for source in _of_page(best, passages) if _is_in(best, source)]
    items = items_for(question, own, best)
    return items if any(item.overlaps(best) for item in items) else []


def announcing(question: str, best: Quote) -> Quote:
    """Return the line that announces the list of a quoted item, where the question has no word of the item's own: it
    asks for the whole list. Else the quote.
    """
    above = items_above(best.source, best.span)
    line = replace(best, sentences=tuple(above[-1:])) if above else best
    asked = _stems(question)
    own = _stems(best.text) - _stems(line.text) - _titles(best.source)
    return line if line.introduces and asked & _stems(line.text) and not asked & own else best


def introduced(best: Quote, passages: Sequence[SourcedPassage]) -> list[Quote]:
    """Return a quote that announces a list, or ends with the first row of a table, with the items or rows behind it.

    Empty if none is right behind it.
    """
    if not best.introduces:
        return []
    below = [quote for quote in _section(best, passages) if quote.span.start >= best.span.end]
    items = [item for item in takewhile(_is_item, below) if not _is_header(item)]
    ends = [is_row(text_of(best.source, span)) for span in best.sentences[-2:]]
    if items and is_row(items[0].text) and ends == [False, True]:
        best = replace(best, sentences=best.sentences[:-1])  # the rows are shown below the names of their columns
    return [best, *items[: MOST_ITEMS - 1]] if items else []


def _is_in(quote: Quote, source: SourcedPassage) -> bool:
    """Return whether a quote is in the section of a passage."""
    own = quote.source.passage
    return own.page_id == source.passage.page_id and own.titles == source.passage.titles


def _items(section: Sequence[Quote]) -> list[Quote]:
    """Return rows and marked items; without any, labelled sentences; without these, short lines below each other."""
    if len(marked := [quote for quote in section if _is_item(quote)]) > 1:
        return marked
    labelled = [quote for quote in section if _label(quote) and not text_before(quote.source, quote.span)]
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


def _all_items(passages: Sequence[SourcedPassage], like: Quote) -> list[Quote]:
    """Return all items of the best quote's section, if there are several."""
    own = [group for group in _sections(passages, like) if _is_in(like, group[0].source)]
    items = [item for group in own for item in _items(group) if not _is_header(item)]
    return items if len(items) > 1 else []


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
    sections: dict[tuple[str, tuple[str, ...]], dict[Span, Quote]] = {}
    for source in passages:
        section = sections.setdefault((source.passage.page_id, source.passage.titles), {})
        for quote in _singles(source, like):
            section.setdefault(quote.span, quote)
    return [[section[span] for span in sorted(section)] for section in sections.values() if section]


def _sections_below(passages: Sequence[SourcedPassage], like: Quote) -> Iterator[_Listing]:
    """Yield the titles of the sections below a title, if there are several: they are a list, too."""
    below: dict[tuple[str, tuple[str, ...]], dict[Span, Quote]] = {}
    for source in passages:
        titles, sentences = source.passage.titles, source.passage.sentences
        if len(titles) > 1 and sentences and _words_of(text_of(source, sentences[0])) == _words_of(titles[-1]):
            title = Quote(source=source, sentences=sentences[:1], logit=like.logit, score=like.score)
            below.setdefault((source.passage.page_id, titles[:-1]), {}).setdefault(title.span, title)
    for (_, titles), found in below.items():
        listing = [found[span] for span in sorted(found)]
        if len(listing) >= PARALLEL:
            yield listing, listing, titles


def _words_of(title: str) -> list[str]:
    return words(readable(title))


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


def openings(passages: Sequence[SourcedPassage]) -> list[Quote]:
    """Return the first sentence of each section of one document, in text order; of a single section, its first ones."""
    unique = {source.passage.id: source for source in passages}
    first: dict[tuple[str, ...], list[Quote]] = {}
    for source in sorted(unique.values(), key=lambda item: item.passage.ordinal):
        section = first.setdefault((source.passage.page_id, *source.passage.titles), [])
        for place in quotable(source):
            quote = Quote(source=source, sentences=(source.passage.sentences[place],), logit=0.0, score=0.0)
            if not is_row(quote.text):
                section.append(quote)
    telling = (
        [quote for quote in section if len(content_words(quote.text)) > 2] or section for section in first.values()
    )
    sections = [section for section in telling if section]
    sections = [section for section in sections if not _is_preamble(section)] or sections
    if len(sections) == 1:
        return sections[0][:MOST_OF_SECTION]
    return [section[0] for section in sections[:MOST_LEADS]]


def _is_preamble(section: Sequence[Quote]) -> bool:
    """Return whether a section below the document's title holds only labels: "Place: the net loft"."""
    source = section[0].source
    return source.passage.titles[-1:] in ((), (source.document.title,)) and all(map(_label, section))


def _of_page(best: Quote, passages: Sequence[SourcedPassage]) -> list[SourcedPassage]:
    same = [found for found in passages if found.passage.page_id == best.source.passage.page_id]
    unique = {found.passage.id: found for found in [best.source, *same]}
    return sorted(unique.values(), key=lambda found: found.passage.ordinal)


def _section(best: Quote, passages: Sequence[SourcedPassage]) -> list[Quote]:
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
    found = None if is_row(quote.text) else _LABEL.match(quote.text)
    return found[0] if found else ""


def _is_line(quote: Quote) -> bool:
    """Return whether a short sentence is a whole line, directly below or above another line."""
    if (
        text_before(quote.source, quote.span)
        or len(quote.text.split()) > LINE_WORDS
        or quote.text.rstrip().endswith(":")
    ):
        return False
    start, text = quote.source.passage.span.start, quote.source.passage.text
    above, below = text[: quote.span.start - start], text[quote.span.end - start :]
    is_whole = not below or below.startswith("\n")
    return is_whole and (below[:2].strip("\n") != "" or above[-2:].strip("\n") != "")


def _stems(text: str) -> set[str]:
    stems = {word[:-1] if word.endswith("s") and len(word) > 3 else word for word in content_words(text)}
    return {_SAME.get(stem, stem) for stem in stems}


def _titles(source: SourcedPassage) -> set[str]:
    return _stems(" ".join((source.document.title, source.page_title, *source.passage.titles)))
