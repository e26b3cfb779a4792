"""A proposal, a reviewer, and who finds what was kept: the real app, and a place with people over a real ingest."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.cli.questions import question_message
from bot.config import Config
from bot.web.audiences import WebAudiences
from bot.wiring.parts import open_parts
from bot.wiring.pipeline import build_commands, build_pipeline
from core.domain.answer import AnswerStatus, Provenance
from core.domain.conversation import Conversation, Outcome, Role
from core.domain.corpus import PageHit, SearchQuery
from core.domain.incoming import ChannelAddress, IncomingMessage, ThreadAddress
from core.domain.kept_answers import KeptAnswer, KeptState
from core.domain.readers import EVERYONE, MEMBERS, MEMBERS_ONLY, Audience
from core.domain.service import PersonAddress
from core.errors import AccessDenied, NotFound
from core.features.kept_answers import KEPT_DAYS, KEPT_SOURCE, Said
from core.features.review import Act, Reviewer, inbox_command
from core.features.staleness.stale_answers import Staleness
from core.work.commands import CommandCall
from core.work.progress import SilentProgress
from tests.builders import build_citation, build_conversation, build_message, build_pages, build_passages, build_source
from tests.fakes import ManualClock
from tests.integration.platform_files import Files, build_kept, build_reviews
from tests.unit.core.library_builder import Shelf

QUESTION = "Who winds the tower clock?"
HERE = ThreadAddress(platform="web", workspace="local", channel="general", thread="t1")
LINK = "https://chat.example/general/t1"


async def test_what_is_kept_in_the_real_app_is_found_once_it_is_accepted_and_no_more_once_it_is_undone(
    tmp_path: Path,
) -> None:
    async with open_parts(Config(data_dir=tmp_path)) as app:

        async def found() -> list[PageHit]:
            return await app.library.search(SearchQuery(text=QUESTION), await app.access.scope(app.workspace))

        asked = IncomingMessage(address=HERE, author="ada", text=QUESTION, event_key="1")
        conversation = await app.conversations.create(asked)
        answer = build_message(
            "m2",
            "The verger winds the tower clock on Mondays.",
            role=Role.ASSISTANT,
            status=AnswerStatus.ANSWERED.value,
        )
        await app.conversations.record(conversation, [build_message("m1", asked.text), answer])
        commands = build_commands(app)
        call = CommandCall(
            name="keep",
            workspace="local",
            conversation=conversation,
            author="ada",
            author_name="Ada",
            address=HERE,
            link=LINK,
        )
        await commands.run(call)
        assert await found() == []
        [kept] = await app.kept.repository.list_kept("local")
        review = replace(call, name="inbox", author="ben", author_name="Ben", sees_all=True)
        assert f"- `{kept.id[:6]}` Proposed: {QUESTION}" in (await commands.run(review)).text
        said = await commands.run(replace(review, argument=f"accept {kept.id[:6]}"))
        [hit] = await found()
        page = await app.library.page(hit.page_id, await app.access.scope(app.workspace))
        await commands.run(replace(review, argument=f"undo {kept.id[:6]}"))
        assert await found() == []

    assert said.text == f"Kept: “{QUESTION}”. It can be found and cited, as said by Ada."
    assert page.document.title == f"Said by Ada: {QUESTION}"
    assert "Said by Ada, accepted by Ben on " in page.page.text
    assert page.url is not None and page.url.startswith(LINK)


async def test_an_answer_without_a_model_quotes_the_document_before_what_a_person_said(tmp_path: Path) -> None:
    book = tmp_path / "tower.md"
    book.write_text("# Tower\n\nThe sexton oils the tower clock. The sexton winds it on Mondays.\n", encoding="utf-8")
    async with open_parts(Config(data_dir=tmp_path / "data")) as app:
        await app.ingests.add([book], app.workspace)
        said = Said(text="The verger winds the tower clock on Fridays.", link=LINK, address=HERE, by="carla")
        kept = await app.kept.propose(said, question=QUESTION, author="ada", author_name="Ada")
        await app.kept.accept(kept.id, app.workspace, by="ben", by_name="Ben")
        answer = await build_pipeline(app).answer(question_message(app.workspace, QUESTION), SilentProgress())

    assert answer.citations[0].document_title == "Tower"


# ---------------------------------------------------------------- people and channels

PEOPLE = {"ada": "staff", "ben": "staff", "carla": "hall", "gus": "hall"}  # gus is a guest
PUBLIC = ThreadAddress(platform="discord", workspace="local", channel="hall", thread="h1")
CLOSED = ThreadAddress(platform="discord", workspace="local", channel="staff", thread="s1")
REVIEWER = Reviewer(workspace="local", person="ben", name="Ben", address=CLOSED)
OWNER = Reviewer(workspace="local", person="owner", name="Owner", address=None)
SAID = "The verger winds the tower clock with the brass crank."


class Town:
    """A hall for members and a guest, a channel of the staff, and a library."""

    def __init__(self) -> None:
        self.shelf, self.clock = Shelf(), ManualClock()
        self.shelf.access.audiences["discord"] = self
        self.members = {"staff": {"ada", "ben"}, "hall": {"ada", "ben", "carla"}}
        self.kept = build_kept(self.shelf, Files(self.shelf.corpus, self.shelf.index), self.clock)
        stores = self.shelf.stores
        staleness = Staleness(
            stores.stale,
            conversations=stores.conversations,
            inbox=stores.inbox(self.clock),
            settings=stores.settings,
            clock=self.clock,
            noted=(),
        )
        self.reviews = build_reviews(self.shelf, self.kept, staleness, self.clock)

    def _words(self, person: str) -> set[str]:
        channels = {f"channel:{name}" for name, people in self.members.items() if person in people}
        return {EVERYONE, *channels, *(() if person == "gus" else (MEMBERS,))}

    async def of_place(self, address: ThreadAddress, named: frozenset[str]) -> Audience:
        return Audience.of(*(self._words(person) for person in self.members[address.channel]))

    async def of_person(self, workspace: str, person: str, named: frozenset[str]) -> Audience:
        return Audience.of(self._words(person))

    async def source(self, name: str, readers: frozenset[str] = MEMBERS_ONLY, text: str = "# Bells\n\nTwo.") -> str:
        """A source with one document, whose id is returned."""
        self.shelf.source = build_source(name, readers=readers)
        return (await self.shelf.add(f"{name}.md", text, title=name.title())).id

    async def answered(self, address: ThreadAddress, *documents: str, text: str = SAID) -> Conversation:
        """An answer that rests on documents, stored with its question."""
        incoming = IncomingMessage(address=address, author="ada", text=QUESTION, event_key=str(address))
        conversation = Conversation(
            id=f"c:{address}",
            address=address,
            title=QUESTION,
            owner="ada",
            created_at=self.clock.now(),
            last_message_at=self.clock.now(),
        )
        answer = build_message(
            f"a:{address}",
            text,
            role=Role.ASSISTANT,
            status=AnswerStatus.ANSWERED.value,
            citations=tuple(build_citation(id, number=n) for n, id in enumerate(documents[:1], start=1)),
            outcome=Outcome(rests_on=Provenance(documents=documents)),
        )
        question = build_message(f"q:{address}", incoming.text)
        await self.shelf.conversations.add(conversation, [question, answer])
        return conversation

    async def proposed(self, address: ThreadAddress, *documents: str, text: str = SAID) -> KeptAnswer:
        """A proposal of Ada's: an answer if it rests on documents, else what Carla said."""
        said = Said(text=text, link=f"https://chat.example/{address.channel}", address=address, by="carla", by_name="C")
        if documents:
            await self.answered(address, *documents, text=text)
            said = replace(said, answer=await self.shelf.conversations.find_message(f"a:{address}"))
        return await self.kept.propose(said, question=QUESTION, author="ada", author_name="Ada")

    async def accepted(self, address: ThreadAddress, *documents: str, text: str = SAID) -> KeptAnswer:
        kept = await self.proposed(address, *documents, text=text)
        return await self.reviews.decide(REVIEWER, Act.ACCEPT, kept.id)

    async def finds(self, address: ThreadAddress | None, reader: str | None = None) -> bool:
        """Whether a search there finds what was kept."""
        scope = await self.shelf.access.scope("local", address, reader=reader)
        hits = await self.shelf.library.search(SearchQuery(text=QUESTION, limit=20), scope)
        listed = [document.title for document in await self.shelf.library.documents(scope)]
        is_found = any(hit.document.source == KEPT_SOURCE for hit in hits)
        assert is_found == any(title.startswith("Said by") for title in listed)
        return is_found

    async def leftovers(self) -> tuple[int, Sequence[KeptAnswer], list[str]]:
        """Documents, rows and passages of what was kept."""
        documents = [item for item in await self.shelf.corpus.list_documents("local") if item.source == KEPT_SOURCE]
        passages = [key for key, entry in self.shelf.index.entries.items() if "brass crank" in entry.passage.text]
        return len(documents), await self.kept.repository.list_kept(), passages


