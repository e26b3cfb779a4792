"""A place shows a source only if everyone who can read the place may read it, at every question and every press."""

from functools import partial

import pytest

from bot.slackbot.events.translate import thread_address
from core.domain.incoming import ChannelAddress
from core.domain.service import ChannelSettings
from tests.integration.slackbot.house import House, shown_of
from tests.integration.slackbot.place import SlackPlace
from tests.slack_server import Channel, Person
from tests.slack_server.state import Kind

STAIRS = "under the stairs"
CLOSED = "Nothing may be read here yet: no documents are open to everyone who can read this place. Ask an admin."
FOR_ADMINS = (
    "Nothing may be read here yet: no documents are open to everyone who can read this place. Let more people read a "
    "source, on the machine that runs Footnote: footnote sources readers."
)
NO_ANSWER = "I could not find out who can read this place"


async def set_readers(place: SlackPlace, *readers: str) -> None:
    await place.shelf.corpus.set_readers(place.shelf.source.id, frozenset(readers))


def guest_in(house: House, channel: Channel) -> Person:
    guest = house.server.person("gus", channel)
    guest.user.is_restricted = True
    return guest


def group_message(house: House, *people: Person) -> Channel:
    ids = [house.team.bot.id, *(one.id for one in people)]
    return house.server.world.create_channel(house.team, "", Kind.GROUP, ids)


async def ask(house: House, channel: Channel, asker: Person | None = None) -> str:
    """What is said to a question there, by Ada if by nobody else."""
    before = len(house.server.answers(channel))
    await (asker or house.ada).mention(channel, "where is the key?")
    await house.until(
        lambda: any(is_said(house, channel, before, words) for words in (STAIRS, "may be read")), "answer"
    )
    return house.server.transcript(channel)


def is_said(house: House, channel: Channel, before: int, words: str) -> bool:
    return any(words in shown_of(one) for one in house.server.answers(channel)[before:])


# ---------------------------------------------------------------- places


async def test_members_read_what_is_for_members_in_each_of_their_places(place: SlackPlace) -> None:
    await set_readers(place, "members")
    async with place.open() as house:
        private = house.server.create_channel(house.team, "staff", house.ada, house.ben, private=True)
        for channel in (house.channel, private, group_message(house, house.ada, house.ben), house.ada.dm):
            assert STAIRS in await ask(house, channel)


async def test_where_a_guest_reads_along_only_what_is_for_them_is_shown(place: SlackPlace) -> None:
    await set_readers(place, "members")
    async with place.open() as house:
        guest = guest_in(house, house.channel)
        private = house.server.create_channel(house.team, "staff", house.ada, guest, private=True)
        for channel in (house.channel, private, group_message(house, house.ada, guest)):
            said = await ask(house, channel)
            assert CLOSED in said and STAIRS not in said
        assert CLOSED in await ask(house, guest.dm, guest)
        assert STAIRS in await ask(house, house.ada.dm)
        await house.ada.slash(house.channel, "ask where is the key? --private")
        await house.told(house.ada, STAIRS)


async def test_a_source_for_everyone_or_for_the_channel_is_shown_to_its_guests(place: SlackPlace) -> None:
    async with place.open() as house:
        guest_in(house, house.channel)
        for readers in ("everyone", f"channel:{house.channel.id}"):
            await set_readers(place, readers)
            assert STAIRS in await ask(house, house.channel)


async def test_deactivated_people_and_other_bots_do_not_read_along(place: SlackPlace) -> None:
    await set_readers(place, "members")
    async with place.open() as house:
        house.server.other_bot("herald", house.channel)
        gone = guest_in(house, house.channel)
        gone.user.deleted = True
        assert STAIRS in await ask(house, house.channel)


