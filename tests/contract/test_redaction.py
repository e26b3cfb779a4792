"""Removal of documents: the same commit empties the answers that rest on them, with all that was derived."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from sqlalchemy import select

from bot.presentation.direct_threads import is_direct_thread
from core.answering.answers.stored import stored_ids
from core.answering.redaction import REDACTED
from core.domain.additions import Addition, AdditionKind, AdditionState
from core.domain.answer import AnswerStatus, Provenance
from core.domain.chat import ToolInvocation
from core.domain.conversation import Focus, Message, Outcome, Role, ToolCallRecord
from core.domain.corpus import Document
from core.domain.features import StoredCassette
from core.domain.identity import PersonOnPlatform
from core.domain.incoming import NOTE_ON, IncomingMessage, Talk
from core.domain.jobs import JobKind
from core.domain.service import ACCEPTED, InboxStatus, PostFate, SummaryKey, SummaryKind
from storage.database import Database
from storage.database.repositories.erasure import SqlErasure
from storage.database.repositories.inbox import SqlInboxStore
from storage.database.stores import Stores
from storage.database.tables import TABLES
from tests.builders import (
    NOON,
    build_citation,
    build_conversation,
    build_document,
    build_incoming,
    build_job,
    build_message,
    build_pages,
    build_passages,
    build_source,
)
from tests.fakes import ManualClock

HANDBOOK, DIARY = build_source("handbook"), build_source("diary")
BOAT = build_document("boat.md", HANDBOOK, title="The grey boat")
FLAG = build_document("flag.md", DIARY, title="The flag", revision="r2")
LOUD = "Marmalade is under the grey boat."
CALL = ToolCallRecord(
    invocation=ToolInvocation(id="t", name="search", arguments={"query": LOUD}), text=LOUD, passage_ids=("p",)
)


class Place:
    """Stores with two documents, and conversations about them."""

    def __init__(self, database: Database) -> None:
        self.stores = Stores(database, is_direct_thread)
        self.database = database
        self.clock = ManualClock()
        self.inbox = SqlInboxStore(database, self.clock)
        self.conversations, self.corpus = self.stores.conversations, self.stores.corpus

    async def begin(self) -> None:
        for document in (BOAT, FLAG):
            await self.corpus.save_source(HANDBOOK if document is BOAT else DIARY)
            pages = build_pages(document, f"{document.title} lies there.")
            await self.corpus.switch_revision(document, pages, build_passages(pages))

    async def ask(
        self,
        thread: str,
        text: str,
        basis: Provenance,
        *cited: Document,
        edit: str = "",
        ended: bool = True,
        said: str = LOUD,
    ) -> IncomingMessage:
        """A question and its answer, with their tool calls, job tree, recording and post."""
        key = f"web:local:general:{text}"
        incoming = build_incoming(text, thread=thread, event_key=f"{key}{edit}", message_key=key)
        ids = stored_ids(incoming)
        about = Talk(message_id="9", author="footnote", text=LOUD, said_at=NOON)
        _, is_new = await self.inbox.accept(replace(incoming, about=about), ACCEPTED)
        assert is_new
        if await self.conversations.find_by_address(incoming.address) is None:
            await self.conversations.add(build_conversation(thread, address=incoming.address))
        answer = build_message(
            ids.answer,
            said,
            conversation_id=thread,
            role=Role.ASSISTANT,
            status=AnswerStatus.ANSWERED.value,
            job_id=ids.request,
            citations=tuple(
                build_citation(document.id, number=n, quote=LOUD, revision=document.revision)
                for n, document in enumerate(cited, start=1)
            ),
            outcome=Outcome(rests_on=basis, suggestions=(LOUD,)),
        )
        tools = build_message(f"{ids.answer}t", LOUD, conversation_id=thread, role=Role.TOOL_RESULT, tool_calls=(CALL,))
        question = build_message(ids.question, text, conversation_id=thread)
        await self.conversations.append(thread, [question, tools, answer])
        root = build_job(ids.request, input={"question": text})
        await self.stores.jobs.save(root, build_job(f"{ids.request}s", parent_id=root.id, output={"found": LOUD}))
        run = StoredCassette(
            message_id=ids.answer,
            workspace="local",
            question=text,
            recorded_at=NOON,
            is_case=False,
            document_ids=frozenset(document.id for document in cited),
            data=LOUD.encode(),
        )
        await self.stores.cassettes.save(run)
        for kind in (SummaryKind.THREAD, SummaryKind.ROLLING):
            key_of = SummaryKey(workspace="local", kind=kind, subject=thread, revision="1")
            await self.stores.summaries.save(key_of, LOUD)
        if ended:
            await self.finish(text)
        return incoming

    async def finish(self, text: str) -> None:
        for entry in await self.inbox.claim(10, {"web"}):
            await self.inbox.finish(entry.seq, InboxStatus.DONE, post_ref=f"wall/{text}")

    async def fates(self) -> list[tuple[str, PostFate]]:
        return [(due.entry.event_key, due.fate) for due in await self.inbox.list_removals({"web"}, 10)]

    async def rows(self) -> str:
        """All rows of all tables but the library's, as text."""
        left_out = {"source", "document", "page", "passage"}
        queries = [select(table) for name, table in TABLES.items() if name not in left_out]
        return repr([await self.database.rows(query) for query in queries])


