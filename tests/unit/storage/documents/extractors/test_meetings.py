from pathlib import Path

import docx
import pytest

from core.domain.extracts import Meeting
from storage.documents.extractors.meetings import MeetingsExtractor
from tests.unit.storage.documents.extractors.meeting_reading import find_meetings, read_input, to_input, to_line
from tests.unit.storage.documents.extractors.meeting_samples import MARKDOWN, PLAIN, Sample
from tests.unit.storage.documents.extractors.meeting_samples_fronts import FRONTS
from tests.unit.storage.documents.extractors.meeting_samples_more import MORE
from tests.unit.storage.documents.extractors.meeting_samples_other import KINDS, LANGUAGES, NO_MEETINGS
from tests.unit.storage.documents.pdf_files import build_pdf

BOARD = "# Board meeting 2024-01-05\n\nPresent: Ann, Ben\n\n"
MINUTES = (*MARKDOWN, *PLAIN, *MORE, *FRONTS, *LANGUAGES, *KINDS)


def read(sample: Sample, folder: Path) -> Meeting:
    return Meeting.model_validate(find_meetings(sample, folder)[0].data)


@pytest.mark.parametrize("sample", MINUTES, ids=lambda sample: sample.name)
def test_minutes_give_their_date_people_decisions_and_tasks(sample: Sample, tmp_path: Path) -> None:
    meeting = read(sample, tmp_path)

    assert meeting.date == sample.date
    assert list(meeting.attendees) == sample.listed("attendees")
    assert [item.text for item in meeting.decisions] == sample.listed("decisions")
    assert [to_line(item.model_dump()) for item in meeting.action_items] == sample.listed("actions")


def test_a_section_named_as_front_matter_is_read(tmp_path: Path) -> None:
    text = f"---\nowner: Ann\n---\n{BOARD}## Properties\n\n- Decision: the mill is sold.\n"
    (found,) = find_meetings(Sample("board/2024-01-05.md", text, "", "", "", ""), tmp_path)
    meeting = Meeting.model_validate(found.data)
    assert [item.text for item in meeting.decisions] == ["the mill is sold."]
    assert list(meeting.attendees) == ["Ann", "Ben"]


@pytest.mark.parametrize("sample", NO_MEETINGS, ids=lambda sample: sample.name)
def test_documents_that_only_look_like_minutes_are_no_meetings(sample: Sample, tmp_path: Path) -> None:
    assert find_meetings(sample, tmp_path) == []


@pytest.mark.parametrize("sample", MINUTES, ids=lambda sample: sample.name)
def test_every_item_stands_where_it_says(sample: Sample, tmp_path: Path) -> None:
    given = to_input(sample.name, sample.text, tmp_path)
    texts = {page.number: page.text for page in given.pages}

    for found in MeetingsExtractor().extract(given):
        meeting = Meeting.model_validate(found.data)
        said = [(item, item.text) for item in (*meeting.topics, *meeting.decisions)]
        done = [(item, item.description) for item in meeting.action_items]
        for item, text in (*said, *done):
            quote = texts[item.page_number][slice(*item.span)]
            assert quote == quote.strip()
            assert text.split()[-1].strip("[]()*~.") in quote


def test_running_notes_give_a_meeting_for_each_dated_heading(tmp_path: Path) -> None:
    sample = next(sample for sample in MARKDOWN if sample.name == "rolling-meeting-notes.md")

    meetings = [Meeting.model_validate(found.data) for found in find_meetings(sample, tmp_path)]

    assert [(item.date, item.attendees) for item in meetings] == [
        ("2024-05-08", ("Eli", "Fay")),
        ("2024-05-01", ("Eli", "Gus")),
    ]
    assert meetings[1].action_items[0].owner == "Gus"


def test_topics_are_those_of_the_agenda_else_the_headings(tmp_path: Path) -> None:
    agenda = Sample("a.md", f"{BOARD}## Agenda\n1. Boats\n2. Ropes\n\n## Boats\nNew.\n")
    headings = Sample("b.md", f"{BOARD}## 1. Boats\nNew.\n\n## 2. Ropes\nOld.\n")

    assert [item.text for item in read(agenda, tmp_path).topics] == ["Boats", "Ropes"]
    assert [item.text for item in read(headings, tmp_path).topics] == ["Boats", "Ropes"]


