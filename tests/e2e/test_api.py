"""The JSON API of the real service: asked, read back, killed, and asked again."""

import json
import signal
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests import forked
from tests.e2e.serving import ServiceProcess
from tests.entering import headers_of

pytestmark = pytest.mark.slow
QUESTION = "Who built the clock of Tern?"
TOKEN = "a token for tests only"
STRANGER = {"Cookie": ""}


def call(url: str, path: str, body: dict[str, str] | None = None, **headers: str) -> tuple[int, Any]:
    """(status, JSON) of a GET, or of a POST where there is a body."""
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(f"{url.rstrip('/')}{path}", data, {**headers_of(url), **headers})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            text = response.read().decode()
            return response.status, json.loads(text) if "json" in response.headers["Content-Type"] else text
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def test_a_question_over_the_api_leads_to_page_session_and_jobs_and_outlives_a_kill(data_dir: Path) -> None:
    base = "/api/v1/workspaces/local"
    with ServiceProcess(data_dir, FOOTNOTE_API_TOKEN=TOKEN) as service:
        url = service.wait_ready()["url"]
        ready = call(url, "/readyz")
        status, asked = call(url, f"{base}/chat", {"message": QUESTION}, **{"Idempotency-Key": "k1"})
        citation = asked["message"]["citations"][0]
        page = call(url, f"{base}/pages/{citation['page_id']}")[1]
        job = asked["message"]["jobs"][-1]["id"].replace("/", "%2F")
        tree = call(url, f"{base}/jobs/{job}")[1]["tree"]
        refused = call(url, f"{base}/documents", **STRANGER)
        let_in = call(url, f"{base}/documents", **STRANGER, Authorization=f"Bearer {TOKEN}")
        counted = call(url, "/metrics")[1]
        service.end(signal.SIGKILL)
    with ServiceProcess(data_dir, FOOTNOTE_API_TOKEN=TOKEN) as service:
        url = service.wait_ready()["url"]
        again = call(url, f"{base}/chat", {"message": QUESTION}, **{"Idempotency-Key": "k1"})[1]
        session = call(url, f"{base}/chat/sessions/{asked['session_id']}")[1]

    assert (ready[0], status, asked["message"]["status"]) == (200, 200, "answered")
    start, end = citation["span"]
    assert page["text"][start:end] == citation["quote"]
    assert tree["children"]
    assert (refused[0], refused[1]["error"]["code"], let_in[0]) == (401, "unauthorized", 200)
    assert 'footnote_questions_total{outcome="answered",platform="api"} 1.0' in counted
    for name in ("id", "citations"):
        assert again["message"][name] == asked["message"][name]
    assert [message["role"] for message in session["messages"]].count("user") == 1


def test_a_token_of_a_person_is_made_used_and_revoked_while_the_service_runs(data_dir: Path) -> None:
    documents = "/api/v1/workspaces/local/documents"

    def command(*arguments: str) -> Any:
        done = forked.run(["bot", "--data-dir", str(data_dir), "tokens", *arguments, "--json"], check=True)
        return json.loads(done.stdout)

    before = command("add", "Ada", "--scope", "read")  # without a service
    with ServiceProcess(data_dir) as service:
        url = service.wait_ready()["url"]
        made = command("add", "Ben")
        replies = [call(url, documents, Authorization=f"Bearer {one['token']}")[0] for one in (before, made)]
        listed = command()["tokens"]
        command("revoke", made["id"])
        after = call(url, documents, Authorization=f"Bearer {made['token']}")[0]

    assert replies == [200, 200]
    assert [(item["person"], item["scope"]) for item in listed] == [("Ada", "read"), ("Ben", "ask")]
    assert "token" not in listed[0]
    assert after == 401