@pytest.fixture
async def place(database: Database) -> Place:
    place = Place(database)
    await place.begin()
    return place


def emptied(messages: Sequence[Message]) -> list[str]:
    return [message.content for message in messages]


@pytest.mark.parametrize(
    ("basis", "cited"),
    [
        (Provenance(documents=(BOAT.id,)), ()),
        (Provenance(), (BOAT,)),
        (Provenance(documents=(FLAG.id, BOAT.id)), (FLAG, BOAT)),
        (Provenance(sources=(HANDBOOK.id,)), ()),
    ],
    ids=["read", "cited", "cited among others", "listed by name"],
)
async def test_an_answer_that_rests_on_a_removed_document_leaves_only_its_question(
    place: Place, basis: Provenance, cited: tuple[Document, ...]
) -> None:
    asked = await place.ask("t1", "Where is it?", basis, *cited)
    await place.corpus.remove_documents([BOAT.id, "unknown"])

    messages = await place.conversations.list_messages("t1")
    assert emptied(messages) == ["Where is it?", REDACTED]
    assert (messages[1].status, messages[1].citations, messages[1].outcome) == ("refused", (), None)
    assert (await place.conversations.get("t1", "local")).message_count == 2
    assert "armalade" not in await place.rows()
    assert await place.stores.jobs.list_tree(stored_ids(asked).request) == []
    assert await place.fates() == [(asked.event_key, PostFate.REDACTED)]
    [version] = await place.inbox.list_versions(asked.message_key)
    assert version.incoming.text == "Where is it?"


async def test_an_answer_whose_footnotes_lead_elsewhere_keeps_its_text_and_nothing_else(place: Place) -> None:
    basis = Provenance(documents=(FLAG.id, BOAT.id))
    asked = await place.ask("t1", "Which flag?", basis, FLAG)
    marked = await place.ask("t2", "Whose flag?", basis, FLAG, said=f"{LOUD} [?]")
    await place.corpus.remove_documents([BOAT.id])

    question, answer = await place.conversations.list_messages("t1")
    assert (question.content, answer.content) == ("Which flag?", LOUD)
    assert answer.outcome is not None and answer.outcome.rests_on == Provenance(documents=(FLAG.id,))
    assert answer.outcome.suggestions == ()
    assert [citation.document_id for citation in answer.citations] == [FLAG.id]
    assert await place.stores.jobs.list_tree(stored_ids(asked).request) == []
    assert emptied(await place.conversations.list_messages("t2"))[-1] == REDACTED
    assert await place.fates() == [(marked.event_key, PostFate.REDACTED)]
    assert await place.corpus.redact_lost() == 0


async def test_the_answers_of_a_moved_document_stay(place: Place) -> None:
    moved = replace(BOAT, id=f"{HANDBOOK.id}/pier/boat.md", path="pier/boat.md")
    pages = build_pages(moved, "The grey boat lies there.")
    await place.ask("t1", "Where is it?", Provenance(documents=(BOAT.id,)), BOAT)
    await place.corpus.switch_revision(moved, pages, build_passages(pages))
    await place.corpus.remove_documents([BOAT.id])

    assert emptied(await place.conversations.list_messages("t1"))[-1] == LOUD
    assert (await place.fates(), await place.corpus.redact_lost()) == ([], 0)


