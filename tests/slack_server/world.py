"""Changes to what Slack remembers, each with the events that it causes: by the bot's calls and by people alike."""

import itertools
import secrets
from collections.abc import Callable, Sequence
from typing import Any

from tests.slack_server.shown import channel_json, file_json, message_json
from tests.slack_server.state import (
    PANE,
    STREAM_SECONDS,
    App,
    Channel,
    Clock,
    File,
    Install,
    Kind,
    Message,
    Organisation,
    Stream,
    Team,
    User,
)
from tests.waiting import Waiting

JSON = dict[str, Any]


class World:
    """`hear` is told of every event, in order: the team, the event, and who may hear of it (None: the bot may).

    `mention_first`: whether an app_mention comes before the message event of the same text.
    """

    def __init__(self) -> None:
        self.app = App()
        self.clock = Clock()
        self.waiting = Waiting()
        self.address = ""  # once the server listens
        self.teams: dict[str, Team] = {}
        self.hear: Callable[[Team, JSON, Channel | None], None] = lambda *_: None
        self.mention_first = True
        self._numbers = itertools.count(1)

    def changed(self) -> None:
        self.waiting.changed()

    def new_id(self, letter: str) -> str:
        return f"{letter}{next(self._numbers):09X}"

    # ------------------------------------------------------------------ teams and people

    def create_team(self, name: str) -> Team:
        team = Team(id=self.new_id("T"), name=name)
        self.teams[team.id] = team
        return team

    def install(self, team: Team) -> Install:
        """The app in a team; again after an uninstall: the same bot user with a new token."""
        bot = team.install.bot if team.install else self.create_user(team, "footnote", bot=True)
        token = f"xoxb-{team.id}-{secrets.token_hex(4)}"
        team.install = Install(team=team, token=token, bot=bot, scopes=set(self.app.scopes))
        return team.install

    def install_organisation(self, name: str, teams: Sequence[Team]) -> Organisation:
        """The app in a whole organisation, which approves it for these teams."""
        organisation = Organisation(id=self.new_id("E"), name=name)
        bot, token = self.create_user(teams[0], "footnote", bot=True), f"xoxb-{organisation.id}-{secrets.token_hex(4)}"
        scopes = set(self.app.scopes)
        for team in teams:
            team.organisation, team.users[bot.id] = organisation, bot
            team.install = Install(team=team, token=token, bot=bot, scopes=scopes)
        return organisation

    def create_user(self, team: Team, name: str, *, bot: bool = False) -> User:
        user = User(id=self.new_id("U"), name=name, bot_id=self.new_id("B") if bot else None)
        team.users[user.id] = user
        return user

    def install_of(self, token: str | None) -> Install | None:
        return next(iter(self.installs_of(token)), None)

    def installs_of(self, token: str | None) -> list[Install]:
        """Several for an organisation's token: one for each team that the app is approved for."""
        return [team.install for team in self.teams.values() if team.install and team.install.token == token]

    # ------------------------------------------------------------------ channels

    def create_channel(self, team: Team, name: str, kind: Kind, members: Sequence[str]) -> Channel:
        letter = {Kind.DIRECT: "D", Kind.PUBLIC: "C", Kind.PRIVATE: "C", Kind.GROUP: "C"}[kind]
        channel = Channel(id=self.new_id(letter), name=name, kind=kind, team=team, members=list(members))
        team.channels[channel.id] = channel
        return channel

    def direct(self, team: Team, one: str, other: str) -> Channel:
        """The direct messages of two, opened at need."""
        both = {one, other}
        found = (c for c in team.channels.values() if c.kind is Kind.DIRECT and set(c.members) == both)
        return next(found, None) or self.create_channel(team, "", Kind.DIRECT, sorted(both))

    def join(self, channel: Channel, user: str, inviter: str | None = None) -> None:
        if user in channel.members:
            return
        channel.members.append(user)
        by = {} if inviter is None else {"inviter": inviter}
        self._emit(channel, "member_joined_channel", user=user, channel_type=channel.id[0], team=channel.team.id, **by)

    def leave(self, channel: Channel, user: str) -> None:
        """The bot that is removed hears of it by `channel_left` or `group_left`."""
        channel.members.remove(user)
        self._emit(channel, "member_left_channel", user=user, channel_type=channel.id[0], team=channel.team.id)
        if channel.team.install and user == channel.team.bot.id:
            left = "channel_left" if channel.kind is Kind.PUBLIC else "group_left"
            self.hear(channel.team, self._event(left, channel=channel.id), None)
        self.changed()

    def set_archived(self, channel: Channel, user: str, archived: bool) -> None:
        channel.archived = archived
        kind = "channel" if channel.kind is Kind.PUBLIC else "group"
        self._emit(channel, f"{kind}_{'archive' if archived else 'unarchive'}", user=user)

    def rename(self, channel: Channel, name: str) -> None:
        channel.name = name
        kind = "channel" if channel.kind is Kind.PUBLIC else "group"
        self._emit(channel, f"{kind}_rename", channel=channel_json(channel, ""))

    def delete_channel(self, channel: Channel) -> None:
        self._emit(channel, "channel_deleted" if channel.kind is Kind.PUBLIC else "group_deleted")
        del channel.team.channels[channel.id]

    # ------------------------------------------------------------------ messages

    def post(
        self,
        channel: Channel,
        user: User,
        text: str,
        *,
        blocks: list[JSON] | None = None,
        thread_ts: str | None = None,
        only_to: str | None = None,
        subtype: str | None = None,
        files: Sequence[File] = (),
        metadata: JSON | None = None,
        stream: Stream | None = None,
    ) -> Message:
        """A message now; one for a single reader causes no event."""
        message = Message(
            ts=self.clock.stamp(),
            channel=channel,
            user=user.id,
            text=text,
            blocks=list(blocks or []),
            thread_ts=thread_ts,
            bot_id=user.bot_id,
            only_to=only_to,
            subtype=subtype or ("file_share" if files else None),
            files=list(files),
            metadata=metadata,
            stream=stream,
        )
        channel.messages[message.ts] = message
        if thread_ts is not None and thread_ts in channel.messages:
            channel.messages[thread_ts].thread_ts = thread_ts
        if only_to is None:
            self._announce(message)
        self.changed()
        return message

    def begin_pane(self, channel: Channel) -> str:
        """A thread of the assistant pane, with the message it begins with, which causes no event."""
        bot = channel.team.bot
        first = Message(
            ts=self.clock.stamp(), channel=channel, user=bot.id, text="New chat", bot_id=bot.bot_id, subtype=PANE
        )
        first.thread_ts = first.ts
        channel.messages[first.ts] = first
        channel.panes.add(first.ts)
        return first.ts

    def change(self, message: Message, editor: str | None = None) -> None:
        """After the message was changed: `editor` did it, None: Slack itself."""
        if editor is not None:
            message.edited = {"user": editor, "ts": self.clock.stamp()}
        if message.only_to is None:
            shown = self.json(message)
            self._message_event(message, "message_changed", message=shown, previous_message=shown)
        self.changed()

    def edit(self, message: Message, text: str, blocks: list[JSON]) -> None:
        """By its author, so that `previous_message` says what it was."""
        before = self.json(message)
        message.text, message.blocks = text, blocks
        message.edited = {"user": message.user, "ts": self.clock.stamp()}
        if message.only_to is None:
            self._message_event(message, "message_changed", message=self.json(message), previous_message=before)
        self.changed()

    def expire(self, message: Message) -> bool:
        """Whether a stream has run out of time; it has ended by itself then."""
        stream = message.stream
        if stream is None or self.clock.now() - stream.started < STREAM_SECONDS:
            return False
        stream.ended = True
        return True

    def remove(self, message: Message) -> None:
        """A parent that has replies stays, as a tombstone."""
        before, channel = self.json(message), message.channel
        message.deleted = True
        if len(channel.thread(message.ts)) > 1:
            message.subtype, message.text, message.blocks = "tombstone", "This message was deleted.", []
            self._message_event(message, "message_changed", message=self.json(message), previous_message=before)
        else:
            del channel.messages[message.ts]
            if message.only_to is None:
                self._message_event(message, "message_deleted", deleted_ts=message.ts, previous_message=before)
        self.changed()

    def react(self, message: Message, user: str, name: str, *, added: bool) -> None:
        users = message.reactions.setdefault(name, [])
        if added:
            users.append(user)
        else:
            users.remove(user)
            if not users:
                del message.reactions[name]
        item = {"type": "message", "channel": message.channel.id, "ts": message.ts}
        event = self._event("reaction_added" if added else "reaction_removed", user=user, reaction=name, item=item)
        self.hear(message.channel.team, event | {"item_user": message.user}, message.channel)
        self.changed()

    def store_file(self, team: Team, user: str, name: str, data: bytes, mimetype: str, *, complete: bool) -> File:
        file = File(id=self.new_id("F"), name=name, data=data, user=user, mimetype=mimetype, complete=complete)
        team.files[file.id] = file
        return file

    def share(self, channel: Channel, user: User, files: Sequence[File], text: str, thread_ts: str | None) -> Message:
        for file in files:
            file.complete = True
            file.shared_in.append(channel.id)
            shared = {"file_id": file.id, "user_id": user.id, "file": {"id": file.id}, "channel_id": channel.id}
            self.hear(channel.team, self._event("file_shared", **shared), channel)
        return self.post(channel, user, text, thread_ts=thread_ts, files=files)

    # ------------------------------------------------------------------ events

    def json(self, message: Message) -> JSON:
        return message_json(message, self.app, self.address)

    def file_json(self, file: File) -> JSON:
        return file_json(file, self.address)

    def tell(self, team: Team, kind: str, place: Channel | None = None, /, **fields: Any) -> None:
        """Any other event."""
        self.hear(team, self._event(kind, **fields), place)
        self.changed()

    def _announce(self, message: Message) -> None:
        channel = message.channel
        shown = self.json(message) | {"channel": channel.id, "event_ts": message.ts}
        events = [shown | {"channel_type": channel.kind.value}]
        bot = channel.team.install.bot if channel.team.install else None
        if bot is not None and not channel.direct and f"<@{bot.id}>" in message.text and message.user != bot.id:
            events.insert(0 if self.mention_first else 1, {**shown, "type": "app_mention"})
            events[0 if self.mention_first else 1].pop("subtype", None)
        for event in events:
            self.hear(channel.team, event, channel)

    def _message_event(self, about: Message, subtype: str, /, **fields: Any) -> None:
        channel = about.channel
        named = {"subtype": subtype, "channel": channel.id, "channel_type": channel.kind.value, "hidden": True}
        event = self._event("message", **named, **fields)
        self.hear(channel.team, event | {"ts": event["event_ts"]}, channel)

    def _emit(self, place: Channel, kind: str, /, **fields: Any) -> None:
        self.hear(place.team, self._event(kind, **{"channel": place.id, **fields}), place)
        self.changed()

    def _event(self, kind: str, /, **fields: Any) -> JSON:
        return {"type": kind, **fields, "event_ts": self.clock.stamp()}
