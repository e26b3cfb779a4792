"""What chat completions servers refuse, in their words where they are known."""

from typing import Any

Json = dict[str, Any]

ROLES = ("system", "user", "assistant", "tool")
PARAMETERS = frozenset(
    {"model", "messages", "tools", "tool_choice", "response_format", "stream", "stream_options",
     "max_tokens", "max_completion_tokens"}
)  # fmt: skip


class BadRequest(Exception):
    """The text of a 400."""


def validate(body: Json) -> None:
    """Raises BadRequest as OpenAI's API would answer 400."""
    if unknown := set(body) - PARAMETERS:
        raise BadRequest(f"Unrecognized request argument supplied: {sorted(unknown)}")
    if not body.get("messages"):
        raise BadRequest("[] is too short - 'messages'")
    if "stream_options" in body and not body.get("stream"):
        raise BadRequest("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
    _check_tools(body)
    _check_format(body)
    for place, message in enumerate(body["messages"]):
        _check_message(message, place)
    _check_pairs(body["messages"])


def _check_tools(body: Json) -> None:
    if "tool_choice" in body and not body.get("tools"):
        raise BadRequest("'tool_choice' is only allowed when 'tools' are specified.")
    if "tools" in body and not body["tools"]:
        raise BadRequest("[] is too short - 'tools'")
    for tool in body.get("tools", []):
        if tool["type"] != "function" or tool["function"]["parameters"]["type"] != "object":
            raise BadRequest("Invalid schema for function: schema must be a JSON Schema of 'type: \"object\"'")


def _check_format(body: Json) -> None:
    wanted = body.get("response_format")
    if wanted is None:
        return
    described = wanted["json_schema"]
    if described.get("strict") and not _is_closed(described["schema"]):
        raise BadRequest(
            "Invalid schema for response_format 'reply': 'additionalProperties' is required to be supplied and to be "
            "false, and 'required' to include every key in properties."
        )


def _is_closed(schema: Any) -> bool:
    if isinstance(schema, list):
        return all(map(_is_closed, schema))
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object":
        open_ = schema.get("additionalProperties") is not False
        if open_ or set(schema.get("required", [])) != set(schema.get("properties", {})):
            return False
    return all(map(_is_closed, schema.values()))


def _check_message(message: Json, place: int) -> None:
    where = f"messages[{place}]"
    if message.get("role") not in ROLES:
        raise BadRequest(f"Invalid value: {message.get('role')!r}. Supported values are: {ROLES} ({where}.role)")
    content = message.get("content")
    if content is None and not message.get("tool_calls"):
        raise BadRequest(f"Invalid value for 'content': expected a string, got null ({where})")
    if content is not None and not content:
        raise BadRequest(f"content must not be empty ({where})")
    if message["role"] == "tool" and not isinstance(content, str):
        raise BadRequest(f"Invalid content for a tool's message: only text is taken ({where})")
    for part in content if isinstance(content, list) else []:
        if part["type"] == "image_url" and message["role"] != "user":
            raise BadRequest(f"Image URLs are only allowed for messages with role 'user' ({where})")


def _check_pairs(messages: list[Json]) -> None:
    open_ids: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_ids:
                raise BadRequest(
                    "messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
                )
            open_ids.remove(message["tool_call_id"])
            continue
        if open_ids:
            raise BadRequest(f"tool_call_ids did not have response messages: {open_ids}")
        open_ids = [call["id"] for call in message.get("tool_calls", [])]
        for call in message.get("tool_calls", []):
            _check_call(call)
    if open_ids:
        raise BadRequest(f"tool_call_ids did not have response messages: {open_ids}")


def _check_call(call: Json) -> None:
    import json

    if len(call["id"]) > 40:
        raise BadRequest("Invalid 'tool_calls[0].id': string too long. Expected a string with maximum length 40")
    if not isinstance(json.loads(call["function"]["arguments"]), dict):
        raise BadRequest("tool call arguments must be a JSON object")
