"""Questions that name documents, at the terminal, answered without any model or key."""

from pathlib import Path

from tests.e2e.conftest import Footnote

RUNBOOK = "Runbook - ticket gates offline"
QUESTION = f"How long must we wait before starting the gate controller again? [[{RUNBOOK}]] [[Runbok ticket gates]]"


def test_what_a_question_names_is_resolved_read_and_shown_with_path_and_line(footnote: Footnote) -> None:
    answer = footnote("ask", QUESTION, "--json").json
    [named, broken] = [item for item in answer["references"] if item["type"] == "direct"]
    step = next(job for job in answer["jobs"] if job["name"] == "look up references")

    assert (named["document"], named["broken"]) == (f"operations/{RUNBOOK}.md", False)
    assert 0 < len(named["summary"]) <= 100
    assert (broken["document"], broken["broken"]) == (None, True)
    assert any("Runbook" in near for near in broken["near"])
    assert (step["status"], step["output"]["broken"]) == ("done", ["[[Runbok ticket gates]]"])
    assert step["output"]["passages"] > 0
    assert answer["citations"][0]["document"] == named["document"]


def test_people_see_what_was_named_and_with_verbose_all_that_was_looked_at(footnote: Footnote) -> None:
    shown = " ".join(footnote("ask", QUESTION).out.split())
    everything = " ".join(footnote("ask", "--verbose", QUESTION).out.split())

    assert f"• {RUNBOOK}: operations/{RUNBOOK}.md, cited — " in shown
    assert "Also looked at" not in shown and "Did you mean" in shown
    assert f"References: 1. {RUNBOOK}" in everything


def test_switched_off_no_link_is_looked_up(footnote: Footnote, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("[references]\nenabled = false\n")
    answer = footnote("--config", str(config), "ask", QUESTION, "--json").json

    assert [item for item in answer["references"] if item["type"] == "direct"] == []
    assert "look up references" not in {job["name"] for job in answer["jobs"]}
    assert answer["status"] == "answered"
