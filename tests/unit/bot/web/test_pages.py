"""Library and source viewer in a browser, over stores in memory: what people see, and what they never see."""

import html
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from bot.web.links import Links
from bot.web.pages.source import page_path
from core.domain.answer import Citation
from core.domain.corpus import Document, Heading, Page, SearchScope
from core.domain.identity import Role
from core.domain.incoming import ThreadAddress
from core.domain.passages import IndexEntry, Span
from storage.documents.files import SourceFile, stamp_of
from storage.documents.page_images.pages import NO_PICTURE
from tests.builders import NOON, build_citation, build_document, build_pages, build_passages, build_source
from tests.unit.bot.markdown_texts import DIRECTION_MARKS
from tests.unit.bot.web.conftest import SECRET, OpenBrowser, Shelves, read

THREAD = ThreadAddress(platform="web", workspace="local", channel="general", thread="t1")
TEXTS = ("The key is under the mat.", "## Boats\n\nThe *Marigold* carries 96.", "The end.")
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
async def guide(shelves: Shelves) -> Document:
    """A document of three pages in the library."""
    return await put(shelves, build_document("guide.md", title="Guide"), *TEXTS)


async def put(shelves: Shelves, document: Document, *texts: str) -> Document:
    source = build_source()
    await shelves.corpus.save_source(source)
    pages = build_pages(document, *texts)
    passages = build_passages(pages)
    await shelves.corpus.switch_revision(document, pages, passages)
    entries = [
        IndexEntry(passage=item, workspace="local", source_id=source.id, kind=document.kind, title=document.title)
        for item in passages
    ]
    await shelves.index.add(entries)
    return document


async def page_of(shelves: Shelves, document: Document, number: int) -> Page:
    found = await shelves.corpus.find_page(document.id, number, await shelves.scope(None))
    assert found is not None
    return found


def address_of(page: Page, ending: str = "") -> str:
    return page_path(page.id) + ending


def link_to(shelves: Shelves, citation: Citation, days: int = 180) -> str:
    links = Links(secret_key=SECRET, clock=shelves.clock, days=days, public_url=None)
    return links.path(citation, THREAD).partition("#")[0]


def cited_in(document: Document, quote: str = "under the mat", page: int = 1) -> Citation:
    start = TEXTS[page - 1].index(quote)
    return build_citation(document.id, page_number=page, span=Span(start, start + len(quote)), quote=quote)