def direct(person: str) -> ThreadAddress:
    return ThreadAddress(platform="discord", workspace="local", channel="hall", thread=f"private:{person}")


@pytest.fixture
async def town() -> Town:
    return Town()


async def test_nothing_kept_is_found_before_a_reviewer_accepts_it(town: Town) -> None:
    kept = await town.proposed(PUBLIC, await town.source("wiki"))
    assert not await town.finds(PUBLIC) and not await town.finds(None)
    await town.reviews.decide(REVIEWER, Act.ACCEPT, kept.id)
    assert await town.finds(PUBLIC) and await town.finds(None)
    await town.reviews.decide(REVIEWER, Act.UNDO, kept.id)
    assert not await town.finds(PUBLIC) and not await town.finds(None)


async def test_an_answer_of_a_private_channel_is_found_there_and_not_in_a_public_one_nor_by_a_guest(town: Town) -> None:
    await town.accepted(CLOSED, await town.source("wiki"))
    town.members["hall"].add("gus")
    for place in (CLOSED, replace(CLOSED, thread="s2"), direct("ben")):
        assert await town.finds(place), place
    for place in (PUBLIC, direct("carla"), direct("gus")):
        assert not await town.finds(place), place


async def test_an_answer_that_rests_on_a_narrower_source_is_found_where_all_may_read_it_alone(town: Town) -> None:
    secret = await town.source("secret", frozenset({"channel:staff"}))
    await town.accepted(PUBLIC, await town.source("wiki"), secret)
    assert await town.finds(direct("ben"))
    for place in (PUBLIC, direct("carla")):
        assert not await town.finds(place), place


