"""auth, team, users and reactions."""

from typing import Any

from tests.slack_server.methods.asked import Asked, Method, page
from tests.slack_server.refusals import Refusal
from tests.slack_server.shown import team_json, user_json

JSON = dict[str, Any]


def auth_test(asked: Asked) -> JSON:
    """An organisation's token is described as of the organisation."""
    organisation = asked.team.organisation
    place = organisation or asked.team
    return {
        "url": f"https://{place.name}.slack.com/",
        "team": place.name,
        "user": asked.bot.name,
        "team_id": place.id,
        "user_id": asked.bot.id,
        "bot_id": asked.bot.bot_id,
        **({"enterprise_id": organisation.id} if organisation else {}),
        "is_enterprise_install": organisation is not None,
    }


def auth_teams_list(asked: Asked) -> JSON:
    """The teams that the token is good in, id and name; no scope is needed."""
    if not 1 <= asked.params.number("limit", 100) <= 1000:
        raise Refusal("invalid_limit")
    teams = [one.team for one in asked.world.installs_of(asked.install.token)]
    shown, after = page(asked, [{"id": team.id, "name": team.name} for team in teams], 100)
    return {"teams": shown, "response_metadata": after["response_metadata"]}


def revoke(asked: Asked) -> JSON:
    asked.install.refusal = "token_revoked"
    return {"revoked": True}


def team_info(asked: Asked) -> JSON:
    return {"team": team_json(asked.team)}


def users_info(asked: Asked) -> JSON:
    return {"user": user_json(asked.user(), asked.team)}


def users_list(asked: Asked) -> JSON:
    """Without the people of other organisations."""
    own = [one for one in asked.team.users.values() if not one.team_id]
    shown, after = page(asked, [user_json(one, asked.team) for one in own], 200)
    return {"members": shown, **after}


def bots_info(asked: Asked) -> JSON:
    found = next((one for one in asked.team.users.values() if one.bot_id == asked.params.text("bot")), None)
    if found is None:
        raise Refusal("bot_not_found")
    return {"bot": {"id": found.bot_id, "name": found.name, "user_id": found.id, "deleted": found.deleted}}


def group_members(asked: Asked) -> JSON:
    members = asked.team.groups.get(asked.params.text("usergroup"))
    if members is None:
        raise Refusal("no_such_subteam")
    return {"users": members}


def react(asked: Asked) -> JSON:
    message, name = asked.message(asked.channel(write=True), "timestamp"), asked.params.text("name")
    if asked.bot.id in message.reactions.get(name, []):
        raise Refusal("already_reacted")
    asked.world.react(message, asked.bot.id, name, added=True)
    return {}


def unreact(asked: Asked) -> JSON:
    message, name = asked.message(asked.channel(write=True), "timestamp"), asked.params.text("name")
    if asked.bot.id not in message.reactions.get(name, []):
        raise Refusal("no_reaction")
    asked.world.react(message, asked.bot.id, name, added=False)
    return {}


def reactions(asked: Asked) -> JSON:
    channel = asked.channel()
    message = asked.message(channel, "timestamp")
    return {"type": "message", "channel": channel.id, "message": asked.world.json(message)}


METHODS = {
    "auth.test": Method(run=auth_test, tier=300),
    "auth.teams.list": Method(run=auth_teams_list, tier=20),
    "auth.revoke": Method(run=revoke, tier=50),
    "team.info": Method(run=team_info, scopes=("team:read",), tier=50),
    "users.info": Method(run=users_info, scopes=("users:read",), tier=100),
    "users.list": Method(run=users_list, scopes=("users:read",), tier=20),
    "bots.info": Method(run=bots_info, scopes=("users:read",), tier=50),
    "usergroups.users.list": Method(run=group_members, scopes=("usergroups:read",), tier=20),
    "reactions.add": Method(run=react, scopes=("reactions:write",), tier=50),
    "reactions.remove": Method(run=unreact, scopes=("reactions:write",), tier=20),
    "reactions.get": Method(run=reactions, scopes=("reactions:read",), tier=50),
}
