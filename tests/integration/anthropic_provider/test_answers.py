"""Answers, tools, citations, stops, cache and keys of the Anthropic provider, over real HTTP with the real SDK."""

import logging
from typing import Any

import pytest
from pydantic import SecretStr

from core.answering.citations import prove
from core.domain.answer import Draft, Evidence
from core.domain.chat import ChatMessage, ChatRole, ToolChoice, ToolInvocation
from core.domain.corpus import Page
from core.domain.passages import Span
from core.domain.replies import StopReason, Usage
from core.errors import (
    ContextOverflow,
    ProviderAuthError,
    ProviderBadRequest,
    ProviderError,
    ProviderRefused,
)
from storage.models.anthropic.provider import DEFAULT_CONTEXT_TOKENS
from tests.anthropic_server import AnthropicServer, Call, Cite, Fault, Reply, Say, Think
from tests.anthropic_server.passages import PAGE, SEARCH, calls, found, numbered, passage, results, user
from tests.anthropic_server.server import KEY, MODEL
from tests.integration.anthropic_provider.conftest import Build
from tests.integration.anthropic_provider.requests import ask, searched

# --- answers, tools, citations ---------------------------------------------------------------------------------------


async def test_text_is_streamed_in_pieces_that_make_up_the_answer(server: AnthropicServer, build: Build) -> None:
    server.script(Reply.of("The gate opens at nine."))
    pieces: list[str] = []
    response = await build().complete(ask(), pieces.append)
    assert response.text == "".join(pieces) == "The gate opens at nine."
    assert len(pieces) > 1
    assert (response.stop_reason, response.model) == (StopReason.END, MODEL)


async def test_parallel_tool_calls_come_back_with_their_arguments(server: AnthropicServer, build: Build) -> None:
    server.script(Reply.of("I look.", Call("search", {"query": "gate"}), Call("search", {"query": "wall"})))
    response = await build().complete(ask(tools=(SEARCH,), tool_choice=ToolChoice.ANY))
    assert response.stop_reason is StopReason.TOOLS
    assert [call.arguments["query"] for call in response.tool_invocations] == ["gate", "wall"]
    assert len({call.id for call in response.tool_invocations}) == 2
    assert server.requests[0]["tool_choice"] == {"type": "any"}


async def test_a_tool_without_arguments_is_called_with_none(server: AnthropicServer, build: Build) -> None:
    server.script(Reply.of(Call("search", {})))
    response = await build().complete(ask(tools=(SEARCH,)))
    assert response.tool_invocations[0].arguments == {}


async def test_a_whole_run_of_thinking_tools_and_answer_is_accepted_and_cited(
    server: AnthropicServer, build: Build
) -> None:
    server.script(
        Reply.of(Think("Two searches."), "I look. ", Call("search", {"query": "a"}), Call("search", {"query": "b"})),
        Reply.of(Say("It opens at nine.", cites=(Cite("The gate opens at nine."),)), " Ask."),
    )
    provider, asked = build(), user("When?", speaker="Ann")
    first = await provider.complete(ask(asked, tools=(SEARCH,)))
    one, two = first.tool_invocations
    follow_up = ask(
        asked,
        calls(one, two, text=first.text, native=first.native),
        results(found(one.id, passage()), found(two.id, text="Nothing was found.", is_error=True)),
        tools=(SEARCH,),
    )
    answer = await provider.complete(follow_up)
    assert [len(segment.citations) for segment in answer.segments] == [1, 0]
    assert [block["type"] for block in server.requests[1]["messages"][1]["content"]] == [
        "thinking", "text", "tool_use", "tool_use",
    ]  # fmt: skip
    assert server.requests[1]["messages"][0]["content"][0]["text"] == "Ann: When?"


@pytest.mark.parametrize(
    ("quote", "said"),
    [
        ("The gate opens at nine.", "The gate opens at nine."),
        ("It closes at five.\n\nNobody", "It closes at five.\n\nNobody enters  after dark!"),
        ("Ask Ann.", "Ask Ann."),
        ("# Rules", "# Rules"),
    ],
)
async def test_a_citation_is_a_span_of_the_page_from_its_first_to_its_last_block(
    server: AnthropicServer, build: Build, quote: str, said: str
) -> None:
    server.script(Reply.of(Say("So it says.", cites=(Cite(quote),))))
    response = await build().complete(searched(passage()))
    (claim,) = response.segments[0].citations
    assert claim.span.of(PAGE) == said
    assert claim.passage_id == "p1"
    assert claim.cited_text.split() == said.split()


