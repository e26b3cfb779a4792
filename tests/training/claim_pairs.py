"""Labelled sentences of our own with the quotes that they cite, read from the files in claims/.

- fitted/*.txt fit the support model; of every fifth source of theirs, and first.txt and fresh.txt, the networks that
  weigh the model's word with the findings of code (`weights.py`);
- near.txt has sentences nearly in their quotes' words; heldout*.txt are only measured on.
"""

import random
import re
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from core.answering.support.texts import Text, in_one_language
from tests.training.judge_pairs import LABELS, MONTHS, NOT_SUPPORTED, Pair

CLAIMS = Path(__file__).with_name("claims")
NETWORKS = 5  # one source in so many is for the networks, not for the model
TITLED = 0.5  # share of the pairs whose quotes stand below the title of their document
WRONG_QUOTES = 0.4  # share of our supported sentences that are shown with another quote as well
SHORTEST = 4  # words of a sentence that is edited
NEAR_SUPPORTED, NEAR_WRONG, NEAR_MIXED = 6, 3, 2  # sentences made of each quote
_PREPOSITION = r"(?:on|in|at|under|from|by|for|with|every|within|after|before|until|since|because|near|during)"
_LOWERED = re.compile(
    rf"(?:the|an?|it|they|he|she|we|you|this|that|these|those|all|each|no|its|their|his|her|there|if|when|{_PREPOSITION})\b",
    re.IGNORECASE,
)
COUNTS = "two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty".split()
THEIRS = 0.4  # of the figures that are exchanged: with another one of the quotes
_COUNT = re.compile(rf"\b(?:{'|'.join(COUNTS)})\b", re.IGNORECASE)
_FIGURE = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w.,]*\d)")
_MONTH = re.compile(rf"\b(?:{'|'.join(month for month in MONTHS if month != 'May')})\b")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w’-]+(?: [A-Z][\w’-]+)*")
_BOUND = re.compile(
    r"(?:than|over|above|under|below|least|most|up to|until|before|after|within|exceed\w*|about|around|nearly|almost|or"
    r"|between|and|like|such as|if) (?:[$€£])?$",
    re.IGNORECASE,
)
_LETTERS = {"s": "supported", "c": "contradicted", "u": "unsupported", "n": "no_claim"}
Row = Mapping[str, object]


def rows_of_networks() -> list[Row]:
    """Return the sentences that the support model isn't fitted on."""
    apart = [*_rows(CLAIMS / "first.txt"), *_rows(CLAIMS / "fresh.txt")]
    return [*apart, *(row for row in _fitted() if _is_for_networks(row))]


def rows_of_model(files: Collection[str] = ()) -> list[Row]:
    """Return the sentences that the support model is fitted on: of these files (without .txt), or of all."""
    return [row for row in _fitted(files) if not _is_for_networks(row)]


def _fitted(files: Collection[str] = ()) -> Iterator[Row]:
    for file in sorted((CLAIMS / "fitted").glob("*.txt")):
        if not files or file.stem in files:
            yield from _rows(file)


def _rows(file: Path) -> list[Row]:
    return read_own(file.read_text("utf-8"))


def _is_for_networks(row: Row) -> bool:
    return zlib.crc32(str(row["source"]).encode()) % NETWORKS == 0


def support_pairs(rows: Iterable[Row], rng: random.Random) -> Iterator[Pair]:
    """Pair sentences with their quotes as the product shows them to the model, half of them below their title."""
    for row in rows:
        quotes = [str(quote) for quote in row["evidence"]]  # type: ignore[attr-defined]  # a list of the file
        said, read = in_one_language(Text(str(row["sentence"])), quotes)
        title = f"{row['context']}: " if row["context"] and rng.random() < TITLED else ""
        if row["label"] in LABELS:
            yield Pair(said, title + "\n".join(read), LABELS.index(str(row["label"])))


def exchanged_pairs(pairs: Iterable[Pair], rng: random.Random) -> Iterator[Pair]:
    """Pair supported sentences with one figure, month or name exchanged with their quotes, which don't say that."""
    for pair in pairs:
        found = [*_other_figures(pair, rng), *_other_months(pair, rng), *_other_names(pair, rng)]
        if pair.label == 0 and found:
            (begin, end), other = rng.choice(found)
            yield Pair(f"{pair.asked[:begin]}{other}{pair.asked[end:]}", pair.passage, NOT_SUPPORTED)


def _other_figures(pair: Pair, rng: random.Random) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield places of figures with others: one of the quotes, ten times as much, a digit more, less or moved."""
    known = set(_FIGURE.findall(pair.passage)) | set(_FIGURE.findall(pair.asked))
    for found in _FIGURE.finditer(pair.asked):
        if _BOUND.search(pair.asked[: found.start()]):
            continue  # "more than 30" is true of 40, too
        written, digits = found.group(), re.sub(r"\D", "", found.group())
        changed = [f"{written}0", written[:-1], written.replace(digits[0], str(int(digits[0]) % 9 + 1), 1)]
        changed += [written.replace(digits[-1], str((int(digits[-1]) + rng.randrange(1, 9)) % 10))]
        changed += [written[::-1]] if written.isdigit() else []
        theirs = sorted(other for other in set(_FIGURE.findall(pair.passage)) if other != written)
        fit = [other for other in changed if other not in known and re.fullmatch(_FIGURE.pattern, other)]
        if theirs and rng.random() < THEIRS:
            yield found.span(), rng.choice(theirs)
        elif fit:
            yield found.span(), rng.choice(fit)
    for found in _COUNT.finditer(pair.asked):
        if not _BOUND.search(pair.asked[: found.start()]):
            other = rng.choice([word for word in COUNTS if word != found.group().lower()])
            yield found.span(), other.capitalize() if found.group()[0].isupper() else other


def _other_months(pair: Pair, rng: random.Random) -> Iterator[tuple[tuple[int, int], str]]:
    for found in _MONTH.finditer(pair.asked):
        yield found.span(), rng.choice([month for month in MONTHS if month not in pair.asked])


def _other_names(pair: Pair, rng: random.Random) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield places of names that the quotes have, with other names of theirs."""
    theirs = sorted({name for name in _NAME.findall(pair.passage) if name not in pair.asked})
    for found in _NAME.finditer(pair.asked):
        if theirs and found.group() in pair.passage:
            yield found.span(), rng.choice(theirs)


