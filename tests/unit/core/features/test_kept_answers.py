"""Proposals to keep an answer: who may make them, of what, and who may take them back."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.domain.identity import PersonOnPlatform
from core.domain.incoming import ChannelAddress, ThreadAddress
from core.domain.kept_answers import KeptAnswer, KeptState
from core.domain.passages import Span
from core.domain.service import TO_THE_END, PersonAddress
from core.errors import AccessDenied, BadInput, InvalidState, NotFound
from core.features.kept_answers import REVIEW_DAYS, Said, _differs
from tests.builders import NOON, build_document, build_pages, build_passages
from tests.fakes import ManualClock
from tests.integration.platform_files import Files, build_kept
from tests.scripted import says
from tests.unit.core.answering.test_service import SEARCH, Desk
from tests.unit.core.library_builder import Shelf
from tests.unit.core.service.commands.counter import HERE, Counter

LINK = "https://chat.example/general/1"
CHANNEL = ThreadAddress(platform="discord", workspace="local", channel="7", thread="8")
HOUSE = "local/handbook/house.md"


class Keeping:
    """Kept answers, and the commands that are called about them."""

    def __init__(self, shelf: Shelf) -> None:
        self.clock = ManualClock()
        self.kept = build_kept(shelf, Files(shelf.corpus, shelf.index), self.clock)
        desk = Desk(shelf, SEARCH, says("Under the stairs [1]."), stores=shelf.stores)
        self.run = Counter(shelf, desk, kept=self.kept)

    async def answer(self) -> None:
        found = await self.run.desk.ask()
        self.run.conversation = await self.run.desk.store.get(found.conversation_id, "local")

    async def propose(self, by: str = "ben", text: str = "It is in the blue box.", **changes: object) -> KeptAnswer:
        """Propose what Ada said."""
        said = Said(text=text, link=LINK, address=CHANNEL, by="ada", by_name="Ada L.", origin="discord:local:7:1")
        said = replace(said, **changes)
        return await self.kept.propose(said, question="Where is the key?", author=by, author_name=by.title())

    async def listed(self) -> list[KeptAnswer]:
        return await self.kept.repository.list_kept("local")


@pytest.fixture
async def keeping() -> Keeping:
    shelf = Shelf()
    await shelf.add("house.md", "# Keys\n\nThe key hangs under the stairs.", title="House")
    return Keeping(shelf)


async def test_an_answer_from_a_book_that_somebody_still_reads_is_not_kept(keeping: Keeping) -> None:
    await keeping.answer()
    ben = PersonAddress(workspace="local", person="ben")
    await keeping.run.shelf.settings.save_position(ben, HOUSE, 1)
    with pytest.raises(BadInput, match="still reading"):
        await keeping.run("keep", link=LINK)
    await keeping.run.shelf.settings.save_position(ben, HOUSE, TO_THE_END)

    assert (await keeping.run("keep", link=LINK)).is_public


async def test_the_last_answer_becomes_a_proposal_with_its_author_audience_and_end(keeping: Keeping) -> None:
    await keeping.answer()
    said = await keeping.run("keep", link=LINK, author_name="Ada L.")
    [kept] = await keeping.listed()

    assert said.is_public and said.text.startswith("Proposed: “Where is the key?”")
    assert (kept.state, kept.question, kept.text) == (KeptState.PROPOSED, "Where is the key?", "Under the stairs.")
    assert (kept.author, kept.author_name, kept.said_by_name) == ("ada", "Ada L.", "Ada L.")
    conversation = keeping.run.conversation
    assert conversation is not None and kept.address == conversation.address
    assert kept.readers == frozenset({f"channel:{kept.address.channel}"})
    assert kept.rests_on.documents == (HOUSE,)
    assert kept.expires_at == NOON + REVIEW_DAYS
    assert kept.link.startswith(f"{LINK}#")


async def test_a_proposal_is_no_document(keeping: Keeping) -> None:
    await keeping.answer()
    await keeping.run("keep", link=LINK)
    documents = await keeping.run.shelf.library.documents(await keeping.run.shelf.access.scope("local"))
    assert [document.title for document in documents] == ["House"]


async def test_what_a_person_said_carries_their_name_and_not_that_of_who_proposed_it(keeping: Keeping) -> None:
    await keeping.propose()
    [kept] = await keeping.listed()
    assert (kept.said_by, kept.said_by_name, kept.author) == ("ada", "Ada L.", "ben")


async def test_what_is_said_in_a_closed_thread_is_for_nobody_elsewhere(keeping: Keeping) -> None:
    await keeping.propose(is_closed=True)
    [kept] = await keeping.listed()
    assert kept.readers == frozenset()


async def test_keep_finds_out_whether_its_thread_is_closed(keeping: Keeping) -> None:
    await keeping.answer()

    async def threads() -> frozenset[str]:
        return frozenset({"another"})

    await keeping.run("keep", link=LINK, open_threads=threads)
    [kept] = await keeping.listed()
    assert kept.readers == frozenset()


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"address": replace(CHANNEL, thread="private:ada")}, "answer is private"),
        ({"text": "…"}, "no text to keep"),
        ({"link": "not a link"}, "no web address"),
    ],
)
async def test_what_can_not_be_kept_is_refused(keeping: Keeping, changes: dict[str, object], refusal: str) -> None:
    with pytest.raises(BadInput, match=refusal):
        await keeping.propose(**changes)
    assert await keeping.listed() == []


async def test_only_its_author_may_propose_it_again_and_only_while_it_waits(keeping: Keeping) -> None:
    kept = await keeping.propose()
    await keeping.propose(text="It is in the red box.")
    with pytest.raises(InvalidState, match="Ben proposed this already"):
        await keeping.propose("eve", text="It is gone.")
    assert [one.text for one in await keeping.listed()] == ["It is in the red box."]
    await keeping.kept.decline(kept.id, "local", by="carl", by_name="Carl")
    with pytest.raises(InvalidState, match="Carl declined this"):
        await keeping.propose()


async def test_a_declined_one_can_be_undone_and_decided_once(keeping: Keeping) -> None:
    kept = await keeping.propose()
    declined = await keeping.kept.decline(kept.id, "local", by="carl", by_name="Carl")
    with pytest.raises(InvalidState, match="Carl declined this"):
        await keeping.kept.accept(kept.id, "local", by="dora", by_name="Dora")
    undone = await keeping.kept.undo(kept.id, "local", by="carl")
    assert (declined.state, undone.state, undone.decided_by) == (KeptState.DECLINED, KeptState.PROPOSED, "")
    with pytest.raises(InvalidState, match="nothing to undo"):
        await keeping.kept.undo(kept.id, "local", by="carl")


@pytest.mark.parametrize("person", ["ada", "ben"])
async def test_who_said_it_or_proposed_it_accepts_nothing_that_no_document_proves(
    keeping: Keeping, person: str
) -> None:
    kept = await keeping.propose()
    with pytest.raises(AccessDenied, match="another reviewer"):
        await keeping.kept.accept(kept.id, "local", by=person, by_name=person)
    assert [one.state for one in await keeping.listed()] == [KeptState.PROPOSED]


@pytest.mark.parametrize("person", ["ada", "ben"])
async def test_who_said_it_and_who_proposed_it_can_take_it_back_and_others_can_not(
    keeping: Keeping, person: str
) -> None:
    await keeping.propose()
    with pytest.raises(NotFound, match="Nothing of yours"):
        await keeping.run("keep", "back", author="eve")
    said = await keeping.run("keep", "back", author=person)
    assert said.text == "Taken back: “Where is the key?”. Nothing finds it any more."
    assert await keeping.listed() == []


async def test_of_several_the_one_to_take_back_is_named(keeping: Keeping) -> None:
    first = await keeping.propose()
    await keeping.propose(link=f"{LINK}2")
    listed = await keeping.run("keep", "back", author="ben")
    assert f"- `{first.id[:6]}` Where is the key? (proposed)" in listed.text
    await keeping.run("keep", f"back {first.id[:6]}", author="ben")
    assert [one.link for one in await keeping.listed()] == [f"{LINK}2"]
    with pytest.raises(NotFound, match="none of yours"):
        await keeping.run("keep", f"back {first.id[:6]}", author="ben")


@pytest.mark.parametrize("gone", ["message", "thread", "channel", "person", "time"])
async def test_it_goes_with_its_message_thread_channel_and_person_and_at_its_end(keeping: Keeping, gone: str) -> None:
    await keeping.propose()
    match gone:
        case "message":
            await keeping.kept.forget_message("discord:local:7:2")  # another one
            assert len(await keeping.listed()) == 1
            await keeping.kept.forget_message("discord:local:7:1")
        case "thread":
            await keeping.kept.forget_thread(replace(CHANNEL, thread="9"))
            assert len(await keeping.listed()) == 1
            await keeping.kept.forget_thread(CHANNEL)
        case "channel":
            await keeping.kept.forget_channel(ChannelAddress.of(CHANNEL))
        case "person":
            ada = PersonOnPlatform(workspace="local", platform="discord", id="ada")
            assert await keeping.kept.forget_person(replace(ada, id="eve")) == 0
            assert await keeping.kept.forget_person(ada) == 1
        case _:
            keeping.clock.advance(REVIEW_DAYS / timedelta(seconds=1))
            assert await keeping.kept.sweep() == 1
    assert await keeping.listed() == []


async def test_it_goes_with_the_source_it_rests_on(keeping: Keeping) -> None:
    await keeping.answer()
    await keeping.run("keep", link=LINK)
    await keeping.run.shelf.library.remove_source("local", "handbook")
    assert (await keeping.kept.sweep(), await keeping.listed()) == (1, [])


async def test_there_is_nothing_to_keep_without_an_answer_a_conversation_or_a_link(keeping: Keeping) -> None:
    run = keeping.run
    with pytest.raises(BadInput, match="needs a conversation"):
        await run("keep", link=LINK)
    run.conversation = await run.begin("t1")
    with pytest.raises(BadInput, match="no answer to keep"):
        await run("keep", link=LINK)
    await keeping.answer()
    with pytest.raises(BadInput, match="no web address"):
        await run("keep")


async def test_an_answer_for_one_person_alone_is_not_kept_for_all(keeping: Keeping) -> None:
    await keeping.answer()
    assert keeping.run.conversation is not None
    keeping.run.conversation = replace(keeping.run.conversation, address=replace(HERE, thread="private:ada"))
    with pytest.raises(BadInput, match="answer is private"):
        await keeping.run("keep", link=LINK)


async def test_keep_is_in_the_table_where_answers_can_be_kept(keeping: Keeping) -> None:
    assert "keep" in keeping.run.commands.table
    assert "/keep" in (await keeping.run("help", "keep")).text
    assert "/keep" not in (await keeping.run("help", "all", address=None)).text


@pytest.mark.parametrize(
    ("said", "written", "differs"),
    [
        ("The key is kept by Ben until 18:00.", "The key is kept at the desk until 20:00.", True),
        ("The key is kept at the desk until 20:00.", "The key is kept at the desk until 20:00.", False),
        ("Ask for the key at the desk.", "The key is kept at the desk until 20:00.", False),
        ("The garden has 4 sheds.", "The key is kept at the desk until 20:00.", False),
        ("The key is kept by Ben.", "The key is kept by Carla.", True),
    ],
)
async def test_a_document_that_has_other_numbers_or_names_on_the_subject_says_otherwise(
    keeping: Keeping, said: str, written: str, differs: bool
) -> None:
    kept = await keeping.propose(text=said)
    [passage] = build_passages(build_pages(build_document(), written))
    assert passage.sentences == (Span(0, len(written)),)
    assert _differs(kept, passage, passage.text) is differs
