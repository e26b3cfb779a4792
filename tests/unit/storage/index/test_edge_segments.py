"""A large embedded index is cut in segments, which search threads read side by side; hits are those of one piece."""

import json
from pathlib import Path

import numpy as np
import pytest

from core.domain.passages import IndexHit
from storage.index import edge
from storage.index.edge import EdgeEngine, open_edge
from storage.index.engine import DENSE, StoredPoint, payload
from storage.index.folder import IndexMeta
from storage.index.index import hybrid_query, weigh_passage, weigh_query
from tests.unit.storage.search_builders import ask, build_entry, within

# Edge seals what is over 10 MB of vectors: with long vectors, that is few points.
META = IndexMeta(format=1, model="long", dimensions=2048)
POINTS = 3_000
CUT = 1_500


@pytest.fixture(scope="module")
def points() -> list[StoredPoint]:
    vectors = np.random.default_rng(5).standard_normal((POINTS, META.dimensions)).astype(np.float32)
    found = []
    for number, vector in enumerate(vectors):
        text = f"chart{number % 97} harbour{number}"  # no word in so many that equals would be cut off at random
        entry = build_entry(text, document=f"{number}.md", source=f"s{number % 3}")
        found.append(StoredPoint(entry.passage.id, vector, weigh_passage(text), payload(entry)))
    return found


def hits(engine: EdgeEngine, points: list[StoredPoint], number: int) -> list[IndexHit]:
    near = points[number].dense + points[POINTS - 1 - number].dense
    query = ask(f"chart{number} harbour{number}", limit=20)
    return engine.query(hybrid_query(query, within("s0", "s1"), near, weigh_query(query.text)))


def sealed(folder: Path) -> int:
    """Segments that are closed to writing: Edge says `plain` of the open one."""
    notes = [json.loads(file.read_text()) for file in (folder / "edge" / "segments").glob("*/segment.json")]
    return sum(note["config"]["vector_data"][DENSE]["index"]["type"] != "plain" for note in notes)


def test_writing_seals_a_segment_each_time_one_is_full(
    tmp_path: Path, points: list[StoredPoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, cut = open_edge(tmp_path / "whole", META), open_edge(tmp_path / "cut", META)
    whole.upsert(points)
    monkeypatch.setattr(edge, "SEGMENT_POINTS", CUT)
    for start in range(0, POINTS, 500):
        cut.upsert(points[start : start + 500])
    whole.optimise()
    cut.optimise()

    found = [hits(cut, points, number) for number in (4, 40, 96)]
    expected = [hits(whole, points, number) for number in (4, 40, 96)]

    assert (sealed(tmp_path / "whole"), sealed(tmp_path / "cut")) == (1, 2)
    for ours, theirs in zip(found, expected, strict=True):
        assert [hit.score for hit in ours] == pytest.approx([hit.score for hit in theirs], abs=1e-5)
        assert {hit.passage_id for hit in ours} == {hit.passage_id for hit in theirs}
    whole.close()
    cut.close()


def test_a_cut_index_opens_again_with_all_its_points(
    tmp_path: Path, points: list[StoredPoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge, "SEGMENT_POINTS", CUT)
    engine = open_edge(tmp_path, META)
    engine.upsert(points[:2000])
    engine.close()

    reopened = open_edge(tmp_path, META)

    assert reopened.count() == 2000
    reopened.close()
