"""Questions whose model calls are counted, and questions after the budget of the day is spent."""

from dataclasses import replace
from datetime import date

import pytest
from sqlalchemy import text

from core.answering.run import Budget
from core.answering.strategies.choosing import SPENT, Strategies
from core.domain.answer import AnswerStatus
from core.domain.chat import Capabilities
from core.domain.jobs import JobKind
from core.domain.replies import Usage
from core.domain.spending import BudgetScope, CallPurpose, DayBudget, Price
from core.work.spending import MeteredProvider, Spending
from storage.database.repositories.spending import SqlSpendingStore
from tests.fakes import ManualClock
from tests.scripted import ScriptedProvider, says
from tests.stores import Stores
from tests.unit.core.answering.test_service import SEARCH, Desk
from tests.unit.core.library_builder import Shelf

KEY = "The key hangs under the stairs."
USAGE = Usage(input_tokens=1000, output_tokens=10)
SCRIPT = (replace(SEARCH, usage=USAGE), replace(says(f"{KEY[:-1]} [1]."), usage=USAGE))
ANSWER = says(f"{KEY[:-1]} [1].")
LONG_AGO = date(2000, 1, 1)


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("house.md", f"# Keys\n\n{KEY}", title="House")
    return shelf


class BudgetDesk(Desk):
    """A desk whose provider is counted. `quotes` answers when a budget is spent."""

    def __init__(self, shelf: Shelf, *, quotes: ScriptedProvider | None = None, **limits: int) -> None:
        clock, stores = ManualClock(), Stores()
        self.database = stores.database
        self.ledger = SqlSpendingStore(stores.database, clock)
        budgets = [DayBudget(scope=BudgetScope.PERSON, **limits)]
        price = Price(input=4, output=20, cache_read=0.4, cache_write=5)
        spending = Spending(store=self.ledger, prices={"claude": price}, budgets=budgets)
        self.model = ScriptedProvider(SCRIPT)
        metered = MeteredProvider(self.model, spending, model="claude", max_output_tokens=4096, seconds=60)

        async def provider(workspace: str, model: str | None) -> MeteredProvider:
            return metered

        strategies = Strategies(
            provider=provider,
            configured="tool_use",
            facts=False,
            budget=Budget(),
            clock=clock,
            without_model=(lambda: quotes) if quotes else None,
        )
        super().__init__(shelf, stores=stores, clock=clock, pipeline={"strategy": strategies.choose})


async def test_the_job_tree_shows_the_cost_of_each_call_and_of_the_answer(shelf: Shelf) -> None:
    desk = BudgetDesk(shelf)
    answer = await desk.ask()
    calls = [job.output for job in answer.jobs if "model" in job.output]
    assert [output["cost_dollars"] for output in calls] == [0.0042, 0.0042]
    [request] = [job for job in await desk.job_store.list_roots("local") if job.kind is JobKind.REQUEST]
    assert request.output["cost_dollars"] == 0.0084
    report = await desk.ledger.report("local", LONG_AGO)
    [line] = report.lines
    assert (line.person, line.purpose, line.model, line.spent.calls) == (
        "terminal:ada",
        CallPurpose.ANSWER,
        "claude",
        2,
    )
    assert (report.answers, report.micros_per_answer) == (1, 8400.0)


async def test_a_question_is_refused_when_the_budget_is_spent(shelf: Shelf) -> None:
    desk = BudgetDesk(shelf, tokens=4000)
    answer = await desk.ask()
    assert answer.status is AnswerStatus.REFUSED
    assert answer.text.startswith("Your budget for the language model is spent for today. Ask again after 00:00 UTC")
    assert desk.model.requests == []


async def test_documents_are_quoted_instead_where_that_is_configured(shelf: Shelf) -> None:
    quotes = ScriptedProvider((SEARCH, ANSWER), capabilities=Capabilities(quotes_only=True))
    desk = BudgetDesk(shelf, quotes=quotes, tokens=4000)
    answer = await desk.ask()
    assert (answer.status, desk.model.requests) == (AnswerStatus.ANSWERED, [])
    assert answer.text.endswith(SPENT)
    assert [citation.quote for citation in answer.citations] == [KEY]


async def test_a_budget_that_is_spent_in_the_middle_ends_the_calls_there(shelf: Shelf) -> None:
    free = BudgetDesk(shelf)
    await free.ask()
    rows = await free.database.rows(text("SELECT reserved_micros FROM model_call ORDER BY reserved_micros"))
    first, second = (row.reserved_micros for row in rows)
    assert first > second - 4200
    for most, requests in ((first - 1, 0), (second + 4199, 1), (second + 4200, 2)):
        quotes = ScriptedProvider((SEARCH, ANSWER), capabilities=Capabilities(quotes_only=True))
        desk = BudgetDesk(shelf, quotes=quotes, micros=most)
        answer = await desk.ask()
        assert len(desk.model.requests) == requests
        assert answer.text.endswith(SPENT) == (requests < 2)
        assert (await desk.ledger.report("local", LONG_AGO)).total.micros == requests * 4200
