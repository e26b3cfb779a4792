"""Channels as they are written on a command line."""

import pytest

from bot.cli.access import CHANNEL_FORMATS, is_direct, to_address
from bot.discordbot.events.translate import PLATFORM as DISCORD
from bot.slackbot.events.teams import PLATFORM as SLACK
from bot.terminal.platform import PLATFORM as TERMINAL
from bot.web.api.platform import PLATFORM as API
from bot.web.api.platform import api_address
from bot.web.translate import PLATFORM as WEB
from bot.web.translate import to_channel
from core.domain.incoming import ThreadAddress
from core.errors import BadInput


def address(platform: str, channel: str, thread: str = "", workspace: str = "local") -> ThreadAddress:
    return ThreadAddress(platform=platform, workspace=workspace, channel=channel, thread=thread)


def test_every_platform_has_its_form_with_an_example_that_fits() -> None:
    assert set(CHANNEL_FORMATS) == {DISCORD, SLACK, TERMINAL, API, WEB}
    for platform, (_, example) in CHANNEL_FORMATS.items():
        assert to_address(example, "", "local").platform == platform


@pytest.mark.parametrize(
    ("written", "thread", "meant"),
    [
        ("slack:C0123ABCD", "", address("slack", "C0123ABCD")),
        ("slack:C0123ABCD", "1722.5", address("slack", "C0123ABCD", "1722.5")),
        (" discord:81384788765712384 ", "", address("discord", "81384788765712384")),
        ("web:" + to_channel("Ferries & Boats"), "", address("web", "ferries-boats")),
        ("web:łódź", "", address("web", "łódź")),
        ("slack:slack-T1:C0123ABCD", "", address("slack", "C0123ABCD", workspace="slack-T1")),
        (str(api_address("w", "t1")), "", api_address("w", "t1")),
        ("slack:w:C0123ABCD:private:U5", "", address("slack", "C0123ABCD", "private:U5", "w")),
        ("slack:w:C0123ABCD:1.5", "1.5", address("slack", "C0123ABCD", "1.5", "w")),
    ],
)
def test_a_channel_is_written_with_its_platform_or_as_lists_show_it(
    written: str, thread: str, meant: ThreadAddress
) -> None:
    assert to_address(written, thread, "local") == meant


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("", "'' isn't a channel. Write PLATFORM:ID"),
        ("slack", "'slack' isn't a channel. Write PLATFORM:ID"),
        ("C0123ABCD", "isn't a channel. Write PLATFORM:ID"),
        ("teams:1", "Unknown platform 'teams'. Use one of discord, slack, web, terminal, api"),
        ("slack:#general", "isn't a channel of slack. Write PLATFORM:ID with the channel's ID"),
        ("slack:", "isn't a channel of slack"),
        ("slack::C0123ABCD", "isn't a channel of slack"),
        ("discord:general", "isn't a channel of discord"),
        ("web:General", "isn't a channel of web"),
        ("terminal:window", "isn't a channel of terminal"),
        ("slack:w:C0123ABCD:1.5", "Leave one out"),
    ],
)
def test_what_is_no_channel_is_refused_with_what_to_write(written: str, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        to_address(written, "2.5", "local")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("where", "direct"),
    [
        (address("slack", "D024"), True),
        (address("slack", "C024"), False),
        (address("slack", "C024", "private:U5"), True),
        (address("discord", "81384788765712384"), False),
        (address("terminal", "cli"), True),
        (address("web", "general"), False),
    ],
)
def test_who_reads_alone_is_told_by_the_channel_where_that_is_possible(where: ThreadAddress, direct: bool) -> None:
    assert is_direct(where) is direct
