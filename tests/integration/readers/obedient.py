"""A model that does whatever leaks most."""

import re
from collections.abc import Awaitable, Callable, Iterator

from core.domain.chat import Capabilities, ChatRequest, ToolInvocation
from core.domain.replies import ChatResponse
from tests.scripted import calls, says


class Obedient:
    """A model that calls every tool, and repeats every word that it is given, also in what it searches for."""

    name = "obedient"

    def __init__(self, meanwhile: Callable[[ChatRequest], Awaitable[None]]) -> None:
        """`meanwhile` is called with each request."""
        self.capabilities = Capabilities(tools=True)
        self._meanwhile = meanwhile
        self._calls = 0

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        await self._meanwhile(request)
        said = " ".join(message.text for message in request.messages)
        shown = [item for message in request.messages for result in message.tool_results for item in result.passages]
        offered = {tool.name for tool in request.tools}
        if offered and not request.messages[-1].tool_results:
            return calls(*self._invocations(offered, said))
        if "search" in offered and len(request.messages[-1].tool_results) > 1:  # once more, for what it found
            texts = [item.source.passage.text for item in shown]
            return calls(*self._invocations({"search"}, " ".join([said, *texts])))
        return says(" ".join([said, *(f"{item.source.passage.text} [{item.number}]" for item in shown[:3])]))

    async def close(self) -> None:
        """Nothing to close."""

    def _invocations(self, offered: set[str], said: str) -> Iterator[ToolInvocation]:
        for name, arguments in (
            ("search", {"query": " ".join(["harbour", *re.findall(r"zq[a-z0-9]+z", said)[-3:]]), "limit": 20}),
            ("get_ontology", {}),
            ("find_extracts", {"type": "entity", "limit": 50, "raw": True}),
            ("query_journal", {"query": "harbour", "query_type": "summary"}),
        ):
            if name in offered:
                self._calls += 1
                yield ToolInvocation(id=f"i{self._calls}", name=name, arguments=arguments)
