"""Extract, extracts, facts and ontology, as a person or a script calls them; and through a running service."""

import json
import signal
from pathlib import Path

import pytest

from tests.e2e.conftest import Footnote
from tests.e2e.serving import ServiceProcess

MINUTES = """# Yard council, 3 February 2026

Present: Ann Lee, Ben Ruiz

## Decisions

- The slipway is closed in March.

## Action items

- [ ] Ann Lee: buy the red paint, by 20 February 2026
- [ ] Ben Ruiz: mend the old pump, by 24 December 2026
- [x] Ben Ruiz: call the yard, by 1 February 2026
"""


@pytest.fixture
def minutes(footnote: Footnote, tmp_path: Path) -> Path:
    """A folder of minutes that was read in."""
    folder = tmp_path / "yard"
    folder.mkdir()
    (folder / "council.md").write_text(MINUTES)
    report = footnote("ingest", str(folder), "--json").json
    assert report["documents"]["added"] == 1 and report["extracts"] > 0
    return folder


def test_what_an_ingest_adds_is_extracted_with_it_and_once(footnote: Footnote, minutes: Path) -> None:
    again = footnote("ingest", str(minutes), "--json").json
    nothing_due = footnote("extract", "--document", "council.md", "--json").json
    forced = footnote("extract", "--document", "council.md", "--extractor", "meetings", "--force", "--json").json
    assert again["extracts"] == 0
    assert (nothing_due["documents"], nothing_due["job"]) == (0, None)
    assert (forced["documents"], forced["by_type"], forced["failures"]) == (1, {"meeting": 1}, [])
    [root, step] = footnote("jobs", "show", forced["job"], "--json").json["jobs"]
    assert (root["kind"], root["input"]["extractors"], root["output"]["meeting"]) == ("extraction", ["meetings"], 1)
    assert (step["name"], step["output"]) == ("council.md", {"meeting": 1})


def test_a_changed_file_alone_is_extracted_anew(footnote: Footnote, minutes: Path) -> None:
    (minutes / "council.md").write_text(MINUTES.replace("red paint", "blue paint"))
    assert footnote("ingest", str(minutes), "--json").json["documents"]["updated"] == 1
    [fact] = footnote("facts", "tasks about paint", "--document", "council.md", "--json").json["facts"]
    assert fact["fields"]["description"] == "buy the blue paint"


def test_extracts_have_the_documented_shape(footnote: Footnote, minutes: Path) -> None:
    [meeting] = footnote("extracts", "--type", "meeting", "--document", "council.md", "--json").json["extracts"]
    page = footnote("page", meeting["page_id"], "--json").json
    start, end = meeting["span"]
    assert {"type", "schema", "document", "page_number", "span", "confidence", "data"} <= set(meeting)
    assert (meeting["schema"], 0 <= start < end <= len(page["text"])) == ("meeting/1", True)
    assert meeting["data"]["date"] == "2026-02-03"
    assert meeting["data"]["attendees"] == ["Ann Lee", "Ben Ruiz"]
    filtered = footnote("extracts", "--filter", "owner:Ann due<2026-12-01 open", "--json").json
    assert [item["document"] for item in filtered["extracts"]] == ["council.md"]
    assert len(filtered["facts"]) == 1


