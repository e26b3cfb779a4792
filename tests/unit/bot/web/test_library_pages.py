"""The library in a browser: sources with their status, failures, the list of documents, and what may be changed."""

import asyncio
import re
from collections.abc import Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pytest

from bot.web.pages.documents import LibraryTools, add_library, ago
from core.domain.conversation import Role
from core.domain.corpus import Document, Source
from core.domain.ingest_report import IngestReport
from core.domain.jobs import JobKind, JobStatus
from core.domain.read_limits import ReadLimits
from core.domain.sources import Every, FolderOrigin, SourceSpec, SyncResult, SyncState
from core.features.syncing import Syncs
from core.features.uploads import UPLOADS, Uploads
from storage.documents.base import check_readable
from storage.documents.files import stamp_file
from tests.builders import (
    NOON,
    build_citation,
    build_conversation,
    build_document,
    build_job,
    build_message,
    build_pages,
    build_source,
)
from tests.unit.bot.web.conftest import Browser, OpenBrowser, Shelves, read

UPLOADED = build_source("Uploads", kind=UPLOADS)
WIKI = SourceSpec(
    name="wiki", workspace="local", origin=FolderOrigin(path=Path("/srv/wiki")), schedule=Every(seconds=900)
)


@asynccontextmanager
async def alone():
    yield


@dataclass
class House:
    """The stores, the tools over them, and what an ingest was asked for."""

    shelves: Shelves
    folder: Path
    specs: tuple[SourceSpec, ...] = (WIKI,)

    def __post_init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []
        self.done = asyncio.Event()

    @cached_property
    def tools(self) -> LibraryTools:
        stores = self.shelves.stores
        shared: dict[str, Any] = {"corpus": stores.corpus, "jobs": stores.jobs, "clock": self.shelves.clock}
        uploads = Uploads(
            **shared,
            ingest=self.ingest,
            check=check_readable,
            stamp=stamp_file,
            limits=ReadLimits(),
            folder=self.folder,
            alone=alone,
            links=stores.additions.links,
        )
        syncs = Syncs(
            **shared,
            specs=self.specs,
            states=stores.syncs,
            ingest=self.ingest,
            fetcher=None,
            mirrors=self.folder,
            alone=alone,
            has_files=lambda root, selection: True,
        )
        return LibraryTools(additions=self.shelves.additions(uploads), syncs=syncs, cited=stores.cited)

    async def ingest(self, source: Source, root: Path, only: Sequence[str] = (), **options: Any) -> IngestReport:
        self.asked.append((source.name, list(only)))
        self.done.set()
        return IngestReport()

    async def put(self, path: str, source: Source = UPLOADED, pages: int = 1, **fields: Any) -> Document:
        await self.shelves.corpus.save_source(source)
        document = build_document(path, source, **{"crawled_at": NOON, **fields})
        await self.shelves.corpus.switch_revision(document, build_pages(document, *["Text."] * pages), [])
        return document

    async def fail(self, path: str, reason: str, source: Source = UPLOADED) -> Document:
        await self.shelves.corpus.save_source(source)
        document = build_document(path, source, revision=None, failed_reason=reason)
        await self.shelves.corpus.save_failure(document)
        return document

    async def cite(self, *documents: Document) -> None:
        await self.shelves.conversations.add(build_conversation("c1"))
        citations = tuple(build_citation(document.id) for document in documents)
        await self.shelves.conversations.append(
            "c1", [build_message("a1", conversation_id="c1", role=Role.ASSISTANT, citations=citations)]
        )


@pytest.fixture
def house(shelves: Shelves, tmp_path: Path) -> House:
    return House(shelves, tmp_path)


@pytest.fixture
async def browser(browse: OpenBrowser, house: House) -> Browser:
    return await browse(partial(add_library, tools=house.tools))


def titles(text: str) -> list[str]:
    return re.findall(r'<td><a href="/library/documents/[^"]+">([^<]+)</a>', text)


