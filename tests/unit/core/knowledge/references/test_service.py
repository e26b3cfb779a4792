"""References around answers, from question to what is stored: over stores in memory and a scripted model."""

from collections.abc import Sequence

import pytest

from core.domain.answer import Answer, AnswerStatus, Citation, Draft, Evidence, Reference, ReferenceType
from core.domain.chat import ChatMessage, ChatRole, NumberedPassage, ToolInvocation, ToolResult
from core.domain.conversation import Role
from core.domain.corpus import Document, SearchScope, SourcedPassage
from core.domain.incoming import Attachment, Talk
from core.domain.jobs import Job, JobStatus
from core.domain.replies import CitedText
from core.errors import BadInput, StorageError
from core.knowledge.links import MOST_LINKS
from core.knowledge.references.document_lines import DocumentLines
from core.knowledge.references.linked_context import OPENED
from core.knowledge.references.lists import MOST_KEPT, all_references, labels, looked_at, search_references
from core.knowledge.references.service import References
from core.work.steps import NO_STEPS, Step
from tests.builders import NOON, build_citation, build_document, build_pages, build_passages
from tests.scripted import ScriptedProvider, calls, says
from tests.unit.core.answering.test_service import KEY, SEARCH, Desk, message
from tests.unit.core.library_builder import Shelf


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("house.md", f"# Keys\n\n{KEY}\n\n## Spare\n\nBen has one.", "# Garden\n\nA shed.", title="House")
    await shelf.add("boat.md", "# Boat\n\nThe boat is red.", title="The Boat")
    return shelf


def direct(answer: Answer) -> list[Reference]:
    return [reference for reference in answer.references if reference.type is ReferenceType.DIRECT]


def step_named(answer: Answer, name: str) -> Job:
    return next(job for job in answer.jobs if job.name == name)


def offered(desk: Desk, request: int = 0) -> list[str]:
    """The texts that stand behind the question in a request before anything was called."""
    turns = desk.provider.requests[request].messages
    results = [result for turn in turns for result in turn.tool_results if result.name == OPENED]
    return [item.source.passage.text for result in results for item in result.passages]


async def test_a_link_is_shown_with_path_and_line_and_its_text_can_be_cited(shelf: Shelf) -> None:
    desk = Desk(shelf, says("It is red [2]."))
    answer = await desk.ask("What colour has [[The Boat]]?")

    assert [(r.label, r.document, r.summary, r.broken) for r in direct(answer)] == [
        ("[[The Boat]]", "boat.md", "The boat is red.", False)
    ]
    assert offered(desk) == ["# Boat", "The boat is red."]
    assert (answer.status, answer.citations[0].document) == (AnswerStatus.ANSWERED, "boat.md")
    assert (answer.citations[0].quote, answer.citations[0].proved) == ("The boat is red.", True)


async def test_a_heading_names_a_section_and_offers_that_alone(shelf: Shelf) -> None:
    desk = Desk(shelf, says("Ben [2]."))
    answer = await desk.ask("Who has one? [[House#Spare]]")

    assert offered(desk) == ["## Spare", "Ben has one."]
    assert [(r.label, r.heading) for r in direct(answer)] == [("[[House#Spare]]", "Spare")]


async def test_a_heading_that_is_not_there_is_told_with_the_nearest(shelf: Shelf) -> None:
    answer = await Desk(shelf, says("Ben [4].")).ask("Who has one? [[House#Spares]]")

    assert [(r.document, r.heading, r.near) for r in direct(answer)] == [("house.md", "", ("[[House#Spare]]",))]


async def test_empty_messages(shelf: Shelf) -> None:
    for text in ("", "   ", "[[]]", "[[ ]]?"):
        with pytest.raises(BadInput):
            await Desk(shelf).ask(text)


async def test_messages_with_only_wikilinks(shelf: Shelf) -> None:
    desk = Desk(shelf, says("It is red [2]."))
    answer = await desk.ask("[[The Boat]]")

    assert (answer.status, [r.document for r in direct(answer)]) == (AnswerStatus.ANSWERED, ["boat.md"])


