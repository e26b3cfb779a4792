"""The use case from question to stored, proved answer, over stores in memory and a scripted model."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from core.answering.answers.sentences import say
from core.answering.pipeline import QuestionContext
from core.answering.run import Budget, RunObserver
from core.answering.strategies.tool_use import ToolUseStrategy
from core.answering.tools.toolbox import Toolbox
from core.domain.answer import AnswerStatus, QueryType
from core.domain.chat import ChatRequest, ToolInvocation
from core.domain.conversation import Role
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.jobs import CALL, KEPT, JobKind, JobStatus
from core.domain.replies import ChatResponse, PassageCitation, StopReason
from core.domain.service import PersonAddress
from core.errors import BadInput, NotFound, ProviderBadRequest, ProviderOverloaded, ProviderRefused
from core.serializers.objects import job_json
from core.service.jobs import Jobs
from tests.fakes import ManualClock, RecordingProgress
from tests.pipeline import always, build_answers
from tests.scripted import ScriptedProvider, Turn, calls, says
from tests.stores import Stores
from tests.unit.core.library_builder import Shelf

KEY = "The key hangs under the stairs."
SEARCH = calls(ToolInvocation(id="t1", name="search", arguments={"query": "where is the key"}))


def message(text: str = "Where is the key?", thread: str = "t", **fields: object) -> IncomingMessage:
    address = ThreadAddress(platform="terminal", workspace="local", channel="c", thread=thread)
    return IncomingMessage(address=address, author="ada", text=text, event_key=f"{thread}:{text}", **fields)


class Desk:
    """An answer service over a shelf, and what it stored."""

    def __init__(
        self,
        shelf: Shelf,
        *script: Turn,
        stores: Stores | None = None,
        clock: ManualClock | None = None,
        pipeline: dict[str, Any] | None = None,
        **own: Any,
    ) -> None:
        """`pipeline` holds further arguments of `build_pipeline`; `own` replaces parts."""
        self.clock = clock or ManualClock()
        stores = stores or Stores()
        self.store = stores.conversations
        self.job_store = stores.jobs
        self.inbox = stores.inbox(self.clock)
        self.provider = ScriptedProvider(script)
        self.progress = RecordingProgress()
        self.readings: list[QuestionContext] = []
        self._shelf = shelf
        self.service = build_answers(
            shelf,
            clock=self.clock,
            provider=self.provider,
            database=stores.database,
            inbox_store=self.inbox,
            **own,
            pipeline={
                "strategy": always(
                    lambda observer: ToolUseStrategy(self.provider, Budget(steps=2), self.clock, observer)
                ),
                "toolbox": self._toolbox,
                **(pipeline or {}),
            },
        )

    def _toolbox(self, reading: QuestionContext, observer: RunObserver) -> Toolbox:
        self.readings.append(reading)
        limit = frozenset({reading.document.id}) if reading.document else frozenset()
        return self._shelf.toolbox(
            reading.offer,
            scope=reading.scope,
            focus=reading.focus,
            document_ids=limit,
            linked=frozenset(document.id for document in reading.linked),
            observer=observer,
        )

    async def ask(self, text: str = "Where is the key?", **fields: object):
        return await self.service.answer(message(text, **fields), self.progress)


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("house.md", f"# Keys\n\n{KEY}", "# Are gardens locked?\n\nThe garden has a shed.", title="House")
    return shelf


async def test_an_answer_is_proved_stored_and_shown_as_one_object(shelf: Shelf) -> None:
    desk = Desk(shelf, SEARCH, says("The key hangs under the stairs [1]."))
    answer = await desk.ask()

    assert (answer.status, answer.text, answer.grounded) == (
        AnswerStatus.ANSWERED,
        "The key hangs under the stairs[1].",
        True,
    )
    assert [(c.document, c.page_number, c.quote, c.proved) for c in answer.citations] == [("house.md", 1, KEY, True)]
    assert [r.document for r in answer.references] == ["house.md"]
    assert (answer.jobs[0].kind, answer.jobs[0].status) == (JobKind.REQUEST, JobStatus.DONE)
    assert JobKind.TOOL in {job.kind for job in answer.jobs}
    stored = await desk.store.list_messages(answer.conversation_id)
    assert [m.role for m in stored] == [Role.USER, Role.TOOL_RESULT, Role.ASSISTANT]
    assert stored[2].citations == answer.citations
    assert stored[2].id == answer.message_id
    assert stored[1].tool_calls[0].passage_ids
    conversation = await desk.store.get(answer.conversation_id, "local")
    assert (conversation.title, conversation.focus.document) == ("Where is the key?", "house.md")


async def test_native_citations_are_proved_too(shelf: Shelf) -> None:
    def cite(request: ChatRequest) -> ChatResponse:
        passage = next(p for p in request.messages[-1].tool_results[0].passages if KEY in p.source.passage.text)
        claim = PassageCitation(passage_id=passage.source.passage.id, span=passage.source.passage.span, cited_text=KEY)
        return says("Under the stairs.", claim)

    answer = await Desk(shelf, SEARCH, cite).ask()

    assert (answer.text, answer.citations[0].quote) == ("Under the stairs.[1]", KEY)


async def test_unsupported_claims_are_marked_in_text_and_object(shelf: Shelf) -> None:
    answer = await Desk(shelf, SEARCH, says("The key hangs under the stairs [1]. Bob painted all of it blue.")).ask()

    assert [span.of(answer.text) for span in answer.unsupported] == ["Bob painted all of it blue."]
    assert (answer.grounded, "[?]" in answer.text) == (False, True)


@pytest.mark.parametrize("text", ["Bob keeps the key in Paris.", "The key is in Paris [7]."])
async def test_an_answer_without_a_proved_footnote_becomes_not_found(shelf: Shelf, text: str) -> None:
    answer = await Desk(shelf, SEARCH, says(text)).ask()

    assert answer.status is AnswerStatus.NOT_FOUND
    assert answer.text.startswith("I couldn't find an answer in the documents. I searched for “where is the key”.")
    assert "Paris" not in answer.text
    assert (answer.citations, answer.suggestions) == ((), ())


async def test_a_model_that_says_what_was_not_found_keeps_its_words(shelf: Shelf) -> None:
    answer = await Desk(shelf, SEARCH, says("The documents do not say who made the key.")).ask("Who made the key?")

    assert answer.status is AnswerStatus.NOT_FOUND
    assert answer.text == "The documents do not say who made the key.\n\n(Searched: “where is the key”.)"


@pytest.mark.parametrize(
    ("reply", "label"), [("You are welcome.", ""), ("Paris lies on the Seine.", f"\n\n{say('not_from_documents')}")]
)
async def test_only_a_claim_without_any_search_is_labelled(shelf: Shelf, reply: str, label: str) -> None:
    answer = await Desk(shelf, says(reply)).ask("Say something nice about rivers.")

    assert (answer.status, answer.grounded) == (AnswerStatus.ANSWERED, False)
    assert answer.text == f"{reply}{label}"


async def test_an_answer_cut_in_the_middle_ends_at_a_sentence_and_can_be_continued(shelf: Shelf) -> None:
    cut = replace(says("The key hangs under the stairs [1]. It was rul"), stop_reason=StopReason.MAX_TOKENS)
    answer = await Desk(shelf, SEARCH, cut).ask()

    assert answer.partial
    assert answer.text == f"The key hangs under the stairs[1].\n\n{say('cut')}"
    assert answer.suggestions[0] == say("continue")


async def test_a_tool_that_needs_a_choice_ends_as_clarify(shelf: Shelf) -> None:
    await shelf.add("a.json", "# Cave\n\nThe dragon sleeps.", title="Dragon Cave", kind="foundry")
    await shelf.add("b.json", "# Hill\n\nThe dragon sleeps.", title="Dragon Hill", kind="foundry")
    ask = calls(ToolInvocation(id="t1", name="query_journal", arguments={"query": "dragon", "query_type": "question"}))
    answer = await Desk(shelf, ask).ask("Where does the dragon sleep?")

    assert answer.status is AnswerStatus.CLARIFY
    assert set(answer.choices) == {"Dragon Cave", "Dragon Hill"}


@pytest.mark.parametrize(
    ("error", "status"),
    [(ProviderOverloaded("The model is busy."), AnswerStatus.ERROR), (ProviderRefused("No."), AnswerStatus.REFUSED)],
)
async def test_a_provider_error_is_one_clear_stored_answer(
    shelf: Shelf, error: Exception, status: AnswerStatus
) -> None:
    desk = Desk(shelf, error)
    answer = await desk.ask()

    assert (answer.status, answer.text) == (status, str(error))
    assert answer.jobs[0].status is JobStatus.FAILED
    stored = await desk.store.list_messages(answer.conversation_id)
    assert [(m.role, m.status) for m in stored] == [(Role.USER, None), (Role.ASSISTANT, status.value)]


async def test_a_stopped_answer_is_stored_as_stopped(shelf: Shelf) -> None:
    def stop(_: ChatRequest) -> ChatResponse:
        raise asyncio.CancelledError

    desk = Desk(shelf, stop)
    with pytest.raises(asyncio.CancelledError):
        await desk.ask()
    conversation = (await desk.store.list_conversations("local"))[0]
    stored = await desk.store.list_messages(conversation.id)

    assert stored[-1].status == AnswerStatus.STOPPED.value


@pytest.mark.parametrize("text", ["", "  \n", "?!", "x" * 20_001])
async def test_what_is_no_question_is_refused_and_not_stored(shelf: Shelf, text: str) -> None:
    desk = Desk(shelf)
    with pytest.raises(BadInput):
        await desk.ask(text)

    assert await desk.store.list_conversations("local") == []


async def test_a_failed_question_keeps_nothing_of_what_its_tools_gave(shelf: Shelf) -> None:
    """It is for another try, which does not come; the tree is shown to people, and stays for months."""
    desk = Desk(shelf, SEARCH, ProviderBadRequest("No."))
    answer = await desk.ask()
    tree = await desk.job_store.list_tree(answer.jobs[0].id)

    assert answer.status is AnswerStatus.ERROR
    assert [job.output["passages"] for job in tree if job.kind is JobKind.TOOL] == [2]
    assert all({CALL, KEPT}.isdisjoint(job.output) for job in tree)
    assert all({CALL, KEPT}.isdisjoint(job_json(job, answer.jobs)["output"]) for job in answer.jobs)


async def test_an_unknown_conversation_is_an_error(shelf: Shelf) -> None:
    with pytest.raises(NotFound):
        await Desk(shelf).ask(conversation_id="nope")


async def test_a_follow_up_sees_the_turn_before_and_may_cite_its_passages(shelf: Shelf) -> None:
    desk = Desk(shelf, SEARCH, says("It hangs under the stairs [1]."), says("Under the stairs, as said [1]."))
    first = await desk.ask()
    second = await desk.ask("Sorry, where?")

    assert second.conversation_id == first.conversation_id
    assert second.citations[0].quote == KEY
    assert desk.readings[1].focus is not None


@pytest.mark.parametrize("asked", [None, "house.md=2", "house.md=1", "house.md=end"])
async def test_a_question_never_reads_beyond_what_its_asker_and_its_channel_may(
    shelf: Shelf, asked: str | None
) -> None:
    document = "local/handbook/house.md"
    await shelf.settings.save_position(PersonAddress(workspace="local", person="ada"), document, 1)
    desk = Desk(shelf, SEARCH, says("Nothing."))
    await desk.ask(position=asked)

    assert [reading.scope.positions for reading in desk.readings] == [{document: 1}]


async def test_a_position_closes_pages_to_tools_and_proof(shelf: Shelf) -> None:
    desk = Desk(
        shelf,
        calls(ToolInvocation(id="t1", name="search", arguments={"query": "garden shed"})),
        says("There is a shed [1]."),
    )
    answer = await desk.ask("Are gardens locked?", position="house.md=1")

    assert answer.status is AnswerStatus.NOT_FOUND
    assert all("shed" not in reference.snippet for reference in answer.references)


async def test_a_document_is_the_only_one_to_answer_from(shelf: Shelf) -> None:
    await shelf.add("boat.md", "# Boat\n\nThe key of the boat is red.", title="Boat")
    desk = Desk(shelf, SEARCH, says("Red [1]."))
    answer = await desk.ask(document="Boat")

    assert {citation.document for citation in answer.citations} == {"boat.md"}


async def test_a_journal_is_found_among_the_journals_first(shelf: Shelf) -> None:
    await shelf.add("hill.json", "# Hill\n\nThe key of the hill is green.", title="The Hill", kind="foundry")
    await shelf.add("hill.md", "# Hill\n\nNotes about the key of the hill.", title="Hill")
    desk = Desk(shelf, SEARCH, says("Green [1]."))
    answer = await desk.ask(journal="hill")

    assert {citation.document for citation in answer.citations} == {"hill.json"}


async def test_a_document_that_is_not_there_is_an_error_answer_naming_it(shelf: Shelf) -> None:
    answer = await Desk(shelf).ask(document="Submarine")

    assert answer.status is AnswerStatus.ERROR
    assert "Submarine" in answer.text


async def test_wikilinks_of_the_question_are_direct_references(shelf: Shelf) -> None:
    answer = await Desk(shelf, SEARCH, says("Under the stairs [1].")).ask("Where is the key of [[House]] and [[Barn]]?")
    direct = [(r.label, r.document, r.broken) for r in answer.references if r.type.value == "direct"]

    assert direct == [("[[House]]", "house.md", False), ("[[Barn]]", None, True)]


async def test_suggestions_are_questions_that_the_index_finds(shelf: Shelf) -> None:
    answer = await Desk(shelf, SEARCH, says("Under the stairs [1].")).ask()

    assert answer.suggestions == ("Are gardens locked?",)


async def test_a_failed_request_can_be_asked_again_with_its_options(shelf: Shelf) -> None:
    desk = Desk(shelf, ProviderOverloaded("busy"), SEARCH, says("Under the stairs [1]."))
    failed = await desk.ask(document="House", query_type=QueryType.SUMMARY)
    jobs = Jobs(desk.job_store, desk.store, desk.clock)
    answer = await desk.service.answer(await jobs.question_of(failed.jobs[0].id, "local"), desk.progress)

    assert (answer.status, answer.conversation_id) == (AnswerStatus.ANSWERED, failed.conversation_id)
    assert desk.readings[-1].document is not None
    assert answer.jobs[0].input["query_type"] == "summary"
