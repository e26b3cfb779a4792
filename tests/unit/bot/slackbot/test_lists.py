"""Conversations in lists, with links to those that Slack can show."""

from dataclasses import replace

import pytest

from bot.presentation.platform_text import to_thread_item
from bot.slackbot.events.translate import link_to
from core.domain.incoming import ThreadAddress
from core.work.commands import ThreadRow
from tests.builders import NOON
from tests.unit.bot.slackbot.slack_objects import a_team

HERE = ThreadAddress(platform="slack", workspace="house", channel="C1", thread="1700000000.000100")


@pytest.mark.parametrize(
    ("address", "link"),
    [
        (HERE, "https://acme.slack.com/archives/C1/p1700000000000100"),
        (replace(HERE, channel="D1"), "https://acme.slack.com/archives/D1/p1700000000000100"),
        (replace(HERE, thread=""), "https://acme.slack.com/archives/C1"),
        (replace(HERE, thread="private:U1"), None),
        (replace(HERE, platform="discord"), None),
    ],
)
def test_a_thread_is_linked_where_slack_can_show_it(address: ThreadAddress, link: str | None) -> None:
    assert link_to(address, a_team()) == link


def test_without_the_teams_address_nothing_is_linked() -> None:
    assert link_to(HERE, a_team(url="")) is None


def test_a_row_says_when_it_was_last_used() -> None:
    row = ThreadRow(id="c1", title="", owner="U1", message_count=2, last_used_at=NOON, address=HERE)
    shown = to_thread_item(row, None)
    assert (shown.title, shown.detail) == ("(no title)", f"last used {NOON:%Y-%m-%d %H:%M} UTC")
