"""Journals too long for one prompt: what is kept of a section stands for that alone, and each note for its passages."""

import re
from dataclasses import replace

import pytest

from core.answering.tools.query_journal import QueryJournalArguments, QueryJournalTool
from core.answering.tools.section_notes import (
    PART_CHARACTERS,
    ModelSectionReader,
    SectionNote,
    SectionNotes,
    merged,
    name_of,
)
from core.domain.chat import Capabilities, ChatRequest
from core.domain.replies import ChatResponse
from core.errors import ProviderBadRequest, ProviderError, ProviderRateLimited, ToolFailed
from core.work.steps import NO_STEPS
from tests.scripted import says
from tests.unit.core.library_builder import Shelf

PARAGRAPH = "The {} hall has {} candles. " * 60


class Counter:
    """A model that names, for each passage it is shown, the first word after "The" with its number."""

    name = "counter"
    capabilities = Capabilities()

    def __init__(self, *, fails: ProviderError | None = None) -> None:
        self.requests: list[ChatRequest] = []
        self.fails = fails

    async def complete(self, request: ChatRequest, on_text=None) -> ChatResponse:
        self.requests.append(request)
        if self.fails:
            raise self.fails
        shown = re.findall(r"^\[(\d+)\] The (\w+)", request.messages[0].text, re.MULTILINE)
        return says("\n".join(f"- {word}: seen [{number}]" for number, word in shown) or "nothing")

    async def close(self) -> None:
        """Nothing is open."""


def chapter(number: int, *words: str) -> str:
    parts = (PARAGRAPH.format(*(word if place % 2 == 0 else number for place in range(120))) for word in words)
    return f"# Chapter {number}\n\n" + "\n\n".join(
        f"## {word}\n\n{part}" for word, part in zip(words, parts, strict=True)
    )


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    words = [f"{letter}{other}" for letter in "abcdefghij" for other in "xyz"]
    await shelf.add("keep.json", chapter(1, *words), chapter(2, "stone", "wood"), title="The Keep", kind="foundry")
    return shelf


async def ask(shelf: Shelf, model: Counter, text: str, query_type: str = "summary", summaries=None):
    reader = ModelSectionReader(model, summaries or shelf.stores.summaries)
    context = replace(shelf.context(), sections=reader)
    return await QueryJournalTool().run(QueryJournalArguments(query=text, query_type=query_type), context)


async def test_a_long_page_is_read_in_parts_whose_numbers_are_those_of_its_passages(shelf):
    model = Counter()
    found = await ask(shelf, model, "sum it up")

    assert len(model.requests) > 2
    assert all(len(request.messages[0].text) < PART_CHARACTERS * 1.2 for request in model.requests)
    assert "- ax: seen" in found.text
    assert "- jz: seen" in found.text
    assert found.passages
    assert all(f"The {item.passage.text.split()[1]} hall" in item.passage.text for item in found.passages)


async def test_the_summary_of_a_part_of_a_page_never_stands_for_the_page(shelf):
    summaries = shelf.stores.summaries
    [document] = await shelf.corpus.list_documents("local")
    page = await shelf.corpus.find_page(document.id, 1, shelf.scope())
    passages = await shelf.corpus.list_page_passages(page.id, shelf.scope())
    model = Counter()
    reader = ModelSectionReader(model, summaries)

    part = await reader.read(page, passages[4:6], "", "summary", NO_STEPS)
    whole = await reader.read(page, passages, "", "summary", NO_STEPS)
    again = await reader.read(page, passages, "", "summary", NO_STEPS)

    assert {key for note in part for key in note.passage_ids} <= {item.passage.id for item in passages[4:6]}
    assert len(whole) > len(part)
    assert whole == again
    by_id = {item.passage.id: item.passage.text for item in passages}
    assert all(by_id[key].startswith(f"The {note.text.split(':')[0]} ") for note in whole for key in note.passage_ids)


async def test_no_item_of_a_page_with_many_is_left_out(shelf):
    ring = "\n\n".join(f"## {place}\n\nThe n{place} keeps a key." for place in range(1, 151))
    await shelf.add("ring.json", f"# Ring\n\n{ring}", "word " * 6_000, title="Ring", kind="foundry")
    found = await ask(shelf, Counter(), "list all keepers of the Ring", "extraction")

    assert [number for number in range(1, 151) if f"- n{number}: seen" not in found.text] == []


async def test_what_was_read_once_is_not_asked_for_again(shelf):
    summaries = shelf.stores.summaries
    await ask(shelf, Counter(), "sum it up", summaries=summaries)
    second = Counter()
    await ask(shelf, second, "sum it up", summaries=summaries)

    assert second.requests == []


async def test_a_refused_request_fails_the_tool_and_not_the_question(shelf):
    with pytest.raises(ToolFailed, match=r"The Keep.*too long"):
        await ask(shelf, Counter(fails=ProviderBadRequest("too long")), "sum it up")
    with pytest.raises(ToolFailed, match="later"):
        await ask(shelf, Counter(fails=ProviderRateLimited("later")), "sum it up")


@pytest.mark.parametrize(
    ("first", "second"), [("Mr. Frog: a smith", "Mr. Reed: a miller"), ("Capt. Ash, sailor", "Capt. Elm, sailor")]
)
async def test_two_people_of_one_title_are_two_items(first, second):
    notes = (SectionNote(text=first), SectionNote(text=second), SectionNote(text=f"The {first}"))
    [(_, kept)] = merged(SectionNotes(by_page=((None, notes),))).by_page  # type: ignore[arg-type]

    assert [note.text for note in kept] == [first, second]
    assert name_of("The Weaver: he weaves.") == "weaver"
