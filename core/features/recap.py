"""A recap of a conversation: a few lines that keep their footnotes, each proved and checked again.

Footnote numbers restart with each answer, so a recap first renumbers them across the conversation. The writer keeps the
numbers it uses. Answers outside the reader's scope are left out.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.access.scopes import Access
from core.answering.agent.prompts import recap as recap_prompt
from core.answering.answers.building import live_pages
from core.answering.citations import ProvedText, prove, strip_markers
from core.answering.context import TurnReader, split_turns
from core.answering.grounding import check_text
from core.answering.redaction import basis_of, withheld
from core.answering.support.check import SupportCheck
from core.domain.answer import Citation, Draft, Evidence
from core.domain.chat import ChatMessage, ChatRequest, ChatRole, NumberedPassage, Repeats
from core.domain.conversation import Conversation, Message, Role
from core.domain.corpus import SearchScope
from core.domain.passages import Span
from core.domain.replies import CitedText, PassageCitation
from core.domain.service import SummaryKey, SummaryKind
from core.domain.spending import NO_ACCOUNT, Account, CallPurpose
from core.domain.support import Verdict
from core.errors import InvalidState
from core.features.export import footnote_label
from core.ports import ChatProvider, CorpusRepository
from core.ports.service import SummaryRepository
from core.text.words import code_spans, shorten
from core.work.commands import Command, CommandCall, CommandResult, current, readable_by
from core.work.conversations import Conversations
from core.work.steps import NO_STEPS, complete

# Newest turns only: a longer recap goes unread, and an export has the rest.
MOST_TURNS = 40
QUESTION_CHARACTERS = 140
SENTENCE_CHARACTERS = 280
QUOTE_CHARACTERS = 200
_MARKER = re.compile(r"\[(\d+)\]")
# A sentence with the markers behind it, or a line.
_SENTENCE = re.compile(r"[^\n]+?(?:[.!?…](?:\[\d+\])*(?=\s|$)|(?=\n)|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapTurn:
    """A question with its answer; markers of the answer are numbers of the conversation's footnotes."""

    asker: str
    question: str
    answer: str  # "" if unreadable here, or still being written


class Recaps:
    """`provider` returns the provider of a workspace."""

    def __init__(
        self,
        corpus: CorpusRepository,
        summaries: SummaryRepository,
        provider: Callable[[str], ChatProvider],
        check: SupportCheck,
    ) -> None:
        self._corpus = corpus
        self._check = check
        self._reader = TurnReader(corpus)
        self._summaries = summaries
        self._provider = provider

    async def recap(
        self,
        conversation: Conversation,
        messages: Sequence[Message],
        scope: SearchScope,
        account: Account = NO_ACCOUNT,
    ) -> ProvedText:
        """Return the recap; it is cached until the conversation changes. `account` pays for it.

        InvalidState for an empty conversation; raises ProviderError and ModelMissing.
        """
        messages = await withheld(messages, scope, self._corpus, questions=True)
        said = split_turns(messages)[-MOST_TURNS:]
        if not said:
            raise InvalidState("Nothing was asked here yet: there is nothing to sum up.")
        withdrawn = await self._reader.withdrawn(said, scope)
        numbers = _Numbers()
        turns = [_to_turn(turn, withdrawn, numbers) for turn in said]
        key = SummaryKey(
            workspace=conversation.address.workspace,
            kind=SummaryKind.THREAD,
            subject=conversation.id,
            revision=f"{_digest(turns, numbers.citations)}:{scope.digest}",
        )
        text = (await self._summaries.find([key])).get(key)
        if text is None:
            payer = replace(account, purpose=CallPurpose.RECAP, workspace=account.workspace or scope.workspace)
            text = await _write(self._provider(scope.workspace), turns, payer)
            has_footnotes = bool(_MARKER.search(text) if numbers.citations else text)
            if not has_footnotes or await self._is_contradicted(text, numbers.citations, scope):
                text = quote_lines(turns)  # no model writes, or it is not believed
            await self._summaries.save(key, text)
        return (await self._prove(text, numbers.citations, scope))[1]

    async def _is_contradicted(self, text: str, citations: Sequence[Citation], scope: SearchScope) -> bool:
        draft, proved = await self._prove(text, citations, scope)
        checked = await check_text(draft, proved, self._check, "")
        return any(item.numbers and item.judgement.verdict is Verdict.CONTRADICTED for item in checked)

    async def _prove(self, text: str, citations: Sequence[Citation], scope: SearchScope) -> tuple[Draft, ProvedText]:
        found = await self._corpus.list_passages([item.passage_id for item in citations], scope)
        passages = {
            item.passage.id: NumberedPassage(number=place, source=item) for place, item in enumerate(found, start=1)
        }
        draft = Draft(segments=_to_segments(text, citations), evidence=Evidence(passages=passages))
        return draft, prove(draft, await live_pages(draft, self._corpus, scope))


