from datetime import timedelta

from hypothesis import given, settings

from bot.discordbot.layout import DiscordPost
from bot.discordbot.render_running import TREE_BUDGET, how_view, job_tree_text, running_view
from bot.presentation.rendering import units
from core.domain.jobs import Job, JobKind, JobStatus
from tests.builders import NOON, build_job
from tests.unit.bot.any_answers import trees
from tests.unit.bot.discordbot.shown import faults_of, labels_of, text_of
from tests.unit.bot.markdown_texts import any_texts

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
    build_job("r/p1", parent_id="r", name="plan", status=JobStatus.FAILED, error="No <@1> reply.", attempts=2),
]


@settings(deadline=None)
@given(any_texts, trees())
def test_whatever_is_drafted_discord_takes_it_and_nothing_in_it_does_harm(text: str, jobs: list[Job]) -> None:
    assert faults_of(DiscordPost(parts=(running_view(text, jobs, post_id=POST),)), POST) == []


@settings(deadline=None)
@given(trees())
def test_a_whole_tree_is_within_the_limits(jobs: list[Job]) -> None:
    assert faults_of(how_view(jobs)) == []
    assert units(job_tree_text(jobs, TREE_BUDGET)) <= TREE_BUDGET


def test_a_tree_is_a_nested_list_in_words() -> None:
    assert job_tree_text(TREE).replace("\u200b", "") == (
        "- ▸ ask “Where is the \\*key\\*?” (running)\n"
        "  - ✓ plan\n"
        "    - ✓ search “key” (3 passages, 1.2 s)\n"
        "  - ✗ plan (failed, try 2, No \\<@1\\> reply.)"
    )


def test_a_long_tree_keeps_its_root_and_its_latest_steps() -> None:
    steps = [build_job(f"r/t{n}", parent_id="r", name=f"step {n}", status=JobStatus.DONE) for n in range(200)]
    lines = job_tree_text([TREE[0], *steps], 600).split("\n")
    assert lines[0].startswith("- ▸ ask")
    assert lines[1] == f"  - … {200 - len(lines) + 2} earlier steps"
    assert lines[-1] == "  - ✓ step 199"


def test_how_an_answer_was_made_is_shown_whole() -> None:
    steps = [build_job(f"r/t{n}", parent_id="r", name=f"step {n}", status=JobStatus.DONE) for n in range(400)]
    post = how_view([TREE[0], *steps])
    said = "\n".join(map(text_of, post.parts))
    assert len(post.parts) > 1
    assert said.startswith("**How this was answered**\n- ▸ ask")
    assert [f"step {n}\n" in f"{said}\n" for n in range(400)] == [True] * 400


def test_no_steps_are_said_to_be_none() -> None:
    assert text_of(how_view([]).parts[0]).endswith("No steps were recorded for this answer.")


def test_before_the_first_word_it_says_that_it_works() -> None:
    part = running_view("", [], post_id=POST)
    assert text_of(part) == "**Working on it**"
    assert labels_of(part) == ["Stop", "How this was answered"]
    assert part.custom_ids == (f"fn:stop:{POST}@{POST}.1", f"fn:how:{POST}")


def test_a_draft_has_neither_footnotes_nor_links() -> None:
    part = running_view("Under the mat [7]. See [this](https://docs.example/x) [8][9].", TREE, post_id=POST)
    assert part.texts[0] == "Under the mat. See this (`docs.example/x`)."


def test_a_draft_longer_than_a_message_shows_its_beginning() -> None:
    part = running_view("first words. " + "word " * 2_000, TREE, post_id=POST)
    assert part.texts[0].startswith("first words.")
    assert part.texts[0].endswith("\n\n-# More is being written.")


def test_a_draft_in_the_middle_of_code_is_closed() -> None:
    part = running_view("Look:\n```python\nx = 1", [], post_id=POST)
    assert part.texts[0] == "Look:\n```python\nx = 1\n```"