def statuses(text: str) -> dict[str, str]:
    rows = re.findall(r'<th scope="row">([^<]+)<.*?class="status \w+">([^<]+)<', text, re.DOTALL)
    return {name: " ".join(words.split()) for name, words in rows}


async def test_an_empty_library_offers_to_add_documents(browse: OpenBrowser, house: House) -> None:
    house.specs = ()
    text = await read(await browse(partial(add_library, tools=house.tools)), "/library?q=anything")
    assert "Nothing here yet" in text
    assert 'action="/library/uploads"' in text

    elsewhere = await read(await browse(), "/library")
    assert "footnote ingest PATH" in elsewhere and "/library/uploads" not in elsewhere


async def test_each_source_says_how_it_comes_and_how_it_is(browser: Browser, house: House, shelves: Shelves) -> None:
    await house.put("a.md")
    await house.fail("b.pdf", "encrypted")
    await house.put("home.md", build_source("vault"))
    text = await read(browser, "/library")

    assert statuses(text) == {"Uploads": "1 could not be read", "vault": "Up to date", "wiki": "Waiting"}
    assert "Added by hand" in text and "Folder, checked every 15 minutes" in text

    state = SyncState(
        workspace="local",
        source="wiki",
        kind="folder",
        result=SyncResult.FAILED,
        started_at=NOON,
        ended_at=NOON,
        failing_since=NOON,
        error="The folder is not mounted.",
    )
    await shelves.stores.syncs.save(state)
    text = await read(browser, "/library")
    assert statuses(text)["wiki"] == "Can&#39;t be reached" and "The folder is not mounted." in text
    job = build_job("s1", kind=JobKind.SYNC, name="sync wiki", input={"source": "wiki"}, status=JobStatus.RUNNING)
    step = build_job("s1/i0", parent_id="s1", kind=JobKind.INGEST, name="read", output={"done": 38, "total": 62})
    await shelves.jobs.save(job, step)
    text = await read(browser, "/library")
    assert statuses(text)["wiki"] == "Reading 38 of 62"
    assert 'data-live="yes"' in text


async def test_uploads_on_their_way_are_counted(browser: Browser, house: House) -> None:
    await house.put("old.md")
    source = (await house.shelves.corpus.list_sources("local"))[0]
    for name in ("a.md", "b.md"):
        house.tools.additions.uploads._expect(source, name)

    assert statuses(await read(browser, "/library"))["Uploads"] == "Waiting"


async def test_failures_open_in_place_with_their_next_step(browser: Browser, house: House) -> None:
    bad = await house.fail("plans/b.pdf", "encrypted: remove the password")
    await house.fail("c.pages", "no reader for .pages: save it as PDF or Word and ingest it again")
    text = await read(browser, "/library")

    assert "2 files could not be read" in text
    assert "Encrypted: remove the password." in text
    assert "Pages files can&#39;t be read. Export it as PDF or Word." in text
    assert f'name="document" value="{bad.id}"' in text and "Try all again" in text


async def test_of_very_many_failures_the_first_are_shown(browse: OpenBrowser, house: House) -> None:
    for number in range(102):
        await house.fail(f"{number:03}.pdf", "scanned: run OCR first")
    text = await read(await browse(), "/library")

    assert "102 files could not be read" in text
    assert text.count("run OCR first") == 100
    assert "<code>footnote documents</code> lists all" in text
    assert "Try again" not in text  # nothing reads them here


