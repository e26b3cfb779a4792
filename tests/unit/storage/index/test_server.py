"""What goes over the wire to a Qdrant server: request bodies, held against a server of our own on loopback."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from core.errors import StorageError
from storage.index.index import QdrantIndex
from storage.index.opening import server_index
from tests.fakes import HashEmbedder
from tests.qdrant_server import ABOUT, HNSW, OPTIMIZER, Asked, serving
from tests.unit.storage.search_builders import ask, build_entry, within

META = {"footnote": {"format": 1, "model": "hash-256", "dimensions": 256}}
ALL_FIELDS = ("workspace", "source", "document", "page", "revision", "kind", "position")


@dataclass
class FakeQdrant:
    """Answers with what it is given by (method, path), else with an empty success; remembers what was asked."""

    answers: dict[tuple[str, str], object] = field(default_factory=dict)
    asked: list[tuple[str, str, object]] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)
    status: int = 200
    url: str = ""
    made_by_another: bool = False  # between the look whether the collection is there and its making
    others: object = field(default_factory=lambda: META)  # metadata of that one
    about: dict[str, object] = field(default_factory=lambda: ABOUT)

    def collection(self, metadata: object = META, indexed: tuple[str, ...] = ()) -> None:
        """Have the collection `docs`."""
        config = {"params": {}, "hnsw_config": HNSW, "optimizer_config": OPTIMIZER, "metadata": metadata}
        schema = {name: {"data_type": "keyword", "points": 0} for name in indexed}
        self.answers["GET", "/collections/docs/exists"] = {"exists": True}
        self.answers["GET", "/collections/docs"] = {
            "status": "green",
            "optimizer_status": "ok",
            "segments_count": 1,
            "config": config,
            "payload_schema": schema,
        }

    def answer(self, asked: Asked) -> tuple[int, object]:
        self.asked.append((asked.method, asked.path, asked.body))
        self.keys.add(asked.key)
        if (asked.method, asked.path) == ("PUT", "/collections/docs") and self.made_by_another:
            self.collection(self.others)
            return 409, None
        if (asked.method, asked.path) == ("PUT", "/collections/docs"):
            self.collection(asked.body["metadata"])
        result = self.answers.get((asked.method, asked.path), {"operation_id": 1, "status": "completed"})
        return self.status, True if result == "created" else result

    def body(self, method: str, path: str) -> object:
        return next(body for asked, at, body in self.asked if (asked, at) == (method, path))

    def paths(self, method: str) -> list[str]:
        return [at for asked, at, _ in self.asked if asked == method]


@pytest.fixture
def qdrant() -> Iterator[FakeQdrant]:
    fake = FakeQdrant(
        answers={
            ("GET", "/collections/docs/exists"): {"exists": False},
            ("PUT", "/collections/docs"): "created",
            ("POST", "/collections/docs/points/query"): {"points": []},
        }
    )
    with serving(fake.answer, lambda: fake.about) as fake.url:
        yield fake


def connect(fake: FakeQdrant) -> QdrantIndex:
    return server_index(fake.url, "docs", HashEmbedder())


def filter_body(*must: dict[str, object], must_not: list[dict[str, object]] | None = None) -> dict[str, object]:
    body: dict[str, object] = {"must": list(must)}
    return body if must_not is None else {**body, "must_not": must_not}


async def test_a_missing_collection_is_made_with_its_vectors_notes_and_payload_indexes(qdrant: FakeQdrant) -> None:
    index = connect(qdrant)
    await index.add([])
    await index.search(ask("spyglass"), within())

    assert qdrant.body("PUT", "/collections/docs") == {
        "vectors": {"dense": {"size": 256, "distance": "Cosine"}},
        "sparse_vectors": {"bm25": {"modifier": "idf"}},
        "metadata": META,
    }
    made = [body for method, path, body in qdrant.asked if (method, path) == ("PUT", "/collections/docs/index")]
    assert made == [
        {"field_name": name, "field_schema": "integer" if name == "position" else "keyword"} for name in ALL_FIELDS
    ]
    await index.close()


async def test_a_collection_that_another_process_makes_meanwhile_is_used(qdrant: FakeQdrant) -> None:
    qdrant.made_by_another = True
    index = connect(qdrant)
    assert await index.search(ask("dragon"), within()) == []
    await index.close()

    assert qdrant.paths("PUT").count("/collections/docs") == 1
    assert "/collections/docs/index" in qdrant.paths("PUT")


async def test_a_collection_that_another_process_makes_with_another_model_is_refused(qdrant: FakeQdrant) -> None:
    qdrant.made_by_another = True
    qdrant.others = {"footnote": {**META["footnote"], "model": "other"}}
    index = connect(qdrant)

    with pytest.raises(StorageError, match="made with the embedding model 'other'"):
        await index.count()
    await index.close()


async def test_an_existing_collection_gets_only_the_payload_indexes_it_lacks(qdrant: FakeQdrant) -> None:
    qdrant.collection(indexed=ALL_FIELDS[:-1])
    index = connect(qdrant)

    await index.search(ask("spyglass"), within())

    assert qdrant.paths("PUT") == ["/collections/docs/index"]
    assert qdrant.body("PUT", "/collections/docs/index") == {"field_name": "position", "field_schema": "integer"}
    await index.close()


async def test_a_search_sends_the_whole_filter_in_both_prefetches_and_none_outside(qdrant: FakeQdrant) -> None:
    qdrant.collection(indexed=ALL_FIELDS)
    index = connect(qdrant)
    await index.search(ask("spyglass", limit=5, kind="pdf", document_ids=frozenset({"d1"})), within("b", "a", d1=4))

    body = qdrant.body("POST", "/collections/docs/points/query")
    dense, sparse = body["prefetch"]
    wanted = filter_body(
        {"key": "workspace", "match": {"any": ["local"]}},
        {"key": "source", "match": {"any": ["a", "b"]}},
        {"key": "kind", "match": {"any": ["pdf"]}},
        {"key": "document", "match": {"any": ["d1"]}},
        must_not=[{"must": [{"key": "document", "match": {"value": "d1"}}, {"key": "position", "range": {"gt": 4.0}}]}],
    )
    assert dense["filter"] == sparse["filter"] == wanted
    assert (dense["using"], dense["limit"], len(dense["query"])) == ("dense", 50, 256)
    assert (sparse["using"], sparse["limit"], sparse["query"]["values"]) == ("bm25", 50, [1.0])
    assert body["query"] == {"fusion": "dbsf"}
    assert body["limit"] == 5
    assert body["with_payload"] == ["document", "page", "revision"]
    assert "filter" not in body
    await index.close()


async def test_points_are_sent_with_both_vectors_and_the_payload_but_no_text(qdrant: FakeQdrant) -> None:
    qdrant.collection(indexed=ALL_FIELDS)
    index = connect(qdrant)
    entry = build_entry("spyglass", page=3, kind="pdf")

    await index.add([entry])

    point = qdrant.body("PUT", "/collections/docs/points")["points"][0]
    passage = entry.passage
    assert point["id"] == passage.id
    assert len(point["vector"]["dense"]) == 256
    assert len(point["vector"]["bm25"]["indices"]) == len(point["vector"]["bm25"]["values"]) == 2  # "guide", "spyglass"
    assert point["payload"] == {
        "workspace": "local",
        "source": "handbook",
        "document": passage.document_id,
        "page": passage.page_id,
        "revision": "r1",
        "kind": "pdf",
        "position": 3,
    }
    await index.close()


async def test_removals_are_filters_on_document_and_revision(qdrant: FakeQdrant) -> None:
    qdrant.collection(indexed=ALL_FIELDS)
    index = connect(qdrant)

    await index.remove_revision("d1", "r2")

    assert qdrant.body("POST", "/collections/docs/points/delete") == {
        "filter": filter_body(
            {"key": "document", "match": {"any": ["d1"]}}, {"key": "revision", "match": {"any": ["r2"]}}
        )
    }
    await index.close()


async def test_hits_are_read_from_points(qdrant: FakeQdrant) -> None:
    qdrant.collection(indexed=ALL_FIELDS)
    point = {"id": "p", "version": 1, "score": 0.7, "payload": {"document": "d", "page": "g", "revision": "r"}}
    point["id"] = build_entry("x").passage.id
    qdrant.answers["POST", "/collections/docs/points/query"] = {"points": [point]}
    index = connect(qdrant)

    (hit,) = await index.search(ask("spyglass"), within())

    assert (hit.passage_id, hit.document_id, hit.page_id, hit.revision, hit.score) == (point["id"], "d", "g", "r", 0.7)
    await index.close()


@pytest.mark.parametrize("metadata", [None, {}, {"footnote": {"format": "x"}}])
async def test_a_collection_of_somebody_else_is_left_alone(qdrant: FakeQdrant, metadata: object) -> None:
    qdrant.collection(metadata)
    index = connect(qdrant)

    with pytest.raises(StorageError, match=r"'docs' at http.*was not made by Footnote: name another one"):
        await index.count()
    assert qdrant.paths("PUT") == []
    await index.close()


async def test_a_collection_of_another_model_is_refused(qdrant: FakeQdrant) -> None:
    qdrant.collection({"footnote": {"format": 1, "model": "other", "dimensions": 256}})
    index = connect(qdrant)

    with pytest.raises(StorageError, match=r"made with the embedding model 'other'.*but 'hash-256'"):
        await index.count()
    await index.close()


@pytest.mark.parametrize(
    ("about", "warning"),
    [
        (ABOUT, None),
        ({**ABOUT, "version": "1.2.3"}, "has version 1.2.3, but Footnote's client is made for 1."),
        ({"title": "a proxy"}, "can't be checked"),
    ],
)
async def test_a_server_of_another_version_is_a_warning(
    qdrant: FakeQdrant, caplog: pytest.LogCaptureFixture, about: dict[str, object], warning: str | None
) -> None:
    qdrant.collection(indexed=ALL_FIELDS)
    qdrant.about = about
    index = connect(qdrant)
    await index.search(ask("spyglass"), within())
    await index.close()

    said = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [warning in text for text in said] == ([True] if warning else [])


async def test_a_server_error_names_the_server_and_what_to_check(qdrant: FakeQdrant) -> None:
    qdrant.collection(indexed=ALL_FIELDS)
    index = connect(qdrant)
    await index.search(ask("spyglass"), within())
    qdrant.status = 500

    with pytest.raises(StorageError, match=r"server at http://127.*check that it runs"):
        await index.search(ask("spyglass"), within())
    await index.close()


async def test_a_server_that_is_not_there_is_a_storage_error_and_tried_again_later(qdrant: FakeQdrant) -> None:
    index = server_index("http://127.0.0.1:9", "docs", HashEmbedder())

    for _ in range(2):
        with pytest.raises(StorageError, match="check that it runs"):
            await index.count()
    await index.close()


async def test_the_api_key_goes_with_every_request(qdrant: FakeQdrant) -> None:
    qdrant.collection(indexed=ALL_FIELDS)
    index = server_index(qdrant.url, "docs", HashEmbedder(), api_key="secret")

    with pytest.warns(UserWarning, match="insecure connection"):
        await index.search(ask("spyglass"), within())

    assert qdrant.keys == {"secret"}
    await index.close()
