"""Answers for one person's eyes: they stay so through retries, restarts, errors and the end of the reply's token."""

import asyncio

import discord
import pytest

from core.domain.incoming import ChannelAddress
from core.domain.service import ChannelSettings
from core.errors import ProviderOverloaded
from tests.integration.discordbot.house import House, buttons, texts, told, until
from tests.integration.discordbot.place import ANSWER, DiscordPlace, search
from tests.scripted import says

LONG = says("\n\n".join(["The key hangs under the stairs [1]."] * 250))
OVER = 16 * 60  # seconds: Discord takes an interaction's token for 15 minutes


async def test_a_private_question_is_answered_for_its_asker_alone(place: DiscordPlace) -> None:
    async with place.open() as house:
        result = await _ask(house)
        await until(lambda: "[[1]](" in told(result))
        assert "[[1]](https://footnote.example.org/s/1)" in told(result)
        assert _in_the_open(house) == []


async def test_the_next_private_question_goes_on_in_the_same_conversation(place: DiscordPlace) -> None:
    async with place.open() as house:
        for text in ("where is the key?", "and why there?"):
            result = await _ask(house, text)
            await until(lambda shown=result: "[[1]](" in told(shown))
        [conversation] = await place.conversations.list_conversations("local")
        assert conversation.address.private_to == str(house.ada.id)
        assert conversation.title == "where is the key?"


async def test_a_private_answer_of_several_messages_is_private_in_all_of_them(place: DiscordPlace) -> None:
    place.says(search(), LONG)
    async with place.open() as house:
        result = await _ask(house)
        await until(lambda: told(result).count("under the stairs") >= 250)
        assert len(result.followups) >= 1
        assert _in_the_open(house) == []


async def test_a_private_answer_stays_private_when_discord_fails_in_between(place: DiscordPlace) -> None:
    place.says(search(), LONG, search("t2"), LONG)
    async with place.open() as house:
        house.env.inject_error("PATCH", "/webhooks/*/*/messages/*", status=500)
        house.env.inject_error("POST", "/webhooks/*/*", status=502)
        result = await _ask(house)
        await until(lambda: told(result).count("under the stairs") >= 250)
        parts = [item for item in (result.response, *result.followups) if item is not None]
        assert len(parts) == len({item.id for item in parts})
        assert _in_the_open(house) == []


