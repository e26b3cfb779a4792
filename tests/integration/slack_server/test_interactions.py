"""Commands, buttons, menus, modals and shortcuts with slack_bolt, in both transports."""

import pytest
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.integration.slack_server.plain_bot import form
from tests.slack_server import Channel, Message, Outcome, Person, SlackServer, View, text_of


async def buttons(server: SlackServer, general: Channel, alice: Person) -> Message:
    asked = await alice.mention(general, "buttons")
    await server.wait_for(lambda: server.answers(general, thread=asked))
    return server.answers(general, thread=asked)[0]


async def shown(server: SlackServer, outcome: Outcome) -> View:
    await server.wait_for(lambda: outcome.modal, what="a modal")
    assert outcome.modal is not None
    return outcome.modal


async def test_a_command_is_answered_to_one_person_alone(
    server: SlackServer, bot: AsyncApp, general: Channel, alice: Person
) -> None:
    bob = server.person("bob", general)
    outcome = await alice.slash(general, "help me")
    assert (outcome.acknowledged, outcome.error) == (True, None)
    assert [text_of(one) for one in alice.sees(general)] == ["Only you see: help me"]
    assert bob.sees(general) == []
    assert server.transcript(general, bob) == ""
    assert server.transcript(general, alice) == "footnote (only to alice): Only you see: help me"


async def test_a_button_is_answered_through_its_response_url(
    server: SlackServer, bot: AsyncApp, general: Channel, alice: Person
) -> None:
    answer = await buttons(server, general, alice)
    bob = server.person("bob", general)
    assert (await alice.click(answer, "More")).acknowledged
    await server.wait_for(lambda: "More of 7" in server.transcript(general, alice))
    assert "More of 7" not in server.transcript(general, bob)
    assert (await bob.click(answer, "Bad")).acknowledged
    await server.wait_for(lambda: "Rated down" in server.transcript(general, bob))
    assert len(server.answers(general, thread=answer)) == 3


async def test_a_choice_replaces_the_message(
    server: SlackServer, bot: AsyncApp, general: Channel, alice: Person
) -> None:
    answer = await buttons(server, general, alice)
    assert (await alice.choose(answer, "Banana")).acknowledged
    await server.wait_for(lambda: answer.edits)
    assert text_of(answer) == "Chosen: banana"
    assert (len(server.posts(general)), len(server.updates(general))) == (1, 1)
    with pytest.raises(AssertionError, match="there is: nothing"):
        await alice.click(answer, "More")


async def test_a_modal_makes_its_round_trip(
    server: SlackServer, bot: AsyncApp, general: Channel, alice: Person
) -> None:
    view = await shown(server, await alice.click(await buttons(server, general, alice), "Form"))
    assert alice.modal is view
    with pytest.raises(AssertionError, match="'name' is required"):
        await alice.submit(view, {})
    wrong = await alice.submit(view, {"name": "nobody"})
    assert (wrong.errors, view.open) == ({"name": "Somebody, please"}, True)
    again = await alice.submit(view, {"name": "again"})
    assert (again.error, view.payload["title"]["text"]) == (None, "Once more")
    offered = await alice.suggest(view, "New", action_id="place")
    assert [one["value"] for one in offered] == ["Newtown"]
    await alice.submit(view, {"name": "Ada", "place": "Newtown"})
    assert not view.open
    await server.wait_for(lambda: server.answers(alice.dm))
    assert text_of(server.answers(alice.dm)[0]) == "Hello Ada"


async def test_a_command_opens_a_modal(server: SlackServer, bot: AsyncApp, general: Channel, alice: Person) -> None:
    view = await shown(server, await alice.slash(general, "form"))
    assert view.payload["callback_id"] == "form"
    assert await alice.close(view) is None
    assert not view.open


async def test_files_chosen_in_a_modal_are_for_the_app_alone(
    server: SlackServer, bot: AsyncApp, client: AsyncWebClient, general: Channel, alice: Person
) -> None:
    view = await shown(server, await alice.slash(general, "form"))
    for files in ([("a.pdf", b"a")], [("a.txt", b"a")] * 3, [("a.txt", b"a" * 10_000_001)]):
        with pytest.raises(AssertionError, match="the client takes no"):
            await alice.submit(view, {"name": "alice", "files": files})
    sent = await alice.submit(view, {"name": "alice", "files": [("plan.txt", b"on Friday")]})
    [chosen] = sent.parcel.payload["view"]["state"]["values"]["files"]["files"]["files"]
    assert (chosen["name"], chosen["size"], chosen["user"]) == ("plan.txt", 9, alice.id)
    assert (await client.files_info(file=chosen["id"]))["file"]["name"] == "plan.txt"
    assert server.transcript(general, alice) == ""


