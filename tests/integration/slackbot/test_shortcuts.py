"""What can be done with any message from its menu: ask about it, keep it as an answer. Forms survive a restart."""

import pytest

from bot.slackbot.actions.shortcuts import FIELD
from bot.slackbot.events.manifest import ASK_ABOUT, KEEP_ANSWER
from core.features.kept_answers import KEPT_SOURCE
from tests.integration.slackbot.house import shown_of
from tests.integration.slackbot.place import SlackPlace

RESTARTS = pytest.mark.parametrize("restarts", [False, True], ids=["same process", "after a restart"])
TRANSPORTS = pytest.mark.parametrize("over_http", [False, True], ids=["socket", "http"])


@RESTARTS
@TRANSPORTS
async def test_a_question_about_a_message_is_asked_in_its_thread(
    place: SlackPlace, restarts: bool, over_http: bool
) -> None:
    place.over_http = over_http
    async with place.open() as house:
        said = await house.ben.say(house.channel, "The stairs creak at midnight.")
        form = await house.modal(await house.ada.shortcut(said, ASK_ABOUT))
        assert form.payload["title"]["text"] == "Ask about this"
        if restarts:
            await place.restart()
        sent = await house.ada.submit(form, {FIELD: "is the key near?"})
        assert (sent.error, sent.errors, form.open) == (None, {}, False)
        [answer] = await house.answered()
        assert answer.root == said.ts
        assert "ada asks: is the key near?" in shown_of(house.posts()[0])
        assert "The stairs creak at midnight." in str(place.provider.requests[0].messages)


async def test_a_question_about_a_reply_is_asked_in_the_thread_that_the_reply_is_in(place: SlackPlace) -> None:
    async with place.open() as house:
        first = await house.ben.say(house.channel, "What a house.")
        reply = await house.ada.reply(first, "The stairs creak at midnight.")
        form = await house.modal(await house.ben.shortcut(reply, ASK_ABOUT))
        await house.ben.submit(form, {FIELD: "is the key near?"})
        [answer] = await house.answered()
        assert answer.root == first.ts
        [conversation] = await place.conversations.list_conversations("local")
        assert conversation.address.thread == first.ts


async def test_a_question_without_words_is_marked_in_its_form(place: SlackPlace) -> None:
    async with place.open() as house:
        said = await house.ben.say(house.channel, "The stairs creak at midnight.")
        form = await house.modal(await house.ada.shortcut(said, ASK_ABOUT))
        sent = await house.ada.submit(form, {FIELD: "?!"})
        assert FIELD in sent.errors
        assert form.open
        assert house.posts() == []


async def test_what_is_refused_is_told_and_no_question_stays(place: SlackPlace) -> None:
    async with place.open() as house:
        said = await house.ben.say(house.channel, "", [("plan.png", b"\x89PNG")])
        form = await house.modal(await house.ada.shortcut(said, ASK_ABOUT))
        await house.ada.submit(form, {FIELD: "what does it show?"})
        await house.told(house.ada, "no text to ask about")
        assert house.posts() == []


@RESTARTS
async def test_an_answer_of_the_bot_is_kept_with_its_question(place: SlackPlace, restarts: bool) -> None:
    async with place.open() as house:
        answer = await house.ask()
        if restarts:
            await place.restart()
        await house.ben.shortcut(answer, KEEP_ANSWER)
        await house.told(house.ben, "Kept: “where is the key?” can be found and cited")
        assert house.ben.modal is None
        [(text, link)] = await _kept(place)
        assert text.startswith("## where is the key?\n\nThe key hangs under the stairs.\n\nKept by ben on ")
        where = f"https://acme.slack.com/archives/{house.channel.id}/p{answer.ts.replace('.', '')}"
        assert link == f"{where}?thread_ts={answer.root}&cid={house.channel.id}"


@RESTARTS
@TRANSPORTS
async def test_a_message_of_people_is_kept_with_the_question_that_a_form_asks_for(
    place: SlackPlace, restarts: bool, over_http: bool
) -> None:
    place.over_http = over_http
    async with place.open() as house:
        said = await house.ben.say(house.channel, "I put it into the blue box [1] & locked it.")
        form = await house.modal(await house.ada.shortcut(said, KEEP_ANSWER))
        assert form.payload["title"]["text"] == "Keep as answer"
        if restarts:
            await place.restart()
        await house.ada.submit(form, {FIELD: "Where is the box?"})
        await house.told(house.ada, "Kept: “Where is the box?”")
        [(text, link)] = await _kept(place)
        assert "I put it into the blue box [1] & locked it." in text
        assert link.endswith(f"/{house.channel.id}/p{said.ts.replace('.', '')}")


