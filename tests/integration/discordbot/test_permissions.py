"""What is forbidden is told by the permission's name, where it can be told; what fails for a moment is repeated."""

import asyncio

import discord
import pytest
from simcord.builders import ChannelHandle

from tests.integration.discordbot.house import House, texts, told, until
from tests.integration.discordbot.place import KEY, DiscordPlace


async def test_without_the_right_to_open_threads_the_answer_replies_to_the_question(place: DiscordPlace) -> None:
    async with place.open() as house:
        channel = _channel(house, create_public_threads=False)
        asked = await house.ada.send(channel, f"{house.bot} where is the key?")
        [answer] = await house.answered(channel)
        assert "under the stairs" in texts(answer)
        assert answer.reference is not None and answer.reference.message_id == asked.id
        assert channel.threads == []


@pytest.mark.parametrize("kind", ["voice", "no right"])
async def test_a_reply_to_an_answer_without_a_thread_continues_its_conversation(kind: str, place: DiscordPlace) -> None:
    async with place.open() as house:
        voice = kind == "voice"
        channel = house.guild.create_voice_channel("bridge") if voice else _channel(house, create_public_threads=False)
        asked = await house.ada.send(channel, f"{house.bot} where is the key?")
        [answer] = await house.answered(channel)
        for count in (2, 3):
            following = await house.ada.send(channel, "where is the key, again?", reply_to=answer)
            answer = (await house.answered(channel, count))[-1]
            assert answer.reference is not None and answer.reference.message_id == following.id
        assert KEY in told(await house.ben.click(answer, label="Show sources"))
        assert "Searching for" in told(await house.choose(house.ben, answer, "How this was answered"))
        entries = await place.entries.recent("local")
        assert {entry.address.thread for entry in entries} == {str(asked.id)}
        assert [entry.decision.accepted for entry in entries] == [True] * 3


async def test_where_nothing_may_be_written_the_asker_is_told_directly(place: DiscordPlace) -> None:
    async with place.open() as house:
        channel = _channel(house, create_public_threads=False, send_messages=False)
        await house.ada.send(channel, f"{house.bot} where is the key?")
        await until(lambda: house.posts(house.ada.user.dm_channel))
        assert "“Send Messages”" in texts(house.posts(house.ada.user.dm_channel)[0])
        assert house.posts(channel) == []


async def test_a_refusal_that_may_not_be_written_is_told_directly(place: DiscordPlace) -> None:
    async with place.open() as house:
        channel = _channel(house, send_messages=False)
        await house.ada.send(channel, f"{house.bot} /ask where is the key?")
        await house.shows("choose /ask", house.ada.user.dm_channel)
        assert house.posts(channel) == []


async def test_without_posts_in_threads_the_permission_is_named(place: DiscordPlace) -> None:
    async with place.open() as house:
        channel = _channel(house, send_messages_in_threads=False)
        await house.ada.send(channel, f"{house.bot} where is the key?")
        assert await house.shows("“Send Messages in Threads”", channel)


async def test_a_thread_whose_talk_may_not_be_read_is_answered_and_says_so(place: DiscordPlace) -> None:
    async with place.open() as house:
        channel = _channel(house, read_message_history=False)
        house.env.backend.create_thread(channel.id, "Keys", house.ben.id)
        await house.env.settle()
        await house.ada.send(channel.threads[0], f"{house.bot} where is the key?")
        answer = await house.shows("“Read Message History”", channel.threads[0])
        assert "under the stairs" in texts(answer)


async def test_a_locked_thread_is_reported_to_the_asker(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        thread = f"/channels/{house.thread.id}/messages"
        house.env.inject_error("POST", thread, status=403, code=160005, times=None)
        await house.ada.send(house.thread, "And why?")
        await until(lambda: house.posts(house.ada.user.dm_channel))
        assert "This thread is locked" in texts(house.posts(house.ada.user.dm_channel)[0])


async def test_a_thread_archived_in_between_is_reopened_for_the_final_edit(place: DiscordPlace) -> None:
    place.pause = lambda seconds: asyncio.Event().wait()  # the draft is drawn no more
    async with place.open() as house:
        place.provider.held = {1}
        await house.ada.send(house.channel, f"{house.bot} where is the key?")
        draft = await house.drafts("I have looked")
        house.env.backend.edit_channel(house.thread.id, {}, thread_metadata={"archived": True})
        edits = f"/channels/{house.thread.id}/messages/{draft.id}"
        house.env.inject_error("PATCH", edits, status=400, code=50083)
        place.provider.go.set()
        [answer] = await house.answered()
        assert answer.id == draft.id
        assert house.env.backend.get_channel(house.thread.id).thread_metadata.archived is False


@pytest.mark.parametrize("path", ["/channels/*/messages/*/threads", "/channels/*/messages"])
@pytest.mark.parametrize(("status", "code"), [(500, 0), (503, 0), (429, 0)])
async def test_what_fails_for_a_moment_is_repeated(place: DiscordPlace, path: str, status: int, code: int) -> None:
    async with place.open() as house:
        house.env.inject_error("POST", path, status=status, code=code, times=2)
        await house.ask()
        assert len(house.posts()) == 1


async def test_an_edit_that_fails_while_it_is_written_loses_nothing(place: DiscordPlace) -> None:
    async with place.open() as house:
        place.provider.held = {1}
        house.env.inject_error("PATCH", "/channels/*/messages/*", status=500, times=1)
        await house.ada.send(house.channel, f"{house.bot} where is the key?")
        await until(lambda: not house.env.backend.faults or house.env.backend.faults[0]["times"] == 0)
        place.provider.go.set()
        assert len(await house.answered()) == 1


async def test_a_draft_that_somebody_deletes_comes_back_as_the_answer(place: DiscordPlace) -> None:
    async with place.open() as house:
        place.provider.held = {1}
        await house.ada.send(house.channel, f"{house.bot} where is the key?")
        draft = await house.drafts("I have looked")
        house.env.backend.delete_message(house.thread.id, draft.id)
        await house.env.settle()
        place.provider.go.set()
        [answer] = await house.answered()
        assert answer.id != draft.id


async def test_a_missing_typing_sign_is_no_failure(place: DiscordPlace) -> None:
    async with place.open() as house:
        house.env.inject_error("POST", "/channels/*/typing", status=403, code=50013, times=None)
        await house.ask()
        assert len(house.posts()) == 1


async def test_an_event_that_fails_does_not_end_the_client(
    place: DiscordPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(incoming: object) -> None:
        raise RuntimeError("a fault")

    place.may_fail = True
    async with place.open() as house:
        monkeypatch.setattr(place.client.parts.inbox, "receive", broken)
        await house.ada.send(house.channel, f"{house.bot} where is the key?")
        monkeypatch.undo()
        await house.ask()
        assert len(house.posts()) == 1


async def test_a_command_whose_export_can_not_be_sent_says_why(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        house.env.inject_error("POST", "/interactions/*/*/callback", status=403, code=50013)
        assert "“Send Messages”" in told(await house.ada.slash(house.thread, "export"))


def _channel(house: House, **denied: bool) -> ChannelHandle:
    """A channel in which the bot may not do everything."""
    overwrite = discord.PermissionOverwrite(**denied)
    return house.guild.create_text_channel("closed", overwrites={house.env.bot.user: overwrite})
