"""The weights of the support check, fitted on labelled pairs: `python -m tests.training.weights CLAIMS.jsonl`.

It prints the figures of a five-fold cross-validation by source, then writes core/answering/support/weights.json.
A line has id, evidence, sentence, label, kind and source; lines of kind "public" weigh less. Pairs of our own that the
support model isn't fitted on (claim_pairs.py) are fitted on as well, and sentences made from their quotes by light
edits, as a model that quotes makes them. Sentences that code marks alone are not fitted on: the weights are for the
others.
"""

import asyncio
import json
import random
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.answering.support.check import FAULTY_FROM, is_certain, support_of
from core.answering.support.features import Network, features
from core.answering.support.ladder import find_faults
from core.answering.support.texts import Text, in_one_language
from core.domain.support import FindingKind
from core.text.words import words
from storage.models.local.encoders import CrossEncoderSupport
from storage.models.local.files import support_model
from tests.training.claim_pairs import Row, near_rows, rows_of_networks

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
SHARES = {"own pairs": 0.7, "public": 0.3, "near": 0.3}  # of one row
Matrix = NDArray[np.float64]


async def measure(rows: Sequence[Row]) -> tuple[Matrix, NDArray[np.bool_], list[str]]:
    """Return the features of each row, whether code marks it alone, and the features' names."""
    model = CrossEncoderSupport(support_model())
    found, certain = [], []
    for row in rows:
        quotes = [str(quote) for quote in row["evidence"]]  # type: ignore[attr-defined]  # a list of the file
        said, evidence = Text(str(row["sentence"])), Text("\n".join(quotes))
        findings = find_faults(said, evidence, Text(str(row.get("context", ""))))
        alike, read = in_one_language(said, quotes)
        support = await support_of(model, alike, read)
        found.append(features(said, evidence, findings, support, (alike, "\n".join(read))))
        is_heading = any(finding.kind is FindingKind.HEADING for finding in findings)
        certain.append(is_heading or is_certain(findings, support))
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
    ours = rows_of_networks()
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