async def test_broken_wikilinks(shelf: Shelf) -> None:
    desk = Desk(shelf, says("No [1]."))
    answer = await desk.ask("What of [[The Boats]] and [[Submarine fleet of Ulm]]?")

    assert [(r.label, r.document, r.broken, r.near) for r in direct(answer)] == [
        ("[[The Boats]]", None, True, ("[[The Boat]]",)),
        ("[[Submarine fleet of Ulm]]", None, True, ()),
    ]
    told = desk.provider.requests[0].messages[-1].tool_results[0].text
    assert "[[The Boats]]: no document has this name; near it are [[The Boat]]" in told
    assert offered(desk) == []


async def test_a_link_that_several_documents_answer_to_proposes_all(shelf: Shelf) -> None:
    await shelf.add("old/boat.md", "# Boat\n\nIt was green.", title="Old boat")
    answer = await Desk(shelf, says("No [1].")).ask("What of [[boat]]?")

    assert [(r.broken, r.near, r.summary) for r in direct(answer)] == [
        (True, ("[[The Boat]]", "[[Old boat]]"), "2 documents have this name")
    ]


async def test_multiple_references_to_same_document(shelf: Shelf) -> None:
    desk = Desk(shelf, says("It is red [2]."))
    answer = await desk.ask("[[The Boat]] or [[boat.md]] or ![[the boat|it]], and again [[The Boat]]?")

    assert [r.document for r in answer.references] == ["boat.md"]
    assert offered(desk) == ["# Boat", "The boat is red."]


async def test_tool_calls_that_return_no_results(shelf: Shelf) -> None:
    nothing = calls(ToolInvocation(id="t1", name="search", arguments={"query": "zeppelin"}))
    answer = await Desk(shelf, nothing, says("Nothing.")).ask("Which zeppelin?")

    assert (answer.status, answer.references) == (AnswerStatus.NOT_FOUND, ())


async def test_large_numbers_of_references(shelf: Shelf) -> None:
    for number in range(30):
        await shelf.add(f"n{number}.md", f"# Note {number}\n\nText of note {number}.", title=f"Note {number}")
    names = [f"[[Note {number}]]" for number in range(2 * MOST_LINKS)]
    answer = await Desk(shelf, says("Many [1].")).ask(" ".join(names))

    assert len(answer.references) == MOST_LINKS
    assert sum(not r.broken for r in direct(answer)) == 30
    assert sum(bool(r.summary) and not r.broken for r in direct(answer)) == 10


async def test_search_references_come_from_the_whole_loop_and_get_their_line(shelf: Shelf) -> None:
    more = calls(ToolInvocation(id="t2", name="search", arguments={"query": "boat red"}))
    answer = await Desk(shelf, SEARCH, more, says("Under the stairs [1].")).ask()

    assert [(r.document, r.summary) for r in answer.references] == [("house.md", ""), ("boat.md", "The boat is red.")]
    assert answer.citations[0].document == "house.md"


async def test_direct_references_stay_in_focus_for_follow_ups(shelf: Shelf) -> None:
    desk = Desk(shelf, says("It is red [2]."), says("Red [2]."), says("Red [2]."))
    await desk.ask("What colour has [[The Boat]]?")
    await desk.ask("Is it really?")
    assert [[d.path for d in reading.linked] for reading in desk.readings] == [["boat.md"], ["boat.md"]]
    shown = [
        i.source.document.path for t in desk.provider.requests[1].messages for r in t.tool_results for i in r.passages
    ]
    assert set(shown) == {"boat.md"}  # the text of the first question is still there, and can be cited

    desk.clock.advance(3600)
    await desk.ask("Still?")
    assert desk.readings[2].linked == ()


async def test_a_document_that_was_removed_is_in_no_focus(shelf: Shelf) -> None:
    desk = Desk(shelf, says("It is red [2]."), says("Gone."))
    await desk.ask("What colour has [[The Boat]]?")
    await shelf.corpus.remove_documents(["local/handbook/boat.md"])
    answer = await desk.ask("And now?")

    assert desk.readings[1].linked == ()
    assert answer.status is not AnswerStatus.ERROR


async def test_links_of_a_message_that_is_asked_about_count_and_so_do_its_files(shelf: Shelf) -> None:
    desk = Desk(shelf, says("It is red [2]."))
    about = Talk(message_id="m", author="Ben", text="Look at [[The Boat]]", said_at=NOON)
    files = (
        Attachment(name="house.md", size_bytes=1, reference=""),
        Attachment(name="lost.pdf", size_bytes=1, reference=""),
    )
    answer = await desk.ask("What colour is that?", about=about, attachments=files)

    assert [(r.label, r.document) for r in direct(answer)] == [("[[The Boat]]", "boat.md"), ("house.md", "house.md")]


