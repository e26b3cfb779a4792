"""The server: routes, state, and the faults a script asks for."""

import asyncio
import json
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.anthropic_server.http import EventStream, HttpServer, Request, send_json
from tests.openai_server.script import Break, Call, Fault, Numbering, Reply, Say, Think
from tests.openai_server.validation import BadRequest, validate

Json = dict[str, Any]
Step = Reply | Fault | Callable[[Json], Reply | Fault]  # a function decides on the request's body

KEY = "sk-test-key"
MODEL = "mill-7b"
_PASSAGE = re.compile(r'<passage number="(\d+)"[^\n]*>\n(.*?)\n</passage>', re.DOTALL)
# As strategies write them into a question, for models without tools.
_PLAIN_PASSAGE = re.compile(r"^\[(\d+)\] [^\n]*:\n(.*?)(?=\n\n\[\d+\] |\n\nQuestion: |\Z)", re.DOTALL | re.MULTILINE)
_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded", 500: "server_error"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What a server is like. Its refusals are Ollama's, vLLM's and OpenAI's own words."""

    key: str | None = KEY  # None: it knows no keys, and a request that brings one is told so
    tools: bool = True
    structured: bool = True
    images: bool = True  # without: a refusal
    blind: bool = False  # takes pictures and does not see them
    usage: bool = True  # without: stream_options are ignored
    stream_options: bool = True  # without: they are refused
    length_key: str = "max_tokens"  # the other one is refused
    forced_choice: bool = True
    window: int | None = 16_384  # what /models/{model} tells


