"""Responses from the chunks of a streamed reply. Pure.

Servers differ in the numbering of tool calls, in omitted fields and in the place of a model's thoughts. A call that
can't be parsed gets an error result, which explains the problem to the model.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.domain.chat import ToolInvocation
from core.domain.replies import ChatResponse, CitedText, StopReason, Usage
from core.errors import ProviderRefused

# The only argument of a call without a JSON object: no tool has it, so its name in the error explains the problem.
NO_JSON = "arguments_that_were_no_json_object"
NO_JSON_CHARACTERS = 200  # of them that are kept
# Fields with thoughts. Some vendors want them back with the results of the tools they led to.
THOUGHTS = ("reasoning_content", "reasoning", "reasoning_details")
_OPENINGS = ("<think>", "<thinking>")
_CLOSINGS = ("</think>", "</thinking>")

# The server's finish reason -> StopReason; other reasons, except a refusal, count as a normal end.
FINISHES: Mapping[str, StopReason] = {
    "stop": StopReason.END,
    "tool_calls": StopReason.TOOLS,
    "function_call": StopReason.TOOLS,
    "length": StopReason.MAX_TOKENS,
}


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: str = ""
    extra: dict[str, Any] = field(default_factory=dict)  # sent back with the call (thought signatures)


class ThoughtFilter:
    """Takes a block of thoughts off the beginning of streamed text: `<think>...</think>`."""

    def __init__(self) -> None:
        self._held = ""
        self._inside = False
        self._over = False

    def feed(self, piece: str) -> str:
        """Return the text that is certain to be answer."""
        if self._over:
            return piece
        self._held += piece
        if not self._inside:
            begun = self._held.lstrip()
            if opening := next((tag for tag in _OPENINGS if begun.startswith(tag)), None):
                self._inside, self._held = True, begun[len(opening) :]
            elif any(tag.startswith(begun) for tag in _OPENINGS):
                return ""
            else:
                return self._end(self._held)
        found = [(place, tag) for tag in _CLOSINGS if (place := self._held.find(tag)) >= 0]
        if not found:
            return ""
        place, tag = min(found)
        rest = self._held[place + len(tag) :].lstrip()
        if rest:
            return self._end(rest)
        self._held = _CLOSINGS[0]  # closed; white space may still follow
        return ""

    def flush(self) -> str:
        """Return the text held back, if it is no thought."""
        return "" if self._inside else self._end(self._held)

    def _end(self, text: str) -> str:
        self._over, self._held = True, ""
        return text


class ReplyBuilder:
    """Feed chunks in order; `finish` is None until the server has said why it stopped."""

    def __init__(self) -> None:
        self.finish: str | None = None
        self.model = ""
        self._texts: list[str] = []
        self._thoughts = ThoughtFilter()
        self._thought: dict[str, Any] = {}
        self._refusal = ""
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._usage: Any = None

    def add(self, chunk: Any) -> str:
        """Return the certain answer text after a chunk. Raises Python's errors for a chunk of a wrong shape."""
        self.model = getattr(chunk, "model", None) or self.model
        self._usage = getattr(chunk, "usage", None) or self._usage
        shown = ""
        for choice in (getattr(chunk, "choices", None) or [])[:1]:
            self.finish = getattr(choice, "finish_reason", None) or self.finish
            delta = getattr(choice, "delta", None)
            if delta is None:
                continue
            self._add_thoughts(delta)
            self._refusal += getattr(delta, "refusal", None) or ""
            for call in getattr(delta, "tool_calls", None) or ():
                self._add_call(call)
            shown += self._keep(self._thoughts.feed(_text(getattr(delta, "content", None))))
        return shown

    def end(self) -> str:
        """Return the last piece of text, at the stream's end."""
        return self._keep(self._thoughts.flush())

    def to_response(self, *, model: str, estimated_input: int) -> ChatResponse:
        """Return the whole reply. Raises ProviderRefused if the server or the model declined."""
        if self._refusal.strip() or self.finish == "content_filter":
            reason = self._refusal.strip()
            raise ProviderRefused(f"The model declined to answer{f': {reason}' if reason else '.'}")
        text = _after_lone_closing("".join(self._texts))
        stop = FINISHES.get(self.finish or "", StopReason.END)
        invocations = () if stop is StopReason.MAX_TOKENS else self._invocations()
        if stop is not StopReason.MAX_TOKENS:
            stop = StopReason.TOOLS if invocations else StopReason.END
        return ChatResponse(
            segments=(CitedText(text=text),) if text else (),
            tool_invocations=invocations,
            stop_reason=stop,
            usage=to_usage(self._usage) if self._usage else self._estimated(text, estimated_input),
            model=self.model or model,
            native=self._native(text, invocations),
        )

    def _keep(self, text: str) -> str:
        self._texts.append(text)
        return text

    def _add_thoughts(self, delta: Any) -> None:
        for name in THOUGHTS:
            piece = getattr(delta, name, None)
            if isinstance(piece, str | list) and piece:
                empty: str | list[Any] = "" if isinstance(piece, str) else []
                self._thought[name] = self._thought.get(name, empty) + piece

    def _add_call(self, delta: Any) -> None:
        function = getattr(delta, "function", None)
        name, arguments = getattr(function, "name", None) or "", getattr(function, "arguments", None)
        call = self._call_for(getattr(delta, "index", None), getattr(delta, "id", None) or "", name)
        call.name = call.name or name
        call.arguments += arguments if isinstance(arguments, str) else json.dumps(arguments) if arguments else ""
        call.extra.update(getattr(delta, "model_extra", None) or {})

    def _call_for(self, index: int | None, call_id: str, name: str) -> _Call:
        """Return the call of a piece: a new one at a new place, under a new id, or named when the last is complete."""
        known = self._by_index.get(index) if index is not None else (self._calls[-1] if self._calls else None)
        is_new = (
            known is None
            or (call_id and known.id and call_id != known.id)
            or (name and not call_id and known.arguments.strip() and _objects(known.arguments))
        )
        if is_new:
            known = _Call(id=call_id)
            self._calls.append(known)
        assert known is not None  # nosec B101  # noqa: S101 - for the type checker: a missing one is new
        known.id = known.id or call_id
        if index is not None:
            self._by_index[index] = known
        return known

    def _invocations(self) -> tuple[ToolInvocation, ...]:
        """Return a call for each JSON object: some servers join the arguments of several calls."""
        invocations: list[ToolInvocation] = []
        for call in self._calls:
            objects = _objects(call.arguments) or [{NO_JSON: call.arguments[:NO_JSON_CHARACTERS]}]
            for number, arguments in enumerate(objects):
                call_id = call.id if number == 0 else f"{call.id}-{number}"
                invocations.append(ToolInvocation(id=call_id, name=call.name, arguments=arguments))
        return tuple(invocations)

    def _native(self, text: str, invocations: tuple[ToolInvocation, ...]) -> dict[str, Any] | None:
        """Return the turn with the vendor's extra fields; None if our own types hold everything."""
        if not invocations or not (self._thought or any(call.extra for call in self._calls)):
            return None
        if len(invocations) != len(self._calls):
            return None
        calls = [
            {
                **call.extra,
                "id": item.id,
                "type": "function",
                "function": {"name": item.name, "arguments": json.dumps(dict(item.arguments), ensure_ascii=False)},
            }
            for call, item in zip(self._calls, invocations, strict=True)
        ]
        return {"role": "assistant", "content": text or None, "tool_calls": calls, **self._thought}

    def _estimated(self, text: str, input_tokens: int) -> Usage:
        """Return estimated usage for servers that report none: token limits apply there, too."""
        said = text + "".join(call.arguments for call in self._calls) + str(self._thought or "")
        return Usage(input_tokens=input_tokens, output_tokens=estimate(said))


