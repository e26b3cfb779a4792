"""What an explanation says may be read is what a scope gives, whatever is set; and what it advises works."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.access.scopes import Access
from core.answering.steps.question import QuestionScopes
from core.domain.corpus import Document, Page, Source
from core.domain.incoming import ChannelAddress, Circumstances, IncomingMessage, ThreadAddress
from core.domain.service import TO_THE_END, ChannelSettings, PersonAddress, PositionHolder
from core.errors import NotFound
from core.features.access_explanation import (
    AccessQuestion,
    Explanation,
    Explanations,
    Holder,
    Verdict,
    VerdictOn,
    explanation_json,
)
from core.knowledge.library import Library
from tests.builders import build_document, build_pages, build_source
from tests.fakes import WordIndex
from tests.stores import Stores
from tests.unit.core.access.test_scopes import ANY_POSITIONS, ANY_SETTINGS, ANY_SOURCE, BOOKS, HERE, OTHERS
from tests.unit.core.service.commands.counter import HERE as COUNTER
from tests.unit.core.service.commands.counter import Counter, stocked

PLACES = (
    None,
    HERE,
    *OTHERS,
    replace(HERE, thread="private:ada"),
    replace(HERE, channel="other", thread="private:ben"),
)
PEOPLE = ("ada", "ben")
NUMBERS = (1, 2, 4, 5, 8)  # as of a PDF: pages without text are left out
SECRET = "nobody may print this"


class Stacks:
    """Sources, each with the books, in memory."""

    def __init__(self) -> None:
        stores = Stores()
        self.corpus, self.settings = stores.corpus, stores.settings
        self.access = Access(self.corpus, self.settings)
        self.library = Library(corpus=self.corpus, index=WordIndex(), conversations=stores.conversations)
        self.explanations = Explanations(self.access, self.library, self.corpus)

    async def add(self, source: Source) -> list[Document]:
        await self.corpus.save_source(source)
        documents = [build_document(f"{name}.txt", source, title=name) for name in BOOKS]
        for document in documents:
            await self.corpus.switch_revision(document, _pages(document), ())
        return documents

    async def hold(self, holder: PositionHolder, positions: dict[str, int], documents: list[Document]) -> None:
        """Positions by the book's name, in that book of each source."""
        for document in documents:
            if document.title in positions:
                await self.settings.save_position(holder, document.id, positions[document.title])


def _pages(document: Document) -> list[Page]:
    pages = build_pages(document, *[SECRET for _ in NUMBERS])
    return [replace(page, number=number) for page, number in zip(pages, NUMBERS, strict=True)]


def pages_of(told: VerdictOn) -> list[int]:
    """The numbers of the pages that a verdict opens."""
    if told.verdict is Verdict.NOTHING:
        return []
    return [number for number in NUMBERS if told.last_page is None or number <= told.last_page]


@given(
    sources=st.lists(ANY_SOURCE, max_size=4, unique_by=lambda source: (source.workspace, source.name)),
    settings=ANY_SETTINGS,
    address=st.sampled_from(PLACES),
    workspace=st.sampled_from(("local", "local", "elsewhere")),
    reader=st.sampled_from((None, *PEOPLE)),
    alone=st.booleans(),
    channel=ANY_POSITIONS,
    own=ANY_POSITIONS,
    lifted=ANY_POSITIONS,
)
async def test_what_is_said_to_be_readable_is_what_the_scope_gives(
    sources: list[Source],
    settings: ChannelSettings,
    address: ThreadAddress | None,
    workspace: str,
    reader: str | None,
    alone: bool,
    channel: dict[str, int],
    own: dict[str, int],
    lifted: dict[str, int],
) -> None:
    shelf = Stacks()
    documents = [document for source in sources for document in await shelf.add(source)]
    if address is not None:
        await shelf.settings.save_channel(ChannelAddress.of(address), settings)
        await shelf.hold(ChannelAddress.of(address), channel, documents)
    ada = PersonAddress(workspace=workspace, person="ada")
    await shelf.hold(ada, own, documents)
    await shelf.hold(replace(ada, alone=True), lifted, documents)
    scope = await shelf.access.scope(workspace, address, reader=reader, alone=alone)
    question = AccessQuestion(workspace=workspace, address=address, reader=reader, alone=alone)
    found = await shelf.explanations.of(question)

    here = [source for source in sources if source.workspace == workspace]
    assert [item.name for item in found.sources] == sorted(source.name for source in here)
    readable = {item.name for item in found.sources if item.ground.is_readable}
    assert readable == {source.name for source in here if source.id in scope.sources}
    in_scope = {document.id for document in documents if document.source_id in scope.sources}
    assert {item.document.id: item.last_page for item in found.positions} == {
        document: last for document, last in scope.positions.items() if document in in_scope
    }
    for document in documents:
        if document.workspace == workspace:
            told = (await shelf.explanations.of(replace(question, document=document.id))).document
            shown = await shelf.corpus.list_pages(document.id, scope)
            assert told is not None
            assert pages_of(told) == [page.number for page in shown]
            assert (told.verdict is Verdict.WHOLE) == (len(shown) == len(NUMBERS))
    if address is not None and reader is not None and address.workspace == workspace:
        asked = IncomingMessage(
            address=address, author=reader, text="?", event_key="e", circumstances=Circumstances(direct=alone)
        )
        assert await QuestionScopes(shelf.access, shelf.library, shelf.corpus).of(asked) == scope


