"""The weights of the support check, fitted on labelled pairs: `python -m tests.training.weights CLAIMS.jsonl`.

It prints the figures of a five-fold cross-validation by source, then writes core/answering/support/weights.json.
A line has id, evidence, sentence, label, kind and source; lines of kind "public" weigh less. Our own pairs
(claims.txt and claims_fresh.txt beside this file) are fitted on as well, and sentences made from their quotes by light
edits, as a model that quotes makes them. Sentences that code marks alone are not fitted on: the weights are for the
others.
"""

import asyncio
import json
import random
import re
import sys
import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.answering.support.check import FAULTY_FROM, is_certain
from core.answering.support.features import Network, features
from core.answering.support.ladder import find_faults
from core.answering.support.texts import Text, in_one_language
from core.domain.support import FindingKind
from core.text.words import words
from storage.models.local.support_model import LocalSupportModel

OWN_PAIRS = [Path(__file__).with_name(name) for name in ("claims.txt", "claims_fresh.txt")]
WEIGHTS = Path(features.__code__.co_filename).with_name("weights.json")
FOLDS = 5
SEEDS = (3, 4)  # of the folds: figures are means over them
NETWORKS = 6  # their mean is steadier than one
UNITS = 16
STEPS = 400
RATE = 0.01
NOISE = 0.15  # of each scaled feature, against learning rows by heart
RIDGE = 0.006  # keeps weights of rare findings small
ALONE_WORDS = 256  # hashes of words
SHARES = {"own pairs": 0.7, "public": 0.3, "near": 0.15}  # of one row
WRONG_QUOTES = 0.4  # share of our supported sentences that are shown with another quote as well
SHORTEST = 4  # words of a sentence that is edited
NEAR_SUPPORTED, NEAR_WRONG, NEAR_MIXED = 6, 3, 2  # sentences made of each quote
_PREPOSITION = r"(?:on|in|at|under|from|by|for|with|every|within|after|before|until|since|because|near|during)"
_LOWERED = re.compile(
    rf"(?:the|an?|it|they|he|she|we|you|this|that|these|those|all|each|no|its|their|his|her|there|if|when|{_PREPOSITION})\b",
    re.IGNORECASE,
)
LABELS = {"s": "supported", "c": "contradicted", "u": "unsupported", "n": "no_claim"}
Row = Mapping[str, object]
Matrix = NDArray[np.float64]


def read_own(text: str) -> list[Row]:
    """Read our own pairs: "# source", "E: quote" (lines with | in front belong to it), then "label kind: sentence".

    "+: " begins a further quote of the sentences below it; "T: " is the title of the source's document.
    """
    source, quotes, rows = "", defaultdict[str, list[list[str]]](list), []
    titles: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("# "):
            source = line[2:]
        elif line.startswith("T: "):
            titles[source] = line[3:]
        elif line.startswith("E: "):
            quotes[source].append([line[3:]])
        elif line.startswith("+: "):
            quotes[source][-1].append(line[3:])
        elif line.startswith("|"):
            quotes[source][-1][-1] += f"\n{line}"
        else:
            head, sentence = line.split(": ", 1)
            label, kind = head.split(" ")
            rows.append((source, len(quotes[source]) - 1, LABELS[label], kind, sentence))
    found = [_row(quotes[s][place], text, label, kind, s) for s, place, label, kind, text in rows]
    chosen = random.Random(5)
    for s, place, label, _, text in rows:
        others = [cited for number, cited in enumerate(quotes[s]) if number != place]
        if label == "supported" and others and chosen.random() < WRONG_QUOTES:
            found.append(_row(others[0], text, "unsupported", "wrong_quote", s))
    return [{**row, "context": titles.get(str(row["source"]).removeprefix("own "), "")} for row in found]


def _row(quotes: Sequence[str], sentence: str, label: str, kind: str, source: str) -> Row:
    return {"evidence": quotes, "sentence": sentence, "label": label, "kind": kind, "source": f"own {source}"}


def near_rows(pairs: Sequence[Row]) -> list[Row]:
    """Return sentences that are nearly word for word in their quotes, or in another quote of the same source."""
    chosen = random.Random(1)
    quotes_of = defaultdict[tuple[str, str], list[Sequence[str]]](list)
    for row in pairs:
        known = quotes_of[str(row["source"]), str(row["context"])]
        if row["evidence"] not in known:
            known.append(row["evidence"])  # type: ignore[arg-type]  # as in `measure`
    rows: list[Row] = []
    for (source, context), all_quotes in quotes_of.items():
        for quotes in all_quotes:
            made = light_edits(quotes)
            chosen.shuffle(made)
            others = [other for other in all_quotes if other is not quotes]
            cited = [(quotes, text, "supported") for text in made[:NEAR_SUPPORTED]]
            if others:
                cited += [(chosen.choice(others), text, "unsupported") for text in made[:NEAR_WRONG]]
                cited += [(quotes, text, "unsupported") for text in _mixed(quotes, chosen.choice(others), chosen)]
            rows += [
                {"evidence": shown, "sentence": text, "label": label, "kind": f"near {label}", "source": source,
                 "context": context}
                for shown, text, label in cited
            ]  # fmt: skip
    return rows


