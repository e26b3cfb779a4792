"""Every command of the command line and of the chat: the same output with and without a running service."""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from bot.cli.app import app, run
from bot.config import Config
from bot.wiring.parts import open_parts
from bot.wiring.pipeline import build_commands, build_pipeline
from tests.copying import copy_folder
from tests.e2e.serving import ServiceProcess

pytestmark = pytest.mark.slow
QUESTION = "What was the root cause of the ticket gate outage?"
SOURCE = "handbook"
GOLD = {
    "id": "q1",
    "set": "sample library",
    "kind": "fact",
    "question": QUESTION,
    "document": "operations/Postmortem 2026-03-14.md",
    "answer": "a rubber seal",
    "gold_quotes": ["The root cause was a missing rubber seal in the cable duct under the slipway."],
}
ROOM = {
    "id": "r1",
    "category": "courtesy",
    "place": "bot_thread",
    "messages": [
        {"n": 1, "author": "ada", "text": QUESTION, "mentions_bot": True, "expect": "answer", "gold": None},
        {"n": 2, "author": "ada", "text": "great, thanks", "expect": "reaction", "gold": None},
    ],
}
EVERYDAY = {"id": "e1", "category": "greeting", "language": "en", "text": "good evening", "expect": "brief"}
# Commands that run a service or its worker themselves, with the reason to leave each out of the comparison.
NOT_COMPARED = {
    "serve": "it is the service",
    "link": "it needs a service, and each is new",
    "tokens add": "each is new",
    "init": "it needs a terminal, and describes its own answers",
}
# Command -> its arguments, several times where it has several forms. Later ones see what earlier ones did.
CASES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "ask": (
        (QUESTION,),
        ("When is the study of an electric boat due?", "--verbose"),
        ("/help",),
        ("--batch", "{batch}"),
    ),
    "search": (("ticket gate", "--limit", "2"), ("gate", "--kind", "unknown"), ("?",)),
    "page": (("--document", "season-2025", "--number", "1"), ("{page}",), ("unknown",)),
    "documents list": ((),),
    "documents show": (("season-2025",), ("unknown",)),
    "sources list": ((),),
    "extract": ((), ("--document", "season-2025", "--force")),
    "extracts": (("--limit", "3"), ("--type", "table"), ("--filter", "type:action_item"), ("--type", "unknown")),
    "facts": (("type:action_item",), ("status:open", "--document", "unknown")),
    "ontology": ((),),
    "conversations list": ((), ("--document", "season-2025")),
    "conversations show": (("{conversation}",), ("unknown",)),
    "conversations rename": (("{conversation}", "Gates"),),
    "conversations export": (
        ("{conversation}",),
        ("{conversation}", "--format", "pdf", "--output", "export.pdf"),
        ("{conversation}", "--format", "unknown"),
    ),
    "conversations recap": (("{conversation}",),),
    "conversations stale": ((),),
    "jobs list": ((),),
    "jobs show": (("{job}",), ("unknown",)),
    "jobs cancel": (("{job}",),),
    "jobs retry": (("{job}",), ("{failed}",)),
    "replay": ((), ("{message}",), ("{message}", "--keep"), ("--keep",)),
    "eval": (("{questions}",), ("rooms", "{rooms}"), ("everyday", "{everyday}")),
    "verify": (("{questions}",),),
    "stats": ((), ("--days", "0")),
    "access explain": ((), ("--channel", "slack:C0123ABCD", "--document", "season-2025")),
    "doctor": ((),),
    "manifest slack": ((),),
    "config example": ((),),
    "db status": ((),),
    "db check": ((),),
    "db backup": (("{folder}/backup.zip",),),
    "db reindex": ((), ("--from-scratch",)),
    "db restore": (("{folder}/backup.zip",),),
    "ingest": (("{notes}",), ("{folder}/unknown",)),
    "sync": ((), ("unknown",)),
    "workspaces bind": (("slack", "T0123456789", "crew"), ("discord", "unknown", "crew")),
    "tokens list": ((),),
    "audit": ((), ("--all", "--limit", "2")),
    "person export": (("ada", "--platform", "web"), ("ada",)),
    "person remove": (("ada", "--platform", "web"), ("ada", "--platform", "web", "--yes")),
    "tokens revoke": (("unknown",),),
    "workspaces list": ((),),
    "workspaces unbind": (("slack", "T0123456789"),),
    "documents remove": (("season-2025",), ("unknown",)),
    "sources readers": (("sample library",), ("sample library", "everyone"), ("sample library", "me"), ("unknown",)),
    "sources remove": (("sample library",), ("unknown",)),
    "conversations delete": (("{conversation}",),),
    "workspaces remove": (("unknown", "--yes"), ("local",), ("local", "--yes")),
    "demo": (("--once",),),
    "worker": ((),),
    "chat": (("--new",),),
}
# Command lines that a running service refuses, because they need what it has open.
REFUSED = {
    ("db reindex", "--from-scratch"): "using the search index",
    ("db restore",): "Stop it first",
    ("eval", "rooms"): "the service",
    ("eval", "everyday"): "the service",
}
# Chat command -> what is typed after it, several times where it has several forms.
CHAT_CASES: Mapping[str, tuple[str, ...]] = {
    "help": ("",),
    "ask": (QUESTION,),
    "summary": ("season-2025",),
    "search": ("ticket gate",),
    "page": ("season-2025 1",),
    "source": ("1",),
    "sources": ("",),
    "facts": ("type:action_item",),
    "extract": ("",),
    "position": ("", "season-2025 1", "season-2025 off"),
    "settings": ("", "strategy auto"),
    "jobs": ("",),
    "stale": ("",),
    "keep": ("",),
    "catchup": ("", "3 days"),
    "inbox": ("",),
    "library": ("list",),
    "case": ("",),
    "recap": ("",),
    "rename": ("Ferries",),
    "mydata": ("",),
    "threads": ("",),
    "open": ("1",),
    "export": ("", "pdf", "json"),
    "delete": ("",),
    "forget": ("",),
    "listen": ("",),
    "mute": ("",),
    "unmute": ("",),
    "new": ("",),
}
# Only a service has questions in progress.
SERVICE_ONLY = ("stop", "why")
# What no two runs have in common: IDs made by chance, times, durations, sizes.
PATTERNS = (
    (r"[ \t]+", " "),
    (r"\n • post: done[^\n]*", ""),
    (r"\b[0-9a-f]{32}\b", "ID"),
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "ID"),
    (r"\bremoved-[0-9a-f]{8}\b", "PSEUDONYM"),
    (r"\b[0-9a-f]{8}\b", "ID"),
    (r"• [0-9a-f]{6}\b", "• ID"),  # of the inbox
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+\d\d:\d\d)?", "TIME"),
    (r"\b\d+(,\d{3})*(\.\d+)? ?(s|ms|kB|KB|MB|KiB|MiB|bytes)\b", "AMOUNT"),
    (r'"children": \[[^\]]*\]', "CHILDREN"),  # with a service also its posts
    (r',\n \{\n "id": "ID/post",(?:[^{}]|\{[^{}]*\})*\}', ""),  # which may be noted later
    (r"\b\d+ jobs|\"jobs\": \d+", "JOBS"),
    (r'"(seconds|duration_ms|total|retrieval|model|bytes|p50|p95|database_bytes|size)": [\d.]+', r'"\1": N'),
    (r"─+", "─"),
)


