from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answering.tools.section_notes import (
    MOST_NOTES,
    NOTE_CHARACTERS,
    PART_CHARACTERS,
    ModelSectionReader,
    Purpose,
    to_notes,
)
from core.domain.corpus import Page, SourcedPassage
from core.domain.replies import ChatResponse, CitedText
from core.errors import ProviderError, ProviderOverloaded
from core.work.steps import NO_STEPS
from tests.scripted import ScriptedProvider
from tests.unit.core.library_builder import Shelf

TEXT = "The king holds a ruby.\n\nRats.\n\nA well."


def reply(text: str) -> ChatResponse:
    return ChatResponse(segments=(CitedText(text=text),))


class Desk:
    """A reader over a library whose model plays a script; every request that is not in it fails the test."""

    def __init__(self, *script: ChatResponse | ProviderError) -> None:
        self.shelf = Shelf()
        self.model = ScriptedProvider(script)
        summaries = self.shelf.stores.summaries
        self.reader = ModelSectionReader(self.model, summaries)

    async def section(self, text: str = TEXT, revision: str = "r1") -> tuple[Page, list[SourcedPassage]]:
        document = await self.shelf.add("mine.json", text, title="Mine", kind="foundry", revision=revision)
        page = await self.shelf.corpus.find_page(document.id, 1, self.shelf.scope())
        assert page is not None
        return page, list(await self.shelf.corpus.list_page_passages(page.id, self.shelf.scope()))

    async def read(self, page: Page, passages: Sequence[SourcedPassage], request: str, purpose: Purpose):
        return await self.reader.read(page, passages, request, purpose, NO_STEPS)

    def sent(self, place: int = 0) -> str:
        return self.model.requests[place].messages[0].text


async def test_a_summary_is_asked_for_with_numbered_passages():
    desk = Desk(reply("- The king is rich. [1]\n- Vermin. [2][3]"))
    page, passages = await desk.section()
    notes = await desk.read(page, passages, "all", "summary")
    ids = [item.passage.id for item in passages]
    assert desk.sent() == "[1] The king holds a ruby.\n\n[2] Rats.\n\n[3] A well."
    assert [(item.text, item.passage_ids) for item in notes] == [
        ("The king is rich.", (ids[0],)),
        ("Vermin.", (ids[1], ids[2])),
    ]


async def test_a_second_question_asks_nothing():
    desk = Desk(reply("- The king is rich. [1]"))
    page, passages = await desk.section()
    first = await desk.read(page, passages, "what happens", "summary")
    assert await desk.read(page, passages, "and in short", "summary") == first
    assert len(desk.model.requests) == 1


async def test_a_new_revision_asks_anew():
    desk = Desk(reply("- Old. [1]"), reply("- New. [1]"))
    await desk.read(*await desk.section(), "all", "summary")
    notes = await desk.read(*await desk.section("Changed.", "r2"), "all", "summary")
    assert [item.text for item in notes] == ["New."]


async def test_part_of_a_page_does_not_use_the_summary_of_the_whole():
    desk = Desk(reply("- Whole. [3]"), reply("- Part. [1]"))
    page, passages = await desk.section()
    await desk.read(page, passages, "all", "summary")
    notes = await desk.read(page, passages[1:], "the cellar", "summary")
    assert [(item.text, item.passage_ids) for item in notes] == [("Part.", (passages[1].passage.id,))]


async def test_a_list_is_asked_for_each_time_with_its_request():
    desk = Desk(reply("- Ruby: red [1]"), reply("- Rats: many [2]"))
    page, passages = await desk.section()
    first = await desk.read(page, passages, "all treasure", "extraction")
    second = await desk.read(page, passages, "all monsters", "extraction")
    assert [item.text for item in (*first, *second)] == ["Ruby: red", "Rats: many"]
    assert "“all treasure”" in desk.model.requests[0].system and "“all monsters”" in desk.model.requests[1].system


async def test_a_failed_summary_is_not_kept():
    desk = Desk(ProviderOverloaded("Busy."), reply("- Rich. [1]"))
    page, passages = await desk.section()
    with pytest.raises(ProviderOverloaded):
        await desk.read(page, passages, "all", "summary")
    assert [item.text for item in await desk.read(page, passages, "all", "summary")] == ["Rich."]


async def test_an_empty_reply_is_an_error_of_the_provider():
    desk = Desk(reply(" \n"))
    with pytest.raises(ProviderError, match="gave nothing for a section"):
        await desk.read(*await desk.section(), "all", "extraction")


async def test_a_very_long_section_is_read_in_parts_whose_numbers_go_on():
    desk = Desk(reply("- One. [1]"), reply("nothing"), reply("- Three. [3]"))
    page, passages = await desk.section("\n\n".join(letter * (PART_CHARACTERS - 10) for letter in "abc"))
    notes = await desk.read(page, passages, "all", "extraction")
    assert [desk.sent(place)[:5] for place in range(3)] == ["[1] a", "[2] b", "[3] c"]
    assert [item.passage_ids for item in notes] == [(passages[0].passage.id,), (passages[2].passage.id,)]


@pytest.mark.parametrize("text", ["nothing", "Nothing.", "- nothing", "**Nothing**", "• nothing."])
async def test_a_section_without_such_an_item_gives_none(text: str):
    assert to_notes(text, (await Desk().section())[1]) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Here it is:\n- Ruby [1]\n* Rats [2]\n• Well [3]\n1. King [1]\n2) Queen\nDone.", "Ruby Rats Well King Queen"),
        ("- Ruby [0] [99] [1]", "Ruby"),
        ("The king is rich [1].", "The king is rich."),
        ("- [1]\n- Ruby", "Ruby"),
    ],
)
async def test_lines_of_all_forms_are_notes_and_what_stands_around_them_is_not(text: str, expected: str):
    notes = to_notes(text, (await Desk().section())[1])
    assert " ".join(item.text for item in notes) == expected


async def test_numbers_of_no_passage_are_dropped_and_lists_of_numbers_are_read():
    passages = (await Desk().section())[1]
    [note] = to_notes("- Ruby [1, 3][7][3]", passages)
    assert note.passage_ids == (passages[0].passage.id, passages[2].passage.id)


@given(st.text(max_size=300))
async def test_no_reply_gives_foreign_passages_or_too_much(text: str):
    passages = (await Desk().section())[1]
    notes = to_notes(text, passages)
    known = {item.passage.id for item in passages}
    assert len(notes) <= MOST_NOTES
    assert all(item.text and len(item.text) <= NOTE_CHARACTERS and set(item.passage_ids) <= known for item in notes)


async def test_very_many_lines_are_cut():
    passages = (await Desk().section())[1]
    assert len(to_notes("\n".join(f"- item {number} [1]" for number in range(2 * MOST_NOTES)), passages)) == MOST_NOTES
