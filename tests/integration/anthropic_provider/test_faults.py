"""Every fault of the service ends in an answer or in one clear error, over real HTTP with the real SDK."""

import pytest

from core.errors import (
    ContextOverflow,
    ProviderAuthError,
    ProviderBadRequest,
    ProviderConnectionError,
    ProviderError,
    ProviderOverloaded,
    ProviderRateLimited,
    ProviderTimeout,
)
from tests.anthropic_server import AnthropicServer, Call, Fault, Reply, script
from tests.anthropic_server.passages import SEARCH
from tests.anthropic_server.script import Break
from tests.anthropic_server.server import KEY
from tests.integration.anthropic_provider.conftest import Build
from tests.integration.anthropic_provider.requests import ask
from tests.integration.provider_faults import TWICE_IS_NOT_ENOUGH, BrokenStream, ProviderFaults


class TestTheSameAsEverywhere(ProviderFaults):
    script = script


@pytest.mark.parametrize(
    ("fault", "error", "words", "attempts"),
    [
        (Fault(400, "messages: wrong"), ProviderBadRequest, "messages: wrong", 1),
        (Fault(400, "Your credit balance is too low to go on"), ProviderAuthError, "Top it up", 1),
        (Fault(401), ProviderAuthError, "ANTHROPIC_API_KEY", 1),
        (Fault(402), ProviderAuthError, "without credit", 1),
        (Fault(403), ProviderAuthError, "does not allow", 1),
        (Fault(404), ProviderBadRequest, "model's name", 1),
        (Fault(408), ProviderTimeout, "in time", TWICE_IS_NOT_ENOUGH),
        (Fault(413), ContextOverflow, "does not fit", 1),
        (Fault(418), ProviderOverloaded, "its side", TWICE_IS_NOT_ENOUGH),
        (Fault(429), ProviderRateLimited, "rate limit", TWICE_IS_NOT_ENOUGH),
        (Fault(429, error_code="enforced_spend_limit_reached"), ProviderAuthError, "spend limit", 1),
        (Fault(500), ProviderOverloaded, "its side", TWICE_IS_NOT_ENOUGH),
        (Fault(500, headers={"x-should-retry": "false"}), ProviderOverloaded, "its side", 1),
        (Fault(502, body="<html>Bad gateway</html>"), ProviderOverloaded, "Bad gateway", TWICE_IS_NOT_ENOUGH),
        (Fault(504), ProviderTimeout, "in time", TWICE_IS_NOT_ENOUGH),
        (Fault(529), ProviderOverloaded, "its side", TWICE_IS_NOT_ENOUGH),
        (Fault(0), ProviderConnectionError, "could not be made, or broke", TWICE_IS_NOT_ENOUGH),
    ],
    ids=lambda value: str(value.status) if isinstance(value, Fault) else None,
)
async def test_a_refused_request_is_one_clear_error_after_as_many_attempts_as_it_is_worth(
    server: AnthropicServer, build: Build, fault: Fault, error: type[ProviderError], words: str, attempts: int
) -> None:
    server.script(*[fault] * 5)
    with pytest.raises(error, match=words) as caught:
        await build().complete(ask())
    assert type(caught.value) is error
    assert caught.value.__cause__ is not None
    assert len(server.requests) == attempts
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("fault", [Fault(429, headers={"retry-after": "0.05"}), Fault(500), Fault(529), Fault(0)])
async def test_a_passing_fault_is_not_noticed_but_for_the_wait(
    server: AnthropicServer, build: Build, fault: Fault
) -> None:
    server.script(fault, Reply.of("Nine."))
    assert (await build().complete(ask())).text == "Nine."


@pytest.mark.parametrize(
    ("breaks", "error"),
    [
        (Break.CUT, ProviderConnectionError),
        (Break.DROP, ProviderConnectionError),
        (Break.STALL, ProviderTimeout),
        (Break.BAD_JSON, ProviderConnectionError),
        (Break.BAD_EVENT, ProviderConnectionError),
        (Break.ERROR, ProviderOverloaded),
    ],
)
@pytest.mark.parametrize("after", [-1, 0, 1], ids=["before anything", "after its head", "after a text"])
class TestABrokenStream(BrokenStream):
    script = script


async def test_a_cut_inside_a_tool_call_starts_no_tool(server: AnthropicServer, build: Build) -> None:
    cut = Reply.of("I look.", Call("search", {"query": "gate"}), breaks=Break.CUT, breaks_after=2)
    server.script(*[cut] * 3)
    with pytest.raises(ProviderConnectionError, match="broke off"):
        await build().complete(ask(tools=(SEARCH,)))


async def test_a_key_refused_in_the_middle_of_a_stream_is_told_as_such(server: AnthropicServer, build: Build) -> None:
    server.script(Reply.of("A", breaks=Break.ERROR, error_type="authentication_error"))
    with pytest.raises(ProviderAuthError):
        await build().complete(ask())


async def test_pings_alone_end_with_the_turns_own_time(server: AnthropicServer, build: Build) -> None:
    server.script(Reply.of("A", "B", breaks=Break.PING))
    with pytest.raises(ProviderTimeout, match=r"within 1\.5 seconds"):
        await build(timeout_seconds=1.5, stall_seconds=1.0).complete(ask())


async def test_a_slow_stream_that_keeps_going_is_no_stall(server: AnthropicServer, build: Build) -> None:
    server.script(Reply.of("A b c d e f g h", gap_seconds=0.25))
    assert (await build(stall_seconds=1.5).complete(ask())).text == "A b c d e f g h"


async def test_an_address_where_nobody_listens_is_a_connection_error(build: Build) -> None:
    with pytest.raises(ProviderConnectionError, match="Check the network"):
        await build(base_url="http://127.0.0.1:9").complete(ask())


async def test_an_unknown_model_is_named_with_the_next_step(build: Build) -> None:
    with pytest.raises(ProviderBadRequest, match=r"model: claude-nine.* model's name"):
        await build().complete(ask(model="claude-nine"))
