"""Labelled pairs for the judge of answers and the support model from public sets, read from bare clones.

The sets are no part of the project, and neither is any of their text:
- questions: SelQA (emorynlp/selqa, Apache-2.0), a part of SQuAD as sentences (xinyadu/nqg; SQuAD is CC BY-SA 4.0) and
  XQuAD in English (google-deepmind/xquad, CC BY-SA 4.0);
- claims: FEVER Symmetric (TalSchuster/FeverSymmetric, CC BY-SA 3.0), ConjNLI (swarnaHub/ConjNLI, MIT), MED
  (verypluming/MED, CC BY-SA 4.0), and a part of SNLI (OanaMariaCamburu/e-SNLI; SNLI is CC BY-SA 4.0);
- claims for the support model alone: InfoTabS (infotabs/infotabs, Apache-2.0), Breaking NLI (BIU-NLP/Breaking_NLI,
  CC BY-SA 4.0), NLI with negations (mosharafhossain/negation-and-nli, MIT), FoolMeTwice (google-research/fool-me-twice,
  Apache-2.0), SummEdits (salesforce/factualNLG, Apache-2.0), WiCE (ryokamoi/wice, ODC-BY) and TRACIE
  (allenai/aristo-leaderboard, Apache-2.0).
"""

import io
import json
import random
import re
import subprocess
import zipfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import TypeVar

from core.text.words import collapse
from tests.training.judge_pairs import NOT_SUPPORTED, Pair, most_alike

LABELS = {
    "entailment": 0, "neutral": 1, "contradiction": 2, "not_entailment": NOT_SUPPORTED,
    "SUPPORTS": 0, "NOT ENOUGH INFO": 1, "REFUTES": 2,
    "supported": 0, "partially_supported": 1, "not_supported": 1,
    "E": 0, "N": 1, "C": 2,
}  # fmt: skip
EASY = 0.6  # weight of pairs made by exchanging a word, and of captions of pictures
TABLE = 0.5
LONGEST_SOURCE = 1100  # characters
TABLE_ROWS = 7
LONGEST = 420  # characters of a sentence
AROUND = 8  # sentences before and after one, from which those that don't answer are taken
_T = TypeVar("_T")
_SENTENCE = re.compile(r"[^.!?]+(?:[.!?](?!\s+[A-Z]|\s*$)[^.!?]*)*[.!?]*\s*")