async def test_a_citation_over_sentences_and_paragraphs_ends_in_a_proved_footnote(
    server: AnthropicServer, build: Build
) -> None:
    shown = passage(start=PAGE.index("The gate"))
    server.script(Reply.of(Say("By day only.", cites=(Cite("at five.\n\nNobody enters"),)), " Mind it."))
    answer = await build().complete(searched(shown))
    draft = Draft(segments=answer.segments, evidence=Evidence(passages={shown.id: numbered(shown)}))
    page = Page(id="pg1", document_id="d1", revision="r1", number=3, title="Rules", text=PAGE)
    proved = prove(draft, {page.id: page})
    assert proved.text == "By day only.[1] Mind it."
    assert [citation.quote for citation in proved.citations] == ["It closes at five.\n\nNobody enters  after dark!"]
    assert proved.citations[0].proved


async def test_a_citation_in_the_middle_of_a_page_is_in_page_offsets(server: AnthropicServer, build: Build) -> None:
    start = PAGE.index("It closes")
    server.script(Reply.of(Say("So.", cites=(Cite("It closes at five."),))))
    response = await build().complete(searched(passage(start=start)))
    assert response.segments[0].citations[0].span == Span(start, start + len("It closes at five."))


async def test_citations_go_by_source_and_not_by_their_index(server: AnthropicServer, build: Build) -> None:
    other = passage("The moat is deep.", passage_id="p2")
    wrong_index = Cite("The moat is deep.", {"search_result_index": 0})
    server.script(Reply.of(Say("Deep.", cites=(wrong_index,))))
    response = await build().complete(searched(passage(), other))
    assert [claim.passage_id for claim in response.segments[0].citations] == ["p2"]


@pytest.mark.parametrize(
    "overrides", [{"source": "footnote://passage/unknown"}, {"end_block_index": 99}, {"start_block_index": -1}]
)
async def test_a_citation_of_something_not_shown_is_left_out_and_the_text_stays(
    server: AnthropicServer, build: Build, overrides: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    server.script(Reply.of(Say("So.", cites=(Cite("Ask Ann.", overrides),))))
    with caplog.at_level(logging.WARNING):
        response = await build().complete(searched(passage()))
    assert [(s.text, s.citations) for s in response.segments] == [("So.", ())]
    assert "not in the request" in caplog.text


async def test_a_text_that_is_only_a_tag_leaves_nothing(server: AnthropicServer, build: Build) -> None:
    server.script(Reply.of("<cite index=1>", "Nine."))
    assert [segment.text for segment in (await build().complete(ask())).segments] == ["Nine."]


async def test_inline_cite_tags_are_neither_streamed_nor_answered(server: AnthropicServer, build: Build) -> None:
    pieces = ("It opens <ci", 'te index="0-', '1">at nine</c', "ite>, 1 < 2.")
    server.script(Reply.of(Say("".join(pieces), pieces=pieces)))
    shown: list[str] = []
    response = await build().complete(ask(), shown.append)
    assert response.text == "".join(shown) == "It opens at nine, 1 < 2."


# --- stops -----------------------------------------------------------------------------------------------------------


async def test_a_reply_cut_by_its_length_is_partial_and_starts_no_tool(server: AnthropicServer, build: Build) -> None:
    server.script(Reply.of("I look", Call("search", {"query": "gate"}, cut=True), stop_reason="max_tokens"))
    response = await build().complete(ask(tools=(SEARCH,)))
    assert (response.text, response.stop_reason) == ("I look", StopReason.MAX_TOKENS)
    assert response.tool_invocations == ()
    server.script(Reply.of("Go on."))
    again = ask(user("When?"), calls(text="I look", native=response.native), user("Go on"), tools=(SEARCH,))
    assert (await build().complete(again)).text == "Go on."


async def test_a_paused_turn_goes_on_from_its_own_content(server: AnthropicServer, build: Build) -> None:
    server.script(Reply.of("Thinking", stop_reason="pause_turn"), Reply.of("Done."))
    provider = build()
    paused = await provider.complete(ask())
    assert paused.stop_reason is StopReason.PAUSED
    assert (await provider.complete(ask(user("When?"), calls(native=paused.native)))).text == "Done."


async def test_a_refusal_is_an_error_with_the_vendors_explanation(server: AnthropicServer, build: Build) -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "This could do harm."}
    server.script(Reply.of("I", stop_reason="refusal", stop_details=details))
    with pytest.raises(ProviderRefused, match=r"declined to answer: This could do harm\."):
        await build().complete(ask())


async def test_a_window_that_fills_up_while_answering_is_a_context_overflow(
    server: AnthropicServer, build: Build
) -> None:
    server.script(Reply.of("I", stop_reason="model_context_window_exceeded"))
    with pytest.raises(ContextOverflow, match="new thread"):
        await build().complete(ask())


async def test_a_stop_reason_of_the_future_is_an_error_that_names_it(server: AnthropicServer, build: Build) -> None:
    server.script(Reply.of("I", stop_reason="fell_asleep"))
    with pytest.raises(ProviderError, match="'fell_asleep'"):
        await build().complete(ask())