async def test_the_same_message_is_kept_once(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        for words in ("Kept: ", "Kept again: "):
            await house.ada.shortcut(answer, KEEP_ANSWER)
            await house.told(house.ada, words)
        assert len(await _kept(place)) == 1


async def test_what_is_no_answer_is_not_kept(place: SlackPlace) -> None:
    async with place.open() as house:
        place.provider.held = {1}
        await house.ada.mention(house.channel, "where is the key?")
        draft = await house.shows("I have looked")
        await house.ben.shortcut(draft, KEEP_ANSWER)
        await house.told(house.ben, "Only answers can be kept")
        await house.ada.click(draft, "Stop")
        stopped = await house.shows("topped")
        await house.until(lambda: not place.worker.running, "the end")
        await house.ada.shortcut(stopped, KEEP_ANSWER)
        await house.told(house.ada, "Only answers can be kept")
        assert await _kept_documents(place) == []


@pytest.mark.parametrize("shortcut", [ASK_ABOUT, KEEP_ANSWER])
async def test_a_message_that_is_gone_when_the_form_comes_back_is_named(place: SlackPlace, shortcut: str) -> None:
    async with place.open() as house:
        first = await house.ben.say(house.channel, "What a house.")
        said = await house.ben.reply(first, "The stairs creak at midnight.")
        form = await house.modal(await house.ada.shortcut(said, shortcut))
        await house.ben.delete(said)
        await house.ada.submit(form, {FIELD: "is the key near?"})
        await house.told(house.ada, "deleted")
        assert house.posts() == []
        assert "accepted" not in await place.codes()
        assert await _kept_documents(place) == []


async def test_a_form_of_an_earlier_version_says_so(place: SlackPlace) -> None:
    async with place.open() as house:
        said = await house.ben.say(house.channel, "The stairs creak at midnight.")
        form = await house.modal(await house.ada.shortcut(said, ASK_ABOUT))
        form.payload["private_metadata"] = ""
        await house.ada.submit(form, {FIELD: "is the key near?"})
        await house.told(house.ada, "earlier version", house.ada.dm)
        assert house.posts() == []


async def test_where_the_bot_is_no_member_the_menu_says_what_to_do(place: SlackPlace) -> None:
    async with place.open() as house:
        elsewhere = house.server.create_channel(house.team, "elsewhere", house.ada, with_bot=False)
        said = await house.ada.say(elsewhere, "The stairs creak at midnight.")
        form = await house.modal(await house.ada.shortcut(said, ASK_ABOUT))
        await house.ada.submit(form, {FIELD: "is the key near?"})
        await house.until(lambda: house.whispered(house.ada, "Invite me", elsewhere), "a sentence")
        assert place.provider.requests == []


async def test_an_answer_for_one_person_is_not_kept_for_all(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ada.slash(house.channel, "ask where is the key? --private")
        private = await house.told(house.ada, "under the stairs")
        await house.ada.shortcut(private, KEEP_ANSWER)
        await house.told(house.ada, "answer is private")
        assert await _kept_documents(place) == []


async def test_an_answer_to_a_direct_message_is_not_kept_for_all(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ada.say(house.ada.dm, "where is the key?")
        [answer] = await house.answered(house.ada.dm)
        await house.ada.shortcut(answer, KEEP_ANSWER)
        await house.told(house.ada, "answer is private", house.ada.dm)
        assert await _kept_documents(place) == []


async def test_without_a_place_to_keep_answers_the_menu_says_so(place: SlackPlace) -> None:
    place.folder = None
    async with place.open() as house:
        said = await house.ben.say(house.channel, "I put it into the blue box.")
        await house.ada.shortcut(said, KEEP_ANSWER)
        await house.told(house.ada, "nowhere to keep them")
        assert house.ada.modal is None


async def _kept(place: SlackPlace) -> list[tuple[str, str]]:
    """Text and link of the workspace's kept answers."""
    scope = await place.shelf.access.scope("local")
    [document] = await _kept_documents(place)
    return [(page.text, page.deep_link or "") for page in await place.shelf.corpus.list_pages(document.id, scope)]


async def _kept_documents(place: SlackPlace) -> list:
    return [item for item in await place.shelf.corpus.list_documents("local") if item.source == KEPT_SOURCE]
