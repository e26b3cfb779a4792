"""Who can read Slack's places: compared with a model over random worlds, and what is looked up for it."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slackbot.events.audiences import KEPT_SECONDS, MOST_ASKED
from core.domain.readers import EVERYONE, MEMBERS, Audience
from core.errors import PlatformError
from tests.slack_server.refusals import Refusal
from tests.slack_server.state import Kind
from tests.unit.bot.slackbot.reader_worlds import OURS, PLANS, Built, Plan, Slack, address


@given(plan=PLANS, data=st.data())
async def test_a_place_may_read_what_each_of_its_people_may_and_nothing_else(plan: Plan, data: st.DataObject) -> None:
    built = Built(plan)
    named = data.draw(st.frozensets(st.sampled_from(built.words)))
    for channel in built.channels:
        audience = await built.slack.audiences.of_place(address(channel), named)
        readers = list(built.readers_of(channel))
        for part in audience.parts:
            assert any(part <= reader for reader in readers), "a part of people who don't read there"
        for some in (named, *(frozenset({word}) for word in named)):
            assert audience.may_read(some) == (bool(readers) and all(some & reader for reader in readers))


@given(plan=PLANS, data=st.data())
async def test_a_person_is_what_they_are_in_our_team_and_a_stranger_is_nobody(plan: Plan, data: st.DataObject) -> None:
    built = Built(plan)
    named = data.draw(st.frozensets(st.sampled_from(built.words)))
    for one in built.people:
        direct = built.slack.world.direct(built.slack.team, built.slack.team.bot.id, one.id)
        is_ours = not (one.deleted or one.bot_id or one.team_id)
        expected = Audience.of(built.words_of(one) & (named | {EVERYONE, MEMBERS, *public(built, named)}))
        found = await built.slack.audiences.of_person(OURS, one.id, named)
        assert found == (expected if is_ours else Audience())
        assert await built.slack.audiences.of_place(address(direct), named) == found


def public(built: Built, named: frozenset[str]) -> frozenset[str]:
    return named & {f"channel:{one.id}" for one in built.channels}


# ---------------------------------------------------------------- several teams, and what is looked up


async def test_only_the_teams_of_the_workspace_count() -> None:
    slack = Slack()
    bravo = slack.create_team("bravo")
    hers, theirs = slack.channel(), slack.channel(team=bravo)
    ada = slack.person(hers)
    audiences = slack.process(bravo="elsewhere")

    assert await audiences.of_place(address(theirs), frozenset()) == Audience()
    assert await audiences.of_place(address(theirs, "elsewhere"), frozenset()) != Audience()
    assert await audiences.of_person("elsewhere", ada.id, frozenset()) == Audience()
    assert await slack.process().of_person(OURS, ada.id, frozenset()) == Audience.of({EVERYONE, MEMBERS})


async def test_an_organisations_token_opens_no_channel_of_another_team() -> None:
    slack = Slack()
    first, second = (slack.world.create_team(name) for name in ("north", "south"))
    slack.world.install_organisation("globe", [first, second])
    there = slack.channel(team=second)
    word = f"channel:{there.id}"
    ada = slack.person(team=first)
    audiences = slack.process(acme="elsewhere", south="southern")

    assert await audiences.of_place(address(there), frozenset({word})) == Audience()
    assert await audiences.of_person(OURS, ada.id, frozenset({word})) == Audience.of({EVERYONE, MEMBERS})
    south = await audiences.of_place(address(there, "southern"), frozenset({word}))
    assert south == Audience.of({EVERYONE, MEMBERS, word})


async def test_a_channel_that_is_gone_or_hidden_has_no_readers() -> None:
    slack = Slack()
    hidden = slack.world.create_channel(slack.team, "", Kind.PRIVATE, [slack.person().id])

    assert await slack.of(hidden) == Audience()


@pytest.mark.parametrize("count", [MOST_ASKED, MOST_ASKED + 100])
async def test_people_of_a_large_channel_are_listed_and_not_asked_for_one_by_one(count: int) -> None:
    slack = Slack()
    channel = slack.channel(Kind.PUBLIC, *(slack.person() for _ in range(count - 2)), slack.person(is_restricted=True))

    word = f"channel:{channel.id}"
    assert await slack.of(channel) == Audience.of({EVERYONE, MEMBERS, word}, {EVERYONE, word})
    assert slack.calls.count("users.info") <= MOST_ASKED
    assert slack.calls.count("users.list") == (count > MOST_ASKED)


async def test_people_whom_slack_does_not_list_are_no_members() -> None:
    slack = Slack()
    strangers = [slack.person(team_id="T0OTHER") for _ in range(MOST_ASKED + 5)]
    channel = slack.channel(Kind.PRIVATE, *strangers)

    assert await slack.of(channel) == Audience.of({EVERYONE, f"channel:{channel.id}"})
    assert slack.calls.count("users.info") == MOST_ASKED


async def test_long_lists_are_read_to_their_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.slackbot.events.audiences.PAGE", 2)
    slack = Slack()
    channel = slack.channel(Kind.PUBLIC, *(slack.person() for _ in range(40)), slack.person(is_restricted=True))

    assert not (await slack.of(channel)).may_read(frozenset({MEMBERS}))
    assert slack.calls.count("conversations.members") == slack.calls.count("users.list") == 21


async def test_nothing_is_looked_up_twice_within_a_minute_and_everything_after_it() -> None:
    slack = Slack()
    channel = slack.channel(Kind.PRIVATE, slack.person(), slack.person())
    slack.team.groups["S1"] = []
    first = [await slack.of(channel, "group:S1") for _ in range(2)]
    asked = len(slack.calls)
    slack.clock.advance(KEPT_SECONDS - 1)
    await slack.of(channel, "group:S1")

    assert first[0] == first[1] and len(slack.calls) == asked == 5  # the channel, its members, both, the group
    slack.clock.advance(1)
    await slack.of(channel, "group:S1")
    assert len(slack.calls) == 2 * asked


@pytest.mark.parametrize(
    "tell",
    [
        lambda channel, person: {"type": "member_joined_channel", "channel": channel, "user": "U1"},
        lambda channel, person: {"type": "channel_shared", "channel": channel},
        lambda channel, person: {"type": "channel_id_changed", "old_channel_id": channel, "new_channel_id": "C1"},
        lambda channel, person: {"type": "user_change", "user": {"id": person}},
        lambda channel, person: {"type": "subteam_members_changed", "subteam_id": "S1"},
        lambda channel, person: {"type": "subteam_updated", "subteam": {"id": "S1"}},
    ],
)
async def test_an_event_drops_what_it_is_about(tell: Callable[[str, str], Mapping[str, Any]]) -> None:
    slack = Slack()
    slack.team.groups["S1"] = []
    person = slack.person()
    channel = slack.channel(Kind.PRIVATE, person)
    await slack.of(channel, "group:S1")
    asked = len(slack.calls)
    await slack.hear(tell(channel.id, person.id))
    await slack.of(channel, "group:S1")

    assert asked < len(slack.calls) < 2 * asked


async def test_what_was_asked_before_an_event_is_not_kept_after_it() -> None:
    slack = Slack()
    channel = slack.channel(Kind.PRIVATE, slack.person())
    slack.meanwhile = {"type": "member_left_channel", "channel": channel.id}
    await slack.of(channel)
    slack.meanwhile = None
    await slack.of(channel)

    assert slack.calls.count("conversations.members") == 2


# ---------------------------------------------------------------- failures


@pytest.mark.parametrize(
    ("method", "scope"),
    [
        ("conversations.info", "groups:read"),
        ("conversations.members", "groups:read"),
        ("users.info", "users:read"),
        ("usergroups.users.list", "usergroups:read"),
    ],
)
async def test_a_missing_scope_is_named(method: str, scope: str) -> None:
    slack = Slack()
    channel = slack.channel(Kind.PRIVATE, slack.person())
    slack.refusals[method] = Refusal("missing_scope", needed=scope)

    with pytest.raises(PlatformError) as raised:
        await slack.of(channel, "group:S1")
    assert str(raised.value) == f"The app lacks the scope {scope}; `footnote doctor` says how to add it"


@pytest.mark.parametrize("method", ["conversations.info", "conversations.members", "users.info"])
async def test_without_an_answer_nobody_is_taken_for_a_reader(method: str) -> None:
    slack = Slack()
    channel = slack.channel(Kind.PRIVATE, slack.person())
    slack.refusals[method] = Refusal("internal_error")

    with pytest.raises(PlatformError, match=r"^Slack did not answer$"):
        await slack.of(channel)
    slack.refusals.clear()
    assert (await slack.of(channel)).parts


async def test_a_group_that_is_not_there_has_nobody_in_it() -> None:
    slack = Slack()
    channel = slack.channel(Kind.PRIVATE, slack.person())

    assert await slack.of(channel, "group:S9") == Audience.of({EVERYONE, MEMBERS, f"channel:{channel.id}"})
