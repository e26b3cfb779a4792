"""The contract of StaleRepository, on every database."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from core.domain.conversation import Role
from core.domain.corpus import Document
from core.domain.features import OUT, Checked, Fate, LostQuote, Unchecked
from core.ports import ConversationRepository, CorpusRepository
from core.ports.service import StaleRepository
from storage.database import Database
from storage.database.repositories.conversations import SqlConversationRepository
from storage.database.repositories.corpus import SqlCorpusRepository
from storage.database.repositories.staleness import SqlStaleRepository
from tests.builders import (
    build_citation,
    build_conversation,
    build_document,
    build_message,
    build_pages,
    build_passages,
    build_source,
)

LOST = (LostQuote(number=1, fate=Fate.CHANGED),)
GUIDE = build_document()


class Store(NamedTuple):
    conversations: ConversationRepository
    corpus: CorpusRepository
    stale: StaleRepository

    async def switch(self, *texts: str, document: Document = GUIDE, revision: str) -> None:
        document = replace(document, revision=revision)
        pages = build_pages(document, *texts)
        await self.corpus.switch_revision(document, pages, build_passages(pages))

    async def answer(self, id: str = "a1", conversation: str = "c1", **fields: Any) -> None:
        fields = {"citations": (build_citation(GUIDE.id, revision="r1"),), **fields}
        await self.conversations.append(conversation, [build_message(id, role=Role.ASSISTANT, **fields)])

    async def marked(self, conversation: str = "c1") -> list[str]:
        return [item.id for item in await self.conversations.list_messages(conversation) if item.stale]

    async def due(self) -> list[tuple[str, str, tuple[str, ...]]]:
        return [(note.id, note.conversation.id, note.message_ids) for note in await self.stale.due_notes()]


@pytest.fixture
async def store(database: Database) -> Store:
    made = Store(SqlConversationRepository(database), SqlCorpusRepository(database), SqlStaleRepository(database))
    await made.corpus.save_source(build_source())
    await made.conversations.add(build_conversation())
    return made


def checked(message: str = "a1", revision: str = "r2", **fields: Any) -> Checked:
    return Checked(message_id=message, document_id=GUIDE.id, **{"was": None, "revision": revision, **fields})


def names(found: Sequence[Unchecked]) -> list[tuple[str, str | None, str]]:
    return [(item.message_id, item.checked_revision, item.live_revision) for item in found]


async def test_an_answer_is_unchecked_until_it_is_compared_with_each_live_revision(store: Store) -> None:
    await store.switch("It lies under the mat.", revision="r1")
    await store.answer()
    assert names(await store.stale.list_unchecked()) == [("a1", None, "r1")]
    await store.stale.record("c1", [checked(revision="r1")], "n1")
    assert await store.stale.list_unchecked() == []
    await store.switch("Nothing.", revision="r2")
    [found] = await store.stale.list_unchecked()
    assert (found.checked_revision, found.live_revision, found.conversation_id, found.is_old) == (
        "r1",
        "r2",
        "c1",
        False,
    )
    await store.corpus.remove_documents([GUIDE.id])
    assert await store.stale.list_unchecked() == []  # its text and its footnotes are deleted


async def test_answers_come_by_conversation_and_then_in_their_order(store: Store) -> None:
    await store.conversations.add(build_conversation("c0"))
    for id, conversation in [("a2", "c1"), ("a1", "c1"), ("a3", "c0")]:
        await store.answer(id, conversation)
    assert [item.message_id for item in await store.stale.list_unchecked()] == ["a3", "a2", "a1"]


async def test_the_texts_are_those_of_the_live_revision(store: Store) -> None:
    assert await store.stale.live_texts(GUIDE.id) is None
    await store.switch("One.", "Two.", revision="r1")
    await store.switch("New.", revision="r2")
    live = await store.stale.live_texts(GUIDE.id)
    assert live is not None
    assert (live.revision, dict(live.texts)) == ("r2", {1: "New."})
    failed = replace(GUIDE, id="local/handbook/bad.md", path="bad.md", revision=None, failed_reason="broken")
    await store.corpus.save_failure(failed)
    assert await store.stale.live_texts(failed.id) is None


async def test_a_lost_quote_marks_its_answer_and_makes_one_note_due(store: Store) -> None:
    await store.answer("a1")
    await store.answer("a2")
    await store.answer("a3")
    found = [checked("a1", lost=LOST), checked("a2", lost=LOST), checked("a3")]
    assert await store.stale.record("c1", found, "n1") is True
    assert await store.marked() == ["a1", "a2"]
    assert await store.due() == [("n1", "c1", ("a1", "a2"))]
    await store.stale.note_done("n1")
    await store.stale.note_done("unknown")
    assert await store.due() == []
    assert await store.marked() == ["a1", "a2"]


async def test_what_is_lost_already_is_no_news(store: Store) -> None:
    await store.answer()
    await store.stale.record("c1", [checked(lost=LOST)], "n1")
    await store.stale.note_done("n1")
    again = checked(was="r2", revision="r3", lost=(LostQuote(number=1, fate=Fate.GONE),))
    assert await store.stale.record("c1", [again], "n2") is False
    assert await store.due() == []
    assert [item.lost[0].fate for item in await store.stale.list_stale("local")] == [Fate.GONE]


async def test_a_note_that_is_due_stays_due_when_more_is_compared(store: Store) -> None:
    await store.answer()
    await store.stale.record("c1", [checked(lost=LOST)], "n1")
    await store.stale.record("c1", [checked(was="r2", revision="r3", lost=LOST)], "n2")
    assert await store.due() == [("n1", "c1", ("a1",))]


async def test_what_is_there_again_is_not_stale_and_may_be_news_again(store: Store) -> None:
    await store.answer()
    await store.stale.record("c1", [checked(lost=LOST)], "n1")
    await store.stale.note_done("n1")
    await store.stale.record("c1", [checked(was="r2", revision="r3")], "n2")
    assert await store.marked() == []
    assert await store.stale.record("c1", [checked(was="r3", revision="r4", lost=LOST)], "n3") is True
    assert await store.due() == [("n3", "c1", ("a1",))]


async def test_what_somebody_else_has_compared_meanwhile_is_left_as_it_is(store: Store) -> None:
    await store.answer()
    assert await store.stale.record("c1", [checked(lost=LOST)], "n1") is True
    assert await store.stale.record("c1", [checked(lost=LOST)], "n2") is False
    assert await store.stale.record("c1", [checked(was="r1")], "n2") is False
    assert await store.marked() == ["a1"]
    assert await store.due() == [("n1", "c1", ("a1",))]


async def test_what_was_removed_meanwhile_is_left_out(store: Store) -> None:
    await store.answer()
    await store.conversations.remove_messages("c1", ["a1"])
    assert await store.stale.record("c1", [checked(lost=LOST)], "n1") is False
    assert await store.stale.record("gone", [checked(lost=LOST)], "n1") is False
    assert await store.due() == []


async def test_an_answer_goes_with_all_that_is_kept_about_it(store: Store) -> None:
    await store.answer()
    await store.stale.record("c1", [checked(lost=LOST)], "n1")
    await store.conversations.delete("c1")
    assert await store.due() == []
    assert await store.stale.list_stale("local") == []


async def test_what_an_old_answer_has_lost_is_marked_but_no_news(store: Store) -> None:
    await store.answer()
    assert await store.stale.record("c1", [checked(lost=LOST, is_old=True)], "n1") is False
    assert (await store.marked(), await store.due()) == (["a1"], [])


async def test_an_answer_is_stale_while_any_of_its_documents_lost_a_quote(store: Store) -> None:
    other = build_citation("other", number=2)
    await store.answer(citations=(build_citation(GUIDE.id), other))
    gone = Checked(
        message_id="a1", document_id="other", was=None, revision=OUT, lost=(LostQuote(number=2, fate=Fate.GONE),)
    )
    await store.stale.record("c1", [checked(lost=LOST), gone], "n1")
    await store.stale.record("c1", [checked(was="r2", revision="r3")], "n2")
    [found] = await store.stale.list_stale("local")
    assert [(quote.number, quote.fate) for quote in found.lost] == [(2, Fate.GONE)]
    assert await store.due() == [("n1", "c1", ("a1",))]


async def test_stale_answers_are_listed_by_workspace_and_conversation(store: Store) -> None:
    await store.conversations.add(build_conversation("c2"))
    await store.answer("a1")
    await store.answer("b1", "c2")
    await store.answer("b2", "c2")
    await store.stale.record("c1", [checked("a1", lost=LOST)], "n1")
    await store.stale.record("c2", [checked("b1", lost=LOST), checked("b2", lost=LOST)], "n2")

    found = await store.stale.list_stale("local")
    assert sorted(item.message.id for item in found) == ["a1", "b1", "b2"]
    assert found[0].lost == LOST
    assert [item.message.id for item in await store.stale.list_stale("local", "c2")] == ["b1", "b2"]
    assert await store.stale.list_stale("elsewhere") == []
