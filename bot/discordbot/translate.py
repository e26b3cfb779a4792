"""What happens on Discord -> what core understands. Pure: no request is made, nothing is looked up."""

import re
from dataclasses import replace
from datetime import datetime

import discord

from bot.presentation.default_question import default_question
from core.domain.conversation import (
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
DIRECT_THREAD = ""  # the thread of a direct channel: there is but one conversation in it
PRIVATE = "private:"  # begins the thread of answers that one person alone may see
MESSAGE = "message"  # key of metadata: the id of the question's message
TITLE_LENGTH = 100  # https://discord.com/developers/docs/resources/channel: names of threads

# What people write; all else (pins, joins, boosts, a thread's first line) is Discord speaking.
_WRITTEN = frozenset({discord.MessageType.default, discord.MessageType.reply})
_MENTION = re.compile(r"<(@!?|@&|#)(\d{15,21})>")
_EMOJI = re.compile(r"<a?(:\w{2,32}:)\d{15,21}>")
_CALLED_FIRST = re.compile(r"\s*<@!?(\d{15,21})>")


def to_incoming(
    message: discord.Message, *, me: int, workspace: str, in_our_thread: bool, answered_by_us: bool = False
) -> IncomingMessage | None:
    """The question in a message; None for what nobody wrote, and for stickers and polls that are not for us.

    `in_our_thread`: the bot opened the thread, or answered in it. `answered_by_us`: the message replied to is the
    bot's, where Discord does not say so itself.
    """
    if message.type not in _WRITTEN:
        return None
    circumstances = _circumstances(message, me, in_our_thread=in_our_thread, answered_by_us=answered_by_us)
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
    """Where a message is answered: its thread, its direct channel, or the thread that it opens.

    Discord gives a thread that is opened on a message the id of that message, so its address is known beforehand.
    """
    channel = message.channel
    if isinstance(channel, discord.Thread):
        return thread_address(workspace, channel.parent_id, str(channel.id))
    if message.guild is None:
        return thread_address(workspace, channel.id, DIRECT_THREAD)
    return thread_address(workspace, channel.id, str(message.id))


def thread_address(workspace: str, channel: int, thread: str) -> ThreadAddress:
    return ThreadAddress(platform=PLATFORM, workspace=workspace, channel=str(channel), thread=thread)


def private_address(workspace: str, channel: int, person: int) -> ThreadAddress:
    """Of what a person asks in a channel for their own eyes."""
    return thread_address(workspace, channel, f"{PRIVATE}{person}")


def to_private(question: IncomingMessage) -> IncomingMessage:
    """A channel's question as one that its asker alone sees answered, by direct message.

    Its keys follow from the question's. The token of a command stays behind, as its reply is everybody's.
    """
    address = question.address
    key = private_key(address, question.message_key.rpartition(":")[2])
    return replace(
        question,
        address=private_address(address.workspace, int(address.channel), int(question.author)),
        private=True,
        event_key=key + question.event_key.removeprefix(question.message_key),
        message_key=key,
        conversation_id=None,
        metadata={name: value for name, value in question.metadata.items() if name == MESSAGE},
    )


def private_key(address: ThreadAddress, message_id: str) -> str:
    """The posting key of what a channel's question is answered in private: another post of the same moment."""
    return message_key(address, f"0{message_id}")


def is_private(address: ThreadAddress) -> bool:
    return address.thread.startswith(PRIVATE)


def private_reader(address: ThreadAddress) -> int:
    """The one who may see what is posted to a private address."""
    return int(address.thread.removeprefix(PRIVATE))


def to_text(message: discord.Message, me: int) -> str:
    """A message's words, with people, roles and channels by name and without the bot's own mention."""
    people = {user.id: user.display_name for user in message.mentions}
    roles = {role.id: role.name for role in message.role_mentions}
    own = {role.id for role in message.role_mentions if role.tags is not None and role.tags.bot_id == me}
    channels = {channel.id: channel.name for channel in message.channel_mentions}

    def name(found: re.Match[str]) -> str:
        kind, key = found[1], int(found[2])
        if (kind.startswith("@") and key == me) or key in own:
            return ""
        names, sign = {"#": (channels, "#"), "@&": (roles, "@")}.get(kind, (people, "@"))
        return f"{sign}{names[key]}" if key in names else found[0]

    return _EMOJI.sub(r"\1", _MENTION.sub(name, message.content)).strip()


def to_talk(message: discord.Message, me: int) -> Talk:
    """What somebody said, as context for a question."""
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


def time_of(message_id: str) -> datetime:
    """When a message was written, or a button pressed: Discord's ids hold it."""
    return discord.utils.snowflake_time(int(message_id))


def _circumstances(message: discord.Message, me: int, *, in_our_thread: bool, answered_by_us: bool) -> Circumstances:
    channel = message.channel
    first = _CALLED_FIRST.match(message.content)
    others = {user.id for user in message.mentions if user.id != me} - _replied_to(message)
    return Circumstances(
        mentioned=(any(user.id == me for user in message.mentions) and _names(message, me)) or _own_role(message, me),
        direct=message.guild is None,
        in_thread=isinstance(channel, discord.Thread),
        in_our_thread=in_our_thread,
        replies_to=_replies_to(message, me, answered_by_us=answered_by_us),
        mentions_others=bool(others) or (first is not None and int(first[1]) != me),
        opens_post=isinstance(channel, discord.Thread) and message.id == channel.id,
        from_bot=message.author.bot or message.webhook_id is not None,
        is_own=message.author.id == me,
    )


def _names(message: discord.Message, me: int) -> bool:
    """Whether the bot is named in the text: a reply mentions whom it replies to without a word."""
    return re.search(rf"<@!?{me}>", message.content) is not None


def _own_role(message: discord.Message, me: int) -> bool:
    """Discord offers a bot's role under the bot's own name: who picks it means the bot."""
    return any(role.tags is not None and role.tags.bot_id == me for role in message.role_mentions)


def _replied_to(message: discord.Message) -> set[int]:
    replied = message.reference.resolved if message.reference else None
    if isinstance(replied, discord.Message) and not re.search(rf"<@!?{replied.author.id}>", message.content):
        return {replied.author.id}
    return set()


def _replies_to(message: discord.Message, me: int, *, answered_by_us: bool) -> RepliesTo:
    reference = message.reference
    if reference is None or reference.message_id is None or reference.type is not discord.MessageReferenceType.reply:
        return RepliesTo.NOBODY
    replied = reference.resolved
    is_ours = answered_by_us or (isinstance(replied, discord.Message) and replied.author.id == me)
    return RepliesTo.US if is_ours else RepliesTo.SOMEBODY


def _about(message: discord.Message, me: int) -> Talk | None:
    """The message of somebody else that this one replies to, or forwards."""
    for snapshot in message.message_snapshots:
        if snapshot.content:
            return Talk(
                message_id=str(message.id), author="somebody", text=snapshot.content, said_at=snapshot.created_at
            )
    replied = message.reference.resolved if message.reference else None
    if not isinstance(replied, discord.Message) or replied.author.id == me or not replied.content:
        return None
    return to_talk(replied, me)