@pytest.mark.parametrize(
    "basis",
    [Provenance(documents=(FLAG.id,)), Provenance(sources=(DIARY.id,)), Provenance(sources=(HANDBOOK.id,))],
    ids=["read another", "lists another source", "lists names that aren't its own"],
)
async def test_an_answer_that_rests_on_other_documents_stays(place: Place, basis: Provenance) -> None:
    await place.corpus.switch_revision(replace(BOAT, title="Hidden"), [], [])
    await place.ask("t1", "Where is it?", basis)
    before = await place.rows()
    await place.corpus.remove_documents([BOAT.id])
    assert await place.rows() == before
    assert await place.fates() == []


async def test_many_removed_documents_take_the_same_answers(place: Place) -> None:
    await place.ask("t1", "Where is it?", Provenance(documents=(BOAT.id,)))
    await place.ask("t2", "Which flag?", Provenance(documents=(FLAG.id,)))
    others = [build_document(f"{number}.md", HANDBOOK) for number in range(20)]
    for other in others:
        await place.corpus.switch_revision(other, [], [])
    await place.corpus.remove_documents([BOAT.id, *(other.id for other in others)])
    assert emptied(await place.conversations.list_messages("t1"))[-1] == REDACTED
    assert emptied(await place.conversations.list_messages("t2"))[-1] == LOUD


async def test_a_removed_source_takes_the_answers_that_list_it_or_rest_on_its_documents(place: Place) -> None:
    await place.ask("t1", "Where is it?", Provenance(documents=(BOAT.id,)))
    await place.ask("t2", "What is there?", Provenance(sources=(HANDBOOK.id, DIARY.id)))
    await place.ask("t3", "Which flag?", Provenance(documents=(FLAG.id,), sources=(DIARY.id,)))
    await place.corpus.remove_source(HANDBOOK.id)
    contents = [emptied(await place.conversations.list_messages(thread))[-1] for thread in ("t1", "t2", "t3")]
    assert contents == [REDACTED, REDACTED, LOUD]


async def test_pins_and_focus_go_and_are_counted_with_what_rests_on_it(place: Place) -> None:
    focus = Focus(document_id=BOAT.id, document=BOAT.path, title=BOAT.title, touched_at=NOON)
    await place.conversations.add(build_conversation("pinned", pinned_document_id=BOAT.id))
    await place.conversations.add(build_conversation("focused", focus=focus))
    await place.conversations.add(build_conversation("other", pinned_document_id=FLAG.id))
    await place.ask("t1", "Where is it?", Provenance(documents=(BOAT.id,)))
    assert await place.conversations.count_about([BOAT]) == 3
    assert await place.conversations.count_about([BOAT, FLAG]) == 4
    await place.corpus.remove_documents([BOAT.id])
    assert (await place.conversations.get("pinned", "local")).pinned_document_id is None
    assert (await place.conversations.get("focused", "local")).focus is None
    assert (await place.conversations.get("other", "local")).pinned_document_id == FLAG.id


async def test_a_note_about_an_emptied_answer_is_deleted_with_its_post(place: Place) -> None:
    asked = await place.ask("t1", "Where is it?", Provenance(documents=(BOAT.id,)))
    answer = stored_ids(asked).answer
    await place.ask("t1", "Which flag?", Provenance(documents=(FLAG.id,)))
    note = build_incoming(LOUD, thread="t1", metadata={NOTE_ON: answer}, event_key="note", message_key="note")
    await place.inbox.accept(note, ACCEPTED)
    await place.finish("note")
    said = build_message("n", LOUD, conversation_id="t1", role=Role.ASSISTANT, outcome=Outcome(note_on=(answer,)))
    await place.conversations.append("t1", [said])
    await place.corpus.remove_documents([BOAT.id])
    assert emptied(await place.conversations.list_messages("t1"))[::2] == ["Where is it?", "Which flag?", LOUD]
    assert (await place.conversations.get("t1", "local")).message_count == 4
    assert await place.fates() == [(asked.event_key, PostFate.REDACTED), ("note", PostFate.DELETED)]


