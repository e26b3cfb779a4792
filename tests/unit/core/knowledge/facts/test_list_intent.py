"""Detection of questions that ask for a list of rows."""

import pytest

from core.knowledge.facts import FactType
from core.knowledge.facts.list_intent import LONGEST, detect_list_intent


@pytest.mark.parametrize(
    ("text", "kind", "noun"),
    [
        ("open action items of Ann due before December", FactType.ACTION_ITEM, "open action items"),
        ("What are the open action items of Ann due before December?", FactType.ACTION_ITEM, "open action items"),
        ("Which overdue tasks are Ben's?", FactType.ACTION_ITEM, "overdue tasks"),
        ("Are there any overdue to-dos?", FactType.ACTION_ITEM, "overdue to-dos"),
        ("action items for Cy this week", FactType.ACTION_ITEM, "action items"),
        ("List all decisions of the May meetings.", FactType.DECISION, "decisions"),
        ("Please give me a list of all decisions about the ferry", FactType.DECISION, "decisions"),
        ("Which decisions did the board make in 2026?", FactType.DECISION, "decisions"),
        ("What was decided about the pier?", FactType.DECISION, "decisions"),
        ("What did we decide on the ferry in May?", FactType.DECISION, "decisions"),
        ("Which action items does Priya have?", FactType.ACTION_ITEM, "action items"),
        ("List the endpoints of the ferry API", FactType.ENDPOINT, "endpoints"),
        ("list all endpoints", FactType.ENDPOINT, "endpoints"),
        ("List the paths of the Harbour API", FactType.ENDPOINT, "paths"),
        ("list all NPCs", FactType.ENTITY, "NPCs"),
        ("Which companies are in the document annual.pdf?", FactType.ENTITY, "companies"),
    ],
)
def test_a_request_for_a_kind_of_rows_is_one(text: str, kind: FactType, noun: str) -> None:
    asked = detect_list_intent(text)
    assert asked is not None
    assert (asked.type, asked.noun) == (kind, noun)


@pytest.mark.parametrize(
    "text",
    [
        "List the action items",
        "List the action items with owners",
        "list the action items and their owners",
        "List the action items with their owner and due dates.",
        "Which action items are there, and who owns them?",
        "What are the action items, including the owners, deadlines and status?",
    ],
)
def test_columns_that_a_list_shows_anyway_do_not_change_the_request(text: str) -> None:
    asked = detect_list_intent(text)
    assert asked is not None
    assert asked.query == "action items"


def test_a_named_owner_is_no_column() -> None:
    asked = detect_list_intent("List the action items with owner Ann")
    assert asked is not None
    assert asked.query == "action items with owner Ann"


@pytest.mark.parametrize(
    "text",
    [
        "Where is the key?",
        "How many action items does Ann have?",
        "What action items did he get?",  # who is he?
        "What are my open action items?",
        "Which decisions were made there?",
        "What is the latest decision about the ferry?",
        "Which decisions changed since May?",
        "Explain the decisions of the May meeting",
        "Summarise the decisions of the May meeting",
        "What was decided about the pier, and which status did it have in June?",
        "List the decisions. Who made them?",
        "All decisions except those of May",
        "What are the tasks of a harbour master?",
        "List all paths through the marsh",
        "Which action should I take first?",
        "What is an action item?",
        "Decision trees",
        "List all inhaled poisons",
        "Who attended the May meeting?",
        "",
        "list all decisions about " + "x" * LONGEST,
    ],
)
def test_everything_else_is_not(text: str) -> None:
    assert detect_list_intent(text) is None
