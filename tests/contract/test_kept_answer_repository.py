"""The contract of KeptAnswerRepository, and of the rules that the library makes of it, on every database."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.domain.answer import Provenance
from core.domain.incoming import ThreadAddress
from core.domain.kept_answers import KEPT_KIND, KeptAnswer, KeptRule, KeptState
from core.errors import NotFound
from core.ports.documents import KeptAnswerRepository
from storage.database import Database
from storage.database.repositories.conversations import SqlConversationRepository
from storage.database.repositories.corpus import SqlCorpusRepository
from storage.database.repositories.kept_answers import SqlKeptAnswerRepository
from tests.builders import NOON, build_conversation, build_document, build_message, build_pages, build_source

HERE = ThreadAddress(platform="discord", workspace="local", channel="7", thread="8")
SOURCE = build_source("handbook")
HOUSE = build_document("house.md", SOURCE)
KEPT_HERE = build_source("kept answers", kind=KEPT_KIND)
OWN = build_document("k1.md", KEPT_HERE, kind=KEPT_KIND)
KEPT = KeptAnswer(
    id="k1",
    workspace="local",
    state=KeptState.PROPOSED,
    question="Where is the łódź?",
    text="Under the stairs.",
    link="https://chat.example/7/8",
    address=HERE,
    readers=frozenset({"channel:7"}),
    said_by="42",
    said_by_name="Ines",
    author="43",
    author_name="Ada",
    created_at=NOON,
    changed_at=NOON,
    expires_at=NOON + timedelta(days=30),
    rests_on=Provenance(documents=(HOUSE.id,)),
    document_id=OWN.id,
)
ACCEPTED = replace(KEPT, state=KeptState.ACCEPTED, decided_by="1", decided_by_name="Tomas")


@pytest.fixture
def kept(database: Database) -> KeptAnswerRepository:
    return SqlKeptAnswerRepository(database)


@pytest.fixture
async def corpus(database: Database) -> SqlCorpusRepository:
    """A document, and the document of a kept answer that rests on it."""
    corpus = SqlCorpusRepository(database)
    for document in (HOUSE, OWN):
        await corpus.save_source(SOURCE if document is HOUSE else KEPT_HERE)
        await corpus.switch_revision(document, build_pages(document, "# Keys"), [])
    return corpus


async def test_a_message_is_proposed_once_in_its_workspace(kept: KeptAnswerRepository) -> None:
    assert await kept.add(KEPT) == (KEPT, True)
    assert await kept.add(replace(KEPT, text="Elsewhere.", author="44")) == (KEPT, False)
    assert await kept.get("k1", "local") == KEPT
    for id, workspace in (("k2", "local"), ("k1", "elsewhere")):
        with pytest.raises(NotFound, match="is gone"):
            await kept.get(id, workspace)


async def test_the_first_of_two_decisions_wins(kept: KeptAnswerRepository) -> None:
    await kept.add(KEPT)
    assert await kept.change(ACCEPTED, was=KeptState.PROPOSED)
    assert not await kept.change(replace(KEPT, state=KeptState.DECLINED), was=KeptState.PROPOSED)
    assert await kept.get("k1", "local") == ACCEPTED
    await kept.remove(["k1", "k2"])
    assert not await kept.change(KEPT, was=KeptState.ACCEPTED)
    assert await kept.list_kept() == []


async def test_they_are_listed_by_workspace_oldest_first(kept: KeptAnswerRepository) -> None:
    later = replace(KEPT, id="k0", created_at=NOON + timedelta(seconds=1))
    other = replace(KEPT, id="k3", workspace="elsewhere", address=replace(HERE, workspace="elsewhere"))
    for one in (later, other, KEPT):
        await kept.add(one)
    assert [one.id for one in await kept.list_kept("local")] == ["k1", "k0"]
    assert {one.id for one in await kept.list_kept()} == {"k1", "k0", "k3"}


async def test_only_an_accepted_one_has_a_rule_that_lets_anybody_read_it(
    kept: KeptAnswerRepository, corpus: SqlCorpusRepository
) -> None:
    nobody = [KeptRule(document_id=OWN.id)]
    assert await corpus.kept_rules("local") == nobody
    await kept.add(KEPT)
    assert await corpus.kept_rules("local") == nobody
    await kept.change(ACCEPTED, was=KeptState.PROPOSED)
    rule = KeptRule(
        document_id=OWN.id,
        address=HERE,
        readers=frozenset({"channel:7"}),
        rests_on=KEPT.rests_on,
        sources={HOUSE.id: SOURCE.id},
    )
    assert await corpus.kept_rules("local") == [rule]
    assert await corpus.kept_rules("elsewhere") == []
    await kept.change(KEPT, was=KeptState.ACCEPTED)
    assert await corpus.kept_rules("local") == nobody


async def test_it_is_lost_with_the_document_it_rests_on_and_with_its_own(
    kept: KeptAnswerRepository, corpus: SqlCorpusRepository
) -> None:
    await kept.add(ACCEPTED)
    assert await kept.list_lost(NOON) == []
    await corpus.remove_documents([OWN.id])
    assert await kept.list_lost(NOON) == [ACCEPTED]
    await kept.change(KEPT, was=KeptState.ACCEPTED)
    assert await kept.list_lost(NOON) == []
    await corpus.remove_source(SOURCE.id)
    assert await kept.list_lost(NOON) == [KEPT]


async def test_a_rule_without_the_document_it_rests_on_names_no_source_for_it(
    kept: KeptAnswerRepository, corpus: SqlCorpusRepository
) -> None:
    await kept.add(ACCEPTED)
    await corpus.remove_documents([HOUSE.id])
    [rule] = await corpus.kept_rules("local")
    assert (rule.address, rule.sources) == (HERE, {})
    assert not rule.holds({SOURCE.id, KEPT_HERE.id}, frozenset())


async def test_it_is_lost_with_the_answer_it_was_and_closed_at_once(
    kept: KeptAnswerRepository, corpus: SqlCorpusRepository, database: Database
) -> None:
    conversations = SqlConversationRepository(database)
    conversation = build_conversation("c1")
    await conversations.add(conversation, [build_message("m1"), build_message("m2")])
    answer = replace(ACCEPTED, answer_id="m2")
    await kept.add(answer)
    assert (await kept.list_lost(NOON), (await corpus.kept_rules("local"))[0].address) == ([], HERE)
    await conversations.remove_messages("c1", ["m2"])
    assert await kept.list_lost(NOON) == [answer]
    assert await corpus.kept_rules("local") == [KeptRule(document_id=OWN.id)]


async def test_it_is_lost_when_its_time_has_come(kept: KeptAnswerRepository, corpus: SqlCorpusRepository) -> None:
    await kept.add(KEPT)
    assert await kept.list_lost(KEPT.expires_at - timedelta(seconds=1)) == []
    assert await kept.list_lost(KEPT.expires_at) == [KEPT]