@dataclass
class Place:
    """A folder with a data directory, and the names that the cases stand for."""

    folder: Path
    names: Mapping[str, str]
    capture: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch
    typed: list[str] = field(default_factory=list)

    def run(self, *words: str) -> tuple[int, str, str]:
        """Exit code, output and errors, without what no two runs have in common."""
        self.monkeypatch.chdir(self.folder)
        filled = [word.format(folder=self.folder, **self.names) if "{" in word else word for word in words]
        self.capture.readouterr()
        code = run(["--config", str(self.folder / "config.toml"), "--data-dir", str(self.folder / "data"), *filled])
        shown = self.capture.readouterr()
        return code, self._normal(shown.out), self._normal(shown.err)

    def _normal(self, text: str) -> str:
        text = text.replace(str(self.folder), "FOLDER")
        for pattern, name in PATTERNS:
            text = re.sub(pattern, name, text)
        return "\n".join(line.rstrip() for line in text.splitlines())

    def read_line(self, prompt: str = "") -> str:
        """Type the next line of `typed`, and show it; then Ctrl+D."""
        if not self.typed:
            raise EOFError
        line = self.typed.pop(0)
        print(f"{prompt}{line}")  # noqa: T201 - so that the outputs of commands can be told apart
        return line


@pytest.fixture(scope="module")
def prepared(ingested: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A folder with configuration and data, and the IDs in it."""
    folder = tmp_path_factory.mktemp("prepared")
    copy_folder(ingested, folder / "data")
    notes, handbook = folder / "notes", folder / SOURCE
    for name in (notes, handbook):
        name.mkdir()
        (name / "gate.md").write_text(f"# {name.name}\n\nThe gate of the {name.name} opens at seven.")
    config = f'[replay]\nrecord = true\n\n[[sources]]\nkind = "folder"\nname = "{SOURCE}"\npath = "{handbook}"\n'
    (folder / "config.toml").write_text(config)
    (folder / "questions.jsonl").write_text(json.dumps(GOLD))
    (folder / "rooms.jsonl").write_text(json.dumps(ROOM))
    (folder / "everyday.jsonl").write_text(json.dumps(EVERYDAY))
    (folder / "batch.jsonl").write_text('{"id": "a", "question": "Who repairs the gate?"}\nnonsense\n')
    names = asyncio.run(fill(folder))
    files = {name: str(folder / f"{name}.jsonl") for name in ("questions", "batch", "rooms", "everyday")}
    files["notes"] = str(notes)
    return folder, names | files


async def fill(folder: Path) -> dict[str, str]:
    """Ask a question, with success and in vain; return the IDs of what came of it."""
    from bot.cli.questions import question_message
    from core.work.progress import SilentProgress

    async with open_parts(Config.model_validate({"data_dir": folder / "data", "replay": {"record": True}})) as parts:
        answer = await build_pipeline(parts).answer(question_message("local", QUESTION), SilentProgress())
        page = answer.citations[0].page_id
    provider = {"name": "openai_compatible", "model": "m", "base_url": "http://127.0.0.1:9", "max_retries": 0}
    wrong = {"data_dir": folder / "data", "provider": provider}
    async with open_parts(Config.model_validate(wrong)) as parts:
        failed = await build_pipeline(parts).answer(question_message("local", "Who failed?"), SilentProgress())
    return {
        "conversation": answer.conversation_id,
        "message": answer.message_id,
        "job": answer.jobs[0].id,
        "failed": failed.jobs[0].id,
        "page": page,
    }


@pytest.fixture(scope="module")
def service(prepared: tuple[Path, dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a running service."""
    folder = copy_folder(prepared[0], tmp_path_factory.mktemp("served"))
    with ServiceProcess(folder / "data", "--config", str(folder / "config.toml"), "serve", "--json") as process:
        process.wait_ready()
        process.wait_warm()
        yield folder


@pytest.fixture(scope="module")
def own(prepared: tuple[Path, dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same folder without a service."""
    return copy_folder(prepared[0], tmp_path_factory.mktemp("own"))


@pytest.fixture
def places(
    prepared: tuple[Path, dict[str, str]],
    own: Path,
    service: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[Place, Place]:
    """One without a service, one with."""
    monkeypatch.delenv("FOOTNOTE_DATA_DIR", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    first, second = (Place(folder, prepared[1], capfd, monkeypatch) for folder in (own, service))
    return first, second


def leaves(command: Any, *path: str) -> Iterator[str]:
    """The full names of a command's subcommands, or its own."""
    if not hasattr(command, "list_commands"):
        yield " ".join(path)
        return
    for name in command.list_commands(None):
        yield from leaves(command.get_command(None, name), *path, name)


def test_every_command_has_a_case() -> None:
    assert {*leaves(get_command(app))} == {*CASES, *NOT_COMPARED}


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
@pytest.mark.parametrize("name", [name for name in CASES if name != "chat"])
def test_a_command_prints_the_same_with_and_without_a_service(
    name: str, as_json: bool, places: tuple[Place, Place]
) -> None:
    flags = ("--json",) if as_json else ()
    for arguments in CASES[name]:
        alone, served = (place.run(*name.split(), *arguments, *flags) for place in places)
        refusal = REFUSED.get((name, *arguments[:1])) or REFUSED.get((name,))
        if refusal:
            assert (served[0], refusal in served[2]) == (1, True), served
        else:
            assert served == alone, arguments


async def chat_commands(folder: Path) -> set[str]:
    async with open_parts(Config.model_validate({"data_dir": folder / "data", "replay": {"record": True}})) as parts:
        return {*build_commands(parts).table}


def test_every_chat_command_has_a_case(own: Path) -> None:
    assert asyncio.run(chat_commands(own)) == {*CHAT_CASES}
    assert not {*CHAT_CASES} & {*SERVICE_ONLY}


def test_the_chat_prints_the_same_with_and_without_a_service(
    places: tuple[Place, Place], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"/{name} {argument}".strip() for name, arguments in CHAT_CASES.items() for argument in arguments]
    shown = []
    for place in places:
        place.typed = [QUESTION, *lines]
        monkeypatch.setattr("builtins.input", place.read_line)
        shown.append(place.run("chat", "--new"))
        assert [*place.folder.glob("*.pdf")]
    (code, alone, errors), (_, served, _) = shown
    own_help = [line for line in served.splitlines() if not re.match(r"\s*• /(stop|why)\b", line)]

    assert (code, errors) == (0, "")
    assert own_help == alone.splitlines()


@pytest.mark.parametrize("name", SERVICE_ONLY)
def test_a_chat_command_about_questions_in_progress_needs_a_service(
    name: str, places: tuple[Place, Place], monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = []
    for place in places:
        place.typed = [QUESTION, f"/{name}"]
        monkeypatch.setattr("builtins.input", place.read_line)
        replies.append(" ".join(place.run("chat", "--new")[1].split()))

    unknown = f"Unknown command /{name}"
    assert [unknown in reply for reply in replies] == [True, False]