async def test_nothing_outside_of_the_scope_is_found_or_proposed(shelf: Shelf) -> None:
    references = shelf.references()
    links = await references.of(
        message("[[House]] and [[The Boats]]"), [], SearchScope(workspace="local", sources=frozenset())
    )

    assert [(r.broken, r.near) for r in links.references] == [(True, ()), (True, ())]
    assert (links.documents, links.offer and links.offer.passages) == ((), ())


async def test_of_a_book_in_reading_nothing_beyond_is_named(shelf: Shelf) -> None:
    document = "local/handbook/house.md"
    links = await shelf.references().of(
        message("[[House#Garden]] [[House#Gardens]] [[House]]"), [], shelf.scope(**{document: 1})
    )
    said = f"{links.references} {links.offer}"

    assert "shed" not in said
    assert [(r.document, r.heading, r.near) for r in links.references] == [("house.md", "", ())]


async def test_a_question_about_one_document_is_offered_no_other(shelf: Shelf) -> None:
    desk = Desk(shelf, SEARCH, says("Under the stairs [1]."))
    answer = await desk.ask("Is it as in [[The Boat]]?", document="House")

    assert offered(desk) == []
    assert [r.document for r in direct(answer)] == ["boat.md"]


class BrokenLines(DocumentLines):
    """Can't be read."""

    async def of(self, documents: Sequence[Document], scope: SearchScope, parent: Step = NO_STEPS) -> dict[str, str]:
        raise StorageError("The disk is on fire.")


async def test_a_failed_reference_step_is_a_failed_job_and_the_answer_still_goes_out(shelf: Shelf) -> None:
    desk = Desk(shelf, SEARCH, says("Under the stairs [1]."))
    broken = BrokenLines(corpus=shelf.corpus, summaries=shelf.stores.summaries)
    use_references(desk, shelf.references(lines=broken))
    more = calls(ToolInvocation(id="t2", name="search", arguments={"query": "boat red"}))
    desk.provider = ScriptedProvider((SEARCH, more, says("Under the stairs [1].")))
    answer = await desk.ask("Where is the key of [[House]]?")

    assert (answer.status, answer.citations[0].quote) == (AnswerStatus.ANSWERED, KEY)
    for name in ("look up references", "sum up references"):
        job = step_named(answer, name)
        assert (job.status, job.error) == (JobStatus.FAILED, "The disk is on fire.")
    assert "I couldn't look up the documents that the question refers to: The disk is on fire." in answer.text
    assert [(r.document, r.summary) for r in answer.references] == [("house.md", ""), ("boat.md", "")]


async def test_a_step_that_takes_too_long_is_a_failed_job(shelf: Shelf) -> None:
    desk = Desk(shelf, SEARCH, says("Under the stairs [1]."))
    use_references(desk, shelf.references(seconds=0.0))
    answer = await desk.ask("Where is the key of [[House]]?")

    assert answer.status is AnswerStatus.ANSWERED
    assert "did not answer within" in str(step_named(answer, "look up references").error)


async def test_switched_off_links_are_words_like_others(shelf: Shelf) -> None:
    desk = Desk(shelf, SEARCH, says("Under the stairs [1]."))
    use_references(desk, None)
    answer = await desk.ask("Where is the key of [[House]]?")

    assert direct(answer) == []
    assert offered(desk) == []
    assert "references" not in {job.name for job in answer.jobs}


async def test_a_question_without_links_has_no_step_for_them(shelf: Shelf) -> None:
    answer = await Desk(shelf, says("I hope so.")).ask("Will it be nice?")

    assert answer.text.startswith("I hope so.")
    assert [job.name for job in answer.jobs if "references" in job.name] == []


async def test_the_history_keeps_what_was_named_and_offered(shelf: Shelf) -> None:
    desk = Desk(shelf, says("It is red [2]."))
    answer = await desk.ask("What colour has [[The Boat]]?")
    stored = await desk.store.list_messages(answer.conversation_id)

    assert [message.role for message in stored] == [Role.USER, Role.TOOL_RESULT, Role.ASSISTANT]
    assert stored[1].tool_calls[0].invocation.name == OPENED
    assert stored[2].references == answer.references


