"""Headers of tables."""

from core.domain.corpus import ParsedDocument, ParsedPage, Passage
from storage.documents.chunking import chunk
from storage.documents.tables.headers import MAX_HEADER, find_headers

SHEET = """Fares

| Harbour | Fare \\| crowns |
| --- | --- |
| Linden | 4.50 |
| Voss | 7 |

Prices hold until May."""


def passages(text: str, title: str = "") -> tuple[Passage, ...]:
    page = ParsedPage(title=title, text=text)
    return chunk(ParsedDocument(title="fares", kind="spreadsheet", pages=(page,)), "local", "d").passages


def test_rows_stand_under_their_head_and_what_is_around_them_does_not() -> None:
    headers = find_headers(SHEET)
    assert headers.at(SHEET.index("| Linden")) == headers.at(SHEET.index("7 |")) == "| Harbour | Fare | crowns |"
    assert [headers.at(SHEET.index(words)) for words in ("Fares", "| Harbour", "Prices")] == [None, None, None]


def test_lines_with_tabs_have_heads_too() -> None:
    text = "Harbour\tFare\nLinden\t4.50\nVoss\t7.20"
    assert find_headers(text).at(text.index("Voss")) == "| Harbour | Fare |"


def test_code_has_no_head() -> None:
    text = "```\nHarbour\tFare\nLinden\t4.50\nVoss\t7.20\n```"
    assert find_headers(text).at(text.index("Voss")) is None


def test_a_wide_head_is_cut() -> None:
    text = (
        "| "
        + " | ".join(f"column {number}" for number in range(90))
        + " |\n|"
        + " --- |" * 90
        + "\n| "
        + " | ".join("abcdefghi")
        + " |"
    )
    header = find_headers(text).at(len(text) - 2)
    assert header is not None and header.startswith("| column 0 |") and len(header) <= MAX_HEADER


def test_passages_from_the_middle_of_a_table_have_its_head_beside_their_text() -> None:
    rows = "\n".join(f"| harbour number {number} | {number} crowns a crossing |" for number in range(60))
    text = f"All fares.\n\n| Harbour | Fare |\n| --- | --- |\n{rows}\n\n" + "And then a word about the weather. " * 60
    first, *others = passages(text, "Prices")
    assert first.heading_path == first.titles == ("Prices",)
    inside = [passage for passage in others if passage.text.startswith("| harbour")]
    assert len(inside) > 3
    assert {passage.heading_path for passage in inside} == {("Prices", "| Harbour | Fare |")}
    assert {passage.titles for passage in inside} == {("Prices",)}
    assert all(passage.text == passage.span.of(text) for passage in (first, *others))
    assert others[-1].heading_path == ("Prices",)