async def test_the_post_of_an_open_answer_is_due_when_it_is_made(place: Place) -> None:
    asked = await place.ask("t1", "Where is it?", Provenance(documents=(BOAT.id,)), ended=False)
    await place.corpus.remove_documents([BOAT.id])
    assert await place.fates() == []
    await place.finish("Where is it?")
    assert await place.fates() == [(asked.event_key, PostFate.REDACTED)]


async def test_a_post_with_a_newer_answer_stays_and_waits_while_that_is_made(place: Place) -> None:
    asked = await place.ask("t1", "Where is it?", Provenance(documents=(BOAT.id,)))
    await place.corpus.remove_documents([BOAT.id])
    again = replace(asked, event_key=f"{asked.message_key}@again-1", about=None)
    await place.inbox.accept(again, ACCEPTED)
    assert await place.fates() == []
    await place.finish("Where is it?")
    assert await place.fates() == [(asked.event_key, PostFate.STAYS)]


async def test_a_conversation_that_is_deleted_later_deletes_the_post(place: Place) -> None:
    asked = await place.ask("t1", "Where is it?", Provenance(documents=(BOAT.id,)))
    await place.corpus.remove_documents([BOAT.id])
    await place.conversations.delete("t1")
    assert await place.fates() == [(asked.event_key, PostFate.DELETED)]


async def test_the_post_of_a_question_that_resumed_the_conversation_elsewhere_is_found(place: Place) -> None:
    asked = await place.ask("t1", "Where is it?", Provenance(documents=(BOAT.id,)))
    resumed = build_incoming("And now?", thread="t9", conversation_id="t1", event_key="r", message_key="r")
    await place.inbox.accept(resumed, ACCEPTED)
    await place.finish("And now?")
    outcome = Outcome(rests_on=Provenance(documents=(BOAT.id,)))
    ids = stored_ids(resumed)
    said = build_message(ids.answer, LOUD, conversation_id="t1", role=Role.ASSISTANT, outcome=outcome)
    await place.conversations.append("t1", [build_message(ids.question, "And now?", conversation_id="t1"), said])
    await place.corpus.remove_documents([BOAT.id])
    assert await place.fates() == [(asked.event_key, PostFate.REDACTED), ("r", PostFate.REDACTED)]


async def test_an_answer_stored_after_the_removal_is_emptied_later(place: Place) -> None:
    await place.corpus.remove_documents([BOAT.id])
    cites = await place.ask("t1", "Where is it?", Provenance(), BOAT)
    reads = await place.ask("t2", "Where is it now?", Provenance(documents=(BOAT.id,)))
    await place.ask("t3", "Which flag?", Provenance(documents=(FLAG.id,)), FLAG)
    assert await place.corpus.redact_lost() == 2
    assert await place.corpus.redact_lost() == 0
    assert [key for key, _ in await place.fates()] == [cites.event_key, reads.event_key]
    assert emptied(await place.conversations.list_messages("t3"))[-1] == LOUD


async def test_an_entry_with_a_post_is_kept_as_long_as_its_conversation(place: Place) -> None:
    asked = await place.ask("t1", "Where is it?", Provenance(documents=(BOAT.id,)))
    later = place.clock.now().replace(year=2100)
    assert await place.inbox.purge(later) == 0
    await place.corpus.remove_documents([BOAT.id])
    assert await place.fates() == [(asked.event_key, PostFate.REDACTED)]
    await place.conversations.delete("t1")
    assert await place.inbox.purge(later) == 1


async def note(place: Place, thread: str, rests_on: Provenance, *, by: str = "u1", quotes_people: bool = False) -> str:
    """A post that is no answer."""
    key = f"web:local:general:{thread}:shown"
    shown = build_incoming("", thread=thread, author=by, event_key=key, message_key=key)
    await place.inbox.note_shown(shown, f"wall/{key}", rests_on, quotes_people=quotes_people)
    return key


