"""A server on an in-process Discord, with people in it, and what they see there."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import discord
from simcord.actors import MemberActor
from simcord.builders import ChannelHandle
from simcord.env import Env
from simcord.results import InteractionResult

TIMEOUT_SECONDS = 60.0
LOOK_SECONDS = 0.01
FINAL = ("👍", "👎")  # buttons that only answers have


class House:
    """A server with a channel, and two people in it; Ada is its owner."""

    def __init__(self, env: Env, name: str = "House") -> None:
        self.env = env
        self.guild = env.create_guild(name=name)
        self.channel = self.guild.create_text_channel("general")
        self.ada = self.guild.add_member(_user(env, "ada"))
        self.ben = self.guild.add_member(_user(env, "ben"))

    @property
    def bot(self) -> str:
        return f"<@{self.env.bot.user.id}>"

    @property
    def thread(self) -> ChannelHandle:
        """The newest thread of the channel."""
        return self.channel.threads[-1]

    def admin(self, name: str = "eve") -> MemberActor:
        """Somebody who may manage the server."""
        role = self.guild.create_role("admins", permissions=discord.Permissions(manage_guild=True))
        return self.guild.add_member(_user(self.env, name), roles=[role])

    def moderator(self, name: str = "max") -> MemberActor:
        """Somebody who may delete messages of others in the channel, and change nothing of the server."""
        role = self.guild.create_role("moderators", permissions=discord.Permissions(manage_messages=True))
        return self.guild.add_member(_user(self.env, name), roles=[role])

    def posts(self, place: ChannelHandle | None = None) -> list[discord.Message]:
        """What the bot shows everybody in a place (the newest thread), oldest first."""
        there = place or (self.thread if self.channel.threads else None)
        if there is None:
            return []
        mine = [item for item in there.history() if item.author.id == self.env.bot.user.id and item.components]
        return [item for item in mine if not item.flags.ephemeral]

    async def answered(self, place: ChannelHandle | None = None, count: int = 1) -> list[discord.Message]:
        """The bot's posts in a place (the newest thread), when so many of them are final answers."""
        await until(lambda: sum(is_final(item) for item in self.posts(place)) >= count)
        return self.posts(place)

    async def ask(self, text: str = "where is the key?") -> discord.Message:
        """Ada's question in the channel, when it is answered in its thread."""
        asked = await self.ada.send(self.channel, f"{self.bot} {text}")
        await self.answered()
        return asked

    async def offers(self, person: Any, answer: discord.Message) -> list[str]:
        """What the menu behind ⋯ offers a person."""
        [menu] = menus((await person.click(answer, label="⋯")).response.message)
        return [option.label for option in menu.options]

    async def choose(self, person: Any, answer: discord.Message, label: str) -> InteractionResult:
        """Choose an action of the menu behind ⋯."""
        opened = (await person.click(answer, label="⋯")).response.message
        [menu] = menus(opened)
        value = next(option.value for option in menu.options if option.label == label)
        return await person.select(opened, [value], custom_id=menu.custom_id)

    async def shows(self, words: str, place: ChannelHandle | None = None) -> discord.Message:
        """Wait for a finished post with these words in a place, and return the newest; drafts don't count."""
        return await self._newest(lambda item: words in texts(item) and not is_draft(item), place)

    async def drafts(self, words: str, place: ChannelHandle | None = None) -> discord.Message:
        """Wait for a draft with these words in a place, and return the newest."""
        return await self._newest(lambda item: words in texts(item) and is_draft(item), place)

    async def _newest(
        self, is_wanted: Callable[[discord.Message], bool], place: ChannelHandle | None
    ) -> discord.Message:
        found: list[discord.Message] = []

        def look() -> bool:
            found[:] = filter(is_wanted, self.posts(place))
            return bool(found)

        await until(look)
        return found[-1]


def _user(env: Env, name: str) -> Any:
    """The user of this name; the same person may be in several servers."""
    known = vars(env).setdefault("_people", {})
    if name not in known:
        known[name] = env.create_user(name)
    return known[name]


async def until(condition: Callable[[], object], seconds: float = TIMEOUT_SECONDS) -> None:
    """Wait for something on Discord to become true; nobody tells when it does."""
    for _ in range(int(seconds / LOOK_SECONDS)):
        if condition():
            return
        await asyncio.sleep(LOOK_SECONDS)
    raise AssertionError("it did not become true in time")


def is_draft(message: discord.Message) -> bool:
    """Whether a post is an answer in progress, which can be stopped."""
    return "Stop" in buttons(message)


def is_final(message: discord.Message) -> bool:
    """Whether a post is a finished answer."""
    return set(FINAL) <= set(buttons(message))


def texts(message: discord.Message) -> str:
    """All that a message of components shows, top to bottom."""
    return "\n".join(_texts(message.components))


def buttons(message: discord.Message) -> dict[str, str]:
    """Label -> custom id of a message's buttons."""
    items = (item for row in _rows(message) for item in row.children)
    return {item.label or "": item.custom_id or "" for item in items if isinstance(item, discord.Button)}


def menus(message: discord.Message) -> list[discord.SelectMenu]:
    return [item for row in _rows(message) for item in row.children if isinstance(item, discord.SelectMenu)]


def told(result: InteractionResult) -> str:
    """What an interaction was answered with, for the one who acted alone."""
    shown = [item for item in (result.response, *result.followups) if item is not None]
    assert shown, "the interaction was not answered"
    assert all(item.ephemeral for item in shown), "everybody can see this"
    return "\n".join(texts(item.message) for item in shown)


def link_of(message: discord.Message) -> list[str]:
    """The addresses of a message's link buttons."""
    items = (item for row in _rows(message) for item in row.children)
    return [item.url for item in items if isinstance(item, discord.Button) and item.url]


def sent(env: Env, method: str, path_end: str = "") -> Sequence[dict[str, Any]]:
    """The bodies of the bot's requests of a method, to paths with this end."""
    found = [log.json for log in env.http_requests if log.method == method and log.path.endswith(path_end)]
    return [body for body in found if isinstance(body, dict)]


def _rows(message: discord.Message) -> list[discord.ActionRow]:
    return [item for item in message.components if isinstance(item, discord.ActionRow)]


def _texts(components: Iterable[object]) -> Iterator[str]:
    for component in components:
        if isinstance(component, discord.TextDisplay):
            yield component.content
        yield from _texts(getattr(component, "children", ()))
