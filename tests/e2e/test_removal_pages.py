"""A removed document is in no page, no reply of the API, no output of a command and no file of the service."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests import forked
from tests.copying import copy_folder
from tests.e2e.platform_service import TEAM
from tests.e2e.service_addresses import Reader
from tests.e2e.serving import ServiceProcess
from tests.scanning import find_in_database, find_in_files
from tests.unit.storage.documents.pdf_files import build_pdf

pytestmark = pytest.mark.slow
# In the text, the title, a table, an alias and the path of documents, and in no question.
MARKS = ("Zarquelba", "Plimforth", "Quibbleweir", "Vornaxia", "Tremolane")
NAMES = ("tremolane.md", "tremolane-plan.pdf")
NOTE = """---
aliases: [Vornaxia]
---
# The Plimforth lantern

The lantern of Ondar burns with Zarquelba oil on Sundays. The Zarquelba Guild buys the oil.

| lamp | oil |
|---|---|
| lantern | Quibbleweir |

- [ ] Fill the Zarquelba lantern before 2026-05-01
"""
PLAN = build_pdf([[(50, 700, "The lantern tower of Ondar was drawn by Zarquelba.")]], title="Plimforth plan")
ASKED = ("What does the lantern of Ondar burn with?", "Who drew the lantern tower of Ondar?")
PATIENCE_SECONDS = 120
API = f"/api/v1/workspaces/{TEAM}"


def until(reader: Reader, address: str, words: str) -> Any:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while words not in (reply := reader.get(address)).text:
        assert time.monotonic() < deadline, reply.text
        time.sleep(0.2)
    return reply.json()


def add_and_ask(reader: Reader) -> dict[str, list[str]]:
    """Upload both documents and ask about them in the browser and over the API; the ids of all that this made."""
    for name, content in zip(NAMES, (NOTE.encode(), PLAN), strict=True):
        reader.post("/library/uploads", files={"files": (name, content)}, headers={"Accept": "application/json"})
    until(reader, f"{API}/documents", NAMES[0])
    until(reader, f"{API}/documents", NAMES[1])
    for key, question in enumerate(ASKED):
        asked = reader.post(f"{API}/chat", json={"message": question}, headers={"Idempotency-Key": f"k{key}"})
        assert MARKS[0] in asked.text
    body = {"channel": "general", "thread": "", "text": ASKED[0], "key": "w1"}
    thread = reader.post("/chat/messages", json=body).json()["thread"]
    until(reader, f"/chat/threads/general/{thread}", MARKS[0])
    documents = [item for item in reader.get(f"{API}/documents").json()["documents"] if item["document"] in NAMES]
    sessions = [item["session_id"] for item in reader.get(f"{API}/chat/sessions").json()["sessions"]]
    shown = [reader.get(f"{API}/chat/sessions/{session}").text for session in sessions]
    hits = reader.get(f"{API}/search?query=lantern+of+Ondar&limit=20").json()["hits"]
    links = {link for text in shown for link in re.findall(r"/s/([\w~.-]+)", text)}
    jobs = [item["id"] for item in reader.get(f"{API}/jobs").json()["jobs"]]
    pages = [hit["page_id"] for hit in hits if hit["document"] in NAMES]
    ids = [item["id"] for item in documents] if "id" in documents[0] else [page.partition("/")[0] for page in pages]
    return {
        "workspace": [TEAM],
        "message_id": ["k0", "k1"],
        **dict.fromkeys(("session_id", "conversation"), sessions),
        **dict.fromkeys(("document_id", "document"), ids),
        **dict.fromkeys(("page_id", "page"), pages),
        **dict.fromkeys(("job_id", "job"), jobs),
        "channel": ["general"],
        "thread": [thread],
        "token": sorted(links),
        "number": ["1"],
    }


class Commands:
    def __init__(self, data: Path) -> None:
        self._data = data

    def run(self, *arguments: str) -> str:
        command = ["bot", "--data-dir", str(self._data), "--workspace", TEAM, *arguments]
        done = forked.run([*command, "--json"], cwd=self._data.parent)
        return f"{done.stdout}{done.stderr}"

    def read_all(self, ids: dict[str, list[str]]) -> dict[str, str]:
        talk, job, answer = ids["conversation"][0], ids["job"][0], ids["answer"][0]
        every = [
            *(("documents", "list"), ("extracts",), ("stats",), ("jobs", "list"), ("jobs", "show", job)),
            *(("search", "lantern of Ondar"), ("facts", "type:action_item"), ("page", ids["page"][0])),
            *(("conversations", "list"), ("conversations", "show", talk), ("conversations", "recap", talk)),
            *(("conversations", "export", talk, "--format", "json"), ("replay", answer)),
        ]
        return {" ".join(arguments): self.run(*arguments) for arguments in every}


def found(texts: dict[str, str]) -> dict[str, list[str]]:
    """The places whose text has marks."""
    marked = {place: [mark for mark in MARKS if mark.lower() in text.lower()] for place, text in texts.items()}
    return {place: marks for place, marks in marked.items() if marks}


def test_a_removed_document_is_nowhere_that_a_service_shows_or_keeps(notes: Path, tmp_path: Path) -> None:
    data = copy_folder(notes, tmp_path / "data")
    commands = Commands(data)
    with ServiceProcess(data, FOOTNOTE_WORKSPACE=TEAM) as service:
        url = service.wait_ready()["url"]
        reader = Reader(url)
        ids = add_and_ask(reader)
        commands.run("extract")
        talks = [json.loads(commands.run("conversations", "show", talk)) for talk in ids["conversation"]]
        ids["answer"] = [item["id"] for talk in talks for item in talk["messages"] if item["role"] == "assistant"]
        before = found(reader.read_all(ids)), found(commands.read_all(ids))
        pictures = reader.pictures(ids["page"])

        for name in NAMES:
            assert json.loads(commands.run("documents", "remove", name))["documents"] == 1
        after = found(reader.read_all(ids)), found(commands.read_all(ids))
        gone = reader.pictures(ids["page"])
        reader.close()
        service.end()

    assert len(before[0]) > 20 and len(before[1]) > 10
    assert 200 in pictures and set(gone) == {404}
    assert after == ({}, {})
    url = f"sqlite:///{data / 'footnote.db'}"
    # The audit log keeps the path, on purpose.
    assert [line for line in find_in_database(url, MARKS) if not line.startswith("audit_entry.about")] == []
    assert find_in_files(data, MARKS[:-1]) == []
