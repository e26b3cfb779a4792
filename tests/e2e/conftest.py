"""The command line over the sample library, with the packaged models: ingested once, copied for each test."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from bot.cli.app import run
from storage.models.local import encoders
from storage.models.local.files import LocalModel
from tests.copying import copy_folder
from tests.discord_server import DiscordServer
from tests.e2e.discord_service import ACK_SECONDS, DiscordService
from tests.e2e.platform_service import ingest_notes
from tests.e2e.serving import QUICK_END_SECONDS
from tests.e2e.slack_service import ACK_SECONDS as SLACK_ACK_SECONDS
from tests.e2e.slack_service import TRANSPORTS, SlackService
from tests.slack_server import SlackServer

SAMPLES = Path(__file__).parents[2] / "bot" / "sample_library" / "documents"


@dataclass
class Outcome:
    """What a command gave."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Footnote = Callable[..., Outcome]


@pytest.fixture(scope="session", autouse=True)
def models_loaded_once() -> Iterator[None]:
    """Commands that run in this process share the models in memory, each of which takes half a second to load."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("load_text_model", "load_cross_encoder"):
            patch.setattr(encoders, name, _once(getattr(encoders, name)))
        yield


def _once(load: Callable[..., Any]) -> Callable[..., Any]:
    loaded: dict[tuple[object, ...], Any] = {}

    def find(model: LocalModel, cache_dir: Path | None) -> Any:
        key = (model.name, model.folder, *model.digests.values())
        if key not in loaded:
            loaded[key] = load(model, cache_dir)
        return loaded[key]

    return find


@pytest.fixture(scope="session")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory that holds the sample library, as the demo has it."""
    folder = tmp_path_factory.mktemp("data")
    assert run(["--data-dir", str(folder), "ingest", str(SAMPLES), "--source", "sample library", "--json"]) == 0
    return folder


@pytest.fixture
def data_dir(ingested: Path, tmp_path: Path) -> Path:
    """A copy of it that the test may change."""
    return copy_folder(ingested, tmp_path / "data")


@pytest.fixture
def footnote(data_dir: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Footnote:
    """Runs one command line on the copy."""
    monkeypatch.delenv("FOOTNOTE_DATA_DIR", raising=False)
    monkeypatch.chdir(data_dir.parent)

    def call(*arguments: str) -> Outcome:
        capfd.readouterr()
        code = run(["--data-dir", str(data_dir), *arguments])
        captured = capfd.readouterr()
        return Outcome(code=code, out=captured.out, err=captured.err)

    return call


@pytest.fixture(scope="session")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with a note for each of two workspaces."""
    return ingest_notes(tmp_path_factory.mktemp("notes"))


@pytest.fixture
async def discord_service(notes: Path, tmp_path: Path) -> AsyncIterator[DiscordService]:
    """Not yet started."""
    async with DiscordServer(ack_seconds=ACK_SECONDS, shards=2) as server:
        yield DiscordService(server, notes, tmp_path)


@pytest.fixture(params=TRANSPORTS)
async def slack_service(request: pytest.FixtureRequest, notes: Path, tmp_path: Path) -> AsyncIterator[SlackService]:
    """Not yet started; over each transport."""
    async with SlackServer(ack_seconds=SLACK_ACK_SECONDS, trigger_seconds=SLACK_ACK_SECONDS) as server:
        yield SlackService(server, notes, tmp_path, request.param)


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=TRANSPORTS)
async def running_slack(
    request: pytest.FixtureRequest, notes: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[SlackService]:
    """One that runs, for a module whose tests change nothing but their own channels; over each transport."""
    async with SlackServer(ack_seconds=SLACK_ACK_SECONDS, trigger_seconds=SLACK_ACK_SECONDS) as server:
        service = SlackService(server, notes, tmp_path_factory.mktemp("slack"), request.param)
        await service.start()
        yield service
        assert await service.stop() < QUICK_END_SECONDS
        assert "Traceback" not in service.process.printed
