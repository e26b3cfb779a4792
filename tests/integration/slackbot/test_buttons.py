"""Buttons under answers: all of them work after a restart and in both transports, for whoever may press them."""

import asyncio
from typing import Any

import pytest

from bot.presentation.answer_buttons import HOW_LABEL
from bot.slackbot.actions import buttons as pressing
from bot.slackbot.events.directory import WAIT_SECONDS
from core.domain.chat import ToolInvocation
from core.domain.incoming import ThreadAddress
from core.knowledge.search.documents import JOURNAL_KIND
from core.service.commands.threads import PAGE_ROWS
from tests.builders import build_conversation
from tests.integration.slackbot.house import House, buttons, menus, shown_of
from tests.integration.slackbot.place import ANSWER, KEY, SlackPlace, search
from tests.scripted import calls, says
from tests.slack_server import Message
from tests.slack_server.transcript import elements

RESTARTS = pytest.mark.parametrize("restarts", [False, True], ids=["same process", "after a restart"])
TRANSPORTS = pytest.mark.parametrize("over_http", [False, True], ids=["socket", "http"])


@RESTARTS
@TRANSPORTS
async def test_passages_open_for_the_one_who_asks_with_what_stands_around_them(
    place: SlackPlace, restarts: bool, over_http: bool
) -> None:
    place.over_http = over_http
    async with place.open() as house:
        answer = await house.ask()
        if restarts:
            await place.restart()
        shown = await house.modal(await house.ben.click(answer, "Show sources"), KEY)
        assert "House" in shown_of(shown)
        assert house.ada.modal is None
        assert len(house.posts()) == 1


async def test_what_takes_long_to_read_comes_into_a_form_that_is_open_already(
    place: SlackPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pressing, "LOADING_SECONDS", 0.01)
    async with place.open() as house:
        answer = await house.ask()
        reading = _held(place, monkeypatch)
        pressed = asyncio.create_task(house.ben.click(answer, "Show sources"))
        await house.until(lambda: house.ben.modal and pressing.LOADING in shown_of(house.ben.modal), "the form")
        reading.set()
        assert await house.modal(await pressed, KEY) is house.ben.modal


async def test_what_can_not_be_read_after_all_is_said_in_the_form_that_is_open(
    place: SlackPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pressing, "LOADING_SECONDS", 0.01)
    async with place.open() as house:
        answer = await house.ask()
        reading = _held(place, monkeypatch)
        pressed = asyncio.create_task(house.ben.click(answer, "Show sources"))
        await house.until(lambda: house.ben.modal, "the form")
        [document] = await place.shelf.corpus.list_documents("local")
        await place.shelf.corpus.remove_documents([document.id])
        reading.set()
        shown = await house.modal(await pressed, "no longer readable here")
        assert KEY[:-1] not in shown_of(shown)


async def test_passages_that_fill_several_pages_are_turned_in_place(place: SlackPlace) -> None:
    await place.shelf.add("roll.md", f"# Roll\n\nThe roll says this: {'name after name ' * 2_000}.", title="Roll")
    place.says(search("t1", "what does the roll say"), says("The roll says this: name after name [1]."))
    async with place.open() as house:
        answer = await house.ask("what does the roll say?")
        first = await house.modal(await house.ben.click(answer, "Show sources"), "The roll says this")
        await place.restart()
        await house.ben.click(first, "Next page")
        await house.until(lambda: "[1] continued" in shown_of(first), "the next page")
        assert house.ben.modal is first
        await house.ben.click(first, "Previous page")
        await house.until(lambda: "The roll says this" in shown_of(first), "the first page again")


@RESTARTS
@TRANSPORTS
async def test_an_answer_is_rated_and_the_same_button_takes_it_back(
    place: SlackPlace, restarts: bool, over_http: bool
) -> None:
    place.over_http = over_http
    async with place.open() as house:
        answer = await house.ask()
        [conversation] = await place.conversations.list_conversations("local")
        if restarts:
            await place.restart()
        for thumb, words in (("👍", "Noted as helpful"), ("👎", "Noted as not helpful")):
            await house.ben.click(answer, thumb)
            await house.told(house.ben, words)
        [feedback] = await place.feedback_store.list_feedback(conversation.id)
        assert (feedback.author, feedback.rating) == (house.ben.id, "down")
        await house.ben.click(answer, "👎")
        await house.told(house.ben, "Taken back")
        assert await place.feedback_store.list_feedback(conversation.id) == []


