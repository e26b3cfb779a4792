"""Job pages in a browser: recent requests, the tree of one, stopping it and asking again."""

from datetime import timedelta

import pytest

from core.domain.jobs import JobKind, JobStatus
from core.errors import InvalidState
from tests.builders import (
    NOON,
    build_conversation,
    build_document,
    build_job,
    build_message,
    build_pages,
    build_passages,
    build_source,
)
from tests.unit.bot.web.conftest import OpenBrowser, Shelves, read

SCRIPT = "<script>alert(1)</script>"


async def put_tree(shelves: Shelves, status: JobStatus = JobStatus.DONE, message_key: str | None = "web:1") -> None:
    end = NOON + timedelta(seconds=2) if status.is_final else None
    question = {"question": f"Where is the key? {SCRIPT}", "message_key": message_key}
    question |= {"conversation_id": "c1", "message_id": "m1"}
    await shelves.jobs.save(build_job("j1", status=status, input=question, started_at=NOON, completed_at=end))
    step = build_job(
        "j1/t0",
        parent_id="j1",
        kind=JobKind.TOOL,
        name="search",
        status=JobStatus.FAILED,
        error="the index is closed",
        input={"query": "key"},
        output={"passages": 3},
        started_at=NOON + timedelta(seconds=1),
        completed_at=end,
    )
    await shelves.jobs.save(step)


async def test_recent_requests_lead_to_their_trees(browse: OpenBrowser, shelves: Shelves) -> None:
    browser = await browse()
    assert "Nothing yet" in await read(browser, "/jobs")
    await put_tree(shelves)
    text = await read(browser, "/jobs")

    assert 'href="/jobs/j1"' in text
    assert "Where is the key? &lt;script&gt;" in text
    assert ">Answered<" in text
    assert "2.0 s" not in text and "step" not in text


async def test_reading_is_told_in_words_and_collected_data_only_on_demand(
    browse: OpenBrowser, shelves: Shelves
) -> None:
    names = {"files": 4, "names": ["a.md", "b.pdf", "c.md", "d.md"]}
    jobs = [
        build_job("j1", kind=JobKind.INGEST, name="uploads", input=names, status=JobStatus.RUNNING),
        build_job(
            "j2", kind=JobKind.INGEST, name="uploads", input={"files": 1, "names": ["e.md"]}, status=JobStatus.DONE
        ),
        build_job("j3", kind=JobKind.SYNC, name="sync wiki", input={"source": "wiki"}, status=JobStatus.FAILED),
        build_job("j4", kind=JobKind.EXTRACTION, name="extract", status=JobStatus.DONE),
    ]
    await shelves.jobs.save(*jobs)
    browser = await browse()
    text = await read(browser, "/jobs")

    assert "Reading a.md, b.pdf and 2 more" in text and ">Working<" in text
    assert "Read e.md" in text and ">Done<" in text
    assert "Looking for changes in “wiki”" in text and ">Failed<" in text
    assert "Collected" not in text and "uploads" not in text and "ingest" not in text
    assert "Collected dates, tasks and other data" in await read(browser, "/jobs?show=data")
    assert "Nothing yet" in await read(browser, "/jobs?show=questions")
    assert "Read e.md" in await read(browser, "/jobs?show=documents")
    assert "<h1>Read e.md</h1>" in await read(browser, "/jobs/j2")


async def test_a_tree_shows_status_parameters_time_and_raw_output(browse: OpenBrowser, shelves: Shelves) -> None:
    await put_tree(shelves)
    browser = await browse()
    text = await read(browser, "/jobs/j1")

    for part in (
        "<strong>Answering the question</strong>",
        "<strong>Searching the documents</strong>",
        "search (tool)",
        ">Failed</span>",
        "the index is closed",
        "2.0 s",
        "1.0 s",
        "&#34;query&#34;: &#34;key&#34;",
        "&#34;passages&#34;: 3",
    ):
        assert part in text
    assert 'x="50.0" width="50.0"' in text
    assert 'data-live="no"' in text
    assert await read(browser, "/jobs/j1%2Ft0") == text


