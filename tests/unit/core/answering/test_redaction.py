"""Of a history, what may be seen up to the reading positions that hold now: turn by turn, by all that went into it."""

from dataclasses import replace

import pytest

from core.answering.redaction import BEYOND, CLOSED, MOST_FOUND, Histories, withheld
from core.domain.answer import Provenance
from core.domain.chat import ToolInvocation
from core.domain.conversation import Message, Outcome, Role, ToolCallRecord
from core.domain.jobs import JobKind
from core.domain.service import TO_THE_END
from core.knowledge.references.linked_context import OPENED
from core.work.conversations import Conversations
from tests.builders import build_citation, build_conversation, build_job, build_message
from tests.fakes import ManualClock
from tests.unit.core.library_builder import Shelf

NOVEL, OTHER = "local/handbook/novel.md", "local/handbook/other.md"
QUESTION, ANSWER = "And then?", "It rained."


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    for path in ("novel.md", "other.md"):
        await shelf.add(path, *(f"# Chapter {number}\n\nText." for number in range(1, 6)), title=path)
    return shelf


async def passage_on(shelf: Shelf, page: int, document: str = NOVEL) -> str:
    found = await shelf.corpus.find_page(document, page, shelf.scope())
    assert found is not None
    return (await shelf.corpus.list_page_passages(found.id, shelf.scope()))[0].passage.id


def turn(
    *passages: str,
    tool: str = "search",
    cited: tuple[int, ...] = (),
    of: str = NOVEL,
    read_to: int | None = None,
    suggestions: tuple[str, ...] = (),
    grounded: bool = False,
) -> list[Message]:
    """A question; what a tool gave, where it was asked; an answer with footnotes on these pages."""
    call = ToolCallRecord(
        invocation=ToolInvocation(id="t", name=tool, arguments={}), text="found", passage_ids=passages
    )
    tools = [build_message("t", "", role=Role.TOOL_RESULT, tool_calls=(call,))] if passages or tool != "search" else []
    answer = build_message(
        "a",
        ANSWER,
        role=Role.ASSISTANT,
        citations=tuple(build_citation(of, number=number, page_number=number) for number in cited),
        outcome=Outcome(
            read_to={of: read_to} if read_to is not None else {}, suggestions=suggestions, grounded=grounded
        ),
    )
    return [build_message("u", QUESTION), *tools, answer]


async def shown(shelf: Shelf, *turns: list[Message], last: int = 3, questions: bool = False) -> list[str]:
    """What is left to read of the turns, up to a page of the novel; messages of tools are named by their texts."""
    scope = replace(shelf.scope(), positions={NOVEL: last})
    kept = await withheld([message for each in turns for message in each], scope, shelf.corpus, questions=questions)
    return [message.content or message.tool_calls[0].text for message in kept]


KEPT, TOLD, EMPTIED = [QUESTION, "found", ANSWER], [QUESTION, ANSWER], [QUESTION, BEYOND]


@pytest.mark.parametrize(("page", "expected"), [(1, KEPT), (3, KEPT), (4, EMPTIED), (5, EMPTIED)])
async def test_a_turn_stays_where_all_that_a_search_gave_lies_within(shelf: Shelf, page: int, expected) -> None:
    assert await shown(shelf, turn(await passage_on(shelf, page))) == expected


async def test_the_furthest_page_counts_in_whatever_order_they_came(shelf: Shelf) -> None:
    near, far = await passage_on(shelf, 1), await passage_on(shelf, 5)

    assert await shown(shelf, turn(near, far)) == await shown(shelf, turn(far, near)) == EMPTIED


@pytest.mark.parametrize(("cited", "expected"), [((1,), TOLD), ((3, 1), TOLD), ((4,), EMPTIED), ((1, 5), EMPTIED)])
async def test_an_answer_that_footnotes_back_is_judged_by_these_and_not_by_all_hits(
    shelf: Shelf, cited: tuple[int, ...], expected: list[str]
) -> None:
    hits = await passage_on(shelf, 1), await passage_on(shelf, 5)
    told = turn(*hits, cited=cited, suggestions=("Who is dead?",), grounded=True)

    assert await shown(shelf, told) == expected
    assert await shown(shelf, turn(*hits, cited=cited)) == EMPTIED
    assert await shown(shelf, told, turn(hits[0])) == [*expected, *EMPTIED]  # it may know the other hits


async def test_nothing_but_the_answer_is_left_of_a_turn_with_hits_beyond(shelf: Shelf) -> None:
    scope = replace(shelf.scope(), positions={NOVEL: 3})
    told = turn(await passage_on(shelf, 5), cited=(1,), suggestions=("Who is dead?",), grounded=True)
    [_, answer] = await withheld(told, scope, shelf.corpus)

    assert (answer.content, answer.references, answer.tool_calls) == (ANSWER, (), ())
    assert answer.outcome is not None and answer.outcome.suggestions == ()