@RESTARTS
@TRANSPORTS
async def test_a_suggestion_is_asked_in_the_name_of_who_pressed_it(
    place: SlackPlace, restarts: bool, over_http: bool
) -> None:
    place.over_http = over_http
    async with place.open() as house:
        answer = await house.ask()
        if restarts:
            await place.restart()
        suggestion = offer(answer, "Are gardens")
        await house.ben.choose(answer, f"Ask: {suggestion}")
        said = await house.shows(f"ben asks: {suggestion[:20]}")
        await house.answered(count=2)
        assert {one.root for one in house.posts()} == {answer.root}
        assert said.ts < house.posts()[-1].ts
        [conversation] = await place.conversations.list_conversations("local")
        _, messages = await place.conversations.show(conversation.id, "local")
        assert [item.author for item in messages if item.role == "user"] == ["ada", "ben"]


@RESTARTS
async def test_choices_are_a_menu_whose_choice_is_asked(place: SlackPlace, restarts: bool) -> None:
    ask = calls(ToolInvocation(id="j", name="query_journal", arguments={"query": "key", "journal_name": "Saltmarsh"}))
    place.says(ask, search("t2"), ANSWER)
    for name in ("Saltmarsh North", "Saltmarsh South"):
        await place.shelf.add(f"{name}.md", f"# Keys\n\n{KEY}", title=name, kind=JOURNAL_KIND)
    async with place.open() as house:
        await house.ada.mention(house.channel, "what happens in Saltmarsh?")
        await house.until(lambda: house.posts() and menus(house.posts()[-1]), "a menu")
        [post] = house.posts()
        if restarts:
            await place.restart()
        [menu] = menus(post)
        labels = [option["text"]["text"] for option in menu["options"]]
        assert set(labels) == {"Saltmarsh North", "Saltmarsh South"}
        await house.ada.choose(post, labels[1])
        await house.shows(f"ada asks: {labels[1]}")
        await house.answered()