class TestSourceViewer:
    async def test_a_page_shows_where_it_stands_and_the_ways_from_it(
        self, browse: OpenBrowser, shelves: Shelves, guide: Document
    ) -> None:
        first, second, third = [await page_of(shelves, guide, number) for number in (1, 2, 3)]
        text = await read(await browse(), address_of(second))

        assert "Page 2 of 3" in text
        assert "handbook/guide.md" in text
        assert f'rel="prev" href="{address_of(first)}"' in text
        assert f'rel="next" href="{address_of(third)}"' in text
        assert text.count("aria-current") == 3  # the contents' line, Library in the rail, Documents in its tabs
        assert "The <em>Marigold</em> carries 96." in text
        assert "End of the previous page: </span>The key is under the mat." in text
        assert "Start of the next page: </span>The end." in text

    async def test_the_part_asked_for_is_marked_and_said_above_the_page(
        self, browse: OpenBrowser, shelves: Shelves, guide: Document
    ) -> None:
        text = await read(await browse(), address_of(await page_of(shelves, guide, 1), "?from=11&to=24"))

        assert '<mark class="cited" id="cited">under the mat</mark>' in text
        assert "“under the mat”" in text

    @pytest.mark.parametrize("part", ["from=24&to=11", "from=0&to=9999", "from=x&to=y", "from=-1&to=5", "from=9&to=²"])
    async def test_a_part_that_is_none_marks_nothing(
        self, browse: OpenBrowser, shelves: Shelves, guide: Document, part: str
    ) -> None:
        assert "<mark" not in await read(await browse(), address_of(await page_of(shelves, guide, 1), f"?{part}"))

    async def test_revision_date_original_and_deep_link_are_shown(self, browse: OpenBrowser, shelves: Shelves) -> None:
        document = build_document("a.md", crawled_at=NOON, url="https://wiki.example/{path}")
        source = build_source()
        await shelves.corpus.save_source(source)
        page = replace(
            build_pages(document, "text")[0], deep_link="@UUID[x]", headings=(Heading(level=2, title="T", start=0),)
        )
        await shelves.corpus.switch_revision(document, [page], [])
        text = await read(await browse(), address_of(page))

        assert "1 March 2026, 12:00 UTC" in text
        assert "revision <code" in text
        assert 'href="https://wiki.example/a.md"' in text
        assert "@UUID[x]" in text
        assert 'href="#h-0"' in text

    async def test_an_address_that_is_no_web_address_is_no_link(self, browse: OpenBrowser, shelves: Shelves) -> None:
        document = await put(shelves, build_document("a.md", url="javascript:alert(1)"), "text")

        assert "javascript" not in await read(await browse(), address_of(await page_of(shelves, document, 1)))

    @pytest.mark.parametrize(
        "name", ["nope", "..%2f..%2fetc%2fpasswd", "%00", "%F0%9F%90%8B", "a" * 5_000, SCRIPT.replace("/", "%2F")]
    )
    @pytest.mark.parametrize(
        "form", ["/library/pages/{}", "/library/pages/{}/picture", "/library/documents/{}", "/jobs/{}"]
    )
    async def test_unknown_ids_are_one_clear_page(
        self, browse: OpenBrowser, guide: Document, form: str, name: str
    ) -> None:
        text = await read(await browse(), form.format(name), 404)

        things = {"/library/pages": "passage", "/library/documents": "document", "/jobs": "activity"}
        thing = "page" if form.endswith("/picture") else things[form.rpartition("/")[0]]
        assert f"<h1>This {thing} is gone</h1>" in text

    async def test_a_document_opens_at_its_first_page_and_so_does_a_wikilink(
        self, browse: OpenBrowser, shelves: Shelves, guide: Document
    ) -> None:
        browser, first = await browse(), address_of(await page_of(shelves, guide, 1))
        for path in (f"/library/documents/{quote(guide.id, safe='')}", "/library/find?name=guide"):
            response = await browser.get(path, allow_redirects=False)
            assert response.status == 302
            assert unquote(response.headers["Location"]) == unquote(first)
        await read(browser, "/library/find?name=another+thing", 404)
        await read(browser, "/library/find", 400)

    async def test_what_was_left_out_as_hidden_is_said(self, browse: OpenBrowser, shelves: Shelves) -> None:
        document = build_document("fares.xlsx", id="d", hidden=("2 hidden rows of 'Fares' left out",))
        await put(shelves, document, "The fare is four.")

        text = await read(await browse(), address_of(await page_of(shelves, document, 1)))

        assert "2 hidden rows of &#39;Fares&#39; left out" in text

    async def test_a_document_that_was_never_read_says_why(
        self, browse: OpenBrowser, shelves: Shelves, guide: Document
    ) -> None:
        await shelves.corpus.save_failure(build_document("bad.pdf", id="bad", revision=None, failed_reason="encrypted"))

        assert "encrypted" in await read(await browse(), "/library/documents/bad", 404)

    async def test_scripts_in_names_titles_and_texts_are_words(self, browse: OpenBrowser, shelves: Shelves) -> None:
        document = build_document(f"{SCRIPT}.md", id="d", title=SCRIPT, kind="text")
        await put(shelves, document, f"{SCRIPT} in the text")
        browser = await browse()

        assert "&lt;script&gt;alert(1)" in await read(browser, address_of(await page_of(shelves, document, 1)))
        assert "&lt;script&gt;alert(1)" in await read(browser, "/library?q=text")


