import pytest

from bot.slackbot.rendering.blocks import (
    EACH_BLOCK,
    Row,
    actions,
    bullets,
    button,
    fitted,
    link,
    menu,
    plain_of,
    rich_text,
    size_of,
    stack,
    text,
)
from tests.unit.bot.markdown_texts import GOOD


def test_rows_of_one_kind_are_the_lines_of_one_element() -> None:
    rows = [Row((text("a"),)), Row((text("b"), None)), Row((text("c"),), is_quoted=True), Row((text("d"),))]
    assert [(one["type"], [piece["text"] for piece in one["elements"]]) for one in stack(rows)] == [
        ("rich_text_section", ["a", "\n", "b"]),
        ("rich_text_quote", ["c"]),
        ("rich_text_section", ["d"]),
    ]


def test_a_row_of_nothing_is_a_space() -> None:
    assert stack([Row((None, text("")))])[0]["elements"] == [{"type": "text", "text": " "}]


@pytest.mark.parametrize(
    "address", [None, "javascript:alert(1)", "obsidian://open", "https://x.example/" + "x" * 2_000]
)
def test_what_cannot_be_linked_is_text(address: str | None) -> None:
    assert link("Guide", address) == {"type": "text", "text": "Guide"}


def test_a_link_has_its_address() -> None:
    assert link("Guide", GOOD) == {"type": "link", "url": GOOD, "text": "Guide"}


def test_control_signs_and_half_signs_are_taken_out() -> None:
    assert text("a\x00b\ud800") == {"type": "text", "text": "ab\ufffd"}


def test_labels_are_cut_and_never_empty() -> None:
    assert button("word " * 30, "a")["text"]["text"].endswith("…")
    assert button(" ", "a")["text"]["text"] == "…"
    assert menu("Choose", "a", [("x" * 99, "0")])["options"][0]["text"]["text"] == "x" * 74 + "…"


def test_a_size_counts_all_texts_and_a_share_for_each_block() -> None:
    blocks = [rich_text(*stack([Row((text("four"),))])), actions(button("Stop", "a"))]
    assert size_of(blocks) == 2 * EACH_BLOCK + 8


def test_the_words_of_a_block_are_lines() -> None:
    block = rich_text(*stack([Row((text("a"),)), Row((text("b"),), is_quoted=True)]), bullets([Row((text("c"),))], 1))
    assert plain_of(block) == "a\nb\n  - c"


def test_neutral_text_is_cut_to_what_it_has_become() -> None:
    safe = fitted("<a> & b " * 20, 40)
    assert 30 < len(safe) <= 40
    assert safe.endswith("…")
