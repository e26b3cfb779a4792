"""The gain of each heuristic of the meetings extractor: its scores with the heuristic, and without it.

    python -m tests.benchmarks.ablate_extracts --library FOLDER --gold FILE

The gold file is the one of bench_extracts. The documents are parsed once; then the extractor runs in this process, once
as it is and once without each heuristic. A heuristic without any gain is removed: docs/evaluation.md keeps the record.
"""

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from core.domain.extracts import ExtractorInput
from storage.documents.base import HEAD_BYTES, build_readers, find_reader
from storage.documents.chunking import chunk
from storage.documents.extraction.by_rules import to_extracts
from storage.documents.extractors.meetings import MeetingsExtractor
from storage.documents.meetings import action_items, notes, record
from tests.benchmarks.bench_extracts import SAMPLE_GOLD, SAMPLE_LIBRARY, Score, score_meeting
from tests.builders import build_document

_NEVER = re.compile(r"(?!)")
_Switch = tuple[object, str, object]  # module, name in it, value that switches the heuristic off
HEURISTICS: dict[str, tuple[_Switch, ...]] = {
    "sentences that open with a decision": (
        (record, "is_decision", lambda text: False),
        (notes, "is_decision", lambda text: False),
    ),
    "outcomes below a topic (merged, approved)": ((record, "_OUTCOME", _NEVER),),
    "owners before a promise (Ann will ...)": ((action_items, "_PROMISES", frozenset()),),
    "owners before to (Ann to ...)": ((action_items, "_TO", frozenset()),),
    "owners at the end of a task": ((action_items, "_TRAILING", _NEVER),),
    "owners that are acronyms": ((action_items, "_ACRONYM", _NEVER),),
    "due days without a date (next Friday)": ((action_items, "_take_vague", lambda text: (text, None)),),
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--library", type=Path, default=SAMPLE_LIBRARY, help="the folder of the documents")
    arguments.add_argument("--gold", type=Path, default=SAMPLE_GOLD, help="JSON lines")
    chosen = arguments.parse_args()
    lines = [json.loads(line) for line in chosen.gold.read_text(encoding="utf-8").splitlines() if line.strip()]
    gold = [item for item in lines if item["extract_type"] == "meeting"]
    inputs = {item["document"]: _parse(chosen.library, item["document"]) for item in gold}
    with_all = _score(chosen.library, gold, inputs)
    for name, switches in HEURISTICS.items():
        patches = [patch.object(module, attribute, value) for module, attribute, value in switches]
        for each in patches:
            each.start()
        without = _score(chosen.library, gold, inputs)
        for each in patches:
            each.stop()
        changed = [f"{kind} {with_all[kind]:.3f} -> {f1:.3f}" for kind, f1 in without.items() if f1 != with_all[kind]]
        sys.stdout.write(f"{name}: {', '.join(changed) or 'no gain'}\n")


def _parse(library: Path, document: str) -> ExtractorInput:
    path = library / document
    parsed = find_reader(path, path.read_bytes()[:HEAD_BYTES], build_readers()).read(path, library)
    stored = build_document(document, kind=parsed.kind, title=parsed.title)
    return ExtractorInput(document=stored, pages=chunk(parsed, "local", document).pages, path=path)


def _score(library: Path, gold: Sequence[dict[str, Any]], inputs: dict[str, ExtractorInput]) -> dict[str, float]:
    """Return the F1 of each kind and style."""
    scores: defaultdict[tuple[str, str], Score] = defaultdict(Score)
    extractor = MeetingsExtractor()
    for item in gold:
        given = inputs[item["document"]]
        extracts = to_extracts(extractor.extract(given), extractor, given).extracts
        text = library.joinpath(item["document"]).read_text(encoding="utf-8", errors="replace")
        score_meeting(item, extracts, text, scores)
    return {f"{kind} ({style})": score.to_row()["f1"] for (kind, style), score in sorted(scores.items())}


if __name__ == "__main__":
    main()
