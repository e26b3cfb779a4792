"""The contract of ChannelMessageRepository on every database."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.domain.channels import LIVE_KIND, ChannelMessage
from core.domain.corpus import Source
from core.ports.documents import ChannelMessageRepository
from storage.database import Database
from storage.database.repositories.channels import SqlChannelMessages
from storage.database.repositories.corpus import SqlCorpusRepository
from tests.builders import NOON, build_source

HARBOUR = build_source("#harbour", kind=LIVE_KIND)
FIRST = ChannelMessage(
    id="1",
    root="1",
    author="42",
    author_name="Ines",
    said_at=NOON,
    begun_at=NOON,
    text="The łódź is under the stairs.",
    link="https://chat.example/7/1",
)
REPLY = replace(FIRST, id="2", author="43", text="Since when?", said_at=NOON + timedelta(minutes=1))


@pytest.fixture
async def said(database: Database) -> ChannelMessageRepository:
    await SqlCorpusRepository(database).save_source(HARBOUR)
    return SqlChannelMessages(database)


async def texts(said: ChannelMessageRepository) -> list[str]:
    return [item.message.text for item in await said.list_messages(HARBOUR.id)]


async def test_only_sources_of_live_channels_are_listed(said: ChannelMessageRepository, database: Database) -> None:
    await SqlCorpusRepository(database).save_source(build_source("handbook"))
    found: list[Source] = await said.list_sources()
    assert await said.list_sources(lately=True) == found
    assert found == [HARBOUR]


async def test_a_message_is_open_until_the_library_has_it_as_it_is(said: ChannelMessageRepository) -> None:
    assert await said.save(HARBOUR.id, [FIRST]) == frozenset()
    [stored] = await said.list_messages(HARBOUR.id)
    assert (stored.message, stored.version, stored.is_read) == (FIRST, 1, False)
    assert await said.list_open(HARBOUR.id) == {"1"}

    await said.settle(HARBOUR.id, [stored])
    assert await said.list_open(HARBOUR.id) == frozenset()
    assert await said.save(HARBOUR.id, [FIRST]) == frozenset()  # nothing new

    assert await said.save(HARBOUR.id, [replace(FIRST, text="Gone.")]) == {"1"}
    await said.settle(HARBOUR.id, [stored])  # the library has what it was before
    assert await said.list_open(HARBOUR.id) == {"1"}
    assert await texts(said) == ["Gone."]


async def test_a_deleted_message_leaves_its_id_and_stays_deleted(said: ChannelMessageRepository) -> None:
    await said.save(HARBOUR.id, [FIRST, REPLY])
    assert await said.bury(HARBOUR.id, {"2", "unknown"}) == {"1"}
    await said.save(HARBOUR.id, [REPLY])  # sent again
    [first, reply] = await said.list_messages(HARBOUR.id)
    assert first.message == FIRST
    assert reply.is_gone and not (reply.message.text + reply.message.author + reply.message.author_name)
    assert await said.bury(HARBOUR.id, {"2"}) == frozenset()

    await said.settle(HARBOUR.id, [first, reply])
    assert await said.list_open(HARBOUR.id) == frozenset()
    await said.purge(HARBOUR.id, NOON + timedelta(days=1))
    assert [item.message.id for item in await said.list_messages(HARBOUR.id)] == ["1"]


async def test_what_changed_since_it_was_seen_is_not_changed_back(said: ChannelMessageRepository) -> None:
    await said.save(HARBOUR.id, [FIRST])
    await said.save(HARBOUR.id, [replace(FIRST, text="Newer.")])
    assert await said.save(HARBOUR.id, [FIRST], {"1": 1}) == frozenset()
    assert await texts(said) == ["Newer."]
    assert await said.save(HARBOUR.id, [FIRST], {"1": 2}) == {"1"}


async def test_a_reply_to_a_reply_belongs_to_the_first_message(said: ChannelMessageRepository) -> None:
    later = replace(REPLY, id="3", root="2", begun_at=NOON + timedelta(minutes=1), said_at=NOON + timedelta(hours=1))
    await said.save(HARBOUR.id, [FIRST, REPLY, later])
    found = await said.list_messages(HARBOUR.id, roots={"1"})
    assert [item.message.id for item in found] == ["1", "2", "3"]
    assert found[-1].message.begun_at == NOON
    assert [item.message.id for item in await said.list_messages(HARBOUR.id, since=REPLY.said_at)] == ["3"]


async def test_messages_are_found_by_author_and_by_age(said: ChannelMessageRepository) -> None:
    await said.save(HARBOUR.id, [FIRST, REPLY])
    assert await said.list_by(HARBOUR.id, "43") == {"2"}
    assert await said.list_older(HARBOUR.id, NOON) == frozenset()
    assert await said.list_older(HARBOUR.id, NOON + timedelta(days=1)) == {"1", "2"}


async def test_visits_are_the_last_ones_of_each_person(said: ChannelMessageRepository) -> None:
    assert await said.last_visit(HARBOUR.id, "42") is None
    for minutes in (0, 5):
        await said.note_visit(HARBOUR.id, "42", NOON + timedelta(minutes=minutes))
    await said.note_visit(HARBOUR.id, "43", NOON)
    assert await said.last_visit(HARBOUR.id, "42") == NOON + timedelta(minutes=5)
    await said.forget_visits(HARBOUR.id, "42")
    assert await said.last_visit(HARBOUR.id, "42") is None
    assert await said.last_visit(HARBOUR.id, "43") == NOON


async def test_all_of_a_channel_goes_with_its_source(said: ChannelMessageRepository, database: Database) -> None:
    await said.save(HARBOUR.id, [FIRST])
    await said.note_visit(HARBOUR.id, "42", NOON)
    await SqlCorpusRepository(database).remove_source(HARBOUR.id)
    assert await texts(said) == []
    assert await said.last_visit(HARBOUR.id, "42") is None
