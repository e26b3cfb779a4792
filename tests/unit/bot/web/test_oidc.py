"""Signing in at a provider: what a right answer gives, and that every wrong one gives a sentence and no session."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from joserfc.jwk import RSAKey

from bot.config import Config
from bot.config.sections import RETURN_PATH, SIGN_IN_LASTS, OidcConfig, WebConfig
from bot.web.oidc import OidcSignIn, build_oidc
from bot.web.pages.settings import Overview, add_settings
from bot.web.pages.sign_in import own_path
from bot.web.parts import PARTS, WebParts
from bot.web.security import SIGNED_OUT, session_cookie
from core.domain.identity import Role
from core.errors import ConfigError
from tests.entering import sign_in
from tests.oidc_provider import CLIENT_ID, CLIENT_SECRET, Provider, provided
from tests.unit.bot.web.conftest import Browser, OpenBrowser, Shelves

PUBLIC = "http://127.0.0.1:8420"


@pytest.fixture
async def provider(shelves: Shelves) -> AsyncIterator[Provider]:
    async with provided(shelves.clock) as running:
        yield running


def oidc(shelves: Shelves, provider: Provider, **changes: Any) -> OidcSignIn:
    settings = {"issuer": provider.issuer, "client_id": CLIENT_ID, "members": ["team"], "admins": ["admins"], **changes}
    return OidcSignIn(
        settings=OidcConfig.model_validate(settings),
        secret=CLIENT_SECRET,
        public_url=PUBLIC,
        key="a key for tests only",
        clock=shelves.clock,
    )


@pytest.fixture
async def stranger(browse: OpenBrowser, shelves: Shelves, provider: Provider) -> Browser:
    return await browse(settings_page, role=None, oidc=oidc(shelves, provider))


def settings_page(app: web.Application, parts: WebParts) -> None:
    async def overview() -> Overview:
        return Overview(
            platforms=(), model="", reading=0, public_url="", is_open=False, can_set_up=False, signs_in_at="sso"
        )

    add_settings(app, parts, overview)


async def begin(browser: Browser, to: str = "/settings") -> str:
    """The provider's address."""
    begun = await browser.get("/sign-in", params={"to": to}, allow_redirects=False)
    assert begun.status == 303, await begun.text()
    return begun.headers["Location"]


async def signed_in(browser: Browser, provider: Provider, to: str = "/settings") -> str:
    """The page after a whole sign-in."""
    back = await browser.get(RETURN_PATH, params=provider.sign_in(await begin(browser, to)), allow_redirects=False)
    assert back.status == 303, await back.text()
    return back.headers["Location"]


async def refusal(browser: Browser, answer: dict[str, str], status: int = 403) -> str:
    """The sentence of a sign-in that didn't work, and gave no session."""
    reply = await browser.get(RETURN_PATH, params=answer, allow_redirects=False)
    text = await reply.text()
    assert reply.status == status, text
    assert "Sign in</a>" in text and session_cookie(browser.server.app[PARTS]) not in reply.cookies
    assert (await browser.get("/settings", allow_redirects=False)).status == 303
    return text.partition("<h1>")[2].partition("</section>")[0]


async def test_who_opens_a_page_is_sent_to_the_provider_and_back_to_the_page(
    stranger: Browser, provider: Provider
) -> None:
    asked = await stranger.get("/library?q=who%20is%20it", allow_redirects=False)
    begun = await stranger.get(asked.headers["Location"], allow_redirects=False)
    answer = provider.sign_in(begun.headers["Location"])
    back = await stranger.get(RETURN_PATH, params=answer, allow_redirects=False)
    page = await stranger.get("/settings")
    replayed = await stranger.get(RETURN_PATH, params=answer, allow_redirects=False)

    assert asked.headers["Location"] == "/sign-in?to=/library?q%3Dwho%2520is%2520it"
    assert begun.headers["Location"].startswith(f"{provider.issuer}/auth?")
    assert back.headers["Location"] == "/library?q=who%20is%20it"
    assert "You are signed in as Ada Lovelace." in await page.text()
    assert replayed.status == 403
    [cookie] = [one for one in back.headers.getall("Set-Cookie") if one.startswith("footnote_session_")]
    assert {"HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=43200"} <= set(cookie.split("; "))


