"""Lists of rows: each said once, in the document's words, with a place in a stored passage to quote."""

import pytest

from core.domain.extracts import ExtractType
from core.knowledge.facts import FactType
from core.knowledge.facts.list_intent import ListIntent, detect_list_intent
from core.knowledge.facts.lookup import MOST_CHARACTERS
from tests.unit.core.knowledge.facts.test_lookup import MEETING, MINUTES
from tests.unit.core.library_builder import Shelf


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    for path in ("minutes/council.md", "minutes/copy.md"):
        minutes = await shelf.add(path, MINUTES, title="Harbour council")
        await shelf.extract(minutes, ExtractType.MEETING, MEETING)
    return shelf


def asked(text: str) -> ListIntent:
    found = detect_list_intent(text)
    assert found is not None
    return found


async def test_a_row_of_two_copies_is_listed_and_counted_once(shelf: Shelf) -> None:
    found = await shelf.facts.list_rows(asked("list all open action items"), shelf.scope())

    assert [row.text for row, _ in found.rows] == [
        "Ann buys paint by Monday.",
        "Ben mends the pump.",
        "Ann asks for bids.",
    ]
    assert found.total == 3


async def test_every_quote_stands_in_its_stored_passage(shelf: Shelf) -> None:
    found = await shelf.facts.list_rows(asked("list all decisions"), shelf.scope())
    [(row, source)] = found.rows

    assert row.citation.cited_text == "close the pier"
    assert (
        row.citation.span.of((await shelf.corpus.get_page(source.passage.page_id, shelf.scope())).text)
        == row.citation.cited_text
    )


async def test_a_thing_of_several_names_is_listed_once(shelf: Shelf) -> None:
    people = await shelf.add("people.md", "Benedict Stone and Ben", "Ben", title="People")
    named = {"name": "Benedict Stone", "kind": "person", "aliases": ["Ben"]}
    await shelf.extract(people, ExtractType.ENTITY, named, quote="Benedict Stone")
    await shelf.extract(people, ExtractType.ENTITY, {"name": "Ben", "kind": "person"}, page=2, quote="Ben")
    found = await shelf.facts.list_rows(asked("list all people"), shelf.scope())

    assert [row.text for row, _ in found.rows] == ["Benedict Stone"]


async def test_a_list_is_bounded_by_its_length_and_says_how_many_there_are(shelf: Shelf) -> None:
    lines = [f"Decision {number}: {'words ' * 40}".strip() for number in range(60)]
    text = "\n\n".join(lines)
    spans = [[text.index(line), text.index(line) + len(line)] for line in lines]
    decisions = [{"text": line, "page_number": 1, "span": span} for line, span in zip(lines, spans, strict=True)]
    long = await shelf.add("long.md", text, title="Long")
    await shelf.extract(long, ExtractType.MEETING, {"title": "Long", "date": "2026-02-04", "decisions": decisions})
    found = await shelf.facts.list_rows(asked("list all decisions in the document long.md"), shelf.scope())

    assert found.total == 60
    assert 0 < sum(len(row.text) for row, _ in found.rows) <= MOST_CHARACTERS
    assert len(found.rows) < 60


async def test_dates_that_can_not_be_compared_are_counted(shelf: Shelf) -> None:
    found = await shelf.facts.list_rows(asked("open action items due before March 2026"), shelf.scope())

    assert [row.text for row, _ in found.rows] == ["Ann buys paint by Monday."]
    assert found.unknown == 1


async def test_where_nothing_is_stored_there_is_nothing_to_list() -> None:
    empty, wanted = Shelf(), ListIntent(query="x", type=FactType.DECISION, noun="x")
    assert (await empty.facts.list_rows(wanted, empty.scope())).rows == ()


@pytest.mark.parametrize(
    "text",
    [
        "list the action items of the council",
        "List the action items of the harbour council with owners",
        "List all action items of the council meeting and their owners",
        "Which action items came out of the harbour council's session, and who owns them?",
    ],
)
async def test_the_words_of_a_request_rank_and_do_not_filter(shelf: Shelf, text: str) -> None:
    found = await shelf.facts.list_rows(asked(text), shelf.scope())
    plain = await shelf.facts.list_rows(asked("list the action items"), shelf.scope())

    assert [row.text for row, _ in found.rows] == [row.text for row, _ in plain.rows]
    assert len(found.rows) > 2


async def test_rows_with_most_words_of_a_request_are_meant(shelf: Shelf) -> None:
    found = await shelf.facts.list_rows(asked("list the action items about the broken pump"), shelf.scope())

    assert [row.text for row, _ in found.rows] == ["Ben mends the pump."]


async def test_a_request_about_something_else_lists_nothing(shelf: Shelf) -> None:
    found = await shelf.facts.list_rows(asked("list the action items about llamas"), shelf.scope())

    assert found.rows == ()
