"""Buttons under answers: all of them work after a restart, for whoever may press them."""

import pytest

from core.domain.chat import ToolInvocation
from core.knowledge.search.documents import JOURNAL_KIND
from tests.integration.discordbot.house import House, buttons, menus, texts, told, until
from tests.integration.discordbot.place import ANSWER, KEY, DiscordPlace, search
from tests.scripted import calls

RESTARTS = pytest.mark.parametrize("restarts", [False, True], ids=["same process", "after a restart"])


@RESTARTS
async def test_passages_are_shown_to_the_one_who_asks_with_what_stands_around_them(
    place: DiscordPlace, restarts: bool
) -> None:
    async with place.open() as house:
        await house.ask()
        if restarts:
            await place.restart()
        shown = told(await house.ben.click(house.posts()[0], label="Show sources"))
        assert KEY in shown
        assert "House" in shown
        assert len(house.posts()) == 1


@RESTARTS
async def test_an_answer_is_rated_and_the_same_button_takes_it_back(place: DiscordPlace, restarts: bool) -> None:
    async with place.open() as house:
        await house.ask()
        [conversation] = await place.conversations.list_conversations("local")
        if restarts:
            await place.restart()
        assert "Noted as helpful" in told(await house.ben.click(house.posts()[0], label="👍"))
        assert "Noted as not helpful" in told(await house.ben.click(house.posts()[0], label="👎"))
        [feedback] = await place.feedback_store.list_feedback(conversation.id)
        assert (feedback.author, feedback.rating) == (str(house.ben.id), "down")
        assert "Taken back" in told(await house.ben.click(house.posts()[0], label="👎"))
        assert await place.feedback_store.list_feedback(conversation.id) == []


@RESTARTS
async def test_a_suggestion_is_asked_in_the_name_of_who_pressed_it(place: DiscordPlace, restarts: bool) -> None:
    async with place.open() as house:
        await house.ask()
        if restarts:
            await place.restart()
        [answer] = house.posts()
        suggestion = next(label for label in await house.offers(house.ben, answer) if label.startswith("Ask: Are"))
        await house.choose(house.ben, answer, suggestion)
        suggestion = suggestion.removeprefix("Ask: ")
        await house.answered(count=2)
        assert any(f"ben** asks: {suggestion[:20]}" in texts(item) for item in house.posts())
        [conversation] = await place.conversations.list_conversations("local")
        _, messages = await place.conversations.show(conversation.id, "local")
        assert [item.author for item in messages if item.role == "user"] == ["ada", "ben"]


@RESTARTS
async def test_choices_are_a_menu_whose_choice_is_asked(place: DiscordPlace, restarts: bool) -> None:
    ask = calls(ToolInvocation(id="j", name="query_journal", arguments={"query": "key", "journal_name": "Saltmarsh"}))
    place.says(ask, search("t2"), ANSWER)
    for name in ("Saltmarsh North", "Saltmarsh South"):
        await place.shelf.add(f"{name}.md", f"# Keys\n\n{KEY}", title=name, kind=JOURNAL_KIND)
    async with place.open() as house:
        await house.ada.send(house.channel, f"{house.bot} what happens in Saltmarsh?")
        await until(lambda: house.posts() and menus(house.posts()[0]))
        if restarts:
            await place.restart()
        [menu] = menus(house.posts()[0])
        assert {option.label for option in menu.options} == {"Saltmarsh North", "Saltmarsh South"}
        await house.ada.select(house.posts()[0], [menu.options[1].value], custom_id=menu.custom_id)
        await house.answered()
        assert any(f"asks: {menu.options[1].label}" in texts(item) for item in house.posts())


async def test_the_asker_stops_an_answer_and_nobody_else_can(place: DiscordPlace) -> None:
    async with place.open() as house:
        draft = await _running(place, house)
        assert "Only ada or a moderator can stop" in told(await house.ben.click(draft, label="Stop"))
        assert "Stopped" in told(await house.ada.click(draft, label="Stop"))
        await until(lambda: "Stop" not in buttons(house.posts()[0]))
        [post] = house.posts()
        assert post.id == draft.id
        assert "topped" in texts(post)


