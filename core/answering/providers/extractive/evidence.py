"""Judgement of evidence: does it answer the question, or is it only near it? Pure; measured in docs/evaluation.md.

The judge of answers (ports.AnswerJudge) decides by its best score over passages and quotes. Of a table's rows, code
reads whether they have the columns that the question asks for.
"""

from collections.abc import Sequence

from core.answering.providers.extractive.quotes import Found, Quote, figures_head, read_rows, text_of
from core.knowledge.facts.table_grids import Grid
from core.knowledge.facts.table_questions import may_answer
from core.knowledge.facts.table_words import TableQuestion, read_table_question
from core.text.markup import is_figures, is_row

# Logits of the judge. Below the first, two thirds of 34 near misses of documents that it wasn't fitted on are refused,
# and .075 of 146 questions that they answer.
NOTHING_BELOW = -4.0
CLOSEST_FROM = -6.0  # from this logit on a passage is named where none answers
# Logits by which a row that has the columns may be worse than the best quote, which lacks them.
ANSWER_WITHIN = 2.0
PROSE_WORDS = 8  # of a cell, at least


def answering(question: str, found: Found) -> Sequence[Quote]:
    """Return the quotes from the first that answers and is nearly as good as the best one; empty if none does."""
    if found.strength < NOTHING_BELOW:
        return ()
    of_table = read_table_question(question)
    for place, quote in enumerate(found.quotes):
        if of_table is not None and not of_table.is_loose and not _row_may_answer(of_table, quote):
            continue
        return found.quotes[place:] if quote.score >= found.quotes[0].score - ANSWER_WITHIN else ()
    return ()


def _is_of_table(quote: Quote) -> bool:
    return read_rows(quote) is not None or is_row(quote.text) or is_figures(quote.text.split("\n", 1)[0])


def _row_may_answer(question: TableQuestion, quote: Quote) -> bool:
    """Return whether a quote is no row of a table, or a row that may answer: a sum of rows is not in them."""
    source, found = quote.source, read_rows(quote)
    if not _is_of_table(quote):
        return not (question.is_computed and figures_head(source, quote.span) is not None)
    titles = " ".join((source.document.title, source.document.path, source.page_title, *source.passage.titles))
    if found is None:  # without columns, the words around it have to account for the question
        whole = Grid(title=f"{titles} {source.passage.text}", columns=("",), rows=())
        return may_answer(question, whole, unsaid=0.0)
    is_prose = any(len(cell.split()) >= PROSE_WORDS for row in found.rows for cell in row)  # tells it in other words
    said = (text_of(source, span) for span in source.passage.sentences if not is_row(text_of(source, span)))
    title = " ".join((titles, *(line for line in said if "\t" not in line)))
    return may_answer(
        question, Grid(title=title, columns=found.columns, rows=found.rows), unsaid=1.0 if is_prose else 0.5
    )
