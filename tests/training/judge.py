"""A judge of answers: a cross-encoder that tells what answers a question from what is only about it.

`python -m tests.training.judge fit CLONES [CLAIMS.jsonl]` fits the one that Footnote uses, in about an hour on two
cores: first on public questions and claims (CLONES has their repositories, see public_pairs.py; those of the file are
left out), then on texts of our own (texts/*.jsonl). It starts from the packaged cross-encoder, a MiniLM with 12 layers
that was fitted on web searches: asked about a fee, that one prefers the sentence about opening hours. Claims are a
second task: who does what to whom matters for questions, too.
The weights that are kept are a mean of the fitted ones and .3 of the packaged ones.

`python -m tests.training.judge further CLONES` fits that one on questions to public documents, in half an hour, and
keeps the mean of both (CLONES has their repositories, see documents/*.jsonl).

`python -m tests.training.judge measure [CLONES]` prints the figures of the packaged and of the fitted one over texts,
and with CLONES over public documents, that aren't fitted on. All need what cross_encoder.py needs.
"""

import asyncio
import json
import random
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from core.answering.providers.extractive.conversation import in_context
from core.text.words import collapse
from storage.models.local.files import FITTED_FOLDER, JUDGE_FILE
from tests.training.cross_encoder import SEED, CrossEncoder, Task, packaged
from tests.training.document_pairs import DocumentPairs, document_pairs
from tests.training.judge_pairs import Text, claim_pairs, naming_pairs, question_pairs, read_follow_ups, read_texts
from tests.training.public_pairs import PublicSets

SCALE = 2.0  # of the logit that is written: the thresholds of `quotes.py` are of the packaged model's wider logits
FROZEN = 4  # layers that stay as they are
PACKAGED = 0.3  # share of the packaged weights
BEFORE = 0.6  # share of the weights before they are fitted on public documents: with .2, other sets lose
OWN_PAIRS = 9_000  # of our own texts beside these, not to be forgotten


def fit(repositories: Path, measured: Sequence[Path]) -> None:
    """Fit on all but the texts and claims that are measured on."""
    lines = [line for file in measured for line in file.read_text("utf-8").splitlines()]
    without = {collapse(json.loads(line)["sentence"]).lower() for line in lines}
    rng = random.Random(SEED)
    texts = [text for text in read_texts() if not text.is_measured]
    public = PublicSets(repositories, SEED)
    first = [
        *((Task.QUESTION, pair) for pair in public.questions()),
        *((Task.LABEL, pair) for pair in public.claims(without)),
    ]
    own = [
        *((Task.QUESTION, pair) for text in texts for pair in question_pairs(text, rng)),
        *((Task.LABEL, pair) for text in texts for pair in claim_pairs(text, rng)),
        *((Task.QUESTION, pair) for pair in naming_pairs(texts, rng)),
        *rng.sample(first, 24_000),  # not to be forgotten
    ]
    judge = CrossEncoder(packaged(), scale=SCALE)
    judge.fit(first, number=54_000, rate=5e-5, frozen=FROZEN + 2)
    judge.fit(own, number=100_000, rate=6e-5, frozen=FROZEN)
    judge.blend(CrossEncoder(packaged()), PACKAGED)
    judge.write(FITTED_FOLDER, JUDGE_FILE)
    sys.stdout.write(measure(judge, [text for text in read_texts() if text.is_measured]))


def further(clones: Path) -> None:
    """Fit the written one on public documents. Each run starts from the file that is there, and goes further."""
    rng = random.Random(SEED)
    texts = [text for text in read_texts() if not text.is_measured]
    own = [*(pair for text in texts for pair in question_pairs(text, rng)), *naming_pairs(texts, rng)]
    found = asyncio.run(document_pairs(clones, rng))
    pairs = [pair for each in found if not each.document.is_measured for pair in each.pairs]
    judge, before = (CrossEncoder(FITTED_FOLDER, JUDGE_FILE, SCALE) for _ in range(2))
    tasks = [(Task.QUESTION, pair) for pair in [*pairs, *rng.sample(own, OWN_PAIRS)]]
    judge.fit(tasks, number=len(tasks), rate=4e-5, frozen=FROZEN)
    judge.blend(before, BEFORE)
    judge.write(FITTED_FOLDER, JUDGE_FILE)
    sys.stdout.write(measure_documents(judge, found))


