"""What the bot is told when somebody clicks, chooses, submits or commands, and what becomes of its reply."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.slack_server.calls import Params
from tests.slack_server.delivery import Delivery, Parcel
from tests.slack_server.limits import check_view
from tests.slack_server.methods.views import replace, shown_view
from tests.slack_server.refusals import Refusal
from tests.slack_server.shown import channel_json
from tests.slack_server.state import Channel, Message, Team, User, View
from tests.slack_server.triggers import ResponseUrl, Trigger, Triggers
from tests.slack_server.web_api import WebApi
from tests.slack_server.world import World

JSON = dict[str, Any]

FAILED = "operation_timeout"


@dataclass(kw_only=True, eq=False, slots=True)
class Outcome:
    """What a person saw of an interaction."""

    parcel: Parcel
    trigger: Trigger
    refusal: str | None = None  # why Slack did not take what the bot acknowledged with
    errors: dict[str, str] = field(default_factory=dict)  # at the fields of a modal

    @property
    def acknowledged(self) -> bool:
        return self.parcel.acknowledged

    @property
    def after_seconds(self) -> float | None:
        return self.parcel.after_seconds

    @property
    def payload(self) -> Any:
        """What the acknowledgement held."""
        return self.parcel.reply

    @property
    def modal(self) -> View | None:
        """What the bot opened; it may do so after the acknowledgement."""
        return self.trigger.opened

    @property
    def error(self) -> str | None:
        """What Slack tells the person when the bot is silent, or replies with what it may not."""
        return self.refusal if self.acknowledged else FAILED


class Interactions:
    def __init__(self, world: World, delivery: Delivery, triggers: Triggers, api: WebApi) -> None:
        self._world = world
        self._delivery = delivery
        self._triggers = triggers
        self._api = api

    async def command(self, channel: Channel, user: User, command: str, text: str) -> Outcome:
        trigger, response = self._trigger(user, None), self._response(channel, user, None)
        payload = {
            "token": "verification-token",
            "team_id": channel.team.id,
            "team_domain": channel.team.name,
            "channel_id": channel.id,
            "channel_name": channel.name if not channel.direct else "directmessage",
            "user_id": user.id,
            "user_name": user.name,
            "command": command,
            "text": text,
            "api_app_id": self._world.app.id,
            "is_enterprise_install": "false",
            "response_url": self._response_address(response),
            "trigger_id": trigger.id,
        }
        outcome = Outcome(parcel=await self._delivery.ask("slash_commands", payload), trigger=trigger)
        if isinstance(outcome.payload, dict) and (outcome.payload.get("text") or outcome.payload.get("blocks")):
            self._take(outcome, lambda: self._api.respond(response.id, Params(outcome.payload)))
        return outcome

    async def act(
        self, user: User, action: JSON, state: JSON, *, message: Message | None = None, view: View | None = None
    ) -> Outcome:
        """An action in a message, a modal or the home tab."""
        trigger = self._trigger(user, view if view is not None and view.payload.get("type") == "modal" else None)
        team = message.channel.team if message is not None else self._team_of(user)
        payload = self._base("block_actions", team, user, trigger)
        payload["actions"] = [{**action, "action_ts": self._world.clock.stamp()}]
        if message is not None:
            payload |= self._about(message, user, with_message=message.only_to is None)
            payload["state"] = {"values": state}
        else:
            assert view is not None
            container = {"type": "view", "view_id": view.id}
            payload |= {"container": container, "view": self._shown(view, team, state)}
        return Outcome(parcel=await self._delivery.ask("interactive", payload), trigger=trigger)

    async def suggest(self, user: User, element: JSON, typed: str, place: Message | View) -> Outcome:
        """What an external select offers for what was typed so far."""
        team, trigger = self._team_of(user), self._trigger(user, None)
        payload = self._base("block_suggestion", team, user, trigger)
        payload |= {"action_id": element.get("action_id"), "block_id": element.get("block_id"), "value": typed}
        if isinstance(place, View):
            payload |= {"container": {"type": "view", "view_id": place.id}, "view": self._shown(place, team, {})}
        else:
            payload |= self._about(place, user, with_message=True)
        return Outcome(parcel=await self._delivery.ask("interactive", payload), trigger=trigger)

    async def message_shortcut(self, user: User, message: Message, callback_id: str) -> Outcome:
        trigger = self._trigger(user, None)
        payload = self._base("message_action", message.channel.team, user, trigger)
        payload |= self._about(message, user, with_message=True)
        payload |= {"callback_id": callback_id, "message_ts": message.ts, "action_ts": self._world.clock.stamp()}
        payload.pop("container")
        return Outcome(parcel=await self._delivery.ask("interactive", payload), trigger=trigger)

    async def global_shortcut(self, user: User, callback_id: str) -> Outcome:
        trigger = self._trigger(user, None)
        payload = self._base("shortcut", self._team_of(user), user, trigger)
        payload |= {"callback_id": callback_id, "action_ts": self._world.clock.stamp()}
        return Outcome(parcel=await self._delivery.ask("interactive", payload), trigger=trigger)

    async def submit(self, user: User, view: View, values: JSON) -> Outcome:
        """The modal closes, unless the bot says otherwise or nothing."""
        team, trigger = self._team_of(user), self._trigger(user, view)
        payload = self._base("view_submission", team, user, trigger)
        payload |= {"view": self._shown(view, team, values), "response_urls": []}
        outcome = Outcome(parcel=await self._delivery.ask("interactive", payload), trigger=trigger)
        if outcome.acknowledged:
            self._take(outcome, lambda: self._after_submission(outcome, view))
        return outcome

    async def close(self, user: User, view: View) -> Outcome | None:
        """None: the bot did not ask to be told."""
        view.open = False
        if not view.payload.get("notify_on_close"):
            return None
        team, trigger = self._team_of(user), self._trigger(user, None)
        payload = self._base("view_closed", team, user, trigger)
        payload |= {"view": self._shown(view, team, {}), "is_cleared": False}
        return Outcome(parcel=await self._delivery.ask("interactive", payload), trigger=trigger)

    # ------------------------------------------------------------------ replies

    def _take(self, outcome: Outcome, carry_out: Any) -> None:
        try:
            carry_out()
        except Refusal as refusal:
            outcome.refusal = refusal.error
        self._world.changed()

    def _after_submission(self, outcome: Outcome, view: View) -> None:
        said: Mapping[str, Any] = outcome.payload if isinstance(outcome.payload, dict) else {}
        action = said.get("response_action")
        if action == "errors":
            outcome.errors = dict(said["errors"])
        elif action == "update":
            replace(view, check_view(said["view"]), self._world.clock.stamp())
        elif action == "push":
            outcome.trigger.opened = pushed = View(
                id=self._world.new_id("V"),
                user=view.user,
                payload=check_view(said["view"]),
                hash=self._world.clock.stamp(),
                below=view,
            )
            self._team_of(self._user(view)).views[pushed.id] = pushed
        elif action in (None, "clear"):
            shut: View | None = view
            while shut is not None:
                shut.open, shut = False, shut.below if action == "clear" else None
        else:
            raise Refusal("invalid_response_action")

    # ------------------------------------------------------------------ payloads

    def _base(self, kind: str, team: Team, user: User, trigger: Trigger) -> JSON:
        return {
            "type": kind,
            "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": team.id},
            "api_app_id": self._world.app.id,
            "token": "verification-token",
            "trigger_id": trigger.id,
            "team": {"id": team.id, "domain": team.name},
            "enterprise": None,
            "is_enterprise_install": False,
        }

    def _about(self, message: Message, user: User, *, with_message: bool) -> JSON:
        channel = message.channel
        where = {"message_ts": message.ts, "channel_id": channel.id, "is_ephemeral": message.only_to is not None}
        if message.in_thread:
            where["thread_ts"] = str(message.thread_ts)
        response = self._response(channel, user, message)
        about: JSON = {
            "container": {"type": "message", **where},
            "channel": {"id": channel.id, "name": channel_json(channel, user.id).get("name", "directmessage")},
            "response_url": self._response_address(response),
        }
        return about | ({"message": self._world.json(message)} if with_message else {})

    def _shown(self, view: View, team: Team, values: JSON) -> JSON:
        bot = team.bot.bot_id or ""
        return shown_view(view, team.id, self._world.app.id, bot) | {"state": {"values": values}}

    def _trigger(self, user: User, over: View | None) -> Trigger:
        return self._triggers.new(self._world.new_id("trigger"), user, over)

    def _response(self, channel: Channel, user: User, message: Message | None) -> ResponseUrl:
        thread = message.thread_ts if message is not None and message.in_thread else None
        response = ResponseUrl(
            id=self._world.new_id("R"),
            user=user,
            channel=channel,
            at=self._world.clock.now(),
            message=message,
            thread_ts=thread,
        )
        self._triggers.new_response(response)
        return response

    def _response_address(self, response: ResponseUrl) -> str:
        return f"{self._world.address}/respond/{response.id}"

    def _team_of(self, user: User) -> Team:
        return next(team for team in self._world.teams.values() if user.id in team.users)

    def _user(self, view: View) -> User:
        return next(team.users[view.user] for team in self._world.teams.values() if view.user in team.users)