@pytest.mark.parametrize("rule", ["", "----- ------------------------ -------- ----------\n"], ids=["bare", "ruled"])
def test_tasks_in_aligned_columns_have_their_owners_and_due_days(rule: str, tmp_path: Path) -> None:
    table = (
        "No    Action                   Owner    Due\n"
        f"{rule}"
        "1     Send the letter to the   Ann      12 June\n"
        "      harbour office\n"
        "2     Order rope               Ben\n"
        "3     Paint the boat           Ben      next Friday\n"
    )
    meeting = read(
        Sample("a.txt", f"Board meeting 2024-01-05\n\nPresent: Ann, Ben\n\nActions\n\n{table}\nThe end.\n"), tmp_path
    )

    assert [(item.owner, item.description, item.due_date) for item in meeting.action_items] == [
        ("Ann", "Send the letter to the harbour office", "2024-06-12"),
        ("Ben", "Order rope", None),
        ("Ben", "Paint the boat", "next Friday"),
    ]


def test_words_far_apart_are_no_columns_without_a_header(tmp_path: Path) -> None:
    text = f"{BOARD}## Actions\n\nSend  the letter   to Ann\n\nAction  is needed:   soon\n"
    meeting = read(Sample("a.md", text), tmp_path)
    assert not any(item.due_date for item in meeting.action_items)
    assert "Send the letter to Ann" in [item.description for item in meeting.action_items]


