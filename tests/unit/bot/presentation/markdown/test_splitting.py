import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.presentation.markdown import Flavour, pack, read_markdown, split_markdown, units
from tests.slack_server.expansion import expanded_kinds, table_problems
from tests.unit.bot.markdown_texts import (
    GOOD,
    ZERO_WIDTH,
    any_texts,
    bare,
    clickable,
    open_fences,
    pings,
    tame_texts,
)

LINKED = Flavour(
    footnote=lambda number: f"[[{number}]]({GOOD}?n={number})" if number < 3 else None,
    is_allowed=lambda address: address.startswith(GOOD),
)
limits = st.integers(300, 1_200)
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def texts(text: str, limit: int = 1_000, flavour: Flavour | None = None) -> list[str]:
    return [part.text for part in split_markdown(text, limit, flavour)]


@unhurried
@given(any_texts, limits)
def test_no_part_is_longer_than_the_limit_or_empty(text: str, limit: int) -> None:
    for part in split_markdown(text, limit, LINKED):
        assert part.text.strip()
        assert len(part.text) <= units(part.text) <= limit


def test_an_escaped_tick_before_a_span_of_code_makes_no_fence_of_it() -> None:
    [part] = texts("\\* escaped \\```a ` b``")

    assert "```" not in part
    assert open_fences(part) == 0


def test_a_word_that_has_no_room_behind_other_lines_begins_the_next_part() -> None:
    parts = texts(f"@everyone\n{'x' * 188}\n{'x' * 1_212}", 300)

    assert [units(part) for part in parts] == [199, 300, 300, 300, 300, 12]


@pytest.mark.parametrize("below", ["\\@everyone", "- one\n- two", "x" * 1_000])
def test_a_long_heading_leaves_what_does_not_fit_below_it_to_the_next_part(below: str) -> None:
    parts = texts(f"before\n\n# {'x' * 710}\n{below}", 722)

    assert parts[1].startswith("**x")
    assert max(map(units, parts)) <= 722


@unhurried
@given(any_texts, limits)
def test_no_part_leaves_a_fence_open(text: str, limit: int) -> None:
    assert [part for part in texts(text, limit, LINKED) if open_fences(part)] == []


@unhurried
@given(any_texts, limits)
def test_nothing_pings_and_only_what_is_allowed_can_be_clicked(text: str, limit: int) -> None:
    for part in texts(text, limit, LINKED):
        assert pings(part) == []
        assert clickable(part) == []


@unhurried
@given(tame_texts, limits)
def test_all_of_a_text_survives_in_order(text: str, limit: int) -> None:
    assert bare("".join(texts(text, limit))) == bare(text)


@unhurried
@given(any_texts)
def test_parts_are_safe_to_treat_again(text: str) -> None:
    for part in texts(text, 1_000, LINKED):
        for again in texts(part, 1_200, LINKED):
            assert pings(again) == clickable(again) == []


@unhurried
@given(st.lists(st.integers(1, 60), min_size=1, max_size=60))
def test_every_part_knows_the_footnotes_it_uses(numbers: list[int]) -> None:
    text = " ".join(f"Statement about {number} [{number}]." for number in numbers)
    parts = split_markdown(text, 300)
    for part in parts:
        assert part.numbers == tuple(sorted({n for n in range(1, 61) if f"[{n}]" in part.text}))
    assert {number for part in parts for number in part.numbers} == set(numbers)


def test_a_text_that_fits_stays_one_part() -> None:
    assert texts("# Keys\n\nUnder the *mat* [1].\n- one\n- two") == ["# Keys\n\nUnder the *mat* [1].\n- one\n- two"]


def test_a_text_of_nothing_has_no_parts() -> None:
    assert texts(" \n\n\t\n") == []


def test_a_limit_that_is_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 300"):
        split_markdown("text", 50)


def test_paragraphs_are_kept_whole_where_they_fit() -> None:
    first, second = "First sentence. " * 12, "Second sentence. " * 12
    assert texts(f"{first}\n\n{second}", 300) == [first, second]


def test_a_long_paragraph_is_cut_behind_a_sentence() -> None:
    parts = texts("This is a sentence of some length [1]. " * 20, 300)
    assert len(parts) > 1
    assert all(part.rstrip().endswith("[1].") for part in parts)


def test_a_long_list_is_cut_between_items() -> None:
    parts = texts("\n".join(f"- item {n} of the list\n  which goes on in a second line" for n in range(20)), 300)
    assert len(parts) > 1
    assert all(part.startswith("- item") and part.endswith("second line") for part in parts)


def test_a_heading_is_not_left_behind_at_the_end_of_a_part() -> None:
    parts = texts("word " * 50 + "\n\n## Next\n\n" + "more " * 50, 300)
    assert [part.strip().split("\n")[0] for part in parts] == [("word " * 50).strip(), "## Next"]


def test_a_fence_is_closed_and_opened_again_with_its_language() -> None:
    code = "\n".join(f"print({n})" for n in range(60))
    parts = texts(f"Look:\n```python\n{code}\n```\nDone.", 300)
    assert len(parts) > 2
    assert all("```python\nprint(" in part for part in parts)
    assert parts[0].endswith("\n```")
    assert parts[-1].endswith("```\nDone.")
    lines = [line for part in parts for line in part.split("\n") if line.startswith("print")]
    assert lines == code.split("\n")


def test_a_fence_in_a_fence_stays_inside_it() -> None:
    (part,) = texts("````md\n```py\nx = 1\n```\n````\nafter [1]")
    assert part.count("```") == 2
    assert part.replace(ZERO_WIDTH, "") == "```md\n```py\nx = 1\n```\n```\nafter [1]"


