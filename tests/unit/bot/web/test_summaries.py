"""One line about a cited page, for those who may read it."""

from bot.web.threads import Summaries
from tests.builders import build_citation, build_document, build_pages, build_scope, build_source
from tests.stores import Stores


async def test_a_page_is_read_once_and_only_by_those_who_may_read_it() -> None:
    corpus, source = Stores().corpus, build_source()
    await corpus.save_source(source)
    document = build_document()
    pages = build_pages(document, "The key hangs under the stairs.", "The garden has a shed.")
    await corpus.switch_revision(document, pages, [])
    cited = [build_citation(page_id=page.id, document=document.path) for page in pages]
    summaries = Summaries(corpus)
    first = await summaries.of([*cited, *cited], build_scope(source))
    strangers = await summaries.of(cited, build_scope())
    behind = await summaries.of(cited, build_scope(source, **{document.id: 1}))
    await corpus.remove_document(document.id)
    kept = await summaries.of(cited, build_scope(source))

    assert list(first.values()) == ["The key hangs under the stairs.", "The garden has a shed."]
    assert set(strangers.values()) == {""}
    assert list(behind.values()) == ["The key hangs under the stairs.", ""]
    assert kept == first
