import pytest

from core.errors import BadInput
from core.work.questions import MAX_QUESTION_CHARACTERS, as_asked, check_question, split_deep
from tests.builders import build_incoming


@pytest.mark.parametrize(
    ("text", "question", "is_deep"),
    [
        ("deep: Compare A with B", "Compare A with B", True),
        (" DEEP :\n compare", "compare", True),
        ("How deep: is the lake?", "How deep: is the lake?", False),
        ("deeper: no", "deeper: no", False),
        ("deep in the lake?", "deep in the lake?", False),
    ],
)
def test_deep_is_a_word_before_the_question(text, question, is_deep):
    assert split_deep(text) == (question, is_deep)
    asked = as_asked(build_incoming(text, strategy="always_retrieve"))
    assert (asked.text, asked.strategy) == (question, "plan_and_synthesise" if is_deep else "always_retrieve")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("?!", "The question is empty"),
        ("deep: ", 'nothing after "deep:"'),
        ("x" * (MAX_QUESTION_CHARACTERS + 1), "20,001"),
    ],
    ids=["empty", "deep alone", "long"],
)
def test_what_can_be_no_question_is_refused_with_a_sentence(text, sentence):
    with pytest.raises(BadInput, match=sentence):
        check_question(text)


def test_the_shortest_and_the_longest_question_and_a_deep_one_can_be_asked():
    for text in ("x", "deep: why?", "x" * MAX_QUESTION_CHARACTERS):
        check_question(text)
    with pytest.raises(BadInput):
        check_question("x" * (MAX_QUESTION_CHARACTERS + 1))
