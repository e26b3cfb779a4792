import pytest

from storage.answer_types import AnswerType, expected_type, holds


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When does the shop open?", AnswerType.DATE),
        ("In which year was it founded?", AnswerType.DATE),
        ("How much does a spyglass cost?", AnswerType.NUMBER),
        ("What price has it?", AnswerType.NUMBER),
        ("how many hit points", AnswerType.NUMBER),
        ("Who hides the key?", AnswerType.NAME),
        ("Which city is meant?", AnswerType.NAME),
        ("Why is the dragon blue?", AnswerType.ANY),
        ("", AnswerType.ANY),
    ],
)
def test_the_cue_words_of_a_question_say_what_is_expected(question: str, expected: AnswerType) -> None:
    assert expected_type(question) is expected


@pytest.mark.parametrize(
    ("sentence", "kind", "expected"),
    [
        ("It costs 1,000 gp.", AnswerType.NUMBER, True),
        ("There are twelve of them.", AnswerType.NUMBER, True),
        ("There are none.", AnswerType.NUMBER, False),
        ("It opened in 1987.", AnswerType.DATE, True),
        ("They met on 3 March.", AnswerType.DATE, True),
        ("Every Tuesday at noon.", AnswerType.DATE, True),
        ("It costs 12 gp.", AnswerType.DATE, False),
        ("The key is with Mara.", AnswerType.NAME, True),
        ("Ask @mara first.", AnswerType.NAME, True),
        ("The key is lost.", AnswerType.NAME, False),
        ("anything", AnswerType.ANY, True),
        ("", AnswerType.ANY, True),
    ],
)
def test_a_sentence_holds_what_is_expected_or_not(sentence: str, kind: AnswerType, expected: bool) -> None:
    assert holds(sentence, kind) is expected
