"""What people see: nothing of a document or an answer is ever read as markup."""

from rich.console import Console, RenderableType

from bot.terminal.render import (
    MOST_ATTACHED,
    answer_view,
    conversation_table,
    document_table,
    eval_view,
    explanation_view,
    footnote_links,
    hits_view,
    job_trees,
    page_view,
    running_view,
    step_line,
)
from core.access.scopes import Ground
from core.domain.answer import Answer, AnswerStatus, Reference, ReferenceType
from core.domain.corpus import PageHit, SourcedPassage
from core.domain.incoming import ThreadAddress
from core.domain.jobs import FoundText, JobKind, JobStatus
from core.domain.service import TO_THE_END
from core.features.access_explanation import AccessQuestion, Explanation, Holder, PositionOf, SourceReason
from core.features.evaluation import EvaluationReport, GoldQuestion, Outcome
from tests.builders import (
    build_citation,
    build_conversation,
    build_document,
    build_job,
    build_pages,
    build_passages,
    build_source,
)


def shown(view: RenderableType) -> str:
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    with console.file:
        console.print(view)
    return console.export_text()


def test_an_answer_shows_text_footnotes_links_and_suggestions() -> None:
    text = shown(
        answer_view(
            Answer(
                status=AnswerStatus.ANSWERED,
                text="Under the mat.[1]",
                citations=(build_citation(url="https://x.example/a", quote="[bold]under[/bold]"),),
                suggestions=("What else?",),
            )
        )
    )

    for part in (
        "Under the mat.[1]",
        '[1] Page 1 of "Guide" > Keys',
        "“[bold]under[/bold]”",
        "https://x.example/a",
        "What else?",
    ):
        assert part in text


def test_not_found_shows_the_closest_pages() -> None:
    reference = Reference(
        type=ReferenceType.SEARCH, label="Guide", document="g.md", summary="Keys", snippet="The key …"
    )
    text = shown(answer_view(Answer(status=AnswerStatus.NOT_FOUND, text="Nothing.", references=(reference,))))

    assert "Closest pages" in text
    assert "The key …" in text


def test_choices_are_numbered_and_errors_shown_as_they_are() -> None:
    clarify = shown(answer_view(Answer(status=AnswerStatus.CLARIFY, text="Which?", choices=("A", "B"))))

    assert "1. A" in clarify and "2. B" in clarify
    assert "[red]No" in shown(answer_view(Answer(status=AnswerStatus.ERROR, text="[red]No")))


def test_footnotes_of_a_command_are_led_to_where_they_lead_anywhere() -> None:
    cited = build_citation(url="https://x.example/a"), build_citation(number=2, url=None, deep_link="obsidian://open")
    text = shown(footnote_links([*cited, build_citation(number=3, url=None, deep_link=None)]))

    assert text.split() == ["[1]", "https://x.example/a", "[2]", "obsidian://open"]


def test_what_was_not_found_is_listed_unless_the_text_says_so() -> None:
    answer = Answer(status=AnswerStatus.ANSWERED, text="It is 5. No file was read.", data_gaps=("the price", "No file"))
    assert "Asked and not found:\n  • the price\n" in shown(answer_view(answer))
    assert "• No file" not in shown(answer_view(answer))


def test_steps_of_a_running_answer_are_its_latest_by_name() -> None:
    steps = [build_job("r")] + [
        build_job(f"r/{n}", parent_id="r", kind=JobKind.TOOL, name="get_page", input={"document": f"d{n}.md"})
        for n in range(10)
    ]
    text = shown(running_view(steps))
    assert "get_page  d9.md" in text and "d1.md" not in text and "request" not in text
    assert shown(running_view(steps[:1])).strip() == "…"


def test_lists_show_their_rows_and_say_when_they_are_empty() -> None:
    source = build_source()
    failed = build_document("b.pdf", source, failed_reason="encrypted")

    assert "failed: encrypted" in shown(document_table([build_document(), failed]))
    assert "c1" in shown(conversation_table([build_conversation()]))
    for empty in (document_table([]), conversation_table([]), job_trees([]), hits_view([])):
        assert len(shown(empty).strip()) > 10


