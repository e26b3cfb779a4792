from dataclasses import replace

from core.answering.providers.extractive.evidence import ANSWER_WITHIN, NOTHING_BELOW, answering
from core.answering.providers.extractive.quotes import Found, Quote
from core.domain.corpus import SourcedPassage
from tests.unit.core.answering.providers.extractive.small_library import passages_of

TARIFF = "# Rooms\n\n| room | price (EUR) | beds |\n|---|---|---|\n| Loft | 60 | 2 |\n| Net loft | 45 | 4 |\n"


def quote_of(source: SourcedPassage, words: str, logit: float) -> Quote:
    start = source.passage.span.start
    place = next(
        place
        for place, span in enumerate(source.passage.sentences)
        if words in source.passage.text[span.start - start : span.end - start]
    )
    return Quote(source=source, sentences=(source.passage.sentences[place],), logit=logit, score=logit)


def found(source: SourcedPassage, *quotes: Quote, logit: float = NOTHING_BELOW + 0.1) -> Found:
    """A passage with this logit, and quotes from it."""
    return Found(quotes=quotes, passages=((source, logit),))


def test_all_quotes_answer_where_the_judge_finds_one_that_does() -> None:
    source = passages_of("mill.md", "The mill opens at ten. Dogs may come in.")[0]
    quotes = (quote_of(source, "opens", NOTHING_BELOW + 0.1), quote_of(source, "Dogs", NOTHING_BELOW - 3))

    assert answering("When does the mill open?", found(source, *quotes)) == quotes


def test_nothing_answers_below_the_lowest_logit() -> None:
    source = passages_of("mill.md", "The mill opens at ten.")[0]
    quote = quote_of(source, "opens", NOTHING_BELOW + 3)

    assert answering("What is the fee?", found(source, quote, logit=NOTHING_BELOW - 0.1)) == ()
    assert answering("What is the fee?", Found()) == ()


def test_a_passage_above_the_lowest_logit_vouches_for_its_quotes() -> None:
    source = passages_of("mill.md", "The mill opens at ten.")[0]
    quotes = (quote_of(source, "opens", NOTHING_BELOW - 0.1),)

    assert answering("When does it open?", found(source, *quotes, logit=NOTHING_BELOW + 0.1)) == quotes


def test_a_row_does_not_answer_what_is_to_be_computed() -> None:
    source = passages_of("rooms.md", f"{TARIFF}\nAll rooms together have six beds.\n")[0]
    row = quote_of(source, "| 60", 4.0)
    prose = quote_of(source, "six beds", 4.0 - ANSWER_WITHIN)
    asked = "What is the average price of the rooms?"

    assert answering(asked, found(source, row, prose)) == (prose,)
    assert answering("What is the price of the Loft?", found(source, row, prose)) == (row, prose)
    assert answering(asked, found(source, row, replace(prose, score=1.9))) == ()
