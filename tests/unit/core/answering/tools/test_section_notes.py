import asyncio
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answering.tools.section_notes import (
    MOST_SECTIONS,
    NOTE_CHARACTERS,
    NOTES_CHARACTERS,
    SIDE_BY_SIDE,
    Purpose,
    SectionNote,
    SectionNotes,
    merged,
    name_of,
    read_sections,
    to_lines,
)
from core.domain.corpus import Page, SourcedPassage
from core.domain.jobs import JobKind, JobStatus
from core.errors import ProviderError, ProviderOverloaded
from core.work.steps import Step, Steps
from tests.builders import build_document, build_pages, build_passages
from tests.fakes import ManualClock
from tests.stores import Stores

Sections = list[tuple[Page, list[SourcedPassage]]]


class Reader:
    """Gives a note for each page: what is scripted for its title, else its text. A later page is sooner done."""

    def __init__(self, script: Mapping[str, Sequence[SectionNote] | ProviderError] | None = None) -> None:
        self.script = script or {}
        self.read_titles: list[str] = []
        self.running = self.most = 0

    async def read(
        self, page: Page, passages: Sequence[SourcedPassage], request: str, purpose: Purpose, parent: Step
    ) -> Sequence[SectionNote]:
        self.read_titles.append(page.title)
        self.running += 1
        self.most = max(self.most, self.running)
        for _ in range(max(0, 20 - page.number)):
            await asyncio.sleep(0)
        self.running -= 1
        given = self.script.get(page.title, [note(page.text, *(item.passage.id for item in passages))])
        if isinstance(given, ProviderError):
            raise given
        return given


def note(text: str, *passage_ids: str) -> SectionNote:
    return SectionNote(text=text, passage_ids=passage_ids)


def sections(*texts: str) -> Sections:
    """A page a text, titled as `build_pages` does, with its passages."""
    document = build_document()
    pages = build_pages(document, *texts)
    passages = [SourcedPassage(passage=item, document=document, page_title="") for item in build_passages(pages)]
    return [(page, [item for item in passages if item.passage.page_id == page.id]) for page in pages]


def notes_of(*by_page: Sequence[SectionNote]) -> SectionNotes:
    pages = [page for page, _ in sections(*("x" for _ in by_page))]
    return SectionNotes(by_page=tuple(zip(pages, map(tuple, by_page), strict=True)))


def shown(notes: SectionNotes) -> list[list[str]]:
    return [[item.text for item in own] for _, own in notes.by_page]


async def test_every_section_is_read_once_and_keeps_its_order():
    reader = Reader()
    notes = await read_sections(sections(*"abcdefghij"), "all", "summary", reader)
    assert shown(notes) == [[letter] for letter in "abcdefghij"]
    assert len(reader.read_titles) == len(set(reader.read_titles)) == 10


async def test_a_few_are_read_at_once_and_no_more():
    reader = Reader()
    await read_sections(sections(*"abcdefghij"), "all", "summary", reader)
    assert reader.most == SIDE_BY_SIDE


async def test_a_section_without_passages_is_not_read():
    first, second = sections("a", "b")
    notes = await read_sections([first, (second[0], [])], "all", "summary", Reader())
    assert (shown(notes), notes.unread) == ([["a"]], ())


async def test_one_that_fails_is_named_and_the_others_stand():
    given = sections("a", "b", "c")
    title = given[1][0].title
    notes = await read_sections(given, "all", "summary", Reader({title: ProviderOverloaded("Busy.")}))
    assert (shown(notes), notes.unread) == ([["a"], ["c"]], (title,))
    assert to_lines(notes, "summary")[-1] == f"Not read: {title}. Say that the answer may be incomplete."


async def test_where_all_fail_the_first_failure_is_raised():
    given = sections("a", "b")
    script = {page.title: ProviderOverloaded(f"{page.number} is busy.") for page, _ in given}
    with pytest.raises(ProviderOverloaded, match=r"is busy"):
        await read_sections(given, "all", "summary", Reader(script))


async def test_what_is_no_trouble_of_the_provider_is_a_bug_and_escapes():
    class Broken:
        async def read(self, *_: object) -> Sequence[SectionNote]:
            raise KeyError("x")

    with pytest.raises(KeyError):
        await read_sections(sections("a"), "all", "summary", Broken())


