"""Counting of model calls: reserved before, settled after, charged to the account of the step that makes them.

A call that can't be reserved isn't made: budgets fail closed.
"""

import asyncio
import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.domain.chat import Capabilities, ChatRequest
from core.domain.incoming import IncomingMessage
from core.domain.replies import ChatResponse, Usage
from core.domain.spending import (
    BYTES_PER_TOKEN,
    Account,
    CallPurpose,
    DayBudget,
    Price,
    Reservation,
    Spent,
    Tally,
    most_input_tokens,
)
from core.errors import BudgetSpent, ProviderError, StorageError
from core.ports import ChatProvider, CheckedProvider, LearningProvider, ModelCatalogue
from core.ports.spending import SpendingStore
from core.work.steps import NO_STEPS, Step, pass_on

log = logging.getLogger(__name__)


def account_of(question: IncomingMessage) -> Account:
    """Return the account of a question."""
    address = question.address
    return Account(
        workspace=address.workspace,
        channel=f"{address.platform}:{address.channel}",
        person=f"{address.platform}:{question.author}",
        answer=question.message_key or question.event_key,
        purpose=CallPurpose.ANSWER,
        tally=Tally(),
    )


def cost_output(spent: Spent) -> dict[str, object]:
    """Return the cost of a job's model calls, for its output; empty without any call."""
    unpriced = {"calls_without_price": spent.unpriced} if spent.unpriced else {}
    known = {"cost_dollars": spent.dollars} if spent.calls > spent.unpriced else {}
    return {**known, **unpriced}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """The ledger of model calls."""

    store: SpendingStore
    prices: Mapping[str, Price]  # by model
    budgets: Sequence[DayBudget] = ()

    async def reserve(
        self, account: Account, model: str, input_tokens: int, output_tokens: int, seconds: float
    ) -> Reservation:
        """Reserve the most that a call may take, for so many seconds.

        Raises BudgetSpent if it doesn't fit, and for a model without a price where a budget is in dollars.
        """
        price = self.prices.get(model)
        if price is None and any(budget.micros for budget in self.budgets):
            raise BudgetSpent(
                f"The price of {model!r} isn't known, so the budget in dollars can't be kept. Ask an admin to add "
                f'[prices."{model}"] to the configuration.'
            )
        reservation = Reservation(
            id=uuid.uuid4().hex,
            account=account,
            model=model,
            tokens=input_tokens + output_tokens,
            micros=price.most(input_tokens, output_tokens) if price else None,
        )
        budgets = [budget for budget in self.budgets if budget.holds_for(account)]
        spent = await self.store.reserve(reservation, budgets, seconds)
        if spent is not None:
            raise BudgetSpent(spent.sentence)
        return reservation

    async def settle(self, reservation: Reservation, usage: Usage | None) -> int | None:
        """Replace a reservation by the call's tokens; None: it took none. Return the cost, None if unknown."""
        price = self.prices.get(reservation.model)
        micros = price.cost(usage) if price and usage else None
        try:
            await self.store.settle(reservation.id, usage, micros)
        except StorageError as error:  # it counts in full until its lease ends; the answer is there
            log.warning("The cost of a call of %s was not stored: %s", reservation.model, error)
        if usage is not None:
            reservation.account.spent.add(usage, micros)
        return micros


class MeteredProvider:
    """A ChatProvider whose calls are counted."""

    def __init__(
        self, provider: ChatProvider, spending: Spending, *, model: str, max_output_tokens: int, seconds: float
    ) -> None:
        """`model` and `max_output_tokens` hold for requests that name no other; `seconds`: longest time of a call."""
        self._provider = provider
        self._spending = spending
        self._model = model
        self._max_output_tokens = max_output_tokens
        self._seconds = seconds

    @property
    def name(self) -> str:
        return self._provider.name

    @property
    def capabilities(self) -> Capabilities:
        return self._provider.capabilities

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        """See ChatProvider. Raises BudgetSpent before a call that may exceed a budget."""
        return await self.complete_below(NO_STEPS, request, on_text)

    async def complete_below(
        self, parent: Step, request: ChatRequest, on_text: Callable[[str], None] | None = None
    ) -> ChatResponse:
        """See RecordedProvider. Raises BudgetSpent before a call that may exceed a budget."""
        most_input = most_input_tokens(request)
        most_output = request.max_output_tokens or self._max_output_tokens
        model = request.model or self._model
        reservation = await self._spending.reserve(parent.account, model, most_input, most_output, self._seconds)
        heard = _Heard(on_text)
        try:
            response = await pass_on(self._provider, request, parent, heard if on_text else None)
        except ProviderError:
            is_begun = heard.bytes > 0
            await self._end(reservation, heard.estimate(most_input, most_output) if is_begun else None)
            raise
        except BaseException:  # cut off: the vendor has read the prompt, and may have written anything
            await self._end(reservation, heard.estimate(most_input, most_output))
            raise
        micros = await self._end(reservation, response.usage)
        return replace(response, cost_micros=micros)

    async def check(self) -> None:
        """See CheckedProvider."""
        if isinstance(self._provider, CheckedProvider):
            await self._provider.check()

    async def check_model(self, model: str) -> None:
        """See ModelCatalogue."""
        if isinstance(self._provider, ModelCatalogue):
            await self._provider.check_model(model)

    async def close(self) -> None:
        await self._provider.close()

    async def _end(self, reservation: Reservation, usage: Usage | None) -> int | None:
        return await asyncio.shield(self._spending.settle(reservation, usage))


class MeteredLearningProvider(MeteredProvider):
    """The same over a LearningProvider."""

    async def learn(self) -> Capabilities:
        """See LearningProvider."""
        provider = self._provider
        return await provider.learn() if isinstance(provider, LearningProvider) else provider.capabilities


class _Heard:
    """Passes text on, and counts it for a call that is cut off."""

    def __init__(self, on_text: Callable[[str], None] | None) -> None:
        self._on_text = on_text
        self.bytes = 0

    def __call__(self, piece: str) -> None:
        self.bytes += len(piece.encode("utf-8", "replace"))
        if self._on_text is not None:
            self._on_text(piece)

    def estimate(self, most_input: int, most_output: int) -> Usage:
        """Return the most tokens that were read and written, as far as known."""
        written = min(most_output, self.bytes // BYTES_PER_TOKEN + 1) if self.bytes else most_output
        return Usage(input_tokens=most_input, output_tokens=written)
