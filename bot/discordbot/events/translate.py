"""Messages and addresses: from Discord to core. Pure."""

import re
from dataclasses import replace
from datetime import datetime

import discord

from bot.presentation.platform_text import default_question
from core.domain.incoming import (
    Attachment,
    Circumstances,
    IncomingMessage,
    RepliesTo,
    Talk,
    ThreadAddress,
    event_key,
    message_key,
)

PLATFORM = "discord"
DIRECT_THREAD = ""  # the only thread of a direct channel
MESSAGE = "message"  # key of metadata: message id of the question
INLINE = "inline"  # key of metadata: the conversation has no thread, its posts are replies in the channel
TITLE_LENGTH = 100  # https://discord.com/developers/docs/resources/channel: names of threads

# Types of messages that people write; Discord writes the others (pins, joins, boosts, a thread's first line).
WRITTEN = frozenset({discord.MessageType.default, discord.MessageType.reply})
_EMOJI = re.compile(r"<a?(:\w{2,32}:)\d{15,21}>")


def to_incoming(message: discord.Message, *, me: int, workspace: str, in_our_thread: bool) -> IncomingMessage | None:
    """Return the question in a message; None for messages of Discord, and for stickers and polls not meant for us.

    `in_our_thread`: the bot opened the thread, or answered in it.
    """
    if message.type not in WRITTEN:
        return None
    circumstances = _circumstances(message, me, in_our_thread=in_our_thread)
    attachments = tuple(to_attachment(message, item) for item in message.attachments)
    about = _about(message, me)
    text = to_text(message, me) or default_question(attachments, about)
    if not text and not (circumstances.mentioned or circumstances.direct):
        return None
    place = to_address(message, workspace)
    edit = message.edited_at.isoformat() if message.edited_at else ""
    return IncomingMessage(
        address=place,
        author=str(message.author.id),
        author_name=message.author.display_name,
        text=text,
        event_key=event_key(place, str(message.id), edit),
        message_key=message_key(place, str(message.id)),
        circumstances=circumstances,
        about=about,
        attachments=attachments,
        metadata={MESSAGE: str(message.id)},
    )


def to_address(message: discord.Message, workspace: str) -> ThreadAddress:
    """Return where a message is answered: its thread, its direct channel, or the thread that it opens.

    A thread opened on a message gets the message's id, so its address is known beforehand.
    """
    channel = message.channel
    if isinstance(channel, discord.Thread):
        return thread_address(workspace, channel.parent_id, str(channel.id))
    if message.guild is None:
        return thread_address(workspace, channel.id, DIRECT_THREAD)
    return thread_address(workspace, channel.id, str(message.id))


def thread_address(workspace: str, channel: int, thread: str) -> ThreadAddress:
    return ThreadAddress(platform=PLATFORM, workspace=workspace, channel=str(channel), thread=thread)


def answered_question(message: discord.Message, me: int) -> int | None:
    """Return the message that a post of the bot answered in a channel, if this message replies to such a post."""
    replied = message.reference.resolved if message.reference else None
    if isinstance(message.channel, discord.Thread) or message.guild is None or not isinstance(replied, discord.Message):
        return None
    return replied.reference.message_id if replied.author.id == me and replied.reference else None


def continue_inline(incoming: IncomingMessage, thread: str) -> IncomingMessage:
    """Return a message as a follow-up of a conversation that has no thread of its own."""
    return replace(
        incoming,
        address=replace(incoming.address, thread=thread),
        metadata={**incoming.metadata, INLINE: "yes"},
    )


def to_text(message: discord.Message, me: int) -> str:
    """Return the message's text with the names of people, roles and channels, and without mentions of the bot."""
    text = message.content
    for user in message.mentions:
        name = "" if user.id == me else f"@{user.display_name}"
        text = text.replace(f"<@{user.id}>", name).replace(f"<@!{user.id}>", name)
    for role in message.role_mentions:
        text = text.replace(role.mention, "" if _is_own_role(role, me) else f"@{role.name}")
    for channel in message.channel_mentions:
        text = text.replace(channel.mention, f"#{channel.name}")
    return _EMOJI.sub(r"\1", text).strip()


def to_talk(message: discord.Message, me: int) -> Talk:
    """Return a message as context for a question."""
    return Talk(
        message_id=str(message.id),
        author=message.author.display_name,
        text=to_text(message, me),
        said_at=message.created_at,
    )


def to_attachment(message: discord.Message, attachment: discord.Attachment) -> Attachment:
    return Attachment(
        name=attachment.filename,
        size_bytes=attachment.size,
        reference=f"{message.channel.id}/{message.id}/{attachment.id}",
        content_type=attachment.content_type or "",
    )


def jump_link(guild_id: int | None, channel: str, message: str = "") -> str:
    """Return the address of a channel, thread or message in Discord's own clients."""
    link = f"https://discord.com/channels/{guild_id or '@me'}/{channel}"
    return f"{link}/{message}" if message else link


def time_of(message_id: str) -> datetime:
    """Return when a message was written or a button pressed, which Discord's ids contain."""
    return discord.utils.snowflake_time(int(message_id))


def _circumstances(message: discord.Message, me: int, *, in_our_thread: bool) -> Circumstances:
    channel, named = message.channel, message.raw_mentions
    replied = message.reference.resolved if message.reference else None
    # A reply mentions the author it replies to, without naming that author in its text.
    unnamed = {replied.author.id} - {*named} if isinstance(replied, discord.Message) else set()
    others = {user.id for user in message.mentions if user.id != me} - unnamed
    begins_with_other = (
        bool(named) and named[0] != me and message.content.lstrip().startswith((f"<@{named[0]}>", f"<@!{named[0]}>"))
    )
    return Circumstances(
        mentioned=is_to_bot(message, me),
        direct=message.guild is None,
        in_thread=isinstance(channel, discord.Thread),
        in_our_thread=in_our_thread,
        opened_by_us=isinstance(channel, discord.Thread) and channel.owner_id == me,
        replies_to=_replies_to(message, me),
        mentions_others=bool(others) or begins_with_other,
        opens_post=isinstance(channel, discord.Thread) and message.id == channel.id,
        from_bot=message.author.bot or message.webhook_id is not None,
        is_own=message.author.id == me,
    )


def is_to_bot(message: discord.Message, me: int) -> bool:
    """Return whether a message names the bot."""
    return me in message.raw_mentions or any(_is_own_role(role, me) for role in message.role_mentions)


def _is_own_role(role: discord.Role, me: int) -> bool:
    """Return whether it is the role that Discord creates for the bot, under the bot's name."""
    return role.tags is not None and role.tags.bot_id == me


def _replies_to(message: discord.Message, me: int) -> RepliesTo:
    reference = message.reference
    if reference is None or reference.message_id is None or reference.type is not discord.MessageReferenceType.reply:
        return RepliesTo.NOBODY
    replied = reference.resolved
    return RepliesTo.US if isinstance(replied, discord.Message) and replied.author.id == me else RepliesTo.SOMEBODY


def _about(message: discord.Message, me: int) -> Talk | None:
    """Return the message of another person that this one replies to, or forwards."""
    for snapshot in message.message_snapshots:
        if snapshot.content:
            return Talk(
                message_id=str(message.id), author="somebody", text=snapshot.content, said_at=snapshot.created_at
            )
    replied = message.reference.resolved if message.reference else None
    if not isinstance(replied, discord.Message) or replied.author.id == me or not replied.content:
        return None
    return to_talk(replied, me)
