"""Whatever goes wrong, in whatever order: in the end there is one post, and it is the answer."""

import random
from collections.abc import Callable

import pytest

from bot.slackbot.delivery.posts import LivePost
from core.domain.service import InboxEntry
from core.errors import PlatformError
from tests.integration.slackbot.bench import SHOWN, Bench, long_answer, reads
from tests.slack_server import Channel

METHODS = (
    "chat.startStream",
    "chat.appendStream",
    "chat.stopStream",
    "chat.update",
    "chat.postMessage",
    "conversations.*",
)
PRIVATE_METHODS = ("chat.postMessage", "chat.update", "conversations.*")
MOST_ATTEMPTS = 60
Spoil = Callable[[Bench, random.Random], None]


def trouble(methods: tuple[str, ...]) -> Spoil:
    """Breaks one of the next calls, or none."""

    def spoil(bench: Bench, dice: random.Random) -> None:
        method = dice.choice(methods)
        if dice.random() < 0.4:
            return
        kinds: list[Callable[[], object]] = [
            lambda: bench.server.fail_next(method, status=dice.choice([500, 503])),
            lambda: bench.server.fail_next(method, status=429, retry_after_seconds=30),
            lambda: bench.server.fail_next(method, "internal_error"),
            lambda: bench.server.lose_reply_of_next(method),
            lambda: bench.server.lose_reply_of_next(method, status=504),
        ]
        dice.choice(kinds)()

    return spoil


async def attempt(bench: Bench, entry: InboxEntry, text: str, dice: random.Random, spoil: Spoil) -> bool:
    """One try of the worker's, which may be killed in the middle. Whether the answer was posted."""
    bench.server.faults.release_all()
    spoil(bench, dice)
    try:
        live = await bench.open(entry)
        for piece in ("The key, ", "I think, ", "hangs ")[: dice.randrange(4)]:
            live.text(piece)
            if dice.random() < 0.3:
                live.reset()
            await bench.until(lambda: bench.time.waiting or not (isinstance(live, LivePost) and live.is_rendering))
            bench.time.advance(dice.choice([1, 3, 31, 301]))
        if dice.random() < 0.3:
            bench.start()
            return False
        spoil(bench, dice)
        await bench.post(entry, text)
    except PlatformError:
        if dice.random() < 0.3:
            bench.start()
        return False
    return True


async def answered(bench: Bench, entry: InboxEntry, text: str, seed: int, spoil: Spoil) -> None:
    """When the answer was posted; then once more, as after a kill that came before this could be stored."""
    dice = random.Random(seed)  # the same trouble for the same seed
    for _ in range(MOST_ATTEMPTS):
        if await attempt(bench, entry, text, dice, spoil):
            break
        bench.time.advance(61)
        entry = await bench.claim()
    else:
        raise AssertionError("it was never posted")
    bench.server.faults.release_all()
    bench.start()
    await bench.post(await bench.claim(), text)


def shown(bench: Bench, place: Channel) -> str:
    return "\n".join(reads(post) for post in bench.posts(place))


@pytest.mark.parametrize("seed", range(30))
async def test_an_answer_in_one_message_is_there_once(bench: Bench, seed: int) -> None:
    await answered(bench, await bench.ask(), "The key hangs behind the door[1].", seed, trouble(METHODS))
    assert SHOWN in reads(bench.the_post())
    assert "I think" not in reads(bench.the_post())


@pytest.mark.parametrize("seed", range(12))
async def test_every_part_of_a_long_answer_is_there_once(bench: Bench, seed: int) -> None:
    await answered(bench, await bench.ask(), long_answer(), seed, trouble(METHODS))
    text = shown(bench, bench.general)
    assert [text.count(f"Paragraph {number}.") for number in range(40)] == [1] * 40


@pytest.mark.parametrize("seed", range(12))
async def test_a_private_answer_is_there_once_and_nowhere_else(bench: Bench, seed: int) -> None:
    entry = await bench.ask_privately(by_command=False)
    await answered(bench, entry, long_answer(), seed, trouble(PRIVATE_METHODS))
    text = shown(bench, bench.ada.dm)
    assert [text.count(f"Paragraph {number}.") for number in range(40)] == [1] * 40
    assert bench.posts() == []
