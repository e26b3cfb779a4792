"""The home tab: what a person finds there, and what its buttons do."""

import pytest

from bot.slackbot.events.manifest import KEEP_ANSWER
from core.domain.incoming import ChannelAddress
from core.domain.service import ChannelSettings, PersonAddress
from tests.builders import build_conversation
from tests.integration.slackbot.house import House, buttons, shown_of
from tests.integration.slackbot.place import SlackPlace
from tests.integration.slackbot.test_thread_commands import links_in, many, permalink
from tests.slack_server import Person, View

TRANSPORTS = pytest.mark.parametrize("over_http", [False, True], ids=["socket", "http"])


async def home(house: House, person: Person, words: str = "") -> View:
    """The home tab that somebody opens, once it has these words."""
    before = len(house.server.calls("views.publish"))
    await person.open_home()
    await house.until(lambda: len(house.server.calls("views.publish")) > before, "the home tab")
    return await showing(house, person, words)


async def showing(house: House, person: Person, words: str) -> View:
    await house.until(lambda: person.home is not None and words in shown_of(person.home), f"{words!r} on the home tab")
    assert person.home is not None
    return person.home


def field_of(view: View) -> str:
    """The id of the field for questions: Slack keeps what was typed as long as it is the same."""
    [field] = [block["block_id"] for block in view.payload["blocks"] if block["type"] == "input"]
    return str(field)


@TRANSPORTS
async def test_it_shows_sources_and_questions_to_try(place: SlackPlace, over_http: bool) -> None:
    place.over_http = over_http
    async with place.open() as house:
        view = await home(house, house.ada)
        shown = " ".join(shown_of(view).split())
        assert "handbook : 1 document" in shown
        assert "Are gardens locked?" in shown
        assert {"fn:form:ask", "fn:form:position", "fn:form:settings"} <= set(buttons(view).values())
        assert house.posts(house.ada.dm) == []


