"""The service behind the real nginx and Caddy: who passes through is a stranger, until a link or a sign-in."""

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests import forked
from tests.e2e.serving import ServiceProcess
from tests.kill.served.process import free_port

PLACES = "/usr/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin"
NGINX, CADDY = (shutil.which(program, path=PLACES) for program in ("nginx", "caddy"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        NGINX is None or CADDY is None, reason="no nginx or Caddy on this machine: install both to run these tests"
    ),
]
CONFIG = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port}; {location} }}
}}
"""
PLAIN = "location / {{ proxy_pass {upstream}; }}"  # nginx sends the upstream's own address as the host, and no more
PAGES = ("/", "/library", "/settings", "/setup", "/jobs", "/library/uploads", "/chat/home")
RETRIES = 8  # of a connection, each after twice as long
API = "/api/v1/workspaces/local/documents"


@contextmanager
def proxied(folder: Path, upstream: str, location: str = PLAIN) -> Iterator[str]:
    """The address of nginx in front of a service."""
    assert NGINX is not None
    folder.mkdir()
    port = free_port()
    file = folder / "nginx.conf"
    file.write_text(CONFIG.format(folder=folder, port=port, location=location.format(upstream=upstream.rstrip("/"))))
    process = subprocess.Popen([NGINX, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(file)])
    with listening(process, port) as url:
        yield url


@contextmanager
def listening(process: "subprocess.Popen[bytes]", port: int) -> Iterator[str]:
    """The address of a proxy that was started, from when it listens until it ends."""
    try:
        with httpx.Client(transport=httpx.HTTPTransport(retries=RETRIES)) as client:
            client.get(f"http://127.0.0.1:{port}/healthz")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)


def test_a_stranger_behind_a_plain_proxy_gets_nothing(tmp_path: Path) -> None:
    with ServiceProcess(tmp_path / "data") as service, proxied(tmp_path / "nginx", service.wait_ready()["url"]) as url:
        opened = {path: httpx.get(url + path).status_code for path in (*PAGES, API, "/metrics")}
        forms = ("/chat/messages", "/settings", "/library/uploads", "/setup")
        changed = {path: httpx.post(url + path).status_code for path in forms}

    assert set(opened.values()) <= {401, 403}, opened
    assert set(changed.values()) == {403}, changed


def test_a_link_of_the_terminal_opens_the_pages_behind_a_proxy_once_and_for_good(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with ServiceProcess(data) as service, proxied(tmp_path / "nginx", service.wait_ready()["url"]) as url:
        printed = forked.run(["bot", "--data-dir", str(data), "link", "--json"], check=True).stdout
        path = urlsplit(json.loads(printed)["link"]).path
        with httpx.Client(base_url=url, follow_redirects=True) as owner:
            entered = owner.get(path).status_code
            cookies = dict(owner.cookies)
        second = httpx.get(url + path).status_code
        service.end()
    with ServiceProcess(data) as again, proxied(tmp_path / "later", again.wait_ready()["url"]) as url:
        kept = {path: httpx.get(url + path, cookies=cookies).status_code for path in ("/", "/settings", API)}
        forked.run(["bot", "--data-dir", str(data), "link", "--sign-out-all"], check=True)
        signed_out = httpx.get(f"{url}/settings", cookies=cookies).status_code

    assert (entered, second) == (200, 403)
    assert kept == {"/": 200, "/settings": 200, API: 200}, "the session survives a restart"
    assert signed_out == 403


SECRET = "a-secret-of-nginx-and-Footnote"
DOCS = Path(__file__).parents[2] / "docs" / "security.md"


def documented() -> str:
    """The location of the nginx example in the docs, with a sign-in of the test in place of the real one."""
    example = DOCS.read_text(encoding="utf-8").partition("```nginx\n")[2].partition("```")[0]
    location = "location / {" + example.partition("location / {")[2].partition("}")[0] + "}"
    for written, used in (
        ("http://127.0.0.1:8420", "UPSTREAM"),
        ("THE-SECRET", SECRET),
        ("auth_request /oauth2/auth;", ""),
        ("auth_request_set $user $upstream_http_x_auth_request_email;", "set $user $arg_as;"),
        ("auth_request_set $groups $upstream_http_x_auth_request_groups;", "set $groups $arg_groups;"),
    ):
        assert written in location, written
        location = location.replace(written, used)
    return location.replace("{", "{{").replace("}", "}}").replace("UPSTREAM", "{upstream}")


class Gate(BaseHTTPRequestHandler):
    """Stands for oauth2-proxy: lets everybody pass, and names them as the address of their request does."""

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.headers["X-Forwarded-Uri"]).query)
        self.send_response(202)
        for name, field in (("X-Auth-Request-Email", "as"), ("X-Auth-Request-Groups", "groups")):
            if field in query:
                self.send_header(name, query[field][0])
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...


@contextmanager
def behind_nginx(folder: Path, upstream: str) -> Iterator[str]:
    with proxied(folder, upstream, documented()) as url:
        yield url


@contextmanager
def behind_caddy(folder: Path, upstream: str) -> Iterator[str]:
    """The whole example of the docs, at another address and with another gate."""
    assert CADDY is not None
    folder.mkdir()
    port, gate = free_port(), ThreadingHTTPServer(("127.0.0.1", 0), Gate)
    threading.Thread(target=gate.serve_forever).start()
    example = DOCS.read_text(encoding="utf-8").partition("```caddyfile\n")[2].partition("```")[0]
    for written, used in (
        ("footnote.example.org {", f"http://127.0.0.1:{port} {{"),
        ("127.0.0.1:8420", urlsplit(upstream).netloc),
        ("127.0.0.1:4180", f"127.0.0.1:{gate.server_port}"),
        ("THE-SECRET", SECRET),
    ):
        assert written in example, written
        example = example.replace(written, used)
    file = folder / "Caddyfile"
    file.write_text("{\n  admin off\n}\n" + example)
    own = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), str(folder))
    with (folder / "error.log").open("wb") as log:
        command = [CADDY, "run", "--config", str(file), "--adapter", "caddyfile"]
        process = subprocess.Popen(command, env=os.environ | own, stderr=log)
    try:
        with listening(process, port) as url:
            yield url
    finally:
        gate.shutdown()
        gate.server_close()


@pytest.mark.parametrize("behind", [behind_nginx, behind_caddy])
def test_the_documented_proxies_sign_people_in_and_their_headers_cannot_be_forged(
    tmp_path: Path, behind: Callable[[Path, str], AbstractContextManager[str]]
) -> None:
    config = tmp_path / "config.toml"
    headers = 'person_header = "X-Forwarded-User"\ngroups_header = "X-Forwarded-Groups"'
    config.write_text(f'[web.proxy]\n{headers}\nadmins = ["librarians"]\n')
    process = ServiceProcess(
        tmp_path / "data", "--config", str(config), "serve", "--json", FOOTNOTE_PROXY_SECRET=SECRET
    )
    with process as service:
        direct = service.wait_ready()["url"]
        with behind(tmp_path / "proxy", direct) as url:
            ben, ann = {"as": "ben"}, {"as": "ann", "groups": "librarians"}
            post = {"url": f"{url}/chat/messages", "params": ben}
            post["json"] = {"channel": "general", "text": "Who built it?", "key": "k1"}
            opened = [httpx.get(f"{url}/library", params=who).status_code for who in ({}, ben, ann)]
            changed = [httpx.get(f"{url}/library/uploads", params=who).status_code for who in (ben, ann)]
            asked = httpx.post(**post, headers={"Origin": url})
            foreign = httpx.post(**post, headers={"Origin": "https://evil.example"})
            thread = f"{url}/chat/threads/general/{asked.json()['thread']}"
            seen = [httpx.get(thread, params=who).status_code for who in (ben, ann)]
            forged = {"X-Forwarded-User": "ann", "X-Forwarded-Groups": "librarians", "X-Footnote-Proxy-Secret": "guess"}
            forged |= {"X-Auth-Request-Email": "ann", "X-Auth-Request-Groups": "librarians"}
            tried = [httpx.get(f"{one}library", headers=forged).status_code for one in (direct, f"{url}/")]
            set_up = httpx.get(f"{url}/setup", params=ann).status_code

    assert (opened, changed, seen) == ([403, 200, 200], [403, 200], [200, 404])
    assert (asked.status_code, foreign.status_code, tried, set_up) == (200, 403, [403, 403], 403)
