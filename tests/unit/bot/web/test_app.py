"""The frame of the web: headers, error pages, static files, and who may come in."""

import re

import pytest
from aiohttp import web

from bot.web.app import FOLDER, WebParts, build_web
from bot.web.errors import status_of
from bot.web.security import HOW_TO_ENTER
from core.domain.identity import Role
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
    assert 'action="/library"' in text and 'class="tile" href="/library"' in text


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


# Everything that a thread with an open source loads.
THREAD = ["base.css", "chat/chat.css", "source.css", "pane.css", "pane.js", "source.js"]
THREAD += [f"chat/{name}.js" for name in ("main", "api", "composer", "dialogs", "dom", "side", "view")]


async def test_a_thread_with_an_open_source_weighs_less_than_80_kb(browse: OpenBrowser) -> None:
    browser = await browse()
    files = [await (await browser.get(f"/static/{name}")).read() for name in THREAD]
    code = b" ".join(files).decode()
    imported = {name.rpartition("/")[2] for name in re.findall(r'from "([^"]+)"', code)}

    assert sum(map(len, files)) < 80_000
    assert imported <= {name.rpartition("/")[2] for name in THREAD}  # nothing else is loaded


async def test_styles_and_scripts_keep_what_they_mean(browse: OpenBrowser) -> None:
    browser = await browse()
    style, script = [await (await browser.get(f"/static/{name}")).text() for name in ("base.css", "chat/api.js")]
    written = (FOLDER / "static" / "base.css").read_text(encoding="utf-8")

    assert "/*" in written and "/*" not in style and "calc(" in style
    for sign in "{}":
        assert style.count(sign) == re.sub(r"/\*.*?\*/", "", written, flags=re.DOTALL).count(sign)
    assert "export" in script and "//" not in script


async def test_a_file_that_the_browser_has_is_not_sent_again(browse: OpenBrowser) -> None:
    browser = await browse()
    first = await browser.get("/static/chat/api.js")
    again = await browser.get("/static/chat/api.js", headers={"If-None-Match": first.headers["ETag"]})
    other = await browser.get("/static/chat/dom.js", headers={"If-None-Match": first.headers["ETag"]})

    assert (first.status, again.status, other.status) == (200, 304, 200)
    assert await again.read() == b""


def test_no_script_nests_a_template_in_a_template() -> None:
    # rjsmin takes the inner one's end for the outer one's, and squeezes spaces out of what people or styles read.
    scripts = {path.name: path.read_text(encoding="utf-8") for path in (FOLDER / "static").rglob("*.js")}
    assert len(scripts) > 5
    assert [name for name, code in scripts.items() if re.search(r"\$\{[^}`]*`", code)] == []


async def test_a_marked_static_file_is_kept_for_good_and_others_are_asked_for_again(browse: OpenBrowser) -> None:
    browser = await browse()
    marked, plain = await browser.get("/static/base.css?v=1"), await browser.get("/static/base.css")

    assert "immutable" in marked.headers["Cache-Control"]
    assert "no-cache" in plain.headers["Cache-Control"]


async def test_pages_are_for_those_who_signed_in_unless_opened(browse: OpenBrowser) -> None:
    stranger = await browse(broken_pages, role=None)
    refused = await stranger.get("/library/sentence")
    members = await browse(broken_pages, role=Role.MEMBER)
    opened = await browse(broken_pages, role=None, open_to_network=True)

    assert (refused.status, HOW_TO_ENTER in await refused.text()) == (403, True)
    assert [(await one.get("/library/sentence")).status for one in (members, opened)] == [404, 404]


@pytest.mark.parametrize(
    ("host", "status"), [("evil.example", 421), ("foot.example", 404), ("[", 421), ("localhost:1", 404)]
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
        ({"Sec-Fetch-Site": "none"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"}, 403),
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

    client = await browse(signed_pages, role=None)

    assert (await client.post(path)).status == status
    assert (await client.post(path, headers={"Host": "elsewhere.example"})).status == 421
    assert (await client.post(path, headers={"Origin": "https://elsewhere.example"})).status == 403


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
