from typing import Any, cast

import pytest

from core.domain.corpus import Page
from core.domain.extracts import ExtractorInput, Found
from storage.documents.extractors.financial import FinancialExtractor
from tests.builders import build_document

STATEMENT = (
    "# Ferry plc (NYSE: FRRY)\n\nAnnual report for the year ended 31 December 2024.\n\n(in millions of dollars)\n\n"
    "| Line | 2023 | 2024 |\n| --- | --- | --- |\n| Costs | (1,120.5) | (1,305) |\n| Margin | 6.6% | 6.8% |\n"
    "| EPS | 0.80 | 0.95 |\n"
)


def find(text: str, kind: str = "markdown") -> list[Found]:
    page = Page(id="p1", document_id="d1", revision="r1", number=1, title="", text=text)
    given = ExtractorInput(document=build_document("ferry", kind=kind, title="Ferry"), pages=(page,))
    return list(FinancialExtractor().extract(given))


def rows_of(found: Found) -> list[dict[str, Any]]:
    return list(cast("tuple[dict[str, Any], ...]", found.data["rows"]))


def values_of(found: Found) -> list[tuple[str, str | None, float, str | None]]:
    return [(row["metric"], row["period"], round(row["value"], 2), row["unit"]) for row in rows_of(found)]


def test_a_statement_gives_a_figure_for_each_line_and_period() -> None:
    [found] = find(STATEMENT)
    assert values_of(found) == [
        ("Costs", "2023", -1_120_500_000.0, "USD"),
        ("Costs", "2024", -1_305_000_000.0, "USD"),
        ("Margin", "2023", 6.6, "%"),
        ("Margin", "2024", 6.8, "%"),
        ("EPS", "2023", 0.8, None),
        ("EPS", "2024", 0.95, None),
    ]
    assert rows_of(found)[0]["text"] == "(1,120.5)"


@pytest.mark.parametrize(
    ("line", "figures"),
    [
        (
            "Revenue Q3 2025: $12.4 million (Q3 2024: $10.1 million; Q3 2023: $9 million)",
            [("Q3 2025", 12_400_000.0), ("Q3 2024", 10_100_000.0), ("Q3 2023", 9_000_000.0)],
        ),
        ("Gross margin: 41.2 % (2024: 39.8 %)", [(None, 41.2), ("2024", 39.8)]),
        ("Net profit: 3.1m (2.4m in 2024)", []),
        ("Q1 revenue: 3.1m", [("Q1", 3_100_000.0)]),
        ("Costs: 41 (all of them: 39)", []),
        ("Costs: (41)", [(None, -41.0)]),
    ],
)
def test_a_line_gives_a_figure_for_each_period(line: str, figures: list[tuple[str | None, float]]) -> None:
    found = find(f"# Results\n\n{line}\n")
    assert [(period, value) for one in found for _, period, value, _ in values_of(one)] == figures


def test_a_figure_is_at_the_place_of_its_row() -> None:
    [found] = find(STATEMENT)
    start, end = rows_of(found)[0]["span"]
    assert STATEMENT[start:end] == "| Costs | (1,120.5) | (1,305) |"


def test_the_report_says_its_share_date_and_kind() -> None:
    [found] = find(STATEMENT)
    assert found.data["ticker"] == "FRRY"
    assert found.data["report_date"] == "2024-12-31"
    assert found.data["report_type"] == "Annual report"


def test_a_named_ratio_is_set_where_the_document_gives_it_once() -> None:
    [found] = find("Revenue: $1.2 million\n\nP/E ratio: 14.2\n\nNet income: (3,000)\n\nEPS: 1\nEPS: 2\n")
    assert found.data["revenue"] == 1_200_000.0
    assert found.data["pe_ratio"] == 14.2
    assert found.data["net_income"] == -3000.0
    assert found.data["eps"] is None


def test_a_table_by_date_has_the_dates_as_periods() -> None:
    [found] = find("```\nDate,Price\n2024-01-31,12.5\n2024-02-29,13\n```", "csv")
    assert values_of(found) == [("Price", "2024-01-31", 12.5, None), ("Price", "2024-02-29", 13.0, None)]


def test_a_table_of_shares_has_the_column_in_the_metric_and_no_words_as_figures() -> None:
    [found] = find("```\nSymbol,Name,Price,Market Cap\nFRY,3M,10.5,900\nKNT,Knot,4,70\n```", "csv")
    assert [row["metric"] for row in rows_of(found)] == [
        "FRY, Price", "FRY, Market Cap", "KNT, Price", "KNT, Market Cap",
    ]  # fmt: skip


def test_figures_of_no_money_are_left_alone() -> None:
    assert find("| Age | Number | Margin of error |\n| --- | --- | --- |\n| Young | 12 | 3 |\n| Old | 14 | 4 |") == []
    assert find("| Boat | Length | Crew |\n| --- | --- | --- |\n| Ebb | 12 | 3 |\n| Flood | 14 | 4 |") == []
    assert find("Meeting: 12\n\nThe price of 12 boats rose in 2024.") == []


def test_a_list_of_goods_is_no_table_of_accounts_unless_its_prices_have_dates_or_a_currency() -> None:
    assert find('```\nname,qty,price\n"Nails, 40mm",12\nScrews,7,3.50\nRope,1,2\n```', "csv") == []
    [dated] = find("```\nsymbol,date,price\nFRY,2024-01-31,12.5\nFRY,2024-02-29,13\n```", "csv")
    assert [row["value"] for row in rows_of(dated)] == [12.5, 13.0]
    [priced] = find("```\nname,qty,price\nNails,12,$4\nScrews,7,$3.50\n```", "csv")
    assert [(row["metric"], row["value"]) for row in rows_of(priced)] == [("Nails, price", 4.0), ("Screws, price", 3.5)]


def test_a_statement_on_a_web_page_is_read_from_its_lines_with_tabs() -> None:
    text = "(in millions of dollars)\n\nLine\t2023\t2024\nRevenue\t1,200\t1,400\nCosts\t(800)\t(900)"
    [found] = find(text, "html")
    assert values_of(found)[:2] == [
        ("Revenue", "2023", 1_200_000_000.0, "USD"),
        ("Revenue", "2024", 1_400_000_000.0, "USD"),
    ]
    assert text[slice(*rows_of(found)[3]["span"])] == "Costs\t(800)\t(900)"