def build_shown(path: str, number: int) -> NumberedPassage:
    document = build_document(path, title=path.removesuffix(".md").title())
    [passage] = build_passages(build_pages(document, f"Text of {path}."))
    return NumberedPassage(number=number, source=SourcedPassage(passage=passage, document=document, page_title=""))


def build_round(*shown: NumberedPassage, name: str = "search") -> tuple[ChatMessage, ChatMessage]:
    call = ToolInvocation(id="t", name=name, arguments={})
    result = ToolResult(invocation_id="t", name=name, text="", passages=shown)
    return (
        ChatMessage(role=ChatRole.ASSISTANT, tool_invocations=(call,)),
        ChatMessage(role=ChatRole.TOOL_RESULT, tool_results=(result,)),
    )


def build_draft(*rounds: tuple[ChatMessage, ...], adopted: tuple[NumberedPassage, ...] = ()) -> Draft:
    new = tuple(turn for turns in rounds for turn in turns)
    shown = [item for turn in new for result in turn.tool_results for item in result.passages]
    evidence = Evidence(passages={item.source.passage.id: item for item in [*adopted, *shown]})
    return Draft(segments=(CitedText(text="Yes."),), evidence=evidence, new_messages=new)


def cite(item: NumberedPassage) -> Citation:
    return build_citation(item.source.document.id, document=item.source.document.path)


A, B, C = (build_shown(f"{name}.md", number) for number, name in enumerate("abc", 1))


def paths(references: list[Reference]) -> list[str | None]:
    return [reference.document for reference in references]


def test_what_tools_returned_in_the_whole_loop_is_listed_cited_ones_first() -> None:
    draft = build_draft(build_round(A, B), build_round(C))

    assert paths(search_references(draft, [cite(C)])) == ["c.md", "a.md", "b.md"]


def test_tool_calls_that_return_no_results_give_no_references() -> None:
    assert search_references(build_draft(build_round(), build_round()), []) == []
    assert search_references(build_draft(), []) == []


def test_what_earlier_turns_showed_counts_only_where_it_is_cited() -> None:
    draft = build_draft(build_round(A), adopted=(B, C))

    assert paths(search_references(draft, [cite(B)])) == ["b.md", "a.md"]


def test_what_was_offered_is_named_and_not_found() -> None:
    draft = build_draft(build_round(A, name=OPENED), build_round(B))

    assert paths(search_references(draft, [])) == ["b.md"]


def test_multiple_references_to_same_document_are_one() -> None:
    direct = Reference(
        type=ReferenceType.DIRECT, label="[[A]]", document="a.md", document_id=A.source.document.id, heading="Keys"
    )
    found = all_references([direct], build_draft(build_round(A, B), build_round(A, B)), [cite(A)])

    assert [(item.type, item.document) for item in found] == [
        (ReferenceType.DIRECT, "a.md"),
        (ReferenceType.SEARCH, "b.md"),
    ]


def test_large_numbers_of_references_are_bounded() -> None:
    many = [build_shown(f"{number}.md", number) for number in range(1, 3 * MOST_KEPT)]

    assert len(all_references([], build_draft(build_round(*many)), [])) == MOST_KEPT


def test_only_what_was_not_used_is_also_looked_at() -> None:
    found = [*all_references([], build_draft(build_round(A, B, C)), [cite(B)])]
    old = [Reference(type=ReferenceType.SEARCH, label=name, document=f"{name}.md") for name in "abc"]

    assert paths(looked_at(found, [cite(B)])) == ["a.md", "c.md"]
    assert paths(looked_at(old, [cite(B)])) == ["a.md", "c.md"]  # of the time before references had ids


def test_labels_make_a_sentence() -> None:
    references = [Reference(type=ReferenceType.SEARCH, label=name, document=None) for name in "abc"]

    assert [labels(references[:count]) for count in range(4)] == ["", "“a”", "“a” and “b”", "“a”, “b” and “c”"]


def use_references(desk: Desk, references: References | None) -> None:
    """Replace what the pipeline's steps ask about links."""
    for step in desk.service.steps:
        owner = getattr(step.run, "__self__", None)
        if hasattr(owner, "_references"):
            owner._references = references
