"""The Web API: whose token it is, whether it may, and then the method itself; and posts to a response_url."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from tests.slack_server import limits
from tests.slack_server.calls import Call, Params
from tests.slack_server.methods import METHODS
from tests.slack_server.methods.asked import Asked
from tests.slack_server.refusals import Refusal
from tests.slack_server.socket_mode import SocketMode
from tests.slack_server.state import Install, Message, Team
from tests.slack_server.triggers import ResponseUrl, Triggers
from tests.slack_server.world import World

JSON = dict[str, Any]

CODE_SECONDS = 600.0


@dataclass(kw_only=True, slots=True)
class Consent:
    """Somebody agreed to install the app: the code is good once, for ten minutes."""

    team: Team
    user: str
    scopes: set[str]
    redirect_uri: str | None
    at: float
    used: bool = False


class WebApi:
    """Raises Refusal for what Slack would refuse; `gaps` names methods that are not modelled."""

    def __init__(self, world: World, socket: SocketMode, triggers: Triggers) -> None:
        self._world = world
        self._socket = socket
        self._triggers = triggers
        self._consents: dict[str, Consent] = {}
        self.gaps: list[str] = []

    def answer(self, call: Call) -> JSON:
        if call.method == "apps.connections.open":
            return {"ok": True, **self._open_connection(call)}
        if call.method == "oauth.v2.access":
            return {"ok": True, **self._exchange(call)}
        method = METHODS.get(call.method)
        if method is None:
            self.gaps.append(call.method)
            raise Refusal("unknown_method", req_method=call.method)
        install = self._authorised(call)
        if method.scopes and not install.scopes & set(method.scopes):
            raise Refusal("missing_scope", needed=method.scopes[0], provided=",".join(sorted(install.scopes)))
        asked = Asked(
            world=self._world, socket=self._socket, triggers=self._triggers, install=install, params=call.params
        )
        return {"ok": True, **method.run(asked)}

    def respond(self, wanted: str, params: Params) -> str:
        """A post to a response_url, five within half an hour; gives the channel's id."""
        response = self._triggers.take_response(wanted)
        shown = response.message
        if params.flag("delete_original") and shown is not None:
            self._world.remove(shown)
            return response.channel.id
        blocks = limits.check_blocks(params.listed("blocks"))
        text = limits.posted_text(params.maybe("text"))
        if not text and not blocks:
            raise Refusal("no_text")
        if params.flag("replace_original") and shown is not None:
            shown.edits += 1
            self._world.edit(shown, text, blocks)
            return response.channel.id
        return self._post_response(response, params, text, blocks).channel.id

    def consent(self, team: Team, user: str, query: dict[str, str]) -> str:
        """The address that the browser is sent back to."""
        if query.get("client_id") != self._world.app.client_id:
            raise Refusal("invalid_client_id")
        code = self._world.new_id("code")
        scopes = {one for one in query.get("scope", "").split(",") if one}
        redirect = query.get("redirect_uri")
        self._consents[code] = Consent(
            team=team, user=user, scopes=scopes, redirect_uri=redirect, at=self._world.clock.now()
        )
        return urlencode({"code": code, "state": query.get("state", "")})

    # ------------------------------------------------------------------ tokens

    def _authorised(self, call: Call) -> Install:
        if not call.token:
            raise Refusal("not_authed")
        install = self._world.install_of(call.token)
        if install is None:
            raise Refusal("not_allowed_token_type" if call.token == self._world.app.token else "invalid_auth")
        if install.refusal is not None:
            raise Refusal(install.refusal)
        return self._in_team(install, call.params) if install.team.organisation else install

    def _in_team(self, install: Install, params: Params) -> Install:
        """An organisation's token acts in the team of the channel or the person that a call names."""
        for one in self._world.installs_of(install.token):
            people = set(one.team.users) - {one.bot.id}
            named = {params.maybe(name) for name in ("channel", "channel_id", "user", "users", "user_id", "team_id")}
            if named & (set(one.team.channels) | people | {one.team.id}):
                return one
        return install

    def _open_connection(self, call: Call) -> JSON:
        if call.token != self._world.app.token:
            known = self._world.install_of(call.token)
            raise Refusal("not_allowed_token_type" if known else "invalid_auth")
        if self._socket.refused:
            raise Refusal("internal_error")
        return {"url": self._socket.new_address()}

    def _exchange(self, call: Call) -> JSON:
        name, secret = call.basic or (call.params.get("client_id"), call.params.get("client_secret"))
        app = self._world.app
        if name != app.client_id:
            raise Refusal("invalid_client_id")
        if secret != app.client_secret:
            raise Refusal("bad_client_secret")
        consent = self._consents.get(call.params.text("code"))
        if consent is None or self._world.clock.now() - consent.at > CODE_SECONDS:
            raise Refusal("invalid_code")
        if consent.used:
            raise Refusal("code_already_used")
        if consent.redirect_uri != call.params.maybe("redirect_uri"):
            raise Refusal("bad_redirect_uri")
        consent.used = True
        install = self._world.install(consent.team)
        install.scopes = consent.scopes
        return {
            "app_id": app.id,
            "authed_user": {"id": consent.user},
            "scope": ",".join(sorted(consent.scopes)),
            "token_type": "bot",
            "access_token": install.token,
            "bot_user_id": install.bot.id,
            "team": {"id": consent.team.id, "name": consent.team.name},
            "enterprise": None,
            "is_enterprise_install": False,
        }

    def _post_response(self, response: ResponseUrl, params: Params, text: str, blocks: list[JSON]) -> Message:
        open_to_all = params.get("response_type") == "in_channel"
        bot = response.channel.team.bot
        return self._world.post(
            response.channel,
            bot,
            text,
            blocks=blocks,
            thread_ts=params.maybe("thread_ts") or response.thread_ts,
            only_to=None if open_to_all else response.user.id,
        )