async def _write(provider: ChatProvider, turns: Sequence[RecapTurn], account: Account) -> str:
    """Return a model's Markdown with the footnote markers it keeps; "" without a model."""
    if provider.capabilities.quotes_only:
        return ""
    said = "\n\n".join(f"{turn.asker}: {turn.question}\nAssistant: {turn.answer or '-'}" for turn in turns)
    messages = (ChatMessage(role=ChatRole.USER, text=said),)
    request = ChatRequest(system=recap_prompt(), messages=messages, repeats=Repeats.NOTHING)
    return (await complete(provider, request, NO_STEPS.charged(account))).text.strip()


def quote_lines(turns: Sequence[RecapTurn]) -> str:
    """Return each question with the sentence of its answer that has a footnote first, or the first one."""
    asked = [shorten(turn.question, QUESTION_CHARACTERS) for turn in turns]
    lines = (f"- **{question}** {_best_sentence(turn.answer)}" for question, turn in zip(asked, turns, strict=True))
    return "\n".join(line.rstrip() for line in lines)


class _Numbers:
    """The footnotes of all answers in one row; the same span of a page has one number."""

    def __init__(self) -> None:
        self.citations: list[Citation] = []
        self._known: dict[tuple[str, int, int], int] = {}

    def of(self, citation: Citation) -> int:
        key = (citation.page_id, citation.span.start, citation.span.end)
        if key not in self._known:
            self.citations.append(citation)
            self._known[key] = len(self.citations)
        return self._known[key]


def _digest(turns: Sequence[RecapTurn], citations: Sequence[Citation]) -> str:
    """Of all that a recap is made of: numbers in a kept one mean these footnotes and no others."""
    notes = [(item.passage_id, item.span.start, item.span.end) for item in citations]
    made_of = repr([[(turn.asker, turn.question, turn.answer) for turn in turns], notes])
    return hashlib.sha256(made_of.encode("utf-8", "replace")).hexdigest()[:16]


def _to_turn(turn: Sequence[Message], withdrawn: set[str], numbers: _Numbers) -> RecapTurn:
    question, *after = turn
    answers = [item for item in after if item.role is Role.ASSISTANT and item.id not in withdrawn]
    return RecapTurn(
        asker=question.author,
        question=strip_markers(question.content).strip(),
        answer="\n".join(_renumbered(item, numbers) for item in answers).strip(),
    )


def _renumbered(answer: Message, numbers: _Numbers) -> str:
    """The answer with numbers of the conversation; a number that is no footnote goes, as it could be taken for one."""
    new = {citation.number: f"[{numbers.of(citation)}]" for citation in answer.citations}
    code = code_spans(answer.content)

    def renumber(marker: re.Match[str]) -> str:
        return marker[0] if _is_in(marker, code) else new.get(int(marker[1]), "")

    return _MARKER.sub(renumber, answer.content)


def _is_in(marker: re.Match[str], code: Sequence[Span]) -> bool:
    return any(span.start <= marker.start() < span.end for span in code)


def _to_segments(text: str, citations: Sequence[Citation]) -> tuple[CitedText, ...]:
    """The text without its markers, each stretch with the footnotes behind it; numbers of no footnote are left out."""
    by_number: Mapping[int, Citation] = dict(enumerate(citations, start=1))
    segments: list[CitedText] = []
    code = code_spans(text)
    done = 0
    for run in re.finditer(r"\s*(?:\[\d+\])+", text):
        if _is_in(run, code):
            continue
        known = [by_number[int(n)] for n in _MARKER.findall(run[0]) if int(n) in by_number]
        claims = (PassageCitation(passage_id=item.passage_id, span=item.span, cited_text=item.quote) for item in known)
        segments.append(CitedText(text=text[done : run.start()], citations=tuple(claims)))
        done = run.end()
    return (*segments, CitedText(text=text[done:]))


def _best_sentence(answer: str) -> str:
    sentences = [found[0].strip() for found in _SENTENCE.finditer(answer)]
    best = next((item for item in sentences if _MARKER.search(item)), sentences[0] if sentences else "")
    marks = "".join(dict.fromkeys(found[0] for found in _MARKER.finditer(best)))
    bare = _MARKER.sub("", best)
    return best if len(bare) <= SENTENCE_CHARACTERS else shorten(bare, SENTENCE_CHARACTERS) + marks


def recap_command(recaps: Recaps, conversations: Conversations, access: Access) -> Command:
    """Return the row of the table that writes recaps, for the caller and within the caller's scope."""

    async def run(call: CommandCall) -> CommandResult:
        conversation, messages = await conversations.show(current(call).id, call.workspace)
        scope = await readable_by(call, access, call.address or conversation.address)
        proved = await recaps.recap(conversation, messages, scope, call.account)
        notes = [
            f"- [{item.number}] {footnote_label(item)}: “{shorten(item.quote, QUOTE_CHARACTERS)}”"
            for item in proved.citations
        ]
        text = "\n".join([proved.text, *([""] if notes else []), *notes])
        rests_on = basis_of(messages)
        return CommandResult(text=text, citations=proved.citations, rests_on=rests_on, quotes_people=True)

    return Command(name="recap", usage="", help="summarise this conversation so far", run=run)