async def test_it_closes_when_the_readers_of_its_source_are_narrowed_later(town: Town) -> None:
    await town.accepted(PUBLIC, await town.source("wiki"))
    assert await town.finds(PUBLIC)
    await town.shelf.library.set_readers("local", "wiki", frozenset({"channel:staff"}))
    assert not await town.finds(PUBLIC) and await town.finds(direct("ben"))


async def test_who_leaves_the_channel_it_was_said_in_finds_it_no_more(town: Town) -> None:
    await town.accepted(CLOSED, await town.source("wiki"))
    town.members["staff"].discard("ada")
    assert not await town.finds(direct("ada"))


async def test_what_rests_on_a_file_of_a_thread_stays_in_the_thread(town: Town) -> None:
    town.shelf.source = build_source(f"attached:{PUBLIC}", kind="attachment")
    attached = await town.shelf.add("bill.pdf", "# Bill\n\nTwo crowns.", title="Bill")
    await town.accepted(PUBLIC, attached.id)
    assert await town.finds(PUBLIC)
    for place in (replace(PUBLIC, thread="h2"), direct("ada"), None):
        assert not await town.finds(place), place


async def test_what_is_kept_from_a_kept_answer_is_no_wider(town: Town) -> None:
    first = await town.accepted(CLOSED, await town.source("wiki"))
    await town.accepted(PUBLIC, first.document_id)
    scope = await town.shelf.access.scope("local", PUBLIC)
    assert [document.title for document in await town.shelf.library.documents(scope)] == ["Wiki"]


async def test_a_reading_position_in_a_book_hides_what_was_kept_about_it(town: Town) -> None:
    book = await town.source("book")
    await town.accepted(PUBLIC, book)
    await town.shelf.settings.save_position(PersonAddress(workspace="local", person="carla"), book, 1)
    assert not await town.finds(PUBLIC, "carla") and await town.finds(PUBLIC, "ada")


