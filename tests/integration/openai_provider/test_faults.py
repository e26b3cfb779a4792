"""Every fault of a server ends in an answer or in one clear error, over real HTTP with the real SDK."""

import pytest

from core.errors import (
    ContextOverflow,
    ProviderAuthError,
    ProviderBadRequest,
    ProviderConnectionError,
    ProviderError,
    ProviderOverloaded,
    ProviderRateLimited,
    ProviderRefused,
    ProviderTimeout,
)
from tests.anthropic_server.passages import SEARCH
from tests.integration.anthropic_provider.requests import ask
from tests.integration.openai_provider.conftest import Build
from tests.integration.provider_faults import TWICE_IS_NOT_ENOUGH, BrokenStream, ProviderFaults
from tests.openai_server import KEY, Break, Call, Fault, OpenAIServer, Reply, script


class TestTheSameAsEverywhere(ProviderFaults):
    script = script


@pytest.mark.parametrize(
    ("fault", "error", "words", "attempts"),
    [
        (Fault(400, "messages: wrong"), ProviderBadRequest, "messages: wrong", 1),
        (Fault(400, "too long", code="context_length_exceeded"), ContextOverflow, "does not fit", 1),
        (Fault(400, "the request exceeds the available context size"), ContextOverflow, "does not fit", 1),
        (Fault(400, "no", code="content_filter"), ProviderRefused, "declined", 1),
        (Fault(400, "API key not valid. Please pass a valid API key."), ProviderAuthError, r"Set MILL_KEY\.", 1),
        (Fault(401), ProviderAuthError, r"Set MILL_KEY\.", 1),
        (Fault(402, "Insufficient Balance"), ProviderAuthError, "without credit", 1),
        (Fault(403), ProviderAuthError, "does not allow", 1),
        (Fault(404), ProviderBadRequest, "model's name and the server's address", 1),
        (Fault(408), ProviderTimeout, "in time", TWICE_IS_NOT_ENOUGH),
        (Fault(413), ContextOverflow, "does not fit", 1),
        (Fault(422), ProviderBadRequest, "form", 1),
        (Fault(429), ProviderRateLimited, "rate limit", TWICE_IS_NOT_ENOUGH),
        (Fault(429, "You exceeded your quota", code="insufficient_quota"), ProviderAuthError, "Top it up", 1),
        (Fault(500), ProviderOverloaded, "its side", TWICE_IS_NOT_ENOUGH),
        (Fault(500, headers={"x-should-retry": "false"}), ProviderOverloaded, "its side", 1),
        (Fault(502, body="<html>Bad gateway</html>"), ProviderOverloaded, "Bad gateway", TWICE_IS_NOT_ENOUGH),
        (Fault(503, "Loading model"), ProviderOverloaded, "Loading model", TWICE_IS_NOT_ENOUGH),
        (Fault(504), ProviderTimeout, "in time", TWICE_IS_NOT_ENOUGH),
        (Fault(0), ProviderConnectionError, "Check that it runs", TWICE_IS_NOT_ENOUGH),
    ],
    ids=lambda value: f"{value.status} {value.code or ''}" if isinstance(value, Fault) else None,
)
async def test_a_refused_request_is_one_clear_error_after_as_many_attempts_as_it_is_worth(
    server: OpenAIServer, build: Build, fault: Fault, error: type[ProviderError], words: str, attempts: int
) -> None:
    server.script(*[fault] * 5)
    with pytest.raises(error, match=words) as caught:
        await build().complete(ask())
    assert type(caught.value) is error
    assert caught.value.__cause__ is not None
    assert len(server.requests) == attempts
    assert KEY not in str(caught.value) and str(caught.value)[0].isupper()


@pytest.mark.parametrize("fault", [Fault(429, headers={"retry-after": "0.05"}), Fault(503), Fault(0)])
async def test_a_passing_fault_is_not_noticed_but_for_the_wait(
    server: OpenAIServer, build: Build, fault: Fault
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
        (Break.BAD_CHUNK, ProviderConnectionError),
        (Break.ERROR, ProviderOverloaded),
    ],
)
@pytest.mark.parametrize("after", [0, 1], ids=["before any text", "after a text"])
class TestABrokenStream(BrokenStream):
    script = script


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ({"message": "Provider returned error", "code": 502}, ProviderOverloaded),
        ({"message": "Rate limited", "code": 429}, ProviderRateLimited),
        ({"message": "no", "code": "invalid_api_key"}, ProviderAuthError),
        (
            {"message": "the context size is exceeded", "type": "exceed_context_size_error", "code": 400},
            ContextOverflow,
        ),
        ({"message": "odd", "type": "invalid_request_error"}, ProviderBadRequest),
    ],
)
async def test_an_error_inside_a_stream_is_told_as_what_it_is(
    server: OpenAIServer, build: Build, told: dict[str, object], error: type[ProviderError]
) -> None:
    server.script(Reply.of("A", breaks=Break.ERROR, error=told))
    with pytest.raises(error):
        await build(max_retries=0).complete(ask())


async def test_a_cut_inside_a_tool_call_starts_no_tool(server: OpenAIServer, build: Build) -> None:
    server.script(*[Reply.of(Call("search", {"query": "gate"}), breaks=Break.CUT)] * 3)
    with pytest.raises(ProviderConnectionError, match="broke off"):
        await build().complete(ask(tools=(SEARCH,)))


async def test_comments_alone_end_with_the_turns_own_time(server: OpenAIServer, build: Build) -> None:
    server.script(Reply.of("A", "B", breaks=Break.COMMENTS))
    with pytest.raises(ProviderTimeout, match=r"within 1\.5 seconds"):
        await build(timeout_seconds=1.5, stall_seconds=1.0).complete(ask())


async def test_an_address_where_nobody_listens_is_named(build: Build) -> None:
    with pytest.raises(ProviderConnectionError, match=r"127\.0\.0\.1:9 .* Check that it runs"):
        await build(base_url="http://user:secret@127.0.0.1:9/v1").complete(ask())


async def test_openais_own_address_needs_a_key(build: Build) -> None:
    with pytest.raises(ProviderAuthError, match=r"No API key is configured for OpenAI\. Set MILL_KEY\."):
        await build(base_url=None, key=None).complete(ask())
