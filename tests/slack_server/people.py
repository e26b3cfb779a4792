"""Humans: what they do is checked against what Slack's client lets them do, then reaches the bot."""

import mimetypes
from collections.abc import Mapping, Sequence
from typing import Any

from tests.slack_server import installing
from tests.slack_server.choosing import acted, chosen, found_in, values_of
from tests.slack_server.interactions import Interactions, Outcome
from tests.slack_server.shown import rich_text, typed, user_json
from tests.slack_server.state import CANVAS, Channel, File, Kind, Message, Team, User, View
from tests.slack_server.web_api import WebApi
from tests.slack_server.world import World

JSON = dict[str, Any]
Files = Sequence[tuple[str, bytes]]  # name and content


class Person:
    """One user of one team. Places are channels; a `thread` is any message of it, or its root's `ts`."""

    def __init__(self, world: World, interactions: Interactions, api: WebApi, team: Team, user: User) -> None:
        self._world = world
        self._interactions = interactions
        self._api = api
        self._chosen: dict[str, JSON] = {}  # state of what was chosen, by message or view
        self.team = team
        self.user = user
        self.id = user.id
        self.name = user.name
        self.mention_text = f"<@{user.id}>"

    @property
    def dm(self) -> Channel:
        """With the bot."""
        return self._world.direct(self.team, self.id, self.team.bot.id)

    @property
    def modal(self) -> View | None:
        """The one on top."""
        shown = [one for one in self.team.views.values() if one.user == self.id and one.open]
        return next((one for one in reversed(shown) if one.payload["type"] == "modal"), None)

    @property
    def home(self) -> View | None:
        return self.team.homes.get(self.id)

    def sees(self, place: Channel) -> list[Message]:
        """Oldest first, with the messages that only they see."""
        return place.seen_by(self.id) if place.kind is Kind.PUBLIC or self.id in place.members else []

    def refuse_messages(self) -> None:
        """From now on the bot cannot write to them."""
        self.user.takes_messages = False

    def become_admin(self) -> None:
        """Of the team."""
        self.user.is_admin = True

    # ------------------------------------------------------------------ messages

    async def say(
        self, place: Channel, text: str = "", files: Files = (), *, thread: Message | str | None = None
    ) -> Message:
        """What is typed: & < > are escaped as Slack does it, `<@U1>` is a mention."""
        self._check_writes(place)
        root = thread.root if isinstance(thread, Message) else thread
        stored, escaped = [self._store(name, data) for name, data in files], typed(text)
        if stored:
            return self._world.share(place, self.user, stored, escaped, root)
        return self._world.post(place, self.user, escaped, blocks=rich_text(escaped), thread_ts=root)

    async def mention(
        self, place: Channel, text: str, files: Files = (), *, thread: Message | str | None = None
    ) -> Message:
        """Says it to the bot."""
        return await self.say(place, f"<@{self.team.bot.id}> {text}", files, thread=thread)

    async def reply(self, message: Message, text: str, files: Files = ()) -> Message:
        """In the message's thread."""
        return await self.say(message.channel, text, files, thread=message)

    async def share(self, place: Channel, name: str, data: bytes, text: str = "") -> Message:
        return await self.say(place, text, [(name, data)])

    async def share_canvas(self, place: Channel, title: str, html: str, text: str = "") -> Message:
        """A canvas; `html` is what is in it."""
        self._check_writes(place)
        content = f'<div class="quip-canvas-content">{html}</div>'.encode()
        canvas = self._world.store_file(self.team, self.id, title, content, CANVAS, complete=True)
        return self._world.share(place, self.user, [canvas], typed(text), None)

    async def share_stub(self, place: Channel, name: str, data: bytes, text: str = "") -> Message:
        """A file of another company, in a shared channel: the event holds its id alone."""
        self._check_writes(place)
        file = self._store(name, data)
        file.is_stub = True
        return self._world.share(place, self.user, [file], typed(text), None)

    async def edit(self, message: Message, text: str) -> None:
        assert message.user == self.id, "people edit their own messages"
        self._world.edit(message, typed(text), rich_text(typed(text)))

    async def delete(self, message: Message) -> None:
        assert message.user == self.id, "people delete their own messages"
        self._world.remove(message)

    async def react(self, message: Message, name: str) -> None:
        self._check_sees(message)
        self._world.react(message, self.id, name, added=True)

    async def unreact(self, message: Message, name: str) -> None:
        self._world.react(message, self.id, name, added=False)

    # ------------------------------------------------------------------ interactions

    async def slash(self, place: Channel, text: str, command: str = "/footnote") -> Outcome:
        """Not offered in threads."""
        self._check_writes(place)
        return await self._interactions.command(place, self.user, command, text)

    async def click(self, where: Message | View, label: str | None = None, *, action_id: str | None = None) -> Outcome:
        """A button, by what it says or by its action id; also a thumb of feedback buttons."""
        self._check_sees(where)
        element = found_in(where, label, action_id, {"button", "feedback_buttons", "icon_button"})
        return await self._act(where, acted(element, label))

    async def choose(self, where: Message | View, *wanted: str, action_id: str | None = None) -> Outcome:
        """Options of a menu, by value or by what they say; of the first menu where no action id is given."""
        self._check_sees(where)
        element = found_in(where, None, action_id, None)
        action = chosen(element, wanted)
        state = self._chosen.setdefault(_key(where), {})
        kept = {name: value for name, value in action.items() if name.startswith("selected") or name == "type"}
        state.setdefault(element["block_id"], {})[element.get("action_id", "")] = kept
        return await self._act(where, action)

    async def type_into(self, where: View, text: str, *, press_enter: bool = True) -> Outcome | None:
        """Text into the first field of a view, with Enter where the field tells of it."""
        self._check_sees(where)
        element = found_in(where, None, None, {"plain_text_input"})
        typed = {"type": element["type"], "value": text or None}
        self._chosen.setdefault(_key(where), {})[element["block_id"]] = {element["action_id"]: typed}
        told = (element.get("dispatch_action_config") or {}).get("trigger_actions_on") or ["on_enter_pressed"]
        if not press_enter or "on_enter_pressed" not in told:
            return None
        return await self._act(where, {"action_id": element["action_id"], "block_id": element["block_id"], **typed})

    async def suggest(self, where: Message | View, text: str, *, action_id: str | None = None) -> list[JSON]:
        """The options that the bot offers for what was typed so far."""
        element = found_in(where, None, action_id, {"external_select", "multi_external_select"})
        outcome = await self._interactions.suggest(self.user, element, text, where)
        return list((outcome.payload or {}).get("options") or [])

    async def shortcut(self, message: Message | None, callback_id: str) -> Outcome:
        """Of a message, from its menu; with None the one of the whole workspace."""
        if message is None:
            return await self._interactions.global_shortcut(self.user, callback_id)
        self._check_sees(message)
        return await self._interactions.message_shortcut(self.user, message, callback_id)

    async def submit(self, view: View, values: Mapping[str, Any]) -> Outcome:
        """Fills in a modal and sends it: values by action id, lists for what takes several; of files, name and data."""
        assert view.open, "this modal is closed"
        assert view.payload.get("submit"), "this modal has nothing to submit"
        return await self._interactions.submit(self.user, view, values_of(view, values, self._choose_file))

    async def close(self, view: View) -> Outcome | None:
        return await self._interactions.close(self.user, view)

    async def open_home(self, tab: str = "home") -> None:
        """The app's home: its tab, or its "messages"."""
        home = self.team.homes.get(self.id)
        shown = {} if home is None or tab != "home" else {"view": {"id": home.id, "hash": home.hash, **home.payload}}
        self._world.tell(self.team, "app_home_opened", self.dm, user=self.id, channel=self.dm.id, tab=tab, **shown)

    async def open_pane(self, beside: Channel | None = None) -> str:
        """The assistant pane, with a new thread; gives the thread's `ts`."""
        thread = self._world.begin_pane(self.dm)
        self._tell_of_pane("assistant_thread_started", thread, beside)
        return thread

    async def look_at(self, thread: str, beside: Channel) -> None:
        """Another channel, while the pane stays open."""
        self._tell_of_pane("assistant_thread_context_changed", thread, beside)

    # ------------------------------------------------------------------ channels and the app

    async def invite(self, place: Channel, user: str | None = None) -> None:
        """Somebody, or the bot."""
        self._world.join(place, user or self.team.bot.id, self.id)

    async def remove(self, place: Channel, user: str | None = None) -> None:
        self._world.leave(place, user or self.team.bot.id)

    async def archive(self, place: Channel) -> None:
        self._world.set_archived(place, self.id, True)

    async def unarchive(self, place: Channel) -> None:
        self._world.set_archived(place, self.id, False)

    async def rename(self, place: Channel, name: str) -> None:
        self._world.rename(place, name)

    async def delete_channel(self, place: Channel) -> None:
        self._world.delete_channel(place)

    async def share_channel(self, place: Channel) -> None:
        """With another company, which took the invitation."""
        place.is_external = True
        self._world.tell(self.team, "channel_shared", place, channel=place.id, connected_team_id="T0OTHER")

    async def change(self, person: "Person", **changes: bool) -> None:
        """As an administrator: make somebody a guest (`is_restricted`), deactivate them (`deleted`), and so on."""
        for name, value in changes.items():
            setattr(person.user, name, value)
        self._world.tell(self.team, "user_change", user=user_json(person.user, self.team))

    async def set_group(self, group: str, *people: "Person") -> None:
        """The members of a user group, from now on."""
        before, now = self.team.groups.get(group, []), [one.id for one in people]
        self.team.groups[group] = now
        added, removed = [one for one in now if one not in before], [one for one in before if one not in now]
        told = {"subteam_id": group, "team_id": self.team.id, "added_users": added, "removed_users": removed}
        self._world.tell(self.team, "subteam_members_changed", **told)

    async def uninstall(self) -> None:
        """The app is gone from the team: its token is no longer good."""
        install = self.team.install
        assert install is not None, "the app is not installed"
        install.refusal = "account_inactive"
        revoked = {"oauth": [], "bot": [install.bot.id]}
        self._world.tell(self.team, "tokens_revoked", tokens=revoked)
        self._world.tell(self.team, "app_uninstalled")

    async def install(self, address: str, *, consent: bool = True) -> installing.Visit:
        """In a browser: the bot's own page, Slack's question, and back to the bot."""
        return await installing.install(self._api, self.team, self.id, address, consent=consent)

    # ------------------------------------------------------------------ what lies beneath

    async def _act(self, where: Message | View, action: JSON) -> Outcome:
        state = self._chosen.get(_key(where), {})
        if isinstance(where, Message):
            return await self._interactions.act(self.user, action, state, message=where)
        return await self._interactions.act(self.user, action, state, view=where)

    def _tell_of_pane(self, kind: str, thread: str, beside: Channel | None) -> None:
        context = {} if beside is None else {"channel_id": beside.id, "team_id": self.team.id, "enterprise_id": None}
        told = {"user_id": self.id, "context": context, "channel_id": self.dm.id, "thread_ts": thread}
        self._world.tell(self.team, kind, self.dm, assistant_thread=told)

    def _choose_file(self, name: str, data: bytes) -> JSON:
        """Uploads a file in a modal, for the app alone."""
        file = self._store(name, data)
        file.for_app = True
        return self._world.file_json(file)

    def _store(self, name: str, data: bytes) -> File:
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return self._world.store_file(self.team, self.id, name, data, kind, complete=True)

    def _check_writes(self, place: Channel) -> None:
        assert self.id in place.members, f"{self.name} is no member of {place.name!r}"
        assert not place.archived, f"{place.name!r} is archived: nobody writes there"

    def _check_sees(self, where: Message | View) -> None:
        if isinstance(where, View):
            assert where.user == self.id and where.open, f"{self.name} has no such view open"
        else:
            assert where in self.sees(where.channel), f"{self.name} does not see this message"


def _key(where: Message | View) -> str:
    return where.ts if isinstance(where, Message) else where.id
