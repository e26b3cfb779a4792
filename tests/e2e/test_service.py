"""The real service: commands go through it while it runs, and it ends as it should."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.cli.demo import DEMO_FOLDER
from bot.config.configuration import DATABASE_FILE
from tests.copying import copy_folder
from tests.e2e.conftest import Footnote
from tests.e2e.serving import QUICK_END_SECONDS, ServiceProcess
from tests.entering import enter, headers_of

pytestmark = pytest.mark.slow
QUESTION = "Who built the clock of Tern?"


@pytest.fixture
def service(data_dir: Path) -> Iterator[ServiceProcess]:
    with ServiceProcess(data_dir) as running:
        running.wait_ready()
        yield running


def lines_of(service: ServiceProcess) -> list[str]:
    return service.log.read_text().splitlines()


def test_every_command_works_through_the_service_as_without_it(
    footnote: Footnote, data_dir: Path, tmp_path: Path
) -> None:
    commands = (
        ("search", "clock", "--json"),
        ("page", "--document", "the-clockmaker-of-tern.txt", "--number", "1", "--json"),
        ("documents", "--json"),
        ("documents", "show", "zebra"),
        ("sources", "--json"),
        ("conversations", "list", "--json"),
        ("search", "clock"),
    )
    alone = [footnote(*command) for command in commands]
    with ServiceProcess(data_dir) as service:
        service.wait_ready()
        through = [footnote(*command) for command in commands]
        doctor = footnote("doctor", "--json").json["checks"]

    assert [(item.code, item.out, item.err) for item in through] == [(item.code, item.out, item.err) for item in alone]
    assert [check["name"] for check in doctor if not check["ok"]] == []
    assert {check["name"] for check in doctor} >= {"database", "index", "library", "discord", "slack"}


def test_asking_ingesting_and_jobs_work_while_it_serves(
    footnote: Footnote, service: ServiceProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes").mkdir()
    Path("notes/kites.md").write_text("# Kites\n\nThe red kite of Ondar flies at noon on Thursdays.\n")

    def run(*arguments: str) -> Any:
        outcome = footnote(*arguments, "--json")
        assert (outcome.code, outcome.err) == (0, ""), service.log.read_text()
        return outcome.json

    report = run("ingest", "notes")
    answer = run("ask", "When does the red kite of Ondar fly?")
    run("ask", "And where?", "--conversation", answer["conversation_id"])
    jobs = [job for job in run("jobs")["jobs"] if job["kind"] == "request"]
    tree = run("jobs", "show", jobs[-1]["id"])["jobs"]

    assert report["documents"]["added"] == 1
    assert answer["status"] == "answered"
    assert answer["citations"][0]["document"] == "kites.md"
    assert len(jobs) == 2
    assert tree[0]["id"] == jobs[-1]["id"]
    shown = run("conversations", "show", answer["conversation_id"])
    assert [message["role"] for message in shown["messages"]].count("user") == 2
    exported = footnote("conversations", "export", answer["conversation_id"]).out
    assert "red kite of Ondar" in exported


def test_many_commands_at_once_are_all_answered(service: ServiceProcess) -> None:
    def ask(number: int) -> Any:
        command = [
            sys.executable,
            "-m",
            "bot",
            "--data-dir",
            str(service.data_dir),
            "search",
            f"bell {number}",
            "--json",
        ]
        return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(ask, range(8)))

    assert all(item["hits"] for item in found)


def test_a_second_service_and_a_taken_port_are_clear_errors(
    service: ServiceProcess, tmp_path: Path, ingested: Path
) -> None:
    command = [sys.executable, "-m", "bot", "--data-dir"]
    second = subprocess.run([*command, str(service.data_dir), "serve"], capture_output=True, text=True, check=False)
    with socket.create_server(("127.0.0.1", 0)) as other:
        environment = {**os.environ, "FOOTNOTE_WEB__PORT": str(other.getsockname()[1])}
        taken = subprocess.run(
            [*command, str(tmp_path / "new"), "serve"], capture_output=True, text=True, check=False, env=environment
        )

    assert (second.returncode, taken.returncode) == (1, 1)
    assert "already runs on data directory" in second.stderr
    assert f"process {service.process.pid}" in second.stderr
    assert "Can't use port" in taken.stderr
    for outcome in (second, taken):
        assert outcome.stderr.count("\n") == 1
        assert outcome.stderr.startswith("footnote: ")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_within_seconds(data_dir: Path, footnote: Footnote, number: int) -> None:
    with ServiceProcess(data_dir) as service:
        service.wait_ready()
        service.wait_warm()
        code, seconds = service.end(number)

        assert (code, seconds < QUICK_END_SECONDS) == (0, True)
        assert "Stopped" in lines_of(service)[-1]
        assert "Traceback" not in service.log.read_text()
    assert not (data_dir / "service.sock").exists()
    assert footnote("search", "bell", "--json").json["hits"]


def test_what_a_killed_service_left_behind_is_ignored(data_dir: Path, footnote: Footnote) -> None:
    with ServiceProcess(data_dir) as service:
        service.wait_ready()
        left = Path(json.loads((data_dir / "service.lock").read_text())["socket"])
        service.end(signal.SIGKILL)
    assert left.exists()

    assert footnote("search", "bell", "--json").json["hits"]
    with ServiceProcess(data_dir) as again:
        again.wait_ready()
        assert footnote("search", "bell", "--json").json["hits"]


@contextmanager
def ingest_through(service: ServiceProcess, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A command whose service has stored some of many notes, and is far from done."""
    folder.mkdir()
    for number in range(150):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\n" + f"Sentence about subject {number}. " * 200)
    before = documents_of(service)
    command = [sys.executable, "-m", "bot", "--data-dir", str(service.data_dir), "ingest", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as ingest:
        while documents_of(service) == before and ingest.poll() is None:
            time.sleep(0.05)
        yield ingest


def documents_of(service: ServiceProcess) -> int:
    with closing(sqlite3.connect(service.data_dir / DATABASE_FILE)) as database:
        (count,) = database.execute("SELECT count(*) FROM document WHERE revision IS NOT NULL").fetchone()
    return int(count)


def test_a_command_whose_service_is_killed_gets_a_clear_error(service: ServiceProcess, tmp_path: Path) -> None:
    with ingest_through(service, tmp_path / "many") as ingest:
        assert ingest.poll() is None
        service.end(signal.SIGKILL)
        _, said = ingest.communicate(timeout=60)

    assert ingest.returncode == 1
    assert "service ended before it answered" in said
    assert "Traceback" not in said


def test_an_ingest_under_way_does_not_hold_up_the_end(service: ServiceProcess, tmp_path: Path) -> None:
    with ingest_through(service, tmp_path / "many") as ingest:
        assert ingest.poll() is None
        code, seconds = service.end()
        _, said = ingest.communicate(timeout=60)

    assert (code, seconds < QUICK_END_SECONDS) == (0, True)
    assert ingest.returncode == 1
    assert "Footnote service" in said


def test_it_serves_pages_and_its_log_has_one_line_an_event(service: ServiceProcess) -> None:
    notice = json.loads((service.data_dir / "service.lock").read_text())
    with urllib.request.urlopen(f"{notice['url']}healthz", timeout=60) as reply:
        assert reply.status == 200

    assert notice["pid"] == service.process.pid
    assert all(line[:4].isdigit() for line in lines_of(service))


def test_a_data_directory_with_a_long_name_has_its_socket_elsewhere(
    ingested: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/tmp")
    long = tmp_path / ("d" * 100) / "data"
    long.parent.mkdir()
    copy_folder(ingested, long)
    with ServiceProcess(long) as service:
        service.wait_ready()
        command = [sys.executable, "-m", "bot", "--data-dir", str(long), "search", "bell", "--json"]
        found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        sockets = json.loads((long / "service.lock").read_text())["socket"]
        service.end()

    assert found["hits"]
    assert sockets.startswith("/tmp/footnote/")
    assert not Path(sockets).exists()


API = "api/v1/workspaces/local/chat"
QUESTIONS = ("Who built the clock of Tern?", "What is the haunting of the drowned bell?", "Who is Corrigan?") * 3


def call(url: str, question: str | None = None, key: str = "") -> tuple[int, Any]:
    """Status and JSON of an API request; (0, None) when the service went away in the middle of it."""
    body = None if question is None else json.dumps({"message": question}).encode()
    headers = {"Content-Type": "application/json", "Idempotency-Key": key, **headers_of(url)}
    request = urllib.request.Request(url, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, None
    except OSError:
        return 0, None


def finish(url: str, key: str) -> tuple[int, Any]:
    """What became of a message, in the end."""
    deadline = time.monotonic() + 60
    while (found := call(f"{url}{API}/messages/{key}"))[0] == 202 and time.monotonic() < deadline:
        time.sleep(0.2)
    return found


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_what_was_accepted_is_answered_once_after_a_restart(data_dir: Path, number: int) -> None:
    keys = [f"q{index}" for index in range(len(QUESTIONS))]
    with ServiceProcess(data_dir) as service:
        url = service.wait_ready()["url"]
        with ThreadPoolExecutor(len(keys)) as threads:
            asked = [threads.submit(call, f"{url}{API}", *pair) for pair in zip(QUESTIONS, keys, strict=True)]
            while all(call(f"{url}{API}/messages/{key}")[0] == 404 for key in keys):
                time.sleep(0.01)
            _, seconds = service.end(number)
            before = [item.result() for item in asked]
    with ServiceProcess(data_dir) as again:
        url = again.wait_ready()["url"]
        after = [finish(url, key) for key in keys]
        sessions = [
            call(f"{url}{API}/sessions/{found['session_id']}")[1]["messages"]
            for status, found in after
            if status == 200
        ]

    assert seconds < QUICK_END_SECONDS
    assert [status for status, _ in before].count(200) < len(keys)  # or it was ended too late to tell
    assert {status for status, _ in after} <= {200, 404}
    assert all(late[0] == 200 for early, late in zip(before, after, strict=True) if early[0] in (200, 202))
    assert {found["message"]["status"] for status, found in after if status == 200} <= {"answered", "not_found"}
    assert sessions
    assert {
        tuple(message["role"] for message in messages if message["role"] != "tool_result") for messages in sessions
    } == {("user", "assistant")}


def test_the_demo_is_served_once_and_found_again(ingested: Path, tmp_path: Path) -> None:
    copy_folder(ingested, tmp_path / "data" / DEMO_FOLDER)
    command = [sys.executable, "-m", "bot", "--data-dir", str(tmp_path / "data"), "demo"]
    with ServiceProcess(tmp_path / "data", "demo", "--serve") as service:
        assert service.process.stdout is not None
        said = service.process.stdout.readline()
        url = enter(said.split()[3])
        asked = urllib.request.Request(f"{url}chat/home", headers=headers_of(url))
        with urllib.request.urlopen(asked, timeout=60) as reply:
            home = json.load(reply)
        again = subprocess.run([*command, "--serve"], capture_output=True, text=True, check=True)
        once = subprocess.run([*command, "--once", "--json"], capture_output=True, text=True, check=True)
        code, _ = service.end()

    assert said.startswith("Footnote is ready: http://127.0.0.1:")
    assert len(home["examples"]) == 3
    assert url in again.stdout
    assert [answer["status"] for answer in json.loads(once.stdout)] == ["answered"] * 3
    assert code == 0
