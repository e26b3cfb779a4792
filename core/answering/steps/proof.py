"""The proof of a draft: its footnotes, their support of each sentence, one repair, and the last corrections."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.answering.agent.prompts import repair as repair_prompt
from core.answering.agent.prompts import support as support_prompt
from core.answering.agent.turns import FINAL_SECONDS, ModelTurns, TurnStep, around_question
from core.answering.answers.building import build_answer, live_pages, prove_draft
from core.answering.answers.sentences import language_for
from core.answering.citations import ProvedText
from core.answering.grounding import Change, Checked, change, check_text, is_quoted
from core.answering.pipeline import Question
from core.answering.run import Budget, Meter, RunObserver
from core.answering.strategies.choosing import Strategies
from core.answering.strategies.shown_passages import passage_text, within_tokens
from core.answering.support.check import Claim, SupportCheck
from core.answering.support.claims import only_says_not_found
from core.answering.support.texts import Text
from core.domain.answer import Draft
from core.domain.chat import ChatMessage, ChatRequest, ChatRole
from core.domain.corpus import Page
from core.domain.incoming import IncomingMessage
from core.domain.jobs import JobKind
from core.domain.passages import Span
from core.domain.replies import CitedText, PassageCitation
from core.domain.support import Verdict
from core.errors import FootnoteError
from core.ports import ChatProvider, Clock, CorpusRepository
from core.text.markup import readable

REPAIR_TOKENS = 8_000  # of a repair; needs as many in the question's budget
_PASSAGE_TOKENS = 5_000
LONGEST_QUOTE = 300  # characters of a quote that takes the place of a contradicted sentence
# An uncited sentence is given a footnote only if a passage supports it beyond doubt.
ATTRIBUTED_BELOW = 0.3
ATTRIBUTED_STEMS = 0.5
CANDIDATES = 3

# Probabilities of a fault between which the local check is unsure: half a dozen of a hundred verdicts there are wrong
# the one way, and as many the other.
DOUBTFUL = (0.3, 0.85)
OPINION_SECONDS = 20.0
OPINION_TOKENS = 4_000  # of one request; needs as many in the question's budget
_OPINION = re.compile(r"^\W{0,3}(\d{1,3})\W{1,4}(supported|unsupported|contradicted)\b", re.IGNORECASE | re.MULTILINE)

ReadPages = Callable[[Draft], Awaitable[Mapping[str, Page]]]
Opinion = Callable[[Sequence[tuple[str, Sequence[str]]]], Awaitable[Mapping[int, Verdict]]]
Repair = Callable[[Draft, ProvedText, Sequence[Checked]], Awaitable[Draft | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A draft with its proved text and the verdict on each sentence."""

    draft: Draft
    proved: ProvedText
    checked: tuple[Checked, ...]

    @property
    def faults(self) -> int:
        return sum(item.is_faulty for item in self.checked)


class Proof:
    """Draft, scope -> `answer` with proved footnotes and checked sentences, from the pages as they are stored now."""

    def __init__(
        self, corpus: CorpusRepository, check: SupportCheck, strategies: Strategies, clock: Clock, opinion: str = "off"
    ) -> None:
        """`strategies` has the models of workspaces, which repair their drafts, and the budget of a question.

        `opinion` says which sentences these models judge, too: "off", "doubtful" or "all".
        """
        self._corpus = corpus
        self._check = check
        self._strategies = strategies
        self._clock = clock
        self._opinion = opinion

    async def __call__(self, question: Question) -> None:
        async def read_pages(draft: Draft) -> Mapping[str, Page]:
            found = await live_pages(draft, self._corpus, question.context.scope)
            question.pages.update(found)
            return found

        asked, observer = question.asked, question.observer
        provider = await self._strategies.provider(asked.address.workspace, asked.model)
        repair = build_repair(provider, asked, self._strategies.budget, self._clock, observer)
        opinion = None
        if self._opinion != "off" and not provider.capabilities.quotes_only:
            observer.record_opinion(self._opinion)
            opinion = build_opinion(provider, asked, self._strategies.budget, self._clock, observer)
        check = SupportCheck(self._check.model, observer.record_judgement)
        checking = Checking(read_pages, check, asked.text, opinion, is_for_all=self._opinion == "all")
        settled = await settle(question.draft, checking, repair)
        observer.record_proof(question.pages, question.references, question.notes)
        question.draft = settled.draft
        said = language_for(asked)
        question.answer = build_answer(settled.draft, settled.proved, question.references, settled.checked, said)


