"""What a channel may not be told goes to the asker, once; the channel learns that, and nothing else."""

from dataclasses import replace

import pytest

from core.domain.answer import Answer, AnswerStatus, QueryType
from core.domain.chat import ToolInvocation
from core.domain.incoming import ChannelAddress, Circumstances, IncomingMessage, ThreadAddress
from core.domain.service import ACCEPTED, TO_THE_END, PersonAddress
from core.errors import BadInput
from core.work.attempts import Attempt
from tests.scripted import Turn, calls, says
from tests.unit.core.answering.test_service import Desk
from tests.unit.core.library_builder import Shelf

HERE = ThreadAddress(platform="chat", workspace="local", channel="c", thread="t")
ADAS = replace(HERE, thread="private:17")
TOWER = "local/handbook/tower.md"
SENTENCE = "The answer is beyond this channel's reading position, so I'm sending it to Ada privately."
SECRET = "The keeper drowned Mirabel."


def to_private(question: IncomingMessage) -> IncomingMessage:
    key = f"own {question.event_key}"
    address = replace(question.address, thread=f"private:{question.author}")
    return replace(question, address=address, private=True, event_key=key, message_key=key)


def message(text: str = "Who drowned Mirabel?", author: str = "17", **fields: object) -> IncomingMessage:
    name = {"17": "Ada", "18": "Ben"}[author]
    values = {"address": HERE, "event_key": f"{author}:{text}", "message_key": f"{author}:{text}", **fields}
    return IncomingMessage(author=author, author_name=name, text=text, **values)


def look(query: str) -> Turn:
    return calls(ToolInvocation(id=query, name="search", arguments={"query": query}))


class Room:
    """A channel that has read one chapter of three; Ada has read all three, Ben one."""

    def __init__(self, shelf: Shelf, *script: Turn) -> None:
        self.shelf = shelf
        self.desk = Desk(shelf, *script, pipeline={"to_private": {"chat": to_private}})
        self.inbox = self.desk.inbox
        self.answers = self.desk.service

    async def ask(self, asked: IncomingMessage) -> Answer:
        return await self.answers.answer(asked, self.desk.progress, Attempt())

    async def handed_over(self) -> list[IncomingMessage]:
        return [entry.incoming for entry in await self.inbox.list_open("local")]


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    pages = ("# One\n\nMirabel lights the lamp.", f"# Two\n\n{SECRET}", "# Three\n\nThe lamp is dark.")
    await shelf.add("tower.md", *pages, title="Tower")
    await shelf.settings.save_position(ChannelAddress.of(HERE), TOWER, 1)
    for person, last in (("17", 3), ("18", 1)):
        await shelf.settings.save_position(PersonAddress(workspace="local", person=person), TOWER, last)
    return shelf


async def test_what_lies_beyond_the_channel_is_handed_over_and_the_channel_gets_one_sentence(shelf: Shelf) -> None:
    room = Room(shelf)
    answer = await room.ask(message())

    assert (answer.status, answer.text) == (AnswerStatus.ANSWERED, SENTENCE)
    assert (answer.citations, answer.references, answer.suggestions) == ((), (), ())
    [private] = await room.handed_over()
    assert (private.address, private.private, private.text) == (ADAS, True, "Who drowned Mirabel?")
    assert room.desk.provider.requests == []


async def test_the_one_handed_over_is_answered_as_far_as_its_asker_has_read(shelf: Shelf) -> None:
    room = Room(shelf, look("Mirabel drowned"), says("The keeper drowned Mirabel [1]."))
    await room.ask(message())
    [private] = await room.handed_over()
    answer = await room.ask(private)

    assert [(item.page_number, item.quote) for item in answer.citations] == [(2, SECRET)]
    assert len(await room.handed_over()) == 1


