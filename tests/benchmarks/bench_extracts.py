"""How much of what people find in documents the extractors find: precision, recall and F1 by kind and style.

    python -m tests.benchmarks.bench_extracts [--library FOLDER] [--gold FILE] [--json] [--misses]

The gold file has a JSON object a line: `document` (its path in the library), `extract_type` and, by type, `date`,
`attendees`, `decisions`, `action_items` [{description, owner, due_date}] (meeting); `columns`, `rows` (table);
`endpoints` [{method, path}], `base_url` (api). `partial`: the document holds more than is listed, so that what is
found beside it is not counted as wrong. Only the documents of the gold file are read.

The style of a decision or action item is where it stands in the file: in a list, a table or a labelled line ("listed"),
or in a paragraph ("prose"), unless the gold line gives `style` for the whole document (as of sentences that bullets
only divide); of a table, the kind of file. A sentence is found when it shares most of its words with
the gold one, a name or an endpoint when it is the same, a cell when a row of the same table has it.
"""

import argparse
import asyncio
import json
import re
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bot.config import Config
from bot.wiring.parts import open_parts
from core.domain.extracts import Extract, ExtractQuery, ExtractType
from core.text.words import collapse, words

ROOT = Path(__file__).parents[2]
SAMPLE_LIBRARY = ROOT / "bot" / "sample_library" / "documents"
SAMPLE_GOLD = ROOT / "tests" / "data" / "sample_extracts.jsonl"
SAME_SENTENCE = 0.6  # F1 of their words, from which on two sentences say the same
_LISTED = re.compile(r"\s*(?:[-*+•|]|\d{1,3}[.)]|\W{0,4}(?:decision|decided|action|agreed|todo)\b[^:]{0,20}:)", re.I)
_MARKS = re.compile(r"[*_`\[\]#>|]|\(https?://\S*\)")


@dataclass(slots=True)
class Score:
    """Counts of one kind and style."""

    gold: int = 0
    found: int = 0  # of what can be right or wrong
    right: int = 0
    misses: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def to_row(self) -> dict[str, float]:
        precision = self.right / self.found if self.found else 0.0
        recall = self.right / self.gold if self.gold else 0.0
        both = precision + recall
        f1 = 2 * precision * recall / both if both else 0.0
        return {
            "gold": self.gold,
            "found": self.found,
            "precision": round(precision, 3),
            "recall": round(recall, 3),
            "f1": round(f1, 3),
        }


Scores = defaultdict[tuple[str, str], Score]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--library", type=Path, default=SAMPLE_LIBRARY, help="the folder of the documents")
    arguments.add_argument("--gold", type=Path, default=SAMPLE_GOLD, help="JSON lines")
    arguments.add_argument("--json", action="store_true", help="print JSON")
    arguments.add_argument("--misses", action="store_true", help="list what was missed, and what was found beside it")
    chosen = arguments.parse_args()
    gold = [json.loads(line) for line in chosen.gold.read_text(encoding="utf-8").splitlines() if line.strip()]
    scores, seconds = asyncio.run(measure(chosen.library, gold))
    if chosen.json:
        rows = [{"kind": kind, "style": style, **score.to_row()} for (kind, style), score in sorted(scores.items())]
        sys.stdout.write(json.dumps({"seconds": round(seconds, 1), "scores": rows}, indent=2) + "\n")
        return
    _print(scores, seconds)
    if chosen.misses:
        _print_misses(scores)


async def measure(library: Path, gold: Sequence[dict[str, Any]]) -> tuple[Scores, float]:
    """The scores, and the seconds that extraction took."""
    documents = dict.fromkeys(str(item["document"]) for item in gold)
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder, "library")
        for document in documents:
            copied.joinpath(document).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library / document, copied / document)
        async with open_parts(Config(data_dir=Path(folder, "data"))) as app:
            await app.ingests.add(
                [copied], app.workspace, source="gold", kind="auto", force=False, progress=lambda done: None
            )
            started = time.perf_counter()
            await app.extractions.run(app.workspace, force=True)
            seconds = time.perf_counter() - started
            extracts = await app.stores.extracts.list_extracts(
                ExtractQuery(limit=1_000_000), await app.access.scope(app.workspace)
            )
        scores: Scores = defaultdict(Score)
        for item in gold:
            own = [extract for extract in extracts if extract.document == item["document"]]
            text = copied.joinpath(item["document"]).read_text(encoding="utf-8", errors="replace")
            _SCORERS[item["extract_type"]](item, own, text, scores)
    return scores, seconds


