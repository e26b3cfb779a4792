"""Posts of documents that people add, and the bytes of their files (AdditionPosts)."""

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import timedelta

import aiohttp
import discord

from bot.discordbot.delivery.destinations import Destinations
from bot.discordbot.delivery.errors import CLOSED, POST, READ, translated_errors
from bot.discordbot.delivery.platform import APPLICATION, TOKEN, TOKEN_LIFE, nonce
from bot.discordbot.events.translate import MESSAGE, PLATFORM, time_of
from bot.discordbot.rendering.answers import PLAIN
from bot.discordbot.rendering.components import PartView, Row, Text, to_view
from bot.presentation.additions import AdditionView
from bot.presentation.markdown import clip
from core.domain.additions import Addition
from core.domain.service import PostRef
from core.errors import NotFound
from core.ports import Clock

# Keys of an addition's details, with MESSAGE (of the event: a message or an interaction), TOKEN and APPLICATION.
CHANNEL = "channel"  # id of the channel, thread or direct channel of its post
REPLY_TO = "reply_to"  # id of the message that the post replies to
FILE = "file"  # channel/message/attachment: of a message's file, whose address Discord renews
URL = "url"  # of a command's file, which belongs to no message
CHUNK_BYTES = 64 * 1024
SILENCE = aiohttp.ClientTimeout(total=None, sock_connect=30, sock_read=60)
LONGEST_TEXT = 3_500

OpenUrl = Callable[[str], AsyncIterator[bytes]]
_log = logging.getLogger(__name__)


class DiscordAdditionPosts:
    name = PLATFORM

    def __init__(self, client: discord.Client, destinations: Destinations, clock: Clock, open_url: OpenUrl) -> None:
        self._client = client
        self._destinations = destinations
        self._clock = clock
        self._open_url = open_url

    def plain(self, text: str) -> str:
        return PLAIN.plain(text)

    async def post(self, addition: Addition, view: AdditionView) -> PostRef:
        channel, reply_to = int(addition.details[CHANNEL]), addition.details.get(REPLY_TO)
        destination = (
            await self._destinations.reply_to(channel, int(reply_to))
            if reply_to
            else await self._destinations.thread(channel)
        )
        found = await destination.find_addition(addition.id, int(addition.details[MESSAGE]))
        if found is None:
            found = await destination.send(to_part(view), nonce(addition.id, 1), is_first=True)
        return f"{destination.id}/{found}"

    async def edit(self, addition: Addition, view: AdditionView) -> None:
        channel, _, message = (addition.post_ref or "").partition("/")
        try:
            await (await self._destinations.thread(int(channel))).edit(int(message), to_part(view))
        except CLOSED as error:  # a command also works where the bot can't write
            if not self._has_reply(addition.details):
                _log.info("The post of %s can't be changed: %s", addition.id, error)
                return
            webhook = discord.Webhook.partial(
                int(addition.details[APPLICATION]), addition.details[TOKEN], client=self._client
            )
            webhook.type = discord.WebhookType.application
            with translated_errors(POST):
                await webhook.edit_message(int(message), view=to_view(to_part(view)))

    async def open_file(self, addition: Addition) -> AsyncIterator[bytes]:
        url = addition.details.get(URL) or await self._find_url(addition)
        async for chunk in self._open_url(url):
            yield chunk

    async def _find_url(self, addition: Addition) -> str:
        channel_id, message_id, attachment_id = map(int, addition.details[FILE].split("/"))
        channel = (await self._destinations.thread(channel_id)).channel
        with translated_errors(READ):
            message = await channel.fetch_message(message_id)
        for item in message.attachments:
            if item.id == attachment_id:
                return item.url
        raise NotFound("The file was removed from its message. Send it again")

    def _has_reply(self, details: Mapping[str, str]) -> bool:
        return TOKEN in details and self._clock.now() - time_of(details[MESSAGE]) < TOKEN_LIFE - timedelta(minutes=1)


async def stream_url(url: str) -> AsyncIterator[bytes]:
    """Yield a file of Discord in pieces. Raises NotFound for a deleted one, and ConnectionError."""
    try:
        async with aiohttp.ClientSession(timeout=SILENCE) as session, session.get(url) as response:
            if response.status != 200:
                raise NotFound(f"Discord no longer has the file ({response.status}). Send it again")
            async for chunk in response.content.iter_chunked(CHUNK_BYTES):
                yield chunk
    except (aiohttp.ClientError, TimeoutError) as error:
        raise ConnectionError(str(error)) from error


def to_part(view: AdditionView) -> PartView:
    text = Text(content=clip(view.text, LONGEST_TEXT))
    return PartView(blocks=(text, Row(items=view.buttons)) if view.buttons else (text,))
