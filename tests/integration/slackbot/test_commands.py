"""Commands: every row of core's table, by slash command and by mention, for the one who gives it, at once."""

import asyncio
from functools import partial

import pytest

from core.domain.extracts import ExtractType
from core.domain.incoming import ChannelAddress, ThreadAddress
from core.domain.service import ChannelSettings, Listening
from core.errors import StorageError
from core.work.commands import CommandCall, CommandResult
from tests.integration.slackbot.house import House, buttons, shown_of
from tests.integration.slackbot.place import KEY, SlackPlace
from tests.slack_server import Channel, Message, Person

TRANSPORTS = pytest.mark.parametrize("over_http", [False, True], ids=["socket", "http"])


def whispers(house: House, person: Person, place: Channel | None = None) -> list[Message]:
    """What this person alone sees in a channel, oldest first."""
    return [one for one in house.server.answers(place or house.channel) if one.only_to == person.id]


@TRANSPORTS
async def test_every_command_of_the_table_is_a_slash_command(place: SlackPlace, over_http: bool) -> None:
    place.over_http = over_http
    async with place.open() as house:
        for name, command in place.listeners.handler.parts.commands.table.items():
            before = house.server.answers(house.channel)
            outcome = await house.ada.slash(house.channel, name)
            assert (outcome.acknowledged, outcome.error) == (True, None)
            if any(option.required for option in command.options):
                assert (await house.modal(outcome)).payload["callback_id"] == f"fn:form:{name}"
            else:
                await house.until(partial(_new, house, before), f"what /{name} tells")
        assert all(said for said in map(shown_of, whispers(house, house.ada)))
        assert whispers(house, house.ben) == house.posts() == []


@TRANSPORTS
async def test_every_command_of_the_table_can_be_typed_in_a_thread(place: SlackPlace, over_http: bool) -> None:
    place.over_http = over_http
    async with place.open() as house:
        answer = await house.ask()
        table = place.listeners.handler.parts.commands.table
        for name in sorted(table, key=("delete", "forget").count):  # which end the conversation
            before = house.server.answers(house.channel)
            said = await house.ada.mention(house.channel, name, thread=answer)
            await house.until(partial(_new, house, before), f"what {name} tells")
            assert all(one.root == said.root for one in _new(house, before))
        assert "Something went wrong" not in house.server.transcript(house.channel)
        assert (await place.codes()).count("command") == len(table)
        assert await place.conversations.list_conversations("local") == []


async def test_extracted_rows_are_told_with_footnotes_that_are_linked(place: SlackPlace) -> None:
    document = await place.shelf.add("council.md", "Ann buys paint.", title="Council")
    item = {"description": "buy paint", "owner": "Ann", "page_number": 1, "span": [0, 15]}
    await place.shelf.extract(document, ExtractType.MEETING, {"title": "Council", "action_items": [item]})
    async with place.open() as house:
        await house.ada.slash(house.channel, "facts open action items of Ann")
        told = await house.told_once(house.ada, "buy paint")
        assert "“Ann buys paint.”" in shown_of(told)
        assert str(told.blocks).count("[[1]](https://") == 2  # where the row stands, and beside its quote
        assert house.posts() == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "`/footnote ask QUESTION"),
        ("help", "`/footnote search WORDS`: search pages"),
        ("help read", "`/footnote sources`: list the sources readable here"),
        ("/help channel", "`@footnote mute`"),
        ("HELP me please", "`/footnote ask QUESTION"),
        ("sources", "1 document"),
        ("search key", "under the stairs"),
        ("page house.md 1", KEY),
        ("threads", "No conversations yet"),
        ("new", "mention me in a channel"),
        ("why", "haven't received a message from you here"),
        ("stop", "You don't have a question in progress here"),
        ("jobs", "/footnote jobs needs a conversation. Ask a question first, or /footnote open one."),
        ("source 1", "needs a conversation"),
        ("keep", "needs a conversation"),
        ("mute", "@footnote mute only works in threads"),
        ("settings", "answer_posts"),
        ("settings limit 5", "Only an admin can change"),
        ("position", "no reading positions are set"),
        ("position house.md 1", "From now on you will see nothing of “House” beyond page 1 (Keys)."),
        ("open 7", "No conversation '7' is visible from here. Use /footnote threads to list them."),
        ("stopp", "Unknown command /stopp. Did you mean /footnote stop?"),
        ("ask a &amp; b --document nowhere", "There is no document 'nowhere'"),
    ],
)
async def test_what_a_command_tells_is_for_who_gave_it_alone(place: SlackPlace, text: str, words: str) -> None:
    async with place.open() as house:
        assert (await house.ada.slash(house.channel, text)).error is None
        await house.told_once(house.ada, words)
        assert whispers(house, house.ben) == house.posts() == []


