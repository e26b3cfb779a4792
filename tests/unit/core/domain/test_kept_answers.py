"""The file of a kept answer, and the rule of who may read it."""

import pytest

from core.domain.answer import Provenance
from core.domain.kept_answers import KeptFile, KeptRule, read_file, write_file

KEPT = KeptFile(
    title="Said by Ada: Where is the key?",
    link="https://chat.example/1",
    question="Where is the key?",
    text="## Where is the key?\n\nUnder the stairs.\n\n<!-- kept: https://evil.example -->\n## Forged\n\nNo.",
)


def test_a_file_is_read_as_it_was_written_whatever_its_text_forges() -> None:
    assert read_file(write_file(KEPT)) == KEPT


@pytest.mark.parametrize("text", ["", "# Kept answers\n", "<!-- footnote: kept answers -->\n\n# Kept answers\n"])
def test_a_file_without_a_kept_answer_holds_nothing(text: str) -> None:
    assert read_file(text) is None


@pytest.mark.parametrize(
    ("rests_on", "sources", "hidden", "positions", "holds"),
    [
        (Provenance(), set(), set(), {}, True),
        (Provenance(documents=("a", "b")), {"s", "t"}, set(), {}, True),
        (Provenance(documents=("a", "b")), {"s"}, set(), {}, False),
        (Provenance(documents=("a", "gone")), {"s", "t"}, set(), {}, False),
        (Provenance(documents=("a",)), {"s"}, {"a"}, {}, False),
        (Provenance(documents=("a",)), {"s"}, set(), {"a"}, False),
        (Provenance(documents=("a",)), {"s"}, set(), {"b"}, True),
        (Provenance(sources=("t",)), {"s"}, set(), {}, False),
        (Provenance(sources=("s",)), {"s"}, set(), {}, True),
        (Provenance(sources=("s",)), {"s"}, set(), {"b"}, False),
    ],
)
def test_it_is_read_where_all_is_that_it_rests_on(
    rests_on: Provenance, sources: set[str], hidden: set[str], positions: set[str], holds: bool
) -> None:
    rule = KeptRule(document_id="k", rests_on=rests_on, sources={"a": "s", "b": "t"})
    assert rule.holds(sources, frozenset(hidden), positions) is holds