async def test_it_lists_the_persons_own_threads_with_links(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        view = await home(house, house.ada)
        assert links_in(view) == {"where is the key?": permalink(answer)}
        assert "where is the key?" not in shown_of(await home(house, house.ben))


async def test_threads_beyond_the_first_page_are_counted(place: SlackPlace) -> None:
    async with place.open() as house:
        await many(place, house, 23)
        view = await home(house, house.ada)
        assert len(links_in(view)) == 3
        assert "… and 20 more" in shown_of(view)


async def test_a_reviewer_finds_proposals_and_unanswered_questions_on_it_and_others_do_not(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        await house.ben.shortcut(answer, KEEP_ANSWER)
        await house.told(house.ben, "Proposed: ")
        [proposal] = await place.shelf.stores.kept.list_kept("local")
        house.ada.user.is_admin = True
        shown = " ".join(shown_of(await home(house, house.ada, "Inbox")).split())
        assert f"{proposal.id[:6]} Proposed: where is the key? (said by ben, proposed by ben" in shown
        assert "Use /footnote inbox accept, decline, undo or ask, and an ID." in shown
        assert "Inbox" not in shown_of(await home(house, house.ben))


async def test_without_documents_it_says_so(place: SlackPlace) -> None:
    async with SlackPlace().open() as house:
        assert "I have no documents to read here yet. Ask an admin to add some." in shown_of(
            await home(house, house.ada)
        )


async def test_what_the_direct_channel_may_not_read_is_not_named(place: SlackPlace) -> None:
    async with place.open() as house:
        direct = ChannelAddress(platform="slack", workspace="local", channel=house.ada.dm.id)
        await place.settings.save_channel(direct, ChannelSettings(sources=frozenset({"another"})))
        shown = shown_of(await home(house, house.ada))
        assert "House" not in shown and "handbook" not in shown


async def test_what_lies_beyond_a_reading_position_is_not_named(place: SlackPlace) -> None:
    document = await place.shelf.add("novel.md", "# Novel", "# Did the gardener do it?", title="Novel")
    async with place.open() as house:
        person = PersonAddress(workspace="local", person=house.ada.id)
        await place.settings.save_position(person, document.id, 1)
        shown = shown_of(await home(house, house.ada))
        assert "Novel: up to page 1" in shown and "gardener" not in shown
        assert "gardener" in shown_of(await home(house, house.ben))


@TRANSPORTS
async def test_a_position_is_set_from_it_and_shown_on_it_at_once(place: SlackPlace, over_http: bool) -> None:
    place.over_http = over_http
    async with place.open() as house:
        view = await house.modal(await house.ada.click(await home(house, house.ada), "Position"))
        [offered] = await house.ada.suggest(view, "hou", action_id="book")
        await house.ada.submit(view, {"book": offered["value"], "place": "1"})
        await house.shows("you will see nothing of “House” beyond page 1", house.ada.dm)
        await showing(house, house.ada, "House: up to page 1")
        ada = PersonAddress(workspace="local", person=house.ada.id)
        assert list((await place.settings.positions(ada)).values()) == [1]


async def test_a_question_is_asked_from_it_in_the_direct_channel(place: SlackPlace) -> None:
    async with place.open() as house:
        view = await house.modal(await house.ada.click(await home(house, house.ada), "Ask"))
        await house.ada.submit(view, {"question": "where is the key?"})
        [answer] = await house.answered(house.ada.dm)
        assert "under the stairs" in shown_of(answer)
        assert house.posts() == []


@TRANSPORTS
async def test_a_question_typed_into_it_is_asked_with_enter_and_its_field_is_empty_again(
    place: SlackPlace, over_http: bool
) -> None:
    place.over_http = over_http
    async with place.open() as house:
        view = await home(house, house.ada)
        before = field_of(view)
        await house.ada.type_into(view, "where is the key?")
        [answer] = await house.answered(house.ada.dm)
        assert "under the stairs" in shown_of(answer)
        assert house.posts() == []
        await house.until(lambda: house.ada.home and field_of(house.ada.home) != before, "an empty field")


async def test_it_links_the_answer_when_that_is_posted(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ada.type_into(await home(house, house.ada), "where is the key?")
        [answer] = await house.answered(house.ada.dm)
        view = await showing(house, house.ada, "Answered.")
        assert links_in(view)["Open it"] == permalink(answer)
        assert "Answered." not in shown_of(await home(house, house.ada, "Only you see the answer"))


async def test_a_refresh_keeps_what_is_being_typed_after_a_question(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ada.type_into(await home(house, house.ada), "where is the key?")
        after = field_of(await showing(house, house.ada, "Answered."))
        assert field_of(await home(house, house.ada, "Only you see the answer")) == after


async def test_the_button_asks_what_was_typed(place: SlackPlace) -> None:
    async with place.open() as house:
        view = await home(house, house.ada)
        await house.ada.type_into(view, "where is the key?", press_enter=False)
        await house.ada.click(view, "Ask")
        [answer] = await house.answered(house.ada.dm)
        assert "under the stairs" in shown_of(answer)


async def test_what_is_wrong_in_a_form_of_it_is_told_at_its_field(place: SlackPlace) -> None:
    async with place.open() as house:
        view = await house.modal(await house.ada.click(await home(house, house.ada), "Position"))
        sent = await house.ada.submit(view, {"book": "handbook/house.md", "place": "ninety"})
        assert list(sent.errors) == ["place"]


async def test_the_tab_of_messages_is_no_home(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ada.open_home("messages")
        await house.server.settle()
        assert house.ada.home is None


async def test_a_home_that_can_not_be_published_is_told_of_and_comes_with_the_next_look(place: SlackPlace) -> None:
    async with place.open() as house:
        house.server.fail_next("views.publish", "missing_scope")
        await house.ada.open_home()
        await house.shows("I'm not allowed to show the home tab", house.ada.dm)
        assert house.ada.home is None
        assert "Ask" in buttons(await home(house, house.ada))


async def test_a_pause_that_slack_asks_for_is_waited_out(place: SlackPlace) -> None:
    async with place.open() as house:
        house.server.fail_next("views.publish", status=429)
        assert "Ask" in buttons(await home(house, house.ada))
        assert len(house.server.calls("views.publish")) == 2


async def test_many_long_names_fit_into_it(place: SlackPlace) -> None:
    for number in range(60):
        await place.shelf.add(f"{number}.md", f"# {'Section ' * 60}{number}", title=f"{'Long ' * 60}{number}")
    async with place.open() as house:
        for number in range(30):
            title = "title " * 60
            await place.conversation_store.add(build_conversation(f"c{number}", owner=house.ada.id, title=title))
        for document in await place.shelf.corpus.list_documents("local"):
            await place.settings.save_position(PersonAddress(workspace="local", person=house.ada.id), document.id, 1)
        assert "… and 27 more" in shown_of(await home(house, house.ada))
