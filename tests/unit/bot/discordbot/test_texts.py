from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.discordbot.rendering.components import DiscordPost
from bot.discordbot.rendering.texts import (
    TREE_BUDGET,
    ThreadItem,
    job_tree_text,
    notice_view,
    running_view,
    steps_post,
    text_post,
    threads_view,
)
from bot.presentation.markdown import units
from bot.presentation.platform_text import ThreadPage
from core.domain.jobs import Job, JobKind, JobStatus
from tests.builders import NOON, build_job
from tests.unit.bot.any_answers import trees
from tests.unit.bot.discordbot.shown import components_of, custom_ids_of, faults_of, labels_of, text_of
from tests.unit.bot.markdown_texts import GOOD, HOSTILE, SCRIPTS, any_texts, bare

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
    assert faults_of(steps_post(jobs)) == []
    assert units(job_tree_text(jobs, TREE_BUDGET)) <= TREE_BUDGET


def test_a_tree_is_a_nested_list_in_words() -> None:
    assert job_tree_text(TREE).replace("\u200b", "") == (
        "- ▸ ask “Where is the \\*key\\*?” (running)\n"
        "  - ✓ Choosing what to read\n"
        "    - ✓ Searching for “key” (3 passages, 1.2 s)\n"
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
    post = steps_post([TREE[0], *steps])
    said = "\n".join(map(text_of, post.parts))
    assert len(post.parts) > 1
    assert said.startswith("**Steps**\n- ▸ ask")
    assert [f"step {n}\n" in f"{said}\n" for n in range(400)] == [True] * 400


def test_no_steps_are_said_to_be_none() -> None:
    assert text_of(steps_post([]).parts[0]).endswith("No steps were recorded for this answer.")


def test_before_the_first_word_it_says_that_it_works() -> None:
    part = running_view("", [], post_id=POST)
    assert text_of(part) == "**Working on it**"
    assert labels_of(part) == ["Stop", "Show steps"]
    assert custom_ids_of(part) == (f"fn:stop:{POST}@{POST}.1", f"fn:how:{POST}")


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


words = st.one_of(st.sampled_from(HOSTILE + SCRIPTS), st.text(max_size=60))
rows = st.lists(
    st.builds(ThreadItem, title=words, detail=words, url=st.sampled_from([None, GOOD, GOOD + "x" * 600])), max_size=30
)


@settings(deadline=None)
@given(rows, words, st.integers(1, 4))
def test_whatever_is_listed_discord_takes_it_and_nothing_does_harm(
    found: list[ThreadItem], heading: str, page: int
) -> None:
    view = threads_view(ThreadPage(rows=found, list_id="mine", page=page, pages=4, heading=heading))
    assert faults_of(DiscordPost(parts=(view,))) == []


@settings(deadline=None)
@given(any_texts)
def test_notices_and_results_are_harmless_and_within_the_limits(text: str) -> None:
    assert faults_of(text_post(text)) == []
    assert faults_of(DiscordPost(parts=(notice_view(text, post_id=POST),)), POST) == []


def test_a_page_of_threads_has_titles_details_and_ways_on() -> None:
    found = [ThreadItem(title="The *key*", detail="12 messages", url=GOOD), ThreadItem(title="")]
    part = threads_view(ThreadPage(rows=found, list_id="mine", page=2, pages=3, heading="Your threads", first=11))
    assert text_of(part) == (
        f"**Your threads** (page 2 of 3)\n11. [The \\*key\\*]({GOOD}) (12 messages)\n12. \\(no title\\)"
    )
    assert labels_of(part) == ["Previous page", "Next page"]
    assert custom_ids_of(part) == ("fn:page:mine:1", "fn:page:mine:3")


def test_at_the_ends_of_a_list_there_is_no_way_on() -> None:
    ends = [
        threads_view(ThreadPage(rows=[], list_id="mine", page=page, pages=2, heading="Your threads")) for page in (1, 2)
    ]
    buttons = [components_of(part)[1]["components"] for part in ends]
    assert [[bool(item.get("disabled")) for item in row] for row in buttons] == [[True, False], [False, True]]


def test_an_empty_list_says_so_and_has_no_buttons() -> None:
    part = threads_view(ThreadPage(rows=[], list_id="mine", page=1, pages=1, heading="Your threads"))
    assert text_of(part) == "**Your threads**\nThere is nothing here yet."
    assert labels_of(part) == []


def test_rows_that_do_not_fit_are_counted() -> None:
    found = [ThreadItem(title="title " * 30, detail="detail " * 30)] * 30
    said = text_of(threads_view(ThreadPage(rows=found, list_id="mine", page=1, pages=1, heading="Your threads")))
    listed = said.count("\n") - 1
    assert said.endswith(f"… and {30 - listed} more")


def test_an_error_names_the_post_it_stands_for() -> None:
    part = notice_view("The index cannot be opened.", post_id=POST)
    assert text_of(part) == "The index cannot be opened."
    assert custom_ids_of(part) == (f"fn:how:{POST}@{POST}.1",)


def test_a_refusal_is_only_a_sentence() -> None:
    assert custom_ids_of(notice_view("Not here.")) == ()


def test_a_notice_longer_than_a_message_says_that_it_is_cut() -> None:
    assert text_of(notice_view("word " * 2_000)).endswith("\n-# There is more to this than a message holds.")


def test_a_long_result_is_posted_whole() -> None:
    text = "\n".join(f"- `/command{n}`: does the thing number {n}" for n in range(300))
    post = text_post(text)
    assert len(post.parts) > 1
    assert bare("".join(map(text_of, post.parts))) == bare(text)
