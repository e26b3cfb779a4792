"""Forms: opened by commands and buttons, completed from the library, and run where they were opened."""

import pytest

from bot.slackbot.actions import commands as forms
from core.domain.incoming import ChannelAddress, ThreadAddress
from core.domain.service import ChannelSettings
from core.errors import StorageError
from core.knowledge.search.documents import JOURNAL_KIND
from core.service.commands.table import Completion
from core.work.commands import CommandCall
from tests.integration.slackbot.house import House
from tests.integration.slackbot.place import KEY, SlackPlace
from tests.slack_server import View

TRANSPORTS = pytest.mark.parametrize("over_http", [False, True], ids=["socket", "http"])


async def form(house: House, text: str) -> View:
    """The form that a slash command of Ada's opens in the channel."""
    return await house.modal(await house.ada.slash(house.channel, text))


@TRANSPORTS
async def test_a_question_by_form_is_asked_where_the_form_was_opened(place: SlackPlace, over_http: bool) -> None:
    place.over_http = over_http
    async with place.open() as house:
        view = await form(house, "ask")
        sent = await house.ada.submit(view, {"question": "where is the key?", "document": "handbook/house.md"})
        assert (sent.error, sent.errors, view.open) == (None, {}, False)
        [answer] = await house.answered()
        assert answer.channel is house.channel
        [entry] = await place.entries.recent("local")
        assert entry.incoming.document == "house.md"


async def test_a_private_question_by_form_is_answered_to_its_asker_alone(place: SlackPlace) -> None:
    async with place.open() as house:
        view = await form(house, "ask")
        await house.ada.submit(view, {"question": "where is the key?", "private": ["true"]})
        await house.told(house.ada, "under the stairs")
        assert house.posts() == []


async def test_what_was_given_behind_the_command_is_in_the_form_already(place: SlackPlace) -> None:
    async with place.open() as house:
        view = await form(house, "ask --document house.md --private")
        await house.ada.submit(view, {"question": "where is the key?"})
        await house.until(lambda: place.provider.requests)
        [entry] = await place.entries.recent("local")
        assert (entry.incoming.document, entry.incoming.private) == ("house.md", True)


