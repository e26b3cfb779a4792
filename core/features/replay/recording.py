"""Recordings of runs: the model's turns, the tools' results and the pages, collected by an observer and packed."""

import asyncio
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
from core.domain.answer import Answer, ListedFacts, Reference
from core.domain.chat import Capabilities, ChatMessage, ChatRequest, ToolInvocation, ToolResult
from core.domain.corpus import Page
from core.domain.features import Cassette, RecordedCall, RecordedTools, RecordedTurn, StoredCassette
from core.domain.incoming import IncomingMessage
from core.domain.replies import ChatResponse
from core.domain.support import Judgement
from core.errors import InvalidState
from core.ports import ChatProvider, Clock, Tools
from core.ports.service import CassetteRepository
from core.text.words import shorten

_log = logging.getLogger(__name__)
QUESTION_CHARACTERS = 200
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
        self._judgements: list[Judgement] = []
        self._opinion = "off"

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

    def record_judgement(self, judgement: Judgement) -> None:
        self._judgements.append(judgement)

    def record_opinion(self, sentences: str) -> None:
        self._opinion = sentences

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
                background=tools.background,
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
            judgements=tuple(self._judgements),
            opinion=self._opinion,
            answer=replace(answer, jobs=(), timings_ms={}),
        )


class RunStore:
    """Keeps recorded runs in the background, because packing takes some milliseconds."""

    def __init__(self, repository: CassetteRepository, clock: Clock) -> None:
        self._repository = repository
        self._clock = clock
        self._keeping: set[asyncio.Task[None]] = set()

    def keep(self, message_id: str, cassette: Cassette) -> None:
        """Store the run behind an answer.

        A run that can't be stored, or that a kill interrupts, is missing later; its answer is unaffected.
        """
        task = asyncio.create_task(self._keep(message_id, cassette))
        self._keeping.add(task)
        task.add_done_callback(self._keeping.discard)

    async def settled(self) -> None:
        """Wait until all runs submitted so far are stored. Cancelling this doesn't cancel the writes."""
        if self._keeping:
            await asyncio.wait(set(self._keeping))

    async def _keep(self, message_id: str, cassette: Cassette) -> None:
        try:
            # packing long pages takes a while: keep the event loop free
            data = await asyncio.to_thread(pack, cassette)
            await self._repository.save(to_stored(message_id, cassette, data, self._clock.now()))
        except Exception:  # the answer is already posted, so no fault of its recording may surface
            _log.warning("the run behind answer %s was not kept", message_id, exc_info=True)


def bare_request(request: ChatRequest) -> ChatRequest:
    """Return a request without vendors' own forms of earlier turns, and without page images."""
    return replace(request, messages=tuple(map(bare_message, request.messages)))


def bare_message(message: ChatMessage) -> ChatMessage:
    results = tuple(replace(result, images=()) for result in message.tool_results)
    return replace(message, native=None, tool_results=results)


def to_stored(message_id: str, cassette: Cassette, data: bytes, now: datetime) -> StoredCassette:
    passages = cassette.tools.evidence.passages.values()
    documents = {item.source.document.id for item in passages} | {page.document_id for page in cassette.pages.values()}
    if (basis := cassette.answer.rests_on) is not None:  # earlier answers in the history rest on others
        documents.update(basis.documents)
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


@cache
def _adapter() -> "TypeAdapter[Cassette]":
    """Made at the first use: it takes a tenth of a second."""
    return TypeAdapter(Cassette)