def read_own(text: str) -> list[Row]:
    """Read our own pairs: "# source", "E: quote" (lines with | in front belong to it), then "label kind: sentence".

    "+: " begins a further quote of the sentences below it; "T: " is the title of the source's document.
    """
    source, quotes, rows = "", defaultdict[str, list[list[str]]](list), []
    titles: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("# "):
            source = line[2:]
        elif line.startswith("T: "):
            titles[source] = line[3:]
        elif line.startswith("E: "):
            quotes[source].append([line[3:]])
        elif line.startswith("+: "):
            quotes[source][-1].append(line[3:])
        elif line.startswith("|"):
            quotes[source][-1][-1] += f"\n{line}"
        elif line:
            head, sentence = line.split(": ", 1)
            label, kind = head.split(" ")
            rows.append((source, len(quotes[source]) - 1, _LETTERS[label], kind, sentence))
    found = [_row(quotes[s][place], text, label, kind, s) for s, place, label, kind, text in rows]
    chosen = random.Random(5)
    for s, place, label, _, text in rows:
        others = [cited for number, cited in enumerate(quotes[s]) if number != place]
        if label == "supported" and others and chosen.random() < WRONG_QUOTES:
            found.append(_row(others[0], text, "unsupported", "wrong_quote", s))
    return [{**row, "context": titles.get(str(row["source"]).removeprefix("own "), "")} for row in found]


def _row(quotes: Sequence[str], sentence: str, label: str, kind: str, source: str) -> Row:
    return {"evidence": quotes, "sentence": sentence, "label": label, "kind": kind, "source": f"own {source}"}


def near_rows(pairs: Sequence[Row]) -> list[Row]:
    """Return sentences that are nearly word for word in their quotes, or in another quote of the same source."""
    chosen = random.Random(1)
    quotes_of = defaultdict[tuple[str, str], list[Sequence[str]]](list)
    for row in pairs:
        known = quotes_of[str(row["source"]), str(row["context"])]
        if row["evidence"] not in known:
            known.append(row["evidence"])  # type: ignore[arg-type]  # as in `measure`
    rows: list[Row] = []
    for (source, context), all_quotes in quotes_of.items():
        for quotes in all_quotes:
            made = light_edits(quotes)
            chosen.shuffle(made)
            others = [other for other in all_quotes if other is not quotes]
            cited = [(quotes, text, "supported") for text in made[:NEAR_SUPPORTED]]
            if others:
                cited += [(chosen.choice(others), text, "unsupported") for text in made[:NEAR_WRONG]]
                cited += [(quotes, text, "unsupported") for text in _mixed(quotes, chosen.choice(others), chosen)]
            rows += [
                {"evidence": shown, "sentence": text, "label": label, "kind": f"near {label}", "source": source,
                 "context": context}
                for shown, text, label in cited
            ]  # fmt: skip
    return rows


def light_edits(quotes: Sequence[str]) -> list[str]:
    """Return sentences that say what quotes say: joined, cut, moved, or said to be theirs."""
    made: list[str] = []
    for sentences in map(_bare_sentences, quotes):
        made += [
            f"{first}{link}{_lowered(second)}." for first, second in pairwise(sentences) for link in ("; ", ", and ")
        ]
        for bare in sentences:
            made += [f"According to the document, {_lowered(bare)}.", f"{bare}, the document says."]
            behind = [found.start() for found in re.finditer(rf"\b{_PREPOSITION}\b", bare) if found.start()]
            made += [f"{_raised(bare[start:])}." for start in behind[:1] if len(bare[start:].split()) >= SHORTEST]
            if moved := re.match(rf"({_PREPOSITION}\b[^,]{{3,60}}), (.+)$", bare, re.IGNORECASE):
                made.append(f"{_raised(moved[2])} {_lowered(moved[1])}.")
            if aside := re.search(r", [^,]{3,60},", bare):
                made.append(f"{bare[: aside.start()]}{bare[aside.end() :]}.")
            first = bare.split(", ", 1)[0]
            made += [f"{first}."] if first != bare and len(first.split()) >= SHORTEST else []
            if ending := re.search(r", (?:and|but) (\w+ \w+ \w+ .+)$", bare):
                made.append(f"{_raised(ending[1])}.")
    return made


def _mixed(quotes: Sequence[str], others: Sequence[str], chosen: random.Random) -> list[str]:
    """Return sentences of which the second half is in other quotes."""
    mine = [one for quote in quotes for one in _bare_sentences(quote)]
    theirs = [one for quote in others for one in _bare_sentences(quote)]
    if not (mine and theirs):
        return []
    links = ("; ", ", and ")
    return [f"{chosen.choice(mine)}{link}{_lowered(chosen.choice(theirs))}." for link in links[:NEAR_MIXED]]


def _bare_sentences(quote: str) -> list[str]:
    found = re.split(r"(?<=[.!?])\s+|\n+", quote)
    return [one.strip().rstrip(".!? ") for one in found if len(one.split()) >= SHORTEST and not one.startswith("|")]


def _raised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:] if _LOWERED.match(text) else text
