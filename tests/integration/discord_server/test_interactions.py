"""Commands, buttons, selects and modals through the Discord server, with a small plain bot in its own process."""

from simcord.builders import ChannelHandle
from simcord.results import InteractionResult

from tests.discord_server import BotProcess, DiscordServer, Person, text_of


async def replied(server: DiscordServer, result: InteractionResult) -> str:
    """The text of the bot's reply, once it is more than a thinking sign."""
    await server.wait_for(lambda: result.response is not None and not result.deferred, what="a reply")
    assert result.response is not None
    return result.response.content


async def test_a_slash_command_with_autocomplete(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    assert await alice.complete(general, "eat", "fruit", "ap") == ["apple", "apricot"]
    eaten = await alice.slash(general, "eat", fruit="apple")
    assert eaten.acknowledged
    assert not eaten.ephemeral
    assert await replied(server, eaten) == "Ate: apple"
    assert len(server.world.acknowledged_after) == 2


async def test_commands_work_in_direct_messages(server: DiscordServer, bot: BotProcess, alice: Person) -> None:
    assert await replied(server, await alice.slash(alice.dm, "eat", fruit="fig")) == "Ate: fig"


async def test_a_deferred_reply_is_seen_by_its_user_alone(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    result = await alice.slash(general, "slow")
    assert await replied(server, result) == "Thought about it"
    await server.wait_for(lambda: len(result.followups) == 1)
    assert result.ephemeral
    assert result.followups[0].ephemeral
    assert server.transcript(general) == (
        "TestBot (only to alice): Thought about it\nTestBot (only to alice): And again"
    )
    bob = server.person("bob", *([general.guild] if general.guild else []))
    assert general.history(viewer=bob.handle) == []


async def test_a_token_is_unknown_after_fifteen_minutes(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    hang = server.hang_next("PATCH", "/webhooks/*/messages/@original")
    result = await alice.slash(general, "slow")
    await server.wait_for(hang.reached.is_set)
    server.world.advance(15 * 60)
    hang.release()
    await server.wait_for(lambda: server.calls("PATCH", "/webhooks/*/messages/@original")[0].status)
    (late,) = server.calls("PATCH", "/webhooks/*/messages/@original")
    assert (late.status, late.reply["code"]) == (404, 10015)
    assert result.deferred


async def test_an_interaction_not_acknowledged_in_time_has_failed(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    server.world.ack_seconds = 0.2
    hang = server.hang_next("POST", "/interactions/*/callback")
    result = await alice.slash(general, "eat", fruit="apple")
    assert not result.acknowledged
    await server.wait_for(hang.reached.is_set)  # the bot may be later than that by far
    server.world.advance(1)
    hang.release()
    await server.wait_for(lambda: server.calls("POST", "/interactions/*/callback")[0].status)
    assert server.calls("POST", "/interactions/*/callback")[0].reply["code"] == 10062


async def test_buttons_selects_and_modals(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    await alice.mention(general, "buttons")
    await server.wait_for(lambda: server.answers(general))
    message = general.last_message
    assert message is not None
    assert await replied(server, await alice.click(message, label="More")) == "More of it"
    shown = await alice.click(message, custom_id="form")
    assert shown.modal is not None
    assert shown.modal["title"] == "Your name"
    assert await replied(server, await alice.submit(shown, {"name": "Alice"})) == "Hello Alice"
    await alice.choose(message, "banana", custom_id="fruit")
    assert text_of(server.world.stored(message)) == "Chosen: banana"
    assert "[button More]" in server.transcript(general)


async def test_a_command_of_the_context_menu(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    said = await alice.say(general, "abcde")
    assert await replied(server, await alice.menu("Count letters", said)) == "5 letters"


async def test_buttons_survive_a_restart(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    await alice.mention(general, "buttons")
    await server.wait_for(lambda: server.answers(general))
    message = general.last_message
    await bot.stop()
    bot.start()
    await server.wait_for_login(2)
    assert await replied(server, await alice.click(message, label="More")) == "More of it"
