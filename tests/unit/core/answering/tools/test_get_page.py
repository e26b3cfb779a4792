import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answering.tools.get_page import PAGE_CHARACTERS, GetPageArguments, GetPageTool, cut
from core.errors import ToolRetry
from tests.unit.core.library_builder import Shelf


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add(
        "guide.md", "# One\n\nFirst.", "# Two\n\nSecond.\n\n## Keys\n\nUnder the mat.", "Third.", title="Guide"
    )
    return shelf


PAGE = "local/handbook/guide.md@r1#"


async def get_page(shelf: Shelf, context=None, **arguments: object):
    return await GetPageTool().run(GetPageArguments(**arguments), context or shelf.context())


async def test_a_page_comes_whole_with_its_headings_and_neighbours(shelf):
    finding = await get_page(shelf, page_id=f"{PAGE}2")
    assert finding.text == (
        f'"Guide" (guide.md), page 2 (page_id {PAGE}2)\n'
        "Headings: Two; Keys\n"
        f"Previous page: page_id {PAGE}1\n"
        f"Next page: page_id {PAGE}3"
    )
    assert [item.passage.text for item in finding.passages] == ["# Two", "Second.", "## Keys", "Under the mat."]


async def test_document_and_number_name_a_page_too(shelf):
    finding = await get_page(shelf, document="Guide", page_number=3)
    assert [item.passage.text for item in finding.passages] == ["Third."]
    assert "Headings" not in finding.text and "Next page" not in finding.text


@pytest.mark.parametrize("arguments", [{}, {"document": "Guide"}, {"page_number": 1}])
async def test_half_an_address_asks_for_the_rest(shelf, arguments):
    with pytest.raises(ToolRetry, match="Give page_id, or document and page_number together"):
        await get_page(shelf, **arguments)


async def test_an_unknown_id_may_be_corrected(shelf):
    with pytest.raises(ToolRetry, match="no page with the id 'page-7'"):
        await get_page(shelf, page_id="page-7")


async def test_a_number_that_is_not_there_names_those_that_are(shelf):
    with pytest.raises(ToolRetry, match="no page 9 to read: its pages go from 1 to 3"):
        await get_page(shelf, document="Guide", page_number=9)


async def test_beyond_a_reading_position_there_are_no_pages(shelf):
    context = shelf.context(scope=shelf.scope(**{"local/handbook/guide.md": 2}))
    with pytest.raises(ToolRetry, match="its pages go from 1 to 2"):
        await get_page(shelf, context, document="Guide", page_number=3)
    assert "Next page" not in (await get_page(shelf, context, page_id=f"{PAGE}2")).text
    with pytest.raises(ToolRetry):
        await get_page(shelf, context, page_id=f"{PAGE}3")


async def test_a_document_without_readable_pages_says_so(shelf):
    context = shelf.context(scope=shelf.scope(**{"local/handbook/guide.md": 0}))
    with pytest.raises(ToolRetry, match="none of its pages can be read"):
        await get_page(shelf, context, document="Guide", page_number=1)


async def test_a_question_limited_to_a_document_opens_no_other_page(shelf):
    context = shelf.context(document_ids=frozenset({"another"}))
    with pytest.raises(ToolRetry, match="limited to another document"):
        await get_page(shelf, context, page_id=f"{PAGE}1")


async def test_a_long_page_is_cut_and_says_how_to_go_on(shelf):
    paragraphs = [f"{number:04d} " + "x" * 995 for number in range(30)]
    await shelf.add("long.md", "\n\n".join(paragraphs))
    read: list[str] = []
    offset = 0
    for _ in range(3):
        finding = await get_page(shelf, page_id="local/handbook/long.md@r1#1", offset=offset)
        assert sum(len(item.passage.text) for item in finding.passages) <= PAGE_CHARACTERS
        read.extend(item.passage.text for item in finding.passages)
        if "offset" in finding.text:
            offset = int(finding.text.rsplit("offset ", 1)[1].rstrip("."))
    assert read == paragraphs


async def test_an_offset_beyond_the_end_may_be_corrected(shelf):
    with pytest.raises(ToolRetry, match="ends at character 6"):
        await get_page(shelf, page_id=f"{PAGE}3", offset=100)


async def test_only_some_of_very_many_headings_are_listed(shelf):
    await shelf.add("list.md", "\n\n".join(f"# H{number}" for number in range(45)))
    finding = await get_page(shelf, page_id="local/handbook/list.md@r1#1")
    assert "H39 and 5 more" in finding.text


@given(lengths=st.lists(st.integers(1, 50), min_size=1, max_size=10), characters=st.integers(1, 200))
async def test_cutting_again_and_again_gives_every_passage_once(lengths, characters):
    shelf = Shelf()
    await shelf.add("p.md", "\n\n".join("y" * length for length in lengths))
    passages = await shelf.corpus.list_page_passages("local/handbook/p.md@r1#1", shelf.scope())
    seen, rest = cut(passages, 0, characters)
    while rest:
        shown, rest = cut(passages, rest[0].passage.span.start, characters)
        assert shown
        seen.extend(shown)
    assert seen == passages
