"""The contract of CorpusRepository, on every database."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from core.domain.corpus import FileStamp, Heading, SearchScope, Source
from core.domain.passages import Span
from core.domain.readers import OPEN_TO_ALL
from core.errors import InvalidState, NotFound
from core.ports import CorpusRepository
from storage.database import Database
from storage.database.repositories.corpus import SqlCorpusRepository
from tests.builders import NOON, build_document, build_pages, build_passages, build_scope, build_source

HANDBOOK = build_source("handbook")
SECRETS = build_source("secrets")
SCOPE = build_scope(HANDBOOK)


@pytest.fixture
async def corpus(database: Database) -> CorpusRepository:
    repository = SqlCorpusRepository(database)
    await repository.save_source(HANDBOOK)
    await repository.save_source(SECRETS)
    return repository


async def put(corpus: CorpusRepository, *texts: str, path: str = "guide.md", source: Source = HANDBOOK, **fields):
    document = build_document(path, source, **fields)
    pages = build_pages(document, *texts)
    passages = build_passages(pages)
    await corpus.switch_revision(document, pages, passages)
    return replace(document, pages=len(pages), passages=len(passages)), pages, passages


async def test_a_source_is_found_by_workspace_and_name(corpus):
    assert await corpus.find_source("local", "handbook") == HANDBOOK
    assert await corpus.find_source("elsewhere", "handbook") is None
    assert await corpus.find_source("local", "nothing") is None


async def test_sources_are_listed_by_name_within_their_workspace(corpus):
    await corpus.save_source(build_source("Alpha", link_template="https://x/{path}"))
    await corpus.save_source(build_source("zulu", workspace="elsewhere"))
    assert [source.name for source in await corpus.list_sources("local")] == ["Alpha", "handbook", "secrets"]
    assert (await corpus.list_sources("local"))[0].link_template == "https://x/{path}"


async def test_saving_a_source_again_replaces_it_and_keeps_its_documents(corpus):
    document, _, _ = await put(corpus, "one")
    await corpus.save_source(replace(HANDBOOK, name="manual", kind="file"))
    found = await corpus.get_document(document.id, SCOPE)
    assert (found.source, found.source_kind) == ("manual", "file")


async def test_readers_are_those_of_the_first_time_until_they_are_set(corpus):
    gm = frozenset({"role:7", "person:ann"})
    await corpus.save_source(build_source("maps", readers=gm))
    await corpus.save_source(build_source("maps", readers=OPEN_TO_ALL, kind="file"))
    found = await corpus.find_source("local", "maps")
    assert (found.readers, found.kind) == (gm, "file")

    await corpus.set_readers(found.id, frozenset())
    assert (await corpus.find_source("local", "maps")).readers == frozenset()
    assert [source.readers for source in await corpus.list_sources("local")] == [OPEN_TO_ALL, frozenset(), OPEN_TO_ALL]


async def test_a_document_may_have_fewer_readers_than_its_source_before_it_is_there_and_after_it_was(corpus):
    document = build_document("plan.md", HANDBOOK)
    both = frozenset({frozenset({"channel:c1"}), frozenset({"role:gm", "person:ann"})})
    await corpus.narrow(HANDBOOK.id, {document.id: both, "other": frozenset({frozenset({"role:gm"})})})
    await put(corpus, "one", path="plan.md")
    await corpus.remove_documents([document.id])
    assert (await corpus.narrowed("local"))[document.id] == both
    assert await corpus.narrowed("elsewhere") == {}

    nobody = frozenset({frozenset[str]()})
    await corpus.narrow(HANDBOOK.id, {document.id: nobody, "other": frozenset()})
    assert await corpus.narrowed("local") == {document.id: nobody}
    await corpus.remove_source(HANDBOOK.id)
    assert await corpus.narrowed("local") == {}


async def test_nothing_of_a_hidden_document_is_read(corpus):
    hidden, pages, passages = await put(corpus, "one", path="hidden.md")
    shown, _, _ = await put(corpus, "two", path="shown.md")
    scope = replace(SCOPE, hidden=frozenset({hidden.id}))

    assert [item.path for item in await corpus.list_readable(scope)] == ["shown.md"]
    assert await corpus.find_documents([hidden.id, shown.id], scope) == [shown]
    with pytest.raises(NotFound):
        await corpus.get_document(hidden.id, scope)
    with pytest.raises(NotFound):
        await corpus.get_page(pages[0].id, scope)
    assert await corpus.find_pages(hidden.id, [1], scope) == []
    assert await corpus.list_pages(hidden.id, scope) == []
    assert await corpus.list_passages([passages[0].id], scope) == []
    assert await corpus.list_page_passages(pages[0].id, scope) == []
    assert not await corpus.has_text(replace(scope, hidden=frozenset({hidden.id, shown.id})))


async def test_two_sources_of_a_workspace_cannot_share_a_name(corpus):
    with pytest.raises(InvalidState, match="'handbook'"):
        await corpus.save_source(replace(SECRETS, name="handbook"))
    assert await corpus.find_source("local", "secrets") == SECRETS
    await corpus.save_source(build_source("handbook", workspace="elsewhere"))


async def test_removing_a_source_removes_all_that_is_in_it(corpus):
    document, pages, passages = await put(corpus, "one")
    kept, _, _ = await put(corpus, "two", source=SECRETS)
    await corpus.remove_source(HANDBOOK.id)
    await corpus.remove_source("unknown")
    assert await corpus.list_sources("local") == [SECRETS]
    assert await corpus.list_documents("local") == [kept]
    assert await corpus.list_pages(document.id, SCOPE) == []
    assert await corpus.list_passages([passages[0].id], SCOPE) == []
    assert await corpus.list_page_passages(pages[0].id, SCOPE) == []


async def test_a_document_comes_back_as_it_went_in(corpus):
    document, _, _ = await put(
        corpus,
        "one",
        aliases=("Leitfaden", "ガイド"),
        url="https://example.org/guide",
        depends_on=("other.md",),
        crawled_at=NOON,
        extracted_at=NOON + timedelta(microseconds=1),
    )
    assert await corpus.get_document(document.id, SCOPE) == document


async def test_times_come_back_in_utc(corpus):
    tokyo = datetime(2026, 3, 1, 21, 0, tzinfo=timezone(timedelta(hours=9)))
    document, _, _ = await put(corpus, "one", crawled_at=tokyo)
    crawled_at = (await corpus.get_document(document.id, SCOPE)).crawled_at
    assert crawled_at == NOON
    assert crawled_at.utcoffset() == timedelta(0)


async def test_documents_are_listed_by_source_then_path_as_code_points_order_them(corpus):
    for path, source in [
        ("b.md", HANDBOOK),
        ("a.md", SECRETS),
        ("Z.md", HANDBOOK),
        ("ä.md", HANDBOOK),
        ("a b.md", HANDBOOK),
    ]:
        await put(corpus, "text", path=path, source=source)
    listed = await corpus.list_documents("local")
    assert [document.path for document in listed] == ["Z.md", "a b.md", "b.md", "ä.md", "a.md"]


async def test_documents_are_listed_of_the_sources_asked_for(corpus):
    await put(corpus, "one")
    secret, _, _ = await put(corpus, "two", source=SECRETS)
    assert await corpus.list_documents("local", frozenset({SECRETS.id})) == [secret]
    assert await corpus.list_documents("local", frozenset()) == []
    assert await corpus.list_documents("elsewhere") == []


async def test_a_document_needs_its_source(corpus):
    orphan = build_document("orphan.md", build_source("gone"))
    with pytest.raises(NotFound, match="'gone'"):
        await corpus.switch_revision(orphan, [], [])
    with pytest.raises(NotFound, match="'gone'"):
        await corpus.save_failure(orphan)
    with pytest.raises(NotFound):
        await corpus.switch_revision(replace(build_document(), workspace="elsewhere"), [], [])


async def test_a_new_revision_replaces_the_old_one_whole(corpus):
    document, old_pages, old_passages = await put(corpus, "old one", "old two")
    new_document, new_pages, new_passages = await put(corpus, "new", revision="r2")
    assert await corpus.live_revisions() == {(document.id, "r2"): 1}
    assert await corpus.get_document(document.id, SCOPE) == new_document
    assert await corpus.list_pages(document.id, SCOPE) == new_pages
    assert await corpus.list_passages([old_passages[0].id, old_passages[1].id], SCOPE) == []
    assert [item.passage for item in await corpus.list_passages([new_passages[0].id], SCOPE)] == new_passages
    with pytest.raises(NotFound):
        await corpus.get_page(old_pages[0].id, SCOPE)


async def test_switching_to_the_same_revision_again_changes_nothing(corpus):
    document, pages, passages = await put(corpus, "one", "two")
    await corpus.switch_revision(document, pages, passages)
    assert await corpus.list_pages(document.id, SCOPE) == pages
    assert (await corpus.get_document(document.id, SCOPE)).pages == 2


async def test_counts_are_those_of_the_stored_pages_and_passages(corpus):
    document = build_document(pages=99, passages=99)
    pages = build_pages(document, "one", "two", "three")
    await corpus.switch_revision(document, pages, build_passages(pages)[:2])
    found = await corpus.get_document(document.id, SCOPE)
    assert (found.pages, found.passages) == (3, 2)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"text": "forged"}, "not what page 1 says"),
        ({"span": Span(1, 3)}, "not what page 1 says"),
        ({"page_number": 2}, "not what page 1 says"),
        ({"revision": "r0"}, "not of revision"),
        ({"page_id": "elsewhere"}, "not of revision"),
    ],
)
async def test_a_passage_that_is_not_what_its_page_says_is_refused(corpus, change, reason):
    document = build_document()
    pages = build_pages(document, "true")
    forged = replace(build_passages(pages)[0], **change)
    with pytest.raises(ValueError, match=reason):
        await corpus.switch_revision(document, pages, [forged])
    assert await corpus.list_documents("local") == []


async def test_a_page_of_another_revision_or_no_revision_is_refused(corpus):
    document = build_document()
    pages = build_pages(document, "true")
    with pytest.raises(ValueError, match="page 1 is not of revision"):
        await corpus.switch_revision(document, [replace(pages[0], revision="r0")], [])
    with pytest.raises(ValueError, match="no revision"):
        await corpus.switch_revision(replace(document, revision=None), [], [])


async def test_a_failure_leaves_the_last_good_revision_readable(corpus):
    document, pages, _ = await put(corpus, "good")
    stamp = FileStamp(size=11, modified_ns=2**62)
    await corpus.save_failure(replace(document, revision=None, title="?", stamp=stamp, failed_reason="it is encrypted"))
    found = await corpus.get_document(document.id, SCOPE)
    assert found == replace(document, stamp=stamp, failed_reason="it is encrypted")
    assert await corpus.list_pages(document.id, SCOPE) == pages
    await put(corpus, "better", revision="r2")
    assert (await corpus.get_document(document.id, SCOPE)).failed_reason is None


async def test_a_document_that_never_was_read_is_listed_with_its_reason(corpus):
    await corpus.save_failure(build_document(failed_reason="it is empty", pages=3))
    (listed,) = await corpus.list_documents("local")
    assert (listed.revision, listed.pages, listed.failed_reason) == (None, 0, "it is empty")
    assert await corpus.live_revisions() == {}
    assert await corpus.list_pages(listed.id, SCOPE) == []


async def test_touching_changes_the_stamp_alone(corpus):
    document, _, _ = await put(corpus, "one", hidden=("a",))
    stamp = FileStamp(size=2**40, modified_ns=2**62)
    await corpus.touch(document.id, stamp)
    await corpus.touch("unknown", stamp)
    assert await corpus.get_document(document.id, SCOPE) == replace(document, stamp=stamp)
    await corpus.touch(document.id, stamp, ["b"], "2026-06-09")
    touched = await corpus.get_document(document.id, SCOPE)
    assert (touched.hidden, touched.dated) == (("b",), "2026-06-09")
    await corpus.touch(document.id, stamp, ["b"])
    assert (await corpus.get_document(document.id, SCOPE)).dated is None


async def test_a_document_may_have_no_stamp(corpus):
    document, _, _ = await put(corpus, "one", stamp=None)
    assert (await corpus.get_document(document.id, SCOPE)).stamp is None


async def test_removing_a_document_removes_its_pages_and_passages(corpus):
    document, pages, passages = await put(corpus, "one")
    kept, _, _ = await put(corpus, "two", path="kept.md")
    await corpus.remove_documents([document.id])
    await corpus.remove_documents(["unknown"])
    assert await corpus.list_documents("local") == [kept]
    assert await corpus.list_passages([passages[0].id], SCOPE) == []
    with pytest.raises(NotFound):
        await corpus.get_page(pages[0].id, SCOPE)


async def test_live_revisions_are_those_of_all_workspaces(corpus):
    elsewhere = build_source("wiki", workspace="elsewhere")
    await corpus.save_source(elsewhere)
    here, _, _ = await put(corpus, "one")
    there, _, _ = await put(corpus, "two", "three", source=elsewhere, revision="r9")
    assert await corpus.live_revisions() == {(here.id, "r1"): 1, (there.id, "r9"): 2}


async def test_all_live_passages_of_a_document_come_in_text_order_whoever_may_read_them(corpus):
    document, pages, passages = await put(corpus, "one", "two", "three")
    await put(corpus, "another", path="other.md")
    found = await corpus.list_live_passages(document.id)
    assert [item.passage for item in found] == passages
    assert {item.document for item in found} == {document}
    assert [item.page_title for item in found] == [page.title for page in pages]
    assert await corpus.list_live_passages("unknown") == []


async def test_a_document_that_failed_has_the_passages_of_its_last_good_revision(corpus):
    document, _, passages = await put(corpus, "one")
    await corpus.save_failure(replace(document, failed_reason="cut off"))
    never = build_document("never.md", failed_reason="empty")
    await corpus.save_failure(never)
    assert [item.passage for item in await corpus.list_live_passages(document.id)] == passages
    assert await corpus.list_live_passages(never.id) == []


async def test_a_page_comes_back_as_it_went_in(corpus):
    document = build_document()
    page = replace(
        build_pages(document, "# Schlüssel\nunter der 𝔐atte")[0],
        heading_path=("Teil 1", "Haus"),
        headings=(Heading(level=1, title="Schlüssel", start=0), Heading(level=6, title="Schlüssel", start=12)),
        anchors=(("^key", 12),),
        deep_link="@UUID[JournalEntry.a.JournalEntryPage.b]",
    )
    await corpus.switch_revision(document, [page], [])
    assert await corpus.get_page(page.id, SCOPE) == page
    assert await corpus.find_page(document.id, 1, SCOPE) == page
    for number in (2, 0, -1, 2**31, 10**30):
        assert await corpus.find_page(document.id, number, SCOPE) is None


async def test_pages_come_in_page_order_whatever_order_they_went_in(corpus):
    document = build_document()
    pages = build_pages(document, *(f"page {number}" for number in range(1, 13)))
    await corpus.switch_revision(document, pages[::-1], build_passages(pages)[::-1])
    assert [page.number for page in await corpus.list_pages(document.id, SCOPE)] == list(range(1, 13))


async def test_spans_count_code_points_beyond_the_basic_plane(corpus):
    document = build_document()
    pages = build_pages(document, "𝔘nder 🗝️ the 𝔪at. 東京 e\u0301nd")
    spans = (Span(0, 5), Span(6, 17), Span(18, 25))
    passages = [
        replace(
            build_passages(pages)[0], id=f"p{n}", ordinal=n, span=span, text=span.of(pages[0].text), sentences=(span,)
        )
        for n, span in enumerate(spans)
    ]
    await corpus.switch_revision(document, pages, passages)
    stored = await corpus.list_page_passages(pages[0].id, SCOPE)
    page = await corpus.get_page(pages[0].id, SCOPE)
    assert [item.passage for item in stored] == passages
    assert all(item.passage.span.of(page.text) == item.passage.text for item in stored)


async def test_what_no_database_can_keep_becomes_a_replacement_character_of_the_same_length(corpus):
    _, pages, passages = await put(corpus, "a\x00b\ud800c", aliases=("x\x00y", "\udfff"))
    page = await corpus.get_page(pages[0].id, SCOPE)
    (item,) = await corpus.list_passages([passages[0].id], SCOPE)
    assert page.text == item.passage.text == "a\ufffdb\ufffdc"
    assert item.document.aliases == ("x\ufffdy", "\ufffd")
    with pytest.raises(NotFound):
        await corpus.get_page("\x00\ud800", SCOPE)


async def test_passages_come_in_the_order_asked_for_without_unknown_ones(corpus):
    document, pages, passages = await put(corpus, "one", "two", "three")
    ids = [passages[2].id, "unknown", passages[0].id, passages[2].id]
    found = await corpus.list_passages(ids, SCOPE)
    assert [item.passage for item in found] == [passages[2], passages[0], passages[2]]
    assert {item.document for item in found} == {document}
    assert found[0].page_title == pages[2].title
    assert await corpus.list_passages([], SCOPE) == []


async def test_more_passages_than_one_query_takes_are_listed_too(corpus):
    _, _, passages = await put(corpus, *(f"page {number}" for number in range(1200)))
    ids = [passage.id for passage in reversed(passages)]
    assert [item.passage.id for item in await corpus.list_passages(ids, SCOPE)] == ids


@pytest.mark.parametrize(
    "scope",
    [
        build_scope(SECRETS),
        build_scope(),
        build_scope(HANDBOOK, workspace="elsewhere"),
    ],
    ids=["another source", "no source", "another workspace"],
)
async def test_nothing_is_read_outside_the_scope(corpus, scope):
    document, pages, passages = await put(corpus, "hidden")
    assert await corpus.list_passages([passages[0].id], scope) == []
    assert await corpus.list_page_passages(pages[0].id, scope) == []
    assert await corpus.list_pages(document.id, scope) == []
    assert await corpus.find_page(document.id, 1, scope) is None
    with pytest.raises(NotFound):
        await corpus.get_page(pages[0].id, scope)
    with pytest.raises(NotFound):
        await corpus.get_document(document.id, scope)


async def test_nothing_is_read_beyond_a_position_and_other_documents_stay_open(corpus):
    novel, pages, passages = await put(corpus, "one", "two", "three", path="novel.md")
    other, other_pages, other_passages = await put(corpus, "one", "two", path="other.md")
    scope = SearchScope(workspace="local", sources=frozenset({HANDBOOK.id}), positions={novel.id: 2, "unknown": 1})
    assert await corpus.list_pages(novel.id, scope) == pages[:2]
    assert await corpus.list_pages(other.id, scope) == other_pages
    found = await corpus.list_passages([item.id for item in passages + other_passages], scope)
    assert [item.passage for item in found] == passages[:2] + other_passages
    assert await corpus.find_page(novel.id, 2, scope) == pages[1]
    assert await corpus.find_page(novel.id, 3, scope) is None
    assert await corpus.find_pages(novel.id, [3, 2, 1, 0, 10**30], scope) == [pages[1], pages[0]]
    assert await corpus.list_page_passages(pages[2].id, scope) == []
    with pytest.raises(NotFound):
        await corpus.get_page(pages[2].id, scope)
    seen = await corpus.get_document(novel.id, scope)
    assert (seen.pages, seen.passages) == (2, 2)
    assert await corpus.find_documents([other.id, "unknown", novel.id], scope) == [
        await corpus.get_document(other.id, scope),
        seen,
    ]
    assert await corpus.find_documents([other.id], replace(scope, sources=frozenset())) == []
    assert [(item.path, item.pages, item.passages) for item in await corpus.list_readable(scope)] == [
        (novel.path, 2, 2),
        (other.path, 2, 2),
    ]
    assert [item.pages for item in await corpus.list_documents("local")] == [3, 2]


async def test_a_position_before_the_first_page_closes_the_document(corpus):
    document, _, _ = await put(corpus, "one")
    scope = SearchScope(workspace="local", sources=SCOPE.sources, positions={document.id: 0})
    assert await corpus.list_pages(document.id, scope) == []
    assert [(item.pages, item.passages) for item in await corpus.list_readable(scope)] == [(0, 0)]


async def test_whether_any_text_can_be_read_follows_sources_positions_and_live_revisions(corpus):
    assert not await corpus.has_text(SCOPE)
    document, _, _ = await put(corpus, "one", "two")
    assert await corpus.has_text(SCOPE)
    assert not await corpus.has_text(replace(SCOPE, sources=frozenset()))
    assert not await corpus.has_text(replace(SCOPE, workspace="other"))
    assert await corpus.has_text(replace(SCOPE, positions={document.id: 1}))
    assert not await corpus.has_text(replace(SCOPE, positions={document.id: 0}))
    await corpus.remove_documents([document.id])
    assert not await corpus.has_text(SCOPE)


async def test_documents_with_text_are_counted_by_workspace(corpus):
    assert await corpus.count_documents(except_kind="attachment") == {"local": 0}
    await put(corpus, "one")
    await put(corpus, "two", path="b.md")
    await corpus.save_source(build_source("files", workspace="crew", kind="attachment"))
    await corpus.save_source(build_source("minutes", workspace="club"))
    assert await corpus.count_documents(except_kind="attachment") == {"local": 2, "club": 0}
    assert await corpus.count_documents(except_kind="folder") == {"crew": 0}


async def test_thousands_of_positions_still_hold(corpus):
    document, pages, _ = await put(corpus, "one", "two")
    positions = {**{f"d{number}": 1 for number in range(3000)}, document.id: 1}
    scope = SearchScope(workspace="local", sources=SCOPE.sources, positions=positions)
    assert await corpus.list_pages(document.id, scope) == pages[:1]


async def test_readers_see_one_whole_revision_while_it_is_switched(corpus):
    document, _, _ = await put(corpus, *["old"] * 20)

    async def read() -> set[str]:
        return {page.text for page in await corpus.list_pages(document.id, SCOPE)}

    switches = [put(corpus, *[f"new {n}"] * 20, revision=f"r{n}") for n in range(5)]
    results = await asyncio.gather(*switches, *(read() for _ in range(20)))
    assert all(len(texts) == 1 for texts in results[5:])


async def test_the_version_is_another_after_each_change_and_stays_between_them(corpus):
    seen = [await corpus.version("local")]

    async def changed() -> bool:
        seen.append(await corpus.version("local"))
        return seen[-1] != seen[-2]

    assert not await changed()
    document, _, _ = await put(corpus, "one")
    assert await changed()
    await put(corpus, "one", title="Renamed")
    assert await changed()
    await corpus.save_source(replace(HANDBOOK, name="manual"))
    assert await changed()
    assert await corpus.list_documents("local") and not await changed()
    await corpus.remove_documents([document.id])
    assert await changed()
    await corpus.remove_source(SECRETS.id)
    assert await changed()


async def test_the_version_tells_of_what_another_process_changed(corpus, database):
    other = SqlCorpusRepository(database)
    document, _, _ = await put(corpus, "one", crawled_at=NOON)
    seen = {await other.version("local")}
    await put(corpus, "two", crawled_at=NOON + timedelta(seconds=1))
    seen.add(await other.version("local"))
    await corpus.remove_documents([document.id])
    seen.add(await other.version("local"))
    await corpus.save_source(replace(HANDBOOK, name="manual"))
    seen.add(await other.version("local"))
    assert len(seen) == 4
