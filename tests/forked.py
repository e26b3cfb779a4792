"""Programs in processes of their own, without the seconds that their imports take: each is a fork of one process that
has imported them.

`start` and `run` stand in for `subprocess.Popen` and `subprocess.run`. What they start has its own process ID, can be
killed, and ends as any program does. How a program starts from nothing is tested with `subprocess`.
"""

import atexit
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[1]
REQUEST_BYTES = 1_000_000
RUN_SECONDS = 300.0
# What the services and the commands import, but for models: those have threads, which a fork loses.
PRELOADED = (
    "bot.cli.app", "bot.cli.ask", "bot.cli.serve", "bot.discordbot.connection", "bot.service.doctor",
    "bot.service.service", "bot.slackbot.connection", "storage.documents.pipeline", "slack_sdk.web.async_base_client",
)  # fmt: skip


class Forked:
    """A started program, as `subprocess.Popen` has it."""

    def __init__(self, pid: int, status: IO[bytes], stdout: IO[str] | None) -> None:
        self.pid = pid
        self.stdout = stdout
        self.returncode: int | None = None  # negative: ended by that signal
        self._status = status

    def poll(self) -> int | None:
        return self._read_status(0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._read_status(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _read_status(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], timeout)[0]:
            self.returncode = int(self._status.read())
            self._status.close()
        return self.returncode


def start(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    stdout: IO[Any] | int | None = None,
    stderr: IO[Any] | int | None = None,
) -> Forked:
    """Start `python -m MODULE ARGS...`; `stdout` may be subprocess.PIPE, `stderr` subprocess.STDOUT."""
    read, written = os.pipe()
    status, told = os.pipe()
    out = written if stdout == subprocess.PIPE else _number(stdout, 1)
    error = out if stderr == subprocess.STDOUT else _number(stderr, 2)
    request = json.dumps({"command": [*command], "environment": {**(env or os.environ)}, "folder": str(cwd)}).encode()
    assert len(request) < REQUEST_BYTES
    launcher = _launcher()
    socket.send_fds(launcher, [request], [out, error, told])
    pid = int(launcher.recv(100))
    os.close(written)
    os.close(told)
    shown = os.fdopen(read, encoding="utf-8", errors="replace") if stdout == subprocess.PIPE else os.close(read)
    return Forked(pid, os.fdopen(status, "rb"), shown)


def run(
    command: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path = ROOT, check: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run it to its end, and capture what it prints."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        code = start(command, env=env, cwd=cwd, stdout=out, stderr=error).wait(RUN_SECONDS)
        printed = []
        for file in (out, error):
            file.seek(0)
            printed.append(file.read().decode("utf-8", "replace"))
    done = subprocess.CompletedProcess([*command], code, *printed)
    if check:
        done.check_returncode()
    return done


def _number(stream: IO[Any] | int | None, default: int) -> int:
    return default if stream is None else stream if isinstance(stream, int) else stream.fileno()


_running: list[socket.socket] = []


def _launcher() -> socket.socket:
    """Return the connection to this process's launcher, which ends with it."""
    if not _running:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", "tests.forked", str(theirs.fileno())]
        # One thread: OpenBLAS, which numpy loads, would start more.
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        process = subprocess.Popen(command, cwd=ROOT, env=environment, pass_fds=[theirs.fileno()])
        theirs.close()
        _running.append(ours)
        atexit.register(lambda: (ours.close(), process.wait()))
    return _running[0]


# ------------------------------------------------------------------------------------------------------- the launcher


def main() -> bool:
    """Fork for each request; return whether this is the fork, which then becomes the program."""
    requests = socket.socket(fileno=int(sys.argv[1]))
    for module in PRELOADED:
        __import__(module)
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the tests, which end the launcher
    signal.set_wakeup_fd(wake)
    statuses: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([requests, ended], [], [])
        if ended in ready:
            os.read(ended, 1000)
            for pid, code in _ended_children():
                os.write(statuses[pid], str(code).encode())
                os.close(statuses.pop(pid))
        if requests in ready:
            request, files, _, _ = socket.recv_fds(requests, REQUEST_BYTES, 3)
            if not files:
                return False
            out, error, status = files
            pid = os.fork()
            if pid == 0:
                for number in (requests.detach(), ended, wake, status, *statuses.values()):
                    os.close(number)
                become(json.loads(request), out, error)
                return True
            os.close(out)
            os.close(error)
            statuses[pid] = status
            requests.send(str(pid).encode())


def _ended_children() -> Iterator[tuple[int, int]]:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, os.waitstatus_to_exitcode(status)


def become(request: Mapping[str, Any], out: int, error: int) -> None:
    """Take over everything a new process is given: streams, signals, environment, folder, arguments."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(out, 1)
    os.dup2(error, 2)
    for number in {out, error} - {1, 2}:
        os.close(number)
    is_unbuffered = bool(request["environment"].get("PYTHONUNBUFFERED"))
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", buffering=1 if is_unbuffered else -1, closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", buffering=1, errors="backslashreplace", closefd=False)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.argv = [*request["command"]]


if __name__ == "__main__" and main():
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
