"""The library in numbers, as CorpusRepository counts it within a scope, on every database."""

from dataclasses import replace

from core.domain.corpus import SearchScope
from tests.builders import NOON, build_document
from tests.contract.test_corpus_repository import HANDBOOK, SCOPE, SECRETS, corpus, put

__all__ = ["corpus"]


async def test_a_library_is_summed_up_within_its_scope(corpus):
    first, _, _ = await put(corpus, "one", "two", path="a.md", dated="2026-05-12")
    last, _, _ = await put(corpus, "one", path="b.pdf", kind="pdf", dated="2026-06-09")
    read, _, _ = await put(corpus, "one", path="c.md", crawled_at=NOON)
    await put(corpus, "one", path="d.md", source=SECRETS, dated="2026-07-01")
    await corpus.save_failure(build_document("e.md", HANDBOOK, revision=None, failed_reason="broken"))
    found = await corpus.summarise(replace(SCOPE, positions={first.id: 1}), 2)
    assert (found.kinds, found.sources, found.total) == ({"markdown": 2, "pdf": 1}, {"handbook": 3}, 3)
    assert [(item.path, item.pages) for item in found.newest] == [("b.pdf", 1), ("a.md", 1)]
    hidden = await corpus.summarise(replace(SCOPE, hidden=frozenset({last.id, read.id})), 9)
    assert (hidden.total, [item.path for item in hidden.newest]) == (1, ["a.md"])
    assert (await corpus.summarise(SearchScope(workspace="local", sources=frozenset()), 9)).total == 0
