"""Requests of the chat completions API from our chat types. Pure.

The API has no citations: passages are sent as text with their numbers, and the model cites by `[n]`. A request without
tools has earlier tool rounds as plain text, since models without tools refuse their roles.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, cast

from core.domain.chat import (
    ChatMessage,
    ChatRequest,
    ChatRole,
    NumberedPassage,
    PageImage,
    ToolChoice,
    ToolDefinition,
    ToolResult,
    shown_once,
)
from storage.models.openai_compatible.replies import THOUGHTS

Json = dict[str, Any]

# How servers say that they don't know a parameter, in contrast to a value that is too large.
_UNKNOWN_WORDS = (
    "unsupported", "not supported", "unrecognized", "unrecognised", "unknown", "extra inputs", "not permitted",
    "unexpected", "not allowed", "instead", "additional properties", "invalid parameter",
)  # fmt: skip
LENGTH_KEYS = ("max_completion_tokens", "max_tokens")


@dataclass(slots=True)
class Dialect:
    """A server's support of optional parameters, assumed at first; `learn` drops one that the server refuses by name.

    Args:
        length_key: the parameter that bounds the answer; OpenAI's newer models take only the first of LENGTH_KEYS, most
            other servers only the second. None: neither.
        stream_usage: whether `stream_options` may ask for the tokens of a streamed reply.
        forced_choice: whether `tool_choice` may be "required" or "none".
        strict_schema: whether `response_format` may say `strict`.
        thoughts: whether a model's thoughts may be sent back with the calls they led to; some vendors insist on them.
    """

    length_key: str | None
    stream_usage: bool = True
    forced_choice: bool = True
    strict_schema: bool = True
    thoughts: bool = True
    _swapped: bool = False

    def learn(self, refusal: str, sent: Mapping[str, object]) -> bool:
        """Learn from a refusal; return whether the request is worth repeating.

        `sent` are the refused parameters: another request may have learned the same meanwhile.
        """
        said = refusal.lower()
        if "stream_options" in sent and "stream_options" in said:
            self.stream_usage = False
            return True
        if "tool_choice" in sent and "tool_choice" in said:
            self.forced_choice = False
            return True
        if not any(word in said for word in _UNKNOWN_WORDS):
            return False
        if self.strict_schema and "response_format" in sent and "strict" in said:
            self.strict_schema = False
            return True
        if self.thoughts and "reasoning" in said:
            self.thoughts = False
            return True
        key = next((key for key in LENGTH_KEYS if key in sent), None)
        if key is None or key not in said:
            return False
        if key == self.length_key:
            other = next(other for other in LENGTH_KEYS if other != key)
            self.length_key, self._swapped = (None if self._swapped else other), True
        return True


MAX_IMAGES = 8  # of a request, the newest ones; each costs a thousand tokens or more
SCHEMA_NAME = "reply"
_CHOICES = {ToolChoice.AUTO: "auto", ToolChoice.ANY: "required", ToolChoice.NONE: "none"}
_SHORT_ID = re.compile(r"[a-zA-Z0-9]{9}")  # the strictest server's form (Mistral), which all others take


def to_params(request: ChatRequest, *, model: str, max_tokens: int, dialect: Dialect, images: bool) -> Json:
    """Return a request in the server's form. `images` False: pictures are left out, as the model would not see them."""
    request = replace(request, messages=shown_once(request.messages))
    params: Json = {"model": model, "messages": _to_messages(request, images=images)}
    if not dialect.thoughts:
        params["messages"] = [{k: v for k, v in turn.items() if k not in THOUGHTS} for turn in params["messages"]]
    if dialect.length_key:
        params[dialect.length_key] = max_tokens
    if request.tools and (dialect.forced_choice or request.tool_choice is not ToolChoice.NONE):
        params["tools"] = [to_tool(tool) for tool in request.tools]
        if dialect.forced_choice and request.tool_choice is not ToolChoice.AUTO:
            params["tool_choice"] = _CHOICES[request.tool_choice]
    if request.output_schema is not None:
        params["response_format"] = to_format(request.output_schema, strict=dialect.strict_schema)
    return params


def to_tool(tool: ToolDefinition) -> Json:
    described = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": described}


def to_format(schema: Mapping[str, object], *, strict: bool) -> Json:
    """`strict` holds a model to the schema; vendors take it only for schemas without optional parts."""
    described: Json = {"name": SCHEMA_NAME, "schema": dict(schema)}
    if strict and _is_closed(schema):
        described["strict"] = True
    return {"type": "json_schema", "json_schema": described}