async def test_what_a_form_gives_is_for_who_sent_it_alone(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ada.submit(await form(house, "search"), {"words": "key"})
        await house.ada.submit(await form(house, "page"), {"document": "handbook/house.md", "number": "1"})
        await house.told_once(house.ada, "1. **House**")
        await house.told(house.ada, "# Keys")
        assert house.posts() == []


@TRANSPORTS
@pytest.mark.parametrize(
    ("command", "given", "field", "words"),
    [
        ("page", {"document": "handbook/house.md", "number": "9"}, None, "page 9"),
        ("page", {"document": "nowhere", "number": "1"}, "document", "There is no document 'nowhere'"),
        ("ask", {"question": "where?", "journal": "nothing"}, "journal", "'nothing'"),
        ("summary", {"name": "nowhere"}, "name", "'nowhere'"),
        ("open", {"thread": "7"}, "thread", "/footnote threads to list them"),
        ("ask", {"question": "/stop now"}, None, "Send it without /footnote ask"),
    ],
)
async def test_what_is_wrong_is_told_at_its_field(
    place: SlackPlace, over_http: bool, command: str, given: dict[str, str], field: str | None, words: str
) -> None:
    place.over_http = over_http
    async with place.open() as house:
        view = await form(house, command)
        sent = await house.ada.submit(view, given)
        if field is not None:
            assert list(sent.errors) == [field] and words in sent.errors[field]
            assert view.open and house.server.answers(house.channel) == []
        else:
            assert sent.errors == {} and not view.open
            await house.told_once(house.ada, words)
        assert await place.codes() == []


async def test_what_is_found_out_too_late_for_a_field_is_a_message(
    place: SlackPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "_FIELD_SECONDS", 0.0)
    async with place.open() as house:
        view = await form(house, "page")
        sent = await house.ada.submit(view, {"document": "nowhere", "number": "1"})
        await house.told_once(house.ada, "There is no document 'nowhere'")
        assert (sent.errors, view.open) == ({}, False)


async def test_a_field_that_was_wrong_can_be_mended(place: SlackPlace) -> None:
    async with place.open() as house:
        view = await form(house, "page")
        wrong = await house.ada.submit(view, {"document": "nowhere", "number": "1"})
        assert wrong.errors
        await house.ada.submit(view, {"document": "handbook/house.md", "number": "1"})
        await house.told_once(house.ada, KEY)
        assert not view.open


@TRANSPORTS
async def test_menus_offer_what_can_be_read_where_the_form_was_opened(place: SlackPlace, over_http: bool) -> None:
    place.over_http = over_http
    await place.shelf.add("garden.md", "# Garden\n\nThe shed.", title="Garden")
    await place.shelf.add("salt.md", "# Salt\n\nx", title="Saltmarsh", kind=JOURNAL_KIND)
    async with place.open() as house:
        view = await form(house, "ask")
        offered = await house.ada.suggest(view, "gar", action_id="document")
        assert offered == [
            {
                "text": {"type": "plain_text", "text": "Garden (garden.md)", "emoji": False},
                "value": "handbook/garden.md",
            }
        ]
        assert len(await house.ada.suggest(view, "", action_id="document")) == 3
        journals = await house.ada.suggest(view, "", action_id="journal")
        assert [one["value"] for one in journals] == ["handbook/salt.md"]
        assert await house.ada.suggest(view, "nothing like it", action_id="document") == []
        await place.settings.save_channel(_address(house), ChannelSettings(sources=frozenset({"another"})))
        assert await house.ada.suggest(view, "", action_id="document") == []


async def test_conversations_are_offered_by_their_titles(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ask()
        [offered] = await house.ada.suggest(await form(house, "open"), "where", action_id="thread")
        [conversation] = await place.conversations.list_conversations("local")
        assert (offered["text"]["text"], offered["value"]) == ("where is the key?", conversation.id)


async def test_offers_keep_to_what_slack_takes(place: SlackPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    async def many(call: CommandCall, option: str, typed: str) -> list[Completion]:
        return [Completion(label=f"{at} {'long ' * 40}", value=f"{at}" * (1 if at else 200)) for at in range(300)]

    async with place.open() as house:
        view = await form(house, "ask")
        monkeypatch.setattr(place.listeners.handler.parts.commands, "complete", many)
        offered = await house.ada.suggest(view, "", action_id="document")
        assert len(offered) == 100
        assert all(len(one["text"]["text"]) <= 75 and 0 < len(one["value"]) <= 150 for one in offered)


async def test_a_menu_stays_empty_where_nothing_can_be_looked_up(
    place: SlackPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(call: CommandCall, option: str, typed: str) -> list[Completion]:
        raise StorageError("The disk is gone.")

    async with place.open() as house:
        view = await form(house, "ask")
        monkeypatch.setattr(place.listeners.handler.parts.commands, "complete", broken)
        assert await house.ada.suggest(view, "", action_id="document") == []


async def test_a_form_works_after_a_restart(place: SlackPlace) -> None:
    async with place.open() as house:
        view = await form(house, "search")
        await place.restart()
        await house.ada.submit(view, {"words": "key"})
        said = await house.told_once(house.ada, "under the stairs")
        assert said.only_to == house.ada.id
        assert house.posts() == []


async def test_a_form_of_an_earlier_version_says_so(place: SlackPlace) -> None:
    async with place.open() as house:
        view = await form(house, "search")
        view.payload["callback_id"] = "something else"
        await house.ada.submit(view, {"words": "key"})
        said = await house.told_once(house.ada, "This form is from an earlier version. Open it again.")
        assert said.only_to == house.ada.id
        assert not house.whispered(house.ada, "under the stairs")


async def test_too_late_for_a_form_is_said(place: SlackPlace) -> None:
    place.trigger_seconds = 0.0
    async with place.open() as house:
        await house.ada.slash(house.channel, "ask")
        said = await house.told_once(house.ada, "Slack's three seconds for opening a form are over")
        assert said.only_to == house.ada.id
        assert house.ada.modal is None


def _address(house: House) -> ChannelAddress:
    there = ThreadAddress(platform="slack", workspace="local", channel=house.channel.id, thread="")
    return ChannelAddress.of(there)