@pytest.mark.parametrize("basis", [Provenance(documents=(FLAG.id, BOAT.id)), Provenance(sources=(HANDBOOK.id,))])
@pytest.mark.parametrize("is_late", [False, True], ids=["before", "after"])
async def test_a_post_that_is_no_answer_is_taken_back_with_its_documents(
    place: Place, basis: Provenance, is_late: bool
) -> None:
    other = await note(place, "t2", Provenance(documents=(FLAG.id,), sources=(DIARY.id,)))
    key = "" if is_late else await note(place, "t1", basis)
    await place.corpus.remove_source(HANDBOOK.id)
    if is_late:  # it was made of the documents just before
        key = await note(place, "t1", basis)
        await place.corpus.redact_lost()
    assert await place.fates() == [(key, PostFate.REDACTED)]
    assert await place.inbox.recent("local") == []
    assert await place.inbox.purge(place.clock.now().replace(year=2100)) == 0
    await place.corpus.remove_source(DIARY.id)
    assert (other, PostFate.REDACTED) in await place.fates()


async def test_a_post_that_is_no_answer_is_deleted_with_its_conversation(place: Place) -> None:
    await place.conversations.add(build_conversation("t1", address=build_incoming("", thread="t1").address))
    key = await note(place, "t1", Provenance())
    await place.conversations.delete("t1")
    assert await place.fates() == [(key, PostFate.DELETED)]


async def test_a_post_that_is_no_answer_is_deleted_with_its_author_and_with_people_whom_it_quotes(place: Place) -> None:
    own = await note(place, "t1", Provenance(), by="u2")
    quoting = await note(place, "t2", Provenance(), quotes_people=True)
    await note(place, "t3", Provenance())
    person = PersonOnPlatform(workspace="local", platform="web", id="u2")
    await SqlErasure(place.database).erase_person(person, "removed-1", "admin", NOON)
    assert [fate for _, fate in await place.fates()] == [PostFate.DELETED] * 2
    assert {key for key, _ in await place.fates()} == {own, quoting}


async def test_readers_that_name_a_removed_person_name_nobody(place: Place) -> None:
    for source in (HANDBOOK, DIARY):
        await place.corpus.set_readers(source.id, frozenset({"person:u2", "person:u22"}))
    await place.corpus.narrow(HANDBOOK.id, {BOAT.id: frozenset({frozenset({"person:u2"}), frozenset({"gm"})})})
    person = PersonOnPlatform(workspace="local", platform="web", id="u2")
    await SqlErasure(place.database).erase_person(person, "removed-1", "admin", NOON)
    left = [source.readers for source in await place.corpus.list_sources("local")]
    assert left == [frozenset({"person:removed-1", "person:u22"})] * 2
    limits = (await place.corpus.narrowed("local"))[BOAT.id]
    assert limits == {frozenset({"person:removed-1"}), frozenset({"gm"})}


@pytest.mark.parametrize("state", [AdditionState.READ, AdditionState.UNDONE])
async def test_the_post_about_an_added_document_goes_with_it_unless_it_says_so_itself(
    place: Place, state: AdditionState
) -> None:
    address = build_incoming("", thread="t1").address
    addition = Addition(
        id="a1",
        workspace="local",
        kind=AdditionKind.FILE,
        name=BOAT.path,
        path=BOAT.path,
        document_id=BOAT.id,
        address=address,
        author="u1",
        author_name="Ada",
        state=state,
        created_at=NOON,
        post_ref="wall/a1",
    )
    await place.stores.additions.add(addition)
    await place.corpus.remove_documents([BOAT.id])
    is_gone = state is AdditionState.READ
    assert await place.fates() == ([(f"{address}:addition-a1", PostFate.REDACTED)] if is_gone else [])
    assert (BOAT.path in await place.rows()) is not is_gone


async def test_jobs_that_read_a_removed_document_no_longer_name_it(place: Place) -> None:
    for number, path in enumerate((BOAT.path, FLAG.path)):
        job = build_job(f"j{number}", kind=JobKind.INGEST, name=f"read {path}", input={"file": path}, completed_at=NOON)
        await place.stores.jobs.save(job)
    await place.corpus.remove_documents([BOAT.id])
    shown = {job.id: (job.name, job.input) for job in await place.stores.jobs.list_roots("local")}
    assert shown == {"j0": ("ingest", {}), "j1": (f"read {FLAG.path}", {"file": FLAG.path})}