def light_edits(quotes: Sequence[str]) -> list[str]:
    """Return sentences that say what quotes say: joined, cut, moved, or said to be theirs."""
    made: list[str] = []
    for sentences in map(_bare_sentences, quotes):
        made += [
            f"{first}{link}{_lowered(second)}." for first, second in pairwise(sentences) for link in ("; ", ", and ")
        ]
        for bare in sentences:
            made += [f"According to the document, {_lowered(bare)}.", f"{bare}, the document says."]
            behind = [found.start() for found in re.finditer(rf"\b{_PREPOSITION}\b", bare) if found.start()]
            made += [f"{_raised(bare[start:])}." for start in behind[:1] if len(bare[start:].split()) >= SHORTEST]
            if moved := re.match(rf"({_PREPOSITION}\b[^,]{{3,60}}), (.+)$", bare, re.IGNORECASE):
                made.append(f"{_raised(moved[2])} {_lowered(moved[1])}.")
            if aside := re.search(r", [^,]{3,60},", bare):
                made.append(f"{bare[: aside.start()]}{bare[aside.end() :]}.")
            first = bare.split(", ", 1)[0]
            made += [f"{first}."] if first != bare and len(first.split()) >= SHORTEST else []
            if ending := re.search(r", (?:and|but) (\w+ \w+ \w+ .+)$", bare):
                made.append(f"{_raised(ending[1])}.")
    return made


def _mixed(quotes: Sequence[str], others: Sequence[str], chosen: random.Random) -> list[str]:
    """Return sentences of which the second half is in other quotes."""
    mine = [one for quote in quotes for one in _bare_sentences(quote)]
    theirs = [one for quote in others for one in _bare_sentences(quote)]
    if not (mine and theirs):
        return []
    links = ("; ", ", and ")
    return [f"{chosen.choice(mine)}{link}{_lowered(chosen.choice(theirs))}." for link in links[:NEAR_MIXED]]


def _bare_sentences(quote: str) -> list[str]:
    found = re.split(r"(?<=[.!?])\s+|\n+", quote)
    return [one.strip().rstrip(".!? ") for one in found if len(one.split()) >= SHORTEST and not one.startswith("|")]


def _raised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:] if _LOWERED.match(text) else text


async def measure(rows: Sequence[Row]) -> tuple[Matrix, NDArray[np.bool_], list[str]]:
    """Return the features of each row, whether code marks it alone, and the features' names."""
    model = LocalSupportModel()
    found, certain = [], []
    for row in rows:
        quotes = [str(quote) for quote in row["evidence"]]  # type: ignore[attr-defined]  # a list of the file
        said, evidence = Text(str(row["sentence"])), Text("\n".join(quotes))
        findings = find_faults(said, evidence, Text(str(row.get("context", ""))))
        alike, read = in_one_language(said, quotes)
        near = await model.closeness(alike, read)
        found.append(features(said, evidence, findings, near, (alike, Text("\n".join(read)).text)))
        certain.append(is_certain(findings) or any(finding.kind is FindingKind.HEADING for finding in findings))
    await model.close()
    return np.array([list(values.values()) for values in found]), np.array(certain), list(found[0])


def fit(given: Matrix, faulty: Matrix, share: Matrix, seed: int) -> Network:
    """Return a network, in whose fit both classes weigh the same; `share` of each row."""
    chosen = np.random.default_rng(seed)
    mean, spread = given.mean(0), given.std(0) + 1e-9
    scaled = (given - mean) / spread
    wrong = float((share * faulty).sum() / share.sum())
    balance = share * np.where(faulty == 1, 0.5 / wrong, 0.5 / (1 - wrong))
    balance = balance / balance.sum()
    parts = [chosen.normal(0, 0.2, (given.shape[1], UNITS)), np.zeros(UNITS), chosen.normal(0, 0.2, UNITS), np.zeros(1)]
    first, second = [np.zeros_like(part) for part in parts], [np.zeros_like(part) for part in parts]
    for step in range(1, STEPS + 1):
        noisy = scaled + NOISE * chosen.normal(size=scaled.shape)
        units = np.tanh(noisy @ parts[0] + parts[1])
        error = balance * (1 / (1 + np.exp(-(units @ parts[2] + parts[3]))) - faulty)
        back = np.outer(error, parts[2]) * (1 - units * units)
        slopes = [
            noisy.T @ back + RIDGE * parts[0],
            back.sum(0),
            units.T @ error + RIDGE * parts[2],
            error.sum(keepdims=True),
        ]
        rate = RATE * min(1.0, 2 * (STEPS - step + 1) / STEPS)
        for place, slope in enumerate(slopes):  # Adam
            first[place] = 0.9 * first[place] + 0.1 * slope
            second[place] = 0.999 * second[place] + 0.001 * slope**2
            root = np.sqrt(second[place] / (1 - 0.999**step)) + 1e-8
            parts[place] = parts[place] - rate * first[place] / (1 - 0.9**step) / root
    hidden = parts[0] / spread[:, None]
    return Network(
        hidden=[[round(float(weight), 4) for weight in row] for row in hidden.T],
        biases=[round(float(bias), 4) for bias in parts[1] - mean @ hidden],
        output=[round(float(weight), 4) for weight in (*parts[2], *parts[3])],
    )