async def test_nothing_beyond_the_channel_is_in_its_history_or_its_steps(shelf: Shelf) -> None:
    room = Room(shelf)
    answer = await room.ask(message())

    stored = await room.desk.store.list_messages(answer.conversation_id)
    assert [item.content for item in stored] == ["Who drowned Mirabel?", SENTENCE]
    assert "keeper" not in repr((stored, await room.desk.job_store.list_tree(answer.jobs[0].id)))


async def test_a_repeat_after_any_crash_hands_over_nothing_twice(shelf: Shelf) -> None:
    room = Room(shelf)
    await room.inbox.accept(to_private(message()), ACCEPTED)  # and killed before the channel was told
    first, second = await room.ask(message()), await room.ask(message())

    assert (first.text, first.message_id) == (SENTENCE, second.message_id)
    assert len(await room.handed_over()) == 1


async def test_a_channel_that_finds_nothing_hands_over_what_the_asker_may_look_further_for(shelf: Shelf) -> None:
    room = Room(shelf, look("the lamp"), says("I found nothing."))
    answer = await room.ask(message("Mirabel lights a dark lamp?"))

    assert (answer.status, answer.text, answer.references) == (AnswerStatus.ANSWERED, SENTENCE, ())
    assert len(await room.handed_over()) == 1
    assert "dark" not in repr(room.desk.provider.requests[1:]).replace("a dark lamp", "")


async def test_what_the_channel_may_read_is_answered_there(shelf: Shelf) -> None:
    room = Room(shelf, look("lights the lamp"), says("Mirabel lights the lamp [1]."))
    answer = await room.ask(message("Who lights the lamp?"))

    assert [item.page_number for item in answer.citations] == [1]
    assert await room.handed_over() == []


async def test_a_summary_is_one_as_far_as_the_channel_has_read(shelf: Shelf) -> None:
    room = Room(shelf, look("Mirabel"), says("Mirabel lights the lamp [1]."))
    answer = await room.ask(message(query_type=QueryType.SUMMARY))

    assert [item.page_number for item in answer.citations] == [1]
    assert await room.handed_over() == []


@pytest.mark.parametrize(
    "asked",
    [
        message(author="18"),
        message(position="tower.md=1"),
        message(address=replace(HERE, platform="api")),
        message(circumstances=Circumstances(direct=True)),
    ],
    ids=["somebody who has read no further", "how far is said", "no private threads", "direct"],
)
async def test_whoever_may_read_no_further_gets_the_answer_that_there_is(shelf: Shelf, asked: IncomingMessage) -> None:
    room = Room(shelf, look("Mirabel"), says("I found nothing."))
    answer = await room.ask(asked)

    assert answer.status is AnswerStatus.NOT_FOUND
    assert await room.handed_over() == []


async def test_somebody_who_set_no_position_reads_no_further_than_the_channel(shelf: Shelf) -> None:
    await shelf.settings.save_position(PersonAddress(workspace="local", person="17"), TOWER, None)
    room = Room(shelf, look("Mirabel"), says("I found nothing."))

    assert (await room.ask(message())).status is AnswerStatus.NOT_FOUND
    assert await room.handed_over() == []


async def test_a_question_of_one_document_alone_is_looked_up_in_it_alone(shelf: Shelf) -> None:
    await shelf.add("map.md", "# Map\n\nThe lamp stands north.", "# Who\n\nWho drowned Mirabel?", title="Map")
    for holder, last in ((ChannelAddress.of(HERE), 1), (PersonAddress(workspace="local", person="17"), TO_THE_END)):
        await shelf.settings.save_position(holder, "local/handbook/map.md", last)
    room = Room(shelf, look("lights the lamp"), says("Mirabel lights the lamp [1]."))
    await room.ask(message("Who lights?", document="tower.md"))

    assert await room.handed_over() == []


async def test_an_empty_question_is_refused_as_ever_and_settling_goes_through(shelf: Shelf) -> None:
    room = Room(shelf)
    with pytest.raises(BadInput):
        await room.ask(message(" "))

    assert (await room.answers.settle(message(), Answer(status=AnswerStatus.ERROR, text="No."))).text == "No."
    assert await room.handed_over() == []