@pytest.mark.parametrize(("page", "expected"), [(3, TOLD), (4, EMPTIED)])
async def test_footnotes_count_as_what_tools_gave(shelf: Shelf, page: int, expected: list[str]) -> None:
    assert await shown(shelf, turn(cited=(page,))) == expected
    assert await shown(shelf, turn(cited=(page, 1))) == expected


async def test_other_documents_are_free(shelf: Shelf) -> None:
    assert await shown(shelf, turn(await passage_on(shelf, 5, OTHER), cited=(5,), of=OTHER)) == KEPT


@pytest.mark.parametrize("tool", ["get_ontology", "query_facts"])
async def test_what_a_tool_tells_of_more_than_passages_may_be_of_anything(shelf: Shelf, tool: str) -> None:
    assert await shown(shelf, turn(tool=tool)) == EMPTIED


@pytest.mark.parametrize("tool", ["query_journal", OPENED])
async def test_what_a_tool_tells_of_whole_documents_is_of_these(shelf: Shelf, tool: str) -> None:
    assert await shown(shelf, turn(await passage_on(shelf, 1), tool=tool)) == EMPTIED
    assert await shown(shelf, turn(await passage_on(shelf, 1, OTHER), tool=tool)) == KEPT


async def test_passages_that_are_gone_may_have_been_of_anything(shelf: Shelf) -> None:
    assert await shown(shelf, turn(await passage_on(shelf, 1), "gone")) == EMPTIED


@pytest.mark.parametrize(("read_to", "expected"), [(2, KEPT), (3, KEPT), (4, EMPTIED), (None, EMPTIED)])
async def test_a_turn_that_was_made_within_the_same_bound_or_less_can_have_nothing_beyond(
    shelf: Shelf, read_to: int | None, expected: list[str]
) -> None:
    """Whatever its tools told then: they gave no more than was allowed."""
    assert await shown(shelf, turn(tool="get_ontology", read_to=read_to)) == expected


async def test_what_follows_on_a_turn_that_went_beyond_may_know_it(shelf: Shelf) -> None:
    beyond, harmless = turn(cited=(5,)), turn(await passage_on(shelf, 1))

    assert await shown(shelf, harmless, beyond) == [*KEPT, *EMPTIED]
    assert await shown(shelf, beyond, harmless, harmless) == EMPTIED * 3
    assert await shown(shelf, beyond, turn(cited=(1,), read_to=3)) == [*EMPTIED, *TOLD]


async def test_of_a_turn_that_is_taken_out_nothing_but_its_question_is_left(shelf: Shelf) -> None:
    scope = replace(shelf.scope(), positions={NOVEL: 3})
    [question, answer] = await withheld(turn(cited=(5,), suggestions=("Who is dead?",)), scope, shelf.corpus)

    assert question.content == QUESTION
    assert (answer.content, answer.citations, answer.references, answer.tool_calls) == (BEYOND, (), (), ())
    assert answer.outcome == Outcome()
    assert await shown(shelf, turn(cited=(5,)), questions=True) == [BEYOND, BEYOND]


@pytest.mark.parametrize(("of", "offered"), [(NOVEL, ()), (OTHER, ("What is near?",))])
async def test_suggestions_near_what_was_cited_may_lie_beyond(shelf: Shelf, of: str, offered: tuple[str, ...]) -> None:
    scope = replace(shelf.scope(), positions={NOVEL: 3})
    told = await withheld(turn(cited=(1,), of=of, suggestions=("What is near?",)), scope, shelf.corpus)

    assert told[-1].content == ANSWER
    assert told[-1].outcome is not None and told[-1].outcome.suggestions == offered


@pytest.mark.parametrize("positions", [{}, {NOVEL: TO_THE_END}])
async def test_where_no_position_holds_all_is_as_it_was(shelf: Shelf, positions: dict[str, int]) -> None:
    messages = turn("gone", tool="get_ontology", cited=(5,), suggestions=("Who is dead?",))

    assert await withheld(messages, replace(shelf.scope(), positions=positions), shelf.corpus) == messages


async def test_a_conversation_is_shown_as_its_reader_may_see_it(shelf: Shelf) -> None:
    conversations = Conversations(shelf.conversations, ManualClock())
    await shelf.conversations.add(build_conversation(), turn(cited=(5,)))
    histories = Histories(conversations, shelf.corpus)
    _, messages = await histories.show("c1", "local", replace(shelf.scope(), positions={NOVEL: 3}))

    assert [message.content for message in messages] == EMPTIED
    assert [message.content for message in (await histories.show("c1", "local", shelf.scope()))[1]] == TOLD


