"""Extracts as rows: fields in reading order, nothing unknown among them, each at its own place."""

from typing import Any

import pytest

from core.domain.extracts import SCHEMAS, Extract, ExtractType, schema_name
from core.domain.passages import Span
from core.knowledge.facts import FactType, to_facts


def extract(kind: ExtractType, data: dict[str, Any]) -> Extract:
    return Extract(
        id="e",
        document_id="d",
        document="a.md",
        document_title="A",
        source_id="s",
        page_id="p",
        page_number=1,
        revision="r1",
        extractor="x",
        type=kind,
        schema=schema_name(kind),
        span=Span(0, 100),
        confidence=0.9,
        data=SCHEMAS[kind][1].model_validate(data).model_dump(mode="json"),
    )


def rows(kind: ExtractType, data: dict[str, Any]) -> list[tuple[str, dict[str, object]]]:
    return [(fact.type.value, dict(fact.fields)) for fact in to_facts(extract(kind, data))]


def test_columns_without_a_name_and_with_the_same_are_told_apart() -> None:
    data = {"columns": ["", "Price", "Price", "Price 2"], "rows": [["a", "1", "2", "3"]]}
    [(_, table), (_, row)] = rows(ExtractType.TABLE, data)
    assert table["columns"] == ("column 1", "Price", "Price 2", "Price 2 2")
    assert row == {"column 1": "a", "Price": "1", "Price 2": "2", "Price 2 2": "3"}


@pytest.mark.parametrize(("spans", "first"), [([[3, 9], [10, 20]], Span(3, 9)), ([], Span(0, 100))])
def test_a_row_stands_at_its_own_place_where_that_is_known(spans: list[list[int]], first: Span) -> None:
    data = {"columns": ["a"], "rows": [["1"], ["2"]], "row_spans": spans}
    facts = to_facts(extract(ExtractType.TABLE, data))
    assert [fact.type for fact in facts] == [FactType.TABLE, FactType.ROW, FactType.ROW]
    assert facts[1].span == first


def test_what_is_not_said_is_left_out() -> None:
    item = {"description": "paint", "page_number": 2, "span": [4, 9]}
    meeting, action = to_facts(extract(ExtractType.MEETING, {"action_items": [item]}))
    assert meeting.fields == {}
    assert action.fields == {"description": "paint", "status": "open"}
    assert (action.page_number, action.span) == (2, Span(4, 9))


def test_endpoints_carry_their_service() -> None:
    endpoint = {"method": "GET", "path": "/boats", "page_number": 1, "span": [0, 9]}
    data = {"service_name": "Fleet", "auth_method": "token", "endpoints": [endpoint]}
    assert rows(ExtractType.API, data) == [
        ("api", {"service_name": "Fleet", "auth_method": "token", "endpoints": 1}),
        ("endpoint", {"method": "GET", "path": "/boats", "service_name": "Fleet", "auth_method": "token"}),
    ]


def test_figures_have_a_row_each_and_a_report_one_for_what_it_says_once() -> None:
    figure = {"metric": "Revenue", "period": "2025", "value": 0, "text": "0", "page_number": 1, "span": [0, 3]}
    assert rows(ExtractType.FINANCIAL, {"rows": [figure]}) == [
        ("figure", {"metric": "Revenue", "period": "2025", "value": 0.0, "text": "0"})
    ]
    assert rows(ExtractType.FINANCIAL, {"rows": [], "ticker": "TERN", "eps": 1.5}) == [
        ("financial", {"ticker": "TERN", "eps": 1.5})
    ]


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (ExtractType.ENTITY, {"name": "Ann", "kind": "person"}),
        (ExtractType.RELATION, {"source": "Ann", "kind": "knows", "target": "Ben"}),
        (ExtractType.ANCHOR, {"name": "Figure 1", "kind": "figure"}),
        (ExtractType.PAGE, {"summary": "Of Ann."}),
    ],
)
def test_what_is_one_thing_is_one_row_of_its_fields(kind: ExtractType, data: dict[str, Any]) -> None:
    assert rows(kind, data) == [(kind.value, data)]
