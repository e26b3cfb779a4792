"""Signing in at a real provider, through the real service."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests import forked
from tests.e2e.serving import ServiceProcess
from tests.entering import SAME_SITE
from tests.kill.served.process import free_port

pytestmark = pytest.mark.slow
PEOPLE = (
    {"sub": "u1", "name": "Ada Lovelace", "groups": ["team", "librarians"]},
    {"sub": "u2", "name": "Ben", "groups": ["team"]},
    {"sub": "u3", "name": "Eve", "groups": ["others"]},
)
SECRET = "the secret of the client"
RETRIES = 8  # of a connection, each after twice as long


@contextmanager
def provider(port: int) -> Iterator[str]:
    """The address of a provider; who signs in chooses who they are."""
    people = [part for person in PEOPLE for part in ("--user-claims", json.dumps(person))]
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port), "--host", "127.0.0.1"]
    process = subprocess.Popen([*command, "--require-nonce", *people], stderr=subprocess.DEVNULL)
    issuer = f"http://127.0.0.1:{port}"
    try:
        with httpx.Client(transport=httpx.HTTPTransport(retries=RETRIES)) as client:  # until it listens
            client.get(f"{issuer}/.well-known/openid-configuration", timeout=60).raise_for_status()
        yield issuer
    finally:
        process.terminate()
        process.wait(60)


@dataclass
class Team:
    """A service at whose address people sign in at a provider."""

    url: str
    config: Path
    data: Path
    provider_port: int


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    folder = tmp_path_factory.mktemp("team")
    port, provider_port = free_port(), free_port()
    url, config, data = f"http://127.0.0.1:{port}", folder / "config.toml", folder / "data"
    config.write_text(
        f'[web]\npublic_url = "{url}"\n[web.oidc]\nissuer = "http://127.0.0.1:{provider_port}"\n'
        'client_id = "footnote"\nmembers = ["team"]\nadmins = ["librarians"]\n'
    )
    serve = ("--config", str(config), "serve", "--json")
    with ServiceProcess(data, *serve, FOOTNOTE_WEB__PORT=str(port), FOOTNOTE_OIDC_SECRET=SECRET) as service:
        service.wait_ready()
        yield Team(url, config, data, provider_port)


def visit(browser: httpx.Client, path: str, sub: str, **changes: str) -> httpx.Response:
    """Open a page as nobody, sign in at the provider, and come back; `changes` are of the request to the provider."""
    asked = browser.get(path)  # redirects lead to the form of the provider
    assert asked.status_code == 200, asked.text
    back = browser.post(asked.url.copy_merge_params(changes), data={"sub": sub}, follow_redirects=False)
    assert back.status_code == 302, back.text
    return browser.get(back.headers["Location"])


def browser_of(team: Team) -> httpx.Client:
    return httpx.Client(base_url=team.url, follow_redirects=True, timeout=60, headers=SAME_SITE)


def status_of(team: Team, path: str, browser: httpx.Client) -> int:
    return browser.get(path, follow_redirects=False).status_code


def test_people_sign_in_return_to_their_page_and_have_their_own_threads_and_roles(team: Team) -> None:
    post = {"channel": "general", "text": "Who built it?", "key": "k1"}
    with provider(team.provider_port), browser_of(team) as ada, browser_of(team) as ben:
        nobody = httpx.get(f"{team.url}/settings")
        page = visit(ada, "/settings?from=chat", "u1")
        visit(ben, "/", "u2")
        uploads = [status_of(team, "/library/uploads", one) for one in (ada, ben)]
        thread = f"/chat/threads/general/{ben.post('/chat/messages', json=post).json()['thread']}"
        seen = [status_of(team, thread, one) for one in (ada, ben)]
        named = ben.get("/chat/home").json()["person"]
        left = ada.post("/sign-out")
        after = [status_of(team, "/settings", one) for one in (ada, ben)]
        again = visit(ada, "/library", "u1")

    assert (nobody.status_code, nobody.headers["Location"]) == (303, "/sign-in?to=/settings")
    assert str(page.url) == f"{team.url}/settings?from=chat"
    assert "You are signed in as Ada Lovelace." in page.text
    assert (uploads, seen, named) == ([200, 403], [404, 200], "Ben")
    assert "You may still be signed in at" in left.text
    assert (after, again.status_code, again.url.path) == ([303, 200], 200, "/library")


@pytest.mark.parametrize(
    ("sub", "changes", "said"),
    [
        ("u3", {}, "you are in none of the groups"),
        ("u1", {"state": "guessed"}, "begun last in this browser"),
        ("u1", {"nonce": "guessed"}, "Invalid claim: &#39;nonce&#39;"),
        ("u1", {"client_id": "another"}, "refused the sign-in (invalid_grant"),
    ],
)
def test_a_wrong_sign_in_is_one_sentence_and_no_session(
    team: Team, sub: str, changes: dict[str, str], said: str
) -> None:
    with provider(team.provider_port), browser_of(team) as browser:
        refused = visit(browser, "/settings", sub, **changes)
        after = status_of(team, "/settings", browser)

    assert (refused.status_code, said in refused.text) == (403, True), refused.text
    assert after == 303


@pytest.mark.parametrize("to", ["https://evil.example/", "//evil.example/", "/\\evil.example", "/%09/evil.example"])
def test_one_returns_to_own_pages_only(team: Team, to: str) -> None:
    with provider(team.provider_port), browser_of(team) as browser:
        page = visit(browser, f"/sign-in?to={to}", "u2")

    assert (page.status_code, str(page.url)) == (200, f"{team.url}/")


def test_a_provider_that_is_down_is_a_sentence_also_of_the_doctor(team: Team) -> None:
    environment = {"FOOTNOTE_OIDC_SECRET": SECRET}
    doctor = ["bot", "--config", str(team.config), "--data-dir", str(team.data.parent / "other"), "doctor", "--json"]
    down = check(forked.run(doctor, env=environment).stdout)
    with provider(team.provider_port) as issuer:
        up = check(forked.run(doctor, env=environment).stdout)
        with browser_of(team) as browser:
            asked = browser.get("/settings")
            back = browser.post(asked.url, data={"sub": "u1"}, follow_redirects=False).headers["Location"]
            address = asked.url.copy_with(query=None)
    with browser_of(team) as browser_without_provider:
        browser_without_provider.cookies.update(browser.cookies)
        gone = browser_without_provider.get(back)

    assert (down["ok"], "can't be reached or used now" in str(down["detail"])) == (False, True)
    assert (up["ok"], issuer in str(up["detail"])) == (True, True)
    assert str(address).startswith(issuer)
    assert (gone.status_code, "can&#39;t be reached or used now" in gone.text) == (503, True)


def check(printed: str) -> dict[str, object]:
    """The doctor's line about the sign-in."""
    [found] = [one for one in json.loads(printed)["checks"] if one["name"] == "sign-in"]
    return dict(found)
