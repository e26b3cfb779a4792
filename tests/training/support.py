"""The support model: a cross-encoder that tells whether quotes say what a sentence does.

`python -m tests.training.support fit CLONES CLAIMS.jsonl` fits the one that Footnote uses, in about an hour on two
cores. It starts from the judge of answers, which was fitted on claims, too: first public claims (CLONES has their
repositories, see public_pairs.py; those of the file are left out), then pairs of our own (claim_pairs.py), the claims
of texts/*.jsonl, and a part of the public ones again. Then `python -m tests.training.weights` fits the networks.

`python -m tests.training.support further CLONES CLAIMS.jsonl FILE...` fits the one in use on new files of claims/fitted
(named without .txt), and on a part of all others, so that it forgets none: 33,000 pairs in 50 minutes.

`python -m tests.training.support measure` prints how well it tells pairs apart that it wasn't fitted on. Both need what
cross_encoder.py needs.
"""

import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from core.text.words import collapse
from storage.models.local.files import FITTED_FOLDER, JUDGE_FILE, SUPPORT_FILE
from tests.training.claim_pairs import (
    CLAIMS,
    exchanged_pairs,
    near_rows,
    read_own,
    rows_of_model,
    rows_of_networks,
    support_pairs,
)
from tests.training.cross_encoder import SEED, CrossEncoder, Task
from tests.training.judge_pairs import Pair, claim_pairs, read_texts
from tests.training.public_pairs import PublicSets

HELD_OUT = ("heldout", "heldout_second", "heldout_third", "heldout_fourth")
RATE = 5e-5
EPOCHS = 1.2  # of the public pairs
OWN = 4  # how often each pair of our own is seen
AGAIN = 12_000  # public pairs beside our own
FURTHER_RATE = 4e-5
# Pairs beside new ones: old ones of our own, with other figures and names in light edits, light edits, texts, public.
BESIDE_OLD, BESIDE_EXCHANGED, BESIDE_NEAR, BESIDE_TEXTS, BESIDE_PUBLIC = 8000, 2000, 2500, 2000, 5000


def fit(repositories: Path, measured: Path) -> None:
    """Fit on all but the claims of a file and the texts that are measured on."""
    rng = random.Random(SEED)
    public = _public(repositories, measured)
    ours = rows_of_model()
    pairs = OWN * [*support_pairs(ours, rng)]
    pairs += support_pairs(near_rows(ours), rng)
    pairs += [pair for text in read_texts() if not text.is_measured for pair in claim_pairs(text, rng)]
    pairs += rng.sample(public, AGAIN)
    model = CrossEncoder(FITTED_FOLDER, JUDGE_FILE)
    model.fit([(Task.LABEL, pair) for pair in public], number=int(EPOCHS * len(public)), rate=RATE, frozen=0)
    model.start_logit()
    model.fit([(Task.SUPPORT, pair) for pair in pairs], number=len(pairs), rate=RATE, frozen=0)
    model.write(FITTED_FOLDER, SUPPORT_FILE)
    sys.stdout.write(measure(model))


def fit_further(repositories: Path, measured: Path, names: Sequence[str]) -> None:
    """Fit the model in use on new files, each pair twice; all true sentences also with a figure or name exchanged."""
    rng = random.Random(SEED)
    new = [*support_pairs(rows_of_model(names), rng)]
    known = {file.stem for file in (CLAIMS / "fitted").glob("*.txt")} - {*names}
    old = [*support_pairs(rows_of_model(known), rng)]
    near = [*support_pairs(near_rows(rows_of_model()), rng)]
    texts = [pair for text in read_texts() if not text.is_measured for pair in claim_pairs(text, rng)]
    pairs = [*2 * new, *rng.sample(old, BESIDE_OLD), *exchanged_pairs([*old, *new], rng)]
    pairs += rng.sample([*exchanged_pairs(near, rng)], BESIDE_EXCHANGED) + rng.sample(near, BESIDE_NEAR)
    pairs += rng.sample(texts, BESIDE_TEXTS) + rng.sample(_public(repositories, measured), BESIDE_PUBLIC)
    model = CrossEncoder(FITTED_FOLDER, SUPPORT_FILE)
    model.fit([(Task.SUPPORT, pair) for pair in pairs], number=len(pairs), rate=FURTHER_RATE, frozen=0)
    model.write(FITTED_FOLDER, SUPPORT_FILE)
    sys.stdout.write(measure(model))


def _public(repositories: Path, measured: Path) -> list[Pair]:
    without = {collapse(json.loads(line)["sentence"]).lower() for line in measured.read_text("utf-8").splitlines()}
    return [*PublicSets(repositories, SEED).support(without)]


def measure(model: CrossEncoder) -> str:
    """Return the area under the curve for each set that isn't fitted on, and what a threshold of .5 marks."""
    rng = random.Random(SEED)
    files = {name: read_own((CLAIMS / f"{name}.txt").read_text("utf-8")) for name in HELD_OUT}
    sets = {
        **{name: [*support_pairs(rows, rng)] for name, rows in files.items()},
        "for the networks": [*support_pairs(rows_of_networks(), rng)],
        "claims of texts": [pair for text in read_texts() if text.is_measured for pair in claim_pairs(text, rng)],
    }
    return "".join(_told(name, pairs, model) for name, pairs in sets.items())


def _told(name: str, pairs: Sequence[Pair], model: CrossEncoder) -> str:
    logits = np.array(model.scores([(pair.asked, pair.passage) for pair in pairs]))
    is_true = np.array([pair.label == 0 for pair in pairs])
    above = float((logits[is_true][:, None] > logits[~is_true][None]).mean())
    return (
        f"{name}, {len(pairs)} pairs: true above false {above:.3f}, let through {(logits[~is_true] > 0).mean():.3f}, "
        f"falsely marked {(logits[is_true] <= 0).mean():.3f}\n"
    )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["fit", repositories, claims]:
            fit(Path(repositories), Path(claims))
        case ["further", repositories, claims, *names]:
            fit_further(Path(repositories), Path(claims), names)
        case ["measure"]:
            sys.stdout.write(measure(CrossEncoder(FITTED_FOLDER, SUPPORT_FILE)))
        case _:
            raise SystemExit(__doc__)
