"""Support of an answer's claims by its footnotes. Unsupported claims are marked in the text and in the answer object.

A claim is a sentence that states something; questions, headings (also of tables), lead-ins ("... :") and sentences
about the search itself are none. It is supported if a passage behind a footnote contains it word for word. Else it
needs a footnote marker inside or right behind it, and the passages behind its footnotes have to contain every number
that it names (two digits or more): models get numbers wrong most often, and readers check them last.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.answering.citations import MARKER, ProvedText
from core.domain.answer import Draft
from core.domain.passages import Span
from core.text.words import code_spans, content_words, words

UNSUPPORTED_MARK = "[?]"
UNSUPPORTED_NOTE = "[?] = not backed by a passage of the documents."
# Fewer content words than this, and no number, say too little to be a claim ("Yes.", "Here it is").
MIN_CLAIM_WORDS = 3
# A model may say dots or blanks without an end: "++" gives nothing back, so that a row of them is read once.
_SENTENCE = re.compile(
    r"[^\n]*?(?<![.!?。！？])[.!?。！？]++[\"'”’)\]*_]*(?:[ \t]*+\[\d{1,3}\])*(?=\s|$)|[^\n]+", re.UNICODE
)
_LINK_TARGET = re.compile(r"\]\([^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+\)")
_NUMBER = re.compile(r"\d[\d.,]*\d")
# A sentence about the search is no claim: it needs no support.
_SEARCHES = re.compile(
    r"\b(?:could ?n[o']t find|did ?n[o']t find|found nothing|not (?:mentioned|stated|covered|in the documents|from the "
    r"documents)|no (?:mention|passage|information|document|source)s?\b|I (?:searched|looked|quote))",
    re.IGNORECASE,
)
_SILENT_DOCUMENTS = re.compile(
    r"\b(?:documents?|passages?|library|sources?|notes?) (?:do|did|does)(?: not|n['’]t) "
    r"(?:say|mention|state|cover|give)",
    re.IGNORECASE,
)
# The line above the rule of a table names its columns.
_TABLE_HEAD = re.compile(
    r"^[^\n|]*+\|[^\n]*+\n(?=[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+$)", re.MULTILINE
)
_STRUCTURE = re.compile(r"^\s*+(?:#{1,6}\s|\|?[\s:|-]++$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounding:
    """Text with unsupported claims marked, and their places in it (without the marks)."""

    text: str
    unsupported: tuple[Span, ...]


def ground(text: str, passages_by_number: Mapping[int, Iterable[str]], question: str = "") -> Grounding:
    """Mark every claim without support. `passages_by_number` gives the texts behind each footnote number.

    Numbers that the question itself named are not held against a claim.
    """
    known = {number: _numbers(" ".join(texts)) for number, texts in passages_by_number.items()}
    quoted = [_plain_words(part) for texts in passages_by_number.values() for part in texts]
    pieces: list[str] = []
    unsupported: list[Span] = []
    length = last = 0
    for span in _unsupported(text, known, _numbers(question), quoted):
        kept = text[last : span.end]
        pieces += [kept, f" {UNSUPPORTED_MARK}"]
        start = length + span.start - last
        length += len(kept)
        unsupported.append(Span(start, length))
        length += len(UNSUPPORTED_MARK) + 1
        last = span.end
    pieces.append(text[last:])
    marked = "".join(pieces)
    if unsupported:
        marked = f"{marked.rstrip()}\n\n{UNSUPPORTED_NOTE}"
    return Grounding(text=marked, unsupported=tuple(unsupported))


def is_backed(text: str, passages_by_number: Mapping[int, Iterable[str]], *, needs_footnote: bool = True) -> bool:
    """Return whether a whole statement is backed: it has a footnote whose passages contain every number of it.

    Without `needs_footnote`, text that states nothing ("Here it is", "The documents do not say when") needs none.
    """
    numbers = [int(n) for match in MARKER.finditer(text) for n in re.split(r"[,;]", match.group(1))]
    if not numbers:
        return not needs_footnote and not any(_is_claim(match.group().strip()) for match in _SENTENCE.finditer(text))
    return names_only(text, (part for number in numbers for part in passages_by_number.get(number, ())))


def names_only(text: str, passages: Iterable[str]) -> bool:
    """Return whether these passages contain all numbers of a text, except footnote numbers."""
    return _numbers(MARKER.sub("", text)) <= _numbers(" ".join(passages))


def only_says_not_found(text: str) -> bool:
    """Whether a text states nothing but that something was not found; questions to the reader may go with it."""
    sentences = [match.group().strip() for match in _SENTENCE.finditer(text) if match.group().strip()]
    told = [sentence for sentence in sentences if not sentence.endswith(("?", "？"))]
    return bool(told) and all(map(_is_about_the_search, told))


def _unsupported(text: str, known: Mapping[int, set[str]], asked: set[str], quoted: Sequence[str] = ()) -> list[Span]:
    apart = [*code_spans(text), *(Span(match.start(), match.end()) for match in _TABLE_HEAD.finditer(text))]
    found = []
    for match in _SENTENCE.finditer(text):
        # A mark behind the last cell would be no part of the table.
        sentence = match.group().rstrip().removesuffix("|").rstrip()
        span = Span(match.start() + len(sentence) - len(sentence.lstrip()), match.start() + len(sentence))
        if any(block.start <= span.start < block.end for block in apart) or not _is_claim(sentence):
            continue
        if any(_plain_words(sentence) in part for part in quoted):
            continue  # a sentence inside a longer quote, with the footnote at the quote's end
        numbers = [int(n) for m in MARKER.finditer(sentence) for n in re.split(r"[,;]", m.group(1))]
        behind = set().union(*(known.get(number, set()) for number in numbers)) if numbers else set()
        if not numbers or not _numbers(MARKER.sub("", sentence)) <= behind | asked:
            found.append(span)
    return found


def _is_claim(sentence: str) -> bool:
    bare = MARKER.sub("", sentence).strip()
    if bare.endswith((":", "?", "？", "：")) or _STRUCTURE.match(bare) or _is_about_the_search(bare):
        return False
    return len(content_words(bare)) >= MIN_CLAIM_WORDS or bool(_NUMBER.search(bare))


def _plain_words(text: str) -> str:
    """The words in order, without footnote numbers and link targets: a quote is shown without its markup."""
    return f" {' '.join(words(_LINK_TARGET.sub(']', MARKER.sub('', text))))} "


def _numbers(text: str) -> set[str]:
    """Numbers of two digits or more, without thousands separators and leading zeros; '2,000' and '2000' are one."""
    found = (re.sub(r"[.,]$", "", match.group()).replace(",", "") for match in _NUMBER.finditer(text))
    plain = (number.lstrip("0") if number.isdigit() else number for number in found)
    return {number for number in plain if len(number) > 1}


def _is_about_the_search(sentence: str) -> bool:
    return bool(_SEARCHES.search(sentence) or _SILENT_DOCUMENTS.search(sentence))


def texts_behind(draft: Draft, proved: ProvedText) -> dict[int, list[str]]:
    """The quote and its whole passage, by footnote number."""
    passages = draft.evidence.passages
    return {c.number: [c.quote, passages[c.passage_id].source.passage.text] for c in proved.citations}
