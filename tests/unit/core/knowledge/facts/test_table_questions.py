"""Questions that one table answers, and those that it must leave alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.knowledge.facts.table_grids import Grid
from core.knowledge.facts.table_questions import compute
from core.knowledge.facts.table_results import Computed
from core.knowledge.facts.table_words import continued, read_table_question, spoken

FARES = Grid(
    title="Fares",
    columns=("Harbour", "Crossings", "Fare"),
    rows=(
        ("Linden", "412", "4.50"),
        ("Voss", "96", "12.80"),
        ("Northern pier", "1,204", "3.00"),
        ("Total", "1,712", ""),
    ),
    about="Harbour notes",
)
SHIPS = Grid(
    title="Ships of the line",
    columns=("Name", "Built", "Length", "Cars", "Skipper"),
    rows=(
        ("Heron", "1901", "30 m", "12", "Ann Lee"),
        ("Gull", "1888", "41 m", "20", "Ben Ruiz"),
        ("Tern", "1954", "28 m", "0", ""),
    ),
)
ROUTES = Grid(
    title="Passengers and cars by route",
    columns=("Route", "Passengers", "Cars"),
    rows=(("Linden", "412", "12"), ("Voss", "96", "3")),
    about="Season 2025",
)
CROWDS = Grid(title="Crossed", columns=("Harbour", "Passengers"), rows=(("Linden", "412"), ("Voss", "96")))
INCOME = Grid(
    title="Income statement",
    columns=("", "2023", "2022"),
    rows=(("Revenue", "1,204", "1,100"), ("Cost of sales", "(700)", "(650)"), ("Total assets", "5,000", "4,100")),
)

HEATS = Grid(
    title="Autumn heats",
    columns=("Boat", "Club", "Elapsed (min)", "Points", "Won"),
    rows=(
        ("Brisk", "Orford", "96.4", "1", "yes"),
        ("Fulmar", "Orford", "69.9", "2", "no"),
        ("Redshank", "Blyth", "90.6", "4", "no"),
    ),
)
SALES = Grid(
    title="Statement",
    columns=("", "2023", "2022"),
    rows=(("Revenue:", "", ""), ("Subscription", "80", "70"), ("Cost of revenue:", "", ""), ("Subscription", "9", "8")),
)
LIST = Grid(title="", columns=("", "2023"), rows=(("Revenue", "9"), ("Cost of sales", "3"), ("Wages", "2")))
BILLS = Grid(
    title="",
    columns=("Bill", "Customer", "Issued", "Amount", "Status"),
    rows=(
        ("B-1", "Harlow Bakery", "2024-11-09", "10.00 EUR", "paid"),
        ("B-2", "Pinewood School", "2025-01-17", "8.00 GBP", "open"),
        ("B-3", "Harlow Bakery", "2025-02-20", "2.50 EUR", "open"),
    ),
)

SIGHTINGS = Grid(
    title="Sightings",
    columns=("Hour", "Bird", "Ringed"),
    rows=(("5-8", "Owl", "4"), ("9-11", "Wren", "2"), ("12", "Owl", "9")),
)
BUDGET = Grid(
    title="Budget",
    columns=("Item", "2023", "2022"),
    rows=(
        ("Fees", "90", "70"),
        ("Gifts", "15", "20"),
        ("Total income", "105", "90"),
        ("Rent", "40", "40"),
        ("Wages", "60", "45"),
        ("Total costs", "100", "85"),
    ),
)
RENTALS = Grid(
    title="Rentals",
    columns=("Tool", "Day rate (EUR)", "Days hired", "Deposit (EUR)"),
    rows=(("Drill", "7", "2", "20"), ("Saw", "3", "9", "40")),
)


PIERS = Grid(
    title="Piers",
    columns=("Pier", "Visitors", "Benches"),
    rows=(("Old pier", "940", "12"), ("New pier", "2,310", "8"), ("All piers", "3,250", "20")),
)


def answer(question: str, grid: Grid) -> Computed | None:
    wanted = read_table_question(question)
    return compute(wanted, grid) if wanted is not None else None


CREWS = Grid(
    title="crew-safety",
    columns=("crew", "falls_85_99", "falls_00_14", "minor_falls_00_14", "sec_duration", "pay_grade_count"),
    rows=(("Heron*", "14", "3", "9", "80", "4"), ("Gull", "2", "5", "1", "95", "2")),
)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many falls did the Heron have from 1985 to 1999?", "14 (falls_85_99, Heron*)"),
        (
            "Which crew had the most falls between 2000 and 2014?",
            "Gull (falls_00_14 5, the most of 2 in “crew-safety”)",
        ),
        ("How many minor falls did the Gull have 2000-2014?", "1 (minor_falls_00_14, Gull)"),
        ("Which crew took the longest?", "Gull (sec_duration 95, the longest of 2 in “crew-safety”)"),
    ],
)
def test_columns_named_as_in_programs_are_read_as_people_say_them(question: str, text: str) -> None:
    found = answer(question, CREWS)
    assert found is not None and found.text == text


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fatal_accidents_85_99", "fatal accidents 1985 1999"),
        ("unitPrice", "unit Price"),
        ("iPhone", "iPhone"),
        ("McDonald", "McDonald"),
        ("of 85_99_01", "of 85 99 01"),
    ],
)
def test_a_name_is_spoken(name: str, said: str) -> None:
    assert spoken(name) == said


@pytest.mark.parametrize(
    ("question", "grid", "text", "rows"),
    [
        ("Which harbour has the highest fare?", FARES, "Voss (Fare 12.80, the highest of 3 in “Fares”)", (1,)),
        ("Which harbour has the fewest crossings?", FARES, "Voss (Crossings 96, the fewest of 3 in “Fares”)", (1,)),
        ("What is the fare of Voss?", FARES, "12.80 (Fare, Voss)", (1,)),
        ("How many crossings does Linden have?", FARES, "412 (Crossings, Linden)", (0,)),
        ("What must the fare of Voss be?", FARES, "12.80 (Fare, Voss)", (1,)),
        ("What is the total number of crossings?", FARES, "1,712 (Crossings, Total)", (3,)),
        (
            "What is the average fare?",
            FARES,
            "6.7667 (Fare, average in “Fares”: 4.50 + 12.80 + 3.00, divided by 3)",
            (0, 1, 2),
        ),
        ("How many harbours are in the fares table?", FARES, "3 rows in “Fares”", (0, 1, 2)),
        ("Which vessel was built first?", SHIPS, "Gull (Built 1888, the first of 3 in “Ships of the line”)", (1,)),
        ("Which ship is the longest?", SHIPS, "Gull (Length 41 m, the longest of 3 in “Ships of the line”)", (1,)),
        ("How many cars does the Gull carry?", SHIPS, "20 (Cars, Gull)", (1,)),
        ("Who is the skipper of the Heron?", SHIPS, "Ann Lee (Skipper, Heron)", (0,)),
        ("What is the sum of cars?", SHIPS, "32 (Cars, sum in “Ships of the line”: 12 + 20 + 0)", (0, 1, 2)),
        ("What was the revenue in 2023?", INCOME, "1,204 (2023, Revenue)", (0,)),
        ("What was the cost of sales in 2022?", INCOME, "(650) (2022, Cost of sales)", (1,)),
        ("What were total assets in 2022?", INCOME, "4,100 (2022, Total assets)", (2,)),
        ("How long is the Gull?", SHIPS, "41 m (Length, Gull)", (1,)),
        (
            "What is the difference between the fares of Voss and Linden?",
            FARES,
            "8.30 (Fare, difference in “Fares”: 12.80 (Voss) − 4.50 (Linden))",
            (1, 0),
        ),
        (
            "By how much did revenue rise from 2022 to 2023?",
            INCOME,
            "104 (Revenue, difference in “Income statement”: 1,204 (2023) − 1,100 (2022))",
            (0,),
        ),
        (
            "In which year was the cost of sales the highest?",
            INCOME,
            "2023 (Cost of sales (700), the highest of 2 in “Income statement”)",
            (1,),
        ),
        (
            "What was the total revenue from 2022 to 2023?",
            INCOME,
            "2,304 (Revenue, sum in “Income statement”: 1,204 + 1,100)",
            (0,),
        ),
        (
            "Which boats took longer than 90 minutes?",
            HEATS,
            "Brisk (96.4), Redshank (90.6) in “Autumn heats”",
            (0, 2),
        ),
        ("Which boat was fastest?", HEATS, "Fulmar (Elapsed (min) 69.9, the fastest of 3 in “Autumn heats”)", (1,)),
        (
            "What are the two fastest boats?",
            HEATS,
            "Fulmar (69.9), Redshank (90.6) in “Autumn heats”, in the order of Elapsed (min)",
            (1, 2),
        ),
        (
            "List the boats by elapsed time, slowest first.",
            HEATS,
            "Brisk (96.4), Redshank (90.6), Fulmar (69.9) in “Autumn heats”, in the order of Elapsed (min)",
            (0, 2, 1),
        ),
        ("How many boats have more than one point?", HEATS, "2 rows in “Autumn heats”", (1, 2)),
        ("How many boats won?", HEATS, "1 row in “Autumn heats”", (0,)),
        ("How many Orford boats were there?", HEATS, "2 rows in “Autumn heats”", (0, 1)),
        ("What was the subscription revenue in 2023?", SALES, "80 (2023, Subscription)", (1,)),
        ("What was the sum of revenue and cost of sales in 2023?", LIST, "12 (2023, sum: 9 + 3)", (0, 1)),
        ("How many clubs took part?", HEATS, "2 (Club in “Autumn heats”: Orford, Blyth)", (0, 1, 2)),
        (
            "What is the total of the bills of Harlow Bakery?",
            BILLS,
            "12.50 EUR (Amount, sum: 10.00 EUR + 2.50 EUR)",
            (0, 2),
        ),
        ("Which bills are not paid?", BILLS, "B-2, B-3", (1, 2)),
        ("How many bills were issued after 2024?", BILLS, "2 rows", (1, 2)),
        ("Which ship is the oldest?", SHIPS, "Gull (Built 1888, the oldest of 3 in “Ships of the line”)", (1,)),
        ("Heron, built when?", SHIPS, "1901 (Built, Heron)", (0,)),
        ("When was the Heron built?", SHIPS, "1901 (Built, Heron)", (0,)),
        ("cars on the Gull", SHIPS, "20 (Cars, Gull)", (1,)),
        ("How many people crossed from Linden?", CROWDS, "412 (Passengers, Linden)", (0,)),
        (
            "Is the Heron longer than the Tern?",
            SHIPS,
            "Heron (Length 30 m, the longest of 2 in “Ships of the line”); Tern: 28 m",
            (0, 2),
        ),
        (
            "Which carries more cars, the Tern or the Heron?",
            SHIPS,
            "Heron (Cars 12, the most of 2 in “Ships of the line”); Tern: 0",
            (0, 2),
        ),
        (
            "Did the Northern pier or Linden have fewer crossings?",
            FARES,
            "Linden (Crossings 412, the fewest of 2 in “Fares”); Northern pier: 1,204",
            (0, 2),
        ),
        ("How many ships carry cars?", SHIPS, "2 rows in “Ships of the line”", (0, 1)),
        (
            "How many cars do all three ships have together?",
            SHIPS,
            "32 (Cars, sum in “Ships of the line”: 12 + 20 + 0)",
            (0, 1, 2),
        ),
        ("Which bird do I get for hour 7?", SIGHTINGS, "Owl (Bird, 5-8)", (0,)),
        (
            "Which hour had the fewest ringed chicks?",
            SIGHTINGS,
            "9-11 (Ringed 2, the fewest of 3 in “Sightings”)",
            (1,),
        ),
        (
            "average number of ringed chicks per hour in the sightings?",
            SIGHTINGS,
            "5.00 (Ringed, average in “Sightings”: 4 + 2 + 9, divided by 3)",
            (0, 1, 2),
        ),
        ("List the hours of the owl", SIGHTINGS, "5-8, 12 in “Sightings”", (0, 2)),
        (
            "What was the largest item of costs in 2023?",
            BUDGET,
            "Wages (2023 60, the largest of 2 in “Budget”)",
            (4,),
        ),
        ("the smallest item of income in 2023?", BUDGET, "Gifts (2023 15, the smallest of 2 in “Budget”)", (1,)),
        (
            "Which tool is the cheapest per day?",
            RENTALS,
            "Saw (Day rate (EUR) 3, the cheapest of 2 in “Rentals”)",
            (1,),
        ),
        ("what's the busiest pier?", PIERS, "New pier (Visitors 2,310, the busiest of 2 in “Piers”)", (1,)),
    ],
)
def test_a_question_is_computed_from_the_rows_it_names(
    question: str, grid: Grid, text: str, rows: tuple[int, ...]
) -> None:
    found = answer(question, grid)
    assert found is not None and (found.text, found.rows) == (text, rows)


@pytest.mark.parametrize(
    ("question", "grid"),
    [
        ("Who is the captain of the Heron?", SHIPS),  # no such column
        ("Who is the skipper of the Tern?", SHIPS),  # an empty cell
        ("What is the fare of Aldmere?", FARES),  # no such row
        ("Which harbour has the highest toll?", FARES),
        ("What is the highest?", FARES),  # of two columns
        ("Why is the fare of Voss so high?", FARES),
        ("What is the fare of Voss and Linden?", FARES),
        ("What is the difference between the fares of Voss and Aldmere?", FARES),
        ("How many boats sank?", HEATS),
        ("Which bill is the highest?", BILLS),  # in two currencies
        ("What is the total of all bills?", BILLS),
        ("What was the revenue in 2021?", INCOME),
        ("How many captains are there?", SHIPS),
        ("How many passengers were carried in 2025?", ROUTES),  # a column, and no total
        ("Voss", FARES),
        ("What is the sum of cars of the Gull and all together?", SHIPS),
        ("What do all five ships carry together in cars?", SHIPS),
        ("List the boats", SHIPS),
        ("What does Linden have altogether?", ROUTES),  # passengers and cars
    ],
)
def test_what_a_table_does_not_account_for_is_not_computed(question: str, grid: Grid) -> None:
    assert answer(question, grid) is None


def test_cells_of_several_units_are_not_compared() -> None:
    mixed = Grid(title="Loads", columns=("Crate", "Weight"), rows=(("A", "3 kg"), ("B", "900 g")))
    assert answer("Which crate has the highest weight?", mixed) is None


def test_a_cell_that_is_no_number_leaves_a_column_uncompared() -> None:
    unsure = Grid(title="Loads", columns=("Crate", "Weight"), rows=(("A", "3"), ("B", "about 4 or 5")))
    assert answer("Which crate has the highest weight?", unsure) is None


@given(st.lists(st.integers(min_value=-9_999, max_value=9_999_999), min_size=1, max_size=30, unique=True))
def test_the_engine_agrees_with_plain_arithmetic(numbers: list[int]) -> None:
    rows = [(f"Boat {letter}", f"{number:,}") for letter, number in enumerate(numbers)]
    grid = Grid(title="Boats", columns=("Boat", "Load"), rows=rows)
    highest, total = answer("Which boat has the highest load?", grid), answer("What is the sum of the load?", grid)
    assert highest is not None and highest.rows == (numbers.index(max(numbers)),)
    assert total is not None and total.text.startswith(f"{sum(numbers):,} (")


def test_a_question_leaves_its_thing_or_its_measure_to_the_one_before() -> None:
    def readings(question: str, before: str) -> list[str]:
        return [found.text for text in continued(question, [before]) if (found := answer(text, SHIPS)) is not None]

    assert readings("and the Gull?", "How many cars may the Heron carry?")[:1] == ["20 (Cars, Gull)"]
    assert readings("and how many cars?", "What is the length of the Gull?")[:1] == ["20 (Cars, Gull)"]
    assert readings("how many cars?", "we sail with the Gull on Friday")[:1] == ["20 (Cars, Gull)"]
    assert readings("and the Swan?", "How many cars may the Heron carry?") == []
    assert continued("by when?", ["How many cars may the Heron carry?"]) == []


ALARMS = Grid(
    title="How fast to react",
    columns=("Severity", "What it means", "Answer within"),
    rows=(("amber", "sailings go on, passengers notice", "20 minutes"), ("red", "no sailing", "5 minutes")),
)
LEGS = Grid(
    title="Cars by leg",
    columns=("Leg", "Cars"),
    rows=(("Linden - Voss", "12,830"), ("Voss - Orford", "none"), ("All legs", "12,830")),
)


@pytest.mark.parametrize(
    "question", ["What is the average number of passengers?", "Which boat has the most passengers?"]
)
def test_a_row_named_by_chance_is_nothing_to_compute(question: str) -> None:
    assert answer(question, ALARMS) is None


def test_a_row_of_all_is_not_the_highest_and_none_is_a_figure() -> None:
    found = answer("Which leg has the most cars?", LEGS)
    assert found is not None
    assert (found.text, found.rows) == ("Linden - Voss (Cars 12,830, the most of 2 in “Cars by leg”)", (0,))
    lowest = answer("Which leg has the fewest cars?", LEGS)
    assert lowest is not None and lowest.rows == (1,)


def test_one_end_of_a_route_names_its_row() -> None:
    columns = ("Leg", "Boats", "Cancelled")
    rows = (("Great Linden - Voss", "96", "3"), ("Great Linden - Orford", "88", "7"))
    found = answer("How many trips were cancelled to Orford?", Grid(title="By leg", columns=columns, rows=rows))
    assert found is not None and found.text.startswith("7 (Cancelled, Great Linden - Orford")


def test_the_thing_that_is_asked_for_decides_between_tables() -> None:
    ships, routes = answer("Which ship has the most cars?", SHIPS), answer("Which ship has the most cars?", ROUTES)
    assert ships is not None and routes is not None
    assert ships.covered > routes.covered


STATEMENT = Grid(
    title="Accounts of the harbour",
    columns=("", "Notes", "As at 31 May 2024 £’000", "As at 31 May 2023 £’000", "Change %"),
    rows=(("Boats", "4", "120", "100", "20"), ("Net assets", "B2", "310", "275", "13"), ("Loans", "", "7", "9", "-22")),
)


@pytest.mark.parametrize(
    ("question", "text", "row"),
    [
        (
            "By how much did the net assets of the harbour rise between May 2023 and May 2024?",
            "35 (Net assets, difference in “Accounts of the harbour”: 310 (2024) − 275 (2023))",
            1,
        ),
        (
            "By how much did loans fall from 2023 to 2024?",
            "2 (Loans, difference in “Accounts of the harbour”: 9 (2023) − 7 (2024))",
            2,
        ),
        (
            "In which year were the boats the lowest?",
            "2023 (Boats 100, the lowest of 2 in “Accounts of the harbour”)",
            0,
        ),
    ],
)
def test_columns_of_years_are_compared_without_the_notes_beside_them(question: str, text: str, row: int) -> None:
    found = answer(question, STATEMENT)
    assert found is not None and (found.text, found.rows) == (text, (row,))


def test_budgets_are_not_compared_with_what_was_spent() -> None:
    columns = ("", "Budget 2024", "Spent 2024", "Spent 2023")
    grid = Grid(title="Costs", columns=columns, rows=(("Ice", "50", "48", "40"), ("Nets", "20", "30", "10")))
    found = answer("By how much did the cost of ice rise from 2023 to 2024?", grid)
    assert found is not None and found.text == "8 (Ice, difference in “Costs”: 48 (2024) − 40 (2023))"


def test_a_period_said_over_one_column_alone_is_that_of_all() -> None:
    columns = ("", "2022", "Year ended May 31, 2023", "2024")
    grid = Grid(title="Costs", columns=columns, rows=(("Ice", "50", "48", "40"), ("Nets", "20", "30", "10")))
    found = answer("By how much did the cost of ice fall from 2023 to 2024?", grid)
    assert found is not None and found.text == "8 (Ice, difference in “Costs”: 48 (2023) − 40 (2024))"


def test_letters_joined_by_a_sign_are_a_word_of_the_question() -> None:
    shares = Grid(title="Shares", columns=("", "Cost (EUR)"), rows=(("Bought in the fiscal year", "10"), ("Sold", "3")))
    assert answer("How much did we spend on R&D in the fiscal year?", shares) is None
    costs = Grid(title="Costs", columns=("", "2023", "2022"), rows=(("R&D", "40", "35"), ("Rent", "7", "8")))
    found = answer("How much did we spend on R&D in 2023?", costs)
    assert found is not None and found.rows == (0,)
    boats = Grid(title="bc12-boats", columns=("Name", "Length"), rows=(("Heron", "30 m"), ("Gull", "41 m")))
    found = answer("What is the length of the Gull in the B&C boats?", boats)
    assert found is not None and found.text.startswith("41 m (Length, Gull)")


def test_what_money_comes_in_by_is_no_word_of_a_table() -> None:
    taxes = Grid(title="Taxes", columns=("", "2024", "2023"), rows=(("Beer tax", "40", "35"), ("Dog tax", "7", "8")))
    for question in ("How much did the beer tax bring in 2023?", "What did we collect from the beer tax in 2023?"):
        found = answer(question, taxes)
        assert found is not None and found.text == "35 (2023, Beer tax)"


def test_a_name_is_no_word_for_the_highest() -> None:
    banks = Grid(title="First Bank", columns=("", "2023", "2022"), rows=(("Fees", "8", "9"), ("Wages", "4", "3")))
    found = answer("What were the fees of First Bank in 2023?", banks)
    assert found is not None and found.text == "8 (2023, Fees)"


def test_one_word_of_many_names_no_row() -> None:
    labels = ("Sale of old wooden boats in May", "Wages")
    grid = Grid(title="Costs", columns=("", "2023"), rows=[(label, "8") for label in labels])
    assert answer("What did the boats cost in 2023?", grid) is None


@pytest.mark.parametrize(
    "year", ["the year to June 2023", "the year ended 30 June 2023", "the year ended June 30, 2023"]
)
def test_a_year_that_ends_in_a_month_is_that_year(year: str) -> None:
    found = answer(f"What were the wages in {year}?", BUDGET)
    assert found is not None and found.text == "60 (2023, Wages)"
    assert answer("What were the wages in June 2023?", BUDGET) is None


def test_figures_without_a_word_are_a_total() -> None:
    grid = Grid(title="Boats", columns=("", "Cost"), rows=(("Nets", "8"), ("Ice", "5"), ("", "13")))
    found = answer("What do the boats cost in total?", grid)
    assert found is not None and found.text == "13 (Cost, sum in “Boats”: 8 + 5)"


def test_one_figure_is_not_the_highest() -> None:
    grid = Grid(title="Boats", columns=("Boat", "Cars"), rows=(("Heron", "12"), ("Gull", "")))
    assert answer("Which boat has the most cars?", grid) is None
