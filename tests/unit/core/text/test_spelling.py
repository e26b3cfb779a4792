"""Misspelt words of a question, read as words of the library."""

import pytest

from core.text.spelling import Correction, LibraryWords, correct

DOCUMENTS = """the orchard warden prunes every apple tree in february a ladder and a basket hang in the cider barn
    harvest festival begins on saturday brass kettle receipts refunded visitors carry their own cups Hallowmere"""
COMMON = frozenset(
    "prune price where orchids wardrobe visitor fence painter employees kettles plant fair summarize".split()
)
LIBRARY = LibraryWords(counts={word.casefold(): 1 for word in DOCUMENTS.split()}, common=COMMON)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("wen does the harvst festivl begin", "when does the harvest festival begin"),
        ("wher is the bras ketle", "where is the brass kettle"),
        ("who is teh orchrad wardn", "who is the orchard warden"),
        ("may vistors cary cups?", "may visitors carry cups?"),  # "cary" is no word of any document, but a slip of one
        ("are reciepts refnded", "are receipts refunded"),
        ("Wich tree dose the warden prune?", "Which tree does the warden prune?"),
        ("When did Halowmere begin?", "When did Hallowmere begin?"),
        ("do ppl hang a basket w/o u", "do people hang a basket without you"),
        ("does R prune an apple tree in 2 hrs", "does R prune an apple tree in 2 hours"),
    ],
)
def test_misspelt_words_are_read_as_those_of_the_library(typed: str, read: str) -> None:
    assert correct(typed, LIBRARY)[0] == read


@pytest.mark.parametrize(
    "typed",
    [
        "When does the harvest festival begin?",
        "How many employees are there?",  # spelt right, though no document has it
        "Is there wifi in the barn?",  # short, and near to nothing that is certain
        "When did Martin begin?",  # another name
        "Is there a rattle?",  # "kettle" and "cattle" begin otherwise
        "What does GET /v2/aple return?",  # code and paths are not prose
        "see https://exmaple.org/orchrad",
        "visitors' kettles, pruned",  # other forms
        "which price is the fairest",  # "fair" is common
        "summarise the harvest",
        "orchrad wardn kettel mille grazie parlo poco",  # no language that is known here
    ],
)
def test_other_words_stay_as_they_are(typed: str) -> None:
    assert correct(typed, LIBRARY) == (typed, [])


def test_each_correction_is_told() -> None:
    _, made = correct("wher is the ketle", LIBRARY)
    assert made == [Correction(typed="wher", read="where"), Correction(typed="ketle", read="kettle")]
