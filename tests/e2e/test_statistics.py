"""`footnote stats` over questions that were really asked."""

from tests.e2e.conftest import Footnote

QUESTION = "What was the root cause of the ticket gate outage?"
UNKNOWN = ("Who wrote the constitution of Mars?", "Who was the author of the constitution of Mars?")


def test_what_is_cited_and_what_is_missing_is_told(footnote: Footnote) -> None:
    for question in (QUESTION, *UNKNOWN):
        footnote("ask", question)
    found = footnote("stats", "--json").json
    told = footnote("stats").out

    assert (found["questions"], found["by_status"]) == (3, {"not_found": 2, "answered": 1})
    assert found["most_cited"][0]["document"].startswith("operations/")
    assert [gap["count"] for gap in found["gaps"]] == [2]
    assert set(found["gaps"][0]["questions"]) == set(UNKNOWN)
    assert found["never_cited_count"] == found["documents"] - len(found["most_cited"])
    assert "Asked and not found" in told and UNKNOWN[0] in told and "Never cited" in told


def test_days_that_are_none_are_one_clear_error(footnote: Footnote) -> None:
    refused = footnote("stats", "--days", "0")

    assert (refused.code, "--days must be above 0" in refused.err) == (1, True)