@dataclass(frozen=True, slots=True)
class Checking:
    """How the drafts of one question are checked. `opinion` is a model's, of the doubtful sentences or of all."""

    read_pages: ReadPages
    check: SupportCheck
    question: str
    opinion: Opinion | None = None
    is_for_all: bool = False


async def settle(draft: Draft, checking: Checking, repair: Repair | None) -> Settled:
    """Prove and check a draft; repair it once, then correct contradicted sentences, and cite uncited ones."""
    settled = await _settle_once(draft, checking)
    if draft.data is not None:
        return settled  # its text and its data say the same: sentences are marked, never changed
    if repair is not None and settled.faults and (repaired := await repair(draft, settled.proved, settled.checked)):
        again = await _settle_once(repaired, checking)
        if again.faults < settled.faults and (again.proved.citations or only_says_not_found(again.proved.text)):
            settled = again
    changes = [*_corrections(settled), *await _attributions(settled, checking.check)]
    if not changes:
        return settled
    changed = replace(settled.draft, segments=change(settled.proved, changes), is_numbered=False)
    return await _settle_once(changed, replace(checking, opinion=None))


async def _settle_once(draft: Draft, checking: Checking) -> Settled:
    pages = await checking.read_pages(draft)
    draft, proved = prove_draft(draft, pages)
    is_checked = not draft.choices and not draft.unanswerable
    checked = await check_text(draft, proved, checking.check, checking.question) if is_checked else []
    settled = Settled(draft=draft, proved=proved, checked=tuple(checked))
    return await _with_opinion(settled, checking) if checking.opinion is not None else settled


async def _with_opinion(settled: Settled, checking: Checking) -> Settled:
    """Replace the verdicts on sentences with footnotes by the model's, if it gives one."""
    assert checking.opinion is not None  # nosec B101  # noqa: S101 - see _settle_once
    low, high = (0.0, 1.0) if checking.is_for_all else DOUBTFUL
    quotes = {citation.number: citation.quote for citation in settled.proved.citations}
    asked = [
        place
        for place, item in enumerate(settled.checked)
        if item.numbers and low < item.judgement.fault <= high and item.judgement.verdict is not Verdict.NO_CLAIM
    ]
    if not asked:
        return settled
    text = settled.proved.text
    pairs = [
        (settled.checked[place].span.of(text), [quotes[number] for number in settled.checked[place].numbers])
        for place in asked
    ]
    given = await checking.opinion(pairs)
    checked = list(settled.checked)
    for number, place in enumerate(asked, start=1):
        if number in given:
            judgement = replace(checked[place].judgement, verdict=given[number])
            checked[place] = replace(checked[place], judgement=judgement)
    return replace(settled, checked=tuple(checked))


def _corrections(settled: Settled) -> list[Change]:
    """Replace each contradicted sentence by its quote; drop it if the quote is long."""
    by_number = {citation.number: citation for citation in settled.proved.citations}
    changes = []
    for item in settled.checked:
        if item.judgement.verdict is not Verdict.CONTRADICTED:
            continue
        cited = [by_number[number] for number in item.numbers if len(by_number[number].quote) <= LONGEST_QUOTE]
        quote = cited[0] if cited else None
        told = f"“{readable(quote.quote)}”" if quote is not None else ""
        citations = (
            (PassageCitation(passage_id=quote.passage_id, span=quote.span, cited_text=quote.quote),) if quote else ()
        )
        changes.append(Change(span=item.span, text=told, citations=citations))
    return changes


async def _attributions(settled: Settled, check: SupportCheck) -> list[Change]:
    """A footnote for each uncited sentence that a passage shown to the model supports."""
    changes = []
    for item in settled.checked:
        if not item.is_uncited or item.judgement.verdict is Verdict.CONTRADICTED:
            continue
        sentence = item.span.of(settled.proved.text)
        for citation in _candidates(sentence, settled.draft):
            (judged,) = await check.judge([Claim(sentence=sentence, quotes=[citation.cited_text])])
            is_said = is_quoted(citation.cited_text, sentence)
            if is_said or (judged.verdict is Verdict.SUPPORTED and judged.fault < ATTRIBUTED_BELOW):
                end = item.span.end
                changes.append(Change(span=Span(end, end), text="", citations=(citation,)))
                break
    return changes