class TestSignedLinks:
    async def test_a_link_opens_its_page_with_the_passage_marked_from_anywhere(
        self, browse: OpenBrowser, shelves: Shelves, guide: Document
    ) -> None:
        link = link_to(shelves, cited_in(guide))
        browser = await browse(role=None, public_url="https://foot.example")
        response = await browser.get(link, headers={"Host": "foot.example"})
        text = await response.text()

        assert response.status == 200
        assert '<mark class="cited" id="cited">under the mat</mark>' in text
        assert "this link expires on" in text
        assert 'class="rail"' not in text  # no way into what is not for them
        assert f"{link}/2" not in text

    async def test_a_stranger_sees_the_passage_and_its_neighbours_and_nothing_else(
        self, browse: OpenBrowser, shelves: Shelves
    ) -> None:
        far = [f"Far away is thing number {number}." for number in range(12)]
        text = "\n\n".join([*far[:6], "The bell hangs high.", "The key is here.", "The lamp is red.", *far[6:]])
        long = await put(shelves, build_document("long.md", title="Long"), f"# One\n\n{text}", "# Two\n\nThe secret.")
        page, quote = await page_of(shelves, long, 1), "The key is here."
        start = page.text.index(quote)
        link = link_to(shelves, build_citation(long.id, span=Span(start, start + len(quote)), quote=quote))
        stranger = await browse(role=None)
        excerpt = await read(stranger, link)
        pane = await read(stranger, f"{link}?part=pane")
        others = [await stranger.get(f"{link}/2{path}") for path in ("", "?part=pane", "/picture", "/thumbnail")]
        member = await read(await browse(role=Role.MEMBER), link)

        for shown in (excerpt, pane):
            assert (
                ">The key is here.</mark>" in shown and "The bell hangs high." in shown and "The lamp is red." in shown
            )
            assert not any(sentence in shown for sentence in (far[0], far[-1], "Two", "The secret"))
        assert address_of(page) in excerpt, "the way to the whole document"
        assert [reply.status for reply in others] == [403, 403, 403, 204]
        assert "secret" not in "".join([await reply.text() for reply in others])
        assert all(sentence in member for sentence in (far[0], far[-1], f'{link}/2"'))

    async def test_the_other_pages_of_the_document_open_without_a_mark(
        self, browse: OpenBrowser, shelves: Shelves, guide: Document
    ) -> None:
        text = await read(await browse(), f"{link_to(shelves, cited_in(guide))}/2")

        assert "Marigold" in text
        assert "<mark" not in text

    async def test_a_link_shows_what_its_thread_may_read_now(
        self, browse: OpenBrowser, shelves: Shelves, guide: Document
    ) -> None:
        asked: list[ThreadAddress | None] = []

        async def first_page_only(thread: ThreadAddress | None, reader: str | None = None) -> SearchScope:
            asked.append(thread)
            return replace(await shelves.scope(None), positions={guide.id: 1})

        browser = await browse(scope=first_page_only)
        first = link_to(shelves, cited_in(guide))
        text = await read(browser, first)
        assert asked == [THREAD]
        assert "Marigold" not in text and 'rel="next"' not in text
        for path in (f"{first}/2", link_to(shelves, cited_in(guide, "Marigold", 2)), f"{first}/9"):
            assert "may no longer read it" in await read(browser, path, 404)

    async def test_a_link_leads_no_further_than_its_asker_had_read(
        self, browse: OpenBrowser, shelves: Shelves, guide: Document
    ) -> None:
        link = link_to(shelves, replace(cited_in(guide), last_page=1))
        browser = await browse()
        text = await read(browser, link)

        assert "under the mat" in text and "Marigold" not in text and 'rel="next"' not in text
        assert "may no longer read it" in await read(browser, f"{link}/2", 404)

    async def test_out_of_scope_and_unknown_documents_look_the_same(
        self, browse: OpenBrowser, shelves: Shelves, guide: Document
    ) -> None:
        async def nothing(thread: ThreadAddress | None, reader: str | None = None) -> SearchScope:
            return SearchScope(workspace="local", sources=frozenset())

        browser = await browse(scope=nothing)
        hidden = await read(browser, link_to(shelves, cited_in(guide)), 404)
        unknown = await read(browser, link_to(shelves, build_citation("nobody")), 404)

        assert hidden == unknown
        assert "Guide" not in hidden

    async def test_a_link_to_a_replaced_revision_says_how_to_renew(
        self, browse: OpenBrowser, shelves: Shelves, guide: Document
    ) -> None:
        link = link_to(shelves, cited_in(guide))
        await put(shelves, replace(guide, revision="r2"), "All is new.")
        text = await read(await browse(), link, 410)

        assert "This passage has changed" in text and "has changed since this link was made" in text
        assert "/source and the footnote" in text
        assert "All is new" not in text

    async def test_an_expired_link_says_when_it_ended(
        self, browse: OpenBrowser, shelves: Shelves, guide: Document
    ) -> None:
        link = link_to(shelves, cited_in(guide), days=1)
        shelves.clock.advance(timedelta(days=3).total_seconds())
        text = await read(await browse(), link, 410)

        assert "This link has expired" in text and "expired on 03 March 2026" in text
        assert "/source" in text

    @pytest.mark.parametrize("token", ["x", "a.b.c", "%00", "..%2f..", "é", ".eJw", "a" * 5_000])
    @pytest.mark.parametrize("ending", ["", "/2"])
    async def test_forged_and_malformed_links_are_one_clear_page(
        self, browse: OpenBrowser, token: str, ending: str
    ) -> None:
        text = await read(await browse(), f"/s/{token}{ending}", 403)

        assert "isn&#39;t valid" in text

    async def test_a_forged_picture_is_refused(self, browse: OpenBrowser) -> None:
        assert "isn&#39;t valid" in await read(await browse(), "/s/x/1/picture", 403)

    @pytest.mark.parametrize("number", ["0", "-1", "1e3", "99999999999999999999", "x"])
    async def test_page_numbers_that_are_none_are_not_here(
        self, browse: OpenBrowser, shelves: Shelves, guide: Document, number: str
    ) -> None:
        text = await read(await browse(), f"{link_to(shelves, cited_in(guide))}/{number}", 404)

        assert [shown for shown in TEXTS if shown in text] == []


