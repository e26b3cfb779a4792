"""A sync that is killed: whoever shows its job next says that it failed, and the next sync goes on."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bot.config import Config, load_config
from bot.wiring.parts import Parts, open_parts
from core.domain.jobs import Job, JobKind, JobStatus
from core.work.orphaned_jobs import CUT_OFF

# Syncs the one source of a configuration; its fetch never ends.
HANGING = """
import asyncio, sys
from pathlib import Path
from bot.config import load_config
from bot.wiring.parts import Parts, open_parts
from storage.sources import building

class Hanging:
    async def fetch(self, mirror, progress, *, force=False):
        print("fetching", flush=True)
        await asyncio.sleep(600)

building.build_fetcher = lambda spec, token: Hanging()

async def main():
    async with open_parts(load_config(Path(sys.argv[1]), data_dir=None)) as app:
        await app.syncs.sync("local")

asyncio.run(main())
"""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    file = tmp_path / "config.toml"
    file.write_text(
        f'data_dir = "{tmp_path / "data"}"\n[[sources]]\nname = "wiki"\nkind = "git"\n'
        f'url = "{(tmp_path / "none.git").as_uri()}"\nallow_private = true\n'
    )
    return load_config(file, data_dir=None)


async def shown(app: Parts) -> Job:
    """The oldest sync, as lists of jobs show it."""
    return (await app.jobs.recent("local"))[-1][0]


async def test_a_killed_sync_is_shown_as_failed_once_nobody_can_be_at_work_on_it(
    config: Config, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", HANGING, str(tmp_path / "config.toml")]
    syncing = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3])
    assert syncing.stdout is not None
    assert await syncing.stdout.readline() == b"fetching\n"
    async with open_parts(config) as app:
        async with asyncio.timeout(60):
            while sum(map(len, await app.jobs.recent("local"))) < 2:  # noqa: ASYNC110 - what another process writes
                await asyncio.sleep(0.05)
        assert (await shown(app)).status is JobStatus.RUNNING  # it does run
        syncing.send_signal(signal.SIGKILL)
        await syncing.wait()

        dead = await shown(app)
        assert (dead.kind, dead.status, dead.error) == (JobKind.SYNC, JobStatus.FAILED, CUT_OFF)
        tree = await app.jobs.tree(dead.id, "local")
        assert {(job.status, job.error) for job in tree} == {(JobStatus.FAILED, CUT_OFF)} and len(tree) == 2


async def test_a_sync_ends_what_a_killed_one_left_before_it_begins(config: Config) -> None:
    async with open_parts(config) as app:
        job = Job(
            id="dead",
            workspace="local",
            root_id="dead",
            parent_id=None,
            kind=JobKind.SYNC,
            name="sync elsewhere",
            status=JobStatus.RUNNING,
            created_at=app.clock.now(),
        )
        await app.stores.jobs.save(job)
        [report] = await app.syncs.sync("local")
        assert not report.is_good  # there is no such repository
        assert (await app.stores.jobs.get("dead", "local")).error == CUT_OFF
