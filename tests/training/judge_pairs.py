"""Labelled pairs for the judge of answers (`judge.py`), from the texts beside this file.

A line of texts/*.jsonl is a short text of our own, with what is asked of it and claimed about it:
- title, heading (of a table: the names of its columns), sentences (also items and rows);
- questions: {"q": question, "a": places of the sentences that answer it}, of a follow-up also "after", the one before;
- near: questions about the same things that the text doesn't answer, as texts or like questions;
- true, false: {"s": sentence, "e": places of the sentences it cites}; a false one has "l", contradicted or unsupported.

A line of conversations/*.jsonl is a conversation about one of these texts, named by title and heading. Its turns are
{"q": question, "a": places of the sentences that answer it} or {"say": message of a person that asks nothing}.

A pair of a question is 1 if the passage answers it, else 0. Passages are a sentence, a run of sentences or the whole
section, below its titles as the judge reads them (`quotes.py`). Those that don't answer share many of its words.
A pair of a claim is 0 if the passage supports it, 1 if it does not, 2 if it contradicts it, 3 for either of these two.

`python -m tests.training.judge_pairs` prints the claims of the texts that aren't fitted on for `footnote eval claims`.
"""

import json
import random
import re
import sys
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from core.text.words import content_words

TEXTS = Path(__file__).with_name("texts")
CONVERSATIONS = Path(__file__).with_name("conversations")
MEASURED = 8  # one text in so many is measured on, never fitted on
LONGEST_QUOTE = 4  # sentences; what more of them answer is a list
CONTEXT_WORDS = 12
LABELS = ("supported", "unsupported", "contradicted")
NOT_SUPPORTED = 3  # unsupported or contradicted, where a set doesn't say which
ROW = 70  # characters; shorter sentences are often items or rows, which stand on lines of their own
NAMING = 0.45  # of the questions are also asked with the title of their text, and with another one
LONGEST_TITLE = 9  # words
TITLE_FORMS = ("{q} in {t}?", "In {t}, {q}?", "According to {t}, {q}?", "{t}: {q}?", "{q} ({t})?", "{q} at {t}?")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_MONTH = "|".join(f"{month}|{month[:3]}" for month in MONTHS)
_DATE = re.compile(rf"\b(?P<day>\d{{1,2}}) (?P<month>{_MONTH})\b(?: (?P<year>\d{{4}}))?")
_NUMBER = re.compile(r"\d+")
_MONTH_NAME = re.compile(rf"\b(?:{_MONTH})\b")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w’-]+(?: [A-Z][\w’-]+)*")
_AFTER_TITLE = re.compile(r"[,:;(|—–]| - ")


@dataclass(frozen=True, slots=True)
class Pair:
    asked: str  # a question, or a claim
    passage: str
    label: int
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Asked:
    question: str
    places: Sequence[int] = ()  # of the sentences that answer it; () for none
    after: str = ""  # the question before, of a follow-up


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    title: str
    heading: str
    sentences: Sequence[str]
    asked: Sequence[Asked]
    claims: Sequence[tuple[str, Sequence[int], int]]  # with their labels

    @property
    def is_measured(self) -> bool:
        return zlib.crc32((self.title + self.sentences[0]).encode()) % MEASURED == 0

    @property
    def above(self) -> str:
        return f"{' > '.join(filter(None, (self.title, self.heading)))}: "


def read_texts() -> list[Text]:
    files = (file.read_text("utf-8") for file in sorted(TEXTS.glob("*.jsonl")))
    return [to_text(json.loads(line)) for lines in files for line in lines.splitlines()]


def read_follow_ups(texts: Iterable[Text]) -> list[tuple[Text, Asked]]:
    """Return the questions of conversations about these texts that follow others there."""
    by_name = {(text.title, text.heading): text for text in texts}
    found = []
    for file in sorted(CONVERSATIONS.glob("*.jsonl")):
        for talk in map(json.loads, file.read_text("utf-8").splitlines()):
            asked = [turn for turn in talk["turns"] if "q" in turn]
            text = by_name.get((talk["title"], talk["heading"]))
            if text is not None:
                found += [(text, Asked(turn["q"], turn["a"], before["q"])) for before, turn in pairwise(asked)]
    return found


def to_text(line: Mapping[str, Any]) -> Text:
    near = (asked if isinstance(asked, dict) else {"q": asked} for asked in line["near"])
    false = ((claim["s"], claim["e"], 2 if claim["l"] == "contradicted" else 1) for claim in line["false"])
    return Text(
        title=line["title"],
        heading=line["heading"],
        sentences=line["sentences"],
        asked=[
            Asked(asked["q"], sorted(set(asked.get("a", ()))), asked.get("after", ""))
            for asked in (*line["questions"], *near)
        ],
        claims=[*((claim["s"], claim["e"], 0) for claim in line["true"]), *false],
    )


