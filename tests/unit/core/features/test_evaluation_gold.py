"""Reading question files, and what holds a gold quote or answer."""

import json

import pytest

from core.errors import BadInput
from core.features.evaluation import GoldQuestion, holds_answer, holds_quote, read_questions

LINE = {"id": "q6", "question": "How high is it?", "answer": ["2 m", "two metres"], "answer_match": "any",
        "reader_position": "chapter 2", "must_not_contain": ["secret"], "note": "by hand"}  # fmt: skip


def test_a_line_is_read_with_its_position() -> None:
    question = read_questions([json.dumps(LINE), ""])[0]
    assert (question.position, question.any_answer, question.forbidden) == ("chapter 2", True, ("secret",))
    assert question.unknown == ("note",)
    assert read_questions(['{"question": "Who?", "position": 3}'])[0].position == "3"


def test_a_single_answer_may_be_a_text() -> None:
    assert read_questions(['{"question": "Who?", "answer": "Ann"}'])[0].answers == ("Ann",)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["{"], "Line 1 is not JSON .Expecting property name .* at character 2"),
        (["[" * 100_000], "Line 1 is not JSON that can be read"),
        (['{"question": " "}'], "Line 1: the question is empty"),
        (['{"question": "Who?", "document": true}'], "Line 1: 'document' has to be a text"),
        (["", '{"id": "a"}'], "Line 2 has no question"),
        (['["a"]'], "Line 1 is no object"),
        (['{"question": "Who?", "answer": 5}'], "'answer' has to be a text or a list"),
        (['{"id": "a", "question": "Who?"}'] * 2, "Lines 1 and 2 have the same id 'a'"),
        (['{"id": "a", "question": "And?", "followup_of": "b"}'], "Line 1: 'a' follows 'b'"),
    ],
)
def test_a_file_that_can_not_be_used_is_refused_by_its_line(lines: list[str], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        read_questions(lines)


def test_quotes_are_found_across_white_space_table_signs_and_forms_of_characters() -> None:
    assert holds_quote("| Legal\tfees |\n4,874.04 |", "Legal fees 4,874.04")
    assert holds_quote("a ﬁne day", "fine day")
    assert not holds_quote("a fine day", "bad day")


def test_all_answers_are_needed_unless_one_is_enough() -> None:
    both = GoldQuestion(id="1", question="?", answers=("Aesir", "Vanir"))
    one = GoldQuestion(id="1", question="?", answers=("Aesir", "Vanir"), any_answer=True)
    assert not holds_answer("The aesir.", both)
    assert holds_answer("The aesir and the VANIR.", both)
    assert holds_answer("The aesir.", one)
    assert not holds_answer("Anything.", GoldQuestion(id="1", question="?"))
    figure = GoldQuestion(id="1", question="?", answers=("116080",))
    assert holds_answer("116,080 (sum of 22,140 and 93,940)", figure)
    assert not holds_answer("116,08", figure)
