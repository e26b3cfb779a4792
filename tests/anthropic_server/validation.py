"""What the Messages API refuses, in its words where they are known."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

Json = dict[str, Any]

MAX_BREAKPOINTS = 4
REMOVED_PARAMETERS = ("temperature", "top_p", "top_k")
ROLES = ("user", "assistant", "system")
RESULT_KINDS = {"text", "image", "search_result", "document", "tool_reference", "browser_state"}
UNSUPPORTED_KEYWORDS = {"minimum", "maximum", "minLength", "maxLength", "maxItems", "pattern", "oneOf"}
TOOL_ID = re.compile(r"^[a-zA-Z0-9_-]+$")
TOOL_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")


class BadRequest(Exception):
    """The text of a 400."""


def validate(body: Json) -> None:
    """Raises BadRequest as the API would answer 400."""
    for name in REMOVED_PARAMETERS:
        if name in body:
            raise BadRequest(f"{name}: Extra inputs are not permitted")
    for name in ("model", "max_tokens", "messages"):
        if name not in body:
            raise BadRequest(f"{name}: Field required")
    if not isinstance(body["max_tokens"], int) or body["max_tokens"] < 0:
        raise BadRequest("max_tokens: Input should be greater than or equal to 0")
    turns = merged_turns(body["messages"])
    _check_tools(body)
    _check_texts(body, turns)
    _check_pairs(turns)
    _check_citations(turns)
    _check_format(body, turns)
    _check_breakpoints(body)


def merged_turns(messages: list[Json]) -> list[Json]:
    """Turns with contents as block lists and neighbours of one role merged, as the API reads them."""
    if not messages:
        raise BadRequest("messages: at least one message is required")
    turns: list[Json] = []
    for message in messages:
        if message.get("role") not in ROLES:
            raise BadRequest(f"messages: Unexpected role {message.get('role')!r}. Allowed roles are {ROLES}")
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
        if turns and turns[-1]["role"] == message["role"]:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": message["role"], "content": blocks})
    if turns[0]["role"] != "user":
        raise BadRequest('messages: first message must use the "user" role')
    return turns


def blocks_within(blocks: list[Json]) -> Iterator[Json]:
    """Blocks and the blocks inside tool results and search results, in order."""
    for block in blocks:
        yield block
        inner = block.get("content")
        if isinstance(inner, list):
            yield from blocks_within(inner)


def search_results(turns: list[Json]) -> list[Json]:
    """All search results of a request, in the order their index counts."""
    return [b for turn in turns for b in blocks_within(turn["content"]) if b.get("type") == "search_result"]


def _check_tools(body: Json) -> None:
    names = [tool["name"] for tool in body.get("tools", [])]
    if len(names) != len(set(names)):
        raise BadRequest("tools: Tool names must be unique.")
    for index, tool in enumerate(body.get("tools", [])):
        schema = tool["input_schema"]
        if not TOOL_NAME.match(tool["name"]):
            raise BadRequest(f"tools.{index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        if schema.get("type") != "object":
            raise BadRequest(f"tools.{index}.custom.input_schema.type: Field required")
        if {"oneOf", "anyOf", "allOf"} & set(schema):
            raise BadRequest(
                f"tools.{index}.custom.input_schema: "
                "input_schema does not support oneOf, allOf, or anyOf at the top level"
            )
    if "tool_choice" in body and not names:
        raise BadRequest("tool_choice: may only be specified while providing tools")


def _check_texts(body: Json, turns: list[Json]) -> None:
    system = body.get("system", [])
    if isinstance(system, list) and any(not block["text"] for block in system):
        raise BadRequest("system: text content blocks must be non-empty")
    for index, turn in enumerate(turns):
        if not turn["content"]:
            raise BadRequest(f"messages.{index}: all messages must have non-empty content")
        for block in blocks_within(turn["content"]):
            if block["type"] == "text" and not block["text"].strip():
                raise BadRequest(f"messages.{index}: text content blocks must contain non-whitespace text")
    last = turns[-1]["content"][-1]
    if turns[-1]["role"] == "assistant" and last["type"] == "text" and last["text"] != last["text"].rstrip():
        raise BadRequest("messages: final assistant content cannot end with trailing whitespace")


def _check_pairs(turns: list[Json]) -> None:
    results_of_first = {b["tool_use_id"] for b in turns[0]["content"] if b["type"] == "tool_result"}
    if results_of_first:
        raise BadRequest(f"messages.0: unexpected `tool_use_id` found in `tool_result` blocks: {results_of_first}")
    for index, (turn, following) in enumerate(pairwise([*turns, {"role": "", "content": []}])):
        if turn["role"] != "assistant":
            continue
        calls = [b["id"] for b in turn["content"] if b["type"] == "tool_use"]
        answers = [b["tool_use_id"] for b in following["content"] if b["type"] == "tool_result"]
        if any(not TOOL_ID.match(call) for call in calls):
            raise BadRequest(f"messages.{index}: tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
        if missing := [call for call in calls if call not in answers]:
            raise BadRequest(
                f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {missing}"
            )
        if extra := [answer for answer in answers if answer not in calls]:
            raise BadRequest(f"messages.{index + 1}: unexpected `tool_use_id` found in `tool_result` blocks: {extra}")
        kinds = [b["type"] for b in following["content"]]
        if "tool_result" in kinds[len(answers) :]:
            raise BadRequest(f"messages.{index + 1}: `tool_result` blocks must come first")
        _check_results(following["content"])


def _check_results(blocks: list[Json]) -> None:
    for block in blocks:
        content = block.get("content", []) if block["type"] == "tool_result" else []
        kinds = {inner["type"] for inner in content} if isinstance(content, list) else set()
        if kinds - RESULT_KINDS:
            raise BadRequest(f"tool_result: unexpected content types {sorted(kinds - RESULT_KINDS)}")
        if block.get("is_error") and kinds - {"text"}:
            raise BadRequest('tool_result: all content must be type "text" if "is_error" is true')


def _check_citations(turns: list[Json]) -> None:
    results = search_results(turns)
    if len({result.get("citations", {}).get("enabled", False) for result in results}) > 1:
        raise BadRequest("search_result: all search results must have the same citations setting")
    if any(not result["content"] for result in results):
        raise BadRequest("search_result.content: at least one text block is required")


def _check_format(body: Json, turns: list[Json]) -> None:
    """A schema for the reply: not beside citations; objects are closed, and no constraint that the API has not."""
    wanted = body.get("output_config", {}).get("format")
    if wanted is None:
        return
    if wanted.get("type") != "json_schema" or not isinstance(wanted.get("schema"), dict):
        raise BadRequest("output_config.format: Input should be a json_schema with a schema")
    if any(result.get("citations", {}).get("enabled") for result in search_results(turns)):
        raise BadRequest("output_config.format: Structured outputs are not compatible with citations")
    _check_schema(wanted["schema"])


def _check_schema(schema: Json) -> None:
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        raise BadRequest("output_config.format.schema: For 'object' type, 'additionalProperties' must be false")
    if unknown := UNSUPPORTED_KEYWORDS & set(schema):
        raise BadRequest(f"output_config.format.schema: keywords are not supported: {sorted(unknown)}")
    for inner in [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]:
        _check_schema(inner)


def _check_breakpoints(body: Json) -> None:
    system = body.get("system", [])
    blocks = [*body.get("tools", []), *(system if isinstance(system, list) else [])]
    for message in body["messages"]:
        blocks += blocks_within(message["content"]) if isinstance(message["content"], list) else []
    marked = [block for block in blocks if block.get("cache_control")]
    if len(marked) > MAX_BREAKPOINTS:
        raise BadRequest(
            f"A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided. Found {len(marked)}."
        )
    if any(block.get("type") in ("thinking", "redacted_thinking") for block in marked):
        raise BadRequest("thinking: cache_control cannot be set on thinking blocks")
