"""A question that came before its documents is asked once more, and the new answer takes the old one's place."""

from html import unescape

from core.access.availability import LOOKS_AGAIN
from core.domain.ingest_report import IngestProgress, ignore_progress
from core.features.early_questions import EarlyQuestions
from core.serializers.objects import Json
from tests.scripted import says
from tests.unit.bot.web.chat_place import ANSWER, KEY, ChatPlace, Visitor, search

QUESTION = "Where is the key?"
NOTHING_YET = "I have nothing to read yet. Add a document, and I'll answer this question as soon as it has been read."
GIVES_UP = says("I did not find an answer to this in the documents.")


def early(place: ChatPlace) -> EarlyQuestions:
    """As a new process has it: it remembers nothing."""
    return EarlyQuestions(
        workspace="local",
        entries=place.entries,
        conversations=place.conversations,
        availability=place.availability,
        access=place.shelf.access,
        receive=place.inbox.receive,
    )


def told(messages: list[Json]) -> str:
    """What the last answer says."""
    return unescape(str(messages[-1]["html"]))


async def answered_anew(ada: Visitor, thread: str, count: int = 1) -> list[Json]:
    """The thread's messages once no answer promises another one."""
    messages = await ada.answered(thread, count)
    while any(
        LOOKS_AGAIN in unescape(item.get("html", "")) or NOTHING_YET in unescape(item.get("html", ""))
        for item in messages
    ):
        messages = await ada.answered(thread, count)
    return messages


async def test_a_question_asked_of_nothing_is_answered_once_there_is_a_document() -> None:
    place = ChatPlace((search(), ANSWER))
    async with place.open() as ada:
        thread = (await ada.send(QUESTION))["thread"]
        assert told(await ada.answered(thread)) == f"<p>{NOTHING_YET}</p>\n"
        assert await early(place).ask() == 0, "there is still nothing to read"

        await place.shelf.add("house.md", f"# Keys\n\n{KEY}", title="House")
        questions = early(place)
        assert await questions.ask() == 1
        messages = await answered_anew(ada, thread)
        assert [item["role"] for item in messages] == ["user", "assistant"]
        assert messages[0]["text"] == QUESTION
        assert KEY.rstrip(".") in told(messages)
        assert await questions.ask() == await early(place).ask() == 0


async def test_a_question_asked_while_files_are_read_is_asked_again_when_that_ended() -> None:
    place = ChatPlace((search(), GIVES_UP, search("t2"), ANSWER))
    async with place.open() as ada:
        await place.shelf.add("garden.md", "# Garden\n\nThe garden has a shed.", title="Garden")
        async with place.availability.work.reading(place.shelf.source.id, ignore_progress) as report:
            report(IngestProgress(done=1, total=5, path="house.md"))
            thread = (await ada.send(QUESTION))["thread"]
            assert "Still reading 4 files. I'll look again when they're done." in told(await ada.answered(thread))
            assert await early(place).ask() == 0
            await place.shelf.add("house.md", f"# Keys\n\n{KEY}", title="House")
        assert await early(place).ask() == 1
        messages = await answered_anew(ada, thread)
        assert len(messages) == 2
        assert KEY.rstrip(".") in told(messages)


async def test_a_question_that_finds_nothing_again_says_so_and_is_not_asked_for_ever() -> None:
    place = ChatPlace((search(), GIVES_UP))
    async with place.open() as ada:
        thread = (await ada.send(QUESTION))["thread"]
        await ada.answered(thread)
        await place.shelf.add("garden.md", "# Garden\n\nThe garden has a shed.", title="Garden")
        assert await early(place).ask() == 1
        messages = await answered_anew(ada, thread)
        assert "did not find" in told(messages)
        assert await early(place).ask() == 0


async def test_questions_of_one_thread_keep_their_order() -> None:
    place = ChatPlace((search(), ANSWER, search("t2"), ANSWER))
    async with place.open() as ada:
        thread = (await ada.send(QUESTION))["thread"]
        await ada.answered(thread)
        await ada.send("And where is the shed?", thread)
        await ada.answered(thread, 2)
        await place.shelf.add("house.md", f"# Keys\n\n{KEY}", title="House")
        assert await early(place).ask() == 2
        messages = await answered_anew(ada, thread, 2)
        assert [item["text"] for item in messages if item["role"] == "user"] == [QUESTION, "And where is the shed?"]