async def test_a_moderator_of_the_channel_stops_anothers_answer_by_button_and_by_command(place: DiscordPlace) -> None:
    async with place.open() as house:
        eve = house.moderator()
        draft = await _running(place, house)
        assert "Only ada or a moderator can stop" in told(await house.ben.click(draft, label="Stop"))
        assert "question in progress here" in told(await house.ben.slash(house.thread, "stop"))
        assert "Stopped" in told(await eve.click(draft, label="Stop"))
        await until(lambda: "Stop" not in buttons(house.posts()[0]))
        place.provider.held = {2}
        await house.ada.send(house.thread, f"{house.bot} where is the key?")
        await until(lambda: len(house.posts()) == 2)
        assert "Stopping" in told(await eve.slash(house.thread, "stop"))
        await until(lambda: "Stop" not in buttons(house.posts()[1]))
        assert "topped" in texts(house.posts()[1])
        assert "Only an admin can change" in told(await eve.slash(house.thread, "settings", name="limit", value="5"))
        await eve.slash(house.thread, "delete")
        await until(lambda: not any("topped" in texts(post) for post in house.posts(house.thread)))


async def test_a_stop_after_a_restart_stops_what_goes_on(place: DiscordPlace) -> None:
    place.says(search(), ANSWER, search("t2"), ANSWER)
    async with place.open() as house:
        draft = await _running(place, house)
        place.provider.held = {1, 3}
        await place.restart()
        await until(lambda: len(place.provider.requests) == 3)
        assert "Stopped" in told(await house.ada.click(draft, label="Stop"))
        await until(lambda: "Stop" not in buttons(house.posts()[0]))


async def test_a_stop_of_a_finished_answer_says_so(place: DiscordPlace) -> None:
    async with place.open() as house:
        draft = await _running(place, house)
        stop = buttons(draft)["Stop"]
        place.provider.go.set()
        await house.answered()
        house.env.backend.edit_message(house.thread.id, draft.id, {"components": _one_button(stop)})
        await house.env.settle()
        assert "nothing to stop" in told(await house.ada.click(house.posts()[0], custom_id=stop))


async def test_how_it_is_answered_is_shown_while_it_runs_and_afterwards(place: DiscordPlace) -> None:
    async with place.open() as house:
        draft = await _running(place, house)
        live = told(await house.ben.click(draft, label="Show steps"))
        assert "Searching for" in live and "running" in live
        place.provider.go.set()
        [answer] = await house.answered()
        await place.restart()
        after = told(await house.choose(house.ben, answer, "How this was answered"))
        assert "Searching for" in after and "running" not in after


async def test_a_button_of_an_earlier_version_says_so(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        house.env.backend.edit_message(
            house.thread.id, house.posts()[0].id, {"components": _one_button("fn:part:0123456789abcdef")}
        )
        await house.env.settle()
        assert "earlier version" in told(await house.ada.click(house.posts()[0], custom_id="fn:part:0123456789abcdef"))


async def test_a_deleted_conversations_buttons_say_that_it_is_gone(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        [conversation] = await place.conversations.list_conversations("local")
        await place.conversations.delete(conversation.id, "local")
        assert "may have been deleted" in told(await house.ada.click(house.posts()[0], label="👍"))


async def _running(place: DiscordPlace, house: House):
    """Ada's question, while its answer is being written."""
    place.provider.held = {1}
    await house.ada.send(house.channel, f"{house.bot} where is the key?")
    return await house.drafts("I have looked")


def _one_button(custom_id: str) -> list[dict]:
    return [{"type": 1, "components": [{"type": 2, "style": 2, "label": "Old", "custom_id": custom_id}]}]


async def test_a_button_leads_to_no_answer_of_another_thread(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        [stolen] = [item for label, item in buttons(house.posts()[0]).items() if label == "👍"]
        await house.ask("where is the key, again?")
        other = house.posts()[0]
        row = [{"type": 1, "components": [{"type": 2, "style": 2, "label": "Look", "custom_id": stolen}]}]
        house.env.backend.edit_message(house.thread.id, other.id, {"components": row})
        await house.env.settle()
        assert "another thread" in told(await house.ben.click(house.posts()[0], label="Look"))


async def test_a_fault_behind_a_button_is_told_in_a_sentence(
    place: DiscordPlace, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*args: object) -> None:
        raise RuntimeError("a fault of ours")

    async with place.open() as house:
        await house.ask()
        monkeypatch.setattr(place.conversations, "message", broken)
        assert "Something went wrong" in told(await house.ada.click(house.posts()[0], label="👍"))
        assert "a fault of ours" in caplog.text


async def test_the_menu_proposes_an_answer_and_keeps_the_bot_quiet(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        [answer] = house.posts()
        assert "reviewer" in told(await house.choose(house.ben, answer, "Propose as a kept answer"))
        quiet = await house.choose(house.ben, answer, "Be quiet in this thread")
        assert "only when" in texts(quiet.response.message)
        await house.ada.send(house.thread, "and where is the lamp?")
        await house.env.settle()
        assert len(house.posts()) == 2  # the answer, and that it is quiet now
