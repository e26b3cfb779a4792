"""Discord's refusals as sentences, and whether trying again can mend them."""

from types import SimpleNamespace

import aiohttp
import discord
import pytest

from bot.discordbot.delivery.errors import OPEN_THREAD, POST, to_error, translated_errors
from core.errors import AccessDenied, FootnoteError, InvalidState, NotFound, PlatformError, PlatformUnreachable

KINDS = {403: discord.Forbidden, 404: discord.NotFound}


def refusal(status: int, code: int = 0, text: str = "") -> discord.HTTPException:
    response = SimpleNamespace(status=status, reason="refused", headers={})
    kind = KINDS.get(status, discord.HTTPException)
    return kind(response, {"code": code, "message": text})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (refusal(403, 50013), AccessDenied, "“Create Public Threads”"),
        (refusal(403, 50001), AccessDenied, "“View Channel”"),
        (refusal(403, 50007), AccessDenied, "direct messages"),
        (refusal(403, 0, "Nope"), AccessDenied, "Nope"),
        (refusal(404, 10003), NotFound, "deleted"),
        (refusal(404, 0), NotFound, "deleted"),
        (refusal(404, 10015), InvalidState, "15 minutes"),
        (refusal(400, 50083), InvalidState, "archived"),
        (refusal(400, 160005), InvalidState, "locked"),
        (refusal(400, 160006), InvalidState, "Archive some"),
        (refusal(401, 50027), InvalidState, "15 minutes"),
        (refusal(400, 50024, "Wrong channel type"), InvalidState, "Wrong channel type"),
        (refusal(429), PlatformError, "429"),
        (refusal(500), PlatformError, "500"),
        (discord.RateLimited(30.0), PlatformError, "pause"),
        (refusal(503), PlatformUnreachable, "503"),
        (aiohttp.ClientConnectionError(), PlatformUnreachable, "can't be reached"),
        (TimeoutError(), PlatformUnreachable, "can't be reached"),
    ],
)
def test_each_refusal_says_what_to_do(error: Exception, kind: type[FootnoteError], says: str) -> None:
    found = to_error(error, OPEN_THREAD)
    assert type(found) is kind
    assert says in str(found)


def test_a_pause_that_discord_asks_for_is_kept() -> None:
    found = to_error(discord.RateLimited(30.0), POST)
    assert isinstance(found, PlatformError)
    assert found.retry_after_seconds == 30.0


def test_what_is_no_refusal_of_discord_stays_as_it_is() -> None:
    with pytest.raises(KeyError), translated_errors(POST):
        raise KeyError("a fault of ours")