async def test_a_failed_file_is_read_again_on_demand(browser: Browser, house: House) -> None:
    await house.fail("b.pdf", "encrypted")
    [source] = await house.shelves.corpus.list_sources("local")
    folder = house.folder / "x"
    wiki = build_source("wiki", location=str(folder))
    failed = [await house.fail(name, "broken", wiki) for name in ("c.pdf", "d.pdf")]
    response = await browser.post("/library/again", data={"document": failed[0].id}, allow_redirects=False)
    await house.done.wait()

    assert (response.status, response.headers["Location"]) == (303, "/library")
    assert (source.name, house.asked) == ("Uploads", [("wiki", ["c.pdf"])])
    house.done.clear()
    await browser.post("/library/again", allow_redirects=False)
    await house.done.wait()
    assert house.asked[1:] == [("wiki", ["c.pdf", "d.pdf"])]


async def test_sources_are_synced_on_demand(browser: Browser, house: House) -> None:
    await house.put("a.md")
    assert 'action="/library/sync"' in await read(browser, "/library")
    response = await browser.post("/library/sync", allow_redirects=False)
    await house.done.wait()

    assert (response.status, house.asked) == (303, [("wiki", [])])


async def test_documents_are_filtered_and_sorted(browser: Browser, house: House) -> None:
    later = NOON + timedelta(days=2)
    a = await house.put("a.md", title="Alpha", pages=1)
    await house.put("b.pdf", title="beta", pages=3, kind="pdf", crawled_at=later)
    await house.put("c.csv", title="Gamma", pages=2, kind="csv", crawled_at=later - timedelta(hours=1))
    await house.cite(a)

    assert titles(await read(browser, "/library")) == ["beta", "Gamma", "Alpha"]
    assert titles(await read(browser, "/library?sort=title")) == ["Alpha", "beta", "Gamma"]
    assert titles(await read(browser, "/library?sort=pages")) == ["beta", "Gamma", "Alpha"]
    assert titles(await read(browser, "/library?sort=cited")) == ["Alpha", "beta", "Gamma"]
    assert titles(await read(browser, "/library?sort=nonsense&kind=Notes")) == ["Alpha"]
    text = await read(browser, "/library?kind=uncited&sort=title")
    assert titles(text) == ["beta", "Gamma"]
    assert "2 documents" in text
    assert 'href="/library?kind=PDF&amp;sort=title#documents"' in text
    assert "cited once" in await read(browser, "/library")


async def test_removing_asks_first_and_says_what_it_causes(browser: Browser, house: House) -> None:
    a, b = await house.put("a.md"), await house.put("b.md", build_source("vault"))
    await house.cite(a)
    asked = await browser.post("/library/remove", data=[("document", a.id), ("document", b.id)])
    text = await asked.text()

    assert "Remove 2 documents?" in text
    assert "1 conversation stays, but answers that rest on them are deleted for good" in text
    assert "The files of vault stay where they are." in text
    assert len(titles(await read(browser, "/library"))) == 2

    gone = await browser.post("/library/remove", data={"document": a.id, "confirmed": "yes"}, allow_redirects=False)
    assert gone.status == 303
    assert titles(await read(browser, "/library")) == ["b.md"]
    assert (await browser.post("/library/remove", data={"document": "unknown"})).status == 400


@pytest.mark.parametrize("path", ["/library/remove", "/library/again", "/library/sync"])
async def test_visitors_change_nothing(browse: OpenBrowser, house: House, path: str) -> None:
    a = await house.put("a.md")
    browser = await browse(partial(add_library, tools=house.tools), role=None, open_to_network=True)
    response = await browser.post(path, data={"document": a.id, "confirmed": "yes"})
    text = await (await browser.get("/library")).text()

    assert response.status == 403
    assert titles(text) == ["a.md"]
    assert "checkbox" not in text and "Add documents" not in text and house.asked == []
    assert (await browser.post(path, data={}, headers={"Origin": "https://evil.example"})).status == 403


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(5, "just now"), (300, "5 min ago"), (7_300, "2 h ago"), (5 * 86_400, "24 Feb"), (100 * 86_400, "21 Nov 2025")],
)
def test_moments_are_told_as_people_do(seconds: int, words: str) -> None:
    assert ago(NOON - timedelta(seconds=seconds), NOON) == words
