"""A small discord.py bot, for the tests of the Discord server: it answers mentions, and again when it starts."""

import asyncio
import os
from typing import Any

import discord
from discord import app_commands

FRUIT = ["apple", "apricot", "banana"]


class Form(discord.ui.Modal, title="Your name"):
    name: discord.ui.TextInput["Form"] = discord.ui.TextInput(label="Name", custom_id="name")

    async def on_submit(self, interaction: discord.Interaction) -> None:
        await interaction.response.send_message(f"Hello {self.name.value}", ephemeral=True)


class Buttons(discord.ui.View):
    """Lives on when the bot is started anew."""

    def __init__(self) -> None:
        super().__init__(timeout=None)

    @discord.ui.button(label="More", custom_id="more")
    async def more(self, interaction: discord.Interaction, _: discord.ui.Button["Buttons"]) -> None:
        await interaction.response.send_message("More of it", ephemeral=True)

    @discord.ui.button(label="Form", custom_id="form")
    async def form(self, interaction: discord.Interaction, _: discord.ui.Button["Buttons"]) -> None:
        await interaction.response.send_modal(Form())

    @discord.ui.select(custom_id="fruit", options=[discord.SelectOption(label=one) for one in FRUIT])
    async def fruit(self, interaction: discord.Interaction, select: discord.ui.Select["Buttons"]) -> None:
        await interaction.response.edit_message(content=f"Chosen: {select.values[0]}")


class Layout(discord.ui.LayoutView):
    """The newer kind of message, made of components alone."""

    def __init__(self, text: str) -> None:
        super().__init__(timeout=None)
        self.add_item(discord.ui.Container(discord.ui.TextDisplay(text), discord.ui.TextDisplay("-# small print")))


class PlainBot(discord.Client):
    def __init__(self, *, intents: discord.Intents, **options: Any) -> None:
        super().__init__(intents=intents, allowed_mentions=discord.AllowedMentions.none(), **options)
        self.tree = app_commands.CommandTree(self)
        self.tree.add_command(eat)
        self.tree.add_command(slow)
        self.tree.add_command(app_commands.ContextMenu(name="Count letters", callback=count))

    async def setup_hook(self) -> None:
        self.add_view(Buttons())
        await self.tree.sync()

    async def on_ready(self) -> None:
        """Answers what it may have missed: the nonces keep it from answering twice."""
        for channel in [one for one in self.get_all_channels() if isinstance(one, discord.TextChannel)]:
            async for message in channel.history(limit=20, oldest_first=True):
                await self.on_message(message)

    async def on_resumed(self) -> None:
        print("resumed", flush=True)  # noqa: T201 - the test reads it

    async def on_message(self, message: discord.Message) -> None:
        if message.author.bot or self.user is None or not (message.guild is None or self.user in message.mentions):
            return
        words = message.content.split()
        place: discord.abc.Messageable = message.channel
        if "thread" in words:
            place = await message.create_thread(name="x" * (101 if "long" in words else 10))
        for attachment in message.attachments:
            await place.send(f"{attachment.filename} says {(await attachment.read()).decode()}")
        if "layout" in words:
            await place.send(view=Layout("All components"))
            return
        files = [discord.File(__file__, "code.py")] if "file" in words else []
        view = Buttons() if "buttons" in words else discord.utils.MISSING
        text = " ".join(word for word in words if not word.startswith("<@")) * (2 if "twice" in words else 1)
        answer = await place.send(f"You said: {text}", nonce=message.id, files=files, view=view)
        if "react" in words:
            await message.add_reaction("✅")
        if "edit" in words:
            await answer.edit(content=f"Edited: {text}")


class ShardedBot(discord.AutoShardedClient, PlainBot):
    """The same with as many connections as the gateway advises."""


@app_commands.command(description="Eats a fruit")
async def eat(interaction: discord.Interaction, fruit: str) -> None:
    await interaction.response.send_message(f"Ate: {fruit}")


@eat.autocomplete("fruit")
async def fruits(_: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
    return [app_commands.Choice(name=one, value=one) for one in FRUIT if one.startswith(typed)]


@app_commands.command(description="Thinks first")
async def slow(interaction: discord.Interaction) -> None:
    await interaction.response.defer(ephemeral=True, thinking=True)
    await interaction.edit_original_response(content="Thought about it")
    await interaction.followup.send("And again", ephemeral=True)


async def count(interaction: discord.Interaction, message: discord.Message) -> None:
    await interaction.response.send_message(f"{len(message.content)} letters", ephemeral=True)


async def main() -> None:
    discord.utils.setup_logging()
    intents = discord.Intents.default()
    intents.message_content = True
    intents.members = True
    kind = ShardedBot if os.environ.get("PLAIN_BOT_SHARDED") else PlainBot
    async with kind(intents=intents) as bot:
        await bot.start(os.environ["PLAIN_BOT_TOKEN"])


if __name__ == "__main__":
    asyncio.run(main())
