"""Support of an answer's sentences: each is judged against the quotes that it cites, then kept, footnoted, dropped or
marked.

A footnote covers the sentences before it in its block (a paragraph, a list item, a row). A whole
sentence or a phrase that a footnote's text states needs no judgement. A sentence about the library itself ("the journal
has three pages") rests on the texts of its tools.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate

from core.answering.citations import MARKER, ProvedText
from core.answering.support.check import SHIFTING, Claim, SupportCheck
from core.answering.support.claims import blocks, is_claim, sentences
from core.answering.support.ladder import find_faults, is_heading
from core.answering.support.texts import Text
from core.domain.answer import Citation, Draft
from core.domain.passages import Span
from core.domain.replies import CitedText, PassageCitation
from core.domain.support import FindingKind, Judgement, Verdict
from core.text.words import words

UNSUPPORTED_MARK = "[?]"
UNSUPPORTED_NOTE = "[?] = not backed by a passage of the documents."
# Tools whose texts are about the library itself.
_OF_THE_LIBRARY = frozenset({"get_ontology", "list_documents", "find_extracts", "follow_relation", "query_journal"})
_LINK_TARGET = re.compile(r"\]\([^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+\)")
_ABOUT_DOCUMENTS = re.compile(
    r"\b(?:documents?|pages?|journals?|chapters?|sections?|librar(?:y|ies)|files?|notes?|books?|headings?|dokumente?|seiten?|"
    r"kapitel|documentos?|páginas?|capítulos?)\b",
    re.IGNORECASE,
)
_PARTS = re.compile(r"(?<=[.!?;:…])[*_\"'”’)\]]{0,4}\s+|[\n\t|]+")  # between sentences, lines and cells
_QUOTED_CELL = re.compile(r'"[^"\n]*"|[^,;|\t\n"]+')
_LABEL = re.compile(
    r"\s{0,4}(?:[-*] )?\*\*([^*\n]{1,200})\*\*: "
)  # "- **Purpose**: ", a section's title before a quote
_ITEM_NUMBER = re.compile(r"\s{0,8}\d{1,3}[.)]\s{0,4}")  # of a list: its sentence begins behind it
_OWN_BRACKETS = re.compile(r"\\\[[\d,; ]{1,20}\\\]")  # numbers of the text's own, escaped
_HARD = frozenset({FindingKind.NUMBER, FindingKind.DATE, FindingKind.NAME})


class Basis(StrEnum):
    """The ground of a sentence."""

    FOOTNOTES = "footnotes"
    LIBRARY = "library"  # texts of tools about the library
    PICTURE = "picture"  # a page that the model saw; code can't check it
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A sentence of a proved text, and the verdict on it."""

    span: Span
    numbers: tuple[int, ...]  # of the footnotes that cover it
    judgement: Judgement
    basis: Basis

    @property
    def is_faulty(self) -> bool:
        return self.judgement.verdict in (Verdict.UNSUPPORTED, Verdict.CONTRADICTED)

    @property
    def is_uncited(self) -> bool:
        return self.is_faulty and not self.numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounding:
    """Text with unsupported claims marked, and their places in it (without the marks)."""

    text: str
    unsupported: tuple[Span, ...]


async def check_text(draft: Draft, proved: ProvedText, check: SupportCheck, question: str) -> list[Checked]:
    """Judge every sentence of a proved text, in order. Raises the errors of the check's model (ModelMissing)."""
    by_number = {citation.number: citation for citation in proved.citations}
    said = _said_by_tools(draft)
    has_picture = bool(draft.evidence.pictures)
    found: list[Checked] = []
    for block in blocks(proved.text, list(sentences(proved.text))):
        own = [_numbers_in(span.of(proved.text), by_number) for span in block]
        for place, (span, numbers) in enumerate(zip(block, own, strict=True)):
            covering = numbers or next(filter(None, own[place:]), ())
            cited = [by_number[number] for number in covering]
            checked = await _check(span.of(proved.text), cited, draft, check, question)
            found.append(Checked(span=span, numbers=covering, judgement=checked, basis=Basis.FOOTNOTES))
    return [await _other_basis(item, proved.text, said, check, has_picture=has_picture) for item in found]


