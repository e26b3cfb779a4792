"""What questions of five shapes cost in tokens, over the real SDK and the scripted model server, as the server counts.

    python -m tests.benchmarks.bench_tokens [--library FOLDER] [--questions FILE] [--context NAME] [--data-dir FOLDER]

Paid tokens are in units of one plain input token, by Anthropic's prices:

    paid = input not from the cache + 1.25 x written to the cache + 0.1 x read from it + 5 x output

"After a pause" is the same, with a cache that is empty at the start of each question (it lasts five minutes). Reported
is the answer's own usage, to compare with the server's count. The server counts four characters of JSON a token. The
model calls the tools that the scenario names, and cites the sentence with the expected quote, else the first one shown.
"""

import argparse
import asyncio
import json
import os
import random
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bot.config import Config
from bot.wiring.parts import Parts, open_parts
from bot.wiring.pipeline import build_pipeline
from core.domain.answer import Answer
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.text.words import collapse
from core.work.progress import SilentProgress
from tests.anthropic_server import AnthropicServer, Call, Cite, Reply, Say
from tests.anthropic_server.messages import CHARS_PER_TOKEN
from tests.anthropic_server.server import KEY, MODEL
from tests.anthropic_server.validation import blocks_within, merged_turns
from tests.benchmarks.bench_questions import SAMPLE_LIBRARY, SAMPLE_QUESTIONS

WRITE_PRICE, READ_PRICE, OUTPUT_PRICE = 1.25, 0.1, 5  # in plain input tokens
JOURNAL = "The Long Watch"
SECTIONS, SENTENCES = 25, 30  # of the long journal
FOLLOW_UPS = 10
STEPS = 6
POINTS = 6  # of the notes on a section
Json = dict[str, Any]
Line = Mapping[str, Any]  # of the question file


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question with the rounds of tool calls that the model makes for it."""

    text: str
    rounds: Sequence[Sequence[Call]]
    quote: str = ""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The tokens of one question."""

    requests: int
    tokens: int
    read: int
    written: int
    output: int
    reported: int  # input and output, by the answer's usage

    @property
    def paid(self) -> float:
        plain = self.tokens - self.output - self.read - self.written
        return plain + WRITE_PRICE * self.written + READ_PRICE * self.read + OUTPUT_PRICE * self.output


def scenarios(lines: Sequence[Line]) -> dict[str, list[Asked]]:
    """Conversations by name; the last question of each is measured."""
    lookups = [line for line in lines if line.get("type", "lookup") == "lookup" and line.get("document")]
    first = lookups[0]
    page = Call("get_page", {"document": first["document"], "page_number": 1})
    section = str(first.get("page_or_section") or "")
    words = first["question"].split()
    tries = [first["question"], section, first.get("quote", "")[:60], " ".join(words[2:]), " ".join(words[-4:])]
    steps = [[_search(query or first["question"])] for query in [*tries, f"{section} {' '.join(words[-3:])}"]]
    talk = [line for line in lines if line.get("type") in ("lookup", "followup")][: FOLLOW_UPS + 1]
    summary = {"query": f"Summarise {JOURNAL}", "query_type": "summary", "journal_name": JOURNAL}
    return {
        "one search": [_asked(first, [[_search(first["question"])]])],
        "two searches and a page": [
            _asked(first, [[_search(first["question"]), _search(f"{section} {' '.join(words[2:])}")], [page]])
        ],
        "six steps": [_asked(first, steps[:STEPS])],
        "tenth follow-up": [_asked(line, [[_search(line["question"])]]) for line in talk],
        "summary of a long journal": [Asked(text=f"Summarise {JOURNAL}.", rounds=[[Call("query_journal", summary)]])],
    }


def _search(query: str) -> Call:
    return Call("search", {"query": query})


def _asked(line: Line, rounds: Sequence[Sequence[Call]]) -> Asked:
    return Asked(text=line["question"], rounds=rounds, quote=collapse(str(line.get("quote") or "")))


def write_journal(folder: Path) -> Path:
    """Write a Foundry journal of many sections; the same each time."""
    rng = random.Random(17)
    people = "Orla Penn,Tam Brook,Idris Vale,Mab Thorne,Ewan Slate,Nell Harrow".split(",")
    acts = "mends the lamp,counts the barrels,hears a horn,closes the west door,writes to the reeve,finds a key".split(
        ","
    )
    places = "at the weir,in the tower,below the stair,by the old kiln,on the north wall,near the ferry".split(",")
    pages = []
    for number in range(1, SECTIONS + 1):
        said = [
            f"In watch {number}.{at} {rng.choice(people)} {rng.choice(acts)} {rng.choice(places)}, "
            f"and {rng.randint(2, 90)} coins change hands."
            for at in range(1, SENTENCES + 1)
        ]
        paragraphs = ["<p>" + " ".join(said[at : at + 6]) + "</p>" for at in range(0, SENTENCES, 6)]
        page = {"_id": f"watch{number:011}", "name": f"Watch {number}", "type": "text", "sort": number * 1000}
        pages.append({**page, "text": {"format": 1, "content": "".join(paragraphs)}})
    path = folder / "the-long-watch.json"
    path.write_text(json.dumps({"_id": "longWatch0000001", "name": JOURNAL, "pages": pages}), encoding="utf-8")
    return path


