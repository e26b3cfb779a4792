"""The real service against what people and machines send it: a clear answer each, and it goes on as before."""

import gzip
import http.client
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.copying import copy_folder
from tests.e2e.serving import ServiceProcess
from tests.entering import headers_of

pytestmark = pytest.mark.slow
API = "/api/v1/workspaces/local"
QUESTION = "Who built the clock of Tern?"
JSON = {"Content-Type": "application/json"}
NAMED = {**JSON, "Cookie": "footnote_person=Ada"}
CLIMBS = ("..%2F..%2F..%2Fetc%2Fpasswd", "%2e%2e", "..\\..\\etc\\passwd", "%00", "a%0d%0ab", "x" * 3_000)


@dataclass
class Reply:
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def sentence(self) -> str:
        """What it says to people: of JSON the error, of a page its words."""
        if "json" not in self.headers["Content-Type"]:
            return self.text
        error = json.loads(self.text)["error"]
        return str(error["message"] if isinstance(error, dict) else error)


@dataclass
class Service:
    url: str
    log: Path

    def send(self, method: str, path: str, body: str | bytes | None = None, **headers: str) -> Reply:
        """A request as it is written here: no client mends its path."""
        connection = http.client.HTTPConnection(str(urlsplit(self.url).hostname), urlsplit(self.url).port, timeout=60)
        try:
            connection.request(method, path, body, {**headers_of(self.url), **headers, "Cookie": self.cookies(headers)})
            response = connection.getresponse()
            return Reply(response.status, dict(response.getheaders()), response.read().decode())
        finally:
            connection.close()

    def cookies(self, headers: Mapping[str, str]) -> str:
        return "; ".join(filter(None, (headers.get("Cookie"), headers_of(self.url)["Cookie"])))

    def say(self, text: str, **fields: str) -> Reply:
        """A message on the chat page."""
        body = {"channel": "general", "text": text, "key": f"k{time.monotonic_ns()}", **fields}
        return self.send("POST", "/chat/messages", json.dumps(body), **NAMED)

    def ask(self, message: str) -> Reply:
        """A question over the API."""
        return self.send("POST", f"{API}/chat", json.dumps({"message": message}), **JSON)

    def is_well(self) -> bool:
        """Whether it answers as before, and nothing broke on the way."""
        answered = self.ask(QUESTION)
        assert "Traceback" not in self.log.read_text(), self.log.read_text()
        return answered.status == 200 and json.loads(answered.text)["message"]["status"] == "answered"


@pytest.fixture(scope="module")
def service(ingested: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("hostile") / "data"
    copy_folder(ingested, folder)
    with ServiceProcess(folder) as process:
        yield Service(process.wait_ready()["url"], process.log)


def test_questions_that_are_too_long_or_empty_are_refused_with_a_sentence(service: Service) -> None:
    long = "why " * 25_000
    said, asked = service.say(f"@footnote {long}"), service.ask(long)
    empty = [service.say("@footnote  "), service.ask(" \n")]
    huge = service.say("x" * 600_000)

    assert (said.status, json.loads(said.text)["accepted"]) == (200, False)
    assert "put long texts into the library" in json.loads(said.text)["sentence"]
    assert (asked.status, "put long texts into the library" in asked.sentence) == (422, True)
    assert [item.status for item in empty] == [200, 422]
    assert "empty" in json.loads(empty[0].text)["sentence"]
    assert "empty" in empty[1].sentence
    assert (huge.status, "too long" in huge.sentence) == (413, True)
    assert service.is_well()


@pytest.mark.parametrize("body", [b"", b"{", b"nonsense", b"\xff\xfe", b"[" * 100_000, b"[]", b"5"])
@pytest.mark.parametrize("path", ["/chat/messages", f"{API}/chat"])
def test_malformed_json_is_named_as_such(service: Service, path: str, body: bytes) -> None:
    reply = service.send("POST", path, body, **NAMED)

    assert reply.status in (400, 422)
    assert "JSON" in reply.sentence or "nested too deeply" in reply.sentence


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
@pytest.mark.parametrize("path", [f"{API}/chat/questions", "/chat/messages", "/slack/events", "/setup"])
def test_compressed_bodies_are_refused_unread(service: Service, path: str, coding: str) -> None:
    """100 KB of them are 100 MB: nothing unpacks a body, whoever sends it."""
    bomb = gzip.compress(bytes(100_000_000), compresslevel=9)

    reply = service.send("POST", path, bomb, **JSON, **{"Content-Encoding": coding})

    assert reply.status == 415
    assert "Send the request without compression" in reply.sentence


@pytest.mark.parametrize("id", ["unknown", *CLIMBS])
@pytest.mark.parametrize(
    "place",
    [
        f"{API}/pages/{{}}",
        f"{API}/jobs/{{}}",
        f"{API}/chat/sessions/{{}}",
        f"{API}/chat/messages/{{}}",
        "/api/v1/workspaces/{}/documents",
        "/library/pages/{}",
        "/library/pages/{}/picture",
        "/library/documents/{}",
        "/jobs/{}",
        "/s/{}",
        "/s/{}/1/thumbnail",
        "/static/{}",
        "/chat/threads/general/{}",
        "/chat/conversations/{}",
    ],
)
def test_unknown_ids_and_paths_that_climb_lead_nowhere(service: Service, place: str, id: str) -> None:
    reply = service.send("GET", place.format(id))

    assert reply.status in (400, 403, 404, 422), reply.text
    assert len(reply.sentence) > 10
    assert "root:" not in reply.text


def test_none_of_it_broke_anything(service: Service) -> None:
    assert service.is_well()


def test_html_in_questions_and_names_comes_back_as_words(service: Service) -> None:
    script = "<script>alert(1)</script>"
    sent = json.loads(service.say(f"@footnote {script} {QUESTION}").text)
    named = service.send("POST", "/chat/person", json.dumps({"name": script}), **JSON)
    searched = service.send("GET", "/library?q=%3Cscript%3Ealert(1)%3C/script%3E")
    pages = [service.send("GET", path) for path in ("/jobs", f"/c/general/{sent['thread']}", f"/jobs/{script}")]

    assert (sent["accepted"], named.status) == (True, 200)
    for page in (searched, *pages):
        assert script not in page.text
        assert "script-src 'self'" in page.headers["Content-Security-Policy"]
    assert "&lt;script&gt;" in searched.text
    assert service.is_well()


def test_fifty_requests_a_second_from_one_client_are_slowed_down(data_dir: Path) -> None:
    with ServiceProcess(data_dir, FOOTNOTE_API__LOCAL_EXEMPT="false") as process:
        service = Service(process.wait_ready()["url"], process.log)
        replies = [service.send("GET", f"{API}/documents") for _ in range(50)]
        refused = [reply for reply in replies if reply.status == 429]
        time.sleep(int(refused[0].headers["Retry-After"]))  # what it asked for

        assert {reply.status for reply in replies} == {200, 429}
        assert "Too many requests. Try again in" in refused[0].sentence
        assert service.is_well()
