"""Questions about extracts, in the form and in plain English, as queries."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.knowledge.facts import FactType, read_query
from core.knowledge.facts.query import MOST_ROWS

TODAY = date(2026, 3, 4)  # a Wednesday


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        ("owner:Ann due<2026-12-01 type:action_item open", "type:action_item owner:Ann due<2026-12-01 status=open"),
        ("open action items of Ann due before December", "type:action_item status=open due_date<2026-12 owner:Ann"),
        ("Which action items are still open?", "type:action_item status=open"),
        ("completed tasks", "type:action_item status=done"),
        ("to-dos not yet done", "type:action_item status=open"),
        ("overdue actions", "type:action_item due_date<2026-03-04 status=open"),
        ("Which tasks does Ann Lee have by Friday?", 'type:action_item due_date<=2026-03-06 owner:"Ann Lee"'),
        ("Ann's action items due this week", "type:action_item due_date>=2026-03-02 due_date<2026-03-09 owner:Ann"),
        ("action items from the May meeting", "type:action_item date=2025-05"),
        ('type:action_item owner="" due!=""', 'type:action_item owner="" due!=""'),
        ("action items of Ann, Ben and Cy", "type:action_item owner:Ann Ben Cy"),
        ("decisions in May before June 2025", "type:decision date=2025-05 date<2025-06"),
        ("tasks due after next week", "type:action_item due_date>=2026-03-16"),
        ("tasks due by next week", "type:action_item due_date<2026-03-16"),
        ("What may we do about figures", "type:financial type:figure may"),
        ("action items due 12 May 2026", "type:action_item due_date=2026-05-12"),
        ("action items about the pump", "type:action_item pump"),
        ("decisions about the ferry", "type:decision ferry"),
        ("What did we decide about ticket gates in February?", "type:decision date=2026-02 ticket gates"),
        ("decisions since last month", "type:decision date>=2026-02"),
        ("topics of the meeting on 2026-02-03", "type:topic date=2026-02-03"),
        ("who attended the meeting on 3 February 2026", "type:meeting date=2026-02-03"),
        ("meetings attended by Ann", "type:meeting Ann"),
        ("GET endpoints for bookings", "type:endpoint method=GET bookings"),
        ("revenue in 2025", "type:financial type:figure period:2025 revenue"),
        ("definition of sight rot", "type:entity sight rot"),
        ('rows where "unit price">10', "type:row unit_price>10"),
        ("type:decisions", "type:decision"),
        ("type:apis gate", "type:api type:endpoint gate"),
        ('decisions document:"House rules"', 'type:decision document:"House rules"'),
        ('decisions in document "House rules"', 'type:decision document:"House rules"'),
        ("rows of the file fares.md", 'type:row document:"fares.md"'),
        ("due<tomorrow open", "due<2026-03-05 status=open"),
        ('type:decision "steel pier"', "type:decision steel pier"),
        ("open", "status=open"),
        ("open pier", "open pier"),
    ],
)
def test_a_question_is_read_as_a_query(asked: str, read: str) -> None:
    assert str(read_query(asked, TODAY)) == read


@pytest.mark.parametrize("asked", ["", "  ", "type:nonsense", "limit:0", "limit:x", f"limit:{MOST_ROWS + 1}"])
def test_what_can_not_be_read_is_one_sentence(asked: str) -> None:
    with pytest.raises(BadInput, match=r"\.$"):
        read_query(asked, TODAY)


def test_a_limit_is_part_of_the_question() -> None:
    assert read_query("decisions limit:3", TODAY).limit == 3
    assert read_query("decisions", TODAY, limit=7).limit == 7


@given(st.text(min_size=1).filter(str.strip))
def test_any_text_is_read_or_refused(asked: str) -> None:
    try:
        query = read_query(asked, TODAY)
    except BadInput:
        return
    assert query.types <= frozenset(FactType)


@given(
    st.lists(
        st.sampled_from('open due before in May 2026 of Ann by next week action items meeting type: x<3 "'.split())
    )
)
def test_words_of_questions_in_any_order_are_read(parts: list[str]) -> None:
    if parts and " ".join(parts).strip():
        assert read_query(" ".join(["decisions", *parts]).replace("type:", "type:decision"), TODAY).types