def score_meeting(gold: dict[str, Any], extracts: Sequence[Extract], text: str, scores: Scores) -> None:
    found = [extract.data for extract in extracts if extract.type is ExtractType.MEETING]
    _count(scores["date", "meeting"], [gold["date"]], [str(item["date"]) for item in found], _equal)
    people = [str(name) for item in found for name in _listed(item["attendees"])]
    _count(scores["attendees", "meeting"], gold["attendees"], people, _same_name)
    decisions = [str(each["text"]) for item in found for each in _listed(item["decisions"])]
    style = gold.get("style")
    _count_styles(scores, "decisions", gold["decisions"], decisions, text, style)
    items = [each for item in found for each in _listed(item["action_items"])]
    told = {str(each["description"]): each for each in items}
    pairs = _count_styles(
        scores, "action items", [each["description"] for each in gold["action_items"]], list(told), text, style
    )
    wanted = {each["description"]: each for each in gold["action_items"]}
    for name in ("owner", "due_date"):
        score = scores[f"action items: {name}", "of those found"]
        for left, right in pairs:
            expected, actual = wanted[left][name], told[right][name]
            score.gold += expected is not None
            score.found += actual is not None
            score.right += expected is not None and actual is not None and bool(_near(str(expected), str(actual)))


def _score_api(gold: dict[str, Any], extracts: Sequence[Extract], text: str, scores: Scores) -> None:
    found = [extract.data for extract in extracts if extract.type is ExtractType.API]
    endpoints = [f"{each['method']} {each['path']}" for item in found for each in _listed(item["endpoints"])]
    wanted = [f"{each['method']} {each['path']}" for each in gold["endpoints"]]
    _count(scores["endpoints", _suffix(gold)], wanted, list(dict.fromkeys(endpoints)), _equal)
    for name in ("service_name", "base_url"):
        if gold.get(name):
            _count(scores[f"api: {name}", _suffix(gold)], [gold[name]], [str(item[name]) for item in found], _near)


def _score_table(gold: dict[str, Any], extracts: Sequence[Extract], text: str, scores: Scores) -> None:
    """Cells of the rows that fit best, each found row for one gold row; the header is a row."""
    score = scores["table cells", _suffix(gold)]
    wanted = [_cells(row) for row in (gold["columns"], *gold["rows"])]
    tables = [
        [_cells(row) for row in (_listed(extract.data["columns"]), *_listed(extract.data["rows"]))]
        for extract in extracts
        if extract.type is ExtractType.TABLE
    ]
    rows = [row for table in tables for row in table]
    left = set(range(len(rows)))
    score.gold += sum(row.total() for row in wanted)
    for row in wanted:
        best = max(left, key=lambda number: (row & rows[number]).total(), default=None)
        hits = (row & rows[best]).total() if best is not None else 0
        score.right += hits
        if best is not None and hits:
            left.discard(best)
            score.found += rows[best].total()
        if hits < row.total():
            score.misses.append(" | ".join((row - rows[best] if best is not None else row).elements()))
    if not gold.get("partial"):
        own = [table for table in tables if sum(any(row & each for each in wanted) for row in table) * 2 > len(table)]
        beside = sum(row.total() for table in own for row in table if not any(row & each for each in wanted))
        score.found += beside


_SCORERS: dict[str, Callable[[dict[str, Any], Sequence[Extract], str, Scores], None]] = {
    "meeting": score_meeting,
    "api": _score_api,
    "table": _score_table,
}


