import pytest

from core.domain.corpus import Heading
from storage.documents.texts.sentences import MAX_UNIT_TOKENS, UnitKind, estimate_tokens, split_units


def quoted(text: str, headings: tuple[Heading, ...] = ()) -> list[str]:
    return [unit.sentence.of(text) for unit in split_units(text, headings) if unit.sentence]


def test_prose_is_split_at_sentence_ends_and_not_at_abbreviations() -> None:
    text = 'Dr. Smith paid $3.50. See p. 5 (e.g. the U.S. case). Why? "No!" she said.'

    assert quoted(text) == ["Dr. Smith paid $3.50.", "See p. 5 (e.g. the U.S. case).", "Why?", '"No!" she said.']


def test_a_sentence_goes_on_over_a_line_break_but_not_over_a_blank_line() -> None:
    assert quoted("One sentence\nover two lines.\n\nA title without a full stop\n\nNext.") == [
        "One sentence\nover two lines.",
        "A title without a full stop",
        "Next.",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- Ann does it. By Monday.\n- Bo\n  helps\n* [x] done", ["Ann does it. By Monday.", "Bo\n  helps", "done"]),
        ("1. First\n2) Second", ["1. First", "2) Second"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ["| a | b |", "| 1 | 2 |"]),
        ("a | b\n--- | ---\n1 | 2", ["a | b", "1 | 2"]),
        ("name\tvalue\nx\t1", ["name\tvalue", "x\t1"]),
        ("Before.\n```py\nx = 1. \ny = 2\n\nz\n```\nAfter.", ["Before.", "```py", "x = 1.", "y = 2", "z", "After."]),
        ("> A quote. Its end.", ["A quote.", "Its end."]),
        ("Title\n=====\nText.", ["Title", "Text."]),
        ("これは文です。二つ目の文です。", ["これは文です。", "二つ目の文です。"]),
    ],
)  # fmt: skip
def test_list_items_rows_and_code_lines_are_units_of_their_own(text: str, expected: list[str]) -> None:
    heading = (Heading(level=1, title="Title", start=0),) if text.startswith("Title") else ()

    assert quoted(text, heading) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (  # a list without marks
            "Harbour Office\nNet store\nSail loft and repair shed",
            ["Harbour Office", "Net store", "Sail loft and repair shed"],
        ),
        (  # form fields
            "Name: Ann Hill\nRoom: 12, second floor\nleft on: 3 May",
            ["Name: Ann Hill", "Room: 12, second floor", "left on: 3 May"],
        ),
        (  # labels above their values
            "Owner:\nAnn Hill\nDue date:\nFriday",
            ["Owner:\nAnn Hill", "Due date:\nFriday"],
        ),
        (  # a label above a list
            "Present:\nAnn Hill\nBo Lund\nCy Marsh",
            ["Present:", "Ann Hill", "Bo Lund", "Cy Marsh"],
        ),
        (  # wrapped prose with names at the beginnings of lines
            "The ferry was bought in spring by the town of\nLinden, which paid for the hull and the engine of\n"
            "Voss, and for the nets that were left in it",
            [
                "The ferry was bought in spring by the town of\nLinden, which paid for the hull and the engine of\n"
                "Voss, and for the nets that were left in it"
            ],
        ),
        (  # a licence in capitals
            "THE BOAT IS SOLD AS IT IS, WITHOUT WARRANTY OF A\nKIND, AND ITS SELLER IS NOT LIABLE FOR ANY DAMAGE\n"
            "THAT FOLLOWS FROM ITS USE",
            [
                "THE BOAT IS SOLD AS IT IS, WITHOUT WARRANTY OF A\nKIND, AND ITS SELLER IS NOT LIABLE FOR ANY DAMAGE\n"
                "THAT FOLLOWS FROM ITS USE"
            ],
        ),
        (  # a table whose columns got lost
            "Linden 119,029 116,702 117,356\nVoss 9,001 — —\nNorthern pier 62,784 63,229 63,003",
            ["Linden 119,029 116,702 117,356", "Voss 9,001 — —", "Northern pier 62,784 63,229 63,003"],
        ),
        (  # verse
            "Over the water, over the lea,\nThe boats went out to the open sea",
            ["Over the water, over the lea,\nThe boats went out to the open sea"],
        ),
    ],
)
def test_lines_that_end_early_are_units_and_wrapped_lines_are_not(text: str, expected: list[str]) -> None:
    assert quoted(text) == expected


def test_a_short_line_above_wrapped_prose_is_a_unit_of_its_own() -> None:
    prose = "The council met in the net loft to talk about the fares of the\nferry and the nets that were left there."

    assert quoted(f"Council minutes\n{prose}") == ["Council minutes", prose]


def test_a_long_list_item_is_split_into_its_sentences() -> None:
    item = "- " + "This is a sentence of a long item. " * 10

    assert quoted(item) == ["This is a sentence of a long item."] * 10


def test_a_heading_is_known_by_its_place_not_by_its_look() -> None:
    text = "Chapter One\nIt was late. # not a heading"

    units = split_units(text, (Heading(level=1, title="Chapter One", start=0),))

    assert [unit.kind for unit in units][:2] == [UnitKind.HEADING, UnitKind.PROSE]
    assert quoted(text, (Heading(level=1, title="Chapter One", start=0),))[0] == "Chapter One"


def test_what_holds_no_word_is_covered_but_not_quotable() -> None:
    units = split_units("***\n\nText.\n\n— — —")

    assert [unit.sentence is None for unit in units] == [True, False, True]


@pytest.mark.parametrize("piece", ["word ", "x", "文", "a.b,", "🙂"])
def test_a_huge_line_is_cut_into_bounded_pieces_that_lose_nothing(piece: str) -> None:
    text = piece * 20_000

    units = split_units(text)

    assert max(unit.tokens for unit in units) <= MAX_UNIT_TOKENS
    assert "".join(unit.span.of(text) for unit in units).replace(" ", "") == text.replace(" ", "")


def test_a_long_line_is_cut_between_words() -> None:
    text = "alpha beta gamma " * 500

    assert {word for unit in split_units(text) for word in unit.span.of(text).split()} == {"alpha", "beta", "gamma"}


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a plain sentence here.", 6), ("internationalisation", 3), ("12.5%", 4), ("文書", 3)],
)
def test_tokens_are_estimated_from_word_pieces_symbols_and_wide_characters(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens
