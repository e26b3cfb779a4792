"""An empty place says so, whatever the reason; only a search that ran may say that it found nothing."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from core.access.availability import Availability, Condition, LibraryState, Reader, describe, ingest_command
from core.domain.answer import Answer, AnswerStatus
from core.domain.chat import ToolInvocation
from core.domain.incoming import ChannelAddress, IncomingMessage, ThreadAddress
from core.domain.ingest_report import IngestProgress, ignore_progress
from core.domain.service import ChannelSettings
from tests.builders import build_document, build_source
from tests.fakes import RecordingProgress
from tests.pipeline import build_answers
from tests.scripted import ScriptedProvider, calls, says
from tests.unit.core.library_builder import Shelf

HERE = ThreadAddress(platform="slack", workspace="local", channel="C1", thread="t1")
NOT_FOUND = re.compile(r"(did not|didn't|couldn't|could not) find|nothing found", re.IGNORECASE)
HIDDEN = 7  # documents of a source that the place may not read
SEARCHES = calls(ToolInvocation(id="t1", name="search", arguments={"query": "key"}))
GIVES_UP = says("I did not find an answer to this in the documents.")


class Place:
    """A library in some state, with a pipeline whose model finds nothing."""

    def __init__(self) -> None:
        self.shelf = shelf = Shelf()
        self.availability = Availability(shelf.corpus, shelf.access, lambda: shelf.index, "local", ("slack",))
        self.provider = ScriptedProvider([GIVES_UP] * 9)

    async def limit(self, *sources: str) -> None:
        channel = ChannelSettings(sources=frozenset(sources))
        await self.shelf.settings.save_channel(ChannelAddress.of(HERE), channel)

    async def fail(self, *paths: str) -> None:
        await self.shelf.corpus.save_source(self.shelf.source)
        for path in paths:
            document = build_document(path, self.shelf.source, revision=None, failed_reason="it is torn")
            await self.shelf.corpus.save_failure(document)

    async def hide(self) -> None:
        """Add a source that the place may not read."""
        secrets = build_source("secrets")
        await self.shelf.corpus.save_source(secrets)
        for number in range(HIDDEN):
            document = build_document(f"{number}.md", secrets, revision=None, failed_reason="it is torn")
            await self.shelf.corpus.save_failure(document)
        await self.limit("handbook")

    async def ask(self, platform: str = "slack") -> Answer:
        answers = build_answers(self.shelf, provider=self.provider, availability=self.availability)
        message = IncomingMessage(
            address=replace(HERE, platform=platform), author="ada", text="Where is the key?", event_key="e1"
        )
        return await answers.answer(message, RecordingProgress())

    async def state(self) -> Condition:
        return await self.availability.of(await self.shelf.access.scope("local", HERE), HERE)

    async def explain(self, *, is_admin: bool = False) -> str | None:
        scope = await self.shelf.access.scope("local", HERE)
        return await self.availability.explain(scope, HERE, is_admin=is_admin)


@pytest.fixture
def place() -> Place:
    return Place()


async def test_a_library_without_any_source_has_no_documents(place: Place) -> None:
    assert (await place.state()).state is LibraryState.NO_DOCUMENTS


async def test_the_first_documents_are_counted_while_they_are_read(place: Place) -> None:
    source = place.shelf.source
    await place.shelf.corpus.save_source(source)
    async with place.availability.work.reading(source.id, ignore_progress) as report:
        before = await place.explain()
        report(IngestProgress(done=38, total=62, path="a.md"))
        assert await place.explain() == "I'm still reading the documents here (38 of 62). Ask again when they're done."
    assert before == "I'm still reading the documents here. Ask again when they're done."
    assert (await place.state()).state is LibraryState.NO_DOCUMENTS


async def test_files_that_all_failed_are_no_empty_library(place: Place) -> None:
    await place.fail("a.pdf", "b.pdf")
    assert await place.state() == Condition(state=LibraryState.UNREADABLE, workspace="local", failed=2)


async def test_sources_that_a_channel_may_not_read_are_neither_counted_nor_named(place: Place) -> None:
    await place.hide()
    for sources in ((), ("handbook",), ("gone",)):
        await place.limit(*sources)
        for is_admin in (False, True):
            said = await place.explain(is_admin=is_admin)
            assert said is not None
            assert not re.search(rf"secrets|\b{HIDDEN}\b", said)
    assert (await place.state()).state is LibraryState.NOT_ALLOWED
    await place.shelf.corpus.save_source(place.shelf.source)
    await place.limit("handbook")
    assert (await place.state()).state is LibraryState.EMPTY_SOURCES


async def test_the_ingest_of_a_source_that_may_not_be_read_is_not_told(place: Place) -> None:
    await place.hide()
    await place.shelf.corpus.save_source(place.shelf.source)
    async with place.availability.work.reading("local/secrets", ignore_progress) as report:
        report(IngestProgress(done=1, total=9, path="a.md"))
        assert (await place.state()).state is LibraryState.EMPTY_SOURCES
        assert await place.availability.caveat(await place.shelf.access.scope("local", HERE)) is None


async def test_positions_may_hide_every_document(place: Place) -> None:
    document = await place.shelf.add("novel.md", "# One\n\nThe gardener did it.")
    assert (await place.state()).is_ready
    await place.shelf.settings.save_position(ChannelAddress.of(HERE), document.id, 0)
    assert (await place.state()).state is LibraryState.NOT_BEGUN


async def test_an_index_without_passages_is_being_rebuilt_or_is_to_be(place: Place) -> None:
    document = await place.shelf.add("house.md", "# Keys\n\nUnder the stairs.")
    await place.shelf.index.remove_document(document.id)
    assert (await place.state()).state is LibraryState.NO_INDEX
    with place.availability.work.repairing():
        assert (await place.state()).state is LibraryState.REBUILDING


async def test_an_address_of_another_workspace_reads_nothing(place: Place) -> None:
    await place.shelf.add("house.md", "# Keys\n\nUnder the stairs.")
    elsewhere = replace(HERE, workspace="elsewhere")
    found = await place.availability.of(await place.shelf.access.scope("local", elsewhere), elsewhere)
    assert found.state is LibraryState.NOT_ALLOWED


async def test_a_search_without_a_result_tells_what_it_may_have_missed(place: Place) -> None:
    document = await place.shelf.add("house.md", "# Garden\n\nA shed.")
    async with place.availability.work.reading(document.source_id, ignore_progress) as report:
        report(IngestProgress(done=1, total=3, path="house.md"))
        place.provider = ScriptedProvider([SEARCHES, GIVES_UP])
        answer = await place.ask()
    assert (answer.searched, answer.status) == (True, AnswerStatus.NOT_FOUND)
    assert answer.text.endswith("I'm still reading documents here (1 of 3). Ask again when they're done.")


@given(
    has_source=st.booleans(),
    live=st.booleans(),
    failed=st.integers(0, 2),
    limit=st.sampled_from([None, (), ("handbook",), ("gone",)]),
    begun=st.booleans(),
    indexed=st.booleans(),
    reading=st.booleans(),
    repairing=st.booleans(),
)
@settings(max_examples=150)
async def test_no_state_says_that_it_found_nothing_without_a_search(
    *,
    has_source: bool,
    live: bool,
    failed: int,
    limit: tuple[str, ...] | None,
    begun: bool,
    indexed: bool,
    reading: bool,
    repairing: bool,
) -> None:
    place = Place()
    work = place.availability.work
    if has_source:
        await place.fail(*(f"{number}.pdf" for number in range(failed)))
    if live:
        document = await place.shelf.add("house.md", "# Garden\n\nA shed.")
        if not begun:
            await place.shelf.settings.save_position(ChannelAddress.of(HERE), document.id, 0)
        if not indexed:
            await place.shelf.index.remove_document(document.id)
    if limit is not None:
        await place.limit(*limit)
    if reading:
        work.sources[place.shelf.source.id] = IngestProgress(done=1, total=2, path="")
    work.repairs = int(repairing)

    answer, reason = await place.ask(), await place.explain()

    has_text = live and begun and limit in (None, ("handbook",))
    is_searchable, is_lost = has_text and indexed, has_text and not indexed and not repairing
    assert (reason is None, answer.searched, bool(place.provider.requests)) == (is_searchable,) * 3
    if not is_searchable:
        assert answer.status is (AnswerStatus.ERROR if is_lost else AnswerStatus.NOT_FOUND)
        assert answer.text == reason
        assert not NOT_FOUND.search(answer.text)


@pytest.mark.parametrize(
    ("platform", "reader"),
    [("terminal", Reader.OPERATOR), ("web", Reader.OPERATOR), ("api", Reader.OPERATOR), ("slack", Reader.MEMBER)],
)
async def test_each_entry_point_has_the_sentence_for_its_readers(platform: str, reader: Reader) -> None:
    place = Place()
    answer = await place.ask(platform)
    assert (answer.text, answer.searched) == (describe(await place.state(), reader), False)
    assert (await place.ask(platform)).searched is False, "the stored answer, shown again"


def test_the_catalogue_of_sentences(snapshot: SnapshotAssertion) -> None:
    found = {
        f"{state.value}, {reader.value}": describe(
            Condition(state=state, workspace="ferry crew", done=38, total=62, failed=3), reader
        )
        for state in LibraryState
        if state is not LibraryState.READY
        for reader in Reader
    }
    assert found == snapshot


def test_only_another_workspace_needs_an_option() -> None:
    assert ingest_command("local", "local") == "footnote ingest PATH"
    assert ingest_command("ferry crew", "local") == "footnote ingest PATH --workspace 'ferry crew'"