def _count_styles(
    scores: Scores, kind: str, gold: Sequence[str], found: Sequence[str], text: str, all_in: str | None
) -> list[tuple[str, str]]:
    """Counts each style apart; what is found beside the gold is wrong in the style that it is written in.

    `all_in` is the style of the whole document, where the gold file says it.
    """
    pairs = _pairs(gold, found, _same_sentence)
    styles = {item: all_in or _style(item, text) for item in (*gold, *found)}
    for style in sorted(set(styles.values())):
        own = [item for item in gold if styles[item] == style]
        right = [pair for pair in pairs if pair[0] in own]
        beside = [item for item in found if item not in {pair[1] for pair in pairs} and styles[item] == style]
        score = scores[kind, style]
        score.gold += len(own)
        score.right += len(right)
        score.found += len(right) + len(beside)
        score.misses += [item for item in own if item not in {pair[0] for pair in pairs}]
        score.wrong += beside
    return pairs


def _count(score: Score, gold: Sequence[str], found: Sequence[str], same: Callable[[str, str], float]) -> None:
    pairs = _pairs(gold, found, same)
    score.gold += len(gold)
    score.found += len(found)
    score.right += len(pairs)
    score.misses += [item for item in gold if item not in {pair[0] for pair in pairs}]
    score.wrong += [item for item in found if item not in {pair[1] for pair in pairs}]


def _pairs(gold: Sequence[str], found: Sequence[str], same: Callable[[str, str], float]) -> list[tuple[str, str]]:
    """The best pairs first, each item once."""
    fitting = [(same(left, right), left, right) for left in gold for right in found]
    pairs: list[tuple[str, str]] = []
    for fits, left, right in sorted(fitting, key=lambda item: -item[0]):
        if fits and all(left != pair[0] and right != pair[1] for pair in pairs):
            pairs.append((left, right))
    return pairs


def _equal(left: str, right: str) -> float:
    return float(collapse(left) == collapse(right))


def _near(left: str, right: str) -> float:
    """Whether the words of one are all in the other."""
    one, other = set(words(left)), set(words(right))
    return float(bool(one and other) and (one <= other or other <= one))


def _same_name(left: str, right: str) -> float:
    plain = [" ".join(words(re.sub(r"\(.*?\)|@\S+", " ", name))) for name in (left, right)]
    return float(bool(plain[0]) and plain[0] == plain[1])


def _same_sentence(left: str, right: str) -> float:
    one, other = Counter(words(_MARKS.sub(" ", left))), Counter(words(_MARKS.sub(" ", right)))
    f1 = 2 * (one & other).total() / (one.total() + other.total()) if one and other else 0.0
    return f1 if f1 >= SAME_SENTENCE else 0.0


def _style(item: str, text: str) -> str:
    """Where the line that shares most words with it stands."""
    own = set(words(item))
    lines = [line for line in text.splitlines() if line.strip()]
    best = max(lines, key=lambda line: len(own & set(words(line))) - len(set(words(line)) - own) / 100, default="")
    return "listed" if _LISTED.match(best) else "prose"


def _cells(row: Iterable[object]) -> Counter[str]:
    return Counter(collapse(str(cell)) for cell in row if collapse(str(cell)))


def _listed(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _suffix(gold: dict[str, Any]) -> str:
    return str(gold.get("style") or Path(gold["document"]).suffix.removeprefix("."))


def _print(scores: Scores, seconds: float) -> None:
    table = Table("kind", "style", "gold", "found", "precision", "recall", "F1", title=f"Extracts, {seconds:.1f} s")
    for (kind, style), score in sorted(scores.items()):
        if score.gold or score.found:
            table.add_row(kind, style, *(f"{value:g}" for value in score.to_row().values()))
    Console().print(table)


def _print_misses(scores: Scores) -> None:
    console = Console(highlight=False)
    for (kind, style), score in sorted(scores.items()):
        for title, items in (("missed", score.misses), ("found beside", score.wrong)):
            for item in items:
                console.print(f"{kind}, {style}, {title}: {item[:200]}", markup=False)


if __name__ == "__main__":
    main()