@pytest.fixture
async def counter() -> Counter:
    """The table of commands over two sources: a novel and a house in one, nothing in the other."""
    counter = await stocked()
    pages = ("# Chapter 1: Salt\n\nA lamp burns.", "# Chapter 2: Storm\n\nThe lamp breaks.", "# Chapter 3\n\nMorning.")
    await counter.shelf.add("tower.md", *pages, title="The Tower")
    await counter.shelf.corpus.save_source(build_source("wiki"))
    return counter


async def explain(counter: Counter, document: str | None = "The Tower", **fields: Any) -> Explanation:
    explanations = Explanations(counter.shelf.access, counter.shelf.library, counter.shelf.corpus)
    values = {"workspace": "local", "address": COUNTER, "reader": "ada", **fields}
    return await explanations.of(AccessQuestion(document=document, **values))


async def told_of(counter: Counter, **fields: Any) -> VerdictOn:
    told = (await explain(counter, **fields)).document
    assert told is not None
    return told


async def follow(counter: Counter, change: str, place: str = "") -> None:
    """Give the command that a sentence advises, as an admin who reads alone."""
    _, _, command = change.partition(": /")
    name, _, argument = command.replace("PLACE", place).partition(" ")
    await counter(name, argument, is_admin=True, direct=True)


async def test_a_source_that_is_not_set_is_opened_by_the_advised_command(counter: Counter) -> None:
    await counter("settings", "sources wiki", is_admin=True)
    before = await told_of(counter)
    await follow(counter, before.changes[0])
    after = await told_of(counter)

    assert (before.verdict, before.reason) == (Verdict.NOTHING, "not_allowed")
    assert before.sentence == (
        "“The Tower” can't be read here: its source handbook is not one of the channel's sources (wiki)."
    )
    assert before.changes == ("An admin allows its source in the channel: /settings sources handbook, wiki",)
    assert (after.verdict, after.reason) == (Verdict.WHOLE, "allowed")


async def test_what_is_shown_whole_is_kept_back_by_either_advised_command(counter: Counter) -> None:
    whole = await told_of(counter)
    await follow(counter, whole.changes[1], "chapter 1")
    in_part = await told_of(counter)
    await follow(counter, whole.changes[0])
    none = await told_of(counter)

    assert whole.sentence == (
        "All of “The Tower” can be read here: the channel has no source setting, so it reads all of the "
        "workspace, and no reading position applies to it."
    )
    assert whole.changes == (
        "An admin removes its source from the channel: /settings sources wiki",
        'An admin hides what the channel has not read: /position "The Tower" PLACE --channel',
        'ada hides what they have not read: /position "The Tower" PLACE',
    )
    assert (in_part.verdict, in_part.last_page, in_part.chapter) == (Verdict.UP_TO, 1, "Chapter 1: Salt")
    assert none.verdict is Verdict.NOTHING


