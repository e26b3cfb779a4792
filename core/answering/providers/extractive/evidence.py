"""Judgement of evidence: does it answer the question, or is it only near it? Pure; measured in docs/evaluation.md.

The judge of answers (ports.AnswerJudge) decides by its best score over passages, in `find_quotes`. Of a table's rows,
code reads whether they have the quantity that the question asks for.
"""

from collections.abc import Sequence

from core.answering.providers.extractive.quotes import SENTENCE_ENDS, Found, Quote, place_of, text_of
from core.answering.providers.extractive.rows import read_rows
from core.knowledge.facts.table_grids import Grid
from core.knowledge.facts.table_questions import may_answer
from core.knowledge.facts.table_words import TableQuestion, names, read_table_question
from core.text.markup import is_figures, is_row

CLOSEST_FROM = -6.0  # from this logit on a passage is named where none answers
# Logits by which a quote may be worse than the best one, which lacks the quantity that is asked for.
ANSWER_WITHIN = 2.0


def answering(question: str, found: Found) -> Sequence[Quote]:
    """Return the quotes from the first that answers and is nearly as good as the best one; empty if none does."""
    of_table = read_table_question(question)
    for place, quote in enumerate(found.quotes):
        if of_table is not None and not of_table.is_loose and not _row_may_answer(of_table, quote):
            continue
        return found.quotes[place:] if quote.score >= found.quotes[0].score - ANSWER_WITHIN else ()
    return ()


def _has_subject(question: TableQuestion, quote: Quote) -> bool:
    """Return whether a line of figures, or the titles above it, name the quantity that a question computes."""
    place = f"{place_of(quote.source)} {quote.text}"
    return not question.distinct or bool(question.distinct & names(place))


def _row_may_answer(question: TableQuestion, quote: Quote) -> bool:
    """Return whether a quote is no row of a table, or a row that may answer: a sum of rows is not in them."""
    source, found, is_bare = quote.source, read_rows(quote), is_figures(quote.text.split("\n", 1)[0])
    if found is None and not is_bare and not is_row(quote.text):
        return not question.is_computed or quote.text.rstrip().endswith(SENTENCE_ENDS) or _has_subject(question, quote)
    columns, rows = (found.columns, found.rows) if found is not None else (("",), ())
    titles = (source.document.title, source.document.path, source.page_title, *source.passage.titles)
    said = (
        source.passage.text
        if found is None
        else "\n".join(
            line
            for span in source.passage.sentences
            if "\t" not in (line := text_of(source, span)) and not is_row(line)
        )
    )
    # Figures whose columns got lost have to be accounted for by the words around them.
    return may_answer(
        question, Grid(title=" ".join((*titles, said)), columns=columns, rows=rows), in_full=is_bare and found is None
    )