async def test_requests_of_scripts_get_a_sentence_instead_of_the_provider(stranger: Browser) -> None:
    script = await stranger.get("/library", headers={"Sec-Fetch-Mode": "cors"}, allow_redirects=False)
    form = await stranger.post("/settings", allow_redirects=False)

    assert [script.status, form.status] == [403, 403]
    assert SIGNED_OUT.replace("'", "&#39;") in await script.text()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"claims": {"iss": "https://evil.example"}}, "Invalid claim: &#39;iss&#39;"),
        ({"claims": {"aud": "another"}}, "Invalid claim: &#39;aud&#39;"),
        ({"claims": {"aud": [CLIENT_ID, "another"]}}, "Missing claim: &#39;azp&#39;"),
        ({"claims": {"aud": [CLIENT_ID, "another"], "azp": "another"}}, "Invalid claim: &#39;azp&#39;"),
        ({"claims": {"nonce": "another"}}, "Invalid claim: &#39;nonce&#39;"),
        ({"claims": {"nonce": None}}, "Missing claim: &#39;nonce&#39;"),
        ({"claims": {"exp": 1_000_000_000}}, "has expired"),
        ({"claims": {"exp": None}}, "Missing claim: &#39;exp&#39;"),
        ({"claims": {"iat": 10_000_000_000}}, "issued in the future"),
        ({"claims": {"sub": ""}}, "Invalid claim: &#39;sub&#39;"),
        ({"claims": {"sub": None}}, "Missing claim: &#39;sub&#39;"),
        ({"claims": {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}}, "Invalid claim: &#39;at_hash&#39;"),
        ({"signing_key": RSAKey.generate_key(2048)}, "bad_signature"),
        ({"algorithm": "HS256"}, "unsupported_algorithm"),
        ({"algorithm": "none"}, "unsupported_algorithm"),
        ({"userinfo": {"sub": "u2"}}, "another person"),
        ({"userinfo": {"groups": ["others"]}}, "none of the groups"),
        ({"userinfo": {"groups": None}}, "none of the groups"),
        ({"userinfo": {"groups": [{"name": "team"}, 7]}}, "none of the groups"),
        ({"userinfo": {"groups": "teams"}}, "none of the groups"),
    ],
)
async def test_a_wrong_answer_of_the_provider_gives_no_session(
    stranger: Browser, provider: Provider, wrong: dict[str, Any], said: str
) -> None:
    for name, value in wrong.items():
        setattr(provider, name, value)
    refused = await refusal(stranger, provider.sign_in(await begin(stranger)))
    again = Provider(provider.clock, issuer=provider.issuer, key=provider.key)
    vars(provider).update({name: getattr(again, name) for name in wrong})

    assert said in refused
    assert await signed_in(stranger, provider) == "/settings", "the same person, rightly"


async def test_an_answer_counts_only_in_the_browser_that_began_and_in_time(
    browse: OpenBrowser, stranger: Browser, shelves: Shelves, provider: Provider
) -> None:
    victim = await browse(settings_page, role=None, oidc=oidc(shelves, provider))
    answer = provider.sign_in(await begin(stranger))
    elsewhere = await refusal(victim, answer)
    await begin(victim)
    begun_otherwise = await refusal(victim, answer)
    wrong_state = await refusal(stranger, answer | {"state": "guessed"})
    without_state = await refusal(stranger, {"code": answer["code"]})
    shelves.clock.advance(SIGN_IN_LASTS.total_seconds())
    stranger.session.cookie_jar.update_cookies({})
    late = await stranger.get(RETURN_PATH, params=answer, allow_redirects=False)

    assert "begun to sign in" in elsewhere
    assert all("begun last in this browser" in one for one in (begun_otherwise, wrong_state, without_state))
    assert (late.status, "took too long" in await late.text()) == (403, True)
    assert "/token" not in provider.asked


async def test_a_forged_state_in_the_cookie_is_refused(stranger: Browser, provider: Provider) -> None:
    answer = provider.sign_in(await begin(stranger))
    [cookie] = [one for one in stranger.session.cookie_jar if one.key.startswith("footnote_sign_in_")]
    forged = await stranger.get(
        RETURN_PATH, params=answer, cookies={cookie.key: cookie.value[:-2] + "AA"}, allow_redirects=False
    )

    assert (forged.status, "begun to sign in" in await forged.text()) == (403, True)
    assert cookie["httponly"] and (cookie["samesite"], cookie["path"]) == ("Lax", "/sign-in")


async def test_a_refusal_of_the_provider_is_passed_on(stranger: Browser, provider: Provider) -> None:
    state = provider.sign_in(await begin(stranger))["state"]
    denied = await refusal(
        stranger, {"state": state, "error": "access_denied", "error_description": "<b>Not you</b>\u202e"}
    )
    bad_code = await refusal(stranger, {"state": state, "code": "guessed"})

    assert "&lt;b&gt;Not you&lt;/b&gt;. Try it again." in denied
    assert "invalid_grant" in bad_code