async def test_a_prompt_that_is_too_long_is_a_context_overflow(build: Build) -> None:
    async with AnthropicServer(max_input_tokens=50) as small:
        provider = build(base_url=small.url)
        with pytest.raises(ContextOverflow, match="prompt is too long"):
            await provider.complete(ask(user("When? " * 100)))
        assert len(small.requests) == 1


# --- cache and limits ------------------------------------------------------------------------------------------------


async def test_the_second_step_reads_what_the_first_wrote_to_the_cache(server: AnthropicServer, build: Build) -> None:
    server.script(Reply.of(Call("search", {"query": "gate"})), Reply.of("Nine.", output_tokens=11))
    provider, asked = build(), user("When does the gate open?")
    first = await provider.complete(ask(asked, tools=(SEARCH,)))
    follow_up = ask(
        asked,
        calls(*first.tool_invocations, native=first.native),
        results(found(first.tool_invocations[0].id, passage())),
        tools=(SEARCH,),
    )
    second = await provider.complete(follow_up)
    assert first.usage.cache_read_tokens == 0
    assert first.usage.cache_write_tokens == first.usage.input_tokens > 0
    assert second.usage.cache_read_tokens == first.usage.input_tokens
    assert second.usage == Usage(
        input_tokens=second.usage.cache_read_tokens + second.usage.cache_write_tokens,
        output_tokens=11,
        cache_read_tokens=second.usage.cache_read_tokens,
        cache_write_tokens=second.usage.cache_write_tokens,
    )


async def test_the_models_limits_are_asked_once_and_used(build: Build) -> None:
    async with AnthropicServer(max_input_tokens=500_000, max_tokens=800) as server:
        provider = build(base_url=server.url, max_output_tokens=5000)
        assert provider.capabilities.context_tokens == DEFAULT_CONTEXT_TOKENS
        await provider.complete(ask())
        await provider.complete(ask(max_output_tokens=20))
        assert provider.capabilities.context_tokens == 500_000
        assert provider.capabilities.citations
        assert [body["max_tokens"] for body in server.requests] == [800, 20]
        assert sum(request.method == "GET" for request in server.seen) == 1


async def test_an_address_that_knows_no_limits_still_answers(server: AnthropicServer, build: Build) -> None:
    server.models_fault = Fault(404, body="<html>not here</html>")
    provider = build()
    assert (await provider.complete(ask())).text == "Understood."
    assert provider.capabilities.context_tokens == DEFAULT_CONTEXT_TOKENS


# --- keys ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [None, SecretStr(""), SecretStr("  ")])
async def test_without_a_key_no_request_is_made_and_the_next_step_is_told(
    server: AnthropicServer, build: Build, key: SecretStr | None
) -> None:
    provider = build(api_key=key)
    with pytest.raises(ProviderAuthError, match="ANTHROPIC_API_KEY"):
        await provider.complete(ask())
    with pytest.raises(ProviderAuthError, match="ANTHROPIC_API_KEY"):
        await provider.check()
    assert server.seen == []


async def test_the_key_shows_in_no_log_and_no_representation(
    server: AnthropicServer, build: Build, caplog: pytest.LogCaptureFixture
) -> None:
    server.script(Fault(500))
    provider = build()
    with caplog.at_level(logging.DEBUG):
        await provider.complete(ask())
    assert caplog.records
    assert KEY not in caplog.text
    assert KEY not in repr(provider) + repr(vars(provider))


async def test_a_check_tells_a_wrong_key_from_a_right_one(build: Build) -> None:
    await build().check()
    with pytest.raises(ProviderAuthError):
        await build(api_key=SecretStr("sk-other")).check()
    with pytest.raises(ProviderBadRequest):
        await build(model="claude-nine").check()


async def test_assistant_role_history_without_native_content_is_rebuilt(server: AnthropicServer, build: Build) -> None:
    call = ToolInvocation(id="call:1/2", name="search", arguments={"query": "gate"})
    history = (
        user("When?"),
        calls(call, text="  "),
        results(found("call:1/2", passage(), passage("  \n ", passage_id="blank"), text="One hit.")),
        ChatMessage(role=ChatRole.ASSISTANT, text="Nine. "),
        user("And closes?", speaker="Bob"),
        user(""),
        user("Please.", speaker="Ann"),
    )
    assert (await build().complete(ask(*history, tools=(SEARCH,)))).text == "Understood."
    turns = server.requests[0]["messages"]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user", "assistant", "user"]
    assert [block["text"] for block in turns[-1]["content"]] == ["Bob: And closes?", "Ann: Please."]
    assert [block["type"] for block in turns[2]["content"][0]["content"]] == ["text", "search_result"]
    assert turns[2]["content"][0]["content"][1]["title"] == "The Castle > Rules, p. 3"