def question_pairs(text: Text, rng: random.Random) -> Iterator[Pair]:
    """Pair each question with passages that answer it and with others of the text."""
    for asked in text.asked:
        if not asked.places:
            yield from _silent(text, rng.choice(readings_of(asked)), (), rng, alike=4, whole=0.9)
            continue
        begin, end = asked.places[0], asked.places[-1]
        answers = range(begin, end + 1)
        if end - begin >= LONGEST_QUOTE:
            for first, last in _parts_of_list(begin, end, rng):
                yield Pair(asked.question, _run(text, first, last, rng), 1)
            yield from _silent(text, asked.question, answers, rng, alike=3, whole=0.5)
        elif asked.after:
            for form in readings_of(asked):
                yield Pair(form, _run(text, begin, end, rng), 1)
                yield from _silent(text, form, answers, rng, alike=2, whole=0.3)
        else:
            for first, last in _around(begin, end, len(text.sentences) - 1, rng):
                yield Pair(asked.question, _run(text, first, last, rng), 1)
            yield from _silent(text, asked.question, answers, rng, alike=3, whole=0.5)


def naming_pairs(texts: Sequence[Text], rng: random.Random) -> Iterator[Pair]:
    """Pair questions that name their text, a person, a thing or a number with what answers them, and the same
    questions about another one with the same passages, which then say nothing.
    """
    names = sorted({name for text in texts for asked in text.asked for name in _NAME.findall(asked.question)})
    for place, text in enumerate(texts):
        beside = texts[(place + rng.randrange(1, 12)) % len(texts)]
        for asked in text.asked:
            if not asked.places or asked.after or asked.places[-1] - asked.places[0] >= LONGEST_QUOTE:
                continue
            run = _run(text, asked.places[0], asked.places[-1], rng)
            if rng.random() < NAMING:
                yield from _titled(text, beside, asked.question, run, rng)
            said = run.lower()
            for name in _NAME.findall(asked.question) + _NUMBER.findall(asked.question):
                if name.lower() in said or name in text.title:
                    other = rng.choice(names) if not name.isdigit() else _other_number(name, rng)
                    yield Pair(asked.question, run, 1)
                    if other.lower() not in said:
                        yield Pair(asked.question.replace(name, other), run, 0)


def _titled(text: Text, beside: Text, question: str, run: str, rng: random.Random) -> Iterator[Pair]:
    bare = question.strip().rstrip("?.")
    form = rng.choice(TITLE_FORMS)
    title, others = _short(text.title, rng), [_short(beside.title, rng)]
    if (changed := _another(title, rng)) != title:
        others.append(changed)
    yield Pair(form.format(q=bare, t=_reworded(title, rng)), run, 1)
    for other in others:
        yield Pair(form.format(q=bare, t=_reworded(other, rng)), run, 0)
    if rng.random() < 0.5:
        above = _another(text.title, rng) if len(others) > 1 else beside.title
        yield Pair(form.format(q=bare, t=title), run.replace(text.title, above, 1), 0)
    alike = most_alike(question, range(len(beside.sentences)), beside.sentences)[0]
    yield Pair(form.format(q=bare, t=title), _run(beside, alike, alike, rng), 0)


def _short(title: str, rng: random.Random) -> str:
    begin = _AFTER_TITLE.split(title)[0].strip()
    is_enough = len(begin.split()) > 1 and (rng.random() < 0.5 or len(title.split()) > LONGEST_TITLE)
    return begin if is_enough else title


def _another(title: str, rng: random.Random) -> str:
    """Return the title of a sibling: of another month, or with another number."""
    months = [found.group() for found in _MONTH_NAME.finditer(title)]
    if months and rng.random() < 0.6:
        month = rng.choice(months)
        return title.replace(month, rng.choice([each for each in MONTHS if each[:3] != month[:3]]), 1)
    numbers = _NUMBER.findall(title)
    if not numbers:
        return title
    number = rng.choice(numbers)
    return title.replace(number, _other_number(number, rng), 1)


def _other_number(number: str, rng: random.Random) -> str:
    near = [str(int(number) + by) for by in (-3, -2, -1, 1, 2, 3, 10) if int(number) + by > 0]
    return rng.choice(near)


def _reworded(title: str, rng: random.Random) -> str:
    """Return a title with its date in another form: "14 March 2023" as "March 14" or "2023-03-14"."""
    found = _DATE.search(title)
    if found is None:
        return title
    number = next(place for place, month in enumerate(MONTHS, start=1) if month[:3] == found["month"][:3])
    month, day, year = MONTHS[number - 1], found["day"], found["year"] or ""
    forms = [f"{month} {day} {year}", f"{day} {month[:3]} {year}", f"{month} {day}th {year}", found.group()]
    if year:
        forms.append(f"{year}-{number:02}-{int(day):02}")
    return title.replace(found.group(), rng.choice(forms).strip(), 1)


