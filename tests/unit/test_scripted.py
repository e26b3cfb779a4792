import pytest

from core.domain.chat import (
    Capabilities,
    ChatMessage,
    ChatRequest,
    ChatRole,
    NumberedPassage,
    ToolDefinition,
    ToolInvocation,
    ToolResult,
)
from core.domain.corpus import SourcedPassage
from core.domain.replies import StopReason
from core.errors import InvalidState, ProviderBadRequest, ProviderOverloaded
from tests.builders import build_document, build_pages, build_passages
from tests.scripted import ScriptedProvider, calls, says

SEARCH = ToolDefinition(name="search", description="", parameters={"type": "object"})
ASKED = ChatMessage(role=ChatRole.USER, text="Where?")


def call(id: str = "c1") -> ToolInvocation:
    return ToolInvocation(id=id, name="search", arguments={})


def assistant(*invocations: ToolInvocation, text: str = "") -> ChatMessage:
    return ChatMessage(role=ChatRole.ASSISTANT, text=text, tool_invocations=invocations)


def results(*ids: str, **fields: object) -> ChatMessage:
    return ChatMessage(
        role=ChatRole.TOOL_RESULT,
        tool_results=tuple(ToolResult(invocation_id=id, name="search", text="", **fields) for id in ids),
    )


def request(*messages: ChatMessage) -> ChatRequest:
    return ChatRequest(system="", messages=messages, tools=(SEARCH,))


async def test_turns_are_played_in_order_and_requests_kept():
    provider = ScriptedProvider([calls(call()), lambda asked: says(f"{len(asked.messages)} messages")])
    first = await provider.complete(request(ASKED))
    second = await provider.complete(request(ASKED, assistant(call()), results("c1")))
    assert (first.stop_reason, first.tool_invocations, second.text) == (StopReason.TOOLS, (call(),), "3 messages")
    assert [len(kept.messages) for kept in provider.requests] == [1, 3]


async def test_errors_of_the_script_are_raised():
    provider = ScriptedProvider([ProviderOverloaded("Busy."), says("Now.")])
    with pytest.raises(ProviderOverloaded):
        await provider.complete(request(ASKED))
    assert (await provider.complete(request(ASKED))).text == "Now."


async def test_text_streams_in_pieces():
    pieces: list[str] = []
    text = "A sentence that is long enough for three pieces."
    await ScriptedProvider([says(text)]).complete(request(ASKED), pieces.append)
    assert len(pieces) == 3 and "".join(pieces) == text


async def test_a_request_after_the_end_of_the_script_is_told_so():
    with pytest.raises(InvalidState, match="The script has 0 turns: request 1 was not expected"):
        await ScriptedProvider([]).complete(request(ASKED))


async def test_it_says_what_it_was_made_with_and_closes():
    provider = ScriptedProvider([], name="other", capabilities=Capabilities(tools=False))
    await provider.close()
    assert (provider.name, provider.capabilities.tools, provider.closed) == ("other", False, True)


def numbered(number: int, place: int) -> NumberedPassage:
    document = build_document()
    passage = build_passages(build_pages(document, "One.", "Two."))[place]
    return NumberedPassage(number=number, source=SourcedPassage(passage=passage, document=document, page_title=""))


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ((), "first message"),
        ((assistant(text="Hi"),), "first message"),
        ((ASKED, assistant(call())), "exactly their results"),
        ((ASKED, assistant(call()), results("c2")), "exactly their results"),
        ((ASKED, assistant(call(), call("c2")), results("c1")), "exactly their results"),
        ((ASKED, assistant(call()), ASKED, results("c1")), "exactly their results"),
        ((ASKED, results("c1")), "exactly their results"),
        ((ASKED, assistant(call(), call()), results("c1", "c1")), "unique"),
        ((ASKED, assistant(call("")), results("")), "unique and not empty"),
        ((ChatMessage(role=ChatRole.USER, text="x", tool_invocations=(call(),)), results("c1")), "Only the assistant"),
        ((ASKED, ChatMessage(role=ChatRole.TOOL_RESULT)), "belong into turns of the role tool_result"),
        ((ChatMessage(role=ChatRole.USER, text=" "),), "user's message has to have text"),
        ((ASKED, assistant()), "assistant's message has to have text"),
        (
            (ASKED, assistant(call()), results("c1", passages=(numbered(1, 0), numbered(1, 1)))),
            "number 1 does not stand for one passage",
        ),
        ((ASKED, assistant(call()), results("c1", passages=(numbered(0, 0),))), "number 0"),
    ],
)
async def test_what_a_real_api_refuses_is_refused(messages, reason):
    with pytest.raises(ProviderBadRequest, match=reason):
        await ScriptedProvider([says("Yes.")]).complete(request(*messages))


async def test_used_tools_have_to_be_defined():
    asked = ChatRequest(system="", messages=(ASKED, assistant(call()), results("c1")))
    with pytest.raises(ProviderBadRequest, match="defines none"):
        await ScriptedProvider([says("Yes.")]).complete(asked)