async def test_a_step_shows_what_it_found_while_it_may_be_read(browse: OpenBrowser, shelves: Shelves) -> None:
    source = build_source()
    document = build_document("tides.md", source, title="Tides")
    pages = build_pages(document, "High water is at noon.")
    passages = build_passages(pages)
    await shelves.corpus.save_source(source)
    await shelves.corpus.switch_revision(document, pages, passages)
    step = build_job("j1/t0", parent_id="j1", kind=JobKind.TOOL, output={"passage_ids": [passages[0].id]})
    await shelves.jobs.save(build_job("j1"), step)
    browser = await browse()

    assert "Tides, page 1</a>: " in (text := await read(browser, "/jobs/j1")) and "High water is at noon." in text
    await shelves.corpus.remove_documents([document.id])
    assert "High water" not in await read(browser, "/jobs/j1")


async def test_a_running_answer_is_live_and_can_be_stopped(browse: OpenBrowser, shelves: Shelves) -> None:
    await put_tree(shelves, JobStatus.RUNNING, message_key=None)
    browser = await browse()
    text = await read(browser, "/jobs/j1")
    assert 'data-live="yes"' in text
    assert 'action="/jobs/j1/cancel"' in text

    stopped = await browser.post("/jobs/j1/cancel", allow_redirects=False)
    assert (stopped.status, stopped.headers["Location"]) == (303, "/jobs/j1")
    assert (await shelves.jobs.get("j1", "local")).status is JobStatus.CANCELLED
    assert (await browser.post("/jobs/j1/cancel")).status == 409


async def test_the_worker_is_told_to_stop_a_question(browse: OpenBrowser, shelves: Shelves) -> None:
    told: list[tuple[str, str]] = []

    class Controls:
        async def cancel(self, message_key: str, by: str) -> None:
            told.append((message_key, by))

    await put_tree(shelves, JobStatus.RUNNING)
    await shelves.conversations.add(build_conversation("c1"))
    await shelves.conversations.append("c1", [build_message("m1", author="ada")])
    response = await (await browse(worker=Controls())).post("/jobs/j1/cancel", allow_redirects=False)

    assert response.status == 303
    assert told == [("web:1", "ada")]


async def test_a_failed_request_can_be_asked_again(browse: OpenBrowser, shelves: Shelves) -> None:
    await put_tree(shelves, JobStatus.FAILED)
    asked: list[str] = []

    async def again(job_id: str) -> str:
        asked.append(job_id)
        await shelves.jobs.save(build_job("j2"))
        return "j2"

    browser = await browse(ask_again=again)
    assert 'action="/jobs/j1/retry"' in await read(browser, "/jobs/j1")
    response = await browser.post("/jobs/j1/retry", allow_redirects=False)

    assert (asked, response.headers["Location"]) == (["j1"], "/jobs/j2")


async def test_while_a_question_waits_for_its_turn_the_list_is_shown(
    browse: OpenBrowser, shelves: Shelves, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def again(job_id: str) -> str:
        return "not begun"

    monkeypatch.setattr("bot.web.pages.jobs.BEGIN_PAUSE_SECONDS", 0.001)
    browser = await browse(ask_again=again)
    response = await browser.post("/jobs/j1/retry", allow_redirects=False)

    assert response.headers["Location"] == "/jobs"


async def test_what_can_not_be_asked_again_says_why(browse: OpenBrowser, shelves: Shelves) -> None:
    await put_tree(shelves)

    async def again(job_id: str) -> str:
        raise InvalidState("Job 'j1' is done: only failed or cancelled requests can be retried.")

    browser = await browse(ask_again=again)
    assert "/retry" not in await read(browser, "/jobs/j1")
    response = await browser.post("/jobs/j1/retry")
    assert response.status == 409
    assert "only failed or cancelled requests can be retried" in await response.text()


async def test_a_get_changes_nothing(browse: OpenBrowser, shelves: Shelves) -> None:
    await put_tree(shelves, JobStatus.RUNNING)
    await (await browse()).get("/jobs/j1/cancel")

    assert (await shelves.jobs.get("j1", "local")).status is JobStatus.RUNNING
