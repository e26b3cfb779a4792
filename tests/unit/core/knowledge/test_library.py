import pytest

from core.domain.corpus import Document, SearchQuery
from core.domain.passages import IndexEntry
from core.errors import NotFound
from core.knowledge.library import Library, Removal
from tests.builders import build_conversation, build_document, build_pages, build_passages, build_scope, build_source
from tests.fakes import MemoryIndex
from tests.stores import Stores

NOTES = build_source("notes")
SECRET = build_source("secret")


class Shelf:
    def __init__(self) -> None:
        stores = Stores()
        self.corpus = stores.corpus
        self.index = MemoryIndex()
        self.conversations = stores.conversations
        self.library = Library(corpus=self.corpus, index=self.index, conversations=self.conversations)

    async def put(self, document: Document, *texts: str) -> Document:
        pages = build_pages(document, *texts)
        passages = build_passages(pages)
        source = NOTES if document.source == "notes" else SECRET
        await self.corpus.save_source(source)
        await self.corpus.switch_revision(document, pages, passages)
        await self.index.add(
            [
                IndexEntry(
                    passage=passage,
                    workspace=document.workspace,
                    source_id=document.source_id,
                    kind=document.kind,
                    title=document.title,
                )
                for passage in passages
            ]
        )
        return document


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


SCOPE = build_scope(NOTES)


async def test_search_gives_pages_best_first(shelf: Shelf) -> None:
    await shelf.put(build_document("a.md", NOTES), "the river", "oak oak mill", "nothing here")
    await shelf.put(build_document("b.md", NOTES), "an oak")

    hits = await shelf.library.search(SearchQuery(text="oak mill", limit=5), SCOPE)

    assert [(hit.document.path, hit.page_number) for hit in hits][:2] == [("a.md", 2), ("b.md", 1)]
    assert hits[0].score > hits[1].score
    assert hits[0].passages[0].score == hits[0].score
    assert hits[0].heading_path == ("Page 2",)


async def test_a_page_with_several_passages_is_one_hit_and_does_not_crowd_out_the_rest(shelf: Shelf) -> None:
    from dataclasses import replace

    document = build_document("long.md", NOTES, id="long")
    (page,) = build_pages(document, "oak " * 10)
    passages = [replace(build_passages([page])[0], id=f"p{number:03}", ordinal=number) for number in range(90)]
    await shelf.corpus.save_source(NOTES)
    await shelf.corpus.switch_revision(document, [page], passages)
    entries = [
        IndexEntry(passage=passage, workspace="local", source_id=NOTES.id, kind="markdown", title="")
        for passage in passages
    ]
    await shelf.index.add(entries)
    await shelf.put(build_document("b.md", NOTES, title=""), "oak and many other words that stand around it here")

    hits = await shelf.library.search(SearchQuery(text="oak", limit=2), SCOPE)

    assert [hit.document.path for hit in hits] == ["long.md", "b.md"]
    assert len(hits[0].passages) == 90


async def test_search_shows_nothing_dead_and_nothing_outside_the_scope(shelf: Shelf) -> None:
    old = build_document("a.md", NOTES, revision="r0")
    await shelf.put(old, "oak old")
    await shelf.put(build_document("a.md", NOTES), "oak new")
    await shelf.put(build_document("s.md", SECRET), "oak secret")

    hits = await shelf.library.search(SearchQuery(text="oak"), SCOPE)

    assert [passage.passage.text for hit in hits for passage in hit.passages] == ["oak new"]
    assert await shelf.library.search(SearchQuery(text="oak"), build_scope()) == []


async def test_search_keeps_to_its_limit(shelf: Shelf) -> None:
    await shelf.put(build_document("a.md", NOTES), *["oak"] * 30)

    assert len(await shelf.library.search(SearchQuery(text="oak", limit=3), SCOPE)) == 3


async def test_a_page_knows_its_neighbours_and_addresses(shelf: Shelf) -> None:
    document = await shelf.put(build_document("a b.md", NOTES, url="https://wiki/{path}#{page}"), "1", "2", "3")
    ids = [page.id for page in build_pages(document, "1", "2", "3")]

    view = await shelf.library.page(ids[1], SCOPE)
    first = await shelf.library.page_by_number("a b", 1, SCOPE)
    last = await shelf.library.page_by_number("a b", 3, SCOPE)

    assert (view.page.text, view.previous, view.next) == ("2", ids[0], ids[2])
    assert (first.previous, first.next) == (None, ids[1])
    assert (last.previous, last.next) == (ids[1], None)
    assert view.url == "https://wiki/a%20b.md#2"


