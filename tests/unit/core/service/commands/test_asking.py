"""Commands that put a question: what they hand to the inbox."""

import pytest

from core.domain.answer import QueryType
from core.errors import BadInput, NotFound
from core.work.commands import Question
from tests.unit.core.service.commands.counter import Counter, stocked


@pytest.fixture
async def run() -> Counter:
    counter = await stocked()
    await counter.shelf.add("log.json", "# Log\n\nWe sailed.", title="Captain's log", kind="foundry")
    return counter


async def test_a_question_is_handed_on_with_its_options(run: Counter) -> None:
    plain = await run("ask", "Where is the key?")
    private = await run("ask", 'Where? --document "House" --private')
    journal = await run("ask", "Where? --journal log")
    deep = await run("ask", "Where? --deep")

    assert (plain.ask, plain.is_public) == (Question(text="Where is the key?"), True)
    assert (private.ask, private.is_public) == (Question(text="Where?", document="house.md", private=True), False)
    assert journal.ask == Question(text="Where?", journal="Captain's log")
    assert deep.ask == Question(text="Where?", strategy="plan_and_synthesise")


async def test_what_can_not_be_asked_is_refused_before_anything_is(run: Counter) -> None:
    for argument, sentence in (
        ("", "Add a question"),
        ("--private", "Add a question"),
        ("/delete", "is a command"),
        ("Where? --document House --journal log", "not both"),
    ):
        with pytest.raises(BadInput, match=sentence):
            await run("ask", argument)
    for argument in ("Where? --document zebra", "Where? --journal zebra"):
        with pytest.raises(NotFound):
            await run("ask", argument)


async def test_a_summary_is_asked_of_the_document_or_journal_that_is_meant(run: Counter) -> None:
    document, journal = await run("summary", "house"), await run("summary", "captain's log --private")

    assert document.ask == Question(
        text="Summarise “House”.", query_type=QueryType.SUMMARY, document="handbook/house.md"
    )
    assert journal.ask is not None
    assert (journal.ask.document, journal.ask.private) == ("handbook/log.json", True)
    with pytest.raises(BadInput, match="Add the name"):
        await run("summary")
