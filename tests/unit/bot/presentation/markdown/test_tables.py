import pytest

from bot.presentation.markdown.tables import as_items, begins_table, fixed_width, read_table


@pytest.mark.parametrize(
    ("line", "below", "expected"),
    [
        ("| a | b |", "|---|---|", True),
        ("a | b", ":-: | --:", True),
        ("| a | b |", "|---|", False),
        ("a b", "---", False),
        ("| a |", "text | more", False),
        ("|" * 6_000, "-|" * 3_000, False),
    ],
)
def test_a_table_begins_with_a_head_and_its_rule(line: str, below: str, expected: bool) -> None:
    assert begins_table(line, below) is expected


def test_cells_are_read_with_their_escapes_and_every_row_fits_the_head() -> None:
    table = read_table(["| a | b |", "|:--|--:|", "| 1 \\| 2 | 3 |", "| x |", "| p | q | r |"])
    assert table.head == ("a", "b")
    assert table.right == (False, True)
    assert table.rows == (("1 | 2", "3"), ("x", ""), ("p", "q | r"))


def test_a_narrow_table_is_aligned_without_its_markup() -> None:
    table = read_table(["| **Key** | Où |", "|---|--:|", "| `mat` | 日本 |", "| [door](https://a.example) | 1 |"])
    assert fixed_width(table, 60) == (
        ["Key                      |   Où", "-------------------------+-----"],
        ["mat                      | 日本", "door (https://a.example) |    1"],
    )


def test_a_wide_table_has_no_fixed_width() -> None:
    assert fixed_width(read_table(["| a |", "|---|", f"| {'x' * 61} |"]), 60) is None


def test_rows_become_items_without_their_empty_cells() -> None:
    table = read_table(["| Name | | What |", "|---|---|---|", "| Ann | x | [1] |", "| | | |", "| Bob | | |"])
    assert as_items(table) == [["- **Name**: Ann", "  x", "  **What**: [1]"], ["- **Name**: Bob"]]


def test_a_table_without_rows_is_its_head() -> None:
    assert as_items(read_table(["| Name | What |", "|---|---|"])) == [["- **Name**", "- **What**"]]
