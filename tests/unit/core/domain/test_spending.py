"""Prices, and the arithmetic of reservations."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from core.domain.chat import ChatMessage, ChatRequest, ChatRole, ToolDefinition
from core.domain.replies import Usage
from core.domain.spending import (
    Account,
    BudgetScope,
    CallPurpose,
    DayBudget,
    Price,
    SpendingLine,
    SpendingReport,
    Spent,
    most_input_tokens,
)

PRICE = Price(input=4.0, output=20.0, cache_read=0.4, cache_write=5.0)
DOLLARS = st.floats(0, 100)
PRICES = st.builds(Price, input=DOLLARS, output=DOLLARS, cache_read=DOLLARS, cache_write=DOLLARS)
TOKENS = st.integers(0, 200_000)


def test_cached_tokens_have_prices_of_their_own() -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=100_000, cache_read_tokens=500_000, cache_write_tokens=100_000)
    assert PRICE.cost(usage) == 400_000 * 4 + 100_000 * 20 + 200_000 + 500_000
    assert PRICE.cost(Usage(input_tokens=1)) == 4
    assert Price(input=0.25, output=1, cache_read=0, cache_write=0).cost(Usage(input_tokens=1)) == 1  # rounded up


@given(price=PRICES, most=st.tuples(TOKENS, TOKENS), data=st.data())
def test_no_call_costs_more_than_was_reserved(price: Price, most: tuple[int, int], data: st.DataObject) -> None:
    read = data.draw(st.integers(0, most[0]))
    cached = data.draw(st.integers(0, read))
    usage = Usage(
        input_tokens=read,
        output_tokens=data.draw(st.integers(0, most[1])),
        cache_read_tokens=cached,
        cache_write_tokens=data.draw(st.integers(0, read - cached)),
    )
    assert price.cost(usage) <= price.most(*most)


@given(
    limits=st.tuples(st.integers(0, 100), st.integers(0, 100)),
    calls=st.lists(st.tuples(st.integers(1, 60), st.integers(0, 60), st.floats(0, 1), st.integers(0, 3)), max_size=40),
)
def test_no_order_of_reservations_and_settlements_exceeds_a_budget(
    limits: tuple[int, int], calls: list[tuple[int, int, float, int]]
) -> None:
    budget = DayBudget(scope=BudgetScope.PERSON, tokens=limits[0], micros=limits[1])
    spent, reserved = Spent(), list[tuple[int, int, float]]()
    for tokens, micros, share, settled in calls:
        taken = Spent(
            tokens=spent.tokens + sum(item[0] for item in reserved),
            micros=spent.micros + sum(item[1] for item in reserved),
        )
        if budget.has_room(taken, tokens, micros):
            reserved.append((tokens, micros, share))
        for _ in range(min(settled, len(reserved))):
            most_tokens, most_micros, part = reserved.pop(0)
            spent.tokens += int(most_tokens * part)
            spent.micros += int(most_micros * part)
        assert not limits[0] or spent.tokens + sum(item[0] for item in reserved) <= limits[0]
        assert not limits[1] or spent.micros + sum(item[1] for item in reserved) <= limits[1]


def test_background_work_counts_in_the_budget_of_the_workspace_alone() -> None:
    account = Account(workspace="local")
    held = [scope for scope in BudgetScope if DayBudget(scope=scope, tokens=1).holds_for(account)]
    assert held == [BudgetScope.WORKSPACE]
    assert not DayBudget(scope=BudgetScope.WORKSPACE).holds_for(account)


def test_a_prompt_has_fewer_tokens_than_half_its_bytes() -> None:
    tool = ToolDefinition(name="search", description="é" * 10, parameters={"type": "object"})
    message = ChatMessage(role=ChatRole.USER, text="x" * 100)
    plain = most_input_tokens(ChatRequest(system="s" * 50, messages=(message,)))
    assert plain >= 75
    assert most_input_tokens(ChatRequest(system="s" * 50, messages=(message,), tools=(tool,))) >= plain + 15


def test_a_report_sums_by_day_person_and_answer() -> None:
    lines = [
        SpendingLine(
            day=date(2026, 3, day),
            workspace="local",
            person=person,
            purpose=purpose,
            model="m",
            spent=Spent(calls=1, tokens=9, micros=cost),
        )
        for day, person, purpose, cost in (
            (2, "discord:ada", CallPurpose.ANSWER, 10),
            (2, "", CallPurpose.EXTRACTION, 40),
            (1, "discord:ben", CallPurpose.SECTION, 30),
        )
    ]
    report = SpendingReport(lines=tuple(lines), answers=2)
    assert (report.total.micros, report.total.calls, report.micros_per_answer) == (80, 3, 20.0)
    assert [(day, spent.micros) for day, spent in report.by("day")] == [("2026-03-02", 50), ("2026-03-01", 30)]
    assert [person for person, _ in report.by("person")] == ["", "discord:ben", "discord:ada"]
    assert SpendingReport().micros_per_answer is None