def estimate(text: str) -> int:
    """Return the approximate tokens of a text: four bytes of UTF-8 each, rounded up."""
    return -(-len(text.encode()) // 4)


def to_usage(usage: Any) -> Usage:
    """Tokens; cached ones are part of the prompt's, thoughts part of the output where only the total counts them."""
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    details = getattr(usage, "prompt_tokens_details", None)
    cached = _count(details, "cached_tokens") or _count(usage, "prompt_cache_hit_tokens")
    return Usage(
        input_tokens=prompt,
        output_tokens=max(completion, _count(usage, "total_tokens") - prompt),
        cache_read_tokens=min(cached, prompt),
        cache_write_tokens=_count(details, "cache_write_tokens"),
    )


def _count(holder: Any, name: str) -> int:
    value = holder.get(name) if isinstance(holder, dict) else getattr(holder, name, None)
    return max(0, int(value)) if isinstance(value, int | float) else 0


def _text(content: Any) -> str:
    """Return a delta's text; some servers send parts instead, thoughts among them."""
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if isinstance(part, dict) and "text" in part)
    return content if isinstance(content, str) else ""


def _after_lone_closing(text: str) -> str:
    """Return the text without thoughts that have only a closing tag: their opening tag was in the server's prompt."""
    for tag in _CLOSINGS:
        before, closed, after = text.partition(tag)
        if closed and not any(opening in before for opening in _OPENINGS):
            return after.lstrip()
    return text


def _objects(text: str) -> list[dict[str, Any]] | None:
    """Return the JSON objects in a text, one after the other; None when it holds anything else."""
    if not text.strip():
        return [{}]
    decoder, place = json.JSONDecoder(), 0
    found: list[dict[str, Any]] = []
    while place < len(text):
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return None
        if isinstance(value, str) and not found:  # encoded twice
            return _objects(value) if value.strip().startswith("{") else None
        if not isinstance(value, dict):
            return None
        found.append(value)
        place = end + len(text[end:]) - len(text[end:].lstrip())
    return found