def test_minutes_from_a_word_processor_are_read(tmp_path: Path) -> None:
    path = tmp_path / "minutes.docx"
    document = docx.Document()
    document.add_heading("Minutes of the sailing club", 0)
    document.add_paragraph("Date: 4 June 2024")
    document.add_paragraph().add_run("Attendees").bold = True
    for name in ("Ann Lee", "Ben Ruiz"):
        document.add_paragraph(name, style="List Bullet")
    document.add_heading("Decisions", 1)
    document.add_paragraph("The boat is sold.", style="List Number")
    document.add_heading("Actions", 1)
    table = document.add_table(2, 3)
    for place, cell in enumerate(("Task", "Responsible", "Deadline", "Find a buyer", "Ben Ruiz", "30 June")):
        table.cell(place // 3, place % 3).text = cell
    document.save(str(path))

    meeting = Meeting.model_validate(next(iter(MeetingsExtractor().extract(read_input(path, tmp_path)))).data)

    assert (meeting.date, meeting.attendees) == ("2024-06-04", ("Ann Lee", "Ben Ruiz"))
    assert [item.text for item in meeting.decisions] == ["The boat is sold."]
    assert [to_line(item.model_dump()) for item in meeting.action_items] == ["Ben Ruiz > Find a buyer @ 2024-06-30"]


def test_people_listed_by_group_are_all_there(tmp_path: Path) -> None:
    text = (
        "# Crew meeting 2024-01-05\n\n## Attending\n\n* Team: annl, ben, Carla\n* Others: Dov\n* Minutes scribe: Eli\n"
    )

    assert read(Sample("a.md", text), tmp_path).attendees == ("annl", "ben", "Carla", "Dov", "Eli")


def test_the_front_matter_of_a_note_gives_what_its_text_does_not(tmp_path: Path) -> None:
    front = "---\ntitle: Community call\ndate: 2024-02-20\nattendees: [Ann Lee, '[[Ben]]']\n---\n"
    meeting = read(
        Sample("a.md", f"{front}## Agenda\n1. Boats\n\n## Action items\n- [ ] Ann - announce it\n"), tmp_path
    )

    assert (meeting.date, meeting.attendees) == ("2024-02-20", ("Ann Lee", "Ben"))
    assert [to_line(item.model_dump()) for item in meeting.action_items] == ["Ann > announce it [ ]"]


def test_a_decision_told_twice_is_one(tmp_path: Path) -> None:
    text = f"{BOARD}## Decisions\n- Sell the boat\n\n## Boat\n\n**Decision:** sell the boat.\n"

    assert [item.text for item in read(Sample("a.md", text), tmp_path).decisions] == ["Sell the boat"]


def test_a_question_is_no_decision(tmp_path: Path) -> None:
    text = f"{BOARD}Decision: Do we sell the boat? https://example.org/1\n"

    assert read(Sample("a.md", text), tmp_path).decisions == ()


def test_the_date_of_a_mail_is_that_of_the_meeting_only_where_no_other_is_given(tmp_path: Path) -> None:
    head = "From: a@example.org\nTo: b@example.org\nSubject: Minutes\nDate: Wed, 08 May 2024 09:00:00 +0000\n\n"
    mail = head + "{}Present: Ann, Ben\n\nDecision: go\n"

    assert read(Sample("a.eml", mail.format("")), tmp_path).date == "2024-05-08"
    assert read(Sample("b.eml", mail.format("Date: 6 May 2024\n")), tmp_path).date == "2024-05-06"


def test_words_that_only_begin_like_a_mark_are_no_tasks(tmp_path: Path) -> None:
    text = f"{BOARD}AI models were shown.\n\nTODO paint the boat\n"

    assert [to_line(item.model_dump()) for item in read(Sample("a.md", text), tmp_path).action_items] == [
        "> paint the boat"
    ]


def test_each_message_of_a_mail_folder_is_read_for_a_meeting_of_its_own(tmp_path: Path) -> None:
    head = "From a@example.org Wed May  8 09:00:00 2024\nFrom: a@example.org\nSubject: Minutes of the board\n\n"
    text = "".join(f"{head}Date: {day} May 2024\nPresent: Ann, Ben\n\nDecision: {day} go\n\n" for day in (6, 7))
    text += head.replace("Minutes of the board", "Lunch") + "Shall we eat at noon?\n"

    found = find_meetings(Sample("board.mbox", text), tmp_path)
    assert [(each.page_number, each.data["date"], each.data["title"]) for each in found] == [
        (1, "2024-05-06", "Minutes of the board"),
        (2, "2024-05-07", "Minutes of the board"),
    ]


def test_running_titles_are_no_part_of_an_item_of_printed_minutes(tmp_path: Path) -> None:
    first = [
        "Minutes of the board 2024-01-05",
        "Present: Ann, Ben",
        "Decisions:",
        "- The boat is sold",
    ]
    second = ["- The dog gets a coat", "Action items:", "- Ann: write to all the people who wrote to the board before"]
    third = ["- Ben: paint the pier, the bench and the box that stands beside it", "- Ann: thank him"]
    pages = [[*lines, f"Harbour board Page {number} of 3"] for number, lines in enumerate((first, second, third), 1)]
    path = tmp_path / "minutes.pdf"
    path.write_bytes(build_pdf([[(50, 700 - 20 * place, line) for place, line in enumerate(lines)] for lines in pages]))
    (found,) = MeetingsExtractor().extract(read_input(path, tmp_path))
    meeting = Meeting.model_validate(found.data)
    assert [item.text for item in meeting.decisions] == ["The boat is sold", "The dog gets a coat"]
    assert [to_line(item.model_dump()) for item in meeting.action_items] == [
        "Ann > write to all the people who wrote to the board before",
        "Ben > paint the pier, the bench and the box that stands beside it",
        "Ann > thank him",
    ]


def test_a_decision_that_is_struck_through_is_none(tmp_path: Path) -> None:
    text = f"{BOARD}## Decisions\n1. Sell the boat\n2. ~~Buy another~~\n3. Keep ~~one~~ two dogs\n"

    found = read(Sample("a.md", text), tmp_path).decisions
    assert [item.text for item in found] == ["Sell the boat", "Keep one two dogs"]


def test_an_initial_ends_no_sentence(tmp_path: Path) -> None:
    text = f"{BOARD}It rained. Agreed to buy the boat of B. Marsh by Friday. Then all went home.\n"
    found = read(Sample("a.md", text), tmp_path).decisions
    assert [item.text for item in found] == ["Agreed to buy the boat of B. Marsh by Friday."]
