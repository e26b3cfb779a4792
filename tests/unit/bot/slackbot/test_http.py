"""Signatures of requests that were handled: known as long as they would be taken again, and no longer."""

import pytest

from bot.slackbot.events import transport as http
from bot.slackbot.events.transport import SIGNED_SECONDS, Signatures


class Seconds:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_signature_is_known_as_long_as_slack_could_send_it() -> None:
    seconds = Seconds()
    signatures = Signatures(seconds)
    signatures.add("v0=a")
    seconds.now += 2 * SIGNED_SECONDS
    at_last = signatures.has("v0=a")
    seconds.now += 1

    assert at_last
    assert not signatures.has("v0=a")
    assert not signatures.has("v0=b")


def test_no_more_are_kept_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MOST_REMEMBERED", 3)
    signatures = Signatures(Seconds())
    for name in "abcde":
        signatures.add(name)

    assert [name for name in "abcde" if signatures.has(name)] == ["d", "e"]