async def _check(
    sentence: str, cited: Sequence[Citation], draft: Draft, check: SupportCheck, question: str
) -> Judgement:
    bare = _OWN_BRACKETS.sub("", MARKER.sub("", sentence))
    if _ITEM_NUMBER.fullmatch(bare) or not is_claim(bare):
        return Judgement(verdict=Verdict.NO_CLAIM)
    passages = [
        draft.evidence.passages[c.passage_id].source.passage.text
        for c in cited
        if c.passage_id in draft.evidence.passages
    ]
    texts = [*(c.quote for c in cited), *passages]
    label = _LABEL.match(bare)
    if label and names_only(label[1], [*texts, *(f"{c.document_title} {' '.join(c.heading_path)}" for c in cited)]):
        bare = bare[label.end() :]
    if any(is_quoted(part, bare) for part in texts) or ("|" in bare and any(_has_cells(bare, c.quote) for c in cited)):
        return Judgement(verdict=Verdict.SUPPORTED)
    context = " ".join([question, *(f"{c.document_title} {' '.join(c.heading_path)}" for c in cited), *passages])
    if cited and "|" in bare:
        return _check_row(bare, texts)
    if cited and draft.data is not None and bare.lstrip().startswith("-"):  # "- Gates: a full minute" of a form
        return _check_row(bare.partition(": ")[2] or bare, texts)
    (judged,) = await check.judge([Claim(sentence=bare, quotes=[c.quote for c in cited], context=context)])
    is_settled = judged.verdict in (Verdict.SUPPORTED, Verdict.CONTRADICTED)
    if is_settled or not passages or is_heading("\n".join(c.quote for c in cited)):
        return judged
    # The quote of a footnote is short: the sentences around it may complete the claim.
    (wider,) = await check.judge([Claim(sentence=bare, quotes=passages, context=context)])
    return wider if wider.verdict is Verdict.SUPPORTED else judged


def is_quoted(text: str, said: str) -> bool:
    """Return whether a text has these words as whole sentences, lines or cells, or as a phrase that it states."""
    wanted = plain_words(said).split()
    parts = [plain_words(part).split() for part in _PARTS.split(text)]
    found = [word for part in parts for word in part]
    ends = {0, *accumulate(map(len, parts))}
    if any(found[end : end + len(wanted)] == wanted and end + len(wanted) in ends for end in ends):
        return True
    return any(
        part[start : start + len(wanted)] == wanted
        and SHIFTING.isdisjoint(part[:start])
        and SHIFTING.isdisjoint(part[start + len(wanted) :])
        for part in parts
        for start in range(len(part) - len(wanted) + 1)
    )


def _has_cells(row: str, quote: str) -> bool:
    """Return whether a quote has all cells of a row, whatever divides them there: a comma, a tab, a bar."""
    held = {plain_words(cell.strip('"')) for cell in _QUOTED_CELL.findall(quote)}
    cells = [said for cell in row.split("|") if (said := plain_words(cell)).strip()]
    return bool(cells) and all(cell in held for cell in cells)


def _check_row(row: str, texts: Sequence[str]) -> Judgement:
    """A row of a table is no sentence: only its figures, dates and names are held against it."""
    findings = tuple(find_faults(Text(row), Text("\n".join(texts)), Text("")))
    is_faulty = any(finding.kind in _HARD for finding in findings)
    return Judgement(verdict=Verdict.UNSUPPORTED if is_faulty else Verdict.SUPPORTED, findings=findings)


async def _other_basis(
    item: Checked, text: str, said: Sequence[str], check: SupportCheck, *, has_picture: bool
) -> Checked:
    """The library or a picture, for a sentence without a footnote."""
    if not item.is_uncited:
        return item
    sentence = item.span.of(text)
    if said and _ABOUT_DOCUMENTS.search(sentence):
        (judged,) = await check.judge([Claim(sentence=sentence, quotes=said)])
        if judged.verdict is Verdict.SUPPORTED or _is_told(sentence, said):
            return replace(item, judgement=replace(judged, verdict=Verdict.SUPPORTED), basis=Basis.LIBRARY)
    if has_picture:
        return replace(item, judgement=replace(item.judgement, verdict=Verdict.SUPPORTED), basis=Basis.PICTURE)
    return replace(item, basis=Basis.NOTHING)


def _is_told(sentence: str, said: Sequence[str]) -> bool:
    """Whether tools said every figure and name of a sentence about the documents."""
    claim = Text(sentence)
    has_facts = bool(claim.quantities or claim.names)
    faults = find_faults(claim, Text("\n".join(said)), Text(""))
    return has_facts and not any(fault.kind in _HARD for fault in faults)


