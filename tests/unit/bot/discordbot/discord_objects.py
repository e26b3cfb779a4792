"""discord.py's own objects, made from payloads as the gateway sends them."""

from typing import Any

import discord

ME, ADA, BEN, HELPER_BOT = 100000000000000001, 100000000000000002, 100000000000000003, 100000000000000004
GUILD, CHANNEL, THREAD, DIRECT = 200000000000000001, 200000000000000002, 200000000000000003, 200000000000000004
NAMES = {ME: "footnote", ADA: "Ada", BEN: "Ben", HELPER_BOT: "Dice"}


class World:
    """A server with a channel and a thread in it, and a direct channel with Ada."""

    def __init__(self, *, thread_id: int = THREAD, thread_owner: int = BEN) -> None:
        self.state: Any = discord.Client(intents=discord.Intents.none())._connection
        data: Any = {"id": GUILD, "name": "House", "roles": [], "channels": [], "emojis": [], "stickers": []}
        self.guild = discord.Guild(data=data, state=self.state)
        channel: Any = {"id": CHANNEL, "type": 0, "name": "general", "position": 0, "permission_overwrites": []}
        self.channel = discord.TextChannel(state=self.state, guild=self.guild, data=channel)
        self.guild._add_channel(self.channel)
        thread: Any = {
            "id": thread_id,
            "parent_id": CHANNEL,
            "owner_id": thread_owner,
            "type": 11,
            "name": "keys",
            "message_count": 1,
            "member_count": 1,
            "thread_metadata": {"archived": False, "auto_archive_duration": 60, "archive_timestamp": "2026-11-01"},
        }
        self.thread = discord.Thread(guild=self.guild, state=self.state, data=thread)
        direct: Any = {"id": DIRECT, "type": 1, "recipients": [user(ADA)]}
        self.direct = discord.DMChannel(me=None, state=self.state, data=direct)  # type: ignore[arg-type]

    def message(self, text: str = "Where is the key?", *, by: int = ADA, place: Any = None, **fields: Any) -> Any:
        """A message in the channel, or in another place."""
        data: Any = {
            "id": 300000000000000001,
            "channel_id": (place or self.channel).id,
            "author": user(by),
            "content": text,
            "timestamp": "2026-11-02T09:30:00+00:00",
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [],
            "mention_roles": [],
            "attachments": [],
            "embeds": [],
            "pinned": False,
            "type": 0,
        }
        return discord.Message(state=self.state, channel=place or self.channel, data=data | fields)

    def role(self, id: int, name: str, bot: int) -> int:
        """The id of the role that came to the server with a bot."""
        data: Any = {"id": id, "name": name, "permissions": "0", "position": 1, "tags": {"bot_id": str(bot)}}
        self.guild._add_role(discord.Role(guild=self.guild, state=self.state, data=data))
        return id

    def reply(self, text: str, to: Any, *, by: int = ADA, **fields: Any) -> Any:
        """A reply; its reader is told whom it answers, as Discord's clients do by themselves."""
        referenced = {
            "id": to.id,
            "channel_id": to.channel.id,
            "author": user(to.author.id),
            "content": to.content,
            "timestamp": "2026-11-02T09:29:00+00:00",
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [],
            "mention_roles": [],
            "attachments": [],
            "embeds": [],
            "pinned": False,
            "type": 0,
        }
        reference = {"message_id": to.id, "channel_id": to.channel.id, "guild_id": GUILD, "type": 0}
        more = {"id": 300000000000000009, "type": 19, "message_reference": reference, "referenced_message": referenced}
        mentions = [*fields.pop("mentions", []), user(to.author.id)]
        return self.message(text, by=by, place=to.channel, mentions=mentions, **more, **fields)


def user(key: int) -> dict[str, Any]:
    return {
        "id": key,
        "username": NAMES[key].lower(),
        "global_name": NAMES[key],
        "discriminator": "0",
        "avatar": None,
        "bot": key in (ME, HELPER_BOT),
    }
