"""What can be done with any message from its menu: ask about it, keep it as an answer. Forms survive a restart."""

import asyncio

import pytest

from bot.presentation.answer_text import ALL_REFERENCES_LABEL
from bot.slackbot.actions.shortcuts import FIELD
from bot.slackbot.events.manifest import ASK_ABOUT, KEEP_ANSWER
from bot.slackbot.events.translate import thread_address
from core.features.kept_answers import KEPT_SOURCE
from tests.integration.platform_place import search
from tests.integration.slackbot.house import shown_of
from tests.integration.slackbot.place import SlackPlace
from tests.scripted import says
from tests.slack_server import Channel

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
async def test_an_answer_is_found_once_a_reviewer_accepts_its_proposal_and_no_more_once_that_is_undone(
    place: SlackPlace, restarts: bool
) -> None:
    async with place.open() as house:
        answer = await house.ask()
        if restarts:
            await place.restart()
        await house.ben.shortcut(answer, KEEP_ANSWER)
        await house.told(house.ben, "Proposed: “where is the key?”. It can be found once a reviewer accepts it.")
        assert house.ben.modal is None
        assert await _kept(place) == []
        [proposal] = await place.shelf.stores.kept.list_kept("local")
        where = f"https://acme.slack.com/archives/{house.channel.id}/p{answer.ts.replace('.', '')}"
        assert proposal.link == f"{where}?thread_ts={answer.root}&cid={house.channel.id}"
        assert proposal.readers == frozenset({f"channel:{house.channel.id}"})

        eve, id = house.server.person("eve", house.channel), proposal.id[:6]
        eve.user.is_admin = True
        await house.ben.slash(house.channel, "inbox")
        await house.told(house.ben, "Only reviewers")
        await eve.slash(house.channel, "inbox")
        await house.told(eve, "Proposed: where is the key? (said by ben, proposed by ben")
        await eve.slash(house.channel, f"inbox accept {id}")
        await house.told(eve, "as said by ben")
        [(title, text, link)] = await _kept(place)
        assert title == "Said by ben: where is the key?"
        assert text.startswith(
            "## where is the key?\n\nThe key hangs under the stairs.\n\nSaid by ben, accepted by eve"
        )
        assert link == proposal.link

        place.says(search("t9", "said by ben"), says("Under the stairs [2]."))
        await house.ada.mention(house.channel, "what did ben say about the key?")
        await house.ada.choose(await house.shows("Not found in the documents"), ALL_REFERENCES_LABEL)
        await house.told_once(house.ada, "Said by ben: where is the key?")

        await eve.slash(house.channel, f"inbox undo {id}")
        await house.told(eve, "nothing finds it")
        assert await _kept(place) == []


@RESTARTS
@TRANSPORTS
async def test_a_message_of_people_is_proposed_with_the_question_that_a_form_asks_for(
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
        await house.told(house.ada, "Proposed: “Where is the box?”")
        [proposal] = await place.shelf.stores.kept.list_kept("local")
        assert proposal.text == "I put it into the blue box [1] & locked it."
        assert (proposal.said_by, proposal.said_by_name, proposal.author) == (house.ben.id, "ben", house.ada.id)
        assert proposal.link.endswith(f"/{house.channel.id}/p{said.ts.replace('.', '')}")


async def test_what_was_said_in_a_private_channel_is_found_there_not_by_others_and_goes_with_its_message(
    place: SlackPlace,
) -> None:
    async with place.open() as house:
        eve = house.server.person("eve", house.channel)
        eve.user.is_admin = True
        board = house.server.create_channel(house.team, "board", house.ada, eve, private=True)
        said = await house.ada.say(board, "The safe opens with the brass crank.")
        form = await house.modal(await house.ada.shortcut(said, KEEP_ANSWER))
        await house.ada.submit(form, {FIELD: "How does the safe open?"})
        await house.told(house.ada, "Proposed: ", board)
        [proposal] = await place.shelf.stores.kept.list_kept("local")
        await eve.slash(house.channel, f"inbox accept {proposal.id[:6]}")
        await house.told(eve, "as said by ada")

        async def titles(channel: Channel) -> list[str]:
            address = thread_address("local", channel.id, "")
            scope = await place.shelf.access.scope("local", address)
            return [document.title for document in await place.shelf.library.documents(scope)]

        assert await titles(board) == ["House", "Said by ada: How does the safe open?"]
        for channel in (house.channel, house.ben.dm):
            assert await titles(channel) == ["House"]
        await house.ada.delete(said)
        for _ in range(3000):
            if not await _kept_documents(place):
                break
            await asyncio.sleep(0.02)
        assert (await titles(board), await _kept_documents(place)) == (["House"], [])


async def test_the_same_message_is_proposed_once(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        for person, words in ((house.ada, "Proposed: "), (house.ben, "ada proposed this already")):
            await person.shortcut(answer, KEEP_ANSWER)
            await house.told(person, words)
        assert len(await place.shelf.stores.kept.list_kept()) == 1


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


async def _kept(place: SlackPlace) -> list[tuple[str, str, str]]:
    """Title, text and link of the kept answers that a reader of the whole workspace finds."""
    scope = await place.shelf.access.scope("local")
    found = [item for item in await place.shelf.corpus.list_readable(scope) if item.source == KEPT_SOURCE]
    return [
        (document.title, page.text, page.deep_link or "")
        for document in found
        for page in await place.shelf.corpus.list_pages(document.id, scope)
    ]


async def _kept_documents(place: SlackPlace) -> list:
    kept: list[object] = list(await place.shelf.stores.kept.list_kept())
    return kept + [item for item in await place.shelf.corpus.list_documents("local") if item.source == KEPT_SOURCE]
