"""Replay of cassettes: the same strategy, citations and grounding over the recorded model and tools.

The result must equal the recording, byte by byte. A difference means that a step between question and answer has
changed since; its sentence names the first one.
"""

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from core.answering.answers.building import build_answer, with_notes
from core.answering.answers.sentences import language_for
from core.answering.citations import cited_page_ids
from core.answering.run import NO_OBSERVER, Budget
from core.answering.steps.proof import Checking, Settled, build_opinion, build_repair, settle
from core.answering.strategies.choosing import ChosenStrategy, draft_once
from core.answering.support.check import Claim, SupportCheck
from core.domain.answer import Answer, Draft, Evidence, ListedFacts
from core.domain.chat import Capabilities, ChatMessage, ChatRequest, ToolDefinition, ToolInvocation, ToolResult
from core.domain.corpus import Page
from core.domain.features import Cassette, RecordedTools, RecordedTurn, Replayed
from core.domain.incoming import IncomingMessage
from core.domain.replies import ChatResponse, Usage
from core.domain.support import Judgement
from core.errors import FootnoteError
from core.features.replay.recording import bare_request
from core.ports import ChatProvider, Clock
from core.serializers.objects import answer_json
from core.text.words import shorten
from core.work.progress import SilentProgress

SHOWN_CHARACTERS = 300
# Part of an answer that every run has of its own.
_OWN = ("conversation_id", "message_id", "jobs", "timings_ms")


class Divergence(FootnoteError):
    """The run asked for something else than the recorded one."""


class StrategyOver(Protocol):
    def __call__(self, name: str, question: IncomingMessage, provider: ChatProvider) -> ChosenStrategy:
        """Return the strategy of a name over a provider. UnsupportedFeature for an unknown name."""
        ...


async def replay(cassette: Cassette, strategy: StrategyOver, clock: Clock) -> Replayed:
    """Run a cassette again. Nothing outside it is read but the code."""
    provider, tools = ReplayProvider(cassette), ReplayTools(cassette.tools)
    try:
        chosen = strategy(cassette.strategy, cassette.question, provider)
        draft = await draft_once(chosen, cassette.question, cassette.history, tools, SilentProgress())
        settled = await _settled(cassette, draft, provider, clock)
    except FootnoteError as error:
        return Replayed(answer=cassette.answer, difference=str(error))
    said = language_for(cassette.question)
    built = build_answer(settled.draft, settled.proved, cassette.direct, settled.checked, said)
    recorded = cassette.answer
    answer = replace(
        with_notes(built, cassette.notes),
        references=recorded.references,  # their summaries are made from the library
        suggestions=recorded.suggestions,  # searched for in the library
        read_to=recorded.read_to,
    )
    old, new = answer_bytes(recorded), answer_bytes(answer)
    return Replayed(answer=answer, difference=None if old == new else _told("The answer", old.decode(), new.decode()))


async def _settled(cassette: Cassette, draft: Draft, provider: "ReplayProvider", clock: Clock) -> Settled:
    """Prove and check the draft over the recorded pages, judgements and repair."""

    async def read_pages(draft: Draft) -> Mapping[str, Page]:
        return {page_id: cassette.pages[page_id] for page_id in cited_page_ids(draft) if page_id in cassette.pages}

    repair = build_repair(provider, cassette.question, Budget(), clock, NO_OBSERVER)
    check, question = ReplayCheck(cassette.judgements), cassette.question
    opinion = None
    if cassette.opinion != "off":
        opinion = build_opinion(provider, question, Budget(), clock, NO_OBSERVER)
    checking = Checking(read_pages, check, question.text, opinion, is_for_all=cassette.opinion == "all")
    return await settle(draft, checking, repair)


class ReplayCheck(SupportCheck):
    """Gives the recorded judgements in their order."""

    def __init__(self, judgements: Sequence[Judgement]) -> None:
        self._left = list(judgements)

    async def judge(self, claims: Sequence[Claim]) -> list[Judgement]:
        if len(self._left) < len(claims):
            raise Divergence("The check of the answer's sentences asked for more than when it was recorded.")
        taken, self._left = self._left[: len(claims)], self._left[len(claims) :]
        return taken


class ReplayProvider:
    """Implements ports.ChatProvider: gives the recorded reply of the very request, each once."""

    def __init__(self, cassette: Cassette) -> None:
        self._left = list(cassette.turns)
        self._name = cassette.provider
        self._capabilities = cassette.capabilities

    @property
    def name(self) -> str:
        return self._name

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        bare = bare_request(request)
        turn = next((turn for turn in self._left if turn.request == bare), None)
        if turn is None:
            raise Divergence(_unknown_request(bare, self._left))
        self._left.remove(turn)
        if on_text is not None and turn.reply.text:
            on_text(turn.reply.text)
        return turn.reply

    async def close(self) -> None:
        """Do nothing: no resource is open."""


class ReplayTools:
    """Implements ports.Tools: gives the recorded result of the very call."""

    def __init__(self, recorded: RecordedTools) -> None:
        self._recorded = recorded

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        return self._recorded.definitions

    @property
    def evidence(self) -> Evidence:
        """All that had been shown at the end of the recorded run."""
        return self._recorded.evidence

    @property
    def background(self) -> str:
        return self._recorded.background

    def adopt(self, history: Sequence[ChatMessage]) -> None:
        """The recorded results have their numbers."""

    def opening(self) -> tuple[ChatMessage, ...]:
        return self._recorded.opening

    def problem(self, invocation: ToolInvocation) -> str | None:
        return self._recorded.problems.get(invocation.id)

    async def list_facts(self, question: str, *, computes: bool = False) -> ListedFacts | None:
        return self._recorded.listed

    async def invoke(
        self, invocation: ToolInvocation, key: str | None = None, *, uses_models: bool = True
    ) -> ToolResult:
        found = next((call.result for call in self._recorded.calls if call.invocation == invocation), None)
        if found is None:
            asked = shorten(f"{invocation.name} {dict(invocation.arguments)}", SHOWN_CHARACTERS)
            raise Divergence(f"A tool call that was not recorded: {asked}.")
        return found


def answer_bytes(answer: Answer) -> bytes:
    """Return the bytes that two runs must share: the answer object without IDs, times and jobs."""
    shown = answer_json(replace(answer, usage=Usage(), timings_ms={}))
    kept = {name: value for name, value in shown.items() if name not in _OWN}
    return json.dumps(kept, ensure_ascii=False, sort_keys=True, indent=1).encode("utf-8", "replace")


def _unknown_request(request: ChatRequest, left: Sequence[RecordedTurn]) -> str:
    if not left:
        return "The model was asked once more than when it was recorded."
    recorded = left[0].request
    for part in ("system", "tools", "messages", "output_schema", "model", "tool_choice", "max_output_tokens"):
        old, new = getattr(recorded, part), getattr(request, part)
        if old != new:
            return _told(f"What the model is asked ({part})", _lines(old), _lines(new))
    return "The model was asked something that was not recorded."


def _lines(value: object) -> str:
    return "\n".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _told(what: str, old: str, new: str) -> str:
    """The first line in which they differ, as it was and as it is."""
    changed = [
        line
        for line in difflib.ndiff(old.splitlines(), new.splitlines())
        if line.startswith(("- ", "+ ")) and line[2:].strip()
    ]
    was, now = (
        shorten(next((line[2:] for line in changed if line.startswith(sign)), "(nothing)"), SHOWN_CHARACTERS)
        for sign in "-+"
    )
    return f"{what} differs. Recorded: {was} Now: {now}"
