"""The parts of the running service, for the settings page and the end of set-up."""

from urllib.parse import urlsplit

from bot.config.providers import DEFAULT, EXTRACTIVE
from bot.discordbot.events.translate import PLATFORM as DISCORD
from bot.service.platforms import Platforms
from bot.slackbot.events.teams import PLATFORM as SLACK
from bot.web.pages.settings import Overview, PlatformState, TeamState
from bot.wiring.parts import Parts
from core.access.bindings import own_workspace


async def describe_service(app: Parts, platforms: Platforms, *, can_set_up: bool) -> Overview:
    """Return the platforms, the model, the sources under way and who may open the pages, as they are now."""
    sources = await app.syncs.overview(app.workspace)
    return Overview(
        platforms=(_discord(app, platforms), _slack(platforms)),
        model=_model(app),
        reading=sum(one.spec is not None and one.spec.enabled and one.state is None for one in sources),
        public_url=app.config.web.public_url or "",
        is_open=app.config.web.open_to_network,
        can_set_up=can_set_up,
        signs_in_at=urlsplit(app.config.web.oidc.issuer).netloc,
    )


def _discord(app: Parts, platforms: Platforms) -> PlatformState:
    opened = platforms.discord
    servers = (opened.names() if opened else None) or {}
    user = opened.client.user if opened else None
    return PlatformState(
        name="Discord",
        is_on=opened is not None,
        is_connected=opened is not None and opened.names() is not None,
        trouble=platforms.supervision.states.get(DISCORD, ""),
        bots=[user.name] if user else [],
        teams=[_team(DISCORD, id, name, app.bindings.workspace_of(DISCORD, id)) for id, name in servers.items()],
    )


def _slack(platforms: Platforms) -> PlatformState:
    opened = platforms.slack
    teams = opened.teams.all() if opened else []
    return PlatformState(
        name=SLACK.capitalize(),
        is_on=opened is not None,
        is_connected=bool(teams),
        trouble=platforms.supervision.states.get(SLACK, ""),
        bots=[*dict.fromkeys(team.bot_name for team in teams if team.bot_name)],
        teams=[_team(SLACK, team.id, team.name, team.workspace) for team in teams],
    )


def _team(platform: str, id: str, name: str, workspace: str) -> TeamState:
    return TeamState(name=name, workspace="" if workspace == own_workspace(platform, id) else workspace)


def _model(app: Parts) -> str:
    """Return the model that answers in the service's workspace; "" for quotes."""
    own = app.config.workspaces.get(app.workspace)
    settings = app.config.all_providers()[(own.provider if own else None) or DEFAULT]
    return "" if settings.what == EXTRACTIVE else (own.model if own else None) or settings.model