def file_of(clones: Path, repository: str, path: str, commit: str = "HEAD") -> bytes:
    """Return a file of a bare clone; FileNotFoundError without the clone, CalledProcessError without the file."""
    owner, name = repository.split("/")
    places = (clones / f"{owner}+{name}" / "repo", clones / name / ".git")
    found = next((place for place in places if place.is_dir()), None)
    if found is None:
        raise FileNotFoundError(f"{repository} is not in {clones}: clone it there.")
    command = ["git", f"--git-dir={found}", "show", f"{commit}:{path}"]
    return subprocess.run(command, capture_output=True, check=True).stdout


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

    def support(self, without: Collection[str]) -> Iterator[Pair]:
        """Yield `claims` and the pairs of the sets for the support model alone."""
        yield from self.claims(without)
        yield from self._fool_me_twice()
        yield from self._wice()
        yield from self._summaries()
        yield from self._negations()
        yield from self._infoboxes()
        yield from self._some([*self._breaking()], 3000)
        yield from self._some([Pair(pair.asked, pair.passage, pair.label, EASY) for pair in self._snli()], 12_000)
        for line in self._read("allenai/aristo-leaderboard", "tracie/data/train_uniform.jsonl").splitlines():
            row = json.loads(line)
            label = 0 if row["label"] == "entailment" else NOT_SUPPORTED
            yield Pair(row["query"].removeprefix("event: "), row["story"], label)

    def _read(self, repository: str, path: str) -> str:
        return self._bytes(repository, path).decode("utf-8", "replace")

    def _bytes(self, repository: str, path: str) -> bytes:
        return file_of(self._folder, repository, path)

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
        yield from self._some([*self._snli()], 5000)

    def _snli(self) -> Iterator[Pair]:
        for part in ("dev", "test"):
            files = (f"dataset/eSNLI/{name}.{part}" for name in ("s1", "s2", "labels"))
            columns = (self._read("OanaMariaCamburu/e-SNLI", file).splitlines() for file in files)
            for passage, claim, label in zip(*columns, strict=True):
                if label in LABELS:
                    yield Pair(_joined(claim), _joined(passage), LABELS[label])

    def _fool_me_twice(self) -> Iterator[Pair]:
        for part in ("dev", "test"):
            for line in self._read("google-research/fool-me-twice", f"dataset/{part}.jsonl").splitlines():
                row = json.loads(line)
                gold = " ".join(_joined(each["text"]) for each in row["gold_evidence"])
                yield Pair(row["text"], gold, LABELS[row["label"]])
                others = [each for each in row["retrieved_evidence"] if each not in row["gold_evidence"]]
                if others and row["label"] == "SUPPORTS":
                    yield Pair(row["text"], _joined(others[0]["text"]), 1)

    def _wice(self) -> Iterator[Pair]:
        for part in ("dev", "test"):
            for line in self._read("ryokamoi/wice", f"data/entailment_retrieval/claim/{part}.jsonl").splitlines():
                row = json.loads(line)
                for places in row["supporting_sentences"][:1]:
                    yield Pair(row["claim"], " ".join(row["evidence"][place] for place in places), LABELS[row["label"]])

    def _summaries(self) -> Iterator[Pair]:
        for name in ("samsum", "scitldr", "ectsum", "sales_email", "news"):
            for row in json.loads(self._read("salesforce/factualNLG", f"data/summedits/summedits_{name}.json")):
                if len(row["doc"]) < LONGEST_SOURCE:
                    yield Pair(row["summary"], row["doc"], 0 if row["label"] == 1 else NOT_SUPPORTED)

    def _negations(self) -> Iterator[Pair]:
        for name in ("RTE", "MNLI", "SNLI"):
            file = f"data/new_benchmarks/clean_data/{name}.txt"
            yield from self._table("mosharafhossain/negation-and-nli", file, 1, 2, 3)

    def _breaking(self) -> Iterator[Pair]:
        packed = self._bytes("BIU-NLP/Breaking_NLI", "breaking_nli_dataset.zip")
        with zipfile.ZipFile(io.BytesIO(packed)) as files:
            names = [name for name in files.namelist() if name.endswith(".jsonl")]
            rows = [json.loads(line) for name in names for line in files.read(name).decode().splitlines()]
        for row in rows:
            if row["gold_label"] in LABELS:
                yield Pair(row["sentence2"], row["sentence1"], LABELS[row["gold_label"]], EASY)

    def _infoboxes(self) -> Iterator[Pair]:
        """Statements about tables of two columns: with their title, the rows most alike and some others."""

        @cache
        def read(name: str) -> Sequence[str]:
            found = _Rows()
            found.feed(self._read("infotabs/infotabs", f"data/tables/html/{name}.html"))
            return [": ".join(filter(None, row)) for row in found.rows if row]

        for part in ("train", "dev", "test_alpha1", "test_alpha2"):
            for _, name, claim, label in self._rows("infotabs/infotabs", f"data/maindata/infotabs_{part}.tsv"):
                rows, below = read(name), range(1, len(read(name)))
                alike = most_alike(claim, below, rows)[:3]
                kept = {0, *alike, *self._some([*below], 3)} if len(rows) > TABLE_ROWS else {0, *below}
                yield Pair(claim, "\n".join(rows[place] for place in sorted(kept)), LABELS[label], TABLE)

    def _table(self, repository: str, path: str, passage: int, claim: int, label: int) -> list[Pair]:
        rows = self._rows(repository, path)
        return [Pair(row[claim], row[passage], LABELS[row[label]]) for row in rows if row[label] in LABELS]

    def _rows(self, repository: str, path: str) -> Iterator[list[str]]:
        lines = self._read(repository, path).splitlines()
        wanted = len(lines[0].split("\t"))
        yield from (row for line in lines[1:] if len(row := line.split("\t")) >= wanted)

    def _some(self, pairs: Sequence[_T], number: int) -> list[_T]:
        return self._rng.sample(pairs, min(number, len(pairs)))

    def _hard(self, question: str, sentences: Sequence[str], alike: int, others: int) -> list[str]:
        """Return the sentences with most of the question's words, and some others."""
        ranked = [sentences[place] for place in most_alike(question, range(len(sentences)), sentences)]
        rest = ranked[alike:]
        return [*ranked[:alike], *self._rng.sample(rest, min(others, len(rest)))]


class _Rows(HTMLParser):
    """The cells of a table in HTML by row; its caption is a row of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._cell: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in ("tr", "caption"):
            self.rows.append([])
        if tag in ("th", "td", "caption"):
            self._cell = []
        elif tag in ("br", "li") and self._cell:
            self._cell.append(", ")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td", "caption") and self._cell is not None:
            self.rows[-1].append(collapse("".join(self._cell)))
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)


def _joined(tokens: str) -> str:
    """Join tokens of a treebank to plain text."""
    text = tokens.strip().replace("-lrb-", "(").replace("-rrb-", ")")
    text = re.sub(r" ([.,;:!?%)\]])", r"\1", re.sub(r"([(\[$]) ", r"\1", text))
    text = (
        re.sub(r" ?(?:''|``) ?", '"', text) if text.count("``") != 1 else text.replace("`` ", '"').replace(" ''", '"')
    )
    return re.sub(r" (n't|'s|'re|'ve|'ll|'d|'m)\b", r"\1", text)
