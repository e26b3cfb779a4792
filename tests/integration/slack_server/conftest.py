"""A server with one team and one person, and a plain bot that hears it in both transports."""

from collections.abc import AsyncIterator

import pytest
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from tests.integration.slack_server.plain_bot import Heard, build_app, in_socket_mode, over_http
from tests.slack_server import Channel, Person, SlackServer, Team

ACK_SECONDS = 20.0  # the bot is quick, but machines that test are busy


@pytest.fixture
async def server() -> AsyncIterator[SlackServer]:
    async with SlackServer(ack_seconds=ACK_SECONDS, trigger_seconds=ACK_SECONDS) as running:
        yield running


@pytest.fixture
def team(server: SlackServer) -> Team:
    return server.create_team("acme")


@pytest.fixture
def general(server: SlackServer, team: Team) -> Channel:
    return server.create_channel(team, "general")


@pytest.fixture
def alice(server: SlackServer, general: Channel) -> Person:
    return server.person("alice", general)


@pytest.fixture
def client(server: SlackServer, team: Team) -> AsyncWebClient:
    assert team.install is not None
    return AsyncWebClient(token=team.install.token, base_url=server.api)


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def app(server: SlackServer, team: Team, heard: Heard) -> AsyncApp:
    assert team.install is not None
    return build_app(team.install.token, server.api, server.app.signing_secret, heard)


@pytest.fixture
async def socket_bot(server: SlackServer, app: AsyncApp) -> AsyncIterator[AsyncApp]:
    async with in_socket_mode(app, server.app.token, server.api):
        await server.wait_for_connection()
        yield app


@pytest.fixture
async def http_bot(server: SlackServer, app: AsyncApp) -> AsyncIterator[AsyncApp]:
    async with over_http(app) as address:
        await server.use_http(address)
        yield app


@pytest.fixture(params=["socket", "http"])
async def bot(request: pytest.FixtureRequest, server: SlackServer, app: AsyncApp) -> AsyncIterator[AsyncApp]:
    if request.param == "socket":
        async with in_socket_mode(app, server.app.token, server.api):
            await server.wait_for_connection()
            yield app
    else:
        async with over_http(app) as address:
            await server.use_http(address)
            yield app