def test_extracts_are_listed_to_the_end_or_say_how_many_there_are(footnote: Footnote, tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    tables = (
        f"## Pier {number}\n\n| Boat | Berth |\n|---|---|\n| Heron {number} | {number} |\n" for number in range(1_050)
    )
    (folder / "piers.md").write_text("\n".join(tables))
    footnote("ingest", str(folder))
    listed = footnote("extracts", "--type", "table", "--document", "piers.md", "--json").json
    cut = footnote("extracts", "--type", "table", "--document", "piers.md", "--limit", "1", "--json").json
    shown = footnote("extracts", "--type", "table", "--document", "piers.md", "--limit", "1")
    assert len(listed["extracts"]) == listed["total"] == 1_050
    assert (len(cut["extracts"]), cut["total"]) == (1, 1_050)
    assert "1 of 1,050 extracts; use --limit 1050 to see all." in shown.err


def test_a_question_is_answered_with_a_proved_footnote_and_no_model(footnote: Footnote, minutes: Path) -> None:
    asked = ("open action items of Ann due before December 2026", "owner:Ann due<2026-12-01 type:action_item open")
    for question in asked:
        answer = footnote("facts", question, "--document", "council.md", "--json").json
        [fact] = answer["facts"]
        citation = fact["citation"]
        page = footnote("page", citation["page_id"], "--json").json
        start, end = citation["span"]
        assert citation["proved"] and page["text"][start:end] == citation["quote"]
        assert "red paint" in citation["quote"]
    shown = footnote("facts", "decisions about the slipway").out
    assert "closed in March" in shown and "Yard council, 3 February 2026" in shown


def test_a_question_for_a_list_is_answered_from_extracts_by_ask_too(footnote: Footnote, minutes: Path) -> None:
    asked = "What are the open action items in the document council.md?"
    answer = footnote("ask", asked, "--json").json
    steps = [(job["kind"], job["name"]) for job in answer["jobs"]]

    assert (answer["status"], answer["grounded"], steps) == (
        "answered",
        True,
        [("request", "answer"), ("tool", "find_extracts")],
    )
    assert answer["answer"].startswith("2 open action items:\n- ") and "yard" not in answer["answer"]
    assert "".join(citation["quote"] for citation in answer["citations"]).count("mend the old pump") == 1
    assert all(citation["proved"] for citation in answer["citations"])
    follow = footnote("ask", "Who mends the pump?", "--conversation", answer["conversation_id"], "--json").json
    assert "Ben Ruiz" in follow["answer"]


def test_the_ontology_names_kinds_and_counts(footnote: Footnote, minutes: Path) -> None:
    ontology = footnote("ontology", "--json").json
    assert set(ontology) == {"entity_types", "relation_types", "aliases", "extracts"}
    assert ontology["extracts"]["meeting"] >= 1
    assert "Relations" in footnote("ontology").out


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (("extract", "--extractor", "zebra"), 1, "Use one of"),
        (("extract", "--document", "zebra"), 1, "zebra"),
        (("extracts", "--type", "zebra"), 1, "Use one of meeting"),
        (("extracts", "--limit", "0"), 2, "limit"),
        (("facts", " "), 1, "Enter what to look for"),
        (("facts", "type:zebra"), 1, "zebra"),
        (("facts",), 2, "question"),
    ],
)
def test_what_can_not_be_done_is_one_sentence(
    footnote: Footnote, arguments: tuple[str, ...], code: int, part: str
) -> None:
    outcome = footnote(*arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert part in outcome.err


@pytest.mark.slow
def test_a_running_service_extracts_and_answers_for_the_commands(
    footnote: Footnote, data_dir: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "yard"
    folder.mkdir()
    (folder / "council.md").write_text(MINUTES)
    with ServiceProcess(data_dir) as service:
        service.wait_ready()
        report = footnote("ingest", str(folder), "--json").json
        forced = footnote("extract", "--document", "council.md", "--force", "--json").json
        [fact] = footnote("facts", "open tasks of Ben", "--document", "council.md", "--json").json["facts"]
        listed = footnote("extracts", "--document", "council.md", "--type", "meeting", "--json").json["extracts"]
        ontology = footnote("ontology", "--json").json
        code, _ = service.end(signal.SIGTERM)
    assert report["extracts"] > 0 and forced["extracts"] == report["extracts"]
    assert fact["fields"]["due_date"] == "2026-12-24" and fact["citation"]["proved"]
    assert len(listed) == 1 and json.dumps(ontology)
    assert code == 0
