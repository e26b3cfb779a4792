"""What a model is asked for a typed answer, and what it may reply."""

import pytest

from core.answering.strategies.plans import Plan
from core.answering.strategies.synthesis import LONGEST_RESULT, build_request, read_reply
from core.domain.chat import Capabilities, ChatMessage, ToolInvocation, ToolResult
from tests.builders import build_incoming
from tests.scripted import says

LEFT_OUT = "Shown are 3 of 90 passages; 87 did not fit."


def asked_with(text: str) -> ChatMessage:
    call = ToolInvocation(id="c1", name="query_journal", arguments={"query": "all guards"})
    result = ToolResult(invocation_id="c1", name="query_journal", text=text)
    request = build_request(build_incoming("Who?"), Plan(), "general", [((call, result), [])], Capabilities())
    return request.messages[0]


def test_what_a_tool_could_not_show_is_told_however_much_it_says() -> None:
    told = asked_with("- a page of it\n" * LONGEST_RESULT + LEFT_OUT).text

    assert LEFT_OUT in told
    assert "a part left out" in told
    assert len(told) < LONGEST_RESULT + 500


def test_a_short_result_stays_as_it_is() -> None:
    assert f"\n\n{LEFT_OUT}\n\nQuestion: Who?" in asked_with(LEFT_OUT).text


@pytest.mark.parametrize("reply", ["no", "{" * 200_000, '{"summary": ' + "[" * 200_000 + "}", '{"a": "\\ud800"'])
def test_a_reply_that_is_no_object_is_told_in_a_sentence(reply: str) -> None:
    assert read_reply(says(reply), "general") == "it is not JSON."


def test_a_reply_of_another_form_names_what_is_wrong() -> None:
    told = read_reply(says('{"summary": "A.", "points": 3}'), "general")
    assert isinstance(told, str) and "points" in told