@pytest.mark.parametrize("is_pending", [False, True])
async def test_a_shared_channel_shows_only_what_is_for_whomever_the_other_company_adds(
    place: SlackPlace, is_pending: bool
) -> None:
    await set_readers(place, "members")
    async with place.open() as house:
        channel = house.server.create_channel(house.team, "with-bravo", house.ada)
        channel.is_external, channel.is_pending = not is_pending, is_pending
        chosen = ChannelSettings(sources=frozenset({place.shelf.source.name}))
        await place.settings.save_channel(
            ChannelAddress(platform="slack", workspace="local", channel=channel.id), chosen
        )
        assert CLOSED in await ask(house, channel)
        await set_readers(place, f"channel:{channel.id}")
        assert STAIRS in await ask(house, channel)


async def test_a_user_group_reads_where_only_its_members_do(place: SlackPlace) -> None:
    await set_readers(place, "group:S1")
    async with place.open() as house:
        house.team.groups["S1"] = [house.ada.id, house.ben.id]
        private = house.server.create_channel(house.team, "staff", house.ada, house.ben, private=True)
        assert STAIRS in await ask(house, private)
        assert STAIRS in await ask(house, house.ada.dm)
        assert CLOSED in await ask(house, house.channel)
        await house.ada.set_group("S1", house.ada)
        await house.server.settle()
        assert CLOSED in await ask(house, private)


# ---------------------------------------------------------------- what is said, to whom


async def test_an_admin_is_told_how_to_open_a_source(place: SlackPlace) -> None:
    await set_readers(place, "members")
    async with place.open() as house:
        guest_in(house, house.channel)
        house.ada.become_admin()
        assert FOR_ADMINS.replace("`", "") in (await ask(house, house.channel)).replace("`", "")
        assert place.provider.requests == []


async def test_a_missing_scope_is_named_to_admins_alone(place: SlackPlace) -> None:
    await set_readers(place, "members")
    async with place.open() as house:
        assert house.team.install is not None
        house.team.install.scopes.discard("groups:read")
        private = house.server.create_channel(house.team, "staff", house.ada, house.ben, private=True)
        said = await ask(house, private, house.ben)
        assert f"{NO_ANSWER}. Ask again in a minute." in said
        house.ada.become_admin()
        assert "The app lacks the scope groups:read; footnote doctor says how" in (await ask(house, private)).replace(
            "`", ""
        )
        assert STAIRS not in house.server.transcript(private)


@pytest.mark.parametrize("fault", ["internal_error", "ratelimited"])
async def test_while_slack_does_not_answer_nothing_is_shown_and_then_all(place: SlackPlace, fault: str) -> None:
    await set_readers(place, "members")
    async with place.open() as house:
        failing = house.server.fail_next("conversations.members", status=429, retry_after_seconds=30, times=9)
        if fault != "ratelimited":
            failing.status, failing.error = 0, fault
        assert NO_ANSWER in await ask(house, house.channel)
        failing.times = 0
        assert STAIRS in await ask(house, house.channel)


async def test_a_short_pause_that_slack_asks_for_is_kept(place: SlackPlace) -> None:
    await set_readers(place, "members")
    async with place.open() as house:
        house.server.fail_next("conversations.members", status=429, retry_after_seconds=1)
        assert STAIRS in await ask(house, house.channel)


# ---------------------------------------------------------------- changes of who reads


async def test_a_guest_who_joins_while_an_answer_is_written_does_not_get_it(place: SlackPlace) -> None:
    await set_readers(place, "members")
    place.provider.held = {1}
    async with place.open() as house:
        guest = house.server.person("gus", house.server.create_channel(house.team, "lobby"))
        guest.user.is_restricted = True
        await house.ada.mention(house.channel, "where is the key?")
        await house.until(lambda: place.provider.requests, "the model's turn")
        await house.ada.invite(house.channel, guest.id)
        await house.server.settle()
        place.provider.go.set()
        await house.until(lambda: is_said(house, house.channel, 0, "may be read"), "the reason")
        assert not is_said(house, house.channel, 0, STAIRS)


