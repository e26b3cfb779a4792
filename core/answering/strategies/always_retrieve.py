"""Search first, then answer: for models that can't call tools, and for a search before every answer.

A follow-up becomes self-contained queries (one request), the tool `search` runs without a model, and a last request
answers from the results. A model without tools gets the passages as text and cites them by `[n]`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from core.answering.agent.prompts import empty_answer, from_passages, search_queries
from core.answering.agent.turns import (
    FINAL_SECONDS,
    ModelTurns,
    StrategyOverProvider,
    TurnStep,
    build_turns,
    invoke_all,
    with_unique_ids,
)
from core.answering.run import Meter
from core.answering.strategies.shown_passages import passage_text, within_tokens, without_tool_turns
from core.answering.strategies.tool_use import ToolUseStrategy
from core.answering.support.claims import to_last_sentence
from core.domain.answer import Draft
from core.domain.chat import ChatMessage, ChatRequest, ChatRole, Repeats, ToolChoice, ToolInvocation, ToolResult
from core.domain.incoming import IncomingMessage
from core.domain.jobs import JobKind
from core.domain.replies import ChatResponse, StopReason
from core.errors import ProviderError, ProviderTimeout
from core.ports import ProgressSink, Tools
from core.text.words import collapse
from core.work.steps import CALL, Step

SEARCH = "search"
QUERIES = "queries"
MOST_QUERIES = 3
LONGEST_QUERY = 300  # characters
PAGES = 6  # for each query: local models have small windows
_BULLET = re.compile(r"^(?:[-*•]|\d+[.)])\s*")


class AlwaysRetrieveStrategy(StrategyOverProvider):
    """Implements ports.RetrievalStrategy. Makes at most three requests: queries, the answer, and that once more."""

    name = "always_retrieve"

    async def draft(
        self, question: IncomingMessage, history: Sequence[ChatMessage], tools: Tools, progress: ProgressSink
    ) -> Draft:
        """Raises ProviderError when the model gives no answer."""
        capabilities = self._provider.capabilities
        if capabilities.quotes_only:  # it searches for every question by itself, with queries of its own
            loop = ToolUseStrategy(self._provider, self._budget, self._clock, self._observer)
            return await loop.draft(question, history, tools, progress)
        tools.adopt(history)
        meter = self._meter()
        model = ModelTurns(self._provider, meter, progress, question.model, self._observer)
        turns = build_turns(history, question, tools.background)
        opening = tools.opening()
        queries = await self._queries(question, turns, tools, meter) if history else [_itself(question)]
        searches = [
            ToolInvocation(id=f"search-{place}", name=SEARCH, arguments={"query": query, "limit": PAGES})
            for place, query in enumerate(queries, start=1)
        ]
        calls = with_unique_ids(searches, (*turns, *opening))
        results = await invoke_all(tools, calls, meter, self._observer.root)
        asked = ChatMessage(role=ChatRole.ASSISTANT, tool_invocations=calls)
        told = ChatMessage(role=ChatRole.TOOL_RESULT, tool_results=results)
        if capabilities.tools:
            messages: Sequence[ChatMessage] = (*turns, *opening, asked, told)
        else:
            offered = [result for turn in opening for result in turn.tool_results]
            messages = _as_text(turns, [*offered, *results], capabilities.context_tokens // 2)
        response = await self._answer(model, question, messages, tools, meter)
        is_cut, capabilities = response.stop_reason is StopReason.MAX_TOKENS, self._provider.capabilities
        return Draft(
            segments=to_last_sentence(response.segments) if is_cut else response.segments,
            evidence=tools.evidence,
            is_numbered=not (capabilities.citations and capabilities.tools),
            is_cut=is_cut,
            partial=meter.is_expired,
            new_messages=(*opening, asked, told),
            usage=meter.usage,
            model=response.model or question.model or self._provider.name,
        )

    async def _queries(
        self, question: IncomingMessage, turns: Sequence[ChatMessage], tools: Tools, meter: Meter
    ) -> list[str]:
        """Return the queries of a follow-up; the unchanged question if the model gives none."""
        if (done := self._observer.root.finished_before(JobKind.PLANNING, QUERIES)) is not None:
            self._observer.root.adopt(done)
            return [str(query) for query in cast("Sequence[object]", done.output["queries"])]
        as_calls = self._provider.capabilities.tools
        request = ChatRequest(
            system=search_queries(question, as_calls=as_calls),
            messages=tuple(turns) if as_calls else tuple(without_tool_turns(turns)[0]),
            tools=tools.definitions if as_calls else (),
            tool_choice=ToolChoice.ANY if as_calls else ToolChoice.NONE,
            repeats=Repeats.NOTHING,
        )
        unseen = ModelTurns(self._provider, meter, None, question.model, self._observer)
        response = await unseen.ask(request, meter.seconds_left, TurnStep(name=QUERIES, conclude=_tell_queries))
        return (_queries_of(response) if response is not None else []) or [_itself(question)]

    async def _answer(
        self, model: ModelTurns, question: IncomingMessage, messages: Sequence[ChatMessage], tools: Tools, meter: Meter
    ) -> ChatResponse:
        capabilities = self._provider.capabilities
        request = ChatRequest(
            system=from_passages(capabilities, question),
            messages=tuple(messages),
            tools=tools.definitions if capabilities.tools else (),
            tool_choice=ToolChoice.NONE,
            language=question.language,
        )
        about = TurnStep(kind=JobKind.SYNTHESIS, name="answer")
        again = ChatMessage(role=ChatRole.USER, text=empty_answer())
        for added in ((), (again,)):
            seconds = max(meter.seconds_left, FINAL_SECONDS)
            response = await model.ask(replace(request, messages=(*request.messages, *added)), seconds, about)
            if response is None:
                raise ProviderTimeout(f"{self._provider.name} gave no answer in time. Ask again.")
            if response.text.strip():
                return response
        raise ProviderError(f"{self._provider.name} gave an empty answer twice. Ask again, or in other words.")


def _itself(question: IncomingMessage) -> str:
    return collapse(question.text)[:LONGEST_QUERY]


def _tell_queries(response: ChatResponse, job: Step) -> Mapping[str, object]:
    queries = _queries_of(response)
    return {"queries": queries, CALL: QUERIES} if queries else {"queries": []}


def _queries_of(response: ChatResponse) -> list[str]:
    """From calls of the search tool, else from lines of text; none twice."""
    given = [str(call.arguments.get("query", "")) for call in response.tool_invocations if call.name == SEARCH]
    lines = given or [_BULLET.sub("", line.strip()).strip("\"'“”`") for line in response.text.splitlines()]
    queries = (collapse(line)[:LONGEST_QUERY] for line in lines)
    return list(dict.fromkeys(query for query in queries if any(map(str.isalnum, query))))[:MOST_QUERIES]


def _as_text(turns: Sequence[ChatMessage], results: Sequence[ToolResult], tokens: int) -> list[ChatMessage]:
    """Return the conversation without tool turns; their passages, and the new ones, come before the question."""
    *before, question = turns
    spoken, earlier = without_tool_turns(before)
    groups, _ = within_tokens([*(result.passages for result in results), earlier], tokens)
    shown = sorted((item for group in groups for item in group), key=lambda item: item.number)
    failed = [result.text for result in results if result.is_error]
    found = "\n\n".join([*map(passage_text, shown), *failed]) or "Nothing was found."
    return [*spoken, replace(question, text=f"Passages:\n\n{found}\n\nQuestion: {question.text}")]
