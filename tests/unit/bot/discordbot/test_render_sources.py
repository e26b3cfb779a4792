import pytest

from bot.discordbot.render_sources import pack_items, pages_of, source_entry, source_heading
from tests.builders import build_citation
from tests.unit.bot.markdown_texts import GOOD


def test_an_entry_has_number_page_title_path_and_quote() -> None:
    citation = build_citation(number=12, page_number=5, heading_path=("Doors", "Keys"), quote="under\n  the mat")
    assert source_entry(citation, GOOD, is_repeated=False) == (
        f"**\\[12\\]** [Page 5 of “Guide”]({GOOD}) > Doors \\> Keys\n> “under the mat”\n"
    )


def test_a_title_that_begins_the_path_is_not_said_twice() -> None:
    assert source_heading(build_citation(heading_path=("Guide", "Keys")), None) == "Page 1 of “Guide” > Keys"
    assert source_heading(build_citation(heading_path=()), None) == "Page 1 of “Guide”"


def test_titles_are_text_even_where_they_look_like_markdown() -> None:
    citation = build_citation(document_title="[a](https://evil.example) **b**", heading_path=("`x` @everyone",))
    entry = source_entry(citation, None, is_repeated=False).replace("\u200b", "¦")
    assert "“\\[a\\]\\(https:¦//evil.example\\) \\*\\*b\\*\\*”" in entry
    assert "\\`x\\` @¦everyone" in entry


def test_long_quotes_and_paths_are_cut_with_an_ellipsis() -> None:
    citation = build_citation(heading_path=("Chapter " * 60,), quote="word " * 200)
    heading, quote = source_entry(citation, None, is_repeated=False).splitlines()
    assert heading.endswith("…")
    assert quote.endswith("…”")
    assert len(heading) < 300 > len(quote)


@pytest.mark.parametrize(
    ("sizes", "first", "expected"),
    [
        ([3, 3], 8, [[3, 3]]),
        ([3, 3], 7, [[3], [3]]),
        ([9, 1], 5, [[], [9], [1]]),  # 9 and a line end are all of the ten of a page
        ([], 5, [[]]),
    ],
)
def test_entries_are_filled_into_pages_in_order(sizes: list[int], first: int, expected: list[list[int]]) -> None:
    assert [[len(entry) for entry in page] for page in pack_items(["x" * n for n in sizes], first, 10)] == expected


def test_empty_pages_are_left_out() -> None:
    assert pages_of([[], ["a", "b"], ["c"]]) == ["a\nb", "c"]


def test_a_line_end_that_is_left_for_a_page_of_its_own_makes_no_page() -> None:
    assert pages_of([["one", ""], [""], ["two"]]) == ["one", "two"]
