import pytest

from bot.presentation.action_names import find_answer, find_part
from bot.slackbot.rendering.answers import answer_blocks, how_actions, mark_of, page_actions, part_note, running_actions
from bot.slackbot.rendering.blocks import Block, SlackMessage, markdown
from core.domain.answer import Answer, AnswerStatus
from tests.builders import build_citation
from tests.unit.bot.slackbot.shown import faults_of_message, labels_of, names_of

POST, ANSWER = "b" * 32, "a" * 32


def shown(blocks: list[Block]) -> SlackMessage:
    message = SlackMessage(text="Words", blocks=(markdown("Words"), *blocks))
    assert faults_of_message(message) == []
    return message


@pytest.mark.parametrize(
    ("status", "is_private", "expected"),
    [
        (AnswerStatus.ANSWERED, False, ["passages", "up", "down", "more"]),
        (AnswerStatus.ANSWERED, True, ["passages", "up", "down", "more"]),
        (AnswerStatus.NOT_FOUND, True, ["passages", "up", "down", "more"]),
        (AnswerStatus.STOPPED, True, ["passages", "more"]),
        (AnswerStatus.ERROR, False, ["passages", "more"]),
    ],
)
def test_what_can_be_done_with_an_answer_follows_from_its_status(
    status: AnswerStatus, is_private: bool, expected: list[str]
) -> None:
    answer = Answer(status=status, text="", citations=(build_citation(),), message_id=ANSWER)
    message = shown(answer_blocks(answer, POST, is_private=is_private))
    assert [name.split(":")[1] for name in names_of(message)] == expected
    assert find_answer(message.blocks) == ANSWER


def test_there_are_no_passages_to_show_without_footnotes() -> None:
    answer = Answer(status=AnswerStatus.ANSWERED, text="", message_id=ANSWER)
    assert labels_of(shown(answer_blocks(answer, POST, is_private=False))) == ["👍", "👎"]


def test_choices_of_nothing_have_a_name_all_the_same() -> None:
    answer = Answer(status=AnswerStatus.CLARIFY, text="", choices=(" ", "Red"), message_id=ANSWER)
    menu = answer_blocks(answer, POST, is_private=False)[0]["elements"][0]
    assert [one["text"]["text"] for one in menu["options"]] == ["Choice 1", "Red"]


@pytest.mark.parametrize("block", [running_actions(POST), how_actions(POST), part_note(2, 3, mark_of(POST, 1))])
def test_the_last_block_is_found_again_as_a_part_of_its_post(block: Block) -> None:
    assert find_part([markdown("Words"), block]) == (POST, 1)
    assert find_answer([block]) is None


def test_parts_beyond_what_names_hold_share_a_mark() -> None:
    assert mark_of(POST, 12_000) == mark_of(POST, 9_999)


@pytest.mark.parametrize(("page", "expected"), [(1, [2]), (2, [1, 3]), (3, [2]), (7, [3])])
def test_the_ways_to_other_pages_end_with_the_list(page: int, expected: list[int]) -> None:
    message = shown(page_actions("mine", page, 3))
    assert names_of(message) == [f"fn:page:mine:{number}" for number in expected]


def test_a_list_of_one_page_has_no_ways() -> None:
    assert page_actions("mine", 1, 1) == []
