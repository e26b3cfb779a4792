"""How soon people on Discord see that they were heard, and the first words of an answer.

    python -m tests.benchmarks.bench_discord [--questions N]

In process: the real client, inbox and worker on a simulated Discord, so that what is measured is Footnote's own share,
without the network and without the model. Goals: a first reaction under 300 ms after the event (the typing sign), and
the first streamed text under 100 ms after the model's first words. Those are held back until they are longer than what
models say before they call a tool (core/answering/agent/turns.py), so the time from there on is shown, too.
"""

import argparse
import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median, quantiles

from rich.console import Console
from rich.table import Table
from simcord.env import Env
from simcord.types import HttpLogEntry

from core.answering.agent.turns import HELD_AFTER_RESULTS
from core.domain.chat import ChatRequest
from core.domain.replies import ChatResponse
from tests.integration.discordbot.house import House, until
from tests.integration.discordbot.place import KEY, DiscordPlace, turns
from tests.scripted import ScriptedProvider, Turn

QUESTIONS = 40
REACTION_GOAL_MS = 300.0
TEXT_GOAL_MS = 100.0
WORD_SECONDS = 0.01  # between a model's words: a hundred a second
WORDS = "I have looked at the keys of the house, and at what people say about them in every document. "


class Requests(list[HttpLogEntry]):
    """The bot's requests to Discord, with the time of each."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[float] = []

    def append(self, entry: HttpLogEntry) -> None:
        self.times.append(time.perf_counter())
        super().append(entry)

    def first(self, fits: Callable[[HttpLogEntry], bool]) -> float:
        return next(at for at, entry in zip(self.times, self, strict=True) if fits(entry))


class SpeakingProvider(ScriptedProvider):
    """Says words one by one before each answer; notes when it began, and when it had said enough to be an answer."""

    def __init__(self, script: Sequence[Turn]) -> None:
        super().__init__(script)
        self.began = self.let_through = 0.0

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        if len(self.requests) % 2 and on_text is not None:  # the second turn of a question: the first one searches
            self.began = self.let_through = time.perf_counter()
            said = 0
            for word in (WORDS * 3).split(" "):
                if said <= HELD_AFTER_RESULTS:
                    self.let_through = time.perf_counter()
                said += len(word) + 1
                on_text(f"{word} ")
                await asyncio.sleep(WORD_SECONDS)
        return await super().complete(request)


@dataclass
class Times:
    """Milliseconds, one for each question."""

    reaction: list[float] = field(default_factory=list)
    post: list[float] = field(default_factory=list)
    text: list[float] = field(default_factory=list)
    answer: list[float] = field(default_factory=list)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--questions", type=int, default=QUESTIONS)
    times = asyncio.run(measure(arguments.parse_args().questions))
    table = Table("from, to", "median", "p95", "goal", title=f"Discord, {len(times.text)} questions")
    table.add_row("the event, the typing sign", *_row(times.reaction, REACTION_GOAL_MS))
    table.add_row("the event, the post with its first step", *_row(times.post, REACTION_GOAL_MS))
    table.add_row("the model's first word, the first text", *_row(times.text, TEXT_GOAL_MS))
    table.add_row("enough words for an answer, the first text", *_row(times.answer, TEXT_GOAL_MS))
    Console().print(table)


async def measure(questions: int) -> Times:
    """Ask one question after the other, each in a thread of its own."""
    place = DiscordPlace(pause=asyncio.sleep)
    provider = place.provider = SpeakingProvider(turns(questions))  # type: ignore[assignment]  # the same but held
    await place.shelf.add("house.md", f"# Keys\n\n{KEY}", title="House")
    times = Times()
    async with place.open() as house:
        for number in range(questions):  # each by somebody else, as one person may not ask so much
            person = house.guild.add_member(house.env.create_user(f"person-{number}"))
            await house.env.settle()
            requests = _listen(house.env)
            began = time.perf_counter()
            asked = await person.send(house.channel, f"{house.bot} where is the key?")
            await until(partial(_has_thread, house, asked.id))
            await house.answered()
            times.reaction.append(1_000 * (requests.first(lambda item: item.path.endswith("/typing")) - began))
            times.post.append(1_000 * (requests.first(_is_post) - began))
            times.text.append(1_000 * (requests.first(_is_text) - provider.began))
            times.answer.append(1_000 * (requests.first(_is_text) - provider.let_through))
    return times


def _has_thread(house: House, message_id: int) -> bool:
    return any(thread.id == message_id for thread in house.channel.threads)


def _listen(env: Env) -> Requests:
    """Forget the requests so far, and note the time of those that follow."""
    requests = Requests()
    env.backend.http_requests = requests
    return requests


def _is_post(entry: HttpLogEntry) -> bool:
    return entry.method == "POST" and entry.path.endswith("/messages")


def _is_text(entry: HttpLogEntry) -> bool:
    return entry.method == "PATCH" and "I have" in str(entry.json)


def _row(milliseconds: Sequence[float], goal: float) -> tuple[str, str, str]:
    p95 = quantiles(milliseconds, n=20)[-1]
    return f"{median(milliseconds):.0f} ms", f"{p95:.0f} ms", f"{goal:.0f} ms, {'met' if p95 < goal else 'missed'}"


if __name__ == "__main__":
    main()
