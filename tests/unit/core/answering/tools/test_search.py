import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answering.tools.search import (
    DOCUMENT_WEIGHT,
    SECTION_WEIGHT,
    SearchArguments,
    SearchTool,
    above_floor,
    merge_focus,
)
from core.domain.corpus import PageHit
from core.domain.extracts import ExtractType
from core.knowledge.search.searching import LONG
from tests.builders import build_document
from tests.unit.core.library_builder import Shelf, focus_on


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("keys.md", "The silver key opens the cellar.\n\nThe cellar holds wine.", title="Keys")
    await shelf.add("inn.md", "The inn has a cellar.", "The silver spoon.", title="Inn")
    await shelf.add("map.pdf", "A map of the cellar.", title="Map", kind="pdf")
    return shelf


async def search(shelf: Shelf, query: str, context=None, **arguments: object):
    return await SearchTool().run(SearchArguments(query=query, **arguments), context or shelf.context())


async def test_a_result_names_the_pages_and_carries_the_text_to_quote(shelf):
    finding = await search(shelf, "silver key")
    assert finding.text == (
        "2 pages for 'silver key', best first:\n"
        '- "Keys" (keys.md), page 1, Page 1 (page_id local/handbook/keys.md@r1#1, score 2.00)\n'
        '- "Inn" (inn.md), page 2, Page 2 (page_id local/handbook/inn.md@r1#2, score 1.00)'
    )
    assert [item.passage.text for item in finding.passages][:1] == ["The silver key opens the cellar."]
    assert finding.searches == ("silver key",)


async def test_a_query_that_names_an_alias_is_searched_with_the_main_name_too(shelf):
    assert (await search(shelf, "scullion")).passages == ()
    inn = await shelf.add("staff.md", "The scullion is the kitchen help.", title="Staff")
    helper = await shelf.add("rules.md", "Kitchen help wears grey.", title="Rules")
    thing = {"name": "kitchen help", "kind": "term", "aliases": ["scullion"]}
    await shelf.extract(inn, ExtractType.ENTITY, thing)
    shelf.clock.advance(60)
    finding = await search(shelf, "What does the scullion wear?")

    assert {item.document.id for item in finding.passages} >= {inn.id, helper.id}
    assert finding.searches == ("What does the scullion wear?",)


async def test_one_page_is_said_in_the_singular(shelf):
    assert (await search(shelf, "wine")).text.startswith("1 page for 'wine':")


async def test_the_best_page_gives_up_to_six_passages_and_others_three(shelf):
    best = await shelf.add("best.md", "\n\n".join(f"Red dragon number {number}" for number in range(9)))
    other = await shelf.add("other.md", "\n\n".join(f"Dragon number {number}" for number in range(9)))
    found = [item.document.id for item in (await search(shelf, "red dragon")).passages]
    assert (found.count(best.id), found.count(other.id)) == (6, 3)


async def test_the_limit_counts_pages_and_never_passes_twenty(shelf):
    await shelf.add("many.md", *[f"Goblin {number}" for number in range(30)])
    assert len((await search(shelf, "goblin")).passages) == 10
    assert len((await search(shelf, "goblin", limit=3)).passages) == 3
    assert len((await search(shelf, "goblin", limit=500)).passages) == 20


async def test_a_document_or_a_kind_narrows_the_search(shelf):
    in_document = await search(shelf, "cellar", document="Inn")
    of_kind = await search(shelf, "cellar", kind="pdf")
    assert {item.document.path for item in in_document.passages} == {"inn.md"}
    assert {item.document.path for item in of_kind.passages} == {"map.pdf"}


@pytest.mark.parametrize(
    ("arguments", "where"), [({}, ""), ({"document": "Inn"}, " in this document"), ({"kind": "pdf"}, " of kind 'pdf'")]
)
async def test_nothing_found_is_said_with_what_to_try(shelf, arguments, where):
    finding = await search(shelf, "zeppelin", **arguments)
    assert finding.text == f"Nothing was found for 'zeppelin'{where}. Try other words: synonyms, names, broader terms."
    assert (finding.passages, finding.searches) == ((), ("zeppelin",))


async def test_a_question_limited_to_a_document_searches_it_alone(shelf):
    context = shelf.context(document_ids=frozenset({"local/handbook/inn.md"}))
    finding = await search(shelf, "cellar", context)
    assert {item.document.path for item in finding.passages} == {"inn.md"}


