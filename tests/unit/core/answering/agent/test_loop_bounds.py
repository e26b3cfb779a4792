"""Whatever a model does, the loop ends within its budget, and every call has its result."""

from hypothesis import given, settings
from hypothesis import strategies as st

from core.answering.run import Budget, Meter
from core.answering.strategies.tool_use import AgentLoop
from core.domain.chat import ChatMessage, ChatRequest, ChatRole, ToolInvocation
from core.domain.replies import ChatResponse, CitedText, StopReason, Usage
from core.errors import ProviderError, ProviderOverloaded
from tests.fakes import ManualClock, RecordingProgress
from tests.scripted import ScriptedProvider, check_request, text_of
from tests.unit.core.library_builder import Shelf

QUESTION = ChatMessage(role=ChatRole.USER, text="What is it?")
JSON = st.one_of(st.none(), st.booleans(), st.integers(-3, 30), st.text("ab ", max_size=5), st.just(["x"]), st.just({}))
NAMES = st.sampled_from(
    ["query", "limit", "document", "kind", "page_id", "page_number", "offset", "query_type", "journal_name", "wild"]
)
PLAUSIBLE = st.sampled_from(
    [
        ("search", {"query": "ruby"}),
        ("search", {"query": "ruby", "document": "Keep"}),
        ("get_page", {"document": "Mine", "page_number": 1}),
        ("get_page", {"page_id": "local/handbook/mine.json@r1#1"}),
        ("query_journal", {"query": "gold", "query_type": "summary", "journal_name": "Mine"}),
    ]
)
WILD = st.tuples(
    st.sampled_from(["search", "get_page", "query_journal", "rm", ""]), st.dictionaries(NAMES, JSON, max_size=4)
)
CALLS = st.lists(
    st.tuples(st.one_of(PLAUSIBLE, WILD), st.sampled_from(["a", "b", ""])).map(
        lambda drawn: ToolInvocation(id=drawn[1], name=drawn[0][0], arguments=drawn[0][1])
    ),
    max_size=10,
)
TURNS = st.one_of(
    st.builds(
        lambda text, calls, stop, tokens: ChatResponse(
            segments=(CitedText(text=text),) if text else (),
            tool_invocations=tuple(calls),
            stop_reason=stop,
            usage=Usage(input_tokens=tokens, output_tokens=1),
        ),
        st.sampled_from(["", " ", "Words."]),
        st.one_of(st.just([]), CALLS),
        st.sampled_from(StopReason),
        st.integers(0, 400),
    ),
    st.just(ProviderOverloaded("Busy.")),
)


def is_last(request: ChatRequest) -> bool:
    """Whether the model was told that a limit is reached."""
    return any(message.text.startswith("The limit of ") for message in request.messages)


async def build_shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("mine.json", "# Hall\n\nA ruby.\n\nGold.", title="Mine", kind="foundry")
    await shelf.add("keep.json", "A ruby.", title="Keep", kind="foundry")
    return shelf


@settings(max_examples=150, deadline=None)
@given(script=st.lists(TURNS, max_size=8), steps=st.integers(1, 4), tokens=st.integers(1, 1000), pace=st.integers(0, 9))
async def test_whatever_the_model_does_the_loop_ends_within_its_budget_and_pairs_every_call(
    script, steps, tokens, pace
):
    shelf, clock = await build_shelf(), ManualClock()
    spent: list[Usage] = []

    def play(request: ChatRequest) -> ChatResponse:
        assert not spent or clock.seconds < 20 or is_last(request)
        clock.advance(pace)
        turn = script[len(spent)] if len(spent) < len(script) else ChatResponse(segments=(CitedText(text="End."),))
        if isinstance(turn, ProviderError):
            raise turn
        spent.append(turn.usage)
        return turn

    # ScriptedProvider refuses requests that real APIs refuse: unpaired calls, repeated ids, numbers used twice.
    provider = ScriptedProvider([play] * (steps + 3))
    tools = shelf.toolbox()
    budget = Budget(steps=steps, tokens=tokens, seconds=20)
    loop = AgentLoop(
        provider=provider, tools=tools, progress=RecordingProgress(), meter=Meter(budget, clock), system="Answer."
    )
    try:
        draft = await loop.run([QUESTION])
    except ProviderError as error:
        assert str(error) == "Busy." or "empty answer twice" in str(error)
        return
    assert text_of(draft).strip()
    assert draft.usage == sum(spent, Usage())
    assert sum(not is_last(request) for request in provider.requests) <= steps
    check_request(ChatRequest(system="", messages=(QUESTION, *draft.new_messages, QUESTION), tools=tools.definitions))
    shown = {item.number for turn in draft.new_messages for result in turn.tool_results for item in result.passages}
    assert shown == {item.number for item in draft.evidence.passages.values()} == set(range(1, len(shown) + 1))