async def test_a_message_shortcut_brings_the_message(
    server: SlackServer, bot: AsyncApp, general: Channel, alice: Person
) -> None:
    said = await alice.say(general, "hello")
    assert (await alice.shortcut(said, "count_letters")).acknowledged
    await server.wait_for(lambda: "5 letters" in server.transcript(general, alice))


async def test_a_silent_bot_is_a_failure_that_the_person_sees(
    server: SlackServer, bot: AsyncApp, general: Channel, alice: Person
) -> None:
    server.delivery.ack_seconds = 0.2
    said = await alice.say(general, "hello")
    outcome = await alice.shortcut(said, "unknown")
    assert (outcome.acknowledged, outcome.error) == (False, "operation_timeout")


async def test_a_trigger_is_good_once_and_for_three_seconds(
    server: SlackServer, bot: AsyncApp, client: AsyncWebClient, general: Channel, alice: Person
) -> None:
    server.triggers.trigger_seconds = 3.0
    outcome = await alice.slash(general, "help")
    server.advance(3.1)
    with pytest.raises(SlackApiError, match="expired_trigger_id"):
        await client.views_open(trigger_id=outcome.trigger.id, view=form())
    server.triggers.trigger_seconds = 60.0
    await client.views_open(trigger_id=outcome.trigger.id, view=form())
    with pytest.raises(SlackApiError, match="exchanged_trigger_id"):
        await client.views_open(trigger_id=outcome.trigger.id, view=form())
    with pytest.raises(SlackApiError, match="invalid_trigger_id"):
        await client.views_open(trigger_id="made up", view=form())


async def test_no_more_than_three_views_lie_on_each_other(
    server: SlackServer, bot: AsyncApp, client: AsyncWebClient, general: Channel, alice: Person
) -> None:
    view = await shown(server, await alice.slash(general, "form"))
    for _ in range(2):
        again = await alice.submit(view, {"name": "again"})
        await client.views_push(trigger_id=again.trigger.id, view=form())
        assert again.modal is not None
        assert again.modal.below is view
        view = again.modal
    again = await alice.submit(view, {"name": "again"})
    with pytest.raises(SlackApiError, match="push_limit_reached"):
        await client.views_push(trigger_id=again.trigger.id, view=form())
    assert alice.modal is view


async def test_a_view_changed_meanwhile_is_not_overwritten(
    server: SlackServer, bot: AsyncApp, client: AsyncWebClient, general: Channel, alice: Person
) -> None:
    view = await shown(server, await alice.slash(general, "form"))
    seen = view.hash
    await client.views_update(view_id=view.id, hash=seen, view=form("Second"))
    with pytest.raises(SlackApiError, match="hash_conflict"):
        await client.views_update(view_id=view.id, hash=seen, view=form("Third"))
    assert view.payload["title"]["text"] == "Second"


async def test_a_home_tab_is_published_for_each_user(
    server: SlackServer, bot: AsyncApp, client: AsyncWebClient, general: Channel, alice: Person
) -> None:
    home = {"type": "home", "blocks": [{"type": "header", "text": {"type": "plain_text", "text": "Threads"}}]}
    await client.views_publish(user_id=alice.id, view=home)
    assert alice.home is not None
    assert alice.home.payload["blocks"][0]["text"]["text"] == "Threads"
    assert server.person("bob", general).home is None
    await alice.open_home()
    await server.settle()
    assert server.parcels[-1].event["view"]["id"] == alice.home.id


async def test_a_response_url_is_good_five_times(
    server: SlackServer, bot: AsyncApp, general: Channel, alice: Person
) -> None:
    answer = await buttons(server, general, alice)
    await alice.click(answer, "More")
    await server.wait_for(lambda: len(server.calls("response_url")) == 1)
    (wanted,) = server.triggers._responses
    for _ in range(4):
        server.triggers.take_response(wanted)
    with pytest.raises(Exception, match="used_url"):
        server.triggers.take_response(wanted)