async def test_another_verifier_gets_no_token(
    stranger: Browser, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = provider.sign_in(await begin(stranger))
    provider.begun[answer["code"]]["code_challenge"] = "of another browser"

    assert "invalid_grant" in await refusal(stranger, answer)


@pytest.mark.parametrize(
    ("path", "reply"),
    [
        ("/token", {"status": 502, "text": "<h1>Bad gateway</h1>"}),
        ("/token", {"status": 200, "text": "[]"}),
        ("/keys", {"status": 404, "text": ""}),
        ("/keys", {"status": 200, "text": "[]"}),
        ("/me", {"status": 302, "headers": {"Location": "http://127.0.0.1:1/"}}),
        ("/me", {"status": 200, "text": "not JSON"}),
    ],
)
async def test_a_provider_that_fails_in_the_middle_is_a_sentence(
    stranger: Browser, provider: Provider, path: str, reply: dict[str, Any]
) -> None:
    answer = provider.sign_in(await begin(stranger))
    provider.broken[path] = web.Response(**reply)

    assert "can&#39;t be reached or used now" in await refusal(stranger, answer, 503)


@pytest.mark.parametrize("keys", ['{"keys": []}', '{"keys": 7}', '{"keys": [{"kty": "RSA"}]}', "{}"])
async def test_keys_that_cannot_be_read_prove_nothing(stranger: Browser, provider: Provider, keys: str) -> None:
    answer = provider.sign_in(await begin(stranger))
    provider.broken["/keys"] = web.Response(text=keys)

    assert "isn&#39;t valid" in await refusal(stranger, answer)


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"issuer": "https://evil.example"}, "calls itself"),
        ({"token_endpoint": "http://sso.example/token"}, "names no https address as its token_endpoint"),
        ({"jwks_uri": None}, "names no https address as its jwks_uri"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "names no https address as its authorization_endpoint"),
    ],
)
async def test_a_provider_that_describes_itself_wrongly_is_not_used(
    stranger: Browser, provider: Provider, metadata: dict[str, Any], said: str
) -> None:
    provider.metadata = metadata
    reply = await stranger.get("/sign-in", allow_redirects=False)

    assert (reply.status, said in await reply.text()) == (503, True)
    assert "Location" not in reply.headers


async def test_a_provider_that_is_down_is_a_sentence_until_it_is_back(stranger: Browser, provider: Provider) -> None:
    provider.broken["/.well-known/openid-configuration"] = web.Response(status=503)
    down = await stranger.get("/sign-in", allow_redirects=False)
    provider.broken.clear()

    assert (down.status, "Try again in a minute" in await down.text()) == (503, True)
    assert await signed_in(stranger, provider) == "/settings"


@pytest.mark.parametrize(
    "text",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/a\\..\\evil",
        "/\t/evil.example",
        "/\n/evil.example",
        "javascript:alert(1)",
        "evil",
        "",
        "/" + "x" * 2000,
        "/sign-in",
    ],
)
async def test_one_returns_to_own_pages_only(stranger: Browser, provider: Provider, text: str) -> None:
    assert own_path(text) == "/"
    assert await signed_in(stranger, provider, text) == "/"


@pytest.mark.parametrize(
    ("claims", "changes", "role"),
    [
        ({"groups": ["team"]}, {}, Role.MEMBER),
        ({"groups": ["admins"]}, {}, Role.ADMIN),
        ({"groups": "admins"}, {}, Role.ADMIN),
        ({"groups": ["Admins"]}, {"members": ["*"]}, Role.MEMBER),
        ({"groups": []}, {"members": ["*"]}, Role.MEMBER),
        ({"realm_access": {"roles": ["admins"]}}, {"groups_claim": "realm_access.roles"}, Role.ADMIN),
        ({"https://x.example/roles": ["team"]}, {"groups_claim": "https://x.example/roles"}, Role.MEMBER),
        ({"email": "ada@x.org", "email_verified": True}, {"members": ["ada@x.org"]}, Role.MEMBER),
        ({"email": "ada@x.org", "email_verified": True, "groups": []}, {"admins": ["ada@x.org"]}, Role.ADMIN),
        ({"email": "ada@x.org", "groups": []}, {"members": ["ada@x.org"]}, None),
        ({"email": "ada@x.org", "email_verified": "true", "groups": []}, {"members": ["ada@x.org"]}, None),
        ({"email": "admins", "email_verified": True, "groups": []}, {}, None),
        ({"sub": "admins", "name": "admins", "preferred_username": "admins", "groups": []}, {}, None),
    ],
)
async def test_roles_are_those_of_the_provider(
    browse: OpenBrowser, shelves: Shelves, provider: Provider, claims: dict[str, Any], changes: Any, role: Role | None
) -> None:
    browser = await browse(settings_page, role=None, oidc=oidc(shelves, provider, **changes))
    provider.userinfo = provider.claims = claims
    back = await browser.get(RETURN_PATH, params=provider.sign_in(await begin(browser)), allow_redirects=False)
    cookie = back.cookies.get(session_cookie(browser.server.app[PARTS]))
    found = await shelves.parts().sessions.find(cookie.value) if cookie else None

    assert (found.role if found else None) is role