async def test_help_has_a_menu_of_tasks(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ada.slash(house.channel, "help")
        shown = await house.told_once(house.ada, "Ask me what the documents say")
        await place.restart()
        await house.ada.choose(shown, "Books without spoilers")
        listed = await house.told(house.ada, "/footnote position")
        assert "Books without spoilers" in shown_of(listed)
        assert house.posts() == []


async def test_words_of_documents_stay_as_they_are(place: SlackPlace) -> None:
    await place.shelf.add("bot.md", "# Robots\n\nWrite /stop to halt the robot.", title="Robots")
    async with place.open() as house:
        for text in ("search robot", "page bot.md 1"):
            await house.ada.slash(house.channel, text)
        await house.until(lambda: len(whispers(house, house.ada)) == 2)
        assert all("Write /stop to halt" in shown_of(one) for one in whispers(house, house.ada))


async def test_a_command_with_nothing_to_ask_for_tells_its_sentence_where_slack_takes_no_reply(
    place: SlackPlace,
) -> None:
    async with place.open() as house:
        house.server.fail_next("response_url", status=500)
        await house.ada.slash(house.channel, "sources")
        await house.told_once(house.ada, "1 document")
        assert len(house.server.calls("chat.postEphemeral")) == 1


async def test_a_command_is_acknowledged_in_time_however_long_it_takes(
    place: SlackPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place.open() as house:
        going_on = asyncio.Event()
        _hold(place, monkeypatch, going_on)
        outcome = await house.ada.slash(house.channel, "sources")
        assert outcome.acknowledged and outcome.after_seconds is not None and outcome.after_seconds < 3
        assert whispers(house, house.ada) == []
        going_on.set()
        await house.told_once(house.ada, "1 document")


async def test_a_fault_is_one_sentence_and_the_next_command_works(
    place: SlackPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(call: CommandCall) -> CommandResult:
        raise RuntimeError("a fault")

    async with place.open() as house:
        monkeypatch.setattr(place.listeners.handler.parts.commands, "run", broken)
        await house.ada.slash(house.channel, "sources")
        said = await house.told_once(house.ada, "Something went wrong in Footnote")
        assert "a fault" not in shown_of(said)
        monkeypatch.undo()
        await house.ada.slash(house.channel, "sources")
        assert "handbook" in shown_of(await house.told_once(house.ada, "1 document"))


@TRANSPORTS
async def test_a_question_by_command_is_shown_and_answered_in_a_thread_on_it(
    place: SlackPlace, over_http: bool
) -> None:
    place.over_http = over_http
    async with place.open() as house:
        await house.ada.slash(house.channel, "ask where is the key?")
        [answer] = await house.answered()
        said, *_ = house.posts()
        assert "ada asks: where is the key?" in shown_of(said).replace("\n", "")
        assert answer.root == said.ts
        [conversation] = await place.conversations.list_conversations("local")
        assert (conversation.owner, conversation.address.thread) == (house.ada.id, said.ts)


async def test_a_question_with_options_is_typed_in_a_thread(place: SlackPlace) -> None:
    await place.shelf.add("garden.md", "# Garden\n\nThe key of the shed is lost.", title="Garden")
    async with place.open() as house:
        answer = await house.ask()
        await house.ada.mention(house.channel, "ask where is the key --document garden.md", thread=answer)
        await house.answered(count=2)
        newest, *_ = [one for one in await place.entries.recent("local") if one.decision.accepted]
        assert (newest.incoming.document, newest.incoming.address.thread) == ("garden.md", answer.root)


async def test_a_private_question_is_answered_to_its_asker_alone(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ada.slash(house.channel, "ask where is the key --private")
        await house.told(house.ada, "under the stairs")
        assert house.posts() == whispers(house, house.ben) == []


async def test_a_summary_is_asked_for_in_the_open(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ada.slash(house.channel, "summary house.md")
        await house.shows("Summarise “House”.")
        await house.until(lambda: place.provider.requests)
        [entry] = await place.entries.recent("local")
        assert entry.incoming.query_type == "summary"


async def test_what_is_refused_does_not_stay_in_the_channel(place: SlackPlace) -> None:
    async with place.open() as house:
        await place.settings.save_channel(_address(house.channel), ChannelSettings(questions_per_minute=1))
        await house.ada.slash(house.channel, "ask where is the key?")
        await house.answered()
        await house.ada.slash(house.channel, "ask and the shed?")
        await house.told_once(house.ada, "You can ask again at")
        assert len([one for one in house.posts() if not one.in_thread]) == 1


async def test_what_can_not_be_stored_does_not_stay_in_the_channel(
    place: SlackPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> None:
        raise StorageError("The disk is full.")

    async with place.open() as house:
        monkeypatch.setattr(place.entries, "accept", full)
        await house.ada.slash(house.channel, "ask where is the key?")
        await house.told_once(house.ada, "I couldn't save this message")
        assert house.posts() == []


async def test_control_commands_do_not_wait_behind_the_running_question(place: SlackPlace) -> None:
    async with place.open() as house:
        place.provider.held = {1}
        asked = await house.ada.mention(house.channel, "where is the key?")
        await house.shows("I have looked")
        for typed, words in (("why", "I'm working on it"), ("jobs", "running"), ("Stop!", "Stopping")):
            await house.ada.mention(house.channel, typed, thread=asked)
            await house.told_once(house.ada, words)
        await house.until(lambda: any("topped" in shown_of(one) for one in house.posts()))
        assert len(place.provider.requests) == 2  # the one that was held never came to its answer
        assert not any(KEY[:-1] in shown_of(one) for one in house.posts())


async def test_a_command_by_mention_that_lacks_something_offers_its_form(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        await house.ada.mention(house.channel, "search", thread=answer)
        offered = await house.told(house.ada, "Add “words” after @footnote search")
        assert buttons(offered) == {"Fill in the form": "fn:form:search"}
        view = await house.modal(await house.ada.click(offered, "Fill in the form"))
        await house.ada.submit(view, {"words": "key"})
        assert (await house.told(house.ada, "under the stairs")).root == answer.root


async def test_a_footnotes_passage_comes_with_its_link(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        await house.ben.mention(house.channel, "source 1", thread=answer)
        shown = await house.told_once(house.ben, KEY)
        [button] = [one for one in shown.blocks[-1]["elements"] if one["type"] == "button"]
        assert button["url"] == "https://footnote.example.org/s/1"
        assert (await house.ben.click(shown, "Open the source")).acknowledged


async def test_what_everybody_should_know_is_said_in_the_thread(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        await house.ben.mention(house.channel, "listen", thread=answer)
        said = await house.shows("Listening. Questions in this thread no longer need a mention. Use @footnote unmute")
        assert said.root == answer.root
        address = ThreadAddress(platform="slack", workspace="local", channel=house.channel.id, thread=answer.root)
        assert await place.settings.listening(address) is Listening.LISTENING


async def test_where_the_bot_may_not_post_who_did_something_is_told_alone(place: SlackPlace) -> None:
    async with place.open() as house:
        closed = house.server.create_channel(house.team, "closed", house.ada, with_bot=False)
        house.ada.user.is_admin = True
        await house.ada.slash(closed, "settings language German")
        await house.told(house.ada, "Set for this channel: language is German.", closed)
        assert house.posts(closed) == []
        assert (await place.settings.channel(_address(closed))).language == "German"


async def test_a_short_pause_that_slack_asks_for_is_waited_out(place: SlackPlace) -> None:
    async with place.open() as house:
        busy = house.server.fail_next("chat.postMessage", status=429, times=2, retry_after_seconds=1)
        await house.ada.slash(house.channel, "ask where is the key?")
        await house.answered()
        assert busy.met == 2
        assert house.server.transcript(house.channel).count("asks: where is the key?") == 1


async def test_settings_are_for_those_who_manage_the_workspace(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ben.slash(house.channel, "settings language German")
        await house.told_once(house.ben, "Only an admin can change")
        house.ada.user.is_admin = True
        await house.ada.slash(house.channel, "settings language German")
        await house.shows("language is German")
        await house.ask()
        assert "German" in str(place.provider.requests[0].system)


async def test_why_tells_of_a_message_that_was_left_alone(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ada.say(house.channel, "where is the key?")
        await house.server.settle()
        await house.ada.slash(house.channel, "why")
        said = await house.told_once(house.ada, "didn't mention me")
        assert said.only_to == house.ada.id
        assert house.posts() == []


async def test_a_question_with_a_commands_name_in_it_is_answered(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ask("help me find the key")
        await house.ask("why is the key under the stairs?")
        assert await place.codes() == ["accepted", "accepted"]


async def test_in_direct_messages_commands_need_no_mention(place: SlackPlace) -> None:
    async with place.open() as house:
        said = await house.ada.say(house.ada.dm, "sources")
        told = await house.told(house.ada, "1 document", house.ada.dm)
        assert told.root == said.ts


async def test_a_slash_command_typed_where_slack_has_none_is_understood(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        await house.ada.mention(house.channel, "/footnote jobs", thread=answer)
        assert (await house.told(house.ada, "search")).root == answer.root
        await house.ada.mention(house.channel, "/footnote where is it", thread=answer)
        assert (await house.told(house.ada, "To ask a question, use `@footnote ask QUESTION`.")).root == answer.root
        assert len(place.provider.requests) == 2  # no question was made of it


def _new(house: House, before: list[Message]) -> list[Message]:
    """What the bot has said in the channel since, to whomever; a count misses it where `delete` takes posts back."""
    known = {one.ts for one in before}
    return [one for one in house.server.answers(house.channel) if one.ts not in known]


def _hold(place: SlackPlace, monkeypatch: pytest.MonkeyPatch, going_on: asyncio.Event) -> None:
    """Every command waits."""
    commands = place.listeners.handler.parts.commands
    run = commands.run

    async def slowly(call: CommandCall) -> CommandResult:
        await going_on.wait()
        return await run(call)

    monkeypatch.setattr(commands, "run", slowly)


def _address(channel: Channel) -> ChannelAddress:
    return ChannelAddress(platform="slack", workspace="local", channel=channel.id)


async def test_a_question_behind_the_command_is_asked(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ada.slash(house.channel, "Where is the key?")
        [answer] = await house.answered()
        assert "under the stairs" in shown_of(answer)


@pytest.mark.parametrize("where", ["two people", "no member"])
@pytest.mark.parametrize("text", ["ask where is the key?", "where is the key?"])
async def test_where_the_bot_is_no_member_the_answer_is_for_the_asker_alone(
    place: SlackPlace, where: str, text: str
) -> None:
    async with place.open() as house:
        if where == "two people":
            there = house.server.world.direct(house.team, house.ada.user.id, house.ben.user.id)
        else:
            there = house.server.create_channel(house.team, "elsewhere", house.ada, house.ben)
            there.members.remove(house.team.bot.id)
        await house.ada.slash(there, text)
        await house.until(lambda: house.whispered(house.ada, "under the stairs", there), "a private answer")
        assert house.whispered(house.ben, "stairs", there) == []
        assert house.posts(there) == []


async def test_a_command_between_two_people_tells_what_its_author_may_read(place: SlackPlace) -> None:
    async with place.open() as house:
        there = house.server.world.direct(house.team, house.ada.user.id, house.ben.user.id)
        await house.ada.slash(there, "search key")
        await house.told_once(house.ada, "under the stairs", there)
        await house.ada.slash(there, "sources")
        told = await house.told_once(house.ada, "1 document", there)
        assert told.only_to == house.ada.id
