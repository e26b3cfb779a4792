"""Extracted data in the terminal: places, footnotes, and nothing of a document that acts as markup."""

from collections import Counter
from io import StringIO

import pytest
from rich.console import RenderableType

from bot.terminal.console import PlainConsole
from bot.terminal.render_extracts import extraction_view, extracts_view, facts_view, ontology_view, troubles_view
from core.domain.extracts import ExtractQuery, ExtractType, Spending
from core.domain.ingest_report import ExtractionReport
from core.knowledge.facts import Trouble
from tests.unit.core.library_builder import Shelf

TEXT = "Ann [bold]buys[/bold] paint."


def shown(view: RenderableType) -> str:
    console = PlainConsole(width=200, file=StringIO())
    console.print(view)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    document = await shelf.add("council.md", TEXT, title="Council")
    item = {"description": "[bold]buy[/bold] paint\x1b[2J", "owner": "Ann", "page_number": 1, "span": [0, len(TEXT)]}
    await shelf.extract(document, ExtractType.MEETING, {"action_items": [item]})
    await shelf.extract(document, ExtractType.ENTITY, {"name": "Ann", "kind": "person", "aliases": ["Annie"]})
    return shelf


async def test_rows_have_the_numbers_of_their_footnotes(shelf: Shelf) -> None:
    text = shown(facts_view(await shelf.facts.ask("tasks of Ann", shelf.scope())))
    assert "Asked: type:action_item owner:Ann" in text and "Rows: 1" in text
    assert "[1] action item  description: [bold]buy[/bold] paint" in text and "\x1b" not in text
    assert '[1] Page 1 of "Council"' in text and f"“{TEXT}”" in text


async def test_nothing_found_is_said_with_what_was_understood(shelf: Shelf) -> None:
    text = shown(facts_view(await shelf.facts.ask("tasks due before May", shelf.scope())))
    assert "Nothing fits." in text and "due_date<2026-05" in text and "1 more can't be compared" in text


async def test_extracts_are_a_line_each(shelf: Shelf) -> None:
    text = shown(extracts_view(await shelf.facts.list_extracts(ExtractQuery(), shelf.scope())))
    assert "Council" in text and "0-28" in text and "0.90" in text and "name: Ann, kind: person" in text
    assert "footnote extract" in shown(extracts_view([]))


async def test_the_ontology_is_kinds_with_examples_and_names(shelf: Shelf) -> None:
    text = shown(ontology_view(await shelf.facts.ontology(shelf.scope())))
    assert "person (1): Ann" in text and "Ann: Annie" in text


def test_a_run_tells_what_was_found_and_what_failed() -> None:
    report = ExtractionReport(
        documents=2, counts=Counter({ExtractType.TABLE: 1_200}), failures=[("a[b].md", "tables", "it broke")]
    )
    text = shown(extraction_view(report))
    assert "2 extracted" in text and "1,200 table" in text and "a[b].md: tables: it broke" in text


def test_a_run_tells_what_it_asked_a_model_and_why_it_stopped() -> None:
    report = ExtractionReport(
        documents=1,
        warnings=[("a.md", "tables", "page 1: too long")],
        spent=Spending(requests=3, tokens=4_500),
        stopped="the day's budget is used up",
        waiting=2,
    )
    text = shown(extraction_view(report))
    assert "Asked a model 3 times, for 4,500 tokens." in text
    assert "stopped, 2 documents left: the day's budget is used up" in text
    assert "a.md: tables: page 1: too long" in text


def test_troubles_are_a_line_each_up_to_a_number() -> None:
    troubles = [Trouble(document=f"{n}.md", extractor="tables", reason="[red]too\x1b long") for n in range(30)]
    text = shown(troubles_view(troubles))
    assert "0.md: tables: [red]too" in text and "\x1b" not in text
    assert "29.md" not in text and "and 10 more" in text