def _candidates(sentence: str, draft: Draft) -> list[PassageCitation]:
    """The sentences of the passages that share most words with it, best first: of equals, those with its very words."""
    stems = Text(sentence).stems
    found: list[tuple[float, bool, PassageCitation]] = []
    for item in draft.evidence.passages.values():
        passage = item.source.passage
        for span in passage.sentences or (passage.span,):
            text = passage.text[span.start - passage.span.start : span.end - passage.span.start]
            share = len(stems & Text(text).stems) / max(1, len(stems))
            if share >= ATTRIBUTED_STEMS:
                citation = PassageCitation(passage_id=passage.id, span=span, cited_text=text)
                found.append((share, is_quoted(text, sentence), citation))
    found.sort(key=lambda rated: rated[:2], reverse=True)
    return [citation for _, _, citation in found[:CANDIDATES]]


def build_opinion(
    provider: ChatProvider, question: IncomingMessage, budget: Budget, clock: Clock, observer: RunObserver
) -> Opinion:
    """Return the judgement of sentences by a model: one short request without tools, within the question's budget."""

    async def judge(pairs: Sequence[tuple[str, Sequence[str]]]) -> Mapping[int, Verdict]:
        meter = Meter(budget, clock, observer.root.account.tally)
        if meter.tokens_left < OPINION_TOKENS:
            return {}
        listed = (
            f"{number}. Sentence: {sentence}\nQuotes: {' / '.join(quotes)}"
            for number, (sentence, quotes) in enumerate(pairs, start=1)
        )
        request = ChatRequest(
            system=support_prompt(), messages=(ChatMessage(role=ChatRole.USER, text="\n\n".join(listed)),)
        )
        turns = ModelTurns(provider, meter, None, question.model, observer)
        about = TurnStep(kind=JobKind.SYNTHESIS, name="check", key="check")
        try:
            reply = await turns.ask(request, OPINION_SECONDS, about)
        except FootnoteError:
            return {}  # the local check's verdicts stay
        said = _OPINION.findall(reply.text) if reply is not None else []
        return {int(number): Verdict(verdict.lower()) for number, verdict in said}

    return judge


def build_repair(
    provider: ChatProvider, question: IncomingMessage, budget: Budget, clock: Clock, observer: RunObserver
) -> Repair | None:
    """Return the repair of a draft by a model: one turn, within the budget. None for a provider that only quotes."""
    if provider.capabilities.quotes_only:
        return None

    async def repair(draft: Draft, proved: ProvedText, checked: Sequence[Checked]) -> Draft | None:
        meter = Meter(budget, clock, observer.root.account.tally)
        meter.count(draft.usage)
        if not draft.evidence.passages or meter.tokens_left < REPAIR_TOKENS:
            return None
        cited = {citation.passage_id for citation in proved.citations}
        items = sorted(draft.evidence.passages.values(), key=lambda item: item.source.passage.id not in cited)
        (shown, *_), _ = within_tokens([items], _PASSAGE_TOKENS)
        passages = "\n\n".join(passage_text(item) for item in sorted(shown, key=lambda item: item.number))
        faults = "\n".join(f"- {item.span.of(proved.text)}" for item in checked if item.is_faulty)
        asked = (
            f"Passages:\n\n{passages}\n\nQuestion: {question.text}\n\nYour answer:\n\n"
            f"{_with_shown_numbers(draft, proved)}\n\nNot supported:\n\n{faults}"
        )
        request = ChatRequest(
            system="\n\n".join([repair_prompt(), *around_question(question)]),
            messages=(ChatMessage(role=ChatRole.USER, text=asked),),
        )
        turns = ModelTurns(provider, meter, None, question.model, observer)
        try:
            reply = await turns.ask(
                request, FINAL_SECONDS, TurnStep(kind=JobKind.SYNTHESIS, name="repair", key="repair")
            )
        except FootnoteError:
            return None  # the draft stays as it is, with its marks
        if reply is None or not reply.text.strip():
            return None
        return replace(
            draft,
            segments=(CitedText(text=reply.text.strip()),),
            is_numbered=True,
            usage=draft.usage + reply.usage,
        )

    return repair


def _with_shown_numbers(draft: Draft, proved: ProvedText) -> str:
    """The answer with passages' numbers in place of footnotes'."""
    numbers = {c.number: draft.evidence.passages[c.passage_id].number for c in proved.citations}
    text = proved.text
    for piece in sorted(numbers, reverse=True):
        text = text.replace(f"[{piece}]", f"[#{numbers[piece]}]")
    return text.replace("[#", "[")
