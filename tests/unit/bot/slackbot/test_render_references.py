from bot.presentation.answer_text import NO_REFERENCES, ReferenceRow
from bot.slackbot.rendering.blocks import MAX_BLOCKS, TEXT_BUDGET
from bot.slackbot.rendering.lists import references_post


def test_all_references_are_listed_as_they_are_written() -> None:
    (part,) = references_post([ReferenceRow(label="*[[House]]*", detail="house.md", summary="<b>")]).parts
    [block] = part.blocks
    assert "1. *[[House]]*: house.md — <b>" in str(block)  # strings of rich_text are literal
    assert part.text.startswith("Also looked at\n1. *[[House]]*: house")


def test_a_hundred_long_ones_take_several_messages_and_none_is_lost() -> None:
    rows = [ReferenceRow(label=f"{n} " + "x" * 78, detail="y" * 160, summary="z" * 100) for n in range(100)]
    parts = references_post(rows).parts
    shown = "\n".join(str(part.blocks) for part in parts)
    assert len(parts) > 1
    assert all(f"{n + 1}. {n} x" in shown for n in range(100))
    assert all(len(part.blocks) <= MAX_BLOCKS and len(part.text) <= TEXT_BUDGET for part in parts)


def test_nothing_is_said_in_words() -> None:
    (part,) = references_post([]).parts
    assert NO_REFERENCES in part.text