async def found_on(shelf: Shelf, *pages: int, **scope: object) -> list[int]:
    """The pages whose texts a job's tree shows."""
    await shelf.conversations.add(build_conversation(), [])
    histories = Histories(Conversations(shelf.conversations, ManualClock()), shelf.corpus)
    output = {"passages": len(pages), "passage_ids": [await passage_on(shelf, page) for page in pages]}
    step = build_job("j1/t0", parent_id="j1", kind=JobKind.TOOL, name="search", output=output)
    tree = [build_job("j1", input={"conversation_id": "c1"}), step]
    shown = await histories.show_jobs(tree, replace(shelf.scope(), **scope))
    assert all("Chapter" in item.snippet for item in shown.found.get("j1/t0", ()))
    return [item.page_number for item in shown.found.get("j1/t0", ())]


@pytest.mark.parametrize(
    ("scope", "expected"),
    [({}, [1, 5]), ({"positions": {NOVEL: 3}}, [1]), ({"hidden": frozenset({NOVEL})}, []), ({"sources": ()}, [])],
)
async def test_a_step_shows_the_text_that_it_found_and_its_reader_may_see(
    shelf: Shelf, scope: dict[str, object], expected: list[int]
) -> None:
    assert await found_on(shelf, 1, 5, **scope) == expected


async def test_the_text_of_a_step_is_bounded(shelf: Shelf) -> None:
    assert len(await found_on(shelf, *([1] * (MOST_FOUND + 5)))) == MOST_FOUND


async def seen_by(shelf: Shelf, *turns: list[Message], **scope: object) -> list[str]:
    """What is left to read of the turns in a scope without positions."""
    here = replace(shelf.scope(), **scope)
    kept = await withheld([message for each in turns for message in each], here, shelf.corpus)
    return [message.content for message in kept]


def resting(*documents: str, sources: tuple[str, ...] = (), hidden: tuple[str, ...] = ()) -> list[Message]:
    basis = Provenance(documents=documents, sources=sources, hidden=hidden)
    outcome = Outcome(rests_on=basis, suggestions=("Who is dead?",))
    return [build_message("u", QUESTION), build_message("a", ANSWER, role=Role.ASSISTANT, outcome=outcome)]


TAKEN_OUT = [QUESTION, CLOSED]


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ({}, TOLD),
        ({"hidden": frozenset({OTHER})}, TOLD),
        ({"hidden": frozenset({NOVEL})}, TAKEN_OUT),
        ({"sources": frozenset()}, TAKEN_OUT),
        ({"sources": frozenset({"local/elsewhere"})}, TAKEN_OUT),
        ({"workspace": "elsewhere"}, TAKEN_OUT),
    ],
)
async def test_a_turn_stays_where_all_that_it_rests_on_may_be_read(
    shelf: Shelf, scope: dict[str, object], expected: list[str]
) -> None:
    assert await seen_by(shelf, resting(NOVEL), **scope) == expected
    assert await seen_by(shelf, turn(cited=(1,)), **scope) == expected  # of an earlier version


async def test_one_closed_document_of_several_takes_the_turn_out(shelf: Shelf) -> None:
    assert await seen_by(shelf, resting(NOVEL, OTHER), hidden=frozenset({OTHER})) == TAKEN_OUT


async def test_what_rests_on_a_removed_document_is_taken_out(shelf: Shelf) -> None:
    assert await seen_by(shelf, resting(NOVEL)) == TOLD
    await shelf.corpus.remove_documents([NOVEL])
    assert await seen_by(shelf, resting(NOVEL), resting(OTHER)) == [*TAKEN_OUT, *TOLD]


async def test_a_list_of_a_source_is_shown_while_all_of_it_may_be_read(shelf: Shelf) -> None:
    listed = resting(sources=(shelf.source.id,), hidden=(OTHER,))

    assert await seen_by(shelf, listed) == TOLD
    assert await seen_by(shelf, listed, hidden=frozenset({OTHER})) == TOLD
    assert await seen_by(shelf, listed, hidden=frozenset({NOVEL, OTHER})) == TAKEN_OUT
    assert await seen_by(shelf, listed, sources=frozenset()) == TAKEN_OUT


async def test_no_part_of_a_turn_that_is_taken_out_is_left(shelf: Shelf) -> None:
    here = replace(shelf.scope(), sources=frozenset())
    [question, answer] = await withheld(resting(NOVEL), here, shelf.corpus, questions=True)

    assert (question.content, answer.content, answer.outcome) == (CLOSED, CLOSED, Outcome())