async def test_whoever_holds_the_lowest_position_is_asked_to_move_it(counter: Counter) -> None:
    await counter("position", "tower.md 1 --channel", is_admin=True)
    await counter("position", "tower.md 2")
    channels = await told_of(counter)
    await follow(counter, channels.changes[0], "end")
    persons = await told_of(counter)
    await follow(counter, persons.changes[0], "end")

    assert channels.sentence == (
        "“The Tower” can be read here up to page 1 (Chapter 1: Salt): that is the channel's reading position."
    )
    assert channels.changes == (
        'An admin moves the channel\'s position on: /position "The Tower" PLACE --channel',
        "In private ada reads as far as they have read: /ask QUESTION --private",
    )
    assert persons.sentence == (
        "“The Tower” can be read here up to page 2 (Chapter 2: Storm): that is ada's reading position."
    )
    assert persons.changes == ('ada moves theirs on: /position "The Tower" PLACE',)
    assert (await told_of(counter)).verdict is Verdict.WHOLE


async def test_two_who_have_read_as_far_both_have_to_move(counter: Counter) -> None:
    await counter("position", "tower.md 1 --channel", is_admin=True)
    await counter("position", "tower.md 1")

    assert [change.partition(":")[0] for change in (await told_of(counter)).changes] == [
        "An admin moves the channel's position on",
        "ada moves theirs on",
    ]


async def test_alone_ones_own_position_holds_and_can_be_lifted(counter: Counter) -> None:
    await counter("position", "tower.md 2 --channel", is_admin=True)
    channels = await told_of(counter, alone=True)
    await follow(counter, channels.changes[0], "1")
    own = await told_of(counter, alone=True)
    await follow(counter, own.changes[1])
    lifted = await explain(counter, alone=True)

    assert channels.changes == ('ada sets their own, which comes first here: /position "The Tower" PLACE',)
    assert (own.last_page, own.position and own.position.holder) == (1, Holder.PERSON)
    assert own.changes == (
        'ada moves theirs on: /position "The Tower" PLACE',
        'Or lifts it in private: /position "The Tower" lifted',
    )
    assert lifted.document is not None
    assert lifted.document.sentence.endswith("and ada lifted their reading position in private.")
    assert list(lifted.positions[0].held.items()) == [
        (Holder.CHANNEL, 2),
        (Holder.PERSON, 1),
        (Holder.LIFTED, TO_THE_END),
    ]


async def test_a_book_that_is_not_begun_shows_nothing(counter: Counter) -> None:
    await counter("position", "tower.md not started --channel", is_admin=True)
    told = await told_of(counter)

    assert (told.verdict, told.reason, told.last_page) == (Verdict.NOTHING, "position", 0)
    assert told.sentence == (
        "Nothing of “The Tower” can be read here: the channel's reading position is before its first page."
    )


async def test_a_file_that_was_never_read_is_nobodys_and_an_older_revision_is_said_to_be_one(counter: Counter) -> None:
    shelf = counter.shelf
    broken = build_document("broken.pdf", shelf.source, title="Broken", revision=None, failed_reason="it is encrypted.")
    await shelf.corpus.save_failure(broken)
    tower = await shelf.library.find_document("tower.md", shelf.scope())
    await shelf.corpus.save_failure(replace(tower, failed_reason="no such encoding"))
    never, older = await told_of(counter, document="Broken"), await told_of(counter)

    assert (never.verdict, never.reason) == (Verdict.NOTHING, "never_read")
    assert never.sentence == "“Broken” can't be read anywhere: its file could not be read (it is encrypted)."
    assert never.changes == (
        "Fix the file and read it again: footnote --workspace local ingest PATH, or `footnote sync`.",
    )
    assert older.verdict is Verdict.WHOLE
    assert older.sentence.endswith("could not be read again (no such encoding), so this is its older revision.")


async def test_a_channel_of_another_workspace_is_told_where_it_belongs(counter: Counter) -> None:
    told = await told_of(counter, address=replace(COUNTER, workspace="guild"))

    assert told.sentence == (
        "“The Tower” can't be read here: the channel belongs to the workspace guild, and nothing is read across "
        "workspaces."
    )
    assert told.changes[0] == "Add it to the channel's workspace too: footnote --workspace guild ingest PATH"


async def test_a_document_of_another_workspace_has_no_name_here(counter: Counter) -> None:
    for workspace, near in (("guild", False), ("local", True)):
        with pytest.raises(NotFound) as refused:
            await explain(counter, "old towers", workspace=workspace, address=None)
        assert ("tower.md" in str(refused.value)) is near
    assert explanation_json(await explain(counter, None, workspace="guild", address=None))["sources"] == []
