"""A service that starts anew with another configuration, in the same process and on the same port."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, CookieJar, web

import bot.service.restarts
import bot.service.service
import bot.web.pages.setup
from bot.config import Config
from bot.config.sections import ServiceConfig, WebConfig
from bot.service.command_client import RemoteOperations
from bot.service.operations import new_web_link
from bot.service.pages import build_pages
from bot.service.restarts import Restarts
from bot.service.service import Entrance, SetupHost
from bot.service.service_lock import find_service
from bot.web.pages.setup import SetupRun
from core.answering.pipeline import Pipeline
from core.errors import ConfigError, FootnoteError, InvalidState
from tests.e2e.service_addresses import OTHERS, TEMPLATES
from tests.entering import SAME_SITE
from tests.integration.test_service import start
from tests.unit.bot.web.scripted_wizard import ScriptedWizard

UNUSABLE = ServiceConfig(parallel=0)  # a SQLite file has no other process that could answer


@dataclass
class Process:
    """What a person at the machine has: the terminal's lines, and a browser."""

    browser: ClientSession
    config: Config
    run: SetupRun = field(default_factory=SetupRun)
    wizards: list[ScriptedWizard] = field(default_factory=list)
    loaded: int = 0
    problem: str = ""  # of the configuration file
    url: str = ""
    link: str = ""
    task: "asyncio.Task[None]" = field(init=False)

    def load(self) -> Config:
        self.loaded += 1
        if self.problem:
            raise ConfigError(self.problem)
        return self.config

    def ready(self, entrance: Entrance) -> None:
        assert not self.url, "it is announced once"
        self.url, self.link = entrance.url, entrance.setup_link

    def open_wizard(self) -> ScriptedWizard:
        self.wizards.append(ScriptedWizard())
        return self.wizards[-1]

    async def read(self, path: str) -> str:
        async with self.browser.get(self.url + path) as reply:
            return await reply.text()

    async def answers(self, thread: str) -> list[dict[str, Any]]:
        """Return the answers in a thread."""
        async with self.browser.get(f"{self.url}chat/threads/general/{thread}") as reply:
            return [message for message in (await reply.json())["messages"] if message["role"] != "user"]

    async def press_finish(self) -> None:
        """Press the last button of the wizard."""
        async with self.browser.post(f"{self.url}setup", data={"step": "done", "do": "finish"}) as reply:
            assert reply.status == 200, await reply.text()

    async def finish(self) -> None:
        """Press it, and wait until the page no longer waits."""
        await self.press_finish()
        await until(lambda: not self.run.is_restarting)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(120):
        while not condition():  # noqa: ASYNC110 - of another task's object
            await asyncio.sleep(0.05)


@asynccontextmanager
async def serving(config: Config) -> AsyncIterator[Process]:
    """A process that serves, with its set-up link opened."""
    jar = CookieJar(unsafe=True)  # of an address without a name
    async with ClientSession(cookie_jar=jar, headers=SAME_SITE) as browser:
        process = Process(browser, config)
        host = SetupHost(run=process.run, open_wizard=process.open_wizard)
        process.task = asyncio.create_task(Restarts(process.load, process.ready, host).run())
        await until(lambda: process.link or process.task.done())
        assert "Where does your team talk?" in await process.read(process.link.removeprefix(process.url))
        yield process
        process.task.cancel()
        await asyncio.wait({process.task})


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    monkeypatch.setattr(bot.web.pages.setup, "RESTART_AFTER_SECONDS", 0.0)
    return Config(data_dir=tmp_path / "data", web=WebConfig(port=0))


async def test_after_set_up_the_service_runs_with_the_new_configuration_on_the_same_port(config: Config) -> None:
    async with serving(config) as process:
        before = await process.read("settings")
        process.config = config.model_copy(update={"workspace": "handbook"})
        await process.finish()
        after = await process.read("settings")
        done = await process.read("setup/done")
        notice = find_service(config.data_path)

    assert "the workspace “local”" in before and "the workspace “handbook”" in after
    assert (process.loaded, [wizard.is_finished for wizard in process.wizards]) == (2, [True])
    assert "Ready. Ask something." in done  # in the same session
    assert notice is not None and notice.url == process.url


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [("", "leaves all questions to other processes"), ("sources: unknown key", "sources: unknown key")],
)
async def test_a_configuration_that_does_not_work_is_told_and_the_former_one_used(
    config: Config, caplog: pytest.LogCaptureFixture, problem: str, sentence: str
) -> None:
    async with serving(config) as process:
        process.config, process.problem = config.model_copy(update={"service": UNUSABLE}), problem
        await process.finish()
        told = re.sub(r"\s+", " ", await process.read("setup/done"))
        settings = await process.read("settings")
        process.config, process.problem = config.model_copy(update={"workspace": "handbook"}), ""
        await process.finish()
        mended = await process.read("setup/done")

    assert "Footnote did not start with the new settings" in told and sentence in told
    assert "the workspace “local”" in settings
    assert sentence in caplog.text and "runs on with those from before" in caplog.text
    assert "Ready. Ask something." in mended


