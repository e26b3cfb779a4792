"""How quotes are shown."""

import pytest

from core.text.readable import is_row, readable


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("See [the guide](guide.md#top \"Top\") and [[notes|my notes]].", "See the guide and my notes."),
        ("**Bold** and `code` stay words", "Bold and `code` stay words"),
        ("| Rope | 1 gp |", "Rope | 1 gp"),
        ("Rope\t1 gp\t\t2 lb.", "Rope | 1 gp | 2 lb."),
        ("### > A heading", "A heading"),
        ("Found in 1974.[3][4, 5]", "Found in 1974.(3)(4, 5)"),
        ("A<br/>line <b>here</b>", "Aline here"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("|---|:--|", ""),
        ("![](picture.png)", ""),
    ],
)  # fmt: skip
def test_markup_is_left_out_and_words_stay(raw: str, shown: str) -> None:
    assert readable(raw) == shown


def test_rows_are_told_by_their_cells() -> None:
    assert is_row("Rope\t1 gp")
    assert is_row("| Rope | 1 gp |")
    assert is_row("Rope | 1 gp | 2 lb.")
    assert not is_row("Either this | that")
