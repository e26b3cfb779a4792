"""Labelled pairs for the judge of answers (`judge.py`) over public documents, as the product reads and searches them.

A line of documents/*.jsonl is a document and what is asked of it:
- name, repo, commit, path, licence; of a chapter of a book `part`, its [begin, end] in the text of the file; a line
  break is one character there; `encoding`, if it isn't UTF-8;
- questions: {"q": question, "at": [begin, end] of what answers it}, of a follow-up also "after", the one before;
- near: questions about the same things that it doesn't answer.

The documents are no part of the project, and neither are their words: they are read from bare clones. All of them are
one library, and each question is searched there: what is found beside the answer makes the hardest pairs.
"""

import json
import random
import re
import tempfile
import zlib
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from pathlib import Path

from bot.config import Config
from bot.wiring.parts import Parts, open_parts
from core.answering.providers.extractive.quotes import PASSAGES_JUDGED, by_place, judged_text, quotable, text_of
from core.answering.tools.search import to_finding
from core.domain.corpus import SearchQuery, SourcedPassage
from core.domain.passages import Span
from tests.training.judge_pairs import Asked, Pair, most_alike, readings_of
from tests.training.public_pairs import file_of

DOCUMENTS = Path(__file__).with_name("documents")
MEASURED = 6  # one document in so many is measured on, never fitted on
SAME, OTHER = 0.95, 0.5  # share of an answer's words from which a passage has it, and below which it hasn't
MOST, SILENT = 0.8, 0.2  # the same of sentences
RUN = 3  # words
ANSWER_WEIGHT = 2.0  # answers are rarer than passages beside them
PASSAGES_BESIDE, SENTENCES_BESIDE = 3, 4
LONGEST_ANSWER = 4  # sentences
LONGEST_SEARCH = 400  # characters
FEWEST_WORDS = 2
_TAG = re.compile(r"<[^>]{1,200}>")
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicDocument:
    name: str
    text: str
    asked: Sequence[tuple[Asked, str]]  # with the words that answer it
    near: Sequence[str]

    @property
    def is_measured(self) -> bool:
        return zlib.crc32(self.name.encode()) % MEASURED == 0


@dataclass(frozen=True, slots=True)
class DocumentPairs:
    document: PublicDocument
    pairs: Sequence[Pair]


def read_documents(clones: Path) -> Iterator[PublicDocument]:
    """Yield the documents; the errors of `file_of` if one is missing."""
    for file in sorted(DOCUMENTS.glob("*.jsonl")):
        for line in map(json.loads, file.read_text("utf-8").splitlines()):
            content = file_of(clones, line["repo"], line["path"], line["commit"])
            text = content.decode(line.get("encoding", "utf-8"), "replace").replace("\r\n", "\n")
            begin, end = line.get("part", (0, len(text)))
            text = text[begin:end]
            asked = [
                (Asked(each["q"], (0,), each.get("after", "")), text[slice(*each["at"])]) for each in line["questions"]
            ]
            yield PublicDocument(name=line["name"], text=text, asked=asked, near=line["near"])


async def document_pairs(clones: Path, rng: random.Random) -> list[DocumentPairs]:
    """Return the pairs of each document, of a library of all of them; the errors of `file_of` if one is missing."""
    documents = [*read_documents(clones)]
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "documents"
        library.mkdir()
        for document in documents:
            (library / document.name).write_text(document.text, "utf-8")
        async with open_parts(Config(data_dir=Path(folder) / "data")) as parts:
            await parts.ingests.add(
                [library], parts.workspace, source="documents", kind="auto", force=False, progress=lambda _: None
            )
            search = _Search(parts)
            return [
                DocumentPairs(document, [each async for each in _pairs(document, search, rng)])
                for document in documents
            ]


class _Search:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def passages(self, question: str) -> list[SourcedPassage]:
        """Return the passages that are judged for a question, in their order."""
        scope = await self._parts.access.scope(self._parts.workspace)
        query = SearchQuery(text=question, limit=PASSAGES_JUDGED)
        return by_place(to_finding(query, await self._parts.library.search(query, scope)).passages)[:PASSAGES_JUDGED]


