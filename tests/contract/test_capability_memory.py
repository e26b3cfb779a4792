"""What every CapabilityMemory promises (core/ports/__init__.py)."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from core.domain.chat import Capabilities
from core.ports import CapabilityMemory
from storage.models.capabilities import MOST, CapabilityFile
from tests.fakes import ManualClock, MemoryCapabilities

FOUND = Capabilities(tools=False, structured=True, images=True, context_tokens=4_096)
Make = Callable[[], CapabilityMemory]


@pytest.fixture(params=["file", "memory"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> CapabilityMemory:
    if request.param == "memory":
        return MemoryCapabilities()
    return CapabilityFile(tmp_path / "data" / "capabilities.json", ManualClock())


async def test_what_was_kept_is_found_again(memory: CapabilityMemory) -> None:
    assert await memory.find("server model") is None
    await memory.keep("server model", FOUND)
    assert await memory.find("server model") == FOUND
    assert await memory.find("server other") is None


async def test_the_last_finding_counts(memory: CapabilityMemory) -> None:
    await memory.keep("server model", FOUND)
    await memory.keep("server model", Capabilities(tools=True))
    assert await memory.find("server model") == Capabilities(tools=True)


async def test_a_file_is_read_by_the_next_process_for_some_weeks(tmp_path: Path) -> None:
    path, clock = tmp_path / "capabilities.json", ManualClock()
    await CapabilityFile(path, clock).keep("server model", FOUND)
    assert await CapabilityFile(path, clock).find("server model") == FOUND
    clock.advance(timedelta(days=31).total_seconds())
    assert await CapabilityFile(path, clock).find("server model") is None


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"m": 5}', '{"m": {"found_at": "2026-01-01"}}', '{"m": {"tools": 1}}']
)
async def test_a_file_that_can_not_be_read_is_no_finding_and_is_written_anew(tmp_path: Path, text: str) -> None:
    path = tmp_path / "capabilities.json"
    path.write_text(text)
    memory = CapabilityFile(path, ManualClock())
    assert await memory.find("m") is None
    await memory.keep("m", FOUND)
    assert await memory.find("m") == FOUND


async def test_a_place_that_can_not_be_written_is_no_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "data").write_text("a file, no folder")
    await CapabilityFile(tmp_path / "data" / "capabilities.json", ManualClock()).keep("m", FOUND)
    assert "are not stored" in caplog.text


async def test_a_file_is_bounded(tmp_path: Path) -> None:
    memory = CapabilityFile(tmp_path / "capabilities.json", ManualClock())
    for number in range(MOST + 5):
        await memory.keep(f"m{number}", FOUND)
    assert await memory.find("m4") is None and await memory.find("m5") == FOUND
