"""The frame of the web: headers, error pages, static files, and who may come in."""

import re

import pytest
from aiohttp import web

from bot.web.app import WebParts, build_web
from bot.web.errors import status_of
from core.errors import AccessDenied, BadInput, FootnoteError, InvalidState, NotFound, ProviderError
from tests.unit.bot.web.conftest import OpenBrowser, Shelves


def broken_pages(app: web.Application, parts: WebParts) -> None:
    async def bug(request: web.Request) -> web.Response:
        raise RuntimeError("the secret is 42")

    async def sentence(request: web.Request) -> web.Response:
        raise NotFound("There is no <script>alert(1)</script> here")

    async def post(request: web.Request) -> web.Response:
        return web.Response(text="taken")

    app.router.add_get("/library/bug", bug)

    async def refused(request: web.Request) -> web.Response:
        raise BadInput("There is no <script>alert(1)</script> here")

    app.router.add_get("/library/refused", refused)
    app.router.add_get("/library/sentence", sentence)
    app.router.add_post("/library/form", post)


@pytest.mark.parametrize("path", ["/nowhere", "/static/base.css", "/library/bug"])
async def test_every_response_forbids_inline_script_and_foreign_content(browse: OpenBrowser, path: str) -> None:
    response = await (await browse(broken_pages)).get(path)
    policy = response.headers["Content-Security-Policy"]

    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Server"] == "Footnote"


async def test_a_bug_shows_a_number_and_no_detail(browse: OpenBrowser, caplog: pytest.LogCaptureFixture) -> None:
    response = await (await browse(broken_pages)).get("/library/bug")
    text = await response.text()
    number = re.search(r"number (\w{8})", text)

    assert response.status == 500
    assert "42" not in re.sub(r"v=\w+|number \w+", "", text)
    assert number is not None and number[1] in caplog.text


async def test_an_error_is_a_page_with_its_sentence_escaped(browse: OpenBrowser) -> None:
    response = await (await browse(broken_pages)).get("/library/refused")
    text = await response.text()

    assert response.status == 400
    assert "There is no &lt;script&gt;" in text
    assert "<script>alert" not in text


async def test_all_pages_that_are_not_there_have_the_same_words_and_lead_on(browse: OpenBrowser) -> None:
    browser = await browse(broken_pages)
    gone, unknown = [await browser.get(path) for path in ("/library/sentence", "/nowhere")]
    text = await gone.text()

    assert (gone.status, unknown.status) == (404, 404)
    assert text.partition("<main")[2] == (await unknown.text()).partition("<main")[2]
    assert "This page is gone" in text and "There is no" not in text
    assert 'action="/library"' in text and 'href="/library">Open the library' in text


async def test_an_unknown_address_and_a_wrong_method_are_pages(browse: OpenBrowser) -> None:
    browser = await browse(broken_pages)
    unknown, wrong = await browser.get("/x/../y"), await browser.get("/library/form")

    assert (unknown.status, wrong.status) == (404, 405)
    assert wrong.headers["Allow"] == "POST"
    assert "This page is gone" in await unknown.text()


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/", f"/static/{'x' * 3_000}"]
)
async def test_static_files_never_leave_their_folder(browse: OpenBrowser, path: str) -> None:
    response = await (await browse()).get(path)

    assert response.status in (403, 404)


async def test_a_marked_static_file_is_kept_for_good_and_others_are_asked_for_again(browse: OpenBrowser) -> None:
    browser = await browse()
    marked, plain = await browser.get("/static/base.css?v=1"), await browser.get("/static/base.css")

    assert "immutable" in marked.headers["Cache-Control"]
    assert "no-cache" in plain.headers["Cache-Control"]


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "Via"])
async def test_pages_are_not_for_people_behind_a_proxy_unless_opened(browse: OpenBrowser, header: str) -> None:
    closed, opened = await browse(broken_pages), await browse(broken_pages, open_to_network=True)

    assert (await closed.get("/library/sentence", headers={header: "10.1.1.1"})).status == 403
    assert (await opened.get("/library/sentence", headers={header: "10.1.1.1"})).status == 404


@pytest.mark.parametrize(
    ("host", "status"), [("evil.example", 421), ("foot.example", 403), ("[", 421), ("localhost:1", 404)]
)
async def test_only_known_host_names_are_answered(browse: OpenBrowser, host: str, status: int) -> None:
    browser = await browse(broken_pages, public_url="https://foot.example")

    assert (await browser.get("/library/sentence", headers={"Host": host})).status == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "null"}, 403),
        ({}, 200),
    ],
)
async def test_forms_of_other_sites_are_refused(browse: OpenBrowser, headers: dict[str, str], status: int) -> None:
    browser = await browse(broken_pages)

    assert (await browser.post("/library/form", headers=headers)).status == status


@pytest.mark.parametrize(
    ("path", "status"), [("/slack/form", 200), ("/slackers/form", 403), ("/library/slack/form", 403), ("/slack", 403)]
)
async def test_what_proves_itself_by_a_signature_comes_in_from_anywhere_and_nothing_beside_it(
    path: str, status: int, browse: OpenBrowser
) -> None:
    def signed_pages(app: web.Application, parts: WebParts) -> None:
        async def post(request: web.Request) -> web.Response:
            return web.Response(text="taken")

        for one in ("/slack/form", "/slackers/form", "/library/slack/form", "/slack"):
            app.router.add_post(one, post)

    client = await browse(signed_pages)
    passed_on = {"X-Forwarded-For": "203.0.113.9"}

    assert (await client.post(path, headers=passed_on)).status == status
    assert (await client.post(path, headers=passed_on | {"Host": "elsewhere.example"})).status == 421
    assert (await client.post(path, headers=passed_on | {"Origin": "https://elsewhere.example"})).status == 403


async def test_without_a_chat_the_first_page_is_the_library(browse: OpenBrowser) -> None:
    response = await (await browse()).get("/", allow_redirects=False)

    assert (response.status, response.headers["Location"]) == (302, "/library")


def test_the_chat_may_take_the_first_page(shelves: Shelves) -> None:
    async def chat(request: web.Request) -> web.Response:
        return web.Response()

    app = build_web(shelves.parts(), [lambda app, parts: app.router.add_get("/", chat, name="home")])

    assert app.router["home"].url_for().path == "/"


@pytest.mark.parametrize(
    ("error", "status"),
    [(NotFound, 404), (AccessDenied, 403), (BadInput, 400), (InvalidState, 409), (ProviderError, 500)],
)
def test_errors_have_the_status_that_fits(error: type[FootnoteError], status: int) -> None:
    assert status_of(error("x")) == status