async def test_of_very_many_sections_the_last_are_named_as_not_read():
    given = sections(*(f"text {number}" for number in range(MOST_SECTIONS + 12)))
    reader = Reader()
    notes = await read_sections(given, "all", "summary", reader)
    assert len(reader.read_titles) == MOST_SECTIONS
    assert notes.unread == tuple(page.title for page, _ in given[MOST_SECTIONS:])
    assert "and 2 more" in to_lines(notes, "summary")[-1]


async def test_each_section_is_a_step_with_what_came_of_it():
    given = sections("a", "b")
    steps = Steps(Stores().jobs, ManualClock(), "local")
    async with steps.step(JobKind.REQUEST, "answer") as call:
        await read_sections(given, "all", "summary", Reader({given[0][0].title: ProviderError("Gone.")}), call)
    _, first, second = steps.jobs
    assert (first.status, first.error) == (JobStatus.FAILED, "Gone.")
    assert (second.name, second.status, second.output) == ("read a section", JobStatus.DONE, {"notes": 1})


async def test_items_found_twice_are_one_with_the_passages_of_both():
    given = sections("a", "b")
    script = {
        given[0][0].title: [note("Moss: a smith", "p1"), note("Fern: a cook", "p2")],
        given[1][0].title: [note("**Moss**: owes the king", "p3"), note("The Fern", "p2"), note("Reed", "p4")],
    }
    notes = await read_sections(given, "all people", "extraction", Reader(script))
    assert shown(notes) == [["Moss: a smith; owes the king", "Fern: a cook"], ["Reed"]]
    assert [item.passage_ids for _, own in notes.by_page for item in own] == [("p1", "p3"), ("p2",), ("p4",)]


async def test_summaries_of_like_words_stay_apart():
    notes = await read_sections(sections("Moss: waits", "Moss: waits"), "all", "summary", Reader())
    assert shown(notes) == [["Moss: waits"], ["Moss: waits"]]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Moss: a smith", "moss"),
        ("- **The Red Keep** (ruined)", "red keep"),
        ("Moss – a smith", "moss"),
        ("Moss - a smith", "moss"),
        ("Half-elf", "half-elf"),
        ("Dr. Moss", "dr. moss"),
        ("50 gold, in a chest", "50 gold, in a chest"),
        ("Area 3:12", "area 3:12"),
        ("The", "the"),
        ("", ""),
    ],
)
def test_what_an_item_is_called(text: str, name: str):
    assert name_of(text) == name


def test_what_is_said_of_an_item_again_is_not_repeated_and_stays_short():
    twice = merged(notes_of([note("Moss: a smith")], [note("moss: A smith")]))
    long = merged(notes_of([note("Moss: " + "a" * 300)], [note("Moss: " + "b" * 300)]))
    assert shown(twice) == [["Moss: a smith"]]
    assert len(long.by_page[0][1][0].text) <= NOTE_CHARACTERS


Found = st.lists(
    st.lists(st.builds(note, st.text(max_size=12), st.sampled_from("pqr")), max_size=4), min_size=1, max_size=4
)


@given(Found)
def test_merging_loses_no_name_and_no_passage_and_leaves_each_name_once(found: list[list[SectionNote]]):
    before = [item for own in found for item in own]
    after = [item for _, own in merged(notes_of(*found)).by_page for item in own]
    assert [name_of(item.text) for item in after] == list(dict.fromkeys(name_of(item.text) for item in before))
    assert {key for item in after for key in item.passage_ids} == {key for item in before for key in item.passage_ids}
    assert len(after) == len({name_of(item.text) for item in before})


def test_the_first_passage_of_every_note_comes_before_more_of_any():
    notes = notes_of([note("a", "p1", "p2"), note("b", "p2", "p3")], [note("c", "p4"), note("d")])
    assert notes.passage_ids == ["p1", "p2", "p4", "p3"]


def test_lines_name_each_section_with_the_page_to_read_on():
    notes = notes_of([note("a")], [note("b"), note("c")])
    first, second = (page for page, _ in notes.by_page)
    assert to_lines(notes, "extraction") == [
        "All that was found, section by section:",
        f"{first.title} (page 1, page_id {first.id})",
        "- a",
        f"{second.title} (page 2, page_id {second.id})",
        "- b",
        "- c",
    ]


def test_lines_are_bounded_and_say_how_many_are_missing():
    lines = to_lines(notes_of([note("x" * 390) for _ in range(100)]), "summary")
    assert sum(map(len, lines[:-1])) <= NOTES_CHARACTERS + 50
    left = 102 - len(lines) + 1
    assert lines[-1] == f"({left} more lines did not fit: ask about a chapter or section by its name.)"
