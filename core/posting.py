"""One post to a chat platform, in bounded time."""

import asyncio
from collections.abc import Awaitable

from core.domain.answer import Answer
from core.domain.inbox import InboxEntry, PostRef
from core.errors import PlatformError
from core.service_ports import ChatPlatform

POST_TIMEOUT_SECONDS = 60.0  # of one post; platforms answer within seconds, or not at all


async def post_answer(platform: ChatPlatform, entry: InboxEntry, answer: Answer) -> PostRef:
    """The answer in the entry's post. Raises PlatformError, also for a platform that does not reply."""
    # An earlier process may have posted: a try before this one, or the answer to the message before it was edited.
    look_first = entry.attempts > 1 or entry.event_key != entry.message_key
    return await _in_time(platform, platform.post(entry.address, entry.message_key, answer, look_first=look_first))


async def post_error(platform: ChatPlatform, entry: InboxEntry, sentence: str) -> PostRef:
    """The one error in the entry's post. Raises as `post_answer` does."""
    return await _in_time(platform, platform.fail(entry.address, entry.message_key, sentence))


async def _in_time(platform: ChatPlatform, post: Awaitable[PostRef]) -> PostRef:
    try:
        return await asyncio.wait_for(post, POST_TIMEOUT_SECONDS)
    except TimeoutError as error:
        raise PlatformError(f"{platform.name} did not take the post in {POST_TIMEOUT_SECONDS:g} s.") from error
