from collections.abc import Sequence

import pytest

from core.answering.tools.base import Finding
from core.answering.tools.query_journal import MAX_CHOICES, READ_CHARACTERS, QueryJournalArguments, QueryJournalTool
from core.answering.tools.section_notes import ModelSectionReader, Purpose, SectionNote
from core.answering.tools.toolbox import Toolbox
from core.domain.chat import ToolInvocation
from core.domain.corpus import Page, SourcedPassage
from core.domain.replies import ChatResponse, CitedText
from core.errors import ProviderOverloaded, ToolFailed, ToolRetry
from core.work.steps import Step
from tests.scripted import ScriptedProvider
from tests.unit.core.library_builder import Shelf, focus_on

MINE = (
    "# Chapter 1\n\nGoblins wait at the ford.",
    "# Chapter 2\n\n## Hall\n\nThe king holds a ruby.\n\n## Cellar\n\nRats.",
)
KEEP = ("# Gate\n\nA guard with a ruby ring.", "# Tower\n\nThe wizard reads.")


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("mine.json", *MINE, title="The Lost Mine", kind="foundry")
    await shelf.add("keep.json", *KEEP, title="The Red Keep", kind="foundry")
    await shelf.add("notes.md", "The wizard owes us a ruby.", title="Notes")
    return shelf


async def query(shelf: Shelf, text: str, query_type: str = "question", context=None, **arguments: object) -> Finding:
    given = QueryJournalArguments(query=text, query_type=query_type, **arguments)
    return await QueryJournalTool().run(given, context or shelf.context())


def texts(finding: Finding) -> list[str]:
    return [item.passage.text for item in finding.passages]


async def journal(shelf: Shelf, path: str):
    return await shelf.corpus.get_document(f"local/handbook/{path}", shelf.scope())


@pytest.mark.parametrize("name", ["The Lost Mine", "lost mine", "mine.json", "The Lots Mine"])
async def test_a_journal_is_found_by_a_loose_name(shelf, name):
    assert texts(await query(shelf, "king ruby", journal_name=name)) == ["The king holds a ruby."]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("The Red Keep", "The king reads nothing"),
        ("red keep", "The king reads nothing"),
        ("RED-KEEP", "The king reads nothing"),
        ("Teh Red Keep", "The king reads nothing"),
    ],
)
async def test_fuzzy_match_journal(shelf, name, found):
    await shelf.add("keep.json", found, title="The Red Keep", kind="foundry", revision="r2")
    assert texts(await query(shelf, "king", journal_name=name)) == [found]
    with pytest.raises(ToolRetry, match="no journal 'The Blue Tower'"):
        await query(shelf, "king", journal_name="The Blue Tower")


async def test_a_name_that_fits_two_asks_which(shelf):
    await shelf.add("mine2.json", "More.", title="The Lost Mine II", kind="foundry")
    finding = await query(shelf, "ruby", journal_name="lost")
    assert finding.choices == ("The Lost Mine", "The Lost Mine II")
    assert (finding.text, finding.passages) == ("Which journal do you mean?", ())


async def test_a_mistyped_name_that_is_near_to_two_asks_which(shelf):
    await shelf.add("rad.json", "More.", title="The Rad Keep", kind="foundry")
    finding = await query(shelf, "ruby", journal_name="The Rxd Keep")
    assert set(finding.choices) == {"The Red Keep", "The Rad Keep"}


async def test_an_unknown_name_lists_the_journals_but_no_other_documents(shelf):
    with pytest.raises(ToolRetry, match=r"no journal 'Notes'\. There are: The Red Keep; The Lost Mine"):
        await query(shelf, "ruby", journal_name="Notes")


async def test_equal_titles_are_told_apart_by_their_paths(shelf):
    await shelf.add("old/keep.json", "Ruins.", title="The Red Keep", kind="foundry")
    finding = await query(shelf, "ruby", journal_name="The Red Keep")
    assert finding.choices == ("The Red Keep (keep.json)", "The Red Keep (old/keep.json)")


async def test_a_title_in_the_query_names_the_journal(shelf):
    assert texts(await query(shelf, "ruby in the red keep"))[0].startswith("A guard")


