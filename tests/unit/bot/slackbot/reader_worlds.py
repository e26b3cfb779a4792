"""Slack without a network, in random worlds, and by brute force who reads what in them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.slackbot.events.audiences import SlackAudiences
from bot.slackbot.events.teams import Team as OurTeam
from bot.slackbot.events.teams import Teams
from core.domain.incoming import ThreadAddress
from core.domain.readers import EVERYONE, MEMBERS, Audience
from tests.fakes import ManualClock
from tests.slack_server.calls import Call, Params
from tests.slack_server.refusals import Refusal
from tests.slack_server.socket_mode import SocketMode
from tests.slack_server.state import Channel, Kind, Team, User
from tests.slack_server.triggers import Triggers
from tests.slack_server.web_api import WebApi
from tests.slack_server.world import World

OURS = "local"  # the workspace of the team, if nothing else is said


class Slack:
    """The test server's world and methods, without a network."""

    def __init__(self) -> None:
        self.world = World()
        self.clock = ManualClock()
        self.calls: list[str] = []
        self.refusals: dict[str, Refusal] = {}  # by method
        self.meanwhile: Mapping[str, Any] | None = None  # an event that comes while each call is answered
        self.api = WebApi(self.world, SocketMode(self.world), Triggers(self.world.clock, 3.0))
        self.team = self.create_team("acme")
        self.audiences = self.process()

    def create_team(self, name: str) -> Team:
        team = self.world.create_team(name)
        self.world.install(team)
        return team

    def process(self, **workspaces: str) -> SlackAudiences:
        """Another process; teams read `OURS` unless their name has another workspace."""
        teams = Teams(self._ours(team, workspaces.get(team.name, OURS)) for team in self.world.teams.values())
        return SlackAudiences(teams, self.clock)

    def person(self, *channels: Channel, team: Team | None = None, **fields: Any) -> User:
        home = team or self.team
        user = self.world.create_user(home, f"u{len(home.users)}")
        for name, value in fields.items():
            setattr(user, name, value)
        for channel in channels:
            channel.members.append(user.id)
        return user

    def channel(self, kind: Kind = Kind.PUBLIC, *people: User, team: Team | None = None) -> Channel:
        home = team or self.team
        return self.world.create_channel(home, "", kind, [home.bot.id, *(one.id for one in people)])

    async def of(self, channel: Channel, *named: str) -> Audience:
        return await self.audiences.of_place(address(channel), frozenset(named))

    async def hear(self, event: Mapping[str, Any]) -> None:
        async def nothing() -> None:
            """The listener."""

        await self.audiences.hear({"event": event}, nothing)

    def answer(self, method: str, token: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self.calls.append(method)
        try:
            if method in self.refusals:
                raise self.refusals[method]
            return self.api.answer(Call(method=method, params=Params(params), token=token, at=0.0))
        except Refusal as refused:
            raise SlackApiError("", refused.to_json()) from refused

    def _ours(self, team: Team, workspace: str) -> OurTeam:
        assert team.install is not None
        return OurTeam(
            id=team.id,
            name=team.name,
            workspace=workspace,
            bot_user_id=team.bot.id,
            bot_id="B",
            client=_Client(self, team.install.token),
            token=team.install.token,
        )


class _Client(AsyncWebClient):
    def __init__(self, slack: Slack, token: str) -> None:
        super().__init__(token=token)
        self._slack, self._token = slack, token

    async def api_call(self, api_method: str, **given: Any) -> Any:  # type: ignore[override]
        if self._slack.meanwhile is not None:
            await self._slack.hear(self._slack.meanwhile)
        return self._slack.answer(api_method, self._token, given.get("params") or given.get("json") or {})


def address(channel: Channel, workspace: str = OURS) -> ThreadAddress:
    return ThreadAddress(platform="slack", workspace=workspace, channel=channel.id, thread="1.0")


KINDS = (Kind.PUBLIC, Kind.PUBLIC, Kind.PRIVATE, Kind.GROUP)
ROLES: Sequence[Mapping[str, Any]] = (
    {},
    {},
    {"is_restricted": True},
    {"is_ultra_restricted": True},
    {"team_id": "T0OTHER"},
    {"deleted": True},
    {"bot_id": "B0OTHER"},
)


@dataclass(frozen=True)
class Plan:
    """A world: everything is chosen by numbers, so that small ones shrink well."""

    people: Sequence[int]  # the role of each
    channels: Sequence[tuple[int, frozenset[int], bool]]  # kind, members, whether another company shares it
    groups: Sequence[frozenset[int]]


MANY = st.frozensets(st.integers(0, 5))
PLANS = st.builds(
    Plan,
    people=st.lists(st.integers(0, len(ROLES) - 1), min_size=1, max_size=6),
    channels=st.lists(st.tuples(st.integers(0, len(KINDS) - 1), MANY, st.booleans()), min_size=1, max_size=4),
    groups=st.lists(MANY, max_size=2),
)


class Built:
    """The world of a plan, and by brute force who reads what."""

    def __init__(self, plan: Plan) -> None:
        self.slack = Slack()
        self.people = [self.slack.person(**ROLES[role]) for role in plan.people]
        self.channels = [self._channel(*each) for each in plan.channels]
        for number, members in enumerate(plan.groups):
            self.slack.team.groups[f"S{number}"] = [one.id for one in self._those(members)]

    def _channel(self, kind: int, members: frozenset[int], is_external: bool) -> Channel:
        channel = self.slack.channel(KINDS[kind], *self._those(members))
        channel.is_external = is_external and KINDS[kind] is not Kind.GROUP
        return channel

    def _those(self, numbers: frozenset[int]) -> list[User]:
        return [self.people[number] for number in sorted(numbers) if number < len(self.people)]

    @property
    def words(self) -> list[str]:
        named = [f"person:{one.id}" for one in self.people] + [f"channel:{one.id}" for one in self.channels]
        return [EVERYONE, MEMBERS, *named, *(f"group:{group}" for group in self.slack.team.groups)]

    def readers_of(self, channel: Channel) -> Iterator[frozenset[str]]:
        """The words of each person who reads a channel, or may any time without a word to the bot."""
        for one in self.people:
            if one.deleted or one.bot_id is not None:
                continue
            if one.id in channel.members or (channel.kind is Kind.PUBLIC and is_full(one)):
                yield self.words_of(one)
        if channel.kind is Kind.PUBLIC:  # who joins the team tomorrow
            yield frozenset({EVERYONE, MEMBERS, *(f"channel:{c.id}" for c in self.channels if c.kind is Kind.PUBLIC)})
        if channel.is_external:  # whom the other company adds
            yield frozenset({EVERYONE, f"channel:{channel.id}"})

    def words_of(self, person: User) -> frozenset[str]:
        found = {EVERYONE, f"person:{person.id}"} | ({MEMBERS} if is_full(person) else set())
        found |= {f"group:{group}" for group, members in self.slack.team.groups.items() if person.id in members}
        for channel in self.channels:
            if person.id in channel.members or (channel.kind is Kind.PUBLIC and is_full(person)):
                found.add(f"channel:{channel.id}")
        return frozenset(found)


def is_full(person: User) -> bool:
    return not (person.is_restricted or person.is_ultra_restricted or person.team_id)
