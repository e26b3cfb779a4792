"""Model calls: counted for the account of the step that makes them, and refused before a budget is exceeded."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import date

import pytest

from core.domain.chat import ChatMessage, ChatRequest, ChatRole
from core.domain.jobs import JobKind
from core.domain.replies import ChatResponse, CitedText, Usage
from core.domain.spending import Account, BudgetScope, CallPurpose, DayBudget, Price, Spent
from core.errors import BudgetSpent, ProviderOverloaded
from core.work.spending import MeteredProvider, Spending, cost_output
from core.work.steps import NO_STEPS, Step, complete
from storage.database.repositories.spending import SqlSpendingStore
from tests.fakes import ManualClock
from tests.scripted import ScriptedProvider, Turn, says
from tests.stores import InMemoryDatabase

LONG_AGO = date(2000, 1, 1)
PRICE = Price(input=1, output=10, cache_read=0, cache_write=1)
REQUEST = ChatRequest(system="", messages=(ChatMessage(role=ChatRole.USER, text="x" * 198),), max_output_tokens=50)
REPLY = ChatResponse(segments=(CitedText(text="Yes."),), usage=Usage(input_tokens=60, output_tokens=4))
ADA = Account(workspace="local", channel="discord:c", person="discord:ada", answer="q", purpose=CallPurpose.ANSWER)

ADA_ASKS = NO_STEPS.charged(ADA)


class Counted:
    def __init__(self, *script: Turn, model: str = "known", provider: object = None, **limits: int) -> None:
        self.store = SqlSpendingStore(InMemoryDatabase(), ManualClock())
        budgets = [DayBudget(scope=BudgetScope.PERSON, **limits)]
        self.spending = Spending(store=self.store, prices={"known": PRICE}, budgets=budgets)
        self.inner = provider or ScriptedProvider(script)
        self.provider = MeteredProvider(self.inner, self.spending, model=model, max_output_tokens=9, seconds=60)

    async def ask(self, step: Step = ADA_ASKS, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        return await complete(self.provider, REQUEST, step, on_text)

    async def total(self) -> Spent:
        return (await self.store.report(None, LONG_AGO)).total


async def test_a_call_is_charged_to_the_account_of_its_step_and_of_the_steps_below_it() -> None:
    counted = Counted(REPLY, REPLY, REPLY)
    account = replace(ADA, spent=Spent())
    async with NO_STEPS.charged(account) as question:
        assert (await counted.ask(question)).cost_micros == 100
        async with question.step(JobKind.TOOL, "read a section") as section:
            await counted.ask(section.charged_for(CallPurpose.SECTION))
    await counted.provider.complete(REQUEST)
    lines = (await counted.store.report(None, LONG_AGO)).lines
    assert sorted((line.person, line.purpose.value, line.spent.micros) for line in lines) == [
        ("", "other", 100), ("discord:ada", "answer", 100), ("discord:ada", "section", 100),
    ]  # fmt: skip
    assert (account.spent.calls, account.spent.micros) == (2, 200)
    assert cost_output(account.spent) == {"cost_dollars": 0.0002}


async def test_a_call_that_might_exceed_the_budget_is_not_made() -> None:
    counted = Counted(REPLY, REPLY, REPLY, micros=1000)
    for _ in range(2):  # each reserves more than 600 at first, and takes 100
        await counted.ask()
    small = Counted(REPLY, micros=500)
    with pytest.raises(BudgetSpent, match=r"^Your budget for the language model is spent for today\. Ask again"):
        await small.ask()
    assert small.inner.requests == []
    assert (await small.total()).calls == 0


async def test_a_model_without_a_price_counts_tokens_and_is_refused_where_money_is_limited() -> None:
    unknown = Counted(REPLY, model="unknown", tokens=1000)
    account = replace(ADA, spent=Spent())
    assert (await unknown.ask(NO_STEPS.charged(account))).cost_micros is None
    assert ((await unknown.total()).tokens, (await unknown.total()).unpriced) == (64, 1)
    assert cost_output(account.spent) == {"calls_without_price": 1}
    limited = Counted(REPLY, model="unknown", micros=10**9)
    with pytest.raises(BudgetSpent, match=r"The price of 'unknown' isn't known.*\[prices\.\"unknown\"\]"):
        await limited.ask()


async def test_a_failed_call_is_not_counted() -> None:
    counted = Counted(ProviderOverloaded("busy"))
    with pytest.raises(ProviderOverloaded):
        await counted.ask()
    assert (await counted.total()).calls == 0


async def test_a_call_that_is_cut_off_counts_what_it_may_have_taken() -> None:
    class Slow(ScriptedProvider):
        async def complete(self, request, on_text=None):
            if on_text is not None:
                on_text("x" * 20)
            begun.set()
            await asyncio.Event().wait()
            return says("never")

    for on_text, written in ((None, 50), (lambda piece: None, 11)):
        begun = asyncio.Event()
        counted = Counted(provider=Slow(()))
        call = asyncio.create_task(counted.ask(on_text=on_text))
        await begun.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        total = await counted.total()
        assert (total.calls, total.tokens >= 99 + written) == (1, True)


async def test_two_calls_at_once_do_not_share_the_same_room() -> None:
    counted = Counted(REPLY, REPLY, micros=900)
    done = await asyncio.gather(*(counted.ask() for _ in range(2)), return_exceptions=True)
    assert sorted(type(item).__name__ for item in done) in (["BudgetSpent", "ChatResponse"], ["ChatResponse"] * 2)
    assert (await counted.total()).micros <= 900