async def test_the_focus_is_asked_when_nothing_is_named(shelf):
    context = shelf.context(focus=focus_on(await journal(shelf, "keep.json")))
    assert texts(await query(shelf, "who has a ruby", context=context)) == ["A guard with a ruby ring."]


async def test_a_focus_on_something_that_is_no_journal_does_not_decide(shelf):
    context = shelf.context(focus=focus_on(await journal(shelf, "notes.md")))
    assert texts(await query(shelf, "goblins ford", context=context)) == ["Goblins wait at the ford."]


async def test_the_journal_that_is_clearly_ahead_is_taken(shelf):
    assert texts(await query(shelf, "king holds ruby"))[0] == "The king holds a ruby."


async def test_two_that_fit_equally_are_asked_about(shelf):
    finding = await query(shelf, "ruby")
    assert set(finding.choices) == {"The Lost Mine", "The Red Keep"}


async def test_where_no_journal_has_a_hit_a_question_finds_nothing(shelf):
    finding = await query(shelf, "zeppelin")
    assert finding.text.startswith("Nothing was found for 'zeppelin'")
    assert (finding.choices, finding.searches) == ((), ("zeppelin",))


async def test_where_no_journal_has_a_hit_a_summary_asks_which(shelf):
    assert set((await query(shelf, "zeppelin", "summary")).choices) == {"The Lost Mine", "The Red Keep"}


async def test_of_many_journals_a_few_are_offered(shelf):
    for number in range(30):
        await shelf.add(f"j{number}.json", "Empty hall.", title=f"Journal {number}x", kind="foundry")
    finding = await query(shelf, "zeppelin", "summary")
    assert len(finding.choices) == MAX_CHOICES
    assert finding.text == "Which journal do you mean? These fit best of 32."


async def test_all_that_fit_equally_are_offered(shelf):
    for number in range(8):
        await shelf.add(f"z{number}.json", "A guard with a ruby ring.", title=f"Zone {number}x", kind="foundry")
    assert len((await query(shelf, "guard ring")).choices) == 9


async def test_of_two_that_are_named_only_these_are_offered(shelf):
    await shelf.add("tower.json", "The king holds a ruby.", title="The Blue Tower", kind="foundry")
    finding = await query(shelf, "who has a ruby in the red keep or the lost mine")
    assert "The Blue Tower" not in finding.choices


async def test_the_longer_title_is_meant_where_one_holds_another(shelf):
    await shelf.add("mine2.json", "A pearl.", title="The Lost Mine II", kind="foundry")
    assert texts(await query(shelf, "what pearl is in the lost mine ii")) == ["A pearl."]


async def test_without_journals_any_document_will_do():
    shelf = Shelf()
    await shelf.add("notes.md", "The wizard owes us a ruby.", title="Notes")
    assert texts(await query(shelf, "ruby")) == ["The wizard owes us a ruby."]


async def test_an_empty_library_is_a_final_failure():
    with pytest.raises(ToolFailed, match=r"no journal or document"):
        await query(Shelf(), "ruby")


async def test_a_question_limited_to_a_document_asks_that_one(shelf):
    context = shelf.context(document_ids=frozenset({"local/handbook/keep.json"}))
    assert texts(await query(shelf, "ruby", context=context)) == ["A guard with a ruby ring."]


async def test_a_summary_reads_the_whole_journal_in_order(shelf):
    finding = await query(shelf, "what is it about", "summary", journal_name="Lost Mine")
    assert texts(finding) == [part for page in MINE for part in page.split("\n\n")]
    assert finding.text == '"The Lost Mine" (mine.json), whole, in order:'


async def test_a_summary_of_a_chapter_reads_that_chapter_alone(shelf):
    finding = await query(shelf, "summarise chapter 2", "summary", journal_name="Lost Mine")
    assert texts(finding) == MINE[1].split("\n\n")


async def test_a_summary_of_a_section_reads_that_section_alone(shelf):
    finding = await query(shelf, "summarise the cellar", "summary", journal_name="Lost Mine")
    assert texts(finding) == ["## Cellar", "Rats."]


