"""Labelled pairs for the judge of answers from public sets, read from bare clones of their repositories.

The sets are no part of the project, and neither is any of their text:
- questions: SelQA (emorynlp/selqa, Apache-2.0), a part of SQuAD as sentences (xinyadu/nqg; SQuAD is CC BY-SA 4.0) and
  XQuAD in English (google-deepmind/xquad, CC BY-SA 4.0);
- claims: FEVER Symmetric (TalSchuster/FeverSymmetric, CC BY-SA 3.0), ConjNLI (swarnaHub/ConjNLI, MIT), MED
  (verypluming/MED, CC BY-SA 4.0), and a part of SNLI (OanaMariaCamburu/e-SNLI; SNLI is CC BY-SA 4.0).
"""

import json
import random
import re
import subprocess
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from core.text.words import collapse
from tests.training.judge_pairs import Pair, most_alike

LABELS = {"entailment": 0, "neutral": 1, "contradiction": 2, "SUPPORTS": 0, "NOT ENOUGH INFO": 1, "REFUTES": 2}
LONGEST = 420  # characters of a sentence
AROUND = 8  # sentences before and after one, from which those that don't answer are taken
_SENTENCE = re.compile(r"[^.!?]+(?:[.!?](?!\s+[A-Z]|\s*$)[^.!?]*)*[.!?]*\s*")


