"""The service is killed right after it accepted files: the next one reads them, each once."""

import json
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.serving import ServiceProcess
from tests.entering import SAME_SITE, cookies_of

pytestmark = pytest.mark.slow
FILES = {f"notes-{number}.md": f"# Note {number}\n\nThe lamp of tower {number} is green.\n" for number in range(12)}
PATIENCE_SECONDS = 120


def documents(url: str) -> dict[str, Any]:
    found = (
        httpx.get(f"{url}api/v1/workspaces/local/documents", timeout=60, cookies=cookies_of(url))
        .raise_for_status()
        .json()["documents"]
    )
    return {item["document"]: item for item in found}


def state(url: str) -> dict[str, Any]:
    return dict(
        httpx.get(
            f"{url}library/uploads", headers={"Accept": "application/json"}, timeout=60, cookies=cookies_of(url)
        ).json()
    )


def test_files_accepted_before_a_kill_are_read_at_the_next_start(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with ServiceProcess(data_dir) as service:
        url = service.wait_ready()["url"]
        for name, text in FILES.items():
            sent = httpx.post(
                f"{url}library/uploads",
                files={"files": (name, text)},
                headers={"Accept": "application/json", **SAME_SITE},
                timeout=60,
                cookies=cookies_of(url),
            )
            assert sent.json()["refused"] == []
        service.end(signal.SIGKILL)

    with ServiceProcess(data_dir) as service:
        url = service.wait_ready()["url"]
        deadline = time.monotonic() + PATIENCE_SECONDS
        while set(documents(url)) != set(FILES) or state(url)["pending"]:
            assert time.monotonic() < deadline, json.dumps([documents(url), state(url)])
            time.sleep(0.2)
        found = httpx.get(
            f"{url}api/v1/workspaces/local/search",
            params={"query": "lamp of tower 7"},
            timeout=60,
            cookies=cookies_of(url),
        ).json()["hits"]
        assert {item["document"] for item in found} <= set(FILES)
        jobs = httpx.get(f"{url}api/v1/workspaces/local/jobs", timeout=60, cookies=cookies_of(url)).json()["jobs"]
        assert [job["status"] for job in jobs if job["name"] == "uploads" and job["status"] == "running"] == []
