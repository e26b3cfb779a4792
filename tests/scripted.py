"""A provider that follows a script: for tests of Footnote and of projects built on it."""

from collections.abc import Callable, Sequence

from core.domain.answer import Draft
from core.domain.chat import Capabilities, ChatMessage, ChatRequest, ChatRole, ToolInvocation
from core.domain.replies import ChatResponse, CitedText, PassageCitation, StopReason
from core.errors import InvalidState, ProviderBadRequest, ProviderError

Turn = ChatResponse | ProviderError | Callable[[ChatRequest], ChatResponse]

# Small enough that a sentence streams in several pieces.
PIECE_CHARACTERS = 16


class ScriptedProvider:
    """Plays one turn of the script for each request (implements ports.ChatProvider).

    A turn is a response, an error to raise, or a function of the request. `requests` keeps every request. Requests that
    a real API would refuse (`check_request`) raise ProviderBadRequest; one after the end of the script InvalidState.
    """

    def __init__(
        self, script: Sequence[Turn], *, name: str = "scripted", capabilities: Capabilities | None = None
    ) -> None:
        self._script = tuple(script)
        self._name = name
        self._capabilities = capabilities or Capabilities()
        self.requests: list[ChatRequest] = []
        self.closed = False

    @property
    def name(self) -> str:
        return self._name

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        check_request(request)
        place = len(self.requests)
        self.requests.append(request)
        if place >= len(self._script):
            raise InvalidState(f"The script has {len(self._script)} turns: request {place + 1} was not expected.")
        turn = self._script[place]
        if isinstance(turn, ProviderError):
            raise turn
        response = turn if isinstance(turn, ChatResponse) else turn(request)
        if on_text is not None:
            for start in range(0, len(response.text), PIECE_CHARACTERS):
                on_text(response.text[start : start + PIECE_CHARACTERS])
        return response

    async def close(self) -> None:
        self.closed = True


def says(text: str, *citations: PassageCitation) -> ChatResponse:
    """A turn that answers."""
    return ChatResponse(segments=(CitedText(text=text, citations=citations),))


def calls(*invocations: ToolInvocation, text: str = "") -> ChatResponse:
    """Return a turn that calls tools, with the model's text before the calls."""
    segments = (CitedText(text=text),) if text else ()
    return ChatResponse(segments=segments, tool_invocations=invocations, stop_reason=StopReason.TOOLS)


def check_request(request: ChatRequest) -> None:
    """Check the rules of real APIs; ProviderBadRequest names the broken rule.

    The first turn is a user's. All invocation ids differ. Each turn with invocations is followed by one with exactly
    their results, and there are no other results. A number belongs to one passage. Used tools are defined.
    """
    if not request.messages or request.messages[0].role is not ChatRole.USER:
        raise ProviderBadRequest("The first message has to be a user's.")
    ids = [invocation.id for message in request.messages for invocation in message.tool_invocations]
    if len(ids) != len(set(ids)) or not all(ids):
        raise ProviderBadRequest(f"Invocation ids have to be unique and not empty: {ids!r}.")
    if ids and not request.tools:
        raise ProviderBadRequest("The messages use tools, but the request defines none.")
    for message, following in zip(request.messages, [*request.messages[1:], None], strict=True):
        _check_message(message)
        wanted = sorted(invocation.id for invocation in message.tool_invocations)
        given = sorted(result.invocation_id for result in following.tool_results) if following else []
        if wanted != given:
            raise ProviderBadRequest(
                f"The calls {wanted!r} need exactly their results in the next turn, not {given!r}."
            )
    _check_numbers(request.messages)


def _check_message(message: ChatMessage) -> None:
    if message.tool_invocations and message.role is not ChatRole.ASSISTANT:
        raise ProviderBadRequest(f"Only the assistant calls tools, not the role {message.role.value!r}.")
    if bool(message.tool_results) != (message.role is ChatRole.TOOL_RESULT):
        raise ProviderBadRequest("Tool results belong into turns of the role tool_result, and nowhere else.")
    if message.role is ChatRole.USER and not message.text.strip():
        raise ProviderBadRequest("A user's message has to have text.")
    if message.role is ChatRole.ASSISTANT and not (message.text.strip() or message.tool_invocations or message.native):
        raise ProviderBadRequest("An assistant's message has to have text or tool calls.")


def _check_numbers(messages: Sequence[ChatMessage]) -> None:
    numbers: dict[int, str] = {}
    for item in (item for message in messages for result in message.tool_results for item in result.passages):
        passage_id = item.source.passage.id
        if item.number < 1 or numbers.setdefault(item.number, passage_id) != passage_id:
            raise ProviderBadRequest(f"The number {item.number} does not stand for one passage.")


def text_of(draft: Draft) -> str:
    return "".join(segment.text for segment in draft.segments)
