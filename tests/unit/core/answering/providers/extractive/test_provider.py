"""A whole turn of the extractive provider: search, search again, read a page, quote or say what is missing."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from core.answering.answers.sentences import say
from core.answering.providers.extractive.provider import ExtractiveProvider
from core.answering.providers.extractive.quotes import Quote, shown_items
from core.domain.chat import (
    ChatMessage,
    ChatRequest,
    ChatRole,
    ToolChoice,
    ToolDefinition,
    ToolInvocation,
    ToolResult,
)
from core.domain.corpus import SourcedPassage
from core.domain.passages import Span
from core.domain.replies import ChatResponse, StopReason
from tests.unit.core.answering.providers.extractive.small_library import (
    TOOLS,
    FirstSentences,
    WordJudge,
    passages_of,
    search_result,
)

POISONS = (
    "Sight rot can be cured with the flower Eyebright. It grows in swamps.",
    "Ropes are sold by the ell. Tents are sold by the piece.",
)
TABLE = "Item\tKind\tPrice\nMalice\tInhaled\t250 gp\nEther\tInhaled\t300 gp\nTorpor\tIngested\t600 gp"


def provider(floor: float = 0.0, ceilings: Mapping[str, float] | None = None) -> ExtractiveProvider:
    return ExtractiveProvider(ranker=FirstSentences(), judge=WordJudge(floor, ceilings or {}))


def user(text: str) -> ChatMessage:
    return ChatMessage(role=ChatRole.USER, text=text)


async def run(
    question: str,
    library: Sequence[SourcedPassage],
    *,
    history: tuple[ChatMessage, ...] = (),
    page: Sequence[SourcedPassage] = (),
    system: str = "",
    ceilings: Mapping[str, float] | None = None,
) -> tuple[ChatResponse, list[ToolInvocation]]:
    """The answer, and the calls made on the way; every search finds `library`, get_page reads `page`."""
    messages = [*history, user(question)]
    calls: list[ToolInvocation] = []
    made = provider(ceilings=ceilings)
    while True:
        response = await made.complete(ChatRequest(system=system, messages=tuple(messages), tools=TOOLS))
        if not response.tool_invocations:
            return response, calls
        calls.extend(response.tool_invocations)
        results: tuple[ToolResult, ...] = tuple(
            search_result(call, library if call.name == "search" else page) for call in response.tool_invocations
        )
        messages.append(ChatMessage(role=ChatRole.ASSISTANT, tool_invocations=response.tool_invocations))
        messages.append(ChatMessage(role=ChatRole.TOOL_RESULT, tool_results=results))


async def test_it_searches_first() -> None:
    response = await provider().complete(
        ChatRequest(system="", messages=(user("Which flower cures sight rot?"),), tools=TOOLS)
    )
    (call,) = response.tool_invocations
    assert (call.name, call.arguments["query"]) == ("search", "Which flower cures sight rot?")
    assert response.stop_reason is StopReason.TOOLS


async def test_how_far_somebody_has_read_is_neither_searched_for_nor_judged() -> None:
    asked = "I'm at chapter 9: Which flower cures sight rot? (no spoilers)"
    response, (call,) = await run(asked, passages_of("poisons.md", *POISONS))
    plain, _ = await run("Which flower cures sight rot?", passages_of("poisons.md", *POISONS))
    assert call.arguments["query"] == "Which flower cures sight rot?"
    assert response.segments == plain.segments


async def test_it_quotes_the_sentence_that_answers_with_its_place() -> None:
    response, calls = await run("Which flower cures sight rot?", passages_of("poisons.md", *POISONS))
    first = response.segments[0]
    (citation,) = first.citations
    assert first.text.startswith("Sight rot can be cured with the flower Eyebright.")
    assert POISONS[0][citation.span.start : citation.span.end] == citation.cited_text
    assert len(calls) == 1


async def test_a_text_that_two_pages_have_is_quoted_once() -> None:
    journal = passages_of("journal.md", f"{POISONS[0]} Ask the monks for it.")
    response, _ = await run("Which flower cures sight rot?", [*passages_of("rules.md", *POISONS), *journal])
    assert "".join(item.text for item in response.segments).count(POISONS[0]) == 1


async def test_shown_text_loses_markup_that_the_citation_keeps() -> None:
    raw = "Sight rot is cured by the **flower** [Eyebright](herbs/eyebright) alone"
    response, _ = await run("Which flower cures sight rot?", passages_of("poisons.md", raw))
    assert response.segments[0].text == "Sight rot is cured by the flower Eyebright alone"


async def test_it_says_once_a_conversation_that_it_quotes() -> None:
    library = passages_of("poisons.md", *POISONS)
    first, _ = await run("Which flower cures sight rot?", library)
    assert first.segments[-1].text.strip() == say("quotes_note")
    assert first.segments[-1].citations == ()
    history = (user("Which flower cures sight rot?"), ChatMessage(role=ChatRole.ASSISTANT, text=first.text))
    second, _ = await run("Where does that flower Eyebright grow, in swamps?", library, history=history)
    assert say("quotes_note") not in second.text


async def test_where_nothing_answers_it_searches_once_more_and_then_says_so_without_a_citation() -> None:
    response, calls = await run("Who won the football cup?", passages_of("poisons.md", *POISONS))
    assert [call.arguments["query"] for call in calls] == ["Who won the football cup?", "won football cup"]
    assert "did not find" in response.text
    assert not any(segment.citations for segment in response.segments)


async def test_a_near_miss_names_the_closest_passages_without_quoting_them() -> None:
    library = passages_of("poisons.md", *POISONS, heading="Cures")
    response, _ = await run("What does the flower that cures sight rot cost?", library, ceilings={"": 0.01})
    assert "closest passages are in “poisons.md > Cures”" in response.text
    assert "Eyebright" not in response.text
    assert not any(segment.citations for segment in response.segments)


async def test_a_question_that_names_a_document_is_answered_from_it() -> None:
    library = [
        *passages_of("minutes-7.md", "The crane arrives in May, said the crane board.", heading="Crane"),
        *passages_of("minutes-8.md", "It comes in July, and the crane is red."),
    ]
    response, _ = await run("When does the crane arrive, according to Minutes 8?", library)
    assert "July" in response.segments[0].text
    assert "May" not in response.text


async def test_the_tenth_passage_is_still_judged() -> None:
    library = passages_of(
        "book.md", *(f"The miller walked home, {n} miles." for n in range(9)), "Old Tapio built the ferry."
    )
    response, _ = await run("Who built the ferry?", library)
    assert "Tapio" in response.segments[0].text


async def test_a_follow_up_is_searched_with_the_words_of_the_question_before() -> None:
    history = (user("Which flower cures sight rot?"), ChatMessage(role=ChatRole.ASSISTANT, text="Eyebright."))
    _, calls = await run("and where does it grow?", passages_of("poisons.md", *POISONS), history=history)
    assert calls[0].arguments["query"] == "and where does it grow (flower cures sight rot)?"


async def test_a_list_reads_the_page_and_gives_the_rows_that_are_meant_under_their_header() -> None:
    library = passages_of("poisons.md", TABLE, heading="Poisons")
    response, calls = await run("List all inhaled poisons of the table.", library, page=library)
    assert [call.name for call in calls] == ["search", "get_page"]
    assert response.text.startswith(
        "| Item | Kind | Price |\n|---|---|---|\n| Malice | Inhaled | 250 gp |\n| Ether | Inhaled | 300 gp |\n\n"
    )
    assert "Torpor" not in response.text


def test_lines_that_are_no_sentences_stay_lines() -> None:
    [source] = passages_of("loft.md", "Owner of the net loft\nAnn Hill")
    assert shown_items(source, source.passage.sentences, as_list=False) == ["Owner of the net loft\nAnn Hill"]


def test_each_item_of_a_quoted_list_is_a_text_of_its_own() -> None:
    text = "1. Stop the pump. Wait a minute.\n2. Start it again."
    [source] = passages_of("pump.md", text)
    parts = ("1. Stop the pump.", "Wait a minute.", "2. Start it again.")
    run = [Span(start := source.passage.text.index(part), start + len(part)) for part in parts]
    assert shown_items(source, run, as_list=False) == ["1. Stop the pump. Wait a minute.", "2. Start it again."]


async def test_documents_that_a_question_names_are_searched_and_quoted_apart() -> None:
    library = [
        *passages_of("Meeting 77.md", "The meeting duration was 95 minutes.", heading="Duration"),
        *passages_of("Meeting 79.md", "The meeting duration was 80 minutes.", heading="Duration"),
        *passages_of("Meeting 80.md", "The meeting was about boats.", heading="Boats"),
    ]
    response, calls = await run("How many minutes was the duration of Meetings 77 and 79?", library)
    assert [call.arguments.get("document") for call in calls] == [None, "Meeting 77.md", "Meeting 79.md"]
    assert response.text.startswith(
        "**Meeting 77.md**:\nThe meeting duration was 95 minutes.\n\n"
        "**Meeting 79.md**:\nThe meeting duration was 80 minutes."
    )


async def test_a_named_document_without_an_answer_is_named() -> None:
    library = [
        *passages_of("Meeting 77.md", "The meeting duration was 95 minutes.", heading="Duration"),
        *passages_of("Meeting 79.md", "Boats were sold for 9 crowns.", heading="Boats"),
    ]
    judged = {"MEETING 77": 1.0, "MEETING 79": 0.01}
    response, _ = await run("How many minutes was the duration of Meetings 77 and 79?", library, ceilings=judged)
    assert "I did not find an answer in “Meeting 79.md”." in response.text


async def test_a_row_whose_columns_got_lost_is_quoted_below_its_head() -> None:
    text = "Catch of herring in tons\n2009 2010 2011\nLinden 60,400 60,500 60,600\nVoss 5,000 5,100 5,200"
    response, _ = await run("What was the catch of herring in Voss?", passages_of("catch.pdf", text))
    assert response.text.startswith("Catch of herring in tons\n2009 2010 2011\nVoss 5,000 5,100 5,200\n")


async def test_a_summary_of_a_section_quotes_its_beginning() -> None:
    text = "Rain is water. It falls from clouds. Clouds are made of drops. Drops join. Then they fall. That is rain."
    library = passages_of("weather.md", text, heading="Rain")
    response, _ = await run("Summarise rain.", library, page=library)
    assert [segment.text.strip(" \n-") for segment in response.segments[:2]] == [
        "Rain is water.",
        "It falls from clouds.",
    ]


async def test_a_summary_of_a_page_quotes_the_first_sentence_of_each_section() -> None:
    long = " ".join(f"Rain number {number} falls on many roofs." for number in range(12))
    library = passages_of("weather.md", long, heading="Rain")
    response, _ = await run("Summarise rain.", library, page=library)
    assert sum(bool(segment.citations) for segment in response.segments) == 1


async def test_without_tools_it_answers_from_what_the_conversation_holds() -> None:
    call = ToolInvocation(id="1", name="search", arguments={"query": "sight rot"})
    result = search_result(call, passages_of("poisons.md", *POISONS))
    history = (
        user("What is sight rot?"),
        ChatMessage(role=ChatRole.ASSISTANT, tool_invocations=(call,)),
        ChatMessage(role=ChatRole.TOOL_RESULT, tool_results=(result,)),
        user("Which flower cures sight rot?"),
    )
    pieces: list[str] = []
    request = ChatRequest(system="", messages=history, tools=TOOLS, tool_choice=ToolChoice.NONE)
    response = await provider().complete(request, pieces.append)
    assert "Eyebright" in response.text
    assert "".join(pieces) == response.text
    assert len(pieces) > 3, "word by word, as a model sends them"


async def test_more_sentences_than_can_be_judged_are_thinned_out_by_the_ranker() -> None:
    text = " ".join(f"Line {number} is about nothing." for number in range(30)) + " The flower Eyebright cures it."
    judge = WordJudge()
    made = ExtractiveProvider(ranker=FirstSentences(), judge=judge)
    call = ToolInvocation(id="1", name="search", arguments={"query": "q"})
    messages = (
        user("Which flower cures it?"),
        ChatMessage(role=ChatRole.ASSISTANT, tool_invocations=(call,)),
        ChatMessage(role=ChatRole.TOOL_RESULT, tool_results=(search_result(call, passages_of("p.md", text)),)),
    )
    response = await made.complete(ChatRequest(system="", messages=messages, tools=TOOLS))
    assert "Eyebright" in response.text
    assert not any(read.endswith("Line 2 is about nothing.") for read in judge.read)
    await made.close()


def test_it_quotes_only() -> None:
    capabilities = provider().capabilities
    assert (capabilities.tools, capabilities.citations, capabilities.quotes_only) == (True, True, True)


LISTING = '2 documents, newest first:\n- june.md: "June", dated 2026-06-09\n- may.md: "May: early", dated 2026-05-12'
LATEST_TOOLS = (*TOOLS, ToolDefinition(name="list_documents", description="", parameters={}))


async def latest(question: str, listing: str) -> tuple[ChatResponse, list[ToolInvocation]]:
    """As `run`, with the tool that lists documents; a search of a document finds its own passages."""
    own = {
        "june.md": passages_of("june.md", "The ramp was closed. Nobody came.", heading="Ramp"),
        "may.md": passages_of("may.md", "The ramp was opened. All came.", heading="Ramp"),
    }
    messages, calls = [user(question)], []
    while True:
        request = ChatRequest(system="", messages=tuple(messages), tools=LATEST_TOOLS)
        response = await provider().complete(request)
        if not response.tool_invocations:
            return response, calls
        calls.extend(response.tool_invocations)
        everything = [*own["june.md"], *own["may.md"]]
        results = tuple(
            ToolResult(invocation_id=call.id, name=call.name, text=listing)
            if call.name == "list_documents"
            else search_result(call, own.get(str(call.arguments.get("document")), everything))
            for call in response.tool_invocations
        )
        messages.append(ChatMessage(role=ChatRole.ASSISTANT, tool_invocations=response.tool_invocations))
        messages.append(ChatMessage(role=ChatRole.TOOL_RESULT, tool_results=results))


async def test_the_last_two_documents_are_listed_searched_and_summed_up_one_by_one() -> None:
    response, calls = await latest("Summarise the last two council meetings", LISTING)
    assert [(call.id, call.name, call.arguments.get("document")) for call in calls] == [
        ("list_documents-1", "list_documents", None),
        ("search-1", "search", "june.md"),
        ("search-2", "search", "may.md"),
    ]
    assert calls[0].arguments == {"words": "council meetings", "until": "today", "limit": 2}
    assert response.text.startswith(
        "**june.md**:\n- The ramp was closed.\n- Nobody came.\n\n**may.md**:\n- The ramp was opened."
    )
    assert all(segment.citations for segment in response.segments if "ramp" in segment.text)


async def test_a_question_about_the_last_document_is_answered_from_it_alone() -> None:
    response, calls = await latest("Was the ramp closed at the last meeting?", LISTING)
    assert [call.arguments.get("document") for call in calls] == [None, "june.md"]
    assert "The ramp was closed." in response.text


async def test_where_no_document_is_meant_everything_is_searched() -> None:
    _, calls = await latest("Was the ramp closed at the last meeting?", "0 documents.")
    assert [call.arguments.get("document") for call in calls] == [None, None]


FERRY = ("Every ferry has to leave where the north pier ends.", "The harbour master sets the toll in May.")
HARBOUR = [*passages_of("ferry.md", FERRY[0]), *passages_of("toll.md", FERRY[1])]


async def test_each_part_of_a_question_is_searched_and_quoted_apart() -> None:
    response, calls = await run("Where does the ferry leave, and who sets the toll?", HARBOUR)
    whole = "Where does the ferry leave, and who sets the toll?"
    assert [call.arguments["query"] for call in calls] == ["Where does the ferry leave?", whole, "who sets the toll?"]
    assert [citation.cited_text for segment in response.segments for citation in segment.citations] == list(FERRY)


async def test_the_part_without_an_answer_is_named() -> None:
    response, _ = await run("Where does the ferry leave, and who painted the chapel?", HARBOUR)
    assert "north pier" in response.text
    assert "I did not find an answer to “who painted the chapel?” in the documents." in response.text
    assert "toll" not in response.text


async def test_a_part_that_points_back_is_searched_within_the_whole_question() -> None:
    _, calls = await run("Where does the ferry leave, and when does it return?", HARBOUR)
    assert [call.arguments["query"] for call in calls][:2] == [
        "Where does the ferry leave?",
        "Where does the ferry leave, and when does it return?",
    ]


async def test_a_row_is_no_answer_to_what_rows_add_up_to() -> None:
    library = passages_of("poisons.md", TABLE, heading="Poisons")
    response, _ = await run("What is the average price of the inhaled poisons?", library, page=library)
    assert not any(segment.citations for segment in response.segments)


async def test_a_row_without_a_word_of_the_question_is_no_answer() -> None:
    library = passages_of("poisons.md", TABLE, heading="Poisons")
    response, _ = await run("What is the weight of Malice?", library, page=library)
    assert not any(segment.citations for segment in response.segments)
    response, _ = await run("What is the price of Malice?", library, page=library)
    assert any("250 gp" in segment.text for segment in response.segments)


async def test_most_words_of_a_question_are_enough_for_a_row() -> None:
    library = passages_of("poisons.md", TABLE, heading="Poisons")
    response, _ = await run("What price of the poison Malice is normal?", library, page=library)
    assert any("250 gp" in segment.text for segment in response.segments)


async def test_prose_in_a_table_may_answer_in_other_words() -> None:
    cell = "Knows each ladder, counts the bells, and trains two new hands every spring"
    library = passages_of("crew.md", f"Rank\tDuties\nMate\t{cell}\nCook\tStews", heading="Crew")
    response, _ = await run("Which duties of the harbour has a mate to be good at here?", library, page=library)
    assert any("trains two new hands" in segment.text for segment in response.segments)


@pytest.mark.parametrize(("effect", "answers"), [("Limited to 30 feet", True), ("Limited to 30 days", False)])
async def test_a_unit_tells_the_quantity_of_a_row(effect: str, answers: bool) -> None:
    library = passages_of("weather.md", f"Weather\tSight\nFog\t{effect}\nRain\tGood", heading="Weather")
    response, _ = await run("How far is the sight in fog?", library, page=library)
    assert any(effect in segment.text for segment in response.segments) is answers


async def test_a_quote_that_announces_a_list_brings_it() -> None:
    text = "The mate asks the smith for two changes of the bells:\n- A longer rope\n- A lid\n\nBob left."
    library = _with_marks(passages_of("bells.md", text, heading="Bells"))
    response, calls = await run("Which two changes of the bells does the mate ask for?", library, page=library)
    assert [call.name for call in calls] == ["search", "get_page"]
    assert "A longer rope" in response.text
    assert "A lid" in response.text
    assert "Bob" not in response.text


async def test_a_question_in_the_plural_gets_the_list_of_its_best_quote() -> None:
    text = "- Mend the ramp of the crane\n- Paint a buoy\n- Ring at noon"
    library = passages_of("crane.md", text, heading="Goals")
    marked = _with_marks(library)
    response, _ = await run("What are the goals for the crane?", marked, page=marked)
    assert "Paint a buoy" in response.text
    response, _ = await run("What mends the ramp?", marked, page=marked)
    assert "Paint a buoy" not in response.text


def _with_marks(passages: Sequence[SourcedPassage]) -> list[SourcedPassage]:
    """As the chunker cuts them: sentences begin behind the marks of lists."""
    return [
        replace(
            found,
            passage=replace(
                found.passage,
                sentences=tuple(
                    Span(span.start + 2 * found.passage.text.startswith("- ", span.start), span.end)
                    for span in found.passage.sentences
                ),
            ),
        )
        for found in passages
    ]


async def test_a_part_may_be_answered_from_another_document_than_the_named_one() -> None:
    library = [
        *passages_of("harbour board.md", "The harbour board meets on Monday.", heading="Board"),
        *passages_of("choir.md", "The choir sings on Friday.", heading="Choir"),
    ]
    response, _ = await run("When does the harbour board meet, and when does the choir sing?", library)
    assert "Monday" in response.text
    assert "Friday" in response.text


async def test_a_follow_up_gets_another_sentence_than_the_one_it_follows() -> None:
    text = "The lamp oil is kept below the lamp stair. The stair of the lamp is locked at dusk."
    library = passages_of("lamp.md", text, heading="Lamp")
    told = "The lamp oil is kept below the lamp stair."
    history = (user("Where is the lamp oil?"), ChatMessage(role=ChatRole.ASSISTANT, text=told))
    response, _ = await run("and the stair?", library, history=history, page=library)
    assert "locked at dusk" in response.text.split("\n\n")[0]


async def test_a_quote_that_mostly_repeats_the_last_answer_is_told() -> None:
    (source,) = passages_of("plants.md", "It is rare. Sight rot can be cured with Eyebright. Boil it for an hour.")
    short, told, new = source.passage.sentences
    answer = "Sight rot can be cured with Eyebright."
    longer = [Quote(source=source, sentences=found, logit=0.0, score=0.0) for found in ((short, told), (told, new))]
    assert [quote.is_told(answer) for quote in longer] == [True, True]
    assert not Quote(source=source, sentences=(new,), logit=0.0, score=0.0).is_told(answer)


async def test_a_question_without_a_subject_is_only_answered_about_what_people_talked_of() -> None:
    library = passages_of("gulls.md", "There are nine gulls since spring.", heading="Gulls")
    for said, is_answered in (("the gulls are back!", True), ("standup in five minutes?", False)):
        response, _ = await run("how many are there?", library, history=(user(said),), page=library)
        assert any(segment.citations for segment in response.segments) == is_answered


async def test_what_a_person_said_wins_over_a_quote_beside_the_question() -> None:
    library = passages_of("plants.md", "The ramp is steep until noon. Ropes are sold by the ell.")
    answered = (user("Who leaves?"), ChatMessage(role=ChatRole.ASSISTANT, text="Nobody."))
    said = (*answered, user("she repairs the ramp on Monday"))
    response, _ = await run("when does she repair the ramp?", library, history=said, page=library)
    assert response.text == say("not_found")
