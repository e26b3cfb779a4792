"""Answers that are more than one place: the rows or items a list asks for, the lead sentences of a summary. Pure."""

import re
from collections import Counter
from collections.abc import Sequence

from core.answering.providers.extractive.quotes import Quote, quotable, text_of
from core.domain.corpus import SourcedPassage, Span
from core.text.readable import is_row
from core.text.words import content_words

# What a chat message can hold and people will read.
MOST_ITEMS = 14
MOST_LEADS = 6
# "Summarise" and one word more: the request names a title and nothing beyond.
WORDS_BESIDE_TITLES = 2
# An item without a mark begins with what it is called: "**77.1** ...", "Ferries (3): ...".
_LABEL = re.compile(r"(\*\*|__)\S[^*_\n]{0,70}\1|[\w(][^.:;!?\n]{0,70}:\s")
# A line of its own is an item where it has at most so many words and others stand below or above it.
LINE_WORDS = 30
# Items without a mark that make a list.
UNMARKED = 3
# A list that no section holds: sentences that say the same of different things, from so many on.
PARALLEL = 3
# Words that people and minutes use for one thing.
_SAME = dict.fromkeys(
    "attend attended attendee attendance attending present participant participated participate".split(), "attend"
)
_ASKING = frozenset({"list", "name", "enumerate", "give"})
# A word that more of a section's items have than this share does not tell them apart.
COMMON = 0.7
# A section with at most this many sentences is quoted from its beginning on; a longer text by its sections.
SHORT_SECTION = 8
MOST_OF_SECTION = 4


def items_for(question: str, passages: Sequence[SourcedPassage], like: Quote) -> list[Quote]:
    """The rows or list items of the one section that fits the question best, in text order; empty where none does.

    A section fits by the words of the question that its titles and the items meant have; the better found wins a tie.
    Where some but not all items of a section have a word of the question, only those that have most of these words are
    meant ("all inhaled poisons" of a table of poisons). Where no section has items, the sentences that say of other
    things what the best one says. `like` lends its scores.
    """
    asked = _stems(question) - _ASKING
    best: list[Quote] = []
    most = len(asked & (_stems(like.text) | _titles(like.source))) - 1
    for group in _sections(passages, like):
        listing = _items(group)
        items = _meant(listing, asked)
        shown = [*items, *filter(_is_header, listing)]
        held = asked & _titles(group[0].source).union(
            *(_stems(item.text if _is_item(item) else _label(item) or item.text) for item in shown)
        )
        if len(items) > 1 and len(held) > most:
            best, most = items, len(held)
    return best[:MOST_ITEMS] or _parallel(asked, passages, like)[:MOST_ITEMS]


def _items(section: Sequence[Quote]) -> list[Quote]:
    """Rows and marked items; without any, what begins with a label; without these, short lines below each other."""
    if len(marked := [quote for quote in section if _is_item(quote)]) > 1:
        return marked
    labelled = [quote for quote in section if _label(quote) and not _before(quote.source, quote.span)]
    distinct = len({_label(quote) for quote in labelled}) == len(labelled)  # else people speak in turn
    if distinct and len(labelled) >= UNMARKED:
        return labelled
    lines = [quote for quote in section if _is_line(quote)]
    return lines if len(lines) >= UNMARKED else []


def _parallel(asked: set[str], passages: Sequence[SourcedPassage], like: Quote) -> list[Quote]:
    """The sentences of the same document that have the words of the question that the best one has; empty where those
    are fewer than two, or the sentences too few to be a list.
    """
    said = asked & _stems(like.text)
    if len(said) < 2:
        return []
    same = [source for source in passages if source.document.id == like.source.document.id]
    found = [quote for section in _sections(same, like) for quote in section if said <= _stems(quote.text)]
    place = {source.passage.id: source.passage.ordinal for source in same}
    ordered = sorted(found, key=lambda quote: (place[quote.source.passage.id], quote.span))
    return ordered if len(ordered) >= PARALLEL else []


def _meant(listing: Sequence[Quote], asked: set[str]) -> list[Quote]:
    """What a table's first row says is said of all the others: it stands before them and does not decide. Where all
    that is said of the items leaves one alone, what they are called decides.
    """
    items = [item for item in listing if not _is_header(item)]
    asked = asked.difference(*(_titles(item.source) for item in items[:1]))  # what titles say, all of them are
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


def _is_header(quote: Quote) -> bool:
    """Whether a row is the first of its table: where a passage begins in the middle of one, its first row is not."""
    sentences = quote.source.passage.sentences
    place = next((place for place, span in enumerate(sentences) if span == quote.span), 0)
    first = place > 0 and not is_row(text_of(quote.source, sentences[place - 1]))
    followed = place + 1 < len(sentences) and is_row(text_of(quote.source, sentences[place + 1]))
    return first and followed and is_row(quote.text)


def _label(quote: Quote) -> str:
    """What an item is called at its beginning; empty where that is not set off from what is said of it."""
    found = None if is_row(quote.text) else _LABEL.match(quote.text)
    return found[0] if found else ""


def _is_line(quote: Quote) -> bool:
    """Whether a short sentence is a whole line, directly below or above another line."""
    if _before(quote.source, quote.span) or len(quote.text.split()) > LINE_WORDS or quote.text.rstrip().endswith(":"):
        return False
    start, text = quote.source.passage.span.start, quote.source.passage.text
    above, below = text[: quote.span.start - start], text[quote.span.end - start :]
    alone = not below or below.startswith("\n")
    return alone and (below[:2].strip("\n") != "" or above[-2:].strip("\n") != "")


def listed(source: SourcedPassage, span: Span) -> bool:
    """Whether a list mark stands before a sentence on its line."""
    before = _before(source, span)
    return bool(before) and (before in {"-", "*", "+", "•"} or (before.rstrip(".)").isalnum() and len(before) <= 4))


def _before(source: SourcedPassage, span: Span) -> str:
    """What stands on the line before a sentence."""
    return text_of(source, Span(source.passage.span.start, span.start)).rpartition("\n")[2].strip(" \t>")


def _stems(text: str) -> set[str]:
    stems = {word[:-1] if word.endswith("s") and len(word) > 3 else word for word in content_words(text)}
    return {_SAME.get(stem, stem) for stem in stems}


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
