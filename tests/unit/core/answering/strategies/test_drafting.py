"""Lists of rows are answered without the provider; every other question is the other strategy's."""

from dataclasses import replace

import pytest

from core.answering.citations import prove
from core.answering.run import Budget
from core.answering.strategies.choosing import ChosenStrategy, draft_once
from core.answering.strategies.tool_use import ToolUseStrategy
from core.domain.answer import Draft, QueryType
from core.domain.extracts import ExtractType
from core.domain.incoming import Attachment, IncomingMessage, Talk
from tests.builders import NOON, build_scope
from tests.fakes import ManualClock, RecordingProgress
from tests.scripted import ScriptedProvider, says, text_of
from tests.unit.core.answering.strategies.test_tool_use import question
from tests.unit.core.knowledge.facts.test_lookup import MEETING, MINUTES
from tests.unit.core.library_builder import Shelf

MINUTES_ID = "local/handbook/minutes/council.md"
LIST = question("What are the open action items of Ann?")


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    minutes = await shelf.add("minutes/council.md", MINUTES, title="Harbour council")
    await shelf.extract(minutes, ExtractType.MEETING, MEETING)
    return shelf


async def draft(shelf: Shelf, asked: IncomingMessage, **context: object) -> tuple[Draft, int]:
    """The draft, and how many requests the provider got."""
    provider = ScriptedProvider([says("From the model.")])
    chosen = ChosenStrategy(strategy=ToolUseStrategy(provider, Budget(), ManualClock()), lists_facts=True)
    made = await draft_once(chosen, asked, [], shelf.toolbox(**context), RecordingProgress())
    return made, len(provider.requests)


async def test_a_list_is_written_from_rows_with_proved_footnotes_and_no_model(shelf: Shelf) -> None:
    made, requests = await draft(shelf, LIST)
    pages = {"local/handbook/minutes/council.md@r1#1": (await shelf.corpus.list_pages(MINUTES_ID, shelf.scope()))[0]}
    proved = prove(made, pages)

    assert requests == 0
    assert proved.text == "2 open action items:\n- Ann buys paint by Monday.[1]\n- Ann asks for bids.[2]"
    assert [citation.quote for citation in proved.citations] == ["Ann buys paint by Monday.", "Ann asks for bids."]
    assert all(citation.proved for citation in proved.citations) and proved.dropped == 0


async def test_the_history_shows_the_call_that_a_model_would_have_made(shelf: Shelf) -> None:
    made, _ = await draft(shelf, LIST)
    asked, told = made.new_messages

    assert [call.name for call in asked.tool_invocations] == ["find_extracts"]
    assert told.tool_results[0].invocation_id == asked.tool_invocations[0].id
    assert {item.source.passage.id for item in told.tool_results[0].passages} == set(made.evidence.passages)


@pytest.mark.parametrize(
    "asked",
    [
        question("Where is the key?"),
        question("What are the open action items of Zoe?"),  # no row fits
        replace(LIST, query_type=QueryType.SUMMARY),
        replace(LIST, model="m-2"),
        replace(LIST, language="German"),
        replace(LIST, about=Talk(message_id="1", author="Cy", text="Look here.", said_at=NOON)),
        replace(LIST, attachments=(Attachment(name="a.md", size_bytes=3, reference="x"),)),
    ],
)
async def test_every_other_question_goes_on(shelf: Shelf, asked: IncomingMessage) -> None:
    made, requests = await draft(shelf, asked)
    assert (text_of(made), requests) == ("From the model.", 1)


async def test_outside_the_scope_or_the_document_asked_about_there_is_nothing_to_list(shelf: Shelf) -> None:
    other = await shelf.add("other.md", "Nothing.", title="Other")
    hidden = replace(build_scope(shelf.source), sources=frozenset({"another"}))

    for context in ({"document_ids": frozenset({other.id})}, {"scope": hidden}):
        assert (await draft(shelf, LIST, **context))[1] == 1


async def test_several_documents_are_told_apart_and_what_has_no_date_is_said(shelf: Shelf) -> None:
    minutes = await shelf.add("minutes/june.md", "Dee mends the crane.", title="June council")
    item = {
        "description": "mends the crane",
        "owner": "Dee",
        "page_number": 1,
        "span": [0, 20],
        "due_date": "2026-03-01",
    }
    await shelf.extract(minutes, ExtractType.MEETING, {"title": "June", "date": "2026-06-01", "action_items": [item]})
    made, _ = await draft(shelf, question("open action items due before 2027"))

    assert text_of(made) == (
        "3 open action items:\n\n**Harbour council**:\n- Ann buys paint by Monday.\n- Ben mends the pump."
        "\n\n**June council**:\n- Dee mends the crane.\n\n"
        "I looked at 1 more, which says no date that could be compared."
    )