async def test_a_name_that_slack_tells_late_is_waited_for(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        suggestion = offer(answer, "Are gardens")
        hang = house.server.hang_next("users.info")
        pressed = asyncio.create_task(house.ben.choose(answer, f"Ask: {suggestion}"))
        await house.until(hang.reached.is_set, "the lookup of ben")
        asyncio.get_running_loop().call_later(2 * WAIT_SECONDS, hang.release)
        await pressed
        said = await house.shows(f"asks: {suggestion[:20]}")
        assert shown_of(said).startswith("ben asks:")


@TRANSPORTS
async def test_the_asker_stops_an_answer_and_nobody_else_can(place: SlackPlace, over_http: bool) -> None:
    place.over_http = over_http
    async with place.open() as house:
        draft = await _running(place, house)
        await house.ben.click(draft, "Stop")
        await house.told(house.ben, "Only ada or a moderator can stop")
        await house.ada.click(draft, "Stop")
        await house.told(house.ada, "Stopped")
        await house.until(lambda: "Stop" not in buttons(draft), "the end")
        assert house.posts() == [draft]
        assert "topped" in shown_of(draft)


async def test_an_admin_stops_anothers_answer(place: SlackPlace) -> None:
    async with place.open() as house:
        house.ben.become_admin()
        draft = await _running(place, house)
        await house.ben.click(draft, "Stop")
        await house.told(house.ben, "Stopped")
        await house.until(lambda: "Stop" not in buttons(draft), "the end")
        assert "topped" in shown_of(draft)


async def test_a_stop_after_a_restart_stops_what_goes_on(place: SlackPlace) -> None:
    place.says(search(), ANSWER, search("t2"), ANSWER)
    async with place.open() as house:
        draft = await _running(place, house)
        place.provider.held = {1, 3}
        await place.restart()
        await house.until(lambda: len(place.provider.requests) == 3, "the second try")
        await house.ada.click(draft, "Stop")
        await house.told(house.ada, "Stopped")
        await house.until(lambda: house.posts() and "Stop" not in buttons(house.posts()[0]), "the end")
        assert [one.ts for one in house.posts()] == [draft.ts]
        assert "under the stairs" not in shown_of(draft)


async def test_a_stop_of_a_finished_answer_says_so(place: SlackPlace) -> None:
    async with place.open() as house:
        draft = await _running(place, house)
        stop = buttons(draft)["Stop"]
        place.provider.go.set()
        [answer] = await house.answered()
        await house.until(lambda: not place.worker.running, "the end")
        answer.blocks = _one_button(stop)  # as somebody's client shows it who presses at the last moment
        await house.ada.click(answer, "Old")
        said = await house.told(house.ada, "nothing to stop")
        assert shown_of(said) == "There is nothing to stop: this answer is done."
        assert KEY[:-1] in shown_of(answer)


async def test_how_it_is_answered_is_shown_while_it_runs_and_afterwards(place: SlackPlace) -> None:
    async with place.open() as house:
        draft = await _running(place, house)
        live = await house.modal(await house.ben.click(draft, "Show steps"), "Searching for")
        assert "running" in shown_of(live)
        place.provider.go.set()
        [answer] = await house.answered()
        await place.restart()
        after = await house.modal(await house.ben.choose(answer, HOW_LABEL), "Searching for")
        assert "running" not in shown_of(after)


async def test_a_button_of_an_earlier_version_says_so(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        answer.blocks = _one_button("fn:part:0123456789abcdef")
        await house.ada.click(answer, "Old")
        said = await house.told(house.ada, "earlier version")
        assert said.only_to == house.ada.id
        assert [shown_of(one) for one in house.posts()] == [shown_of(answer)]


async def test_a_deleted_conversations_buttons_say_that_it_is_gone(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        [conversation] = await place.conversations.list_conversations("local")
        await place.conversations.delete(conversation.id, "local")
        for label in ("👍", "Show sources"):
            await house.ada.click(answer, label)
        await house.ada.choose(answer, HOW_LABEL)
        await house.until(lambda: len(house.whispered(house.ada, "may have been deleted")) == 3, "three sentences")
        assert house.ada.modal is None


async def test_a_button_leads_to_no_answer_of_another_thread(place: SlackPlace) -> None:
    async with place.open() as house:
        stolen = buttons(await house.ask())["Show sources"]
        other = await house.ask("where is the key, again?")
        other.blocks = _one_button(stolen)
        await house.ben.click(other, "Old")
        await house.told(house.ben, "another thread")
        assert house.ben.modal is None


async def test_a_private_answers_buttons_are_its_readers_alone(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ada.slash(house.channel, "ask where is the key? --private")
        private = await house.told(house.ada, "under the stairs")
        opened = await house.ask("where is the key, in the open?")
        sources = buttons(private)["Show sources"]
        for stolen in (sources, sources.replace("passages", "how")):
            opened.blocks = _one_button(stolen)
            await house.ben.click(opened, "Old")
        await house.until(lambda: len(house.whispered(house.ben, "private to another person")) == 2, "two refusals")
        assert house.ben.modal is None
        await house.modal(await house.ada.click(private, "Show sources"), KEY)


async def test_a_suggestion_below_a_private_answer_is_answered_privately(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ada.slash(house.channel, "ask where is the key? --private")
        private = await house.told(house.ada, "under the stairs")
        await house.ada.choose(private, f"Ask: {offer(private, 'Are gardens')}")
        await house.until(lambda: len(house.whispered(house.ada, "under the stairs")) == 2, "the second answer")
        assert house.posts() == []


async def test_the_list_of_conversations_is_turned_in_its_place(place: SlackPlace) -> None:
    async with place.open() as house:
        for number in range(PAGE_ROWS + 1):
            conversation = build_conversation(
                f"c{number}", owner=house.ada.id, title=f"Talk {number}", address=_thread(house, f"{number}.000000")
            )
            await place.conversation_store.add(conversation)
        await house.ada.slash(house.channel, "threads")
        listed = await house.told_once(house.ada, "Your conversations")
        first = shown_of(listed)
        await place.restart()
        await house.ada.click(listed, "Next page")
        await house.until(lambda: shown_of(listed) != first, "the next page")
        assert "page 2 of 2" in shown_of(listed)
        await house.ada.click(listed, "Previous page")
        await house.until(lambda: shown_of(listed) == first, "the first page again")
        await house.told_once(house.ada, "Your conversations")


async def test_a_list_that_can_not_be_replaced_any_more_is_shown_anew(place: SlackPlace) -> None:
    async with place.open() as house:
        for number in range(PAGE_ROWS + 1):
            conversation = build_conversation(
                f"c{number}", owner=house.ada.id, title=f"Talk {number}", address=_thread(house, f"{number}.000000")
            )
            await place.conversation_store.add(conversation)
        await house.ada.slash(house.channel, "threads")
        listed = await house.told(house.ada, "Your conversations")
        house.server.fail_next("response_url", status=404, times=2)
        await house.ada.click(listed, "Next page")
        await house.until(lambda: len(house.whispered(house.ada, "Your conversations")) == 2, "a second list")
        first, second = (buttons(one) for one in house.whispered(house.ada, "Your conversations"))
        assert "Next page" in first
        assert "Next page" not in second and "Previous page" in second


async def test_a_commands_form_is_opened_by_its_button(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ada.mention(house.channel, "/search")
        offered = await house.told(house.ada, "search")
        [form] = [label for label, name in buttons(offered).items() if name == "fn:form:search"]
        outcome = await house.ada.click(offered, form)
        await house.until(lambda: outcome.modal is not None, "the form")
        assert outcome.modal.payload["callback_id"] == "fn:form:search"


async def test_a_fault_behind_a_button_is_told_in_a_sentence(
    place: SlackPlace, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*args: object) -> None:
        raise RuntimeError("a fault of ours")

    async with place.open() as house:
        answer = await house.ask()
        monkeypatch.setattr(place.conversations, "message", broken)
        await house.ada.click(answer, "👍")
        await house.told(house.ada, "Something went wrong")
        assert "a fault of ours" in caplog.text


async def _running(place: SlackPlace, house: House) -> Message:
    """Ada's question, while its answer is being written."""
    place.provider.held = {1}
    await house.ada.mention(house.channel, "where is the key?")
    return await house.shows("I have looked")


def _held(place: SlackPlace, monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Pages are not read before this is set."""
    go, read = asyncio.Event(), place.shelf.corpus.get_page

    async def get_page(*args: Any) -> Any:
        await go.wait()
        return await read(*args)

    monkeypatch.setattr(place.shelf.corpus, "get_page", get_page)
    return go


def _thread(house: House, ts: str) -> ThreadAddress:
    return ThreadAddress(platform="slack", workspace="local", channel=house.channel.id, thread=ts)


def _one_button(action_id: str) -> list[dict[str, Any]]:
    button = {"type": "button", "text": {"type": "plain_text", "text": "Old"}, "action_id": action_id}
    return [{"type": "actions", "block_id": "old", "elements": [button]}]


def offer(answer: Message, words: str) -> str:
    """A question that the menu of an answer offers."""
    (menu,) = (one for one in elements(answer.blocks) if one["type"] == "overflow")
    labels = [option["text"]["text"].removeprefix("Ask: ") for option in menu["options"]]
    return next(label for label in labels if label.startswith(words))


async def test_the_menu_proposes_an_answer_and_keeps_the_bot_quiet(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        await house.ben.choose(answer, "Propose as a kept answer")
        await house.told(house.ben, "reviewer")
        await house.ben.choose(answer, "Be quiet in this thread")
        await house.shows("only when")
        await house.ada.reply(answer, "and where is the lamp?")
        await house.server.settle()
        assert len(house.posts()) == 2  # the answer, and that it is quiet now