def test_hits_and_pages_show_where_they_stand() -> None:
    document = build_document(title="Guide", pages=2)
    hit = PageHit(document=document, page_id="p2", page_number=2, heading_path=("Keys",), passages=(), score=1.0)

    assert "page 2 > Keys" in shown(hits_view([hit]))
    assert "Guide > Page 1  (page 1 of 2)" in shown(page_view(document, build_pages(document, "The text.")[0]))


def test_job_trees_show_children_below_their_parents() -> None:
    root = build_job("r", status=JobStatus.DONE, input={"question": "Why?"})
    child = build_job("r/t0", parent_id="r", kind=JobKind.TOOL, name="search", status=JobStatus.FAILED, error="boom")
    text = shown(job_trees([[root, child]]))

    assert text.index("Why?") < text.index("boom")
    assert "boom" not in shown(job_trees([[root, child]], roots_only=True))
    assert "found 0 passages" in shown(step_line(child))


def test_a_step_of_a_tree_shows_what_it_found() -> None:
    root = build_job("r", status=JobStatus.DONE)
    child = build_job("r/t0", parent_id="r", kind=JobKind.TOOL, name="search")
    found = FoundText(page_id="p", document_title="Tides", page_number=3, snippet="High water at noon.")

    assert "Tides, page 3: High water at noon." in shown(job_trees([[root, child]], found={"r/t0": [found]}))


def test_an_evaluation_is_one_row_a_kind_within_eighty_columns() -> None:
    question = GoldQuestion(id="q1", question="Why?", set_kind="vault", document="a.md", quote="x", answers=("y",))
    outcome = Outcome(
        question=question,
        status="answered",
        rank=2,
        footnote_document=True,
        footnote_page=True,
        holds_answer=False,
        reveals=False,
        seconds=0.25,
    )
    text = shown(eval_view(EvaluationReport(outcomes=(outcome,), left_out={"q2": "b.md is not in the library"})))
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.strip()}

    assert rows["all"] == rows["vault"] == ["1", "1.00", "1.00", "0.50", "1.00", "1.00", "0.00", "-", "-", "0.00"]
    assert "p95 250.0 ms" in text
    assert "missed q1 “Why?”: answered" in text
    assert "left out q2: b.md" in text


def test_what_looks_like_html_or_a_definition_is_shown() -> None:
    text = shown(answer_view(Answer(status=AnswerStatus.ANSWERED, text="A List<String>.\n\n<b>x</b>\n\n[1]: guide.md")))
    assert "A List<String>." in text
    assert "<b>x</b>" in text
    assert "[1]: guide.md" in text


def test_format_response() -> None:
    """The answer, then each source with journal, chapter, section and the link that opens it in Foundry."""
    link = "@UUID[JournalEntry.road.JournalEntryPage.toll]"
    cited = build_citation(
        document="road.json", document_title="The Salt Road", heading_path=("Chapter 2", "Inside"), deep_link=link
    )
    answer = Answer(status=AnswerStatus.ANSWERED, text="In the barrel.[1]", citations=(cited,))
    lines = [line.strip() for line in shown(answer_view(answer)).splitlines() if line.strip()]

    assert lines[0] == "In the barrel.[1]"
    assert lines[1].startswith("[1]") and "Chapter 2 > Inside" in lines[1] and "The Salt Road" in lines[1]
    assert lines[2:] == ["“under the mat”", link]


