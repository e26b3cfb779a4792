import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answering.strategies.plans import (
    LONGEST_ARGUMENT,
    MOST_CALLS,
    REFUSE,
    RESPOND,
    Plan,
    PlannedCall,
    filled_in,
    from_json,
    planning_tools,
    read_plan,
    response_type_of,
    to_json,
    waits_for_findings,
)
from core.domain.chat import ToolDefinition, ToolInvocation
from core.domain.response_data import RESPONSE_TYPES

SEARCH = ToolDefinition(
    name="search",
    description="Searches.",
    parameters={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)


def call(name: str = "search", **arguments: object) -> ToolInvocation:
    return ToolInvocation(id=f"{name}-{arguments}", name=name, arguments=arguments)


def problem(invocation: ToolInvocation) -> str | None:
    return f"There is no tool {invocation.name!r}." if invocation.name not in ("search", "get_page") else None


def keys(plan: Plan) -> list[tuple[str, str | None]]:
    return [(planned.key, planned.after) for planned in plan.calls]


def test_planning_tools_are_the_tools_with_one_more_argument_and_two_that_only_say_something():
    search, respond, refuse = planning_tools([SEARCH])
    assert set(search.parameters["properties"]) == {"query", "after"}
    assert search.parameters["required"] == ["query"]
    assert set(SEARCH.parameters["properties"]) == {"query"}
    assert respond.parameters["properties"]["response_type"]["enum"] == list(RESPONSE_TYPES)
    assert (respond.name, refuse.name, refuse.parameters["required"]) == (RESPOND, REFUSE, ["reason"])


def test_a_plan_is_read_without_what_only_says_something():
    said = call(RESPOND, response_type="timeline", question="When was\nthe pier built?")
    plan = read_plan([said, call(query="a"), call("get_page", page_id="$1")], problem)
    assert keys(plan) == [("c1", None), ("c2", "c1")]
    assert (plan.response_type, plan.question, plan.problems) == ("timeline", "When was the pier built?", ())
    assert "after" not in read_plan([call(query="a"), call(query="b", after=1)], problem).calls[1].invocation.arguments


@pytest.mark.parametrize(
    ("calls", "kept", "why"),
    [
        ([call("delete", x=1), call(query="a")], [("c2", None)], "no tool 'delete'"),
        ([call(query="x" * (LONGEST_ARGUMENT + 1))], [], "longer than 1000 characters"),
        ([call(query="a", after=1)], [], "which is no other call"),
        ([call(query="a", after=7)], [], "which is no other call"),
        ([call(query="a", after="search")], [], "which is no other call"),
        ([call("get_page", page_id="$3"), call(query="a")], [("c2", None)], "which is no other call"),
        ([call(query="a"), call("get_page", page_id="$1", after=3), call()], [("c1", None), ("c3", None)], "two"),
        ([call(query="a", after=2), call(query="b", after=1)], [], "never over"),
        ([call("delete"), call(query="a", after=1)], [], "never over"),
    ],
    ids=["tool", "length", "itself", "unknown", "no place", "unknown finding", "two", "cycle", "left out"],
)  # fmt: skip
def test_what_cannot_be_run_is_left_out_with_a_sentence(calls, kept, why):
    plan = read_plan(calls, problem)
    assert keys(plan) == kept
    assert any(why in sentence for sentence in plan.problems)


def test_more_calls_than_allowed_are_left_out():
    plan = read_plan([call(query=f"{n}") for n in range(MOST_CALLS + 2)], problem)
    assert len(plan.calls) == MOST_CALLS
    assert plan.problems == tuple(
        f"Call {n} (search) was left out: at most {MOST_CALLS} are made." for n in (MOST_CALLS + 1, MOST_CALLS + 2)
    )


def test_a_call_that_repeats_another_is_made_once_and_what_follows_it_follows_that_one():
    plan = read_plan([call(query="a"), call(query="a"), call("get_page", page_id="$2")], problem)
    assert keys(plan) == [("c1", None), ("c3", "c1")]
    assert plan.problems == ()


def test_a_reason_without_calls_is_a_plan_of_none():
    plan = read_plan([call(REFUSE, reason="It asks for a poem. " * 40)], problem)
    assert plan.calls == () and plan.reason.startswith("It asks for a poem.") and len(plan.reason) <= 400


def test_only_what_a_call_needs_of_another_is_filled_in():
    page = PlannedCall(key="c2", invocation=call("get_page", page_id=" $1 ", query="$1"), after="c1")
    assert waits_for_findings(page)
    filled = filled_in(page, {"page_id": "p7", "document": "a.md"})
    assert filled.arguments == {"page_id": "p7", "query": "$1"}
    after = PlannedCall(key="c2", invocation=call(query="costs $1"), after="c1")
    assert not waits_for_findings(after) and filled_in(after, {"page_id": "p7"}) == after.invocation


@pytest.mark.parametrize(
    ("said", "by_rule", "expected"),
    [("timeline", "comparison", "timeline"), (None, "comparison", "comparison"), (None, None, "general")],
)
def test_the_form_is_the_models_then_the_wordings(said, by_rule, expected):
    assert response_type_of(Plan(response_type=said), by_rule) == expected


NUMBERS = st.one_of(st.none(), st.integers(-1, 10), st.sampled_from(["$1", "$2", "$9", "x", ""]))
CALLS = st.builds(
    lambda name, query, after, page: call(
        name, **{"query": query} | ({"after": after} if after is not None else {}) | ({"page_id": page} if page else {})
    ),
    st.sampled_from(["search", "get_page", "delete", RESPOND, REFUSE]),
    st.text(max_size=5),
    NUMBERS,
    st.sampled_from([None, "$1", "$3", "p1"]),
)


@given(st.lists(CALLS, max_size=12))
def test_any_plan_can_be_run_to_its_end_and_is_stored_as_it_is(calls):
    plan = read_plan(calls, problem)
    over: set[str] = set()
    waiting = list(plan.calls)
    while waiting:
        ready = [planned for planned in waiting if planned.after is None or planned.after in over]
        assert ready, "a call waits for ever"
        over |= {planned.key for planned in ready}
        waiting = [planned for planned in waiting if planned.key not in over]
    assert len(plan.calls) <= MOST_CALLS and len(over) == len(plan.calls)
    assert all(problem(planned.invocation) is None for planned in plan.calls)
    assert from_json(json.loads(json.dumps(to_json(plan)))) == plan
