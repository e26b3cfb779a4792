"""Pages about how documents hang together: everything from documents and threads is text, and nothing is a script."""

from dataclasses import replace
from functools import partial

from bot.web.pages.library import add_connection_pages
from core.domain.conversation import Role
from core.domain.identity import Role as WebRole
from core.domain.incoming import PRIVATE_THREAD
from core.features.connections import Connections
from core.knowledge.search.documents import NamesOfWorkspaces
from tests.builders import (
    build_citation,
    build_conversation,
    build_document,
    build_message,
    build_pages,
    build_source,
)
from tests.unit.bot.web.conftest import Browser, OpenBrowser, Shelves, read

NASTY = "<script>alert(1)</script>"


async def stock(shelves: Shelves) -> list[str]:
    """Three documents that one thread cites, and a private one; the ids of the documents."""
    await shelves.corpus.save_source(build_source())
    documents = [build_document(f"{n}.md", title=f"Title {n} {NASTY}") for n in range(3)]
    for document in documents:
        await shelves.corpus.switch_revision(document, build_pages(document, "Text."), [])
    for id, title, thread in (("c1", f"Keys {NASTY}", "t1"), ("c2", "Secret", f"{PRIVATE_THREAD}ada")):
        await shelves.conversations.add(build_conversation(id, title=title, thread=thread))
        cited = tuple(build_citation(document.id) for document in documents)
        answer = build_message(f"{id}-a", conversation_id=id, role=Role.ASSISTANT, citations=cited)
        await shelves.conversations.append(id, [answer])
    return [document.id.replace("/", "%2F") for document in documents]


async def opened(shelves: Shelves, browse: OpenBrowser, role: WebRole | None = WebRole.OWNER) -> Browser:
    connections = Connections(
        extracts=shelves.extracts,
        corpus=shelves.corpus,
        names=NamesOfWorkspaces(shelves.corpus),
        cited=shelves.stores.cited,
        conversations=shelves.conversations,
    )
    return await browse(partial(add_connection_pages, connections=connections), role=role)


async def test_the_graph_is_drawn_and_told_as_a_list(shelves: Shelves, browse: OpenBrowser) -> None:
    await stock(shelves)
    text = await read(await opened(shelves, browse), "/library/graph")

    assert (text.count("<circle"), text.count("<line"), text.count("cited together in 1 thread</td>")) == (6, 6, 3)
    assert "Secret" not in text


async def test_a_document_names_what_is_around_it_and_the_threads_that_cite_it(
    shelves: Shelves, browse: OpenBrowser
) -> None:
    first, *_ = await stock(shelves)
    browser = await opened(shelves, browse)
    text = await read(browser, f"/library/documents/{first}/connections")

    assert 'href="/read/c1"' in text
    assert "Secret" not in text
    assert "Related documents" in text and text.count("<circle") == 6  # a wide drawing, and one for a phone
    assert "Connections</a>" in await read(browser, f"/library/documents/{first}")  # the way to it
    assert "/library/graph" in await read(browser, "/library")


async def test_a_document_is_used_in_the_open_threads_that_cite_it(shelves: Shelves, browse: OpenBrowser) -> None:
    first, *_ = await stock(shelves)
    browser = await opened(shelves, browse)
    path = (await browser.get(f"/library/documents/{first}")).url.raw_path
    for text in (await read(browser, path), await read(browser, f"{path}?part=pane")):
        assert "Used in" in text and 'href="/read/c1"' in text and "1 answer<" in text
        assert "Secret" not in text and "/read/c2" not in text


async def test_a_link_from_elsewhere_names_no_threads(shelves: Shelves, browse: OpenBrowser) -> None:
    await stock(shelves)
    browser = await opened(shelves, browse)
    citation = build_citation(build_document("0.md").id)
    thread = build_conversation("c1", thread="t1").address
    own = shelves.parts().links.path(citation, thread)
    other = shelves.parts().links.path(citation, replace(thread, thread="t2"))

    assert "Used in" in await read(browser, other)
    assert "Used in" not in await read(browser, own)  # it is the only one
    elsewhere = await (await opened(shelves, browse, role=None)).get(other)
    assert "Used in" not in await elsewhere.text()


async def test_without_connections_it_says_so(shelves: Shelves, browse: OpenBrowser) -> None:
    await shelves.corpus.save_source(build_source())
    document = build_document()
    await shelves.corpus.switch_revision(document, build_pages(document, "Text."), [])
    browser = await opened(shelves, browse)

    assert "No document links to another," in await read(browser, "/library/graph")
    alone = await read(browser, f"/library/documents/{document.id.replace('/', '%2F')}/connections")
    assert "No related documents yet." in alone and "<svg " not in alone.partition("<main")[2]
    await read(browser, "/library/documents/unknown/connections", status=404)