async def test_a_summary_of_a_long_journal_takes_the_beginning_of_every_page_and_says_what_is_missing(shelf):
    pages = [
        f"# Room {page}\n\n" + "\n\n".join(f"{page}-{place} " + "z" * 990 for place in range(10)) for page in range(5)
    ]
    await shelf.add("long.json", *pages, title="Long", kind="foundry")
    finding = await query(shelf, "all of it", "summary", journal_name="Long")
    shown = {item.passage.page_number for item in finding.passages}
    assert shown == {1, 2, 3, 4, 5}
    assert sum(map(len, texts(finding))) <= READ_CHARACTERS
    assert [item.passage.ordinal for item in finding.passages] == sorted(
        item.passage.ordinal for item in finding.passages
    )
    assert f"Shown are {len(finding.passages)} of 55 passages" in finding.text


async def test_an_extraction_from_a_long_journal_takes_the_pages_that_match_first(shelf):
    filler = ["\n\n".join(f"{page}-{place} " + "z" * 990 for place in range(10)) for page in range(5)]
    await shelf.add("long.json", *filler, "A ruby and an opal.", title="Long", kind="foundry")
    finding = await query(shelf, "ruby opal", "extraction", journal_name="Long")
    assert texts(finding)[-1] == "A ruby and an opal."
    assert finding.searches == ("ruby opal",)


async def test_an_extraction_reads_beyond_the_section_it_names(shelf):
    finding = await query(shelf, "everything in the cellar", "extraction", journal_name="Lost Mine")
    assert texts(finding) == [part for page in MINE for part in page.split("\n\n")]


async def test_a_reading_position_ends_the_journal(shelf):
    context = shelf.context(scope=shelf.scope(**{"local/handbook/mine.json": 1}))
    finding = await query(shelf, "all", "summary", context, journal_name="Lost Mine")
    assert texts(finding) == MINE[0].split("\n\n")
    assert "Chapter 2" not in finding.text


async def test_the_outline_of_very_many_pages_is_cut(shelf):
    long = "A room of many words. " * 20
    await shelf.add("big.json", *[f"Room {page}. {long}" for page in range(170)], title="Big", kind="foundry")
    lines = (await query(shelf, "rooms", "summary", journal_name="Big")).text.splitlines()
    assert lines[0] == '"Big" (big.json), its sections in order:'
    assert lines[-2] == "- and 110 more pages"
    assert "did not fit" in lines[-1]


# ---------------------------------------------------------------------------------------- longer than one prompt

ROOMS = 5


class Rooms:
    """Notes what each page says of its first passage; `failing` pages can't be read."""

    def __init__(self, *failing: int, note: str = "Room {}: empty") -> None:
        self.failing = failing
        self.note = note
        self.asked: list[tuple[int, int, str, Purpose]] = []  # page, passages, request, purpose

    async def read(
        self, page: Page, passages: Sequence[SourcedPassage], request: str, purpose: Purpose, parent: Step
    ) -> Sequence[SectionNote]:
        self.asked.append((page.number, len(passages), request, purpose))
        if page.number in self.failing:
            raise ProviderOverloaded("The model is busy.")
        return [SectionNote(text=self.note.format(page.number), passage_ids=(passages[0].passage.id,))]


async def long_journal(shelf: Shelf, revision: str = "r1") -> None:
    rooms = [
        f"# Room {page}\n\n" + "\n\n".join(f"{page}-{place} " + "z" * 990 for place in range(10))
        for page in range(1, ROOMS + 1)
    ]
    await shelf.add("long.json", *rooms, title="Long", kind="foundry", revision=revision)


async def test_a_long_journal_is_read_section_by_section_in_order(shelf):
    await long_journal(shelf)
    reader = Rooms()
    finding = await query(shelf, "all of it", "summary", shelf.context(sections=reader), journal_name="Long")
    assert reader.asked == [(page, 11, "all of it", "summary") for page in range(1, ROOMS + 1)]
    assert texts(finding) == [f"# Room {page}" for page in range(1, ROOMS + 1)]
    assert [line for line in finding.text.splitlines() if line.startswith("- ")] == [
        f"- Room {page}: empty" for page in range(1, ROOMS + 1)
    ]
    assert finding.text.startswith('"Long" (long.json) is too long to be shown whole. Its 5 sections were read')


