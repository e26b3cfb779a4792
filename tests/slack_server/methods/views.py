"""views.*: modals, opened by a trigger that lives three seconds, and the home tab."""

from typing import Any

from tests.slack_server.limits import check_view
from tests.slack_server.methods.asked import Asked, Method
from tests.slack_server.refusals import Refusal, invalid
from tests.slack_server.state import View

JSON = dict[str, Any]

DEEPEST = 3  # views on top of each other


def open_modal(asked: Asked) -> JSON:
    payload = _view(asked, "modal")
    trigger = asked.triggers.take(asked.params.text("trigger_id"))
    trigger.opened = _stored(asked, trigger.user.id, payload, None)
    return {"view": view_json(asked, trigger.opened)}


def push(asked: Asked) -> JSON:
    payload = _view(asked, "modal")
    trigger = asked.triggers.take(asked.params.text("trigger_id"))
    if trigger.over is None or not trigger.over.open:
        raise Refusal("not_found")
    if depth(trigger.over) >= DEEPEST:
        raise Refusal("push_limit_reached")
    trigger.opened = _stored(asked, trigger.user.id, payload, trigger.over)
    return {"view": view_json(asked, trigger.opened)}


def update(asked: Asked) -> JSON:
    payload = _view(asked, None)
    view = asked.team.views.get(asked.params.maybe("view_id") or "") or _by_external_id(asked)
    if view is None or not view.open:
        raise Refusal("not_found")
    told = asked.params.maybe("hash")
    if told is not None and told != view.hash:
        raise Refusal("hash_conflict")
    replace(view, payload, asked.world.clock.stamp())
    asked.world.changed()
    return {"view": view_json(asked, view)}


def publish(asked: Asked) -> JSON:
    payload = _view(asked, "home")
    user = asked.user("user_id")
    before, told = asked.team.homes.get(user.id), asked.params.maybe("hash")
    if before is not None and told is not None and told != before.hash:
        raise Refusal("hash_conflict")
    view = _stored(asked, user.id, payload, None)
    asked.team.homes[user.id] = view
    return {"view": view_json(asked, view)}


def replace(view: View, payload: JSON, stamp: str) -> None:
    view.payload, view.hash = payload, stamp


def depth(view: View) -> int:
    return 1 if view.below is None else 1 + depth(view.below)


def view_json(asked: Asked, view: View) -> JSON:
    return shown_view(view, asked.team.id, asked.world.app.id, asked.bot.bot_id or "")


def shown_view(view: View, team: str, app: str, bot: str) -> JSON:
    """As in replies and payloads, without what was filled in."""
    empty = {"state": {"values": {}}, "private_metadata": "", "callback_id": "", "external_id": ""}
    below = view.below.id if view.below else None
    ids = {"id": view.id, "team_id": team, "app_id": app, "bot_id": bot, "hash": view.hash}
    return {**empty, **view.payload, **ids, "root_view_id": view.root.id, "previous_view_id": below}


def _view(asked: Asked, kind: str | None) -> JSON:
    payload = asked.params.mapped("view")
    if payload is None:
        raise Refusal("invalid_arguments", messages=["[ERROR] missing required field: view"])
    checked = check_view(payload)
    if kind is not None and checked["type"] != kind:
        raise invalid("invalid_arguments", [f"must be a view of type {kind} [json-pointer:/view/type]"])
    return checked


def _stored(asked: Asked, user: str, payload: JSON, below: View | None) -> View:
    view = View(id=asked.world.new_id("V"), user=user, payload=payload, hash=asked.world.clock.stamp(), below=below)
    asked.team.views[view.id] = view
    asked.world.changed()
    return view


def _by_external_id(asked: Asked) -> View | None:
    wanted = asked.params.maybe("external_id")
    views = [one for one in asked.team.views.values() if wanted and one.payload.get("external_id") == wanted]
    return views[-1] if views else None


METHODS = {
    "views.open": Method(run=open_modal, tier=100),
    "views.push": Method(run=push, tier=100),
    "views.update": Method(run=update, tier=100),
    "views.publish": Method(run=publish, tier=100),
}