def in_eighty_columns(view: RenderableType) -> str:
    console = Console(width=80, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    with console.file:
        console.print(view)
    return console.export_text()


def test_what_is_typed_again_is_never_cut() -> None:
    ids = "da030ed04a364283b94c25752cbd54a1"
    table = in_eighty_columns(
        conversation_table([build_conversation(ids, title="A title that is longer than its column")])
    )
    assert ids in table and "…" not in table
    path = "minutes/2026-05-12-harbour-council-of-the-northern-isles-and-the-skerries.md"
    listed = in_eighty_columns(document_table([build_document(path, title="Harbour council")]))
    assert "…" not in listed
    assert path in "".join(line.split("  ")[0].strip() for line in listed.splitlines()[1:])


def test_hits_are_told_in_words_not_in_markdown() -> None:
    document = build_document(title="Guide", kind="markdown")
    pages = build_pages(document, "## Keys\n\n> [!tip] Ask\n- the **spare** one: [[Fleet|the boats]]")
    found = SourcedPassage(document=document, passage=build_passages(pages)[0], page_title="Keys")
    hit = PageHit(document=document, page_id="p1", page_number=1, heading_path=("Keys",), passages=(found,), score=1.0)
    assert "Ask the spare one: the boats" in shown(hits_view([hit])).replace("  ", " ")


def test_documents_that_the_question_named_are_told_and_others_on_demand() -> None:
    named = Reference(
        type=ReferenceType.DIRECT, label="[[Guide]]", document="guide.md", document_id="d1", summary="Keys."
    )
    seen = Reference(type=ReferenceType.SEARCH, label="Fleet", document="fleet.md", document_id="d2")
    answer = Answer(status=AnswerStatus.ANSWERED, text="Yes.", references=(named, seen))
    assert "Named in the question:\n  • Guide: guide.md — Keys." in shown(answer_view(answer))
    assert "Fleet" not in shown(answer_view(answer))
    assert "Fleet: fleet.md" in shown(answer_view(answer, verbose=True))
    assert "Named" not in shown(answer_view(Answer(status=AnswerStatus.ANSWERED, text="Yes.", references=(seen,))))


def test_a_job_is_not_named_twice() -> None:
    sync = build_job("s", kind=JobKind.SYNC, name="sync notes", status=JobStatus.DONE)
    found = build_job("t", kind=JobKind.TOOL, name="search", status=JobStatus.DONE)
    assert "done sync notes" in shown(job_trees([[sync]]))
    assert "done tool search" in shown(job_trees([[found]]))


HERE = ThreadAddress(platform="slack", workspace="guild", channel="C1", thread="")


def lines(address: ThreadAddress | None = HERE, *, alone: bool = False, **fields: object) -> list[str]:
    values = {"sources": (), "positions": (), **fields}
    question = AccessQuestion(workspace="guild", address=address, reader="ada")
    console = Console(width=200)
    with console.capture() as capture:
        console.print(explanation_view(Explanation(question=question, alone=alone, **values)))
    return [line.rstrip() for line in capture.get().splitlines()]


def source(number: int, ground: Ground) -> SourceReason:
    return SourceReason(name=f"s{number}", kind="folder", ground=ground, sentence="So it is.")


def test_sources_of_other_threads_are_counted_where_they_are_many() -> None:
    sources = [source(number, Ground.ATTACHED_ELSEWHERE) for number in range(MOST_ATTACHED + 3)]
    told = lines(sources=(source(90, Ground.ALLOWED), *sources, source(91, Ground.NOT_ALLOWED)))

    assert told[0] == "What ada reads in slack:C1 of the workspace guild, where others read along:"
    assert told[2:5] == ["✓ s90: So it is.", "✗ s0: So it is.", "✗ s1: So it is."]
    assert told[2 + 1 + MOST_ATTACHED :][:2] == ["✗ s91: So it is.", "✗ and 3 more that were attached in other threads"]


def test_a_workspace_without_sources_is_told_how_to_get_one() -> None:
    told = lines(None, alone=True)

    assert told[0] == "What ada reads in the workspace guild, outside of channels:"
    assert "There are no sources in the workspace guild" in told[2] and "--workspace guild ingest" in told[2]
    assert "No reading positions apply here, so readable documents can be read to the end." in told


def test_a_line_tells_how_far_a_book_is_read_by_whose_position_and_the_others() -> None:
    held = {Holder.CHANNEL: 0, Holder.PERSON: 12, Holder.LIFTED: TO_THE_END}
    document = build_document("emma.txt", title="Emma")
    books = [
        PositionOf(document=document, holder=holder, held=dict(list(held.items())[: place + 1]))
        for place, holder in enumerate(held)
    ]

    assert lines(positions=tuple(books))[-3:] == [
        "  • Emma (emma.txt): not begun, the channel's position",
        "  • Emma (emma.txt): up to page 12, ada's position (the channel's position is not begun)",
        "  • Emma (emma.txt): to the end, lifted by ada (the channel's position is not begun; ada's position is up to "
        "page 12)",
    ]
