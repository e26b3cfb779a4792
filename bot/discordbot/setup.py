"""What the bot needs on Discord: intents, permissions, the link that invites it, what to do without them. Pure."""

import discord

# What each is for stands in docs/discord.md.
PERMISSIONS = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    create_public_threads=True,
    manage_threads=True,  # renaming and reopening threads that others opened
    read_message_history=True,
    attach_files=True,  # exports
)
SCOPES = ("bot", "applications.commands")

NO_MESSAGE_CONTENT = (
    "Discord withholds what people write: switch on “Message Content Intent” at "
    "https://discord.com/developers/applications (your application, Bot, Privileged Gateway Intents)."
)
BAD_TOKEN = (
    "Discord refuses the bot's token: make a new one at https://discord.com/developers/applications "  # noqa: S105
    "(your application, Bot, Reset Token) and put it into DISCORD_TOKEN, or the file of [discord] token_file."
)


def invite_link(application_id: int) -> str:
    """Opens Discord's page that adds the bot to a server, with just the permissions it uses."""
    return discord.utils.oauth_url(application_id, permissions=PERMISSIONS, scopes=SCOPES)


def has_message_content(flags: discord.ApplicationFlags) -> bool:
    """Whether the portal's switch is on, for a small bot or an approved large one."""
    return flags.gateway_message_content or flags.gateway_message_content_limited
