"""The API as a chat platform: posts wake the requests that wait, and nothing of an answer stays in memory."""

import asyncio

from bot.web.api.platform import ApiPlatform, api_address
from core.domain.answer import Answer, AnswerStatus

ADDRESS = api_address("local", "t")
ANSWER = Answer(status=AnswerStatus.ANSWERED, text="Here.", conversation_id="c1", message_id="m1")


async def test_a_post_wakes_all_who_wait_for_its_message_and_no_others() -> None:
    platform = ApiPlatform()
    with platform.watch("k") as first, platform.watch("k") as second, platform.watch("other") as other:
        ref = await platform.post(ADDRESS, "k", ANSWER, look_first=False)
        await asyncio.wait_for(asyncio.gather(first.wait(), second.wait()), 5)
        assert not other.is_set()
    assert ref == "c1/m1"
    assert platform._posted == {}


async def test_an_error_wakes_them_too() -> None:
    platform = ApiPlatform()
    with platform.watch("k") as posted:
        assert await platform.fail(ADDRESS, "k", "It did not work: ask again.") == "/"
        assert posted.is_set()
