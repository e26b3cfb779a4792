"""What a question costs outside the model: search, tools, proof, suggestions, job tree and history.

    python -m tests.benchmarks.bench_questions [--library FOLDER] [--questions FILE] [--rounds N]

Two rows. "scripted model": a model that answers at once, so all time is ours. "extractive": the provider without a
model, with the cross-encoder's time taken out and shown beside it. Goal: p95 under 60 ms. Prompt tokens are estimated
at four characters a token from the requests the scripted model was sent.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bot.cli.questions import question_message
from bot.config import Config
from bot.wiring.parts import build_parts, open_parts
from bot.wiring.pipeline import build_pipeline
from core.answering.context import BYTES_PER_TOKEN
from core.domain.chat import Capabilities, ChatRequest, ToolInvocation
from core.domain.replies import ChatResponse, CitedText, PassageCitation
from core.ports import ChatProvider
from core.work.progress import SilentProgress
from storage.models.local.encoders import CrossEncoderJudge
from tests.pipeline import OneProvider
from tests.scripted import calls

ROOT = Path(__file__).parents[2]
SAMPLE_LIBRARY = ROOT / "bot" / "sample_library" / "documents"
SAMPLE_QUESTIONS = ROOT / "tests" / "data" / "sample_questions.jsonl"
WARM_UP = 3


class InstantModel:
    """Searches for the question, then cites the first sentence it was shown."""

    name = "instant"
    capabilities = Capabilities(citations=True)

    def __init__(self) -> None:
        self.prompt_tokens: list[int] = []

    async def complete(self, request: ChatRequest, on_text: object = None) -> ChatResponse:
        self.prompt_tokens.append(len(repr(request).encode()) // BYTES_PER_TOKEN)
        last = request.messages[-1]
        if not last.tool_results:
            return calls(ToolInvocation(id="t1", name="search", arguments={"query": last.text}))
        shown = [item.source.passage for result in last.tool_results for item in result.passages]
        if not shown:
            return ChatResponse(segments=(CitedText(text="The documents do not say."),))
        page_text_start = shown[0].span.start
        span = shown[0].sentences[0]
        quote = shown[0].text[span.start - page_text_start : span.end - page_text_start]
        claim = PassageCitation(passage_id=shown[0].id, span=span, cited_text=quote)
        return ChatResponse(segments=(CitedText(text=quote, citations=(claim,)),))

    async def close(self) -> None:
        """Nothing is open."""


class TimedJudge:
    """The cross-encoder, with its time counted."""

    def __init__(self, judge: CrossEncoderJudge) -> None:
        self._judge = judge
        self.seconds = 0.0

    async def relevance(self, question: str, texts: Sequence[str]) -> list[float]:
        started = time.perf_counter()
        try:
            return await self._judge.relevance(question, texts)
        finally:
            self.seconds += time.perf_counter() - started


async def measure(
    config: Config, questions: Sequence[str], provider: ChatProvider | None
) -> tuple[list[float], list[float]]:
    """Milliseconds of each question: in all but the cross-encoder, and in the cross-encoder."""
    ours, judging = [], []
    async with AsyncExitStack() as stack:
        app = await build_parts(config, stack)
        if provider is not None:
            vars(app)["providers"] = OneProvider(provider)
        judge = TimedJudge(app.judge)
        vars(app)["judge"] = judge
        pipeline = build_pipeline(app)
        for number, question in enumerate([*questions[:WARM_UP], *questions]):
            before = judge.seconds
            started = time.perf_counter()
            await pipeline.answer(question_message(app.workspace, question), SilentProgress())
            judged = judge.seconds - before
            if number >= WARM_UP:
                ours.append((time.perf_counter() - started - judged) * 1000)
                judging.append(judged * 1000)
    return ours, judging


async def run(library: Path, questions: Sequence[str]) -> Table:
    table = Table("Provider", "Questions", "Ours p50 ms", "Ours p95 ms", "Cross-encoder p50 ms", "Prompt tokens p50")
    with tempfile.TemporaryDirectory() as folder:
        config = Config(data_dir=Path(folder))
        async with open_parts(config) as app:
            await app.ingests.add(
                [library], app.workspace, source="bench", kind="auto", force=False, progress=lambda _: None
            )
        instant = InstantModel()
        for name, provider in (("scripted model", instant), ("extractive", None)):
            ours, judging = await measure(config, questions, provider)
            p95 = statistics.quantiles(ours, n=20)[-1]
            tokens = f"{statistics.median(instant.prompt_tokens):.0f}" if provider else "-"
            table.add_row(
                name,
                str(len(ours)),
                f"{statistics.median(ours):.1f}",
                f"{p95:.1f}",
                f"{statistics.median(judging):.1f}",
                tokens,
            )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description="What a question costs outside the model.")
    parser.add_argument("--library", type=Path, default=SAMPLE_LIBRARY)
    parser.add_argument("--questions", type=Path, default=SAMPLE_QUESTIONS)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    lines = options.questions.read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines] * options.rounds
    Console().print(asyncio.run(run(options.library, questions)))


if __name__ == "__main__":
    main()
