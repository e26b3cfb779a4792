"""What each context strategy costs in tokens, with and without a provider's cache, and whether follow-ups still work.

    python -m tests.benchmarks.bench_context [--library FOLDER] [--questions FILE] [--rounds N]

One conversation, the same transcript for all: every question of the file in its order, asked of a scripted model that
looks each up and answers with what it is shown. Tokens are estimated from the requests in the form the Anthropic API
gets them, at four bytes a token. "Cached" is what a prefix cache saves: the beginning of a request up to the last block
that an earlier request had as well and marked. "Paid" counts a cached token as a tenth and a written one as a quarter
more, which is what Anthropic asks for them; without a cache all tokens are paid. Follow-ups are asked of the provider
without a model, once in each strategy: whether a footnote is on the right document.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bot.config import Config
from bot.wiring.parts import Parts, open_parts
from bot.wiring.pipeline import build_pipeline
from core.answering.context import BYTES_PER_TOKEN
from core.domain.answer import Answer
from core.domain.chat import ChatRequest
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.replies import ChatResponse
from core.work.progress import SilentProgress
from storage.models.anthropic.messages import to_params
from tests.benchmarks.bench_questions import SAMPLE_LIBRARY, SAMPLE_QUESTIONS, InstantModel
from tests.pipeline import OneProvider
from tests.scripted import says

STRATEGIES = ("full", "window", "summary")
READ_PRICE, WRITE_PRICE = 0.1, 1.25  # of a plain input token
Json = Mapping[str, Any]


@dataclass
class PrefixCache:
    """What a provider would find of each request; holds every prefix that a request marked."""

    known: set[str] = field(default_factory=set)
    tokens: int = 0
    read: int = 0
    written: int = 0

    def take(self, request: ChatRequest) -> None:
        params = to_params(request, model="m", max_tokens=1)
        blocks: list[Any] = [*params.get("tools", []), *params.get("system", [])]
        blocks += [(turn["role"], block) for turn in params["messages"] for block in turn["content"]]
        prefix, read, marked = "", 0, 0
        for block in blocks:
            plain = block[1] if isinstance(block, tuple) else block
            prefix += json.dumps([block[0] if isinstance(block, tuple) else "", _bare(plain)])
            if prefix in self.known:
                read = len(prefix)
            if "cache_control" in plain:
                self.known.add(prefix)
                marked = len(prefix)
        self.tokens += len(prefix) // BYTES_PER_TOKEN
        self.read += read // BYTES_PER_TOKEN
        self.written += max(0, marked - read) // BYTES_PER_TOKEN

    @property
    def paid(self) -> float:
        return self.tokens - self.read - self.written + READ_PRICE * self.read + WRITE_PRICE * self.written


def _bare(block: Json) -> Json:
    return {name: value for name, value in block.items() if name != "cache_control"}


class CountedModel(InstantModel):
    """Counts what it is sent; asked for notes of the conversation, it writes a hundred words."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = PrefixCache()

    async def complete(self, request: ChatRequest, on_text: object = None) -> ChatResponse:
        self.cache.take(request)
        if not request.tools:
            return says("Asked and found before. " * 25)
        return await super().complete(request, on_text)


async def ask_all(app: Parts, questions: Sequence[Json], thread: str) -> list[Answer]:
    """In one thread, one after the other."""
    address = ThreadAddress(platform="terminal", workspace=app.workspace, channel="bench", thread=thread)
    answers = []
    for place, question in enumerate(questions):
        message = IncomingMessage(
            address=address, author="bench", text=question["question"], event_key=f"{thread}-{place}"
        )
        answers.append(await build_pipeline(app).answer(message, SilentProgress()))
    return answers


def followed_up(questions: Sequence[Json], answers: Sequence[Answer]) -> tuple[int, int]:
    """Follow-ups with a footnote on the right document, and how many there are."""
    pairs = [(q, a) for q, a in zip(questions, answers, strict=True) if q.get("followup_of")]
    return sum(any(c.document == q["document"] for c in a.citations) for q, a in pairs), len(pairs)


async def run(library: Path, questions: Sequence[Json], rounds: int) -> Table:
    table = Table("Context", "Tokens an answer", "Cached", "Paid", "Follow-ups", "Calls")
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        async with open_parts(Config(data_dir=data)) as app:
            await app.ingests.add(
                [library], app.workspace, source="bench", kind="auto", force=False, progress=lambda _: None
            )
        for name in STRATEGIES:
            model = CountedModel()
            async with open_parts(_config(data, name, "anthropic")) as app:
                vars(app)["providers"] = OneProvider(model)
                await ask_all(app, [*questions] * rounds, f"counted-{name}")
            async with open_parts(_config(data, name, "extractive")) as app:
                answers = await ask_all(app, questions, f"asked-{name}")
            cache, count = model.cache, len(questions) * rounds
            right, there = followed_up(questions, answers)
            table.add_row(
                name,
                f"{cache.tokens / count:,.0f}",
                f"{cache.read / cache.tokens:.0%}",
                f"{cache.paid / count:,.0f}",
                f"{right} of {there}",
                f"{statistics.mean([len(model.prompt_tokens) / count]):.1f}",
            )
    return table


def _config(data: Path, context: str, provider: str) -> Config:
    return Config.model_validate({"data_dir": data, "agent": {"context": context}, "provider": {"name": provider}})


def main() -> None:
    parser = argparse.ArgumentParser(description="Tokens of an answer for each context strategy.")
    parser.add_argument("--library", type=Path, default=SAMPLE_LIBRARY)
    parser.add_argument("--questions", type=Path, default=SAMPLE_QUESTIONS)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    questions = [json.loads(line) for line in options.questions.read_text(encoding="utf-8").splitlines()]
    Console().print(asyncio.run(run(options.library, questions, options.rounds)))


if __name__ == "__main__":
    main()
