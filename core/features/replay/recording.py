"""Recordings of runs: the model's turns, the tools' results and the pages, collected by an observer and packed."""

import json
import logging
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from core.answering.run import RunObserver
from core.domain.answer import (
    Answer,
    Capabilities,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    ListedFacts,
    Reference,
    ToolInvocation,
    ToolResult,
    Usage,
)
from core.domain.conversation import IncomingMessage
from core.domain.corpus import Page
from core.domain.features import Cassette, RecordedCall, RecordedTools, RecordedTurn, StoredCassette
from core.errors import InvalidState
from core.ports import ChatProvider, Tools
from core.serializers.objects import answer_json
from core.text.words import shorten

_log = logging.getLogger(__name__)
QUESTION_CHARACTERS = 200
# Part of an answer that every run has of its own.
_OWN = ("conversation_id", "message_id", "jobs", "timings_ms")
# A packed cassette of some bytes may stand for gigabytes; none that we wrote comes near.
MOST_BYTES = 64 * 1024 * 1024


class Recording(RunObserver):
    """Collects one run and passes its cassette to `keep` after the answer is stored."""

    def __init__(self, keep: Callable[[str, Cassette], None]) -> None:
        self._keep = keep
        self._asked: tuple[IncomingMessage, tuple[ChatMessage, ...], Tools] | None = None
        self._strategy = ""
        self._provider: ChatProvider | None = None
        self._turns: list[RecordedTurn] = []
        self._opening: tuple[ChatMessage, ...] = ()
        self._problems: dict[str, str] = {}
        self._listed: ListedFacts | None = None
        self._calls: list[RecordedCall] = []
        self._pages: Mapping[str, Page] = {}
        self._direct: tuple[Reference, ...] = ()
        self._notes: tuple[str, ...] = ()

    def begin(self, question: IncomingMessage, history: Sequence[ChatMessage], tools: Tools) -> None:
        self._asked = (question, tuple(map(bare_message, history)), tools)

    def choose_strategy(self, name: str) -> None:
        """Turns over a provider that went away are dropped."""
        self._strategy = name
        self._turns.clear()

    def record_turn(self, provider: ChatProvider, request: ChatRequest, reply: ChatResponse) -> None:
        self._provider = provider
        self._turns.append(RecordedTurn(request=bare_request(request), reply=replace(reply, native=None)))

    def record_opening(self, turns: Sequence[ChatMessage]) -> None:
        self._opening = tuple(turns)

    def record_problem(self, invocation: ToolInvocation, problem: str) -> None:
        self._problems[invocation.id] = problem

    def record_facts(self, listed: ListedFacts | None) -> None:
        self._listed = listed

    def record_call(self, invocation: ToolInvocation, result: ToolResult) -> None:
        """Calls are in the order of their ends; replaying needs none."""
        self._calls.append(RecordedCall(invocation=invocation, result=replace(result, images=())))

    def record_proof(self, pages: Mapping[str, Page], direct: Sequence[Reference], notes: Sequence[str]) -> None:
        self._pages, self._direct, self._notes = dict(pages), tuple(direct), tuple(notes)

    def finish(self, message_id: str, answer: Answer) -> None:
        if self._asked is not None:
            self._keep(message_id, self._to_cassette(*self._asked, answer))

    def _to_cassette(
        self, question: IncomingMessage, history: tuple[ChatMessage, ...], tools: Tools, answer: Answer
    ) -> Cassette:
        return Cassette(
            strategy=self._strategy,
            provider=self._provider.name if self._provider else "",
            capabilities=self._provider.capabilities if self._provider else Capabilities(),
            question=question,
            history=history,
            tools=RecordedTools(
                definitions=tools.definitions,
                opening=self._opening,
                problems=dict(self._problems),
                listed=self._listed,
                calls=tuple(self._calls),
                evidence=tools.evidence,
            ),
            turns=tuple(self._turns),
            pages=self._pages,
            direct=self._direct,
            notes=self._notes,
            answer=replace(answer, jobs=(), timings_ms={}),
        )


def bare_request(request: ChatRequest) -> ChatRequest:
    """Return a request without vendors' own forms of earlier turns, and without page images."""
    return replace(request, messages=tuple(map(bare_message, request.messages)))


def bare_message(message: ChatMessage) -> ChatMessage:
    results = tuple(replace(result, images=()) for result in message.tool_results)
    return replace(message, native=None, tool_results=results)


def to_stored(message_id: str, cassette: Cassette, data: bytes, now: datetime) -> StoredCassette:
    passages = cassette.tools.evidence.passages.values()
    documents = {item.source.document.id for item in passages} | {page.document_id for page in cassette.pages.values()}
    return StoredCassette(
        message_id=message_id,
        workspace=cassette.question.address.workspace,
        question=shorten(cassette.question.text, QUESTION_CHARACTERS),
        recorded_at=now,
        document_ids=frozenset(documents),
        data=data,
    )


def pack(cassette: Cassette) -> bytes:
    """Halves of characters, which platforms and models may send, become "?". InvalidState for more than MOST_BYTES."""
    try:
        text = _adapter().dump_json(cassette)
    except PydanticSerializationError:
        shown = _adapter().dump_python(cassette, mode="json")
        text = json.dumps(shown, ensure_ascii=False).encode("utf-8", "replace")
    if len(text) > MOST_BYTES:
        raise InvalidState(f"This run is larger than {MOST_BYTES:,} bytes: it is not kept.")
    return zlib.compress(text, level=1)  # three times as fast as the default, for a fifth more bytes


def unpack(data: bytes) -> Cassette:
    """Return the cassette. InvalidState for data of another version."""
    opened = zlib.decompressobj()
    try:
        text = opened.decompress(data, MOST_BYTES)
        if opened.unconsumed_tail:
            raise InvalidState(f"This cassette is larger than {MOST_BYTES:,} bytes: it is not one of ours.")
        return _adapter().validate_json(text)
    except (zlib.error, ValidationError) as error:
        raise InvalidState(
            "This cassette was recorded by another version of Footnote and can no longer be read. Ask again."
        ) from error


def answer_bytes(answer: Answer) -> bytes:
    """Return the bytes that two runs must share: the answer object without IDs, times and jobs."""
    shown = answer_json(replace(answer, usage=Usage(), timings_ms={}))
    kept = {name: value for name, value in shown.items() if name not in _OWN}
    return json.dumps(kept, ensure_ascii=False, sort_keys=True, indent=1).encode("utf-8", "replace")


@cache
def _adapter() -> "TypeAdapter[Cassette]":
    """Made at the first use: it takes a tenth of a second."""
    return TypeAdapter(Cassette)
