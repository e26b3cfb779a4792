"""Asking a model about pieces of documents: one request a piece, at a rate, within a budget, each answer stored."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from core.domain.corpus import Document
from core.domain.extracts import ExtractorInput, ModelLimits, ModelReading, Piece, Spending
from core.errors import ContextOverflow, ProviderRefused
from core.ports import ChatProvider, Clock, CorpusRepository
from core.ports.documents import ExtractRepository, ModelExtractor, ReadingRepository
from core.service.rate_limit import RateGate
from storage.documents.extractors.llm_prompts import estimate_tokens, read_answer, to_request

# Errors that are the piece's own: others may go well, and this one would fail again.
_OF_PIECE = (ProviderRefused, ContextOverflow)


class OutOfBudget(Exception):
    """A request may cost more than is left; the text says of what, for people.

    `resume_at` is when there is more, where that is known.
    """

    def __init__(self, message: str, resume_at: datetime | None = None) -> None:
        super().__init__(message)
        self.resume_at = resume_at


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelParts:
    """What ModelExtracting is made of. `gate` is shared by all runs of a process; `pause` waits for some seconds."""

    corpus: CorpusRepository
    extracts: ExtractRepository
    readings: ReadingRepository
    extractors: Sequence[ModelExtractor]
    provider: ChatProvider
    limits: ModelLimits
    model: str | None  # None: the provider's default
    gate: RateGate
    clock: Clock
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep


class ModelReader:
    """Asks about what was not asked yet. `spent` is what that has cost so far."""

    def __init__(self, parts: ModelParts) -> None:
        self._parts = parts
        self.spent = Spending()

    async def read(
        self, given: ExtractorInput, pieces: Sequence[Piece], extractors: Sequence[ModelExtractor], *, force: bool
    ) -> None:
        """Ask about every piece that an extractor wants and has no reading of; with `force` about all of them.

        Raises OutOfBudget, and ProviderError for all but what is wrong with a single piece.
        """
        read = {
            (reading.piece, reading.extractor): reading.version
            for reading in await self._parts.readings.readings(given.document.id)
        }
        asked: set[tuple[str, str]] = set()
        for piece in pieces:
            wanted = [
                item
                for item in extractors
                if item.wants(piece.text)
                and (piece.key, item.name) not in asked
                and (force or read.get((piece.key, item.name)) != item.version)
            ]
            if wanted:
                await self._ask(given, piece, wanted)
                asked.update((piece.key, item.name) for item in wanted)

    async def _ask(self, given: ExtractorInput, piece: Piece, extractors: Sequence[ModelExtractor]) -> None:
        """One request, and its answer stored; where that is too long for one, half of the extractors at a time."""
        page = next(page for page in given.pages if page.number == piece.page_number)
        limits = self._parts.limits
        request = to_request(
            given.document, page, piece, extractors,
            model=self._parts.model, max_output_tokens=limits.max_output_tokens,
        )  # fmt: skip
        costs = estimate_tokens(request)
        await self._check_budget(costs)
        while wait := self._parts.gate.admit(""):
            await self._parts.pause(wait)
        try:
            response = await self._parts.provider.complete(request)
        except _OF_PIECE as error:
            errors = {item.name: str(error) for item in extractors}
            await self._save(given.document, piece, extractors, {}, errors, Spending(requests=1, tokens=costs))
            return
        answered = read_answer(response, extractors)
        spent = Spending(requests=1, tokens=response.usage.input_tokens + response.usage.output_tokens)
        if answered.is_cut and len(extractors) > 1:
            await self._save(given.document, piece, (), {}, {}, spent)
            half = len(extractors) // 2
            await self._ask(given, piece, extractors[:half])
            await self._ask(given, piece, extractors[half:])
            return
        await self._save(given.document, piece, extractors, answered.said, answered.errors, spent)

    async def _check_budget(self, costs: int) -> None:
        """Raises OutOfBudget where a request may cost more than is left."""
        limits, today = self._parts.limits, self._parts.clock.now().date()
        if self.spent.tokens + costs > limits.tokens_per_run:
            raise OutOfBudget(f"this run's budget of {limits.tokens_per_run:,} tokens is used up: the next one goes on")
        if (await self._parts.readings.spent(today)).tokens + costs > limits.tokens_per_day:
            midnight = datetime.combine(today + timedelta(days=1), time(), UTC)
            day = f"the day's budget of {limits.tokens_per_day:,} tokens is used up: it goes on after midnight UTC"
            raise OutOfBudget(day, midnight)

    async def _save(
        self,
        document: Document,
        piece: Piece,
        extractors: Sequence[ModelExtractor],
        said: Mapping[str, tuple[Mapping[str, object], ...]],
        errors: Mapping[str, str],
        spent: Spending,
    ) -> None:
        now = self._parts.clock.now()
        readings = [
            ModelReading(
                document_id=document.id,
                piece=piece.key,
                extractor=item.name,
                version=item.version,
                read_at=now,
                said=said.get(item.name, ()),
                error=errors.get(item.name),
            )
            for item in extractors
        ]
        self.spent += spent
        await self._parts.readings.save(readings, now.date(), spent)
