"""An extraction that is killed while it asks a model: its job ends, and nothing that was read is paid for again."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.config import Config
from bot.wiring.parts import open_parts
from core.domain.extracts import ExtractQuery, ExtractType
from core.domain.jobs import JobKind, JobStatus
from core.work.orphaned_jobs import CUT_OFF
from storage.documents.extraction.by_model import TOOL
from tests.anthropic_server import AnthropicServer, Call, Fault, Reply
from tests.anthropic_server.server import KEY, MODEL
from tests.e2e.serving import ServiceProcess

CLOSED = "After much talk everybody was for closing the northern pier in May."
NOTE = f"""# Monday

The harbour board sat in the customs house. {CLOSED}

# Tuesday

Nothing was talked about but the weather, which was poor all along the coast.

# Wednesday

The ferry was late again, and nobody at the harbour could say why that was.
"""


@pytest.fixture
async def server() -> AsyncIterator[AnthropicServer]:
    async with AnthropicServer() as model:
        yield model


async def test_a_killed_run_is_ended_and_goes_on_behind_what_it_had_read(
    server: AnthropicServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    (tmp_path / "week.md").write_text(NOTE)
    settings = {
        "FOOTNOTE_PROVIDER__NAME": "anthropic",
        "FOOTNOTE_PROVIDER__MODEL": MODEL,
        "FOOTNOTE_PROVIDER__BASE_URL": server.url,
        "FOOTNOTE_EXTRACTION__WITH_MODEL": "true",
        "FOOTNOTE_EXTRACTION__REQUESTS_PER_MINUTE": "6000",
    }
    config = Config.model_validate(
        {
            "data_dir": tmp_path / "data",
            "provider": {"name": "anthropic", "model": MODEL, "base_url": server.url},
            "extraction": {"with_model": True, "requests_per_minute": 6000},
        }
    )
    async with open_parts(config) as app:
        await app.ingests.add(
            [tmp_path / "week.md"], app.workspace, source="week", kind="auto", force=False, progress=lambda done: None
        )
    assert server.requests == []  # an ingest never asks

    decision = {"kind": "decision", "quote": CLOSED}
    server.script(Reply.of(Call(TOOL, {"model_meetings": [decision]})), Fault(-1))
    arguments = ("extract", "--extractor", "model_meetings", "--json")
    with ServiceProcess(config.data_path, *arguments, **settings) as process:
        async with asyncio.timeout(60):
            while len(server.requests) < 2:  # noqa: ASYNC110 - what another process does
                await asyncio.sleep(0.02)
        await asyncio.to_thread(process.end, signal.SIGKILL)

    async with open_parts(config) as app:
        [dead] = await app.stores.jobs.list_running(JobKind.EXTRACTION, "extract by model")
        server.script(*[Reply.of(Call(TOOL, {"model_meetings": []}))] * 2)
        report = await app.extractions.run(app.workspace, extractor="model_meetings")
        assert (report.spent.requests, report.documents, report.extracts) == (2, 1, 1)
        assert {(job.status, job.error) for job in await app.stores.jobs.list_tree(dead.id)} == {
            (JobStatus.FAILED, CUT_OFF)
        }
        query = ExtractQuery(type=ExtractType.MEETING)
        found = await app.stores.extracts.list_extracts(query, await app.access.scope(app.workspace))
        assert [item.extractor for item in found] == ["model_meetings"]
        facts = await app.facts.ask("decisions about the pier", await app.access.scope(app.workspace))
        assert [row.citation.quote for row in facts.rows] == [CLOSED]
