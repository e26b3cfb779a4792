"""The people's side: questions, each thread's in order, delivered until there is a receipt, some of them twice."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from aiohttp import ClientConnectorError, ClientError, ClientSession, ClientTimeout

from tests.entering import SAME_SITE, cookies_of
from tests.kill.served.process import HOUSES

CHANNEL = "general"
PERSON = {"footnote_person": "ada"}
POST_SECONDS = 30.0  # then it counts as broken
PAUSE_SECONDS = 0.1  # before it is sent again
LATER = 2  # a late repeat comes with this many questions of its thread in between


class Repeat(Enum):
    """How an event is delivered a second time."""

    NONE = "none"
    AT_ONCE = "at once"  # both on their way at the same time
    LATER = "later"  # long after its receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    key: str
    thread: int
    text: str
    repeat: Repeat


def build_questions(count: int, threads: int, repeated: float, choices: random.Random) -> list[Question]:
    """Questions in the order they are asked; a share of them is delivered twice."""
    twice = choices.sample(range(count), round(repeated * count))
    repeats = {number: (Repeat.AT_ONCE, Repeat.LATER)[place % 2] for place, number in enumerate(twice)}
    return [
        Question(
            key=f"q{number}",
            thread=number % threads,
            text=f"Where does the key of house {choices.randrange(HOUSES)} hang, asks guest {number}?",
            repeat=repeats.get(number, Repeat.NONE),
        )
        for number in range(count)
    ]


class Refused(Exception):
    """The service answered and took nothing; the text is its sentence."""


class Door:
    """The door of the web chat, used as a platform would: what got no receipt is sent again, with its key."""

    def __init__(self, url: str) -> None:
        self._url = url
        timeout = ClientTimeout(total=POST_SECONDS)
        self.session = ClientSession(url, cookies=PERSON, headers=SAME_SITE, timeout=timeout)
        self.broken = 0  # deliveries whose connection broke, or that got no reply
        self.repeats = 0  # deliveries of what had a receipt, or was on its way

    @property
    def cookies(self) -> dict[str, str]:
        """Those of the session that was entered at this address."""
        return cookies_of(self._url)

    async def close(self) -> None:
        await self.session.close()

    async def post(self, question: Question, thread: str) -> dict[str, Any]:
        """One delivery; gives the receipt. Refused, or aiohttp's errors."""
        message = {"channel": CHANNEL, "thread": thread, "key": question.key}
        text = question.text if thread else f"@footnote {question.text}"
        sent = {"json": {**message, "text": text}, "cookies": self.cookies}
        async with self.session.post("/chat/messages", **sent) as reply:
            body: dict[str, Any] = await reply.json()
        if reply.status == 503:
            raise Refused(body["error"])
        if reply.status != 200 or not body["accepted"]:
            raise RuntimeError(f"{question.key} got {reply.status} {body}")
        return body

    async def deliver(self, question: Question, thread: str) -> str:
        """Post until there is a receipt; gives the thread that the question is in."""
        while True:
            try:
                receipt = await self.post(question, thread)
            except ClientConnectorError:
                pass  # nobody listens: it never left
            except (ClientError, TimeoutError):
                self.broken += 1
            else:
                return str(receipt["thread"])
            await asyncio.sleep(PAUSE_SECONDS)

    async def feed(self, questions: Sequence[Question], pace: asyncio.Semaphore) -> str:
        """Deliver a thread's questions in order, each when `pace` lets it; gives the thread's name."""
        thread = ""
        for place, question in enumerate(questions):
            await pace.acquire()
            places = await asyncio.gather(*[self.deliver(question, thread) for _ in range(self._times(question))])
            assert len(set(places)) == 1
            before = questions[place - LATER] if place >= LATER else None
            if before is not None and before.repeat is Repeat.LATER:
                await self._again(before, places[0], is_first=place == LATER)
            thread = places[0]
        for place, question in enumerate(questions[-LATER:], max(0, len(questions) - LATER)):
            if question.repeat is Repeat.LATER:
                await self._again(question, thread, is_first=place == 0)
        return thread

    def _times(self, question: Question) -> int:
        self.repeats += question.repeat is Repeat.AT_ONCE
        return 2 if question.repeat is Repeat.AT_ONCE else 1

    async def _again(self, question: Question, thread: str, *, is_first: bool) -> None:
        """A repeat of what has its receipt; the first of a thread was sent to the channel."""
        self.repeats += 1
        assert await self.deliver(question, "" if is_first else thread) == thread

    async def show(self, thread: str) -> dict[str, Any]:
        """A thread as people see it."""
        async with self.session.get(f"/chat/threads/{CHANNEL}/{thread}", cookies=self.cookies) as reply:
            assert reply.status == 200, await reply.text()
            body: dict[str, Any] = await reply.json()
        return body

    async def is_idle(self) -> bool:
        """Whether nothing accepted waits for its answer, as the service counts."""
        async with self.session.get("/metrics", cookies=self.cookies) as reply:
            lines = (await reply.text()).splitlines()
        return all(line.endswith(" 0.0") for line in lines if line.startswith("footnote_queue_depth{"))
