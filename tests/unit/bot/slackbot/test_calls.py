"""Calls wait out the short pauses that Slack asks for, and repeat nothing else."""

from types import SimpleNamespace

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError

from bot.slackbot.web_api import POST, RETRY_SECONDS, build_client, call
from core.errors import PlatformError


def limited(seconds: int) -> SlackApiError:
    data = {"ok": False, "error": "ratelimited"}
    response = SimpleNamespace(status_code=429, data=data, headers={"Retry-After": str(seconds)})
    return SlackApiError("refused", response)  # type: ignore[no-untyped-call]  # slack_sdk gives no type


class Api:
    """Raises these, one for each call, then answers."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0
        self.paused: list[float] = []

    async def ask(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"

    async def pause(self, seconds: float) -> None:
        self.paused.append(seconds)


async def test_short_pauses_are_waited_out() -> None:
    api = Api(limited(3), limited(4))
    assert await call(POST, api.ask, pause=api.pause) == "done"
    assert (api.calls, api.paused) == (3, [3.0, 4.0])


@pytest.mark.parametrize("errors", [(limited(11),), (limited(6), limited(6)), (limited(0),) * 11])
async def test_patience_ends(errors: tuple[Exception, ...]) -> None:
    api = Api(*errors)
    with pytest.raises(PlatformError) as refused:
        await call(POST, api.ask, pause=api.pause)
    assert refused.value.retry_after_seconds is not None
    assert sum(api.paused) <= RETRY_SECONDS
    assert api.calls == len(errors)


@pytest.mark.parametrize("error", [TimeoutError(), aiohttp.ServerDisconnectedError()])
async def test_what_may_have_arrived_is_not_made_again(error: Exception) -> None:
    api = Api(error)
    with pytest.raises(PlatformError) as refused:
        await call(POST, api.ask, pause=api.pause)
    assert (api.calls, refused.value.retry_after_seconds) == (1, None)


def test_a_client_repeats_nothing_by_itself() -> None:
    assert build_client("xoxb-1").retry_handlers == []
    assert build_client("xoxb-1").base_url == "https://slack.com/api/"
    assert build_client("xoxb-1", "http://127.0.0.1:1/api").base_url == "http://127.0.0.1:1/api/"
