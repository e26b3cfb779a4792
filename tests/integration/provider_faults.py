"""What every provider makes of the faults of a server, over real HTTP: the test_faults.py of each takes these over.

`server` and `build` are its fixtures, `script` the module of its server's replies and faults.
"""

import asyncio
from dataclasses import fields
from types import ModuleType
from typing import Any

import pytest

from core.errors import ProviderError, ProviderRateLimited, ProviderTimeout
from storage.models.vendor import Limits
from tests.integration.anthropic_provider.requests import ask

TWICE_IS_NOT_ENOUGH = 3  # attempts with max_retries=2
DEFAULTS: dict[str, Any] = {
    "max_output_tokens": 1000,
    "timeout_seconds": 120.0,  # a busy machine is silent, too: tests of silence ask for less
    "stall_seconds": 60.0,
    "max_retries": 2,
    "backoff_seconds": 0.01,
}


def take_limits(options: dict[str, Any]) -> Limits:
    """The limits among a test's options, taken out of them."""
    wanted = {field.name: options.pop(field.name) for field in fields(Limits) if field.name in options}
    return Limits(**{**DEFAULTS, **wanted})


class ProviderFaults:
    """Faults that are the same whatever the server speaks."""

    script: ModuleType

    async def test_a_rate_limit_beyond_our_patience_is_told_at_once_with_its_time(self, server: Any, build: Any):
        server.script(self.script.Fault(429, headers={"retry-after": "3600"}))
        with pytest.raises(ProviderRateLimited) as caught:
            await build().complete(ask())
        assert caught.value.retry_after_seconds == 3600
        assert len(server.requests) == 1

    async def test_no_answer_at_all_is_a_timeout(self, server: Any, build: Any):
        server.script(*[self.script.Fault(-1)] * 3)
        with pytest.raises(ProviderTimeout):
            await build(stall_seconds=0.5).complete(ask())
        assert len(server.requests) == TWICE_IS_NOT_ENOUGH

    async def test_stopping_a_turn_leaves_the_provider_usable(self, server: Any, build: Any):
        server.script(self.script.Reply.of("A", "B", breaks=self.script.Break.STALL), self.script.Reply.of("Nine."))
        provider = build()
        turn = asyncio.create_task(provider.complete(ask()))
        await server.busy.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert (await provider.complete(ask())).text == "Nine."

    async def test_a_bug_in_the_listener_is_not_taken_for_the_vendors(self, build: Any):
        def broken(_: str) -> None:
            raise ValueError("ours")

        with pytest.raises(ValueError, match="ours"):
            await build().complete(ask(), broken)


class BrokenStream:
    """Parametrised by what breaks it, the error that this is, and after how much: 1 is after a text."""

    script: ModuleType

    async def test_is_begun_again_while_nobody_saw_its_text(
        self, server: Any, build: Any, breaks: Any, error: type[ProviderError], after: int
    ):
        server.script(self._broken(breaks, after), self.script.Reply.of("Nine."))
        assert (await build(stall_seconds=self._patience(breaks)).complete(ask())).text == "Nine."

    async def test_is_one_clear_error_when_it_breaks_each_time(
        self, server: Any, build: Any, breaks: Any, error: type[ProviderError], after: int
    ):
        server.script(*[self._broken(breaks, after)] * 3)
        with pytest.raises(error, match=r"(?i)try again|base_url"):
            await build(stall_seconds=self._patience(breaks)).complete(ask())
        assert len(server.requests) == TWICE_IS_NOT_ENOUGH

    async def test_is_not_begun_again_once_text_was_shown(
        self, server: Any, build: Any, breaks: Any, error: type[ProviderError], after: int
    ):
        server.script(*[self._broken(breaks, after)] * 3)
        shown: list[str] = []
        with pytest.raises(error, match=r"(?i)try again|base_url"):
            await build(stall_seconds=self._patience(breaks)).complete(ask(), shown.append)
        assert shown == (["The "] if after == 1 else [])
        assert len(server.requests) == (1 if after == 1 else TWICE_IS_NOT_ENOUGH)

    def _broken(self, breaks: Any, after: int) -> Any:
        return self.script.Reply.of("The ", "gate", breaks=breaks, breaks_after=after)

    def _patience(self, breaks: Any) -> float:
        """Seconds of silence allowed: short only where silence is the fault, as a busy machine is silent, too."""
        return 1.5 if breaks is self.script.Break.STALL else 60.0