@pytest.mark.parametrize("gone", ["answer", "thread", "channel", "source", "document", "time"])
async def test_what_was_accepted_goes_with_what_it_came_from(town: Town, gone: str) -> None:
    book = await town.source("wiki")
    conversation = await town.answered(PUBLIC, book)
    answer = await town.shelf.conversations.find_message(f"a:{PUBLIC}")
    said = Said(text=SAID, link=LINK, address=PUBLIC, answer=answer)
    kept = await town.kept.propose(said, question=QUESTION, author="ada", author_name="Ada")
    await town.reviews.decide(REVIEWER, Act.ACCEPT, kept.id)
    assert await town.finds(PUBLIC)
    match gone:
        case "answer":
            await town.shelf.conversations.remove_messages(conversation.id, [f"a:{PUBLIC}"])
        case "thread":
            await town.shelf.conversations.delete(conversation.id)
        case "channel":
            await town.kept.forget_channel(ChannelAddress.of(PUBLIC))
        case "source":
            await town.shelf.library.remove_source("local", "wiki")
        case "document":
            await town.shelf.corpus.remove_documents([book])
        case _:
            town.clock.advance(KEPT_DAYS / timedelta(seconds=1))
            await town.kept.sweep()
    assert not await town.finds(PUBLIC) and not await town.finds(None)
    await town.kept.sweep()
    assert await town.leftovers() == (0, [], [])


async def test_what_a_person_said_goes_with_them_and_can_be_taken_back_when_it_was_accepted(town: Town) -> None:
    kept = await town.proposed(PUBLIC)
    await town.reviews.decide(OWNER, Act.ACCEPT, kept.id)
    assert await town.finds(PUBLIC)
    with pytest.raises(AccessDenied, match="Only Ada or a reviewer"):
        await town.kept.take_back(kept.id, "local", by="ben")
    await town.kept.take_back(kept.id, "local", by="carla")
    assert (await town.finds(PUBLIC), await town.leftovers()) == (False, (0, [], []))


async def test_a_killed_accept_leaves_nothing_open_and_is_cleaned_up(town: Town, monkeypatch) -> None:
    kept = await town.proposed(PUBLIC, await town.source("wiki"))

    async def killed(*_: object, **__: object) -> bool:
        raise ConnectionError("killed")

    with monkeypatch.context() as broken:
        broken.setattr(town.kept.repository, "change", killed)
        with pytest.raises(ConnectionError):
            await town.reviews.decide(REVIEWER, Act.ACCEPT, kept.id)
    assert (await town.leftovers())[0] == 1
    assert not await town.finds(PUBLIC) and not await town.finds(None)
    assert (await town.kept.sweep(), (await town.leftovers())[0]) == (0, 0)
    await town.reviews.decide(REVIEWER, Act.ACCEPT, kept.id)
    assert await town.finds(PUBLIC)


async def test_a_document_that_says_the_same_ranks_above_what_a_person_said(town: Town) -> None:
    """The person's has more of the question's words, as its title is the question."""
    await town.source("wiki", text=f"# Tower\n\n{QUESTION} {SAID}")
    kept = await town.proposed(PUBLIC, text=SAID)
    await town.reviews.decide(OWNER, Act.ACCEPT, kept.id)
    scope = await town.shelf.access.scope("local", PUBLIC)
    hits = await town.shelf.library.search(SearchQuery(text=QUESTION), scope)
    assert [hit.document.title for hit in hits] == ["Wiki", f"Said by C: {QUESTION}"]
    assert hits[0].score > hits[1].score


async def test_a_reviewer_sees_passages_on_the_subject_and_which_of_them_say_otherwise(town: Town) -> None:
    await town.source("wiki", text="# Tower\n\nThe verger winds the tower clock at 10:30.")
    await town.proposed(PUBLIC, text="The verger winds the tower clock at 9:15.")
    [proposal] = (await town.reviews.inbox(OWNER)).proposals
    [compared] = [item for item in proposal.compared if "10:30" in item.found.passage.text]
    assert compared.differs
    assert proposal.kept.state is KeptState.PROPOSED


async def test_a_reviewer_decides_only_about_what_they_may_read(town: Town) -> None:
    kept = await town.proposed(CLOSED, await town.source("wiki"))
    carla = Reviewer(workspace="local", person="carla", name="Carla", address=PUBLIC)
    assert (await town.reviews.inbox(carla)).proposals == []
    with pytest.raises(NotFound, match="isn't in your inbox"):
        await town.reviews.decide(carla, Act.ACCEPT, kept.id)
    [proposal] = (await town.reviews.inbox(replace(REVIEWER, address=PUBLIC))).proposals
    assert proposal.kept.id == kept.id


