"""`footnote serve` on one data directory and one port: started, ended and started again."""

import asyncio
import json
import os
import random
import signal
import socket
import sys
import time
from pathlib import Path

from tests.entering import cookies_of, enter

FOOTNOTE = Path(sys.executable).with_name("footnote")
READY_SECONDS = 120.0  # it takes one or two; a busy machine many
END_SECONDS = 60.0
# Below the ports that systems give to outgoing connections: nobody gets it while the service is down.
PORTS = range(20_000, 30_000)
HOUSES = 12
# What aiohttp 3.14 logs when a reply is complete in the very moment in which a shutdown cuts it off; nothing is amiss.
CUT_OFF = ("aiohttp.server: Unhandled exception", "InvalidStateError: invalid state")


class Served:
    """The service of one folder: <folder>/data, <folder>/service.log."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data_dir = folder / "data"
        self.log = folder / "service.log"
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self._process: asyncio.subprocess.Process | None = None
        self._started = 0.0

    @property
    def process(self) -> asyncio.subprocess.Process:
        if self._process is None:
            raise RuntimeError("the service was not started")
        return self._process

    async def ingest(self) -> None:
        """Give it a small library, one note a house, unless it has one."""
        if self.data_dir.exists():
            return
        notes = self.folder / "notes"
        notes.mkdir()
        for number in range(HOUSES):
            text = f"# House {number}\n\nThe key of house {number} hangs under stair {number + 3}.\n"
            (notes / f"house-{number}.md").write_text(text)
        process = await self._run("ingest", str(notes))
        said, _ = await process.communicate()
        if process.returncode != 0:
            raise RuntimeError(f"the library can't be ingested: {said.decode()} {self.log.read_text()}")

    async def start(self) -> None:
        """Start a process, and do not wait for it."""
        self._started = time.monotonic()
        self._process = await self._run("serve", "--json")

    async def ready(self) -> float:
        """Wait until it says that it is ready; gives the seconds since its start."""
        assert self.process.stdout is not None
        line = await asyncio.wait_for(self.process.stdout.readline(), READY_SECONDS)
        if not line:
            raise RuntimeError(f"the service did not start: {self.log.read_text()[-2000:]}")
        said = json.loads(line)
        assert said["pid"] == self.process.pid
        if not cookies_of(self.url):  # the session outlives all kills
            await asyncio.to_thread(enter, said["link"])
        return time.monotonic() - self._started

    async def end(self, number: signal.Signals) -> float:
        """Send a signal and wait for the end; gives the seconds it took."""
        began = time.monotonic()
        self.process.send_signal(number)
        await asyncio.wait_for(self.process.communicate(), END_SECONDS)
        return time.monotonic() - began

    async def close(self) -> None:
        """See that no process is left; safe to repeat."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.communicate()

    def complaints(self) -> list[str]:
        """Lines of its log that tell of a bug."""
        lines = self.log.read_text(errors="replace").splitlines()
        own = [line for line in lines if not all(part in line for part in CUT_OFF)]
        return [line for line in own if "Traceback" in line or " ERROR " in line or not line[:4].isdigit()]

    async def _run(self, *arguments: str) -> asyncio.subprocess.Process:
        own = {"FOOTNOTE_DATA_DIR": str(self.data_dir), "FOOTNOTE_WEB__PORT": str(self._port)}
        foreign = {name: value for name, value in os.environ.items() if not name.startswith("FOOTNOTE_")}
        with self.log.open("ab") as log:
            return await asyncio.create_subprocess_exec(
                FOOTNOTE, *arguments, stdout=asyncio.subprocess.PIPE, stderr=log, cwd=self.folder, env=foreign | own
            )


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    for port in random.sample(PORTS, len(PORTS)):
        with socket.socket() as trial:
            try:
                trial.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no port is free")
