import pytest

from core.domain.corpus import Heading, Page
from core.domain.extracts import ExtractorInput
from storage.documents.extractors.tables import MAX_ROWS, TableExtractor
from tests.builders import build_document

TABLE = "| Boat | Fare |\n| --- | --- |\n| Ebb | 4 |"


def build_given(text: str, *, kind: str = "markdown", headings: tuple[Heading, ...] = ()) -> ExtractorInput:
    page = Page(
        id="p1", document_id="d1", revision="r1", number=1, title="Ferry", text=text, headings=headings
    )  # fmt: skip
    return ExtractorInput(document=build_document("ferry", kind=kind, title="Ferry book"), pages=(page,))


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (f"Table 2: Fares\n\n{TABLE}", "Table 2: Fares"),
        (
            f"Table 1.—Crews\nTable 2.—Fares of all boats,\nTable 2.—by month\n\n{TABLE}",
            "Table 2.—Fares of all boats, by month",
        ),
        (f"{TABLE}\n\nTable 3. Fares of 2024", "Table 3. Fares of 2024"),
        (f"**Fares by boat:**\n\n{TABLE}", "Fares by boat"),
        (f"It sails at seven.\n\n{TABLE}", "Ferry"),
    ],
)
def test_a_table_is_called_by_its_caption_or_the_line_before(text: str, title: str) -> None:
    [found] = TableExtractor().extract(build_given(text))
    assert found.data["title"] == title
    assert found.span.of(text) == TABLE


def test_a_table_without_a_caption_is_called_by_the_heading_above() -> None:
    text = f"## Prices\n\nIt sails.\n\n{TABLE}\n\n## Crew"
    headings = (Heading(level=2, title="Prices", start=0), Heading(level=2, title="Crew", start=text.index("## Crew")))
    [found] = TableExtractor().extract(build_given(text, headings=headings))
    assert found.data["title"] == "Prices"


def test_a_csv_file_is_one_table_with_its_cells_and_places() -> None:
    text = '```\nDate,Price\n2024-01-31,"1,204.5"\n2024-02-29,13\n```'
    [found] = TableExtractor().extract(build_given(text, kind="csv"))
    assert found.data["title"] == "Ferry book"
    assert found.data["columns"] == ("Date", "Price")
    assert found.data["rows"] == (("2024-01-31", "1,204.5"), ("2024-02-29", "13"))
    spans = found.data["row_spans"]
    assert isinstance(spans, tuple)
    assert [text[start:end] for start, end in spans] == ['2024-01-31,"1,204.5"', "2024-02-29,13"]


def test_a_list_of_lines_is_no_table() -> None:
    assert list(TableExtractor().extract(build_given("```\nrope\nsail\nmast\n```", kind="csv"))) == []


def test_a_long_table_goes_on_in_a_second_extract() -> None:
    lines = "\n".join(f"{number},x{number}" for number in range(MAX_ROWS + 3))
    found = list(TableExtractor().extract(build_given(f"```\nid,name\n{lines}\n```", kind="csv")))
    assert [item.data["continued"] for item in found] == [False, True]
    assert found[1].data["rows"] == tuple((str(number), f"x{number}") for number in range(MAX_ROWS, MAX_ROWS + 3))
    assert found[0].span.end < found[1].span.start


def test_pdfs_are_left_to_their_own_extractor() -> None:
    assert not TableExtractor().reads(build_document("ferry.pdf", kind="pdf"))


@pytest.mark.parametrize("kind", ["html", "mail", "epub", "notebook", "foundry"])
def test_lines_with_tabs_are_a_table_where_the_reader_was_given_html(kind: str) -> None:
    text = "It sails.\n\nFares\nBoat\tFare\nEbb\t4\nFlood\t5\n\nAs of May."
    [found] = TableExtractor().extract(build_given(text, kind=kind))
    assert found.data["title"] == "Fares"
    assert found.data["columns"] == ("Boat", "Fare")
    assert found.data["rows"] == (("Ebb", "4"), ("Flood", "5"))
    assert found.span.of(text) == "Boat\tFare\nEbb\t4\nFlood\t5"
    assert list(TableExtractor().extract(build_given(text, kind="text"))) == []


def test_both_kinds_of_tables_of_one_page_are_found_once_and_in_text_order() -> None:
    tabs = "Boat\tFare\nEbb\t4"
    mixed = "| a\tb | c |\n| ---\t | --- |\n| 1\t2 | 3 |\n| 4\t5 | 6 |"
    text = f"{tabs}\n\n{TABLE}\n\n{tabs}\n\n{mixed}"
    found = list(TableExtractor().extract(build_given(text, kind="mail")))
    assert [item.span.of(text) for item in found] == [tabs, TABLE, tabs, mixed]


def test_a_sentence_right_above_a_table_is_not_its_title() -> None:
    [found] = TableExtractor().extract(build_given("It sails at seven.\nBoat\tFare\nEbb\t4", kind="mail"))
    assert found.data["title"] == "Ferry"


BLANKS = "Boat      Fare  Sails\nEbb       4.00  seven\nFlood    12.50  nine"
DRAWN = "+------+------+\n| Boat | Fare |\n+------+------+\n| Ebb  |    4 |\n+------+------+"


@pytest.mark.parametrize("kind", ["text", "markdown", "mail"])
def test_tables_of_blanks_and_drawn_ones_are_found_in_what_people_write(kind: str) -> None:
    text = f"Boats:\n\n{BLANKS}\n\nFares:\n\n{DRAWN}\n\nFurther fares:\n\n{TABLE}"
    found = list(TableExtractor().extract(build_given(text, kind=kind)))
    assert [(each.data["title"], each.span.of(text)) for each in found] == [
        ("Boats", BLANKS), ("Fares", DRAWN), ("Further fares", TABLE)
    ]  # fmt: skip
    assert found[0].data["rows"] == (("Ebb", "4.00", "seven"), ("Flood", "12.50", "nine"))
    assert found[0].confidence < found[2].confidence
    assert [each.span.of(text) for each in TableExtractor().extract(build_given(text, kind="epub"))] == [TABLE]
