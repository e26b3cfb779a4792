"""Questions that leave something to the two before, as tables read them."""

import pytest

from core.knowledge.facts.table_words import continued


@pytest.mark.parametrize(
    ("question", "earlier", "answered", "reading"),
    [
        ("which one is older?", ["how many cars may the gull carry", "how many cars may the Heron carry"], "",
         "which is older, Heron or gull"),
        ("and which of the two is longer?", ["How long is the Gull?", "How long is the Heron?"], "",
         "which is longer, Heron or Gull"),
        ("so how much more is that?", ["what was the surplus in 2024", "What was the surplus in 2025?"], "",
         "what is the difference between the surplus in 2025 and 2024"),
        ("what's the difference", ["How many cars may the Gull carry?", "How many cars may the Heron carry?"], "",
         "what is the difference between cars may the Heron and Gull carry"),
        ("year before?", ["what was the surplus in 2025"], "", "what was the surplus in 2024"),
        ("and the year after that?", ["what did wages come to"], "902,400 (2025, Wages):",
         "what did wages come to in 2026"),
        ("and on a six?", ["what is the weather on a 5?"], "", "what is the weather on a 6"),
        ("which one is older?", ["how many cars may the Heron carry"], "", None),
        ("which one is older?", ["who chairs the council?", "how many cars may the Heron carry"], "", None),
        ("and the year before?", ["what did wages come to"], "No year.", None),
    ],
)  # fmt: skip
def test_a_question_is_read_with_the_two_before(
    question: str, earlier: list[str], answered: str, reading: str | None
) -> None:
    found = continued(question, earlier, answered)
    assert reading in found if reading is not None else not any(" or " in text or " in 2" in text for text in found)