def measure(judge: CrossEncoder, texts: Sequence[Text]) -> str:
    """Return how often the best sentence of a text answers, and how the best ones compare where none does."""
    asked = [(text, one) for text in texts for one in text.asked if not one.after]
    pairs = [(one.question, text.above + sentence) for text, one in asked for sentence in text.sentences]
    scores = iter(judge.scores(pairs))
    hits, answered, near, removed = [], [], [], []
    for text, one in asked:
        own = [next(scores) for _ in text.sentences]
        if one.places:
            hits.append(own.index(max(own)) in one.places)
            answered.append(max(own))
            removed.append(max((score for place, score in enumerate(own) if place not in one.places), default=-20.0))
        else:
            near.append(max(own))
    bar = float(np.quantile(answered, 0.05))
    refused, silent = (float((np.array(scores) < bar).mean()) for scores in (near, removed))
    return (
        f"{len(answered)} questions: the best sentence answers {np.mean(hits):.3f}\n"
        f"{len(near)} near misses: below an answer {_above(answered, near):.3f}\n"
        f"answers taken out: below an answer {_above(answered, removed):.3f}\n"
        f"refusing .05 of the questions (logit {bar:.2f}): {refused:.2f} of near misses, {silent:.2f} without answers\n"
        f"{_measure_follow_ups(judge, texts)}\n"
    )


def measure_documents(judge: CrossEncoder, found: Sequence[DocumentPairs]) -> str:
    """Return how often the best of what is found for a question answers it, and how the best ones of others compare."""
    pairs = [(each.document, pair) for each in found if each.document.is_measured for pair in each.pairs]
    scores = judge.scores([(pair.asked, pair.passage) for _, pair in pairs])
    hits, answered, near = [], [], []
    read = zip(pairs, scores, strict=True)
    for _, group in groupby(read, key=lambda item: (item[0][0].name, item[0][1].asked)):
        own = [(score, pair.label) for (_, pair), score in group]
        if any(label for _, label in own):
            hits.append(max(own)[1])
            answered.append(max(score for score, label in own if label))
        else:
            near.append(max(own)[0])
    return (
        f"{len(hits)} questions to public documents: the best that is found answers {np.mean(hits):.3f}\n"
        f"{len(near)} near misses: below an answer {_above(answered, near):.3f}\n"
    )


def _measure_follow_ups(judge: CrossEncoder, texts: Sequence[Text]) -> str:
    """Return how often the best sentence of a text answers a follow-up, by itself and with the question before."""
    asked = [(text, one) for text, one in read_follow_ups(texts) if one.places]
    hits = []
    for read in (lambda one: one.question, lambda one: in_context(one.question, one.after)):
        scores = iter(judge.scores([(read(one), text.above + said) for text, one in asked for said in text.sentences]))
        own = [[next(scores) for _ in text.sentences] for text, _ in asked]
        hits.append(np.mean([each.index(max(each)) in one.places for each, (_, one) in zip(own, asked, strict=True)]))
    alone, in_talk = hits
    return f"{len(asked)} follow-ups: the best sentence answers {alone:.3f}, with the question before {in_talk:.3f}"


def _above(better: Sequence[float], worse: Sequence[float]) -> float:
    """Return the share of pairs in which the better one is higher: the area under the curve."""
    return float((np.array(better)[:, None] > np.array(worse)[None]).mean())


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["fit", repositories, *measured]:
            fit(Path(repositories), [Path(file) for file in measured])
        case ["further", repositories]:
            further(Path(repositories))
        case ["measure", *repositories]:
            texts = [text for text in read_texts() if text.is_measured]
            found = [
                each
                for clones in repositories
                for each in asyncio.run(document_pairs(Path(clones), random.Random(SEED)))
            ]
            fitted = CrossEncoder(FITTED_FOLDER, JUDGE_FILE, SCALE)
            for name, judge in (("packaged", CrossEncoder(packaged())), ("fitted", fitted)):
                sys.stdout.write(f"{name}\n{measure(judge, texts)}{measure_documents(judge, found) if found else ''}")
        case _:
            raise SystemExit(__doc__)
