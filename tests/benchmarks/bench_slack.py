"""How soon Slack is told that an event was taken in, while fifty of them arrive every second.

    python -m tests.benchmarks.bench_slack [--seconds S] [--rate N] [--questions N] [--transport socket|http]

The real `footnote serve` on a Slack on loopback, over each transport: people talk to each other, some mention the bot
in a channel, and some ask on in its threads. A question is acknowledged once it is stored durably.
Goals: 95 of 100 events in under 100 ms (Slack itself gives three seconds), and a sign of work within 300 ms. With
`--rate 20 --questions 0`, people only talk: goal less than 5 % of a core. What stands in for Slack, and the answering,
have the same cores.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from itertools import cycle
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.e2e.platform_service import NEXT_QUESTION, QUESTION, ingest_notes
from tests.e2e.slack_service import TRANSPORTS, SlackService, Transport
from tests.slack_server import Message, Person, SlackServer
from tests.slack_server.delivery import Parcel

SECONDS = 30.0
RATE = 50  # events a second
QUESTIONS = 2  # of them a second: a mention, then a question in its thread, and so on
GOAL_MS = 100.0
REACTION_GOAL_MS = 300.0
SIGNS = ("agents.sessions.setStatus", "assistant.threads.setStatus", "chat.startStream", "chat.postMessage")
IDLE_SECONDS = 10.0
PEOPLE = 100  # as each may ask only so often
CHANNELS = 5
TIMEOUT_SECONDS = 120.0  # for the last answers
HEARD = ("app_mention", "message")  # what people cause; the bot's own posts come back to it besides


@dataclass(kw_only=True)
class Figures:
    """What came of one transport."""

    events_a_second: float
    milliseconds: list[float]  # to each acknowledgement
    again: int  # deliveries that failed
    asked: int
    answered: int
    posts: int
    first_answer: list[float]  # seconds from each question to its first words
    reaction: list[float]  # milliseconds from each mention to the sign of work
    core_share: float  # of a core, used by the service
    idle_share: float  # the same, while nobody talks

    @property
    def event_milliseconds(self) -> float:
        """CPU time of an event, of all threads of the service."""
        return 1_000 * (self.core_share - self.idle_share) / self.events_a_second


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seconds", type=float, default=SECONDS)
    arguments.add_argument("--rate", type=int, default=RATE, help="events a second")
    arguments.add_argument("--questions", type=int, default=QUESTIONS, help="questions a second, among them")
    arguments.add_argument("--transport", choices=TRANSPORTS)
    chosen = arguments.parse_args()
    for transport in [chosen.transport] if chosen.transport else TRANSPORTS:
        figures = asyncio.run(measure(transport, chosen.seconds, chosen.rate, chosen.questions))
        table = Table("of Slack's events", "", title=f"Slack, {transport}")
        for row in _rows(figures):
            table.add_row(*row)
        Console().print(table)


async def measure(transport: Transport, seconds: float, rate: int, questions: int) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "notes").mkdir()
        with redirect_stdout(StringIO()):
            data = await asyncio.to_thread(ingest_notes, place / "notes")
        async with SlackServer() as server:
            service = SlackService(server, data, place, transport)
            crowd = Crowd(service)
            await service.start()
            await service.ask(crowd.next_person(), crowd.channels[0])  # models are loaded by the first question
            idle = await _share(service, asyncio.sleep(IDLE_SECONDS))
            before, began = len(server.parcels), time.monotonic()
            busy = await _share(service, crowd.talk(seconds, rate, questions))
            took = time.monotonic() - began
            await server.wait_for(crowd.is_answered, TIMEOUT_SECONDS, what="all answers")
            await server.settle(TIMEOUT_SECONDS)
            parcels = [one for one in server.parcels[before:] if one.name in HEARD]
            figures = crowd.figures(parcels, took, core_share=busy, idle_share=idle)
            await service.stop()
            return figures


async def _share(service: SlackService, work: Coroutine[Any, Any, None]) -> float:
    """Return the share of a core that the service used during `work`."""
    began, used = time.monotonic(), service.process.cpu_seconds
    await work
    return (service.process.cpu_seconds - used) / (time.monotonic() - began)


class Crowd:
    """People in a few channels, who talk as fast as they are told to."""

    def __init__(self, service: SlackService) -> None:
        self._service = service
        self._server = service.server
        self.channels = [self._server.create_channel(service.team, f"general-{number}") for number in range(CHANNELS)]
        people = [self._server.person(f"person-{number}", *self.channels) for number in range(PEOPLE)]
        self._people, self._places = cycle(people), cycle(self.channels)
        self._asked: list[Message] = []  # in channels: each opened a thread
        self._asked_at: dict[str, float] = {}  # loop time, by `ts`
        self._follow_ups: dict[str, int] = {}  # by thread

    def next_person(self) -> Person:
        return next(self._people)

    async def talk(self, seconds: float, rate: int, questions: int) -> None:
        """Each second `rate` events: mentions are two of them."""
        mentions, follow_ups = (questions + 1) // 2, questions // 2
        others = rate - 2 * mentions - follow_ups
        second: list[Callable[[], Coroutine[Any, Any, None]]] = [self._say] * others
        for number, act in enumerate([self._mention] * mentions + [self._follow_up] * follow_ups):
            second.insert(number * len(second) // max(questions, 1), act)
        began = time.monotonic()
        for number in range(int(seconds * len(second))):
            await asyncio.sleep(max(0.0, began + number / len(second) - time.monotonic()))
            await second[number % len(second)]()

    async def _say(self) -> None:
        await next(self._people).say(next(self._places), "The red kite of Ondar is late again, I hear.")

    async def _mention(self) -> None:
        began = asyncio.get_running_loop().time()
        self._asked.append(await next(self._people).mention(next(self._places), QUESTION))
        self._asked_at[self._asked[-1].ts] = began

    async def _follow_up(self) -> None:
        """In the oldest thread that is answered and has none yet; else a mention."""
        thread = next((one for one in self._asked if one.root not in self._follow_ups and self._count(one)), None)
        if thread is None:
            await self._mention()
            return
        self._follow_ups[thread.root] = 1
        await next(self._people).reply(thread, NEXT_QUESTION)

    def _wanted(self, thread: Message) -> int:
        return 1 + self._follow_ups.get(thread.root, 0)

    def _count(self, thread: Message) -> int:
        return len(self._service.finals(thread.channel, thread))

    def is_answered(self) -> bool:
        return all(self._count(thread) >= self._wanted(thread) for thread in self._asked)

    def _reaction(self, asked: Message) -> float:
        """Return the milliseconds to the first status of a question's thread, or else to its post."""
        signs = (
            call for name in SIGNS for call in self._server.calls(name) if call.params.get("thread_ts") == asked.ts
        )
        return 1_000 * (min((call.at for call in signs), default=0.0) - self._asked_at[asked.ts])

    def figures(self, parcels: Sequence[Parcel], took: float, *, core_share: float, idle_share: float) -> Figures:
        threads = self._asked
        people = {user for channel in self.channels for user in channel.members} - {self._service.team.bot.id}
        caused = [one for one in parcels if one.event.get("user") in people]
        firsts = [(one, self._server.answers(one.channel, thread=one)[0]) for one in threads]
        return Figures(
            events_a_second=len(caused) / took,
            milliseconds=[1_000 * one.after_seconds for one in parcels if one.after_seconds is not None],
            again=sum(len(one.failures) for one in parcels),
            asked=sum(map(self._wanted, threads)),
            answered=sum(map(self._count, threads)),
            posts=sum(len(self._server.answers(one.channel, thread=one)) for one in threads),
            reaction=[self._reaction(one) for one in threads],
            core_share=core_share,
            idle_share=idle_share,
            first_answer=[float(answer.ts) - float(one.ts) for one, answer in firsts],
        )