async def test_an_inbox_in_a_channel_holds_what_everyone_who_reads_it_may_read(town: Town) -> None:
    wiki = await town.source("wiki")
    await town.proposed(CLOSED, wiki, text="The verger keeps the crank in the vestry.")
    await town.proposed(PUBLIC, wiki)
    conversation = await town.answered(replace(CLOSED, thread="s2"))
    answer = build_message("n", "Not found.", role=Role.ASSISTANT, status=AnswerStatus.NOT_FOUND.value)
    await town.shelf.conversations.append(conversation.id, [build_message("m", "Who pays the bribe?"), answer])
    command = inbox_command(town.reviews)
    call = CommandCall(
        name="inbox", argument="share", workspace="local", conversation=None, author="ben", may_review=True
    )
    shared = [
        await command.run(replace(call, address=place, options={"action": "share"}))
        for place in (PUBLIC, replace(CLOSED, thread="s3"))
    ]

    assert all(result.is_public for result in shared)
    in_hall, in_staff = (result.text for result in shared)
    assert SAID in in_hall and "vestry" not in in_hall and "bribe" not in in_hall
    assert SAID in in_staff and "vestry" in in_staff and "bribe" in in_staff


async def test_an_inbox_in_a_thread_of_the_web_holds_nothing_of_other_peoples_threads(town: Town) -> None:
    conversations, identity = town.shelf.conversations, town.shelf.stores.identity
    town.shelf.access.audiences["web"] = WebAudiences(conversations, identity, has_visitors=True)
    mine, other = replace(HERE, thread="mine"), replace(HERE, thread="other")
    for address, owner in ((mine, f"Guest {'a' * 16}"), (other, f"Guest {'b' * 16}"), (HERE, "owner")):
        talk = build_conversation(str(address), address=address, owner=owner)
        await conversations.add(talk, [build_message(f"m:{address}", "So.", conversation_id=talk.id)])
    reads = [await town.shelf.access.reads(other, here, None) for here in (mine, other, HERE)]

    assert reads == [False, True, True]


async def test_a_reviewer_sees_nothing_that_rests_on_a_source_that_is_closed_to_them(town: Town) -> None:
    secret = await town.source("secret", frozenset({"channel:staff"}))
    await town.proposed(PUBLIC, secret)
    carla = Reviewer(workspace="local", person="carla", name="Carla", address=PUBLIC)
    assert (await town.reviews.inbox(carla)).proposals == []
    assert len((await town.reviews.inbox(OWNER)).proposals) == 1


async def test_unanswered_questions_have_their_text_only_for_reviewers_who_read_their_place(town: Town) -> None:
    for address, text in ((CLOSED, "Who pays the bribe?"), (PUBLIC, "Who paints the gate?")):
        conversation = await town.answered(address)
        answer = build_message(f"n:{address}", "Not found.", role=Role.ASSISTANT, status=AnswerStatus.NOT_FOUND.value)
        await town.shelf.conversations.append(conversation.id, [build_message(f"m:{address}", text), answer])
    carla = Reviewer(workspace="local", person="carla", name="Carla", address=PUBLIC)
    seen, all_of_it = await town.reviews.inbox(carla), await town.reviews.inbox(OWNER)
    assert ([item.text for item in seen.unanswered], seen.hidden) == (["Who paints the gate?"], 1)
    assert "bribe" not in repr(seen)
    assert {item.text for item in all_of_it.unanswered} == {"Who pays the bribe?", "Who paints the gate?"}
    assert all_of_it.hidden == 0


async def test_stale_answers_are_for_reviewers_who_read_their_place(town: Town) -> None:
    book = await town.source("wiki")
    await town.answered(CLOSED, book)
    [document] = [item for item in await town.shelf.corpus.list_documents("local") if item.id == book]
    changed = replace(document, revision="changed")
    pages = build_pages(changed, "Nothing of that.")
    await town.shelf.corpus.switch_revision(changed, pages, build_passages(pages))
    carla = Reviewer(workspace="local", person="carla", name="Carla", address=PUBLIC)
    assert (await town.reviews.inbox(carla)).stale == []
    assert [item.text for item in (await town.reviews.inbox(REVIEWER)).stale] == [QUESTION]