def _said_by_tools(draft: Draft) -> list[str]:
    results = [result for turn in draft.new_messages for result in turn.tool_results]
    return [
        result.text for result in results if result.is_error or result.name in _OF_THE_LIBRARY or not result.passages
    ]


def _numbers_in(sentence: str, known: Mapping[int, Citation]) -> tuple[int, ...]:
    numbers = (int(n) for match in MARKER.finditer(sentence) for n in re.split(r"[,;]", match.group(1)))
    return tuple(dict.fromkeys(number for number in numbers if number in known))


def plain_words(text: str) -> str:
    """Return the words in order, without footnote numbers and link targets: a quote is shown without its markup."""
    return f" {' '.join(words(_LINK_TARGET.sub(']', MARKER.sub('', text))))} "


# ---------------------------------------------------------------------------------------------------- changes of a text


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A part of a proved text that gets other words, or citations at its end."""

    span: Span
    text: str
    citations: tuple[PassageCitation, ...] = ()


def change(proved: ProvedText, changes: Sequence[Change]) -> tuple[CitedText, ...]:
    """Return the segments of a proved text with changes made to it, to be proved again."""
    by_number = {citation.number: citation for citation in proved.citations}
    pieces: list[CitedText] = []
    last = 0
    for item in sorted(changes, key=lambda change: change.span):
        pieces += _segments(proved.text[last : item.span.start], by_number)
        pieces += _segments(item.text, by_number, item.citations)
        last = item.span.end
    return (*pieces, *_segments(proved.text[last:], by_number))


def _segments(text: str, by_number: Mapping[int, Citation], more: tuple[PassageCitation, ...] = ()) -> list[CitedText]:
    """The text up to each run of markers, with the citations of that run."""
    found: list[CitedText] = []
    last = 0
    for match in re.finditer(rf"(?:{MARKER.pattern}[ \t]*)+", text):
        numbers = _numbers_in(match.group(), by_number)
        if not numbers:
            continue
        end = match.start() + len(match.group().rstrip())
        found.append(
            CitedText(text=text[last : match.start()], citations=tuple(map(_citation, (by_number[n] for n in numbers))))
        )
        last = end
    if text[last:] or more:
        found.append(CitedText(text=text[last:], citations=more))
    return found


def _citation(citation: Citation) -> PassageCitation:
    return PassageCitation(passage_id=citation.passage_id, span=citation.span, cited_text=citation.quote)


def mark(text: str, checked: Iterable[Checked]) -> Grounding:
    """Mark the faulty sentences of a text, which `checked` gives in order."""
    pieces: list[str] = []
    unsupported: list[Span] = []
    length = last = 0
    for item in checked:
        if not item.is_faulty:
            continue
        kept = text[last : item.span.end]
        pieces += [kept, f" {UNSUPPORTED_MARK}"]
        start = length + item.span.start - last
        length += len(kept)
        unsupported.append(Span(start, length))
        length += len(UNSUPPORTED_MARK) + 1
        last = item.span.end
    marked = "".join([*pieces, text[last:]])
    if unsupported:
        marked = f"{marked.rstrip()}\n\n{UNSUPPORTED_NOTE}"
    return Grounding(text=marked, unsupported=tuple(unsupported))


# ----------------------------------------------------------------------------------- lines of typed answers, in code


def is_backed(text: str, passages_by_number: Mapping[int, Iterable[str]], *, needs_footnote: bool = True) -> bool:
    """Return whether a whole statement is backed: it has a footnote whose passages hold its figures, dates and names.

    Without `needs_footnote`, text that states nothing ("Here it is", "The documents do not say when") needs none.
    """
    numbers = [int(n) for match in MARKER.finditer(text) for n in re.split(r"[,;]", match.group(1))]
    if not numbers:
        return not needs_footnote and not any(is_claim(span.of(text)) for span in sentences(text))
    return names_only(text, (part for number in numbers for part in passages_by_number.get(number, ())))


def names_only(text: str, passages: Iterable[str]) -> bool:
    """Return whether these passages hold all figures and dates of a text, except footnote numbers."""
    faults = find_faults(Text(MARKER.sub("", text)), Text("\n".join(passages)), Text(""))
    return not any(fault.kind in (FindingKind.NUMBER, FindingKind.DATE) for fault in faults)


def texts_behind(draft: Draft, proved: ProvedText) -> dict[int, list[str]]:
    """The quote and its whole passage, by footnote number."""
    passages = draft.evidence.passages
    return {c.number: [c.quote, passages[c.passage_id].source.passage.text] for c in proved.citations}