def claim_pairs(text: Text, rng: random.Random) -> Iterator[Pair]:
    """Pair each claim with what it cites; true ones also with more than that, and with another sentence."""
    last = len(text.sentences) - 1
    for claim, places, label in text.claims:
        yield Pair(claim, _cited(text, places, rng), label)
        if label:
            continue
        if rng.random() < 0.5:
            beside = rng.choice((max(0, min(places) - 1), min(last, max(places) + 1)))
            yield Pair(claim, _cited(text, [*places, beside], rng), 0)
        others = [place for place in range(last + 1) if place not in places]
        if others and rng.random() < 0.6:
            yield Pair(claim, _cited(text, most_alike(claim, others, text.sentences)[:1], rng), 1)
    for place in rng.sample(range(last + 1), min(2, last + 1)):
        if len(text.sentences[place].split()) > 4:
            yield Pair(text.sentences[place], _cited(text, [place], rng), 0)


def most_alike(question: str, places: Iterable[int], sentences: Sequence[str]) -> list[int]:
    """Return places by the words that their sentences share with a question, most first."""
    asked = content_words(question)

    def shared(place: int) -> float:
        said = content_words(sentences[place])
        return len(asked & said) / (3 + len(said) ** 0.5)

    return sorted(places, key=lambda place: -shared(place))


def readings_of(asked: Asked) -> list[str]:
    """Return the readings of a question: of a follow-up, with the question before it, as `conversation.py` does."""
    if not asked.after:
        return [asked.question]
    own = content_words(asked.question)
    told = [word for word in re.findall(r"[\w'’-]+", asked.after) if content_words(word) - own]
    bare = asked.question.strip().rstrip("?")
    return [f"{asked.after} {asked.question}", f"{bare} ({' '.join(told[:CONTEXT_WORDS])})?"]


def _around(begin: int, end: int, last: int, rng: random.Random) -> Iterator[tuple[int, int]]:
    """Yield runs with the answer: itself, with a sentence beside it, and now and then most of the section."""
    yield begin, end
    yield rng.choice(((max(0, begin - 1), end), (begin, min(last, end + 1)), (max(0, begin - 1), min(last, end + 1))))
    if rng.random() < 0.6:
        yield (0, last) if rng.random() < 0.5 else (max(0, begin - 3), min(last, end + 3))


def _parts_of_list(begin: int, end: int, rng: random.Random) -> Iterator[tuple[int, int]]:
    """Yield runs of a list that answers: all of it, parts, items, and its beginning with the sentence above it."""
    some = rng.randrange(begin, end - 1)
    yield from ((begin, end), (some, some + 2), (begin, begin + 1))
    yield from ((place, place) for place in sorted({begin, rng.randrange(begin, end + 1)}))
    if begin > 0:
        yield begin - 1, min(begin + 2, end)


def _silent(
    text: Text, question: str, answers: Collection[int], rng: random.Random, *, alike: int, whole: float
) -> Iterator[Pair]:
    """Yield passages without the answer: the most alike sentences and one at random, a run, and all of the section."""
    others = [place for place in range(len(text.sentences)) if place not in answers]
    ranked = most_alike(question, others, text.sentences)
    rest = ranked[alike:]
    for place in (*ranked[:alike], *rng.sample(rest, min(1, len(rest)))):
        yield Pair(question, _run(text, place, place, rng), 0)
    runs = [place for place in others if place + 1 in others]
    if runs:
        begin = rng.choice([place for place in ranked[:2] if place in runs] or runs)
        end = begin + 2 if begin + 2 in others and rng.random() < 0.3 else begin + 1
        yield Pair(question, _run(text, begin, end, rng), 0)
    if others and rng.random() < whole:
        yield Pair(question, text.above + " ".join(text.sentences[place] for place in others), 0)


def _run(text: Text, begin: int, end: int, rng: random.Random) -> str:
    run = text.sentences[begin : end + 1]
    between = "\n" if all(len(sentence) < ROW for sentence in run) and rng.random() < 0.7 else " "
    return text.above + between.join(run)


def _cited(text: Text, places: Iterable[int], rng: random.Random) -> str:
    cited = " ".join(text.sentences[place] for place in sorted(set(places)))
    return text.above + cited if rng.random() < 0.6 else cited


def main() -> None:
    for text in read_texts():
        for number, (claim, places, label) in enumerate(text.claims if text.is_measured else ()):
            line = {
                "id": f"{text.title}-{number}",
                "evidence": [text.sentences[place] for place in sorted(set(places))],
                "sentence": claim,
                "label": LABELS[label],
                "kind": "text",
                "source": text.title,
            }
            sys.stdout.write(f"{json.dumps(line, ensure_ascii=False)}\n")


if __name__ == "__main__":
    main()
