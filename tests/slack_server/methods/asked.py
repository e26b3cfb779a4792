"""What a method is given, and the refusals that many methods share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.slack_server.calls import Params
from tests.slack_server.refusals import Refusal
from tests.slack_server.socket_mode import SocketMode
from tests.slack_server.state import Channel, Install, Kind, Message, Team, User
from tests.slack_server.triggers import Triggers
from tests.slack_server.world import World

JSON = dict[str, Any]


@dataclass(kw_only=True, slots=True)
class Asked:
    """One call by the bot that is allowed to make it."""

    world: World
    socket: SocketMode
    triggers: Triggers
    install: Install
    params: Params

    @property
    def team(self) -> Team:
        return self.install.team

    @property
    def bot(self) -> User:
        return self.install.bot

    def channel(self, name: str = "channel", *, write: bool = False, join: bool = True) -> Channel:
        """As the bot may see it: what it may not see is not found. `join=False`: it need not be a member."""
        wanted = self.params.text(name)
        if wanted in self.team.users and write:
            return self._direct(wanted)
        channel = self.team.channels.get(wanted)
        if channel is None:
            raise Refusal("channel_not_found")
        if self.bot.id not in channel.members:
            if channel.kind is not Kind.PUBLIC:
                raise Refusal("channel_not_found")
            if join and not (write and "chat:write.public" in self.install.scopes):
                raise Refusal("not_in_channel")
        if write and channel.archived:
            raise Refusal("is_archived")
        if write and channel.kind is Kind.DIRECT:
            self._check_takes_messages(next(one for one in channel.members if one != self.bot.id))
        return channel

    def message(self, channel: Channel, name: str = "ts", error: str = "message_not_found") -> Message:
        """One that everybody sees."""
        found = channel.messages.get(self.params.text(name))
        if found is None or found.only_to is not None or found.subtype == "tombstone":
            raise Refusal(error)
        return found

    def thread(self, channel: Channel) -> str | None:
        """The root of the thread to answer in; a reply's `ts` stands for its thread."""
        wanted = self.params.maybe("thread_ts")
        if wanted is None:
            return None
        found = channel.messages.get(wanted)
        if found is None and wanted not in channel.panes:
            raise Refusal("thread_not_found")
        return wanted if found is None else found.root

    def user(self, name: str = "user") -> User:
        found = self.team.users.get(self.params.text(name))
        if found is None:
            raise Refusal("user_not_found")
        return found

    def _direct(self, user: str) -> Channel:
        self._check_takes_messages(user)
        return self.world.direct(self.team, self.bot.id, user)

    def _check_takes_messages(self, user: str) -> None:
        if not self.team.users[user].takes_messages:
            raise Refusal("messages_tab_disabled")


@dataclass(kw_only=True, slots=True, frozen=True)
class Method:
    """`scopes`: any one of them will do, none: no scope is needed; `tier`: calls a minute."""

    run: Callable[[Asked], JSON]
    scopes: tuple[str, ...] = ()
    tier: int = 50


def page(asked: Asked, items: list[Any], default: int, most: int | None = None) -> tuple[list[Any], JSON]:
    """The part of a list that was asked for, at most `most`, and where the next begins."""
    limit = min(asked.params.number("limit", default), most or 1000)
    cursor = asked.params.maybe("cursor") or "at:0"
    if not cursor.startswith("at:") or not cursor[3:].isdigit():
        raise Refusal("invalid_cursor")
    start = int(cursor[3:])
    more = start + limit < len(items)
    after = {"next_cursor": f"at:{start + limit}" if more else ""}
    return items[start : start + limit], {"has_more": more, "response_metadata": after}