def image_part(image: PageImage) -> Json:
    data = base64.b64encode(image.data).decode()
    return {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{data}"}}


def _to_messages(request: ChatRequest, *, images: bool) -> list[Json]:
    messages: list[Json] = []
    if system := request.system.strip():
        messages.append({"role": "system", "content": system})
    native_ids = {call["id"] for turn in request.messages for call in _native(turn).get("tool_calls", ())}
    every = [id(image) for turn in request.messages for result in turn.tool_results for image in result.images]
    shown = set(every[-MAX_IMAGES:]) if images else set()  # by identity of the objects
    for message in request.messages:
        for built in _build(message, native_ids, shown, tools=bool(request.tools)):
            _append(messages, built)
    return messages


def _append(messages: list[Json], built: Json) -> None:
    """Neighbours of one role become one message: templates of local models insist on taking turns."""
    last: Json = messages[-1] if messages else {"role": ""}
    plain = built["role"] != "tool" and set(last) == set(built) == {"role", "content"}
    if not plain or last["role"] != built["role"]:
        messages.append(built)
        return
    first, second = last["content"], built["content"]
    if isinstance(first, str) and isinstance(second, str):
        last["content"] = f"{first}\n\n{second}"
    else:
        last["content"] = [*_parts(first), *_parts(second)]


def _parts(content: str | list[Json]) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _build(message: ChatMessage, native_ids: set[str], shown: set[int], *, tools: bool) -> list[Json]:
    if message.role is ChatRole.ASSISTANT:
        return _assistant(message, native_ids, tools=tools)
    built: list[Json] = []
    if message.tool_results and tools:
        built += [
            {"role": "tool", "tool_call_id": _to_id(result.invocation_id, native_ids), "content": to_text(result)}
            for result in message.tool_results
        ]
    elif message.tool_results:
        texts = [f"Result of {result.name}:\n{to_text(result)}" for result in message.tool_results]
        built.append({"role": "user", "content": "\n\n".join(texts)})
    pictures: list[Json] = []  # parts of a user's turn behind the results, as the API takes none inside them
    for image in (image for result in message.tool_results for image in result.images if id(image) in shown):
        pictures += [{"type": "text", "text": f"Picture of {image.label}:"}, image_part(image)]
    if pictures:
        built.append({"role": "user", "content": pictures})
    if text := message.text.strip():
        built.append({"role": "user", "content": f"{message.speaker}: {text}" if message.speaker else text})
    return built


def _assistant(message: ChatMessage, native_ids: set[str], *, tools: bool) -> list[Json]:
    if tools and (native := _native(message)):
        return [native]
    text = message.text.strip()
    if not (tools and message.tool_invocations):
        return [{"role": "assistant", "content": text}] if text else []
    calls = [
        {
            "id": _to_id(call.id, native_ids),
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments), ensure_ascii=False)},
        }
        for call in message.tool_invocations
    ]
    return [{"role": "assistant", "content": text or None, "tool_calls": calls}]


def _native(message: ChatMessage) -> Json:
    return cast("Json", message.native) if isinstance(message.native, dict) else {}


def _to_id(invocation_id: str, native_ids: set[str]) -> str:
    """Return an id of this run as the server gave it; one of history in a form that every server takes."""
    if invocation_id in native_ids or _SHORT_ID.fullmatch(invocation_id):
        return invocation_id
    return hashlib.sha256(invocation_id.encode()).hexdigest()[:9]


def _is_closed(schema: object) -> bool:
    """Whether every object of a schema names all its properties as required and allows no others."""
    if isinstance(schema, list | tuple):
        return all(map(_is_closed, schema))
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties")
    if schema.get("type") == "object" or isinstance(properties, Mapping):
        named = set(properties) if isinstance(properties, Mapping) else set()
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != named:
            return False
    return all(map(_is_closed, schema.values()))


def to_text(result: ToolResult) -> str:
    """Return a tool's result: its text, then its passages; never empty, which servers refuse."""
    words = f"Error: {result.text.strip()}" if result.is_error else result.text.strip()
    before = ", ".join(f"[{item.number}]" for item in result.shown_before)
    parts = [words, *map(passage_text, result.passages), f"Found as well, and shown above: {before}" if before else ""]
    return "\n\n".join(part for part in parts if part) or "(nothing)"


def passage_text(item: NumberedPassage) -> str:
    """Return the passage between tags that a document can't close."""
    passage, document = item.source.passage, item.source.document
    places = [document.title or document.path, *(title for title, _ in groupby(passage.heading_path))]
    title = f"{' > '.join(places)}, p. {passage.page_number}".replace('"', "'").replace("\n", " ")
    text = passage.text.replace("</passage", "< /passage").replace("<passage", "< passage")
    return f'<passage number="{item.number}" title="{title}">\n{text.strip()}\n</passage>'
