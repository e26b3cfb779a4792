from dataclasses import replace

from core.answering.providers.extractive.evidence import ANSWER_WITHIN, answering
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


def found(source: SourcedPassage, *quotes: Quote) -> Found:
    return Found(quotes=quotes, passages=((source, 1.0),))


def test_all_quotes_answer_where_the_judge_finds_one_that_does() -> None:
    source = passages_of("mill.md", "The mill opens at ten. Dogs may come in.")[0]
    quotes = (quote_of(source, "opens", 1.0), quote_of(source, "Dogs", -6.0))

    assert answering("When does the mill open?", found(source, *quotes)) == quotes
    assert answering("What is the fee?", Found()) == ()


def test_a_row_does_not_answer_what_is_to_be_computed() -> None:
    source = passages_of("rooms.md", f"{TARIFF}\nAll rooms together have six beds.\n")[0]
    row = quote_of(source, "| 60", 4.0)
    prose = quote_of(source, "six beds", 4.0 - ANSWER_WITHIN)
    asked = "What is the average price of the rooms?"

    assert answering(asked, found(source, row, prose)) == (prose,)
    assert answering("What is the price of the Loft?", found(source, row, prose)) == (row, prose)
    assert answering(asked, found(source, row, replace(prose, score=1.9))) == ()


def test_a_line_of_figures_answers_a_sum_only_if_it_names_what_is_added() -> None:
    source = passages_of("books.md", "# Balance sheet\n\nStock of flour 120 90\n\nTotal debts 310 455\n")[0]
    total = quote_of(source, "Total debts", 4.0)

    assert answering("What is the total of all invoices?", found(source, total)) == ()
    assert answering("What is the total of all debts?", found(source, total)) == (total,)
