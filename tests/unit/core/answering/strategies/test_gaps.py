"""Gaps of planned answers: what was not looked up or not found, in people's words."""

import pytest

from core.answering.agent.turns import OUT_OF_TIME
from core.answering.strategies.plans import Plan
from core.answering.strategies.synthesis import gaps_of
from core.answering.tools.toolbox import FINAL
from core.domain.chat import ToolInvocation, ToolResult

ROW = '- page 3, span 1-9 of "Annual report" (a.md, page_id p1): financial; ticker: KO; metric: revenue'


@pytest.mark.parametrize(
    ("tool", "arguments", "text", "is_error", "expected"),
    [
        ("get_page", {"page_id": "p9"}, "There is no page: take page_ids.", True, ["I could not read “p9”."]),
        ("search", {"query": "fares"}, OUT_OF_TIME, True, ["I could not search for “fares” in time."]),
        ("query_journal", {"journal": "Log"}, f"It is torn. {FINAL}", True, ["I could not read “Log”: It is torn."]),
        ("find_extracts", {"query": "ticker=xyz"}, "No row fits.", False, ["No figures for XYZ in the documents."]),
        ("find_extracts", {"query": "ticker:KO"}, ROW, False, []),
        ("search", {"query": "fares"}, "2 pages", False, []),
    ],
)
def test_a_call_without_result_is_told_without_the_name_of_its_tool(tool, arguments, text, is_error, expected) -> None:
    invocation = ToolInvocation(id="1", name=tool, arguments=arguments)
    result = ToolResult(invocation_id="1", name=tool, text=text, is_error=is_error)

    assert gaps_of(Plan(), [(invocation, result)]) == expected


def test_planned_calls_that_were_left_out_are_counted() -> None:
    plan = Plan(problems=("Call 1 (get_page) was left out: x", "Call 2 (get_page) was left out: y"))

    assert gaps_of(plan, []) == ["I left out 2 of the planned look-ups."]