class Model:
    """What the server says: the rounds of a question, then its answer; notes, if it is asked without tools."""

    def __init__(self, asked: Asked) -> None:
        self._rounds = list(asked.rounds)
        self._quote = asked.quote

    def __call__(self, body: Json) -> Reply:
        turns = merged_turns(body["messages"])
        if not body.get("tools"):
            return _reply(Say(_notes(turns)))
        if self._rounds and body.get("tool_choice", {}).get("type") != "none" and not _is_bounded(turns):
            return _reply(Say("Let me look that up."), *self._rounds.pop(0))
        return _reply(self._answer(turns))

    def _answer(self, turns: list[Json]) -> Say:
        found = [b for b in blocks_within(turns[-1]["content"]) if b["type"] == "search_result"]
        found = found or [b for turn in turns for b in blocks_within(turn["content"]) if b["type"] == "search_result"]
        shown = [block["text"] for turn in turns for b in blocks_within(turn["content"])
                 if b["type"] == "search_result" for block in b["content"]]  # fmt: skip
        if not found:
            return Say("The documents do not say.")
        gold = next((text for text in shown if self._quote and self._quote[:40] in collapse(text)), None)
        quote = (gold or found[0]["content"][0]["text"]).strip()
        return Say(collapse(quote), cites=(Cite(quote),))


def _is_bounded(turns: list[Json]) -> bool:
    return any("limit of" in str(block.get("text", "")) for block in turns[-1]["content"] if block["type"] == "text")


def _notes(turns: list[Json]) -> str:
    """Six points of a section, as the prompt asks for; else a hundred words about a conversation."""
    text = str(turns[-1]["content"][-1]["text"])
    if not text.startswith("["):
        return "Asked and found before. " * 25
    parts = [part.partition("] ")[2].split(". ") for part in text.split("\n\n") if part.startswith("[")]
    points = [(place, sentence) for place, said in enumerate(parts, 1) for sentence in said]
    chosen = points[:: max(1, len(points) // POINTS)][:POINTS]
    return "\n".join(f"- {sentence.rstrip('.')}. [{place}]" for place, sentence in chosen)


def _reply(*parts: Say | Call) -> Reply:
    written = sum(len(part.text if isinstance(part, Say) else json.dumps(dict(part.arguments))) for part in parts)
    return Reply.of(*parts, output_tokens=max(1, written // CHARS_PER_TOKEN))


async def ask(
    app: Parts, server: AnthropicServer, name: str, talk: Sequence[Asked], *, pause: bool
) -> tuple[Cost, Answer]:
    """Ask all questions in one thread; return the cost of the last."""
    thread = f"{name}-{uuid.uuid4().hex}"
    address = ThreadAddress(platform="terminal", workspace=app.workspace, channel="bench", thread=thread)
    server.cache.clear()
    for place, asked in enumerate(talk):
        if pause:
            server.cache.clear()
        before = len(server.usages)
        server.otherwise = Model(asked)
        message = IncomingMessage(address=address, author="bench", text=asked.text, event_key=f"{thread}-{place}")
        answer = await build_pipeline(app).answer(message, SilentProgress())
    return _cost(server.usages[before:], answer), answer


def _cost(usages: Sequence[Json], answer: Answer) -> Cost:
    read, written = (sum(usage[f"cache_{name}_input_tokens"] for usage in usages) for name in ("read", "creation"))
    output = sum(usage["output_tokens"] for usage in usages)
    return Cost(
        requests=len(usages),
        tokens=sum(usage["input_tokens"] for usage in usages) + read + written + output,
        read=read,
        written=written,
        output=output,
        reported=answer.usage.input_tokens + answer.usage.output_tokens,
    )


async def run(options: argparse.Namespace, data: Path) -> tuple[Table, dict[str, str]]:
    lines = [json.loads(line) for line in options.questions.read_text(encoding="utf-8").splitlines()]
    table = Table("Question", "Requests", "Tokens", "Reported", "Read", "Written", "Output", "Paid", "After a pause")
    answers = {}
    async with AnthropicServer() as server:
        os.environ["ANTHROPIC_API_KEY"] = KEY
        provider = {"name": "anthropic", "model": MODEL, "base_url": server.url}
        agent = {"context": options.context} if options.context else {}
        config = Config.model_validate({"data_dir": data, "provider": provider, "agent": agent})
        async with open_parts(config) as app:
            for folder, source in ((options.library, "bench"), (write_journal(data), "journal")):
                await app.ingests.add(
                    [folder], app.workspace, source=source, kind="auto", force=False, progress=lambda _: None
                )
            for name, talk in scenarios(lines).items():
                cost, answer = await ask(app, server, name, talk, pause=False)
                paused = (await ask(app, server, name, talk, pause=True))[0] if len(talk) > 1 else cost
                figures = (cost.requests, cost.tokens, cost.reported, cost.read, cost.written, cost.output)
                table.add_row(name, *(f"{figure:,}" for figure in figures), f"{cost.paid:,.0f}", f"{paused.paid:,.0f}")
                answers[name] = f"{answer.status.value}: {answer.text}"
    return table, answers


def main() -> None:
    parser = argparse.ArgumentParser(description="Tokens of questions of five shapes.")
    parser.add_argument("--library", type=Path, default=SAMPLE_LIBRARY)
    parser.add_argument("--questions", type=Path, default=SAMPLE_QUESTIONS)
    parser.add_argument("--context", choices=("full", "window", "summary"))
    parser.add_argument("--data-dir", type=Path, help="keep the ingested library here, for another run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table, answers = asyncio.run(run(options, options.data_dir or Path(folder)))
    Console(width=140).print(table)
    Console(width=140).print_json(data=answers)


if __name__ == "__main__":
    main()
