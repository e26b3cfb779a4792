import pytest
from syrupy.assertion import SnapshotAssertion

from core.answering.agent.prompts import bad_form, from_passages, no_plan, planner, search_queries, synthesiser
from core.domain.chat import Capabilities
from core.domain.response_data import RESPONSE_TYPES
from tests.builders import build_incoming


@pytest.mark.parametrize("as_calls", [True, False], ids=["calls", "lines"])
def test_queries(as_calls: bool, snapshot: SnapshotAssertion) -> None:
    assert search_queries(build_incoming(language="German"), as_calls=as_calls) == snapshot


@pytest.mark.parametrize("citations", [True, False], ids=["native", "markers"])
def test_an_answer_from_passages(citations: bool, snapshot: SnapshotAssertion) -> None:
    assert from_passages(Capabilities(citations=citations), build_incoming()) == snapshot


def test_a_plan(snapshot: SnapshotAssertion) -> None:
    told = planner(build_incoming(document="guide.md"), most=8, respond="respond_as", refuse="no_tool_can_help")
    assert told == snapshot
    assert no_plan(["Call 1 was left out."]) == snapshot


@pytest.mark.parametrize("response_type", RESPONSE_TYPES)
def test_a_typed_answer(response_type: str, snapshot: SnapshotAssertion) -> None:
    told = synthesiser(response_type, build_incoming(language="German"))
    assert told.endswith("Write in German, whatever the language of the question.")
    if response_type == "comparison":
        assert told == snapshot
        assert bad_form("it is not JSON.") == snapshot
    else:
        assert RESPONSE_TYPES[response_type].description in told
