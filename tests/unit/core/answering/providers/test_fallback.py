"""Which provider answers, when the next one does, and when nobody else may."""

from collections.abc import Callable

import pytest

from core.answering.providers.fallback import KEY_REST_SECONDS, REST_SECONDS, Choice, FallbackProvider
from core.domain.chat import Capabilities, ChatMessage, ChatRequest, ChatRole
from core.domain.jobs import JobKind
from core.domain.replies import ChatResponse
from core.errors import (
    ContextOverflow,
    ProviderAuthError,
    ProviderBadRequest,
    ProviderChanged,
    ProviderConnectionError,
    ProviderError,
    ProviderOverloaded,
    ProviderRateLimited,
    ProviderRefused,
    ProviderTimeout,
)
from core.work.steps import Steps, complete
from tests.fakes import ManualClock
from tests.scripted import ScriptedProvider, Turn, says
from tests.stores import Stores

DOWN = ProviderOverloaded("It is down.")
ASKED = ChatRequest(system="", messages=(ChatMessage(role=ChatRole.USER, text="When?"),), model="big-1")


class Broken(ScriptedProvider):
    """Says a word, then breaks."""

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        if on_text is not None:
            on_text("The ")
        raise DOWN


class Slow(ScriptedProvider):
    """Has to be asked what it can do (implements core.ports.LearningProvider)."""

    def __init__(self, script: list[Turn], found: Capabilities | ProviderError) -> None:
        super().__init__(script, name="slow")
        self.found = found

    async def learn(self) -> Capabilities:
        if isinstance(self.found, ProviderError):
            raise self.found
        self._capabilities = self.found
        return self.found


def order(*scripts: list[Turn] | ScriptedProvider, clock: ManualClock | None = None) -> FallbackProvider:
    built = [
        script if isinstance(script, ScriptedProvider) else ScriptedProvider(script, name=f"p{place}")
        for place, script in enumerate(scripts)
    ]
    choices = [Choice(label=f"the {item.name}", provider=item) for item in built]
    return FallbackProvider(choices, clock or ManualClock())


async def ask(provider: FallbackProvider) -> str:
    return (await provider.complete(ASKED)).text


@pytest.mark.parametrize(
    "error",
    [
        DOWN,
        ProviderTimeout("slow"),
        ProviderConnectionError("gone"),
        ProviderRateLimited("busy", retry_after_seconds=5),
        ProviderAuthError("no credit"),
    ],
)
async def test_while_one_is_down_or_over_its_limit_the_next_one_answers(error: ProviderError) -> None:
    provider = order([error], [says("Nine."), says("Ten.")])
    assert await ask(provider) == "Nine."
    assert await ask(provider) == "Ten."  # the first one is not even asked
    assert provider.name == "p1"


@pytest.mark.parametrize(
    "error", [ProviderRefused("I won't."), ContextOverflow("too long"), ProviderBadRequest("odd"), ProviderError("?")]
)
async def test_an_answer_nobody_likes_is_not_asked_for_elsewhere(error: ProviderError) -> None:
    provider = order([error, says("Nine.")], [])
    with pytest.raises(type(error)):
        await ask(provider)
    assert await ask(provider) == "Nine."


async def test_when_all_are_down_the_last_error_is_raised_and_the_first_to_be_back_is_asked_next() -> None:
    clock = ManualClock()
    provider = order([DOWN, says("Nine.")], [ProviderRateLimited("busy", retry_after_seconds=400)], clock=clock)
    with pytest.raises(ProviderRateLimited):
        await ask(provider)
    assert provider.name == "p0"
    assert await ask(provider) == "Nine."


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (DOWN, REST_SECONDS),
        (ProviderAuthError("no credit"), KEY_REST_SECONDS),
        (ProviderRateLimited("busy", retry_after_seconds=7), 7),
        (ProviderRateLimited("busy", retry_after_seconds=86_400), 600),
        (ProviderRateLimited("busy"), REST_SECONDS),
    ],
)
async def test_one_that_failed_is_asked_again_after_a_while(error: ProviderError, seconds: float) -> None:
    clock = ManualClock()
    provider = order([error, says("Back.")], [says("Nine."), says("Ten.")], clock=clock)
    await ask(provider)
    clock.advance(seconds - 1)
    assert await ask(provider) == "Ten."
    clock.advance(1)
    assert await ask(provider) == "Back."


