"""Threads of one person alone are told by their addresses, as the adapters make these."""

import pytest

from bot.discordbot.events import translate as discord
from bot.presentation.direct_threads import is_direct_thread, private_address
from bot.slackbot.events import translate as slack
from core.domain.incoming import ThreadAddress


def address(platform: str, channel: str, thread: str) -> ThreadAddress:
    return ThreadAddress(platform=platform, workspace="w", channel=channel, thread=thread)


@pytest.mark.parametrize(
    ("where", "alone"),
    [
        (discord.thread_address("w", 8, discord.DIRECT_THREAD), True),
        (private_address(discord.thread_address("w", 8, ""), "5"), True),
        (discord.thread_address("w", 8, "9"), False),
        (slack.thread_address("w", "D024", "1.2"), True),
        (private_address(slack.thread_address("w", "C024", ""), "U5"), True),
        (slack.thread_address("w", "C024", "1.2"), False),
        (address("web", "Dogs", ""), False),
        (address("terminal", "D", "t"), False),
    ],
)
def test_whose_a_thread_is_follows_from_its_address(where: ThreadAddress, alone: bool) -> None:
    assert is_direct_thread(where) is alone


@pytest.mark.parametrize("channel", ["D024", "C024", "G024"])
def test_slacks_direct_channels_are_those_that_its_adapter_takes_for_them(channel: str) -> None:
    assert is_direct_thread(slack.thread_address("w", channel, "1")) is slack.is_direct({"channel": channel})