async def test_a_short_journal_is_shown_and_no_model_reads_it(shelf):
    reader = Rooms()
    finding = await query(shelf, "all", "summary", shelf.context(sections=reader), journal_name="Lost Mine")
    assert (reader.asked, len(finding.passages)) == ([], 7)


async def test_a_short_section_of_a_long_journal_is_shown_as_it_is(shelf):
    await long_journal(shelf)
    reader = Rooms()
    finding = await query(shelf, "summarise room 2", "summary", shelf.context(sections=reader), journal_name="Long")
    assert (reader.asked, {item.passage.page_number for item in finding.passages}) == ([], {2})


async def test_items_of_a_long_journal_are_listed_once(shelf):
    await long_journal(shelf)
    reader = Rooms(note="Moss: a smith")
    finding = await query(shelf, "all people", "extraction", shelf.context(sections=reader), journal_name="Long")
    assert finding.text.count("Moss") == 1
    assert texts(finding) == [f"# Room {page}" for page in range(1, ROOMS + 1)]
    assert {purpose for *_, purpose in reader.asked} == {"extraction"}


async def test_a_section_that_fails_is_named_and_the_others_stand(shelf):
    await long_journal(shelf)
    context = shelf.context(sections=Rooms(2, 4))
    finding = await query(shelf, "all of it", "summary", context, journal_name="Long")
    assert texts(finding) == ["# Room 1", "# Room 3", "# Room 5"]
    assert finding.text.endswith("Not read: Room 2; Room 4. Say that the answer may be incomplete.")


async def test_where_no_section_can_be_read_the_call_fails_and_not_the_question(shelf):
    await long_journal(shelf)
    tools = Toolbox([QueryJournalTool()], shelf.context(sections=Rooms(*range(1, ROOMS + 1))))
    arguments = {"query": "all of it", "query_type": "summary", "journal_name": "Long"}
    result = await tools.invoke(ToolInvocation(id="c1", name="query_journal", arguments=arguments))
    assert result.is_error
    assert "'Long' is too long to be shown whole and could not be read: The model is busy." in result.text


async def test_no_section_beyond_the_reading_position_is_read_or_named(shelf):
    await long_journal(shelf)
    reader = Rooms()
    context = shelf.context(scope=shelf.scope(**{"local/handbook/long.json": 3}), sections=reader)
    finding = await query(shelf, "all of it", "summary", context, journal_name="Long")
    assert [page for page, *_ in reader.asked] == [1, 2, 3]
    assert "Room 4" not in finding.text and "3 sections" in finding.text


async def test_the_passages_of_many_notes_are_bounded_and_every_note_still_shown(shelf):
    await shelf.add("big.json", *("y" * 990 for _ in range(40)), title="Big", kind="foundry")
    finding = await query(shelf, "all", "summary", shelf.context(sections=Rooms()), journal_name="Big")
    assert sum(map(len, texts(finding))) <= READ_CHARACTERS
    assert finding.text.count(": empty") == 40


async def test_calls_without_models_are_cut_and_say_so(shelf):
    await long_journal(shelf)
    reader = Rooms()
    toolbox = Toolbox([QueryJournalTool()], shelf.context(sections=reader))
    arguments = {"query": "all of it", "query_type": "summary", "journal_name": "Long"}
    call = ToolInvocation(id="c1", name="query_journal", arguments=arguments)
    result = await toolbox.invoke(call, uses_models=False)
    assert reader.asked == []
    assert "passages; " in result.text and "did not fit" in result.text


async def test_summaries_of_sections_are_kept_until_the_journal_changes(shelf):
    said = ChatResponse(segments=(CitedText(text="- Empty. [2]"),))
    model = ScriptedProvider([said] * ROOMS * 2)
    summaries = shelf.stores.summaries
    context = shelf.context(sections=ModelSectionReader(model, summaries))
    counts = []
    for revision in ("r1", None, "r2"):
        if revision is not None:
            await long_journal(shelf, revision)
        await query(shelf, "all of it", "summary", context, journal_name="Long")
        counts.append(len(model.requests))
    assert counts == [ROOMS, ROOMS, 2 * ROOMS]
