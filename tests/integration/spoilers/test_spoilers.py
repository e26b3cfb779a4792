"""Nothing from beyond a reading position is sent to a model or shown: over random books, positions and questions."""

import json
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from core.domain.answer import Answer
from core.domain.corpus import SearchQuery
from core.domain.extracts import ExtractQuery, ExtractType
from core.domain.incoming import ChannelAddress
from core.domain.service import PersonAddress, PositionHolder
from core.features.export import FORMATS, export_conversation
from core.knowledge.facts.rows import FactType
from core.serializers.conversations import conversation_json
from core.serializers.library import document_json, extract_json, facts_json, ontology_json, page_hit_json, page_json
from core.serializers.objects import answer_json
from core.work.commands import CommandCall
from tests.contract.renderings import on_discord, on_slack, on_the_terminal, on_the_web
from tests.integration.spoilers.books import FEATURES, Book, books, places_beyond, word
from tests.integration.spoilers.world import CHANNEL, STRATEGIES, World

ADA = PersonAddress(workspace="local", person="ada")
CLUB = ChannelAddress.of(CHANNEL)
FULL = Book(kind="md", pages=(frozenset(FEATURES),) * 4)
POSITIONS = st.integers(0, 4)
SETTINGS = settings(
    max_examples=4,
    phases=(Phase.explicit, Phase.generate),  # a failure names its page and place: nothing is won by a smaller book
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# Whose position it is: a channel's, a person's, or both, of which the lowest holds.
HOLDERS: Mapping[str, tuple[PositionHolder, ...]] = {"channel": (CLUB,), "person": (ADA,), "both": (CLUB, ADA)}


async def world_of(book: Book, *known: str) -> World:
    world = World()
    world.provider.words = known
    with tempfile.TemporaryDirectory() as folder:
        await world.add(book, Path(folder))
    return world


def beyond(shown: object, last: int, known: Collection[str] = ()) -> list[str]:
    """What goes beyond a page, with what stands around it."""
    text = shown if isinstance(shown, str) else json.dumps(shown, default=repr, ensure_ascii=False)
    return [text[max(0, place - 150) : place + 150] for place in places_beyond(text, last, known)]


def all_shown(answer: Answer) -> list[object]:
    """The answer's JSON, and what each platform makes of it."""
    renders = (on_discord, on_slack, on_the_terminal, on_the_web)
    return [answer_json(answer), *(repr(render(replace(answer, jobs=()))) for render in renders)]


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(book=books(), last=POSITIONS, whose=st.sampled_from(sorted(HOLDERS)), about=st.integers(1, 5))
@example(book=FULL, last=2, whose="person", about=4)
@SETTINGS
async def test_no_model_is_sent_and_no_answer_shows_what_lies_beyond(
    strategy: str, book: Book, last: int, whose: str, about: int
) -> None:
    """Whatever is asked: words that the asker knows already are theirs."""
    known = tuple(word(kind, about) for kind in ("title", "person", "text", "cell"))
    world = await world_of(book, *known)
    for more, holder in enumerate(HOLDERS[whose]):
        await world.set(holder, last + 2 * more)
    answer = await world.ask(f"What of {known[0]} and [[The Novel]]?", strategy=strategy)

    assert bool(world.provider.requests) == (last > 0)  # with nothing to read, no model is asked
    for request in world.provider.requests:
        assert beyond(repr(request), last, known) == [], "a request"
    assert [places for shown in all_shown(answer) if (places := beyond(shown, last, known))] == []


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(book=books(), last=POSITIONS)
@example(book=FULL, last=1)
@SETTINGS
async def test_what_was_told_before_a_position_was_set_is_told_no_more(strategy: str, book: Book, last: int) -> None:
    known = tuple(word(kind, 1) for kind in ("title", "text"))
    world = await world_of(book, *known)
    before = await world.ask("What happens to the very end?", strategy=strategy, author="ben")
    follow_up = before.suggestions[0] if before.suggestions else "And then?"
    await world.ask(follow_up, strategy=strategy, author="ben")
    await world.set(CLUB, last)
    asked = len(world.provider.requests)
    answer = await world.ask("And what happened before?", strategy=strategy)

    for request in world.provider.requests[asked:]:
        assert beyond(repr(request), last, known) == [], "a request"
    assert [places for shown in all_shown(answer) if (places := beyond(shown, last, known))] == []
    conversation, messages = await world.histories.show(answer.conversation_id, "local", await world.scope())
    told = [message for message in messages if message.content not in ("What happens to the very end?", follow_up)]
    assert beyond(conversation_json(conversation, told), last, known) == [], "the history"
    for form in FORMATS:
        file = await export_conversation(conversation, told, form)
        assert beyond(file.data.decode(errors="replace"), last, known) == [], f"the export as {form}"
    for command in ("recap", "source 1", "stale"):
        name, _, argument = command.partition(" ")
        assert beyond(await world.call(name, argument), last, (*known, follow_up)) == [], command


@given(book=books(), last=POSITIONS, whose=st.sampled_from(sorted(HOLDERS)))
@example(book=FULL, last=2, whose="channel")
@SETTINGS
async def test_no_command_completion_or_list_shows_what_lies_beyond(book: Book, last: int, whose: str) -> None:
    world = await world_of(book)
    for holder in HOLDERS[whose]:
        await world.set(holder, last)
    known = [word(kind, page) for page in (1, len(book.pages)) for kind in ("title", "person", "cell")]
    lines = [
        *(f"page The Novel {number}" for number in range(1, 7)),
        *(f"search {item}" for item in ("river village", *known)),
        *(f"extract The Novel --type {kind.value}" for kind in FactType),
        *(f"facts {item}" for item in ("action items", "type:entity", "type:relation", *known)),
        *("extract", "extract The Novel", "sources", "position", "threads", "help"),
        "position The Novel=chapter that is not there",
    ]
    for line in lines:
        name, _, argument = line.partition(" ")
        assert beyond(await world.call(name, argument), last, known) == [], f"/{line}"
    call = CommandCall(name="page", workspace="local", conversation=None, author="ada", address=CHANNEL)
    assert beyond(await world.commands().complete(call, "document", "q"), last) == [], "a completion"


@given(book=books(), last=POSITIONS)
@example(book=FULL, last=2)
@SETTINGS
async def test_no_json_of_the_library_holds_what_lies_beyond(book: Book, last: int) -> None:
    world = await world_of(book)
    await world.set(CLUB, last)
    scope, facts, library = await world.scope(), world.shelf.facts, world.shelf.library
    hits = await library.search(SearchQuery(text="river village pump ferrymen Chapter", limit=20), scope)
    views = [await library.page(hit.page_id, scope) for hit in hits]
    documents = await library.documents(scope)
    listed = await facts.list_extracts(ExtractQuery(limit=1_000), scope)
    shown = [
        [page_hit_json(hit, await facts.summaries([hit], scope)) for hit in hits],
        [page_json(view, await facts.of_pages([view.page.id], scope)) for view in views],
        [document_json(item) for item in documents],
        [extract_json(item) for item in listed],
        [facts_json(await facts.ask(f"type:{kind.value}", scope)) for kind in FactType],
        ontology_json(await facts.ontology(scope)),
        (await facts.follow(word("person", 1), scope)).known,
    ]
    for item in shown:
        assert beyond(item, last) == [], "the JSON"
    pages = await world.shelf.corpus.list_pages(documents[0].id, scope)
    assert documents[0].pages == len(pages)
    assert sum((await facts.counts(scope)).values()) == len(listed)
    assert all(view.next is None or view.page.number < last for view in views)
    assert views or last == 0


@given(book=books("md"), last=POSITIONS)
@SETTINGS
async def test_a_book_read_half_counts_as_much_as_half_the_book(book: Book, last: int) -> None:
    world, half = await world_of(book), await world_of(replace(book, pages=book.pages[: max(last, 1)]))
    await world.set(CLUB, last)
    [seen], [whole] = [await item.shelf.library.documents(await item.scope()) for item in (world, half)]
    pages = [(await item.shelf.facts.counts(await item.scope())).get(ExtractType.PAGE, 0) for item in (world, half)]

    assert (seen.pages, seen.passages) == ((whole.pages, whole.passages) if last else (0, 0))
    assert pages[0] == (pages[1] if last else 0)


@pytest.mark.parametrize("kind", ["md", "txt", "epub", "html"])
async def test_every_kind_of_book_tells_all_of_it_to_who_may_see_all(kind: str) -> None:
    """The words are there to be found: what the tests above do not find is kept back, and not lost."""
    world = await world_of(replace(FULL, kind=kind), word("title", 1))
    answer = await world.ask("What happens?")

    sent = repr(world.provider.requests)
    assert len(places_beyond(sent, 3)) > 5
    assert places_beyond(json.dumps(answer_json(answer)), 0)
