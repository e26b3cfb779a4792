"""Lines of a question file: what they say, and the sentence about what they don't."""

import pytest

from core.errors import BadInput
from core.work.questions import QuestionLine, read_line


@pytest.mark.parametrize(
    ("line", "id", "question"),
    [
        ('{"id": "a", "question": "Who?"}', "a", "Who?"),
        ('{"id": 12, "question": ""}', "12", ""),
        ('{"id": null, "question": "Who?"}', "line 7", "Who?"),
        ('{"question": "Who\\ud83d?"}', "line 7", "Who\ufffd?"),  # half a surrogate pair
    ],
)
def test_a_line_has_an_id_and_a_question(line: str, id: str, question: str) -> None:
    read = read_line(line, 7)

    assert (read.id, read.question) == (id, question)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{'id': 1}", "Line 7 is not JSON .* at character 2.: write "),
        ("[" * 100_000, "Line 7 is not JSON that can be read"),
        ('{"id": ' + "9" * 5_000 + "}", "Line 7 is not JSON that can be read"),
        ('"Who?"', "Line 7 is no object: write "),
    ],
)
def test_what_is_no_line_of_a_question_file_is_said_with_its_number(line: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        read_line(line, 7)


@pytest.mark.parametrize("value", [["a"], {"a": 1}, True, 1.5])
def test_a_field_that_is_no_text_is_named(value: object) -> None:
    line = QuestionLine(number=7, fields={"document": value, "question": value})

    with pytest.raises(BadInput, match="Line 7: 'document' has to be a text"):
        line.text("document")
    with pytest.raises(BadInput, match="Line 7 has no question"):
        _ = line.question


def test_the_first_field_that_says_something_counts() -> None:
    line = QuestionLine(number=1, fields={"position": "", "reader_position": 3, "answer": ["a", 2]})

    assert line.text("position", "reader_position") == "3"
    assert (line.texts("answer"), line.texts("quote")) == (("a", "2"), ())
