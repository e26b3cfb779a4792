"""The server: routes, state, and the faults a script asks for."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from tests.anthropic_server.http import EventStream, HttpServer, Request, send_json
from tests.anthropic_server.messages import PromptCache, build_content, count_tokens, stop_reason_of, stream_blocks
from tests.anthropic_server.script import Break, Fault, Reply
from tests.anthropic_server.validation import BadRequest, validate

Json = dict[str, Any]
Step = Reply | Fault | Callable[[Json], Reply | Fault]  # a function decides on the request's body

KEY = "sk-ant-test-key"
MODEL = "claude-opus-5-5"
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class AnthropicServer(HttpServer):
    """`async with AnthropicServer() as server`, then `server.script(...)`; requests are kept in `server.requests`.

    Steps are used up in order by /v1/messages; with an empty script, `otherwise` answers.
    """

    def __init__(
        self, *, max_input_tokens: int = 200_000, max_tokens: int = 64_000, structured: bool | None = None
    ) -> None:
        """`structured`: whether models are said to reply by a schema; None: nothing is said of what they can do."""
        super().__init__()
        self.requests: list[Json] = []  # bodies of /v1/messages, valid or not
        self.usages: list[Json] = []  # of the messages that were made, as they are billed
        self.busy = asyncio.Event()  # set with the first request to /v1/messages
        self.models_fault: Fault | None = None
        self._structured = structured
        self._limits = {"max_input_tokens": max_input_tokens, "max_tokens": max_tokens}
        self.otherwise: Step = Reply.of("Understood.")  # when the script is used up
        self._steps: deque[Step] = deque()
        self.cache = PromptCache()
        self._blocks = 0

    def script(self, *steps: Step) -> None:
        self._steps.extend(steps)

    async def _route(self, request: Request, writer: asyncio.StreamWriter) -> None:
        if request.headers.get("authorization") != f"Bearer {KEY}":
            await self._fail(writer, Fault(401, "invalid bearer token"))
        elif request.method == "GET" and request.path.startswith("/v1/models/"):
            await self._model(request.path.rpartition("/")[2], writer)
        elif request.path == "/v1/messages/count_tokens":
            await send_json(writer, 200, {"input_tokens": count_tokens(request.json())})
        elif request.path == "/v1/messages":
            await self._message(request.json(), writer)
        else:
            await self._fail(writer, Fault(404, f"no such path: {request.path}"))

    async def _model(self, model: str, writer: asyncio.StreamWriter) -> None:
        if self.models_fault:
            await self._fail(writer, self.models_fault)
        elif model != MODEL:
            await self._fail(writer, Fault(404, f"model: {model}"))
        else:
            about = {"display_name": model, "created_at": "2026-01-01T00:00:00Z", "lifecycle": "active"}
            able = {"capabilities": {"structured_outputs": {"supported": self._structured}}}
            told = able if self._structured is not None else {}
            await send_json(writer, 200, {"type": "model", "id": model, **about, **self._limits, **told})

    async def _message(self, body: Json, writer: asyncio.StreamWriter) -> None:
        self.requests.append(body)
        self.busy.set()
        if (refusal := self._refusal(body)) is not None:
            await self._fail(writer, refusal)
            return
        step = self._steps.popleft() if self._steps else self.otherwise
        step = step(body) if callable(step) else step
        if isinstance(step, Fault):
            await self._fail(writer, step)
            return
        await asyncio.sleep(step.delay_seconds)
        message = self._build(step, body)
        if body.get("stream"):
            await self._stream(step, message, writer)
        else:
            await send_json(writer, 200, message)

    def _refusal(self, body: Json) -> Fault | None:
        try:
            validate(body)
        except BadRequest as error:
            return Fault(400, str(error))
        if body["model"] != MODEL:
            return Fault(404, f"model: {body['model']}")
        if body["max_tokens"] > self._limits["max_tokens"]:
            return Fault(400, f"max_tokens: {body['max_tokens']} > {self._limits['max_tokens']}, the model's maximum")
        tokens, limit = count_tokens(body), self._limits["max_input_tokens"]
        return Fault(400, f"prompt is too long: {tokens} tokens > {limit} maximum") if tokens > limit else None

    async def _fail(self, writer: asyncio.StreamWriter, fault: Fault) -> None:
        if fault.status < 0:
            await asyncio.sleep(3600)
        if fault.status == 0:
            writer.transport.abort()
            return
        kind = fault.type or ERROR_TYPES.get(fault.status, "api_error")
        error: Json = {"type": kind, "message": fault.message}
        if fault.error_code:
            error["details"] = {"error_code": fault.error_code}
        await send_json(writer, fault.status, fault.body or {"type": "error", "error": error}, fault.headers)

    def _build(self, reply: Reply, body: Json) -> Json:
        content = build_content(reply, body, self._blocks)
        self._blocks += len(content)
        self.usages.append({**self.cache.usage(body), "output_tokens": reply.output_tokens})
        return {
            "id": f"msg_{len(self.requests):04}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": stop_reason_of(reply),
            "stop_sequence": None,
            "stop_details": reply.stop_details,
            "usage": self.usages[-1],
        }

    async def _stream(self, reply: Reply, message: Json, writer: asyncio.StreamWriter) -> None:
        events = EventStream(writer)
        await events.start()
        if reply.breaks and reply.breaks_after < 0:
            await _break(reply, events, writer)
            return
        start = {**message, "content": [], "stop_reason": None, "stop_details": None}
        await events.send({"type": "message_start", "message": start})
        await events.send({"type": "ping"})
        for index, block in enumerate(stream_blocks(reply, message["content"])):
            if reply.breaks and index == reply.breaks_after:
                break
            for event in block:
                await asyncio.sleep(reply.gap_seconds)
                await events.send(event)
        if reply.breaks:
            await _break(reply, events, writer)
            return
        delta = {"stop_reason": message["stop_reason"], "stop_sequence": None, "stop_details": message["stop_details"]}
        usage = {"output_tokens": reply.output_tokens}
        await events.send({"type": "message_delta", "delta": delta, "usage": usage})
        await events.send({"type": "message_stop"})
        await events.end()


async def _break(reply: Reply, events: EventStream, writer: asyncio.StreamWriter) -> None:
    match reply.breaks:
        case Break.CUT:
            await events.end()
        case Break.DROP:
            await asyncio.sleep(0.01)  # lets what was sent arrive before the reset overtakes it
            writer.transport.abort()
        case Break.STALL:
            await asyncio.sleep(3600)
        case Break.PING:
            while True:
                await events.send({"type": "ping"})
                await asyncio.sleep(0.02)
        case Break.BAD_JSON:
            await events.send_raw('event: content_block_delta\ndata: {"type": "content_bl\n\n')
            await events.end()
        case Break.BAD_EVENT:
            await events.send({"type": "content_block_delta", "index": 99, "delta": {"type": "text_delta"}})
            await events.end()
        case _:
            error = {"type": reply.error_type, "message": "as the test asked"}
            await events.send({"type": "error", "error": error})
            await events.end()
