import numpy as np

from core.domain.passages import IndexHit
from storage.index.edge import filter_of, query_request
from storage.index.engine import (
    DENSE,
    HIT_FIELDS,
    INTEGER_FIELDS,
    KEYWORD_FIELDS,
    SPARSE,
    HybridQuery,
    Rule,
    SparseVector,
    document_rule,
    payload,
    slices,
)
from storage.index.index import PREFETCH_LIMIT, hit, hybrid_query, scope_rule
from tests.unit.storage.search_builders import ask, build_entry, within

VECTOR = np.ones(4, dtype=np.float32)
WORDS = SparseVector((1, 2), (1.0, 1.0))


def test_the_scope_becomes_workspace_sources_and_positions() -> None:
    rule = scope_rule(ask("x"), within("b", "a", d1=4, d0=2))

    assert rule == Rule({"workspace": ("local",), "source": ["a", "b"]}, {"d0": 2, "d1": 4})


def test_the_filters_of_a_query_are_added_to_the_scope() -> None:
    rule = scope_rule(ask("x", kind="pdf", document_ids=frozenset({"d2", "d1"})), within("a"))

    assert rule.any_of == {"workspace": ("local",), "source": ["a"], "kind": ("pdf",), "document": ["d1", "d2"]}


def test_both_halves_of_a_hybrid_query_carry_the_whole_rule() -> None:
    query, scope = ask("x", kind="pdf"), within("a", d1=4)

    hybrid = hybrid_query(query, scope, VECTOR, WORDS)

    assert hybrid == HybridQuery({DENSE: VECTOR, SPARSE: WORDS}, scope_rule(query, scope), PREFETCH_LIMIT, 10)
    request = query_request(hybrid)
    assert [repr(half.filter) for half in request.prefetches] == [repr(filter_of(hybrid.rule))] * 2
    assert "d1" in repr(request.prefetches[0].filter) and "pdf" in repr(request.prefetches[1].filter)


def test_a_query_without_words_for_bm25_has_the_dense_half_alone() -> None:
    assert [*hybrid_query(ask("x"), within(), VECTOR, SparseVector()).halves] == [DENSE]


def test_more_hits_than_candidates_widen_the_candidates() -> None:
    assert hybrid_query(ask("x", limit=80), within(), VECTOR, WORDS).candidates == 80


def test_a_revision_narrows_the_rule_of_its_document() -> None:
    assert document_rule("d1") == Rule({"document": ("d1",)})
    assert document_rule("d1", "r2").any_of == {"document": ("d1",), "revision": ("r2",)}


def test_the_payload_holds_every_indexed_field_and_what_a_hit_needs() -> None:
    entry = build_entry("text", page=7, kind="pdf")

    stored = payload(entry)

    assert set(stored) == {*KEYWORD_FIELDS, *INTEGER_FIELDS}
    assert stored["position"] == 7
    assert set(HIT_FIELDS) <= set(stored)
    passage = entry.passage
    assert hit(passage.id, stored, 0.5) == IndexHit(
        passage_id=passage.id, document_id=passage.document_id, page_id=passage.page_id, revision="r1", score=0.5
    )


def test_slices_cover_all_points_in_order() -> None:
    assert [list(part) for part in slices([1, 2, 3, 4, 5], 2)] == [[1, 2], [3, 4], [5]]
