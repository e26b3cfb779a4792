"""An answer service over a real database and a library in memory: small enough to be killed many times."""

import asyncio
import json
import os
import random
from collections.abc import Callable
from pathlib import Path

from core.answering.pipeline import Pipeline, QuestionContext
from core.answering.run import RunObserver
from core.answering.tools.toolbox import Toolbox
from core.domain.answer import Answer
from core.domain.incoming import ThreadAddress
from core.domain.service import InboxEntry
from core.ports import Clock, RetrievalStrategy
from core.work.progress import SilentProgress
from storage.database import Database
from tests.pipeline import always
from tests.pipeline import build_answers as build_product
from tests.unit.core.library_builder import Shelf

PLATFORM = "web"
REPLY_SECONDS = 0.03  # at most, each way, between here and the platform


def build_answers(
    database: Database, clock: Clock, shelf: Shelf, make: Callable[[RunObserver], RetrievalStrategy], **pipeline: object
) -> Pipeline:
    def toolbox(context: QuestionContext, observer: RunObserver) -> Toolbox:
        return shelf.toolbox(observer=observer, scope=context.scope)

    return build_product(
        shelf,
        clock=clock,
        database=database,
        has_references=False,
        pipeline={"strategy": always(make), "toolbox": toolbox, **pipeline},
    )


class FilePlatform:
    """A platform that is a file: each raw post is a line, and nothing but looking keeps it from posting twice."""

    name = PLATFORM

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mine: dict[str, int] = {}  # post numbers by message key that this process knows of

    async def open(self, entry: InboxEntry) -> SilentProgress:
        return SilentProgress()

    async def post(self, address: ThreadAddress, message_key: str, answer: Answer, *, look_first: bool) -> str:
        return await self._put(address, message_key, answer.text, look_first=look_first)

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> str:
        return await self._put(address, message_key, f"Error: {sentence}", look_first=True)

    async def remove(self, entry: InboxEntry) -> None:
        raise AssertionError(entry)

    async def redact(self, entry: InboxEntry, sentence: str) -> None:
        raise AssertionError(entry)

    async def _put(self, address: ThreadAddress, key: str, text: str, *, look_first: bool) -> str:
        known = self._mine.get(key)
        if known is None and look_first:
            known = next((place for place, post in enumerate(read_posts(self._path)) if post["key"] == key), None)
        if known is None:
            await asyncio.sleep(random.uniform(0, REPLY_SECONDS))
            append_line(self._path, {"key": key, "thread": address.thread, "text": text})
            await asyncio.sleep(random.uniform(0, REPLY_SECONDS))  # it is posted, and nobody here knows
            known = 0
        self._mine[key] = known
        return f"file/{key}"


def append_line(path: Path, value: object) -> None:
    """One write: a kill leaves a whole line or none."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, json.dumps(value).encode() + b"\n")
    finally:
        os.close(handle)


def read_posts(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []
