from dataclasses import replace
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.slackbot.rendering.blocks import MAX_TASK_TEXT, SlackPost
from bot.slackbot.rendering.drafts import how_view, running_message, start_chunks, task_chunks, text_chunk
from core.domain.jobs import Job, JobKind, JobStatus
from tests.builders import NOON, build_job
from tests.unit.bot.any_answers import trees
from tests.unit.bot.markdown_texts import ZERO_WIDTH, any_texts
from tests.unit.bot.slackbot.shown import (
    body_of,
    faults_of,
    faults_of_view,
    harm_in_chunks,
    labels_of,
    names_of,
    text_of,
)

POST = "c" * 32
TREE = [
    build_job("r", name="ask", input={"question": "Where is the *key*?"}),
    build_job("r/p0", parent_id="r", name="plan", kind=JobKind.PLANNING, status=JobStatus.DONE),
    build_job(
        "r/p0/t0",
        parent_id="r/p0",
        name="search",
        kind=JobKind.TOOL,
        status=JobStatus.DONE,
        input={"query": "key"},
        output={"passages": 3},
        started_at=NOON,
        completed_at=NOON + timedelta(milliseconds=1_234),
    ),
    build_job("r/p1", parent_id="r", name="plan", status=JobStatus.FAILED, error="No <@U1> reply.", attempts=2),
]


def steps(count: int) -> list[Job]:
    made = [build_job(f"r/t{n}", parent_id="r", name=f"step {n}", status=JobStatus.DONE) for n in range(count)]
    return [TREE[0], *made]


@settings(deadline=None)
@given(any_texts, trees())
def test_whatever_is_drafted_slack_takes_it_and_nothing_in_it_does_harm(text: str, jobs: list[Job]) -> None:
    assert faults_of(SlackPost(parts=(running_message(text, jobs, post_id=POST),)), POST) == []


@settings(deadline=None)
@given(any_texts, trees())
def test_whatever_is_streamed_slack_takes_it_and_nothing_in_it_does_harm(text: str, jobs: list[Job]) -> None:
    assert harm_in_chunks([*start_chunks(POST), *task_chunks(jobs)]) == []
    assert text_chunk(text) == {"type": "markdown_text", "text": text}


@settings(deadline=None)
@given(trees(), st.integers(1, 80))
def test_a_whole_tree_is_within_the_limits(jobs: list[Job], times: int) -> None:
    copies = [
        replace(job, id=f"{n}/{job.id}", parent_id=job.parent_id and f"{n}/{job.parent_id}")
        for n in range(times)
        for job in jobs
    ]
    assert faults_of_view(how_view(copies)) == []


def test_a_tree_is_a_nested_list_in_words() -> None:
    block = how_view(TREE)["blocks"][0]
    shown = [
        (part["indent"], "".join(piece["text"] for piece in item["elements"]))
        for part in block["elements"]
        for item in part["elements"]
    ]
    assert shown == [
        (0, "▸ ask “Where is the *key*?” (running)"),
        (1, "✓ Choosing what to read"),
        (2, "✓ Searching for “key” (3 passages, 1.2 s)"),
        (1, "✗ plan (failed, try 2, No <@U1> reply.)"),
    ]


def test_a_long_tree_keeps_its_root_and_its_latest_steps() -> None:
    said = text_of(running_message("", steps(200), post_id=POST))
    assert "▸ ask “Where is the *key*?” (running)…" in said
    assert "earlier steps✓ step" in said
    assert "✓ step 199" in said
    assert "✓ step 0✓" not in said


def test_a_tree_that_a_view_cannot_hold_counts_what_it_leaves_out() -> None:
    said = text_of(how_view(steps(2_000)))
    left_out = 2_000 - said.count("✓ step")
    assert f"… {left_out} earlier steps" in said


def test_how_an_answer_was_made_is_shown_whole() -> None:
    said = text_of(how_view(steps(400)))
    assert all(f"✓ step {n}" in said for n in range(400))


def test_no_steps_are_said_to_be_none() -> None:
    assert text_of(how_view([])).strip() == "No steps were recorded for this answer."


def test_before_the_first_word_it_says_that_it_works() -> None:
    part = running_message("", [], post_id=POST)
    assert body_of(part) == "**Working on it**"
    assert part.text == "Working on it"
    assert labels_of(part) == ["Stop", "Show steps"]
    assert names_of(part) == [f"fn:stop:{POST}", f"fn:how:{POST}"]
    assert part.blocks[-1]["block_id"] == f"fn:part:{POST}@{POST}.1"


def test_a_draft_has_neither_footnotes_nor_links() -> None:
    part = running_message("Under the mat [7]. See [this](https://docs.example/x) [8][9].", TREE, post_id=POST)
    assert body_of(part) == "Under the mat. See this (`docs.example/x`)."


def test_a_draft_longer_than_a_message_shows_its_beginning() -> None:
    part = running_message("first words. " + "word " * 4_000, TREE, post_id=POST)
    assert body_of(part).startswith("first words.")
    assert "\nMore is being written.\n" in text_of(part)


def test_a_stream_begins_with_its_mark_and_a_plan() -> None:
    buttons, plan = start_chunks(POST)
    assert buttons["blocks"][0]["block_id"] == f"fn:part:{POST}@{POST}.1"
    assert plan == {"type": "plan_update", "title": "Working on it"}


def test_steps_are_tasks_and_the_request_is_the_plan() -> None:
    plan, first, search, failed = task_chunks(TREE)
    assert plan == {"type": "plan_update", "title": "Working on it"}
    assert first == {"type": "task_update", "id": "r/p0", "title": "Choosing what to read", "status": "complete"}
    assert (search["title"], search["output"]) == ("Searching for “key”", "3 passages, 1.2 s")
    assert (failed["status"], failed["output"]) == ("error", f"failed, try 2, No <{ZERO_WIDTH}@U1> reply.")


def test_what_came_of_a_step_is_said_at_its_end_alone() -> None:
    (task,) = task_chunks([build_job("t", parent_id="r", name="search", attempts=2)])
    assert task == {"type": "task_update", "id": "t", "title": "Searching the documents", "status": "in_progress"}


def test_long_words_and_ids_of_steps_are_cut_to_what_slack_takes() -> None:
    job = build_job("x" * 300, parent_id="r", name="<" * 400, input={"query": "://" * 400}, error="@here" * 90)
    (task,) = task_chunks([job])
    assert harm_in_chunks([task]) == []
    assert len(task["id"]) == 64
    assert 100 < len(task["title"]) <= MAX_TASK_TEXT
