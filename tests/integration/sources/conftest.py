"""The server that sources of the web are tested on."""

from collections.abc import AsyncIterator

import pytest

from tests.integration.sources.site import Site, serving


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with serving() as opened:
        yield opened