class TestPictures:
    SAMPLES = Path(__file__).parents[4] / "bot" / "sample_library" / "documents"

    async def pdf(self, shelves: Shelves, path: str = "reports/season-2025.pdf", **changes: object) -> Document:
        await shelves.corpus.save_source(build_source(location=str(self.SAMPLES)))
        status = (self.SAMPLES / "reports/season-2025.pdf").stat()
        stamp = stamp_of(SourceFile(path=path, size=status.st_size, modified_ns=status.st_mtime_ns), self.SAMPLES, ())
        document = build_document(path, kind="pdf", **{"stamp": stamp, **changes})
        pages = build_pages(document, *TEXTS)
        await shelves.corpus.switch_revision(document, pages, [])
        return document

    async def broken(self, shelves: Shelves, folder: Path, content: bytes) -> Document:
        (folder / "broken.pdf").write_bytes(content)
        status = (folder / "broken.pdf").stat()
        await shelves.corpus.save_source(build_source(location=str(folder)))
        stamp = stamp_of(SourceFile(path="broken.pdf", size=status.st_size, modified_ns=status.st_mtime_ns), folder, ())
        document = build_document("broken.pdf", kind="pdf", stamp=stamp)
        await shelves.corpus.switch_revision(document, build_pages(document, TEXTS[0]), [])
        return document

    async def test_a_pdf_page_is_drawn_once_and_kept(
        self, browse: OpenBrowser, shelves: Shelves, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        document = await self.pdf(shelves)
        page = await page_of(shelves, document, 2)
        browser = await browse()
        first = await browser.get(address_of(page, "/picture"))
        monkeypatch.setattr("storage.documents.page_images.pages._draw", None)
        again = await browser.get(link_to(shelves, cited_in(document)) + "/2/picture")

        assert (first.status, first.content_type) == (200, "image/webp")
        assert (await first.read())[8:12] == b"WEBP"
        assert await again.read() == await first.read()
        assert f'src="{address_of(page)}/picture"' in await read(browser, address_of(page))

    async def test_a_thumbnail_is_shown_under_the_same_link_as_the_page(
        self, browse: OpenBrowser, shelves: Shelves
    ) -> None:
        document = await self.pdf(shelves)
        browser, path = await browse(), f"{link_to(shelves, cited_in(document))}/2/thumbnail"
        shown = await browser.get(path)
        picture = await shown.read()
        forged = await browser.get("/s/x/2/thumbnail")
        nowhere = await browser.get(path.replace("/2/", "/9/"))
        await shelves.corpus.remove_documents([document.id])
        gone = await browser.get(path)

        assert (shown.status, shown.content_type, picture[8:12]) == (200, "image/webp", b"WEBP")
        assert "max-age" in shown.headers["Cache-Control"]
        assert forged.status == 403
        assert [(item.status, await item.read()) for item in (nowhere, gone)] == [(204, b"")] * 2

    async def test_a_thumbnail_shows_no_page_that_the_thread_may_not_read_now(
        self, browse: OpenBrowser, shelves: Shelves
    ) -> None:
        document = await self.pdf(shelves)

        async def first_page_only(thread: ThreadAddress | None, reader: str | None = None) -> SearchScope:
            return replace(await shelves.scope(None), positions={document.id: 1})

        browser, link = await browse(scope=first_page_only), link_to(shelves, cited_in(document))
        first, second = [await browser.get(f"{link}/{number}/thumbnail") for number in (1, 2)]
        await put(shelves, replace(document, revision="r2"), "All is new.")
        replaced = await browser.get(f"{link}/1/thumbnail")

        assert first.status == 200
        assert [(item.status, await item.read()) for item in (second, replaced)] == [(204, b"")] * 2

    @pytest.mark.parametrize("content", [b"", b"%PDF-1.7 nothing"])
    async def test_a_broken_file_has_no_thumbnail_and_makes_no_noise(
        self, browse: OpenBrowser, shelves: Shelves, tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
    ) -> None:
        document = await self.broken(shelves, tmp_path, content)
        shown = await (await browse()).get(f"{link_to(shelves, cited_in(document))}/1/thumbnail")

        assert (shown.status, await shown.read()) == (204, b"")
        assert [record for record in caplog.records if record.levelname != "INFO"] == []

    async def test_a_file_that_changed_is_not_shown_as_what_was_cited(
        self, browse: OpenBrowser, shelves: Shelves
    ) -> None:
        document = await self.pdf(shelves, stamp=build_document().stamp)

        assert "has changed" in await read(
            await browse(), address_of(await page_of(shelves, document, 1), "/picture"), 404
        )

    @pytest.mark.parametrize(
        ("path", "why"),
        [
            ("../../__main__.py", "be opened: there is no picture"),
            ("reports/gone.pdf", "is not where it was"),
            ("reports", "has changed since it was read"),
        ],
    )
    async def test_only_the_document_s_own_file_is_opened(
        self, browse: OpenBrowser, shelves: Shelves, path: str, why: str
    ) -> None:
        document = await self.pdf(shelves, path)

        assert why in await read(await browse(), address_of(await page_of(shelves, document, 1), "/picture"), 404)

    async def test_what_can_not_be_drawn_has_no_picture(
        self, browse: OpenBrowser, shelves: Shelves, tmp_path: Path
    ) -> None:
        document = await self.broken(shelves, tmp_path, b"%PDF-1.7 nothing")
        text = await read(await browse(), address_of(await page_of(shelves, document, 1), "/picture"), 404)

        assert NO_PICTURE in html.unescape(text)

    async def test_notes_have_no_pictures(self, browse: OpenBrowser, shelves: Shelves, guide: Document) -> None:
        text = await read(await browse(), address_of(await page_of(shelves, guide, 1), "/picture"), 404)

        assert "Only pages of PDFs have images." in text


class TestLibrary:
    async def test_a_search_leads_to_the_passage(self, browse: OpenBrowser, guide: Document) -> None:
        browser = await browse()
        text = await read(browser, "/library?q=marigold+boats")
        found = re.search(r'<a href="(/library/pages/[^"]+)#cited"', text)
        assert found is not None

        assert '<mark class="cited" id="cited">' in await read(browser, html.unescape(found[1]))
        assert "The Marigold carries 96" in " ".join(text.split())

    @pytest.mark.parametrize("query", [SCRIPT, '" onfocus="alert(1)', "a" * 4_000, "\x00", "{{ 7*7 }}", "%F0%9F%90%8B"])
    async def test_any_query_is_shown_as_words(self, browse: OpenBrowser, guide: Document, query: str) -> None:
        browser = await browse()
        response = await browser.get("/library", params={"q": query})
        text = await response.text()

        assert response.status == 200
        assert "No pages found" in text
        assert '" onfocus="' not in text and "<script>alert" not in text and "for “49”" not in text

    @pytest.mark.parametrize("page", ["0", "-3", "x", "99999999999", "²"])
    async def test_a_page_of_the_list_that_is_none_is_the_nearest(
        self, browse: OpenBrowser, guide: Document, page: str
    ) -> None:
        assert "guide.md" in await read(await browse(), f"/library?page={page}")

    async def test_a_long_list_has_pages(self, browse: OpenBrowser, shelves: Shelves) -> None:
        for number in range(101):
            await put(shelves, build_document(f"{number:03}.md"), "text")
        browser = await browse()

        assert "060.md" not in await read(browser, "/library?sort=title")
        assert "060.md" in await read(browser, "/library?sort=title&page=2")


async def test_no_text_of_a_document_turns_the_writing_direction(shelves: Shelves, browse: OpenBrowser) -> None:
    name = f"a{DIRECTION_MARKS}gpj.exe"
    document = build_document(f"{name}.md", title=name, kind="markdown")
    await put(shelves, document, f"# {name}\n\nPay {DIRECTION_MARKS}99 now.", f"{name}, again")
    browser = await browse()
    page = await page_of(shelves, document, 1)

    for path in ("/library", address_of(page), address_of(page, "?quote=0-9")):
        text = html.unescape(await read(browser, path))
        assert not set(text) & set(DIRECTION_MARKS), path
        assert "gpj.exe" in text, path
    assert DIRECTION_MARKS in (await page_of(shelves, document, 1)).text  # quotes are proved on the text as it is