async def test_once_text_was_shown_nobody_else_goes_on_with_it() -> None:
    provider = order(Broken([]), [says("Nine.")])
    shown: list[str] = []
    with pytest.raises(ProviderOverloaded):
        await provider.complete(ASKED, shown.append)
    assert shown == ["The "]
    assert (await provider.complete(ASKED, shown.append)).text == "Nine."


async def test_a_question_stays_with_its_provider_though_a_better_one_is_back() -> None:
    clock = ManualClock()
    provider = order([DOWN, says("Back.")], [says("Nine."), says("Ten.")], clock=clock)
    run = provider.begin()
    assert (await run.complete(ASKED)).text == "Nine."
    clock.advance(REST_SECONDS)
    assert (await run.complete(ASKED)).text == "Ten."
    assert await ask(provider) == "Back."


@pytest.mark.parametrize(
    "capabilities",
    [Capabilities(tools=False), Capabilities(citations=True), Capabilities(quotes_only=True)],
    ids=["no tools", "citations of its own", "quotes"],
)
async def test_one_that_works_differently_is_asked_anew(capabilities: Capabilities) -> None:
    other = ScriptedProvider([says("Nine.")], name="other", capabilities=capabilities)
    run = order([DOWN], other).begin()
    with pytest.raises(ProviderChanged, match=r"It is down\. 'the other' answers instead"):
        await run.complete(ASKED)
    assert other.requests == [] and run.capabilities == capabilities
    assert (await run.complete(ASKED)).text == "Nine."


async def test_a_schema_is_asked_only_of_one_that_follows_it() -> None:
    able = ScriptedProvider([says("{}")], capabilities=Capabilities(structured=True))
    with pytest.raises(ProviderChanged):
        await order([DOWN], [says("{}")]).complete(ChatRequest(system="", messages=ASKED.messages, output_schema={}))
    asked = ChatRequest(system="", messages=ASKED.messages, output_schema={})
    assert (await order([DOWN], able).complete(asked)).text == "{}"


async def test_a_model_asked_for_by_name_and_a_turns_own_form_are_the_first_providers_alone() -> None:
    first = ScriptedProvider([ChatResponse(native=("thoughts",)), DOWN], name="first")
    second = ScriptedProvider([says("Nine.")], name="second")
    run = order(first, second).begin()
    native = (await run.complete(ASKED)).native
    turn = ChatMessage(role=ChatRole.ASSISTANT, text="I look.", native=native)
    await run.complete(ChatRequest(system="", messages=(*ASKED.messages, turn, *ASKED.messages), model="big-1"))
    assert [message.native for message in first.requests[1].messages] == [None, ("thoughts",), None]
    assert [message.native for message in second.requests[0].messages] == [None, None, None]
    assert (first.requests[1].model, second.requests[0].model) == ("big-1", None)


async def test_the_job_tree_says_who_answered_instead_of_whom_and_why() -> None:
    jobs, clock = Stores().jobs, ManualClock()
    steps = Steps(jobs, clock, "local")
    providers = order([DOWN], [says("Nine.")])
    async with steps.step(JobKind.REQUEST, "answer", key="q") as request:
        async with request.step(JobKind.PLANNING, "plan", key="m0") as turn:
            await complete(providers, ASKED, turn)
        async with request.step(JobKind.PLANNING, "plan", key="m1") as turn:
            await complete(order([DOWN], [says("Ten.")]).begin(), ASKED, turn)
    told, _ = changes = [job for job in steps.jobs if job.name == "another provider"]
    assert [(job.id, job.parent_id) for job in changes] == [("q/m0/p0", "q/m0"), ("q/m1/p0", "q/m1")]
    assert (told.input, told.output) == ({"from": "the p0", "to": "the p1"}, {"reason": "It is down."})


async def test_what_the_first_that_is_up_can_do_is_what_counts() -> None:
    blind = Slow([], Capabilities(tools=False))
    assert await order(Slow([], DOWN), blind).learn() == Capabilities(tools=False)
    provider = order(Slow([], DOWN), Slow([], ProviderAuthError("no key")))
    with pytest.raises(ProviderAuthError):
        await provider.learn()
    with pytest.raises(ProviderRefused):
        await order(Slow([], ProviderRefused("no")), blind).learn()
