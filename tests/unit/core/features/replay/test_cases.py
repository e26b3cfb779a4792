"""/case: the last answer becomes a regression case, for admins."""

from datetime import timedelta

import pytest

from core.errors import AccessDenied, BadInput, NotFound
from core.features.replay.cassettes import case_command
from core.work.commands import CommandCall
from core.work.conversations import Conversations
from tests.builders import NOON
from tests.unit.core.features.replay.test_replaying import LOOKED_UP, QUESTION, Room
from tests.unit.core.library_builder import Shelf


@pytest.fixture
async def room() -> Room:
    shelf = Shelf()
    await shelf.add("house.md", "# Keys\n\nThe key hangs under the stairs.", title="House")
    return Room(shelf, *LOOKED_UP)


async def give(room: Room, conversation_id: str, **fields: bool) -> str:
    command = case_command(Conversations(room.desk.store, room.desk.clock), room.cassettes)
    conversation = await room.desk.store.get(conversation_id, "local")
    call = CommandCall(name="case", workspace="local", conversation=conversation, author="ada", **fields)
    return (await command.run(call)).text


async def test_an_admin_keeps_the_last_answer(room: Room) -> None:
    answer = await room.ask()
    told = await give(room, answer.conversation_id, is_admin=True)

    assert QUESTION in told and f"`footnote replay {answer.message_id[:8]}`" in told
    assert [run.is_case for run in await room.cassettes.list_runs("local")] == [True]


async def test_others_are_told_who_can(room: Room) -> None:
    answer = await room.ask()
    with pytest.raises(AccessDenied, match="Only an admin"):
        await give(room, answer.conversation_id)
    assert [run.is_case for run in await room.cassettes.list_runs("local")] == [False]


async def test_without_an_answer_or_its_recording_that_is_said(room: Room) -> None:
    answer = await room.ask()
    await room.kept.purge(NOON + timedelta(days=1_000))
    with pytest.raises(NotFound, match="There is no recorded run"):
        await give(room, answer.conversation_id, sees_all=True)
    stored = [message.id for message in await room.desk.store.list_messages(answer.conversation_id)]
    await room.desk.store.remove_messages(answer.conversation_id, stored)
    with pytest.raises(BadInput, match="has no answer yet"):
        await give(room, answer.conversation_id, sees_all=True)