def _rows(figures: Figures) -> list[tuple[str, str]]:
    p95 = quantiles(figures.milliseconds, n=20)[-1]
    doubled = figures.posts - figures.answered
    return [
        ("arrived a second", f"{figures.events_a_second:.0f}"),
        ("until acknowledged, median", f"{median(figures.milliseconds):.0f} ms"),
        ("p95", f"{p95:.0f} ms (goal {GOAL_MS:.0f} ms, {'met' if p95 < GOAL_MS else 'missed'})"),
        ("slowest", f"{max(figures.milliseconds):.0f} ms"),
        ("failed, and sent again", str(figures.again)),
        ("of a core, used by the service", f"{figures.core_share:.1%} ({figures.idle_share:.1%} while nobody talks)"),
        ("CPU time of an event", f"{figures.event_milliseconds:.2f} ms"),
        ("questions answered", f"{figures.answered} of {figures.asked}, {doubled} posts too many"),
        *(_questions(figures) if figures.first_answer else ()),
    ]


def _questions(figures: Figures) -> list[tuple[str, str]]:
    reaction = quantiles(figures.reaction, n=20)[-1]
    met = "met" if reaction < REACTION_GOAL_MS else "missed"
    return [
        ("from a mention to the sign of work, p95", f"{reaction:.0f} ms (goal {REACTION_GOAL_MS:.0f} ms, {met})"),
        ("from a question to its post, median", f"{1_000 * median(figures.first_answer):.0f} ms"),
    ]


if __name__ == "__main__":
    main()