async def test_after_an_answer_a_guest_who_joins_opens_nothing_of_it(place: SlackPlace) -> None:
    await set_readers(place, "members")
    async with place.open() as house:
        answer = await house.ask()
        assert STAIRS in shown_of(await house.modal(await house.ben.click(answer, "Show sources"), "stairs"))
        guest = house.server.person("gus", house.server.create_channel(house.team, "lobby"))
        guest.user.is_restricted = True
        await house.ada.invite(house.channel, guest.id)
        await house.server.settle()
        for person in (guest, house.ada):
            shown = await person.click(answer, "Show sources")
            await house.server.settle()
            assert shown.modal is None or STAIRS not in shown_of(shown.modal)
        before = len(house.server.answers(house.channel))
        await guest.reply(answer, "and the other key?")
        await house.until(lambda: is_said(house, house.channel, before, "may be read"), "the reason")
        assert not is_said(house, house.channel, before, STAIRS)
        await guest.slash(house.channel, "sources")
        await house.told(guest, "")
        assert place.shelf.source.name not in "".join(map(shown_of, house.whispered(guest, "", house.channel)))


async def test_a_conversation_is_out_of_reach_for_its_starter_who_left_the_channel(place: SlackPlace) -> None:
    await set_readers(place, "members")
    async with place.open() as house:
        private = house.server.create_channel(house.team, "staff", house.ada, house.ben, private=True)
        assert STAIRS in await ask(house, private)
        [conversation] = await place.conversations.list_conversations("local")
        await house.ada.slash(house.channel, "threads")
        await house.told(house.ada, "where is the key?")
        await house.ben.remove(private, house.ada.id)
        await house.server.settle()
        await house.ada.slash(house.channel, "threads")
        await house.told(house.ada, "No conversations yet")
        for number, action in enumerate(("open", "export", "delete"), start=1):
            await house.ada.slash(house.channel, f"threads {action} {conversation.id}")
            refused = partial(house.whispered, house.ada, "is visible from here", house.channel)
            await house.until(lambda: len(refused()) == number, action)  # noqa: B023 - awaited at once
        assert [one for one in house.posts(house.ada.dm) if one.files] == []
        assert await place.conversations.list_conversations("local") == [conversation]


async def test_when_the_guest_leaves_it_is_shown_again(place: SlackPlace) -> None:
    await set_readers(place, "members")
    async with place.open() as house:
        guest = guest_in(house, house.channel)
        assert CLOSED in await ask(house, house.channel)
        await house.ada.remove(house.channel, guest.id)
        await house.server.settle()
        assert STAIRS in await ask(house, house.channel)


async def test_somebody_who_becomes_a_guest_counts_as_one_at_once(place: SlackPlace) -> None:
    await set_readers(place, "members")
    async with place.open() as house:
        assert STAIRS in await ask(house, house.ben.dm, house.ben)
        await house.ada.change(house.ben, is_restricted=True)
        await house.server.settle()
        assert CLOSED in await ask(house, house.ben.dm, house.ben)
        assert CLOSED in await ask(house, house.channel)


async def test_a_channel_that_becomes_shared_shows_no_more_of_an_answer(place: SlackPlace) -> None:
    await set_readers(place, "members")
    async with place.open() as house:
        answer = await house.ask()
        chosen = ChannelSettings(sources=frozenset({place.shelf.source.name}))
        await place.settings.save_channel(
            ChannelAddress(platform="slack", workspace="local", channel=house.channel.id), chosen
        )
        await house.ada.share_channel(house.channel)
        await house.server.settle()
        shown = await house.ben.click(answer, "Show sources")
        await house.server.settle()
        assert shown.modal is None or STAIRS not in shown_of(shown.modal)


async def test_a_guest_who_joins_before_the_answer_narrows_the_scope_at_once(place: SlackPlace) -> None:
    await set_readers(place, "members")
    place.provider.held = {0}
    async with place.open() as house:
        guest = guest_in(house, house.server.create_channel(house.team, "lobby"))
        asked = await house.ada.mention(house.channel, "where is the key?")
        await house.until(lambda: house.server.calls("chat.startStream"), "the draft")
        address = thread_address("local", house.channel.id, asked.root)
        assert (await place.shelf.access.scope("local", address)).sources
        await house.ada.invite(house.channel, guest.id)
        await house.server.settle()
        assert not (await place.shelf.access.scope("local", address)).sources
        place.provider.go.set()
        await house.server.settle()
