"""What the bot asks Discord for."""

import discord

from bot.discordbot.setup import PERMISSIONS, has_message_content, invite_link


def test_the_invitation_asks_for_just_the_permissions_and_scopes_in_use() -> None:
    link = invite_link(42)
    assert link.startswith("https://discord.com/oauth2/authorize?client_id=42&scope=bot+applications.commands")
    assert f"permissions={PERMISSIONS.value}" in link
    assert not PERMISSIONS.administrator


def test_the_switch_for_message_content_counts_for_small_and_for_approved_bots() -> None:
    flags = discord.ApplicationFlags()
    assert not has_message_content(flags)
    flags.gateway_message_content_limited = True
    assert has_message_content(flags)