def fault(networks: Sequence[Network], given: Matrix) -> Matrix:
    """Return the mean of the networks' probabilities of a fault of each row."""
    found = [
        np.tanh(given @ np.array(net.hidden).T + np.array(net.biases)) @ np.array(net.output[:-1]) + net.output[-1]
        for net in networks
    ]
    return np.mean([1 / (1 + np.exp(-total)) for total in found], axis=0)


def fit_all(given: Matrix, faulty: Matrix, share: Matrix) -> list[Network]:
    return [fit(given, faulty, share, seed) for seed in range(NETWORKS)]


def read_alone(rows: Sequence[Row]) -> Matrix:
    """Return each sentence's own words, hashed: what can be told without its quotes."""
    found = np.zeros((len(rows), ALONE_WORDS))
    for place, row in enumerate(rows):
        for word in words(str(row["sentence"])):
            found[place, zlib.crc32(word.encode()) % ALONE_WORDS] = 1
    return found


def cross_validate(
    given: Matrix, faulty: Matrix, certain: NDArray[np.bool_], sources: Sequence[str], share: Matrix, seed: int
) -> Matrix:
    """Return each row's probability of a fault, by networks that saw no row of its source; 1 if code is certain."""
    names = sorted(set(sources))
    random.Random(seed).shuffle(names)
    fold = np.array([names.index(source) % FOLDS for source in sources])
    probability = np.ones(len(faulty))
    for number in range(FOLDS):
        train, held_out = (fold != number) & ~certain, (fold == number) & ~certain
        networks = fit_all(given[train], faulty[train], share[train])
        probability[held_out] = fault(networks, given[held_out])
    return probability


def report(probabilities: Sequence[Matrix], faulty: Matrix, kinds: Sequence[str] | NDArray[np.str_]) -> None:
    """Write the figures at several thresholds, then the share of faulty sentences that are caught by kind."""
    for threshold in (0.5, 0.55, FAULTY_FROM, 0.65, 0.7):
        marked = np.mean([probability >= threshold for probability in probabilities], axis=0)
        through, false = float((1 - marked)[faulty == 1].mean()), float(marked[faulty == 0].mean())
        write(
            f"{threshold}: balanced {1 - (through + false) / 2:.3f}  let_through {through:.3f}  false_marks {false:.3f}"
        )
    marked = np.mean([probability >= FAULTY_FROM for probability in probabilities], axis=0)
    for kind in sorted(set(kinds)):
        rows = np.array([one == kind for one in kinds]) & (faulty == 1)
        if rows.any():
            write(f"  {kind}: {marked[rows].mean():.2f} of {rows.sum()}")


def write(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main(path: Path) -> None:
    """Print cross-validated figures, then write the weights."""
    rows = [row for line in path.read_text("utf-8").splitlines() if (row := json.loads(line))["label"] != "no_claim"]
    ours = [row for own in OWN_PAIRS for row in read_own(own.read_text("utf-8"))]
    near = near_rows(ours)
    groups = np.array(
        [
            *("public" if row["kind"] == "public" else path.name for row in rows),
            *["own pairs"] * len(ours),
            *["near"] * len(near),
        ]
    )
    rows += [*ours, *near]
    given, certain, names = asyncio.run(measure(rows))
    faulty = np.array([float(row["label"] != "supported") for row in rows])
    kinds = np.array([str(row["kind"]) for row in rows])
    share = np.array([SHARES.get(group, 1.0) for group in groups])
    # Public pairs have no documents: tenths of them stand for sources.
    sources = [
        f"public {zlib.crc32(str(row['id']).encode()) % 10}" if row["kind"] == "public" else str(row["source"])
        for row in rows
    ]
    found = [cross_validate(given, faulty, certain, sources, share, seed) for seed in SEEDS]
    for group in dict.fromkeys(groups):
        here = groups == group
        write(f"{group}, five-fold by source")
        report([probability[here] for probability in found], faulty[here], kinds[here])
    networks = fit_all(given[~certain], faulty[~certain], share[~certain])
    kept = [{"hidden": net.hidden, "biases": net.biases, "output": net.output} for net in networks]
    WEIGHTS.write_text(json.dumps(kept, separators=(",", ":")) + "\n", "utf-8")
    write(f"{WEIGHTS}: {NETWORKS} networks of {UNITS} units over {', '.join(names)}")
    here = groups == path.name
    write("the first from the sentence alone")
    alone = read_alone([row for row, is_here in zip(rows, here, strict=True) if is_here])
    nowhere, ones = np.zeros(len(alone), dtype=bool), np.ones(len(alone))
    theirs = [source for source, is_here in zip(sources, here, strict=True) if is_here]
    report([cross_validate(alone, faulty[here], nowhere, theirs, ones, seed) for seed in SEEDS[:1]], faulty[here], [])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
