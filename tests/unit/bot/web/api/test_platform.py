"""The API as a chat platform: posts reach the requests that wait, and memory stays bounded."""

import asyncio

from bot.web.api.platform import ApiPlatform, api_address
from core.domain.answer import Answer, AnswerStatus

ADDRESS = api_address("local", "t")


def answer(text: str = "Here.") -> Answer:
    return Answer(status=AnswerStatus.ANSWERED, text=text, conversation_id="c1", message_id="m1")


async def test_everybody_who_waits_for_a_message_gets_its_answer() -> None:
    platform = ApiPlatform()
    waiting = [asyncio.create_task(platform.wait("k", 5)) for _ in range(3)]
    await asyncio.sleep(0)
    ref = await platform.post(ADDRESS, "k", answer(), look_first=False)

    assert [found and found.text for found in await asyncio.gather(*waiting)] == ["Here."] * 3
    assert ref == "c1/m1"


async def test_an_answer_posted_before_anybody_waits_is_there_at_once() -> None:
    platform = ApiPlatform()
    await platform.post(ADDRESS, "k", answer(), look_first=False)

    assert await platform.wait("k", 0) == answer()


async def test_posting_again_shows_the_last_one() -> None:
    platform = ApiPlatform()
    await platform.post(ADDRESS, "k", answer("Old."), look_first=False)
    await platform.post(ADDRESS, "k", answer("New."), look_first=True)

    assert await platform.wait("k", 0) == answer("New.")


async def test_a_wait_ends_with_its_time_and_leaves_nothing_behind() -> None:
    platform = ApiPlatform()

    assert await platform.wait("k", 0.01) is None
    assert platform._posted == {}


async def test_the_error_post_is_an_answer_of_status_error_in_no_conversation() -> None:
    platform = ApiPlatform()
    ref = await platform.fail(ADDRESS, "k", "It did not work: ask again.")
    found = await platform.wait("k", 0)

    assert found is not None and (found.status, found.text) == (AnswerStatus.ERROR, "It did not work: ask again.")
    assert ref == "/"


async def test_only_the_newest_answers_are_kept() -> None:
    platform = ApiPlatform(kept_answers=2)
    for key in ("a", "b", "c"):
        await platform.post(ADDRESS, key, answer(key), look_first=False)

    assert [await platform.wait(key, 0) for key in ("a", "b", "c")] == [None, answer("b"), answer("c")]