async def test_a_question_on_its_way_is_answered_once_by_the_next_service(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asyncio.Event()
    answer = Pipeline.answer

    async def slow(self: Pipeline, *arguments: Any) -> Any:
        if not asked.is_set():
            asked.set()
            await asyncio.Event().wait()  # until its service ends
        return await answer(self, *arguments)

    monkeypatch.setattr(Pipeline, "answer", slow)
    async with serving(config) as process:
        body = {"text": "When does the red kite fly?", "channel": "general", "key": "one"}
        async with process.browser.post(f"{process.url}chat/messages", json=body) as reply:
            thread = (await reply.json())["thread"]
        await asyncio.wait_for(asked.wait(), 120)
        await process.finish()
        answers: list[dict[str, Any]] = []
        async with asyncio.timeout(120):
            while not answers:
                await asyncio.sleep(0.05)
                answers = await process.answers(thread)

    assert [message["role"] for message in answers] == ["assistant"]


async def test_a_service_that_breaks_later_ends_the_process(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot.service.restarts, "TRIAL_SECONDS", -1.0)
    async with serving(config) as process:
        process.config = config.model_copy(update={"service": UNUSABLE})
        await process.press_finish()
        with pytest.raises(FootnoteError, match="leaves all questions"):
            await asyncio.wait_for(process.task, 120)


async def test_a_command_gets_a_new_link(config: Config) -> None:
    async with serving(config) as process:
        service = find_service(config.data_path)
        assert service is not None
        remote = RemoteOperations("local", service)
        link = await remote.call(new_web_link, True)
        await remote.close()
        async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as other, other.get(link) as reply:
            assert "Where does your team talk?" in await reply.text()

    assert link.startswith(f"{process.url}enter/") and link != process.link


FOREIGN = (
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "none"},
    {},  # with the cookie
)
SENT_FROM_ELSEWHERE = "was sent from another site"


async def test_whatever_changes_something_is_refused_to_other_sites(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[web.Application] = []

    def build(*args: Any, **options: Any) -> web.Application:
        built.append(build_pages(*args, **options))
        return built[-1]

    monkeypatch.setattr(bot.service.service, "build_pages", build)
    async with serving(config) as process:
        routes = [
            (route.method, re.sub(r"{[^}]+}", "x", route.resource.canonical).lstrip("/"))
            for route in built[0].router.routes()
            if route.resource is not None and route.method not in ("GET", "HEAD", "OPTIONS")
        ]
        accepted = []
        async with ClientSession(cookies=cookies_in(process.browser)) as browser:
            for method, path in routes:
                for headers in FOREIGN:
                    async with browser.request(method, process.url + path, headers=headers) as reply:
                        if reply.status != 403 or SENT_FROM_ELSEWHERE not in await reply.text():
                            accepted.append((method, path, headers, reply.status))
        async with ClientSession(headers=SAME_SITE) as stranger:
            reached = [await (await stranger.request(method, process.url + path)).text() for method, path in routes]
        async with ClientSession() as program:
            unproved = [
                (await program.request(method, process.url + path)).status
                for method, path in routes
                if path.startswith("api/")
            ]

    assert len(routes) >= 24, routes
    assert accepted == []
    assert not any(SENT_FROM_ELSEWHERE in text for text in reached), "it was the origin that was refused"
    assert set(unproved) == {401}, "programs without cookies are asked for their token"


async def test_every_address_is_read_after_a_removal_or_has_no_texts(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    """tests/e2e/test_removal_pages.py reads them: a new one has to be among them."""
    built: list[web.Application] = []

    def build(*args: Any, **options: Any) -> web.Application:
        built.append(build_pages(*args, **options))
        return built[-1]

    monkeypatch.setattr(bot.service.service, "build_pages", build)
    async with serving(config):
        routes = [route for route in built[0].router.routes() if route.resource is not None and route.method == "GET"]
        found = {route.resource.canonical for route in routes if route.resource is not None}
    assert found == {*TEMPLATES, *OTHERS}


def cookies_in(browser: ClientSession) -> dict[str, str]:
    return {cookie.key: cookie.value for cookie in browser.cookie_jar}


async def test_without_set_up_there_is_no_link(config: Config) -> None:
    service, task, entrance = await start(config)
    remote = RemoteOperations("local", found) if (found := find_service(config.data_path)) else None
    assert remote is not None
    with pytest.raises(InvalidState, match="The demo has no set-up"):
        await remote.call(new_web_link, True)
    await remote.close()
    async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as browser:
        async with browser.get(entrance.link) as reply:
            assert reply.status == 200
        async with browser.get(f"{entrance.url}setup") as reply:
            assert reply.status == 404
    service.stop()
    await task
