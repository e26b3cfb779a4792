import pytest

from bot.discordbot.rendering.components import (
    Container,
    LinkButton,
    PartView,
    Row,
    Separator,
    Text,
    answer_rows,
    mark_parts,
    page_row,
    running_row,
    steps_row,
    to_view,
)
from bot.presentation.action_names import Verb, find_part
from bot.presentation.answer_buttons import ActionButton, ChoiceMenu, Emphasis
from core.domain.answer import Answer, AnswerStatus
from tests.builders import build_citation
from tests.unit.bot.discordbot.shown import components_of, custom_ids_of, labels_of

POST, ANSWER = "b" * 32, "a" * 32
TEXT = Text(content="Words")
MENU = ChoiceMenu(name="fn:choose:a:0", placeholder="Choose one", options=[("Red", "0"), ("Green", "1")])
PART = PartView(
    blocks=(
        Text(content="Words"),
        Separator(),
        Container(items=(Text(content="In a box"), Separator())),
        Row(
            items=(ChoiceMenu(name="fn:choose:a:0", placeholder="Choose one", options=[("Red", "0"), ("Green", "1")]),)
        ),
        Row(
            items=(
                ActionButton(label="Stop", name="fn:stop:a", emphasis=Emphasis.DANGER),
                ActionButton(label="Part 1", name="fn:part:a:1", is_disabled=True),
                LinkButton(label="Open", url="https://viewer.example"),
            )
        ),
    )
)


def test_every_kind_of_block_becomes_its_component() -> None:
    text, line, box, menu, buttons = components_of(PART)
    assert (text["type"], text["content"]) == (10, "Words")
    assert line["type"] == 14
    assert [item["type"] for item in box["components"]] == [10, 14]
    assert [option["label"] for option in menu["components"][0]["options"]] == ["Red", "Green"]
    assert [(item["label"], item["style"]) for item in buttons["components"]] == [
        ("Stop", 4),
        ("Part 1", 2),
        ("Open", 5),
    ]
    assert buttons["components"][1]["disabled"]


def test_a_view_outlives_the_process_that_sent_it() -> None:
    assert to_view(PART).timeout is None


def test_a_part_names_its_texts_and_buttons_from_top_to_bottom() -> None:
    assert PART.texts == ("Words", "In a box")
    assert custom_ids_of(PART) == ("fn:choose:a:0", "fn:stop:a", "fn:part:a:1")


@pytest.mark.parametrize("verb", Verb)
def test_no_verb_is_longer_than_names_have_room_for(verb: Verb) -> None:
    assert len(verb.value) <= 8


def labels(answer: Answer) -> list[str]:
    return labels_of(PartView(blocks=(TEXT, *answer_rows(answer, POST))))


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (AnswerStatus.ANSWERED, ["Show sources", "👍", "👎", "⋯"]),
        (AnswerStatus.NOT_FOUND, ["Show sources", "👍", "👎", "⋯"]),
        (AnswerStatus.STOPPED, ["Show sources", "⋯"]),
        (AnswerStatus.ERROR, ["Show sources", "⋯"]),
    ],
)
def test_what_can_be_done_with_an_answer_follows_from_its_status(status: AnswerStatus, expected: list[str]) -> None:
    answer = Answer(status=status, text="", citations=(build_citation(),), message_id=ANSWER)
    assert labels(answer) == expected


def test_there_are_no_passages_to_show_without_footnotes() -> None:
    assert "Show sources" not in labels(Answer(status=AnswerStatus.ANSWERED, text="", message_id=ANSWER))


def test_one_part_carries_its_mark_on_its_first_button_and_says_nothing_of_parts() -> None:
    (part,) = mark_parts([PartView(blocks=(TEXT, running_row(POST)))], POST)
    assert custom_ids_of(part) == (f"fn:stop:{POST}@{POST}.1", f"fn:how:{POST}")
    assert labels_of(part) == ["Stop", "Show steps"]


def test_several_parts_are_told_apart_and_found_again() -> None:
    parts = mark_parts([PartView(blocks=(TEXT,)), PartView(blocks=(TEXT, steps_row(POST)))], POST)
    assert [labels_of(part)[-1] for part in parts] == ["Part 1 of 2", "Part 2 of 2"]
    assert [find_part(components_of(part)) for part in parts] == [(POST, 1), (POST, 2)]


def test_a_full_row_is_left_as_it_is() -> None:
    full = Row(items=tuple(steps_row(f"{n}").items[0] for n in range(5)))
    first, _ = mark_parts([PartView(blocks=(TEXT, full)), PartView(blocks=(TEXT,))], POST)
    assert [len(block.items) for block in first.blocks if isinstance(block, Row)] == [5, 1]


@pytest.mark.parametrize(("page", "disabled"), [(1, [True, False]), (2, [False, False]), (3, [False, True])])
def test_the_ways_to_other_pages_end_with_the_list(page: int, disabled: list[bool]) -> None:
    assert [item.is_disabled for item in page_row("mine", page, 3).items] == disabled  # type: ignore[union-attr]  # buttons