async def test_a_person_is_their_issuer_and_subject_whatever_they_are_called(
    browse: OpenBrowser, shelves: Shelves, provider: Provider
) -> None:
    sign = oidc(shelves, provider)
    authors, names = [], []
    people = [("u1", "Ada", ["team"]), ("u1", "Ada King", ["admins"]), ("u2", "Ada", ["team"])]
    for sub, name, groups in people:
        browser = await browse(settings_page, role=None, oidc=sign)
        provider.userinfo = provider.claims = {"sub": sub, "name": name, "groups": groups}
        await signed_in(browser, provider)
        [cookie] = [one for one in browser.session.cookie_jar if one.key.startswith("footnote_session_")]
        session = await shelves.parts().sessions.find(cookie.value)
        assert session is not None
        authors.append(session.person)
        names.append((session.name, session.role))

    assert authors[0] == authors[1] != authors[2]
    assert names == [("Ada", Role.MEMBER), ("Ada King", Role.ADMIN), ("Ada", Role.MEMBER)]
    assert (await shelves.parts().sessions.people.names())[authors[0]] == "Ada King"
    assert provider.asked.count("/.well-known/openid-configuration") == 1, "it is kept for a while"


async def test_a_session_ends_with_its_time_and_with_signing_out(
    stranger: Browser, shelves: Shelves, provider: Provider
) -> None:
    await signed_in(stranger, provider)
    left = await stranger.post("/sign-out", allow_redirects=False)
    ended = await stranger.get(left.headers["Location"], allow_redirects=False)
    after = await stranger.get("/library", allow_redirects=False)
    await signed_in(stranger, provider)
    shelves.clock.advance(12 * 3600 - 1)
    still = await stranger.get("/library", allow_redirects=False)
    shelves.clock.advance(1)
    over = await stranger.get("/library", allow_redirects=False)

    assert (ended.status, "may still be signed in at" in await ended.text()) == (200, True)
    assert [after.status, still.status, over.status] == [303, 200, 303]


async def test_the_link_of_the_terminal_opens_beside_the_provider(stranger: Browser) -> None:
    await sign_in(stranger)

    assert (await stranger.get("/library", allow_redirects=False)).status == 200


async def test_without_a_provider_there_is_no_sign_in(browse: OpenBrowser) -> None:
    browser = await browse(role=None)

    assert [(await browser.get(path)).status for path in ("/sign-in", RETURN_PATH, "/sign-in/ended")] == [404] * 3


def test_a_configuration_names_all_that_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FOOTNOTE_OIDC_SECRET", raising=False)
    config = Config(web=WebConfig(oidc=OidcConfig(issuer="https://sso.example")))

    with pytest.raises(ConfigError) as error:
        build_oidc(config, Shelves().clock)
    for lacking in ("[web] public_url", "client_id", "members", "FOOTNOTE_OIDC_SECRET"):
        assert lacking in str(error.value)


@pytest.mark.parametrize(
    "issuer", ["http://sso.example", "sso.example", "https://", "https://x.org?a=b", "ftp://x.org"]
)
def test_an_issuer_is_an_https_address(issuer: str) -> None:
    with pytest.raises(ValueError, match="it must be an https address"):
        OidcConfig(issuer=issuer)
    assert OidcConfig(issuer="https://x.org/realms/team/").issuer == "https://x.org/realms/team/"
    assert "Secret" not in repr(OidcConfig(issuer="http://127.0.0.1:8080"))


async def test_the_secret_never_shows(shelves: Shelves, provider: Provider) -> None:
    assert CLIENT_SECRET not in repr(oidc(shelves, provider))