async def _pairs(document: PublicDocument, search: _Search, rng: random.Random) -> AsyncIterator[Pair]:
    for asked, quote in document.asked:
        answer = _words(quote)
        readings = readings_of(asked)
        found = await search.passages(readings[0])
        among = [*found, *(await search.passages(quote[:LONGEST_SEARCH]))]
        own = next((each for each in among if _has(each, document, answer)), None) if answer else None
        if own is not None and len(answer) >= FEWEST_WORDS:
            beside = [each for each in found if _share(answer, _words(each.passage.text)) < OTHER]
            reading = rng.choice(readings)
            for text, label in (*_answers(own, answer), *_beside(own, answer, beside, asked.question)):
                yield Pair(reading, text, label, ANSWER_WEIGHT if label else 1.0)
    for question in document.near:
        found = await search.passages(question)
        whole = (judged_text(each, each.passage.span) for each in found[:PASSAGES_BESIDE])
        for text in (*whole, *_alike(question, found[:2])):
            yield Pair(question, text, 0)


def _has(source: SourcedPassage, document: PublicDocument, answer: Sequence[str]) -> bool:
    return source.document.path.endswith(document.name) and _share(answer, _words(source.passage.text)) >= SAME


def _answers(own: SourcedPassage, answer: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the passage with the answer, its sentences that answer, and these with a sentence beside them."""
    yield judged_text(own, own.passage.span), 1
    spans = _spans(own)
    hits = [place for place, span in enumerate(spans) if _answers_by_itself(_words(text_of(own, span)), answer)]
    if not hits or hits[-1] - hits[0] >= LONGEST_ANSWER:
        return
    first, last = hits[0], hits[-1]
    yield judged_text(own, Span(spans[first].start, spans[last].end)), 1
    if last + 1 < len(spans):
        yield judged_text(own, Span(spans[first].start, spans[last + 1].end)), 1
    elif first > 0:
        yield judged_text(own, Span(spans[first - 1].start, spans[last].end)), 1


def _beside(
    own: SourcedPassage, answer: Sequence[str], others: Sequence[SourcedPassage], question: str
) -> Iterator[tuple[str, int]]:
    """Yield what is found without the answer: passages, and the sentences most alike, the answer's passage first."""
    silent = [span for span in _spans(own) if _share(answer, _words(text_of(own, span))) < SILENT]
    texts = [text_of(own, span) for span in silent]
    alike = [judged_text(own, silent[place]) for place in most_alike(question, range(len(silent)), texts)]
    sentences = [*alike[:SENTENCES_BESIDE], *_alike(question, others[:2])]
    whole = (judged_text(each, each.passage.span) for each in others[:PASSAGES_BESIDE])
    yield from ((text, 0) for text in (*whole, *sentences[:SENTENCES_BESIDE]))


def _alike(question: str, passages: Iterable[SourcedPassage]) -> Iterator[str]:
    """Yield the sentence of each passage that shares most words with a question."""
    for source in passages:
        spans = _spans(source)
        texts = [text_of(source, span) for span in spans]
        yield from (judged_text(source, spans[place]) for place in most_alike(question, range(len(spans)), texts)[:1])


def _spans(source: SourcedPassage) -> list[Span]:
    return [source.passage.sentences[place] for place in quotable(source)]


def _answers_by_itself(words: Sequence[str], answer: Sequence[str]) -> bool:
    """Whether a sentence has most of an answer, or is a part of it."""
    is_part = len(words) > FEWEST_WORDS and f" {' '.join(words)} " in f" {' '.join(answer)} "
    return is_part or _share(answer, words) >= MOST


def _share(answer: Sequence[str], words: Sequence[str]) -> float:
    """Return the share of an answer's runs of three words (or fewer) that other words have."""
    runs = _runs(answer, min(RUN, len(answer)))
    return len(runs & _runs(words, min(RUN, len(answer)))) / len(runs)


def _runs(words: Sequence[str], length: int) -> set[tuple[str, ...]]:
    return {tuple(words[begin : begin + length]) for begin in range(len(words) - length + 1)}


def _words(text: str) -> list[str]:
    return _WORD.findall(unescape(_TAG.sub(" ", text)).lower())
