"""What documents have to do with each other, over stores in memory."""

import pytest

from core.domain.conversation import Role
from core.domain.corpus import Document
from core.domain.extracts import ExtractType
from core.domain.incoming import PRIVATE_THREAD
from core.errors import NotFound
from core.features.connections import MOST_TOGETHER, Connections
from tests.builders import build_citation, build_conversation, build_message, build_scope
from tests.unit.core.library_builder import Shelf


class Place:
    """A shelf of linked documents, and threads that cite them."""

    def __init__(self) -> None:
        self.shelf = Shelf()
        self.conversations = self.shelf.stores.conversations
        self._links: dict[tuple[str, int], list[dict[str, object]]] = {}
        self.connections = Connections(
            extracts=self.shelf.extracts,
            corpus=self.shelf.corpus,
            names=self.shelf.library.names,
            cited=self.shelf.stores.cited,
            conversations=self.conversations,
        )

    async def link(
        self, source: Document, target: str, kind: str = "links to", *, page: int = 1, path: str | None = None
    ) -> None:
        data: dict[str, object] = {"source": source.title, "kind": kind, "target": target, "target_document": path}
        own = self._links.setdefault((source.id, page), [])
        own.append(data)
        await self.shelf.extract(source, ExtractType.RELATION, *own, page=page)

    async def cite(self, conversation: str, *documents: Document, thread: str | None = None) -> None:
        await self.conversations.add(build_conversation(conversation, thread=thread))
        for place, document in enumerate(documents):
            answer = build_message(
                f"{conversation}-{place}",
                conversation_id=conversation,
                role=Role.ASSISTANT,
                citations=(build_citation(document.id),),
            )
            await self.conversations.append(conversation, [answer])


@pytest.fixture
async def place() -> Place:
    place = Place()
    for name in ("House", "Boat", "Barn", "Mill"):
        await place.shelf.add(f"{name.lower()}.md", f"# {name}\n\nText.", "# More\n\nText.", title=name)
    return place


async def get(place: Place, name: str) -> Document:
    return await place.shelf.library.find_document(name, place.shelf.scope())


def titles(neighbours: object) -> list[str]:
    return [item.document.title for item in neighbours]  # type: ignore[attr-defined]  # they are neighbours


async def test_links_lead_to_what_they_name_and_back(place: Place) -> None:
    house, boat = await get(place, "House"), await get(place, "Boat")
    await place.link(house, "boat")
    await place.link(house, "Barn", kind="embeds")
    await place.link(house, "mill.md", path="mill.md")
    await place.link(house, "Nowhere")
    await place.link(house, "House")
    await place.link(house, "Boat", kind="part of")  # is no link
    found = await place.connections.of(house.id, place.shelf.scope())
    back = await place.connections.of(boat.id, place.shelf.scope())

    assert titles(found.links) == ["Barn", "Boat", "Mill"]
    assert (titles(found.backlinks), titles(back.links), titles(back.backlinks)) == ([], [], ["House"])


async def test_what_is_cited_together_is_related(place: Place) -> None:
    house, boat, barn = [await get(place, name) for name in ("House", "Boat", "Barn")]
    await place.link(house, "Barn")
    await place.cite("c1", house, boat)
    await place.cite("c2", house, boat, barn)
    found = await place.connections.of(house.id, place.shelf.scope())

    assert [(n.document.title, n.together, n.links_to) for n in found.related] == [("Barn", 1, 1), ("Boat", 2, 0)]


async def test_threads_that_cite_it_are_listed_and_private_ones_count_for_nobody(place: Place) -> None:
    house, boat = await get(place, "House"), await get(place, "Boat")
    await place.cite("c1", house, house, boat)
    await place.cite("c2", house, boat, thread=f"{PRIVATE_THREAD}ada")
    found = await place.connections.of(house.id, place.shelf.scope())

    assert [(item.conversation.id, item.answers) for item in found.threads] == [("c1", 2)]
    assert [item.together for item in found.related] == [1]


async def test_nothing_outside_of_the_scope_or_beyond_a_position_is_told(place: Place) -> None:
    house, boat = await get(place, "House"), await get(place, "Boat")
    await place.link(boat, "House", page=2)
    with pytest.raises(NotFound):
        await place.connections.of(house.id, build_scope())

    assert titles((await place.connections.of(house.id, place.shelf.scope())).backlinks) == ["Boat"]
    assert titles((await place.connections.of(house.id, place.shelf.scope(**{boat.id: 1}))).backlinks) == []
    graph = await place.connections.graph(build_scope())
    assert (graph.documents, graph.connections, graph.total) == ((), (), 0)


async def test_of_a_book_in_reading_no_thread_is_told(place: Place) -> None:
    house, boat = await get(place, "House"), await get(place, "Boat")
    await place.cite("c1", house, boat)
    scope = place.shelf.scope(**{boat.id: 1})
    reading, other = await place.connections.of(boat.id, scope), await place.connections.of(house.id, scope)

    assert (reading.threads, reading.related, other.related) == ((), (), ())
    assert [item.conversation.id for item in other.threads] == ["c1"]
    assert (await place.connections.graph(scope)).total == 0


async def test_the_graph_holds_links_and_what_is_cited_together(place: Place) -> None:
    house, boat, barn = [await get(place, name) for name in ("House", "Boat", "Barn")]
    await place.link(house, "Boat")
    await place.link(boat, "House")
    await place.link(boat, "Barn")
    await place.cite("c1", house, boat)
    graph = await place.connections.graph(place.shelf.scope())

    assert [document.title for document in graph.documents] == ["Boat", "House", "Barn"]  # the best connected first
    assert {frozenset((item.first, item.second)): (item.links, item.together) for item in graph.connections} == {
        frozenset((house.id, boat.id)): (2, 1),
        frozenset((boat.id, barn.id)): (1, 0),
    }
    assert graph.total == 3
    small = await place.connections.graph(place.shelf.scope(), most=2)
    assert ([document.title for document in small.documents], len(small.connections), small.total) == (
        ["Boat", "House"],
        1,
        3,
    )


async def test_a_thread_about_everything_connects_only_its_most_cited(place: Place) -> None:
    many = [await place.shelf.add(f"n{n:02}.md", "Text.", title=f"N{n:02}") for n in range(MOST_TOGETHER + 5)]
    await place.cite("c1", *many, many[-1])
    graph = await place.connections.graph(place.shelf.scope())

    assert graph.total == MOST_TOGETHER
    assert many[-1].id in {document.id for document in graph.documents}
