import pytest

from bot.presentation.markdown.blocks import Block, as_items, begins_table, fixed_width, read_blocks, read_table
from bot.presentation.markdown.flavour import Flavour


def read(text: str, **can: object) -> list[Block]:
    return read_blocks(text, Flavour(breaker="¦", **can), 200)  # type: ignore[arg-type]  # fields of a flavour


def lines(block: Block) -> list[str]:
    return [line.prefix + "".join(token.text for token in line.tokens) for line in block.lines]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\ntwo\n\n\nthree", [["one", "two"], ["three"]]),
        ("# Title\ntext", [["# Title"], ["text"]]),
        ("#### Deep ####\n##### **bold**", [["**Deep**"], ["**bold**"]]),
        ("text\n```py\ncode\n```\nmore", [["text"], ["code"], ["more"]]),
        ("- a\n- b\n\n- c", [["- a", "- b"], ["- c"]]),
        ("> a\n>> b\nc", [["> a", "> b"], ["c"]]),
        (">>> a", [["> a"]]),
        ("  ```\n  code\n    more\n  ```", [["code", "  more"]]),
        ("~~~\n```\n~~~", [["``¦`"]]),
        ("````\n```\n````", [["``¦`"]]),
        ("```\n```", [[" "]]),
        ("```print(1)```", [["`print(1)`"]]),
        ("``` two, words\n```", [["two, words"]]),
        ("", []),
    ],
)
def test_a_text_is_read_into_blocks_of_lines(text: str, expected: list[list[str]]) -> None:
    assert [lines(block) for block in read(text)] == expected


def test_a_block_knows_whether_it_stood_apart() -> None:
    assert [block.is_apart for block in read("a\n\nb\n# c\n```\nd\n```\n\ne")] == [True, True, False, False, True]


@pytest.mark.parametrize(
    ("info", "opening"), [("python", "```python\n"), ("c++ title=x", "```c++\n"), ("", "```\n"), ("x" * 30, "```\n")]
)
def test_a_fence_keeps_its_language(info: str, opening: str) -> None:
    (block,) = read(f"```{info}\ncode\n```")
    assert (block.opening, block.closing, block.is_code) == (opening, "\n```", True)


def test_what_a_fence_says_beside_its_language_is_shown_as_code() -> None:
    (block,) = read('```py title="a.py"\ncode\n```')
    assert lines(block) == ['title="a.py"', "code"]


def test_code_in_a_quote_is_code() -> None:
    quoted, code, after = read("> said:\n> ```\n> x = 1\n> ```\n> so")
    assert lines(quoted) == ["> said:"]
    assert (lines(code), code.is_code) == (["x = 1"], True)
    assert lines(after) == ["> so"]


def test_an_items_further_lines_stay_with_it() -> None:
    (block,) = read("- a\n  more of a\n- b")
    assert [line.is_border for line in block.lines] == [True, False, True]


def test_a_table_is_code_where_the_platform_has_none() -> None:
    (block,) = read("| a | b |\n|---|---|\n| 1 | 2 |")
    assert (block.opening, lines(block)) == ("```\na | b\n--+--\n", ["1 | 2"])
    (kept,) = read("| a | b |\n|---|---|\n| 1 | 2 |", has_tables=True)
    assert (kept.opening, lines(kept)) == ("| a | b |\n|---|---|\n", ["| 1 | 2 |"])


@pytest.mark.parametrize("head", ["| a [1] |", "| " + "a" * 70 + " |"])
def test_a_head_with_footnotes_or_too_long_to_repeat_is_a_line_of_its_table(head: str) -> None:
    (kept,) = read(f"{head}\n|---|\n| 1 |", has_tables=True)
    assert (kept.opening, lines(kept)) == ("", [head, "|---|", "| 1 |"])


def test_no_address_or_code_goes_on_over_the_bar_of_a_cell() -> None:
    (kept,) = read("|a|b|\n|-|-|\n|https://evil.example|`b|c`|", has_tables=True)
    assert lines(kept) == ["|`evil.example`|\\`b|c\\`|"]


def test_a_head_without_rows_is_kept() -> None:
    (kept,) = read("| a |\n|---|\n\nafter", has_tables=True)[:1]
    assert lines(kept) == ["| a |", "|---|"]


def test_a_tables_head_too_long_to_repeat_makes_items() -> None:
    (block,) = read("| a" + "\u0301" * 200 + " |\n|---|\n| 1 |")
    assert not block.is_code


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