def test_a_fence_that_is_never_closed_is_closed() -> None:
    assert texts("```\ncode") == ["```\ncode\n```"]


def test_a_footnote_in_code_is_no_footnote() -> None:
    (part,) = split_markdown("`a[1]` and\n```\nb[2]\n```\nand [2] here", 1_000, LINKED)
    assert part.numbers == (2,)
    assert "`a[1]`" in part.text
    assert "\nb[2]\n" in part.text


def test_a_narrow_table_is_aligned_in_a_fence_with_its_footnotes_below() -> None:
    (part,) = split_markdown("| Key | No |\n|:--|--:|\n| mat [1] | 7 |\n| 鍵 | 12 |", 1_000, LINKED)
    assert part.text == (
        f"```\nKey     | No\n--------+---\nmat [1] |  7\n鍵      | 12\n```\nFootnotes of the table: [[1]]({GOOD}?n=1)"
    )
    assert part.numbers == (1,)


def test_a_wide_table_becomes_rows_of_keys_and_values() -> None:
    wide = "value " * 12
    (part,) = texts(f"| Name | What |\n|---|---|\n| Ann | {wide}[1] |\n| Bob | |")
    assert part == f"- **Name**: Ann\n  **What**: {wide}[1]\n- **Name**: Bob"


def test_a_long_table_is_cut_between_rows_and_repeats_its_head() -> None:
    rows = "\n".join(f"| name {n} | {n} |" for n in range(60))
    parts = texts(f"| Name | Number |\n|---|---|\n{rows}", 300)
    assert len(parts) > 2
    assert all(part.startswith("```\nName    | Number\n") and part.endswith("\n```") for part in parts)
    assert [line.split(" |")[0] for part in parts for line in part.split("\n") if line.startswith("name ")] == [
        f"name {n}".ljust(7).rstrip() if n > 9 else f"name {n} " for n in range(60)
    ]


def test_a_platform_with_tables_keeps_them() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    assert texts(table, flavour=Flavour(has_tables=True)) == [table]


def test_signs_of_one_letter_are_not_torn_apart() -> None:
    family = "👩‍👩‍👧‍👦"
    for part in texts(family * 100, 300):
        assert part.replace(family, "") == ""


def test_long_code_in_a_quote_is_cut_with_the_quotes_mark_before_each_piece() -> None:
    parts = texts(f"> `{'x' * 700}`", 300)
    shown = [part.replace(ZERO_WIDTH, "") for part in parts]
    assert max(map(len, parts)) <= 300
    assert [(part[:3], part[-1]) for part in shown] == [("> `", "`")] * 3


def test_blocks_read_once_can_be_packed_for_several_limits() -> None:
    text = "A sentence of five words. " * 200
    blocks = read_markdown(text, Flavour())
    for limit in (1_100, 2_000):
        assert pack(blocks, limit) == split_markdown(text, limit)


def test_a_hundred_kilobytes_are_split_whole() -> None:
    text = "Ein Satz über Schlüssel [1]. " * 3_500
    parts = texts(text, 3_000)
    assert bare("".join(parts)) == bare(text)
    assert max(map(units, parts)) <= 3_000


SLACK = Flavour(has_tables=True, most_blocks=40)


def test_no_part_has_more_blocks_of_the_platform_than_it_takes() -> None:
    text = "\n\n".join(f"## Heading {n}\n\nText {n}.\n\n| a | b |\n|---|---|\n| {n} | x |\n\n---" for n in range(60))
    parts = split_markdown(text, 9_000, SLACK)
    kinds = [expanded_kinds([{"type": "markdown", "text": part.text}]) for part in parts]
    assert max(map(len, kinds)) <= 40
    assert sum(found.count("header") for found in kinds) == 60
    assert len(parts) == 6  # four blocks for each heading


def test_a_table_that_is_too_wide_and_too_long_is_several() -> None:
    rows = [[f"c{row}x{column}" for column in range(30)] for row in range(150)]
    head = [f"| {' | '.join(f'h{column}' for column in range(30))} |", "|" + "---|" * 30]
    text = "\n".join([*head, *(f"| {' | '.join(row)} |" for row in rows)])
    parts = split_markdown(text, 9_000, SLACK)
    assert [table_problems([{"type": "markdown", "text": part.text}]) for part in parts] == [[]] * len(parts)
    shown = "".join(part.text for part in parts)
    assert all(f" {cell} " in shown for row in rows for cell in row)


@pytest.mark.parametrize(
    "text", ["a\n===\nb", "a\n-\nb", "a\n--\nb", "- # a\n- ## b\n1. # # c", "- ***\n- * * *", "a | b\n|---|\n-|-"]
)
def test_text_that_is_no_heading_for_us_is_none_for_the_platform(text: str) -> None:
    (part,) = split_markdown(text, 9_000, SLACK)
    assert expanded_kinds([{"type": "markdown", "text": part.text}]) == ["rich_text"]


@pytest.mark.parametrize("sign", "日ไ😀")
def test_parts_of_any_script_fit_into_the_bytes_of_a_message(sign: str) -> None:
    parts = split_markdown((sign * 40 + " ") * 300, 3_600)
    assert max(len(part.text.encode()) for part in parts) <= 9_000
    assert "".join(part.text for part in parts).count(sign) == 12_000


def test_a_list_starts_in_a_part_that_is_mostly_free():
    items = "\n".join(f"- item {number:03} of the list" for number in range(14))
    first, second = split_markdown(f"The boats:\n\n{items}\n\nThe end.", 300)
    assert first.text.startswith("The boats:\n\n- item 000")
    assert second.text.startswith("- item 0")