async def test_nothing_beyond_a_reading_position_is_opened_or_named(shelf: Shelf) -> None:
    document = await shelf.put(build_document("a.md", NOTES), "1", "2", "3")
    scope = build_scope(NOTES, **{document.id: 2})

    assert (await shelf.library.page_by_number("a", 2, scope)).next is None
    with pytest.raises(NotFound, match="no page 3 that you can read here"):
        await shelf.library.page_by_number("a", 3, scope)


async def test_a_document_that_could_not_be_read_has_no_pages(shelf: Shelf) -> None:
    await shelf.corpus.save_source(NOTES)
    await shelf.corpus.save_failure(build_document("a.pdf", NOTES, revision=None, failed_reason="broken"))

    with pytest.raises(NotFound, match="could not be read"):
        await shelf.library.page_by_number("a.pdf", 1, SCOPE)


async def test_a_removed_document_is_gone_everywhere(shelf: Shelf) -> None:
    document = await shelf.put(build_document("a.md", NOTES), "oak")
    await shelf.conversations.add(build_conversation(pinned_document_id=document.id))

    removal = await shelf.library.remove_document("a.md", SCOPE)

    assert removal == Removal(name="a.md", documents=1, conversations=1)
    assert await shelf.library.documents(SCOPE) == []
    assert await shelf.index.count() == 0


async def test_a_removed_source_takes_its_documents_with_it_and_leaves_others(shelf: Shelf) -> None:
    await shelf.put(build_document("a.md", NOTES), "oak")
    await shelf.put(build_document("b.md", NOTES), "elm")
    await shelf.put(build_document("s.md", SECRET), "ash")

    removal = await shelf.library.remove_source("local", "notes")

    assert (removal.documents, removal.conversations) == (2, 0)
    assert [source.name for source in await shelf.library.sources("local")] == ["secret"]
    assert [document.path for document in await shelf.library.documents(build_scope(NOTES, SECRET))] == ["s.md"]
    assert await shelf.index.count() == 1


async def test_removing_an_unknown_source_names_the_known_ones(shelf: Shelf) -> None:
    with pytest.raises(NotFound, match="Sources here: none"):
        await shelf.library.remove_source("local", "nots")
    await shelf.corpus.save_source(NOTES)
    with pytest.raises(NotFound, match="Sources here: 'notes'"):
        await shelf.library.remove_source("local", "nots")


@pytest.mark.parametrize(
    ("removal", "text"),
    [
        (
            Removal(name="a.md", documents=1, conversations=0),
            "Removed 'a.md' (1 document). No conversation is about it.",
        ),
        (
            Removal(name="notes", documents=2, conversations=1),
            "Removed 'notes' (2 documents). 1 conversation stays, but answers that rest on them are deleted for good, "
            "with their quotes, steps and recordings. A note replaces their posts in Discord and Slack.",
        ),
    ],
)
def test_a_removal_says_what_happened(removal: Removal, text: str) -> None:
    assert str(removal) == text


async def test_a_document_that_the_query_names_is_searched_for_what_is_asked_of_it(shelf: Shelf) -> None:
    """Each page of the mill's book stands under its title, whose words a query may not be lost in."""
    chatter = "the water of the long winter, the long water, the mill"
    book = build_document("books/mill.txt", NOTES, title="The Mill on the Long Water")
    await shelf.put(book, chatter, f"{chatter}: {chatter}", "old Tapio owns the boat")
    await shelf.put(build_document("boats.md", NOTES), *("a boat the harbour owns" for _ in range(9)))

    async def first(text: str) -> list[tuple[str, int]]:
        hits = await shelf.library.search(SearchQuery(text=text, limit=4), SCOPE)
        return [(hit.document.path, hit.page_number) for hit in hits]

    assert (await first("In The Mill on the Long Water, who owns the boat?"))[0] == ("books/mill.txt", 3)
    assert (await first("mill long water, mill long water: who owns the boat?"))[0] != ("books/mill.txt", 3)
    assert ("boats.md", 1) in await first("In The Mill on the Long Water, who owns the boat?")
