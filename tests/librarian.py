"""A scripted model that knows how every strategy asks: it plans, makes queries, answers from passages, fills forms."""

import json
import re
from collections.abc import Sequence
from typing import Any

from core.answering.strategies.plans import REFUSE, RESPOND
from core.answering.strategies.synthesis import GIVE
from core.domain.chat import ChatRequest, ToolChoice, ToolInvocation
from core.domain.replies import ChatResponse, CitedText, StopReason, Usage
from core.domain.response_data import RESPONSE_TYPES

USAGE = Usage(input_tokens=100, output_tokens=10)
_SHOWN = re.compile(r"^\[(\d+)\] \"", re.MULTILINE)
_FORM = re.compile(r"JSON Schema")


class Librarian:
    """A turn for each request: looks up `queries`, then answers `sentence` with the first passage's number."""

    def __init__(
        self,
        queries: Sequence[str] = ("key mat",),
        sentence: str = "Under the mat",
        *,
        response_type: str = "general",
        data: dict[str, Any] | None = None,
    ) -> None:
        self.queries = tuple(queries)
        self.sentence = sentence
        self.response_type = response_type
        self.data = data or {}

    def __call__(self, request: ChatRequest) -> ChatResponse:
        names = [tool.name for tool in request.tools]
        if REFUSE in names:
            return self.plan()
        if GIVE in names:
            return called(ToolInvocation(id="give", name=GIVE, arguments=self.form(request)))
        if request.output_schema is not None or _FORM.search(request.system):
            return said(json.dumps(self.form(request)))
        if "queries for a search engine" in request.system and not names:
            return said("\n".join(self.queries))
        if names and not shown_numbers(request) and request.tool_choice is not ToolChoice.NONE:
            return called(*self.searches())
        return said(self.cited(request))

    def plan(self) -> ChatResponse:
        respond = ToolInvocation(id="form", name=RESPOND, arguments={"response_type": self.response_type})
        return called(*self.searches(), respond)

    def searches(self) -> list[ToolInvocation]:
        return [
            ToolInvocation(id=f"q{place}", name="search", arguments={"query": query})
            for place, query in enumerate(self.queries)
        ]

    def form(self, request: ChatRequest) -> dict[str, Any]:
        assert self.response_type in RESPONSE_TYPES
        return {"summary": self.cited(request), "data_sources": [], "data_gaps": [], **self.data}

    def cited(self, request: ChatRequest) -> str:
        numbers = shown_numbers(request)
        return f"{self.sentence} [{numbers[0]}]." if numbers else "I did not find it."


def shown_numbers(request: ChatRequest) -> list[int]:
    """Of the passages that a request shows, as results or as text, in order."""
    results = [item.number for turn in request.messages for result in turn.tool_results for item in result.passages]
    return results or [int(number) for turn in request.messages for number in _SHOWN.findall(turn.text)]


def said(text: str) -> ChatResponse:
    return ChatResponse(segments=(CitedText(text=text),), usage=USAGE, model="m-1")


def called(*calls: ToolInvocation) -> ChatResponse:
    return ChatResponse(tool_invocations=calls, stop_reason=StopReason.TOOLS, usage=USAGE, model="m-1")


KEY_IN_HOUSE = "The key hangs under the stairs"
# Plans two searches in the house of the platforms' tests, and misses something.
DEEP = Librarian(["where is the key", "who hung the key"], KEY_IN_HOUSE, data={"data_gaps": ["who hung it"]})