async def test_the_answer_waits_until_discord_knows_of_the_reply(
    place: DiscordPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    defer = discord.InteractionResponse.defer

    async def late(response: discord.InteractionResponse, **options: bool) -> object:
        await asyncio.sleep(1)  # long enough for the answer to try
        return await defer(response, **options)

    monkeypatch.setattr(discord.InteractionResponse, "defer", late)
    async with place.open() as house:
        result = await house.ada.slash(house.channel, "ask", question="where is the key?", private=True)
        await house.env.advance_time(2)
        await until(lambda: "under the stairs" in told(result))
        assert house.env.backend.messages.get(house.ada.user.dm_channel.id, {}) == {}


async def test_after_the_token_has_run_out_the_answer_comes_as_a_direct_message(place: DiscordPlace) -> None:
    async with place.open() as house:
        place.provider.held = {1}
        result = await _ask(house)
        await until(lambda: "I have looked" in told(result))
        await house.env.advance_time(OVER)
        place.provider.go.set()
        [answer] = await house.answered(house.ada.user.dm_channel)
        assert "under the stairs" in "".join(texts(answer))
        assert _in_the_open(house) == []


async def test_a_restart_within_the_tokens_life_goes_on_in_the_same_reply(place: DiscordPlace) -> None:
    place.says(search(), ANSWER, search("t2"), LONG)
    async with place.open() as house:
        place.provider.held = {1}
        result = await _ask(house)
        await until(lambda: "I have looked" in told(result))
        await place.restart()
        await until(lambda: told(result).count("under the stairs") >= 250)
        assert _in_the_open(house) == []
        assert house.env.backend.messages.get(house.ada.user.dm_channel.id, {}) == {}


async def test_a_restart_after_the_tokens_life_goes_on_as_a_direct_message(place: DiscordPlace) -> None:
    place.says(search(), ANSWER, search("t2"), ANSWER)
    async with place.open() as house:
        place.provider.held = {1}
        result = await _ask(house)
        await until(lambda: "I have looked" in told(result))
        await house.env.advance_time(OVER)
        await place.restart()
        [answer] = await house.answered(house.ada.user.dm_channel)
        assert "under the stairs" in "".join(texts(answer))
        assert _in_the_open(house) == []


async def test_a_private_question_that_fails_is_told_privately(place: DiscordPlace) -> None:
    place.says(*[ProviderOverloaded("The model provider is overloaded: try again in a minute.")] * 8)
    async with place.open() as house:
        result = await _ask(house)
        await until(lambda: "overloaded" in told(result))
        assert _in_the_open(house) == []


async def test_who_takes_no_direct_messages_is_never_answered_in_the_open(place: DiscordPlace) -> None:
    async with place.open() as house:
        place.provider.held = {1}
        result = await _ask(house)
        await until(lambda: "I have looked" in told(result))
        await house.env.advance_time(OVER)
        dm = house.ada.user.dm_channel.id
        house.env.inject_error("POST", f"/channels/{dm}/messages", status=403, code=50007, times=None)
        place.provider.go.set()
        await until(lambda: not place.worker.running and place.provider.requests[1:])
        assert house.env.backend.messages.get(dm, {}) == {}
        assert _in_the_open(house) == []


async def test_a_private_answers_buttons_are_its_readers_alone(place: DiscordPlace) -> None:
    async with place.open() as house:
        result = await _ask(house)
        await until(lambda: "[[1]](" in told(result))
        [conversation] = await place.conversations.list_conversations("local")
        _, messages = await place.conversations.show(conversation.id, "local")
        await house.ask("where is the key, in the open?")
        stolen = f"fn:passages:{messages[-1].id}"
        row = [{"type": 1, "components": [{"type": 2, "style": 2, "label": "Look", "custom_id": stolen}]}]
        house.env.backend.edit_message(house.thread.id, house.posts()[0].id, {"components": row})
        await house.env.settle()
        assert "private to another person" in told(await house.ben.click(house.posts()[0], label="Look"))


async def test_a_suggestion_below_a_private_answer_is_answered_privately(place: DiscordPlace) -> None:
    async with place.open() as house:
        result = await _ask(house)
        await until(lambda: "⋯" in buttons(result.response.message))
        answer = result.response.message
        [suggestion] = [one for one in await house.offers(house.ada, answer) if one.startswith("Ask: Are gardens")]
        asked = await house.choose(house.ada, answer, suggestion)
        await until(lambda: "under the stairs" in told(asked))
        assert asked.ephemeral
        assert _in_the_open(house) == []


async def test_a_refused_private_question_is_told_privately(place: DiscordPlace) -> None:
    async with place.open() as house:
        address = ChannelAddress(platform="discord", workspace="local", channel=str(house.channel.id))
        await place.settings.save_channel(address, ChannelSettings(questions_per_minute=1))
        await _ask(house)
        assert "You can ask again at" in told(await _ask(house, "and why?"))
        assert _in_the_open(house) == []


async def test_in_a_direct_channel_private_is_what_it_is_anyway(place: DiscordPlace) -> None:
    async with place.open() as house:
        result = await house.ada.user.slash("ask", question="where is the key?", private=True)
        await house.answered(house.ada.user.dm_channel)
        assert "asks: where is the key?" in texts(result.response.message)  # no “thinking” that never ends


async def _ask(house: House, text: str = "where is the key?"):
    result = await house.ada.slash(house.channel, "ask", question=text, private=True)
    assert result.ephemeral
    return result


def _in_the_open(house: House) -> list[object]:
    """All that others see of it: posts in the channel, and threads."""
    return [*house.posts(house.channel), *house.channel.threads]