class PublicSets:
    """Repositories in a folder, as `owner+name/repo` (bare) or `name`; FileNotFoundError if one is missing."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._rng = random.Random(seed)

    def questions(self) -> Iterator[Pair]:
        yield from self._selqa()
        yield from self._squad()
        yield from self._xquad()

    def claims(self, without: Collection[str]) -> Iterator[Pair]:
        """Yield pairs of claims, `without` those that something else is measured on (in small letters)."""
        yield from (pair for pair in self._claims() if collapse(pair.asked).lower() not in without)

    def _read(self, repository: str, path: str) -> str:
        owner, name = repository.split("/")
        places = (self._folder / f"{owner}+{name}" / "repo", self._folder / name / ".git")
        found = next((place for place in places if place.is_dir()), None)
        if found is None:
            raise FileNotFoundError(f"{repository} is not in {self._folder}: clone it there.")
        command = ["git", f"--git-dir={found}", "show", f"HEAD:{path}"]
        return subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", "replace")

    def _selqa(self) -> Iterator[Pair]:
        rng = self._rng
        for part in ("dev", "test"):
            for asked in json.loads(self._read("emorynlp/selqa", f"ass/selqa-ass-{part}.json")):
                question, sentences, answers = asked["question"], asked["candidates"], asked["answers"]
                above = f"{asked['article']} > {asked['section']}: " if rng.random() < 0.8 else f"{asked['article']}: "
                silent = [text for place, text in enumerate(sentences) if place not in answers and len(text) > 15]
                yield from (Pair(question, above + sentences[place], 1) for place in answers[:2])
                yield from (Pair(question, above + text, 0) for text in self._hard(question, silent, 3, 1))
                if rng.random() < 0.4 and len(sentences) > 1:
                    beside = answers[0] + 1 if answers[0] + 1 < len(sentences) else answers[0] - 1
                    begin = min(answers[0], beside)
                    yield Pair(question, above + " ".join(sentences[begin : begin + 2]), 1)
                pairs = [each for each in range(len(sentences) - 1) if not {each, each + 1} & {*answers}]
                if pairs and rng.random() < 0.3:
                    begin = rng.choice(pairs)
                    yield Pair(question, above + " ".join(sentences[begin : begin + 2]), 0)

    def _squad(self) -> Iterator[Pair]:
        for part in ("dev", "test"):
            files = (f"data/processed/{kind}-{part}.txt" for kind in ("src", "tgt"))
            sentences, questions = (
                [_joined(line) for line in self._read("xinyadu/nqg", file).splitlines()] for file in files
            )
            asked = defaultdict[str, list[str]](list)
            for sentence, question in zip(sentences, questions, strict=True):
                asked[sentence].append(question)
            order = list(asked)
            for place, (sentence, its) in enumerate(asked.items()):
                around = order[max(0, place - AROUND) : place + AROUND + 1]
                silent = [
                    text for text in around if len(text) < LONGEST and text not in sentence and sentence not in text
                ]
                for question in self._rng.sample(its, min(2, len(its))) if len(sentence) <= LONGEST else ():
                    if self._rng.random() < 0.55:
                        yield Pair(question, sentence, 1)
                        yield from (Pair(question, text, 0) for text in self._hard(question, silent, 2, 0))

    def _xquad(self) -> Iterator[Pair]:
        articles = json.loads(self._read("google-deepmind/xquad", "xquad.en.json"))["data"]
        for paragraph in (paragraph for article in articles for paragraph in article["paragraphs"]):
            text = paragraph["context"]
            spans = [match.span() for match in _SENTENCE.finditer(text)]
            for asked in paragraph["qas"]:
                answer, question = asked["answers"][0], asked["question"]
                is_answer = [begin <= answer["answer_start"] < end for begin, end in spans]
                sentences = [text[begin:end].strip() for begin, end in spans]
                silent = [
                    each
                    for each, answers in zip(sentences, is_answer, strict=True)
                    if not answers and len(each) > 20 and answer["text"] not in each
                ]
                yield from (Pair(question, each, 1) for each, its in zip(sentences, is_answer, strict=True) if its)
                yield from (Pair(question, each, 0) for each in self._hard(question, silent, 2, 0))

    def _claims(self) -> Iterator[Pair]:
        for file in ("v0.2/fever_symmetric_test", "v0.2/fever_symmetric_dev", "v0.1/fever_symmetric_full"):
            for line in self._read("TalSchuster/FeverSymmetric", f"symmetric_{file}.jsonl").splitlines():
                row = json.loads(line)
                evidence = row.get("evidence") or row["evidence_sentence"]
                yield Pair(row["claim"], _joined(evidence), LABELS[row.get("gold_label") or row["label"]])
        yield from self._some(self._table("swarnaHub/ConjNLI", "data/NLI/adversarial_train_15k.tsv", 0, 1, 2), 6000)
        crowd = (row for row in self._rows("verypluming/MED", "MED.tsv") if "crowd" in row[3])
        yield from self._some([Pair(row[9], row[8], LABELS[row[15]]) for row in crowd if row[15] in LABELS], 1500)
        for part in ("dev", "test"):
            files = (f"dataset/eSNLI/{name}.{part}" for name in ("s1", "s2", "labels"))
            columns = (self._read("OanaMariaCamburu/e-SNLI", file).splitlines() for file in files)
            rows = zip(*columns, strict=True)
            yield from self._some([Pair(_joined(b), _joined(a), LABELS[c]) for a, b, c in rows if c in LABELS], 2500)

    def _table(self, repository: str, path: str, passage: int, claim: int, label: int) -> list[Pair]:
        rows = self._rows(repository, path)
        return [Pair(row[claim], row[passage], LABELS[row[label]]) for row in rows if row[label] in LABELS]

    def _rows(self, repository: str, path: str) -> Iterator[list[str]]:
        lines = self._read(repository, path).splitlines()
        wanted = len(lines[0].split("\t"))
        yield from (row for line in lines[1:] if len(row := line.split("\t")) >= wanted)

    def _some(self, pairs: list[Pair], number: int) -> list[Pair]:
        return self._rng.sample(pairs, min(number, len(pairs)))

    def _hard(self, question: str, sentences: Sequence[str], alike: int, others: int) -> list[str]:
        """Return the sentences with most of the question's words, and some others."""
        ranked = [sentences[place] for place in most_alike(question, range(len(sentences)), sentences)]
        rest = ranked[alike:]
        return [*ranked[:alike], *self._rng.sample(rest, min(others, len(rest)))]


def _joined(tokens: str) -> str:
    """Join tokens of a treebank to plain text."""
    text = tokens.strip().replace("-lrb-", "(").replace("-rrb-", ")")
    text = re.sub(r" ([.,;:!?%)\]])", r"\1", re.sub(r"([(\[$]) ", r"\1", text))
    text = (
        re.sub(r" ?(?:''|``) ?", '"', text) if text.count("``") != 1 else text.replace("`` ", '"').replace(" ''", '"')
    )
    return re.sub(r" (n't|'s|'re|'ve|'ll|'d|'m)\b", r"\1", text)
