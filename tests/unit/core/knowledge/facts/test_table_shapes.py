"""Tables of printed accounts: lost names of columns, signs apart from figures, and statements."""

import pytest

from core.knowledge.facts.table_shapes import Statement, find_statement, reshape


def test_years_read_as_the_title_name_the_columns() -> None:
    read = reshape("(In millions) 2025 2024", ("Assets", "", ""), [("Cash", "$ 12", "$ 8"), ("Stock", "4", "5")])
    assert read == ("", ["Assets", "2025", "2024"], [["Cash", "$ 12", "$ 8"], ["Stock", "4", "5"]], 0)


def test_a_first_row_of_years_names_the_columns() -> None:
    title, columns, rows, taken = reshape(
        "Dues", ("", "", ""), [("Fiscal Year", "2025(1)", "2024"), ("Fees", "9", "8")]
    )
    assert (title, columns, rows, taken) == ("Dues", ["Fiscal Year", "2025(1)", "2024"], [["Fees", "9", "8"]], 1)


def test_a_column_of_signs_is_joined_to_its_figures() -> None:
    rows = [("Fees", "$", "47", "", "9.7", "%"), ("Sales", "", "43", "", "2.1", "%")]
    _, columns, joined, _ = reshape("", ("", "", "2025", "", "Growth", "Growth"), rows)
    assert (columns, joined) == (["", "2025", "Growth"], [["Fees", "$47", "9.7%"], ["Sales", "43", "2.1%"]])


def test_the_sign_of_the_next_cell_is_no_part_of_a_figure() -> None:
    assert reshape("", ("", "2025", "2024"), [("Fees", "39 $", "36")])[2] == [["Fees", "39", "36"]]


def test_rows_get_as_many_cells_as_there_are_columns() -> None:
    assert reshape("", ("Boat", "Cars"), [("Heron",), ("Gull", "4", "5")])[2] == [["Heron", ""], ["Gull", "4"]]


@pytest.mark.parametrize(
    ("labels", "statement"),
    [
        (["Net sales", "Operating income", "Net income"], Statement.INCOME),
        (["Cash", "Total assets", "Total liabilities"], Statement.BALANCE),
        (["Operating activities:", "Investing activities:", "Financing activities:"], Statement.CASH_FLOW),
        (["Net sales", "Net income"], None),
        (["Linden", "Voss"], None),
    ],
)
def test_statements_are_recognised_by_their_rows(labels: list[str], statement: Statement | None) -> None:
    assert find_statement(labels) is statement
