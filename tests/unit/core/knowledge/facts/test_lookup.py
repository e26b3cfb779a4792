"""Facts: what fits a question, within what may be read, each row with its proved footnote."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.domain.extracts import Extraction, ExtractQuery, ExtractType
from core.errors import NotFound
from core.knowledge.facts import FactType, FoundFacts
from core.knowledge.facts.lookup import QUOTE_CHARACTERS
from core.knowledge.facts.table_words import read_table_question
from tests.builders import NOON
from tests.unit.core.library_builder import Shelf

MINUTES = """Council, 3 February 2026

Ann buys paint by Monday.
Ben mends the pump.
Cy has called the yard.
Ann asks for bids.

It was decided to close the pier."""


def item(description: str, owner: str | None = None, **more: object) -> dict[str, object]:
    start = MINUTES.index(description)
    span = [start, start + len(description)]
    return {"description": description, "owner": owner, "page_number": 1, "span": span, **more}


MEETING = {
    "title": "Council",
    "date": "2026-02-03",
    "attendees": ["Ann Lee", "Ben"],
    "decisions": [{"text": "close the pier", "page_number": 1, "span": [len(MINUTES) - 15, len(MINUTES) - 1]}],
    "action_items": [
        item("Ann buys paint by Monday.", "Ann", due_date="Monday"),
        item("Ben mends the pump.", "Ben", due_date="2026-12-24"),
        item("Cy has called the yard.", "Cy", due_date="2026-02-01", done=True),
        item("Ann asks for bids.", "Ann and Dee"),
    ],
}
PRICES = "| Ticket | Price |\n| --- | --- |\n| Single | £3.50 |\n| Season | £1,200 |"


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    minutes = await shelf.add("minutes/council.md", MINUTES, title="Harbour council")
    await shelf.extract(minutes, ExtractType.MEETING, MEETING)
    fares = await shelf.add("fares.md", "Intro.", PRICES, title="Fares")
    rows = [[part.strip() for part in line.strip("|").split("|")] for line in PRICES.split("\n")[2:]]
    starts = [PRICES.index(line) for line in PRICES.split("\n")[2:]]
    spans = [[start, start + len(line)] for start, line in zip(starts, PRICES.split("\n")[2:], strict=True)]
    table = {"title": "Prices", "columns": ["Ticket", "Price"], "rows": rows, "row_spans": spans}
    await shelf.extract(fares, ExtractType.TABLE, table, page=2)
    entity = {"name": "Benedict Stone", "kind": "person", "aliases": ["Ben"], "definition": "mends what breaks"}
    await shelf.extract(fares, ExtractType.ENTITY, entity)
    return shelf


async def ask(shelf: Shelf, text: str, **options: int) -> FoundFacts:
    return await shelf.facts.ask(text, shelf.scope(), **options)


def said(found: FoundFacts, field: str = "description") -> Sequence[object]:
    return [row.fact.fields.get(field) for row in found.rows]


@pytest.mark.parametrize(
    ("asked", "quotes"),
    [
        ("open action items of Ann", ["Ann buys paint by Monday.", "Ann asks for bids."]),
        ("open action items of Ann due before December", ["Ann buys paint by Monday."]),
        ("owner:ann due<2026-02-09 type:action_item", []),
        ("owner:ann due<=2026-02-09 type:action_item", ["Ann buys paint by Monday."]),
        ("type:action_item due:2026-12", ["Ben mends the pump."]),
        ("type:action_item owner!=Ann status!=done", ["Ben mends the pump.", "Ann asks for bids."]),
        ("closed tasks", ["Cy has called the yard."]),
        ('type:action_item due=""', ["Ann asks for bids."]),
        ('type:action_item owner:"Benedict Stone"', ["Ben mends the pump."]),
        ("decisions about piers", ["close the pier"]),
        ("decisions of Harbour council in February 2026", ["close the pier"]),
        ("decisions in March 2026", []),
        ("type:row price>100", ["| Season | £1,200 |"]),
        ("type:row price<=3.5", ["| Single | £3.50 |"]),
        ('ticket="single"', ["| Single | £3.50 |"]),
        ("season", ["| Season | £1,200 |"]),
        ("rows in document fares.md", ["| Single | £3.50 |", "| Season | £1,200 |"]),
        ("price of the season", ["| Season | £1,200 |"]),
        ("type:action_item zebra", []),
        ("type:action_item colour:red", []),
    ],
)
async def test_rows_that_fit_are_quoted(shelf: Shelf, asked: str, quotes: list[str]) -> None:
    found = await ask(shelf, asked)
    assert [row.citation.quote for row in found.rows] == quotes
    assert found.total == len(quotes)


async def test_every_footnote_stands_in_its_live_page_and_is_numbered(shelf: Shelf) -> None:
    found = await ask(shelf, "type:action_item,decision,row,entity,table,meeting")
    assert [row.citation.number for row in found.rows] == list(range(1, 11))
    for row in found.rows:
        page = await shelf.corpus.get_page(row.citation.page_id, shelf.scope())
        assert row.citation.proved and row.citation.span.of(page.text) == row.citation.quote
        assert (page.number, page.revision) == (row.citation.page_number, row.citation.revision)


async def test_tables_as_a_whole_are_given_only_to_those_who_ask_for_them(shelf: Shelf) -> None:
    assert [row.fact.type for row in (await ask(shelf, "tickets")).rows] == [FactType.ROW, FactType.ROW]
    assert said(await ask(shelf, "type:table ticket"), "columns") == [("Ticket", "Price")]


async def test_who_attended_is_a_field_of_the_meeting(shelf: Shelf) -> None:
    assert said(await ask(shelf, "who attended the meeting in February 2026"), "attendees") == [("Ann Lee", "Ben")]
    assert said(await ask(shelf, "meetings attended by Ann"), "title") == ["Council"]
    assert said(await ask(shelf, "meetings attended by Zoe")) == []


async def test_what_can_not_be_compared_is_counted_not_guessed(shelf: Shelf) -> None:
    found = await ask(shelf, "open action items due before December")
    assert (found.total, found.unknown) == (1, 1)


async def test_figures_of_a_year_are_found_however_the_period_is_written(shelf: Shelf) -> None:
    document = await shelf.add("report.md", "Revenue.", title="Report")
    periods = ("2025", "FY2025", "Jan - Dec 2025", "2025-12-31", "2024", "20251", None)
    rows = [{"metric": "Revenue", "period": period, "value": 1, "page_number": 1, "span": [0, 7]} for period in periods]
    await shelf.extract(document, ExtractType.FINANCIAL, {"rows": rows})
    assert said(await ask(shelf, "revenue in 2025"), "period") == ["2025", "FY2025", "Jan - Dec 2025", "2025-12-31"]


async def test_a_limit_cuts_the_rows_and_not_their_count(shelf: Shelf) -> None:
    found = await ask(shelf, "type:action_item", limit=2)
    assert (len(found.rows), found.total) == (2, 4)


async def test_an_unknown_document_is_named(shelf: Shelf) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        await ask(shelf, "type:decision document:nowhere.pdf")


async def test_outside_the_scope_there_is_nothing(shelf: Shelf) -> None:
    scope = shelf.scope()
    for nowhere in (replace(scope, sources=frozenset()), replace(scope, workspace="elsewhere")):
        assert (await shelf.facts.ask("type:action_item", nowhere)).total == 0
        ontology = await shelf.facts.ontology(nowhere)
        assert (ontology.entities, ontology.aliases, ontology.extracts) == ((), {}, {})
    behind = shelf.scope(**{"local/handbook/fares.md": 1})
    assert (await shelf.facts.ask("type:row", behind)).total == 0
    assert (await shelf.facts.ask("type:row", scope)).total == 2


async def test_what_was_read_anew_meanwhile_is_not_cited(shelf: Shelf) -> None:
    [extract] = await shelf.facts.list_extracts(ExtractQuery(type=ExtractType.ENTITY), shelf.scope())
    rows = (await ask(shelf, "type:entity")).rows
    old = replace(rows[0].fact, extract=replace(extract, revision="older"))
    assert await shelf.facts.cite([old, rows[0].fact], shelf.scope()) == rows


async def test_a_long_place_is_quoted_by_its_beginning(shelf: Shelf) -> None:
    document = await shelf.add("long.md", "\n" + "A line of the table.\n" * 100)
    await shelf.extract(document, ExtractType.TABLE, {"title": "Long", "columns": ["a"], "rows": [["b"]]})
    [row] = (await ask(shelf, "type:table document:long.md")).rows
    assert 500 < len(row.citation.quote) <= QUOTE_CHARACTERS
    assert row.citation.quote.startswith("A line") and row.citation.quote.endswith("table.")


async def test_the_passages_behind_rows_hold_their_quotes(shelf: Shelf) -> None:
    rows = (await ask(shelf, "type:decision,action_item")).rows
    passages = await shelf.facts.passages(rows, shelf.scope())
    assert [item.passage.text[:4] for item in passages] == ["It w", "Ann "]


async def test_the_ontology_counts_kinds_and_knows_other_names(shelf: Shelf) -> None:
    document = await shelf.add("links.md", "Pier to Quay.", title="Links")
    links = [{"source": "Pier", "kind": "links to", "target": name} for name in ("Quay", "Yard", "Quay")]
    await shelf.extract(document, ExtractType.RELATION, *links)
    ontology = await shelf.facts.ontology(shelf.scope())
    assert [(item.kind, item.count) for item in ontology.entities] == [("person", 1)]
    assert [(item.kind, item.count, item.examples) for item in ontology.relations] == [
        ("links to", 3, ("Pier → Quay", "Pier → Yard"))
    ]
    assert ontology.aliases == {"Benedict Stone": ("Ben",)}
    assert ontology.extracts[ExtractType.RELATION] == 3


async def test_troubles_are_those_of_what_may_be_read_and_never_quote_what_is_still_to_be_read(shelf: Shelf) -> None:
    documents = {item.path: item for item in await shelf.corpus.list_documents("local")}
    fares, minutes = documents["fares.md"], documents["minutes/council.md"]
    for document in (fares, minutes):
        run = Extraction(
            document_id=document.id,
            extractor="tables",
            version=1,
            revision=document.revision or "",
            extracts=0,
            extracted_at=NOON,
            error="refused 1 of 2: it is odd",
            warning="page 1: a line is too long",
        )
        await shelf.extracts.replace(run, [])
    found = await shelf.facts.troubles(shelf.scope(), frozenset({fares.id}))
    assert [(item.document, item.extractor) for item in found] == [("fares.md", "tables")] * 2
    assert [item.reason for item in found] == ["page 1: a line is too long", "refused 1 of 2: it is odd"]
    assert len(await shelf.facts.troubles(shelf.scope())) == 4
    assert {item.document for item in await shelf.facts.troubles(shelf.scope(**{fares.id: 1}))} == {minutes.path}
    assert await shelf.facts.troubles(replace(shelf.scope(), sources=frozenset())) == []


COSTS = "Alder costs\n\n| | 2023 | 2022 |\n|---|---|---|\n| Wages | 40 | 35 |\n| Ice | 7 | 8 |"


@pytest.mark.parametrize(("pages", "found"), [(24, "40 (2023, Wages)"), (5, None)])
async def test_a_name_that_a_long_document_carries_need_not_be_in_its_title(pages: int, found: str | None) -> None:
    shelf = Shelf()
    report = await shelf.add("a-17.pdf", COSTS, *[f"Alder sails on, {page}." for page in range(1, pages)], title="A 17")
    rows = [["Wages", "40", "35"], ["Ice", "7", "8"]]
    spans = [[COSTS.index(line), COSTS.index(line) + len(line)] for line in ("| Wages | 40 | 35 |", "| Ice | 7 | 8 |")]
    table = {"title": "", "columns": ["", "2023", "2022"], "rows": rows, "row_spans": spans}
    await shelf.extract(report, ExtractType.TABLE, table)
    near = [f"{report.id}@{report.revision}#1"]
    answers = []
    for name in ("Alder", "Birch"):
        question = read_table_question(f"What were the wages of {name} in 2023?")
        assert question is not None
        computed = await shelf.facts.compute(question, near, shelf.scope())
        answers.append(computed[0] if computed is not None else None)
    assert answers == [found, None]