async def test_the_focus_wins_a_tie(shelf):
    plain = await search(shelf, "cellar")
    inn = await shelf.corpus.get_document("local/handbook/inn.md", shelf.scope())
    focused = await search(shelf, "cellar", shelf.context(focus=focus_on(inn)))
    assert plain.passages[0].document.path != "inn.md"
    assert focused.passages[0].document.path == "inn.md"


async def test_documents_linked_in_the_question_win_a_tie(shelf):
    finding = await search(shelf, "cellar", shelf.context(linked=frozenset({"local/handbook/map.pdf"})))
    assert finding.passages[0].document.path == "map.pdf"


async def test_a_clearly_better_hit_elsewhere_beats_the_focus(shelf):
    inn = await shelf.corpus.get_document("local/handbook/inn.md", shelf.scope())
    finding = await search(shelf, "silver key opens cellar", shelf.context(focus=focus_on(inn)))
    assert finding.passages[0].document.path == "keys.md"


async def test_a_focus_outside_the_scope_brings_nothing_in(shelf):
    stranger = build_document("secret.md")
    finding = await search(shelf, "cellar", shelf.context(focus=focus_on(stranger)))
    assert "secret.md" not in {item.document.path for item in finding.passages}


def hit(page_id: str, score: float, document: str = "other") -> PageHit:
    return PageHit(
        document=build_document(id=document), page_id=page_id, page_number=1, heading_path=(), passages=(), score=score
    )


ABOUT, SECTIONS = frozenset({"focus"}), frozenset({"cited"})


def order(near: list[PageHit], everywhere: list[PageHit]) -> list[str]:
    return [found.page_id for found in merge_focus(near, everywhere, ABOUT, SECTIONS)]


def test_sections_last_cited_outweigh_the_rest_of_the_document_which_outweighs_others():
    everywhere = [hit("x", 1.0), hit("rest", 0.95, "focus"), hit("cited", 0.9, "focus")]
    assert order([], everywhere) == ["cited", "rest", "x"]


def test_a_page_only_the_inner_search_found_starts_from_the_last_score_of_the_open_one():
    near = [hit("far", 5.0, "focus"), hit("farther", 4.0, "focus")]
    everywhere = [hit("best", 2.0), hit("last", 1.0)]
    assert order(near, everywhere) == ["best", "far", "farther", "last"]


def test_where_the_open_search_found_nothing_the_inner_order_stands():
    assert order([hit("a", 2.0, "focus"), hit("b", 1.0, "focus")], []) == ["a", "b"]


def test_weights_lift_scores_below_zero_too():
    assert order([], [hit("x", -1.0), hit("rest", -1.0, "focus")]) == ["rest", "x"]


@given(st.lists(st.tuples(st.floats(0.01, 10), st.booleans()), min_size=1, max_size=8))
def test_something_clearly_better_elsewhere_is_never_beaten_by_the_focus(pages):
    everywhere = [hit(str(place), score, "focus" if inside else "other") for place, (score, inside) in enumerate(pages)]
    merged = merge_focus([], everywhere, ABOUT, frozenset())
    place = {found.page_id: rank for rank, found in enumerate(merged)}
    for better in (found for found in everywhere if found.document.id == "other"):
        for worse in everywhere:
            if better.score > worse.score * max(DOCUMENT_WEIGHT, SECTION_WEIGHT):
                assert place[better.page_id] < place[worse.page_id]
    assert {found.page_id for found in merged} == {found.page_id for found in everywhere}


def page(number: int, score: float, passages: int = 10) -> PageHit:
    document = build_document("log.md", passages=passages)
    return PageHit(
        document=document, page_id=f"p{number}", page_number=number, heading_path=(), passages=(), score=score
    )


def test_pages_far_below_the_best_are_left_out_but_for_the_first_three_and_those_of_a_long_document():
    scores = [2.0, 0.5, 0.4, 1.0, 0.99, 0.3]
    kept = above_floor([page(number, score) for number, score in enumerate(scores)])
    assert [hit.score for hit in kept] == [2.0, 0.5, 0.4, 1.0]
    assert len(above_floor([page(number, score, passages=LONG) for number, score in enumerate(scores)])) == len(scores)
    assert above_floor([]) == []
    assert len(above_floor([page(number, -1.0 - number) for number in range(5)])) == 3


async def test_a_model_that_asks_for_more_pages_gets_the_weak_ones_too(shelf):
    for number in range(12):
        await shelf.add(f"weak{number}.md", f"The cellar of house {number} is large and has many doors.")
    few, many = await search(shelf, "silver key"), await search(shelf, "silver key cellar", limit=20)
    assert len(few.text.splitlines()) < len(many.text.splitlines())
