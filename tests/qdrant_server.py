"""A Qdrant server of our own on loopback: qdrant-client's local mode behind the requests that Footnote sends.

It lives in the test's process, so that several processes under test share one index.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from threading import Lock, Thread
from typing import Any

from pydantic import TypeAdapter
from qdrant_client import QdrantClient, models

Body = dict[str, Any]


class _Conflict(Exception):
    """What is to be made is there already."""


class _Collections:
    """Answers one request at a time: local mode is not thread-safe."""

    def __init__(self) -> None:
        self._client = QdrantClient(":memory:")
        self._metadata: Any = None
        self._lock = Lock()
        self._routes: dict[tuple[str, str], Callable[[str, Body], Any]] = {
            ("GET", "exists"): lambda name, body: {"exists": self._client.collection_exists(name)},
            ("GET", ""): self._describe,
            ("PUT", ""): self._create,
            ("PUT", "index"): lambda name, body: _done(),
            ("PUT", "points"): self._upsert,
            ("POST", "points/query"): self._query,
            ("POST", "points/scroll"): self._scroll,
            ("POST", "points/count"): lambda name, body: {"count": self._client.count(name).count},
            ("POST", "points/delete"): self._delete,
        }

    def answer(self, method: str, path: str, body: Body) -> Any:
        _, _, name, *rest = path.split("/")
        with self._lock:
            return self._routes[method, "/".join(rest)](name, body)

    def _describe(self, name: str, body: Body) -> Any:
        config = {"params": {}, "hnsw_config": HNSW, "optimizer_config": OPTIMIZER, "metadata": self._metadata}
        state = {"status": "green", "optimizer_status": "ok", "segments_count": 1, "payload_schema": {}}
        return {**state, "config": config}

    def _create(self, name: str, body: Body) -> Any:
        asked = models.CreateCollection.model_validate(body)
        if self._client.collection_exists(name):
            raise _Conflict
        self._metadata = body.get("metadata")
        return self._client.create_collection(
            name, vectors_config=asked.vectors, sparse_vectors_config=asked.sparse_vectors
        )

    def _upsert(self, name: str, body: Body) -> Any:
        self._client.upsert(name, TypeAdapter(list[models.PointStruct]).validate_python(body["points"]))
        return _done()

    def _query(self, name: str, body: Body) -> Any:
        asked = models.QueryRequest.model_validate(body)
        found = self._client.query_points(
            name, prefetch=asked.prefetch, query=asked.query, limit=asked.limit or 10, with_payload=True
        )
        return {"points": [point.model_dump(mode="json") for point in found.points]}

    def _scroll(self, name: str, body: Body) -> Any:
        records, following = self._client.scroll(name, limit=body["limit"], offset=body.get("offset"))
        return {"points": [item.model_dump(mode="json") for item in records], "next_page_offset": following}

    def _delete(self, name: str, body: Body) -> Any:
        self._client.delete(name, models.FilterSelector.model_validate(body))
        return _done()


@contextmanager
def qdrant_server() -> Iterator[str]:
    """Its URL, while it is open."""
    collections = _Collections()

    def answer(asked: Asked) -> tuple[int, Any]:
        try:
            return 200, collections.answer(asked.method, asked.path, asked.body)
        except _Conflict:
            return 409, None

    with serving(answer) as url:
        yield url


@dataclass(frozen=True, slots=True)
class Asked:
    """A request; `body` is empty where none came."""

    method: str
    path: str
    body: Any
    key: str | None


@contextmanager
def serving(answer: Callable[[Asked], tuple[int, Any]], about: Callable[[], Body] = lambda: ABOUT) -> Iterator[str]:
    """The URL of a server that answers with these statuses and results, in the form of Qdrant's."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else {}
            if self.path == "/":
                self.send(200, about())
                return
            status, result = answer(Asked(self.command, self.path.split("?")[0], body, self.headers.get("api-key")))
            self.send(status, {"result": result, "status": "ok", "time": 0.0})

        def send(self, status: int, value: Body) -> None:
            sent = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        do_GET = do_PUT = do_POST = answer

        def log_message(self, *_: object) -> None:
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _done() -> Body:
    return {"operation_id": 1, "status": "completed"}


ABOUT = {"title": "qdrant - vector search engine", "version": version("qdrant-client")}
HNSW = {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000}
OPTIMIZER = {
    "deleted_threshold": 0.2,
    "vacuum_min_vector_number": 1000,
    "default_segment_number": 0,
    "flush_interval_sec": 5,
}
