"""A part's values as discord.py's LayoutView, ready to be sent or edited in. Names: `to_view`.

Views never time out; their buttons do nothing by themselves: the client answers by custom id (`action_names.PATTERN`).
"""

from typing import Any

import discord
from discord import ui

from bot.discordbot.layout import Block, Button, Container, LinkButton, PartView, Row, Select, Separator, Text


def to_view(part: PartView) -> ui.LayoutView:
    """The part as components (v2): it must be sent without content and without embeds."""
    view = ui.LayoutView(timeout=None)
    for block in part.blocks:
        view.add_item(_item(block))
    return view


def _item(block: Block) -> ui.Item[Any]:
    match block:
        case Text(content=content):
            return ui.TextDisplay(content)
        case Separator():
            return ui.Separator()
        case Container(items=items):
            return ui.Container(*(_item(item) for item in items))
        case Row(items=items):
            return ui.ActionRow(*(_control(item) for item in items))


def _control(item: Button | LinkButton | Select) -> ui.Item[Any]:
    match item:
        case LinkButton(label=label, url=url):
            return ui.Button(style=discord.ButtonStyle.link, label=label, url=url)
        case Button(label=label, custom_id=custom_id, style=style, disabled=disabled):
            return ui.Button(
                style=discord.ButtonStyle(style.value), label=label, custom_id=custom_id, disabled=disabled
            )
        case Select(custom_id=custom_id, placeholder=placeholder, options=options):
            return ui.Select(
                custom_id=custom_id,
                placeholder=placeholder,
                options=[
                    discord.SelectOption(label=item.label, value=item.value, description=item.description or None)
                    for item in options
                ],
            )