class OpenAIServer(HttpServer):
    """`async with OpenAIServer() as server`, then `server.script(...)`; streamed requests are kept in `requests`.

    Steps are used up in order; an empty script answers "Understood.".
    """

    base = "/v1"

    def __init__(self, kind: Kind | None = None) -> None:
        self.kind = kind or Kind()
        super().__init__()
        self.requests: list[Json] = []  # bodies of streamed requests, valid or not
        self.probes: list[Json] = []  # of the others
        self.busy = asyncio.Event()  # set with the first streamed request
        self.down: Fault | None = None  # the answer to everything
        self._steps: deque[Step] = deque()
        self._calls = 0
        self._read: set[str] = set()  # prompts whose prefix is in the cache

    def script(self, *steps: Step) -> None:
        self._steps.extend(steps)

    async def _route(self, request: Request, writer: asyncio.StreamWriter) -> None:
        wanted = f"Bearer {self.kind.key}" if self.kind.key else None
        if self.down is not None:
            await _fail(writer, self.down)
        elif request.headers.get("authorization") != wanted:
            await _fail(writer, Fault(401, "Incorrect API key provided."))
        elif request.method == "GET" and request.path.startswith("/v1/models/"):
            await self._model(writer)
        elif request.path == "/v1/chat/completions":
            body = request.json()
            await (self._stream(body, writer) if body.get("stream") else self._probe(body, writer))
        else:
            await _fail(writer, Fault(404, f"no such path: {request.path}"))

    async def _model(self, writer: asyncio.StreamWriter) -> None:
        if self.kind.window is None:
            await _fail(writer, Fault(404, "404 page not found", body="404 page not found"))
        else:
            about = {"id": MODEL, "object": "model", "created": 1, "owned_by": "mill"}
            await send_json(writer, 200, {**about, "max_model_len": self.kind.window})

    async def _probe(self, body: Json, writer: asyncio.StreamWriter) -> None:
        self.probes.append(body)
        if (refusal := self._refusal(body)) is not None:
            await _fail(writer, refusal)
            return
        said = "OK"
        if "response_format" in body:
            said = '{"word": "OK"}' if self.kind.structured else "Sure! The word is OK."
        elif _pictures(body):
            said = "Blue, perhaps." if self.kind.blind else "Red."
        choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        await send_json(writer, 200, {**_head("chat.completion"), "choices": [choice]})

    async def _stream(self, body: Json, writer: asyncio.StreamWriter) -> None:
        self.requests.append(body)
        self.busy.set()
        if (refusal := self._refusal(body)) is not None:
            await _fail(writer, refusal)
            return
        step = self._steps.popleft() if self._steps else Reply.of("Understood.")
        step = step(body) if callable(step) else step
        if isinstance(step, Fault):
            await _fail(writer, step)
            return
        events = EventStream(writer)
        await events.start()
        for place, delta in enumerate([{"role": "assistant", "content": ""}, *self._deltas(step, body)]):
            if step.breaks and place == step.breaks_after + 1:
                break
            await asyncio.sleep(step.gap_seconds)
            await _send(events, {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        if step.breaks:
            await _break(step, events, writer)
            return
        called = any(isinstance(part, Call) for part in step.parts)
        finish = step.finish or ("tool_calls" if called else "stop")
        await _send(events, {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        if self.kind.usage and body.get("stream_options", {}).get("include_usage"):
            await _send(events, {"choices": [], "usage": self._usage(step, body)})
        await events.send_raw("data: [DONE]\n\n")
        await events.end()

    def _refusal(self, body: Json) -> Fault | None:
        kind = self.kind
        other = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}[kind.length_key]
        if body["model"] != MODEL:
            return Fault(404, f"The model `{body['model']}` does not exist.")
        if other in body:
            said = (
                f"Unsupported parameter: '{other}' is not supported with this model. Use '{kind.length_key}' instead."
            )
            return Fault(400, said, type="invalid_request_error")
        if not kind.stream_options and "stream_options" in body:
            return Fault(422, "stream_options: Extra inputs are not permitted")
        tool_turns = any(message["role"] == "tool" or message.get("tool_calls") for message in body["messages"])
        if not kind.tools and ("tools" in body or tool_turns):
            return Fault(400, f"registry.ollama.ai/library/{MODEL} does not support tools", type="api_error")
        if not kind.forced_choice and body.get("tool_choice", "auto") != "auto":
            return Fault(400, f"tool_choice {body['tool_choice']!r} is not supported")
        if not kind.images and _pictures(body):
            return Fault(500, "image input is not supported - hint: you may need to provide the mmproj")
        try:
            validate(body)
        except BadRequest as error:
            return Fault(400, str(error), type="invalid_request_error")
        tokens = len(json.dumps(body["messages"])) // 4
        if kind.window and tokens > kind.window:
            said = (
                f"This model's maximum context length is {kind.window} tokens. However, you requested {tokens} tokens."
            )
            return Fault(400, said, code="context_length_exceeded")
        return None

    def _usage(self, reply: Reply, body: Json) -> Json:
        """Counts by characters; what an earlier request began with is cached."""
        texts = [json.dumps(message) for message in body["messages"]]
        prefixes = ["\x1f".join(texts[:end]) for end in range(len(texts) + 1)]
        cached = max((len(prefix) for prefix in prefixes if prefix in self._read), default=0) // 4
        self._read.update(prefixes[1:])
        prompt = len(prefixes[-1]) // 4
        return {
            "prompt_tokens": prompt,
            "completion_tokens": reply.output_tokens,
            "total_tokens": prompt + reply.output_tokens,
            "prompt_tokens_details": {"cached_tokens": cached},
        }

    def _deltas(self, reply: Reply, body: Json) -> Iterator[Json]:
        place = 0
        for part in reply.parts:
            match part:
                case Think(text, "<think>"):
                    yield from ({"content": piece} for piece in re.findall(r".{1,5}", f"<think>{text}</think>\n", re.S))
                case Think():
                    yield {part.place: part.text}
                case Say():
                    marks = "".join(f"[{_number(quote, body)}]" for quote in part.cites)
                    pieces = part.pieces or re.findall(r"\S+\s*|\s+", part.text + marks)
                    yield from ({"content": piece} for piece in pieces)
                case Call():
                    yield from self._call_deltas(part, place, reply.numbering)
                    place += 1
        if reply.refusal:
            yield {"refusal": reply.refusal}

    def _call_deltas(self, call: Call, place: int, numbering: Numbering) -> Iterator[Json]:
        self._calls += 1
        text = call.raw if call.raw is not None else json.dumps(dict(call.arguments))
        call_id = f"call_{self._calls:04}" if call.id is None else call.id
        half = len(text) // 2
        first: Json = {"index": place, "id": call_id, "type": "function", **call.extra}
        rest: Json = {"index": place}
        if numbering is not Numbering.GOOD:
            first["index"] = rest["index"] = 0
        if numbering is Numbering.NONE:
            del first["index"], rest["index"]
        if numbering is Numbering.RUN_TOGETHER:
            del first["id"]
        name = {"name": call.name} if place == 0 or numbering is not Numbering.RUN_TOGETHER else {}
        yield {"tool_calls": [{**first, "function": {**name, "arguments": text[:half]}}]}
        yield {"tool_calls": [{**rest, "function": {"arguments": text[half:]}}]}


def passages(body: Json) -> dict[int, str]:
    """The passages a request shows, by number."""
    text = "\n".join(_texts(message) for message in body["messages"])
    return {int(number): said for shape in (_PASSAGE, _PLAIN_PASSAGE) for number, said in shape.findall(text)}


def _number(quote: str, body: Json) -> int:
    found = next((number for number, said in passages(body).items() if quote in said), None)
    assert found is not None, f"the script cites {quote!r}, which no passage of the request holds"
    return found


def _texts(message: Json) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def _pictures(body: Json) -> list[Json]:
    contents = [message["content"] for message in body["messages"] if isinstance(message.get("content"), list)]
    return [part for content in contents for part in content if part["type"] == "image_url"]


def _head(kind: str) -> Json:
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": f"{MODEL}-q4"}


async def _send(events: EventStream, chunk: Json) -> None:
    await events.send_raw(f"data: {json.dumps({**_head('chat.completion.chunk'), **chunk})}\n\n")


async def _fail(writer: asyncio.StreamWriter, fault: Fault) -> None:
    if fault.status < 0:
        await asyncio.sleep(3600)
    if fault.status == 0:
        writer.transport.abort()
        return
    error = {"message": fault.message, "type": fault.type, "code": fault.code or _CODES.get(fault.status)}
    await send_json(writer, fault.status, fault.body or {"error": error}, fault.headers)


async def _break(reply: Reply, events: EventStream, writer: asyncio.StreamWriter) -> None:
    match reply.breaks:
        case Break.CUT:
            await events.end()
        case Break.DROP:
            await asyncio.sleep(0.01)  # lets what was sent arrive before the reset overtakes it
            writer.transport.abort()
        case Break.STALL:
            await asyncio.sleep(3600)
        case Break.COMMENTS:
            while True:
                await events.send_raw(": PROCESSING\n\n")
                await asyncio.sleep(0.02)
        case Break.BAD_JSON:
            await events.send_raw('data: {"choices": [{"del\n\n')
            await events.end()
        case Break.BAD_CHUNK:
            await _send(events, {"choices": [{"index": 0, "delta": {"tool_calls": 5}}]})
            await events.end()
        case _:
            await events.send_raw(f"data: {json.dumps({'error': reply.error})}\n\n")
            await events.end()
