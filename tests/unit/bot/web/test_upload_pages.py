"""Adding documents in a browser: what is kept, what is refused and why, and who may."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import FormData

from bot.web.app import MAX_BODY_BYTES
from bot.web.pages.uploads import LINKS, add_uploads
from core.domain.corpus import Source
from core.domain.identity import Role
from core.domain.incoming import ThreadAddress
from core.domain.ingest_report import Failure, IngestProgress, IngestReport
from core.domain.read_limits import ReadLimits
from core.domain.readers import Audience
from core.errors import SourceUnavailable
from core.features.additions import Additions
from core.features.uploads import Uploads
from core.ports.documents import WebFile
from storage.documents.base import check_readable
from storage.documents.files import stamp_file
from tests.builders import build_document, build_pages
from tests.integration.upload_place import alone
from tests.unit.bot.web.conftest import Browser, OpenBrowser, Shelves, read
from tests.waiting import Waiting

PATH = "/library/uploads"
LINK = f"{PATH}/link"
JSON = {"Accept": "application/json"}
LIMITS = ReadLimits(file_bytes=4 * MAX_BODY_BYTES)
FERRIES = "https://example.org/ferries"
SCRIPT = "<script>alert(1)</script>"


class Reading:
    """An ingest that goes on when it is told to; files called "broken" fail."""

    def __init__(self, shelves: Shelves) -> None:
        self._shelves = shelves
        self.may_end = asyncio.Event()
        self.progress: list[IngestProgress] = []

    async def __call__(self, source: Source, root: Path, only: Sequence[str], **options: Any) -> IngestReport:
        for now in self.progress:
            options["progress"](now)
        await self.may_end.wait()
        report = IngestReport()
        for path in only:
            if "broken" in path:
                report.failures.append(Failure(path=path, reason="its text is damaged"))
                failed = build_document(path, source, revision=None, failed_reason="its text is damaged")
                await self._shelves.corpus.save_failure(failed)
            else:
                document = build_document(path, source)
                await self._shelves.corpus.switch_revision(document, build_pages(document, "One.", "Two."), [])
        return report


@pytest.fixture
def reading(shelves: Shelves) -> Reading:
    return Reading(shelves)


@pytest.fixture
def uploads(shelves: Shelves, reading: Reading, tmp_path: Path) -> Uploads:
    return Uploads(
        corpus=shelves.corpus,
        jobs=shelves.jobs,
        clock=shelves.clock,
        ingest=reading,
        check=check_readable,
        stamp=stamp_file,
        limits=LIMITS,
        folder=tmp_path,
        alone=alone,
        links=shelves.stores.additions.links,
    )


@pytest.fixture
def additions(shelves: Shelves, uploads: Uploads) -> Additions:
    return shelves.additions(uploads, fetch)


async def fetch(url: str, most_bytes: int) -> WebFile:
    """Fetch a page that has the name of its address; "gone" ones are refused."""
    if "gone" in url:
        raise SourceUnavailable("the server answered 404. Check the address")
    return WebFile(name=f"{url.removeprefix('https://')}.html", content=b"<h1>Ferries</h1><p>At noon.</p>")


@pytest.fixture
async def browser(browse: OpenBrowser, additions: Additions) -> Browser:
    return await browse(partial(add_uploads, additions=additions))


@pytest.fixture
async def working(uploads: Uploads) -> AsyncIterator[None]:
    task = asyncio.create_task(uploads.work(["local"]))
    yield
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()


def form(*files: tuple[str, bytes], path: str = "") -> FormData:
    data = FormData()
    if path:
        data.add_field("path", path)
    for name, content in files:
        data.add_field("files", io.BytesIO(content), filename=name, content_type="application/octet-stream")
    return data


def form_for(readers: str, only: str = "") -> FormData:
    data = FormData()
    for name, value in (("readers", readers), ("only_readers", only)):
        if value:
            data.add_field(name, value)
    data.add_field("files", io.BytesIO(b"# Notes"), filename="notes.md", content_type="text/markdown")
    return data


def stored(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_a_form_without_a_script_leads_to_the_list_of_files(browser: Browser, tmp_path: Path) -> None:
    given = form(("notes.md", b"# Notes"), ("a.pages", b"x"), (f"{SCRIPT}.md", b"# Hm"))
    response = await browser.post(PATH, data=given, allow_redirects=False)
    assert (response.status, response.headers["Location"]) == (303, PATH)

    text = await read(browser, PATH)
    assert 'a.pages:</span> <span class="upload-words">Pages files can&#39;t be read. Export it as PDF or Word.' in text
    assert 'notes.md:</span> <span class="upload-words">waiting' in text
    assert 'http-equiv="refresh"' in text
    assert 'enctype="multipart/form-data"' in text
    assert sorted(stored(tmp_path).values()) == [b"# Hm", b"# Notes"]


async def test_a_file_is_larger_than_other_requests_may_be(browser: Browser, tmp_path: Path) -> None:
    data = b"words " * (MAX_BODY_BYTES // 3)
    response = await browser.post(PATH, data=form(("long.md", data)), headers=JSON)

    assert (response.status, (await response.json())["refused"]) == (200, [])
    assert stored(tmp_path) == {"long.md": data}


async def test_each_refused_file_has_its_sentence_and_stops_no_other(browser: Browser, tmp_path: Path) -> None:
    too_large = b"x" * (LIMITS.file_bytes + 1)
    given = form(("big.md", too_large), ("a.pdf", b"no"), ("b.md", b"# B"))
    found = await (await browser.post(PATH, data=given, headers=JSON)).json()

    assert found["refused"] == [
        "big.md: Larger than 2 MB. Split the file.",
        "a.pdf: This PDF file can't be read: not a PDF (no %PDF mark at its start).",
    ]
    assert [file["path"] for file in found["files"]] == ["b.md"]
    assert list(stored(tmp_path)) == ["b.md"]


async def test_a_file_of_a_folder_keeps_its_place(browser: Browser, uploads: Uploads) -> None:
    await browser.post(PATH, data=form(("minutes.md", b"# May"), path="Council/2026/minutes.md"), headers=JSON)
    await browser.post(PATH, data=form(("evil.md", b"# Hm"), path="../../../evil.md"), headers=JSON)

    assert [file.path for file in uploads.files("local")] == ["Council/2026/minutes.md", "evil.md"]


async def test_progress_and_outcome_are_told_for_each_file(
    browser: Browser, uploads: Uploads, reading: Reading, working: None
) -> None:
    reading.progress = [IngestProgress(done=0, total=1, path="season.md", page=2, pages=3, is_under_way=True)]
    await browser.post(PATH, data=form(("season.md", b"# Season")), headers=JSON)
    assert await Waiting().until(lambda: uploads.files("local")[0].page, 60)
    state = await (await browser.get(PATH, headers=JSON)).json()
    assert [(file["words"], file["done"]) for file in state["files"]] == [("reading page 2 of 3", 2 / 3)]
    assert (state["pending"], state["limit"], state["most_bytes"]) == (1, "2 MB", LIMITS.file_bytes)

    await browser.post(PATH, data=form(("broken.md", b"# Hm")), headers=JSON)
    reading.may_end.set()
    await uploads.outcome("local", "season.md")
    await uploads.outcome("local", "broken.md")
    state = await (await browser.get(PATH, headers=JSON)).json()
    assert [file["words"] for file in state["files"]] == ["read, 2 pages", "Its text is damaged."]
    assert (state["pending"], [bool(file["href"]) for file in state["files"]]) == (0, [True, False])


@pytest.mark.parametrize(("role", "status"), [(None, 403), (Role.MEMBER, 403), (Role.ADMIN, 303), (Role.OWNER, 303)])
async def test_only_admins_add_documents(
    browse: OpenBrowser, additions: Additions, tmp_path: Path, role: Role | None, status: int
) -> None:
    browser = await browse(partial(add_uploads, additions=additions), role=role, open_to_network=True)
    response = await browser.post(PATH, data=form(("a.md", b"# A")), allow_redirects=False)

    assert response.status == status
    assert ("Only an admin can do this." in await response.text()) == (status == 403)
    assert (await browser.get(PATH)).status == (403 if status == 403 else 200)
    if status == 403:
        for path, fields in (("link", {"url": FERRIES}), ("undo", {"undo": "x"})):
            assert (await browser.post(f"{PATH}/{path}", data=fields)).status == 403
    assert len(stored(tmp_path)) == (status == 303)


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
async def test_a_form_of_another_site_adds_nothing(browser: Browser, tmp_path: Path, headers: dict[str, str]) -> None:
    assert (await browser.post(PATH, data=form(("a.md", b"# A")), headers=headers)).status == 403
    assert stored(tmp_path) == {}


@pytest.mark.parametrize(
    ("data", "headers", "sentence"),
    [
        (b"# A", {"Content-Type": "text/plain"}, "Send the files as a form"),
        (b"no form", {"Content-Type": "multipart/form-data; boundary=x"}, "The form is incomplete"),
        (b"no form", {"Content-Type": "multipart/form-data"}, "The form is incomplete"),
        (b"--x--\r\n", {"Content-Type": "multipart/form-data; boundary=x"}, "Choose at least one file"),
    ],
)
async def test_what_is_no_form_is_one_clear_error(
    browser: Browser, data: bytes, headers: dict[str, str], sentence: str
) -> None:
    response = await browser.post(PATH, data=data, headers={**headers, **JSON})

    assert response.status == 400
    assert sentence in (await response.json())["error"]


async def rows_of(browser: Browser) -> list[tuple[str, str, bool]]:
    """Return state, words and whether it can be undone of each row that the script gets, once nothing runs."""
    await browser.server.app[LINKS].flow.idle()  # type: ignore[attr-defined]
    state = await (await browser.get(PATH, headers=JSON)).json()
    return [(row["state"], row["words"], bool(row["undo"])) for row in state["files"]]


async def test_a_link_is_read_with_its_progress_and_taken_back(
    browser: Browser, uploads: Uploads, reading: Reading, working: None, tmp_path: Path
) -> None:
    reading.progress = [
        IngestProgress(done=0, total=1, path="example.org/ferries.html", page=2, pages=3, is_under_way=True)
    ]
    added = await (await browser.post(f"{PATH}/link", data={"url": FERRIES}, headers=JSON)).json()
    assert [(row["state"], row["words"], row["done"]) for row in added["files"]] == [
        ("reading", f"Opening {FERRIES}.", None)
    ]
    assert added["pending"] == 1
    assert await Waiting().until(lambda: any(file.page for file in uploads.files("local")), 60)
    state = await (await browser.get(PATH, headers=JSON)).json()
    assert [row["done"] for row in state["files"]] == [2 / 3]

    reading.may_end.set()
    said = (
        f"Added {FERRIES}: 2 pages. It can be read in: the terminal, the web app. "
        "In chats, it is for all members, without guests."
    )
    assert await rows_of(browser) == [("read", said, True)]
    assert list(stored(tmp_path)) == ["ferries.html"]
    text = await read(browser, PATH)
    assert "Open</a>" in text

    addition = text.split('name="undo" value="')[1].split('"')[0]
    undone = await browser.post(f"{PATH}/undo", data={"undo": addition}, allow_redirects=False)
    assert (undone.status, undone.headers["Location"]) == (303, PATH)
    assert await rows_of(browser) == [("undone", f"You took {FERRIES} back. It can't be read any more.", False)]
    assert stored(tmp_path) == {}
    assert (await browser.post(f"{PATH}/undo", data={"undo": addition}, headers=JSON)).status == 409
    assert (await browser.post(f"{PATH}/undo", data={"undo": "unknown"}, headers=JSON)).status == 404


async def test_a_refused_link_says_why(browser: Browser, tmp_path: Path) -> None:
    for url in ("", "ferries", "file:///etc/passwd"):
        response = await browser.post(f"{PATH}/link", data={"url": url}, headers=JSON)
        assert response.status == 400
    assert "isn't a web address" in (await response.json())["error"]

    await browser.post(f"{PATH}/link", data={"url": "https://example.org/gone"})
    said = "I didn't add https://example.org/gone. The server answered 404. Check the address."
    assert await rows_of(browser) == [("refused", said, False)]
    assert stored(tmp_path) == {}


async def test_a_link_of_an_earlier_process_is_continued(
    browse: OpenBrowser, shelves: Shelves, uploads: Uploads, reading: Reading, working: None
) -> None:
    async def forever(url: str, most_bytes: int) -> WebFile:
        await asyncio.Event().wait()
        raise AssertionError

    first = await browse(partial(add_uploads, additions=shelves.additions(uploads, forever)))
    await first.post(f"{PATH}/link", data={"url": FERRIES})
    await first.close()
    reading.may_end.set()
    second = await browse(partial(add_uploads, additions=shelves.additions(uploads, fetch)))

    assert [row[0] for row in await rows_of(second)] == ["read"]


class OthersRead:
    """The people of a chat platform."""

    async def of_place(self, address: ThreadAddress, named: frozenset[str]) -> Audience:
        return Audience()

    async def of_person(self, workspace: str, person: str, named: frozenset[str]) -> Audience:
        return Audience()


@pytest.mark.parametrize(
    ("readers", "only", "expected"),
    [
        ("all", "", ["members"]),
        ("some", "role:7, channel:C1", ["channel:C1", "role:7"]),
        ("nobody", "", []),
        ("", "", "Say who may read them in chats, then add them again."),
        ("some", "", "Enter who may read it"),
        ("some", "crew", "'crew' is no reader"),
    ],
)
async def test_where_others_read_too_a_file_is_added_for_the_chosen_ones(
    browser: Browser, additions: Additions, tmp_path: Path, readers: str, only: str, expected: list[str] | str
) -> None:
    additions.access.audiences["slack"] = OthersRead()
    page = await read(browser, PATH)
    response = await browser.post(PATH, data=form_for(readers, only), headers=JSON)
    link = await browser.post(LINK, data={"url": FERRIES, "readers": readers, "only_readers": only}, headers=JSON)

    assert page.count('name="readers" required><option value="">') == 2  # nothing is chosen before the person does
    if isinstance(expected, str):
        assert [expected in (await reply.json())["error"] for reply in (response, link)] == [True, True]
        assert stored(tmp_path) == {}
        return
    assert response.status == link.status == 200
    assert [*map(json.loads, (text for name, text in stored(tmp_path).items() if name.endswith(".json")))] == [expected]
    [added] = await additions.repository.list_unsettled("web")
    assert added.readers == frozenset(expected)


async def test_on_a_machine_of_ones_own_nobody_is_asked_about_readers(browser: Browser, additions: Additions) -> None:
    additions.access.audiences["api"] = OthersRead()  # which the service always has
    assert 'name="readers"' not in await read(browser, PATH)
    response = await browser.post(PATH, data=form_for(""), headers=JSON)
    state = await (await browser.get(PATH, headers=JSON)).json()
    assert (response.status, state["readers"]) == (200, {})
