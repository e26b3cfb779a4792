"""People signed in by a proxy: its headers count with the shared secret, and never without."""

import pytest
from aiohttp.test_utils import TestClient

from bot.config import Config
from bot.config.sections import ProxySignInConfig, WebConfig
from bot.web.proxy import SECRET_HEADER, ProxySignIn, build_proxy_sign_in
from bot.web.security import known_as
from core.domain.identity import Role
from core.errors import ConfigError
from tests.entering import SAME_SITE
from tests.unit.bot.web.chat_place import ANSWER, KEY, ChatPlace, Visitor, search
from tests.unit.bot.web.conftest import OpenBrowser, Shelves

SECRET = "a secret of the proxy"
PROXY = ProxySignIn(
    secret=SECRET, person_header="X-User", name_header="X-Name", groups_header="X-Groups", admins={"ann@x", "staff"}
)
RIGHT = {SECRET_HEADER: SECRET, "X-User": "ben@x", "X-Name": "Ben", "X-Groups": "crew, guests"}


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({}, 200),
        ({SECRET_HEADER: None}, 403),
        ({SECRET_HEADER: ""}, 403),
        ({SECRET_HEADER: SECRET[:-1]}, 403),
        ({SECRET_HEADER: "ä"}, 403),
        ({"X-User": None}, 403),
        ({"X-User": " "}, 403),
        ({"X-User": "x" * 201}, 403),
    ],
)
async def test_the_headers_count_only_with_the_secret(
    browse: OpenBrowser, changed: dict[str, str | None], status: int
) -> None:
    browser = await browse(role=None, proxy=PROXY)
    headers = {name: value for name, value in (RIGHT | changed).items() if value is not None}

    assert (await browser.get("/library", headers=headers)).status == status


async def test_without_a_proxy_configured_the_headers_mean_nothing(browse: OpenBrowser) -> None:
    assert (await (await browse(role=None)).get("/library", headers=RIGHT)).status == 403


async def test_a_form_of_another_site_is_refused_though_the_proxy_signs_in(browse: OpenBrowser) -> None:
    browser = await browse(role=None, proxy=PROXY)

    assert (await browser.post("/sign-out", headers=RIGHT | {"Origin": "https://evil.example"})).status == 403


@pytest.mark.parametrize(
    ("headers", "role"),
    [
        ({}, Role.MEMBER),
        ({"X-User": "ann@x"}, Role.ADMIN),
        ({"X-Groups": "crew,  staff"}, Role.ADMIN),
        ({"X-Groups": "staffroom"}, Role.MEMBER),
    ],
)
def test_admins_are_people_and_groups_by_their_exact_names(headers: dict[str, str], role: Role) -> None:
    person = PROXY.find(RIGHT | headers)

    assert person is not None and person.role is role


async def test_a_person_is_their_stable_header_whatever_they_are_called(browse: OpenBrowser, shelves: Shelves) -> None:
    people = [("ben@x", "Ben\u202e "), ("ben@y", "Ben"), ("ben@x", "Benedict"), ("ben@x", "")]
    found = [PROXY.find(RIGHT | {"X-User": person, "X-Name": name}) for person, name in people]
    known = [await known_as(shelves.parts(), person) for person in found if person is not None]
    authors, shown = [author for author, _ in known], [name for _, name in known]

    assert shown == ["Ben", "Ben", "Benedict", "ben@x"]
    assert authors[0] == authors[2] == authors[3] != authors[1]
    assert await shelves.parts().sessions.people.names() == {authors[0]: "ben@x", authors[1]: "Ben"}
    assert SECRET not in repr(PROXY)


async def test_a_new_name_keeps_the_threads_and_is_the_one_that_is_shown() -> None:
    place = ChatPlace(script=(search(), ANSWER))
    await place.shelf.add("house.md", f"# Keys\n\n{KEY}", title="House")
    async with place.open(proxy=PROXY) as ada, TestClient(ada.client.server, headers=SAME_SITE | RIGHT) as client:
        ben = Visitor(client, sent=100)
        thread = (await ben.send("@footnote where is the key?"))["thread"]
        await ben.answered(thread)
        renamed = RIGHT | {"X-Name": "Benedict"}
        kept = await (await client.get(f"/chat/threads/general/{thread}", headers=renamed)).json()
        home = await (await client.get("/chat/home", headers=renamed)).json()
        seen = await ada.show(thread)
        listed = await (await ada.client.get("/chat/home")).json()

    assert kept["messages"][0]["mine"] and home["person"] == "Benedict"
    assert [one["thread"] for one in home["threads"]] == [thread]
    assert seen["messages"][0]["author"] == "Benedict"
    assert [one["owner"] for one in listed["threads"]] == ["Benedict"]


@pytest.mark.parametrize("secret", [None, "short"])
def test_without_a_long_secret_the_service_does_not_start(monkeypatch: pytest.MonkeyPatch, secret: str | None) -> None:
    monkeypatch.delenv("FOOTNOTE_PROXY_SECRET", raising=False)
    if secret is not None:
        monkeypatch.setenv("FOOTNOTE_PROXY_SECRET", secret)
    config = Config(web=WebConfig(proxy=ProxySignInConfig(person_header="X-User")))

    with pytest.raises(ConfigError, match=r"\[web.proxy\] needs a secret"):
        build_proxy_sign_in(config)
    assert build_proxy_sign_in(Config()) is None
