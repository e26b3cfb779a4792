"""Documents that people add: `/library`, a menu of messages, uploads in a channel, and the buttons of their posts."""

from typing import Any

import discord
from discord import app_commands

from bot.discordbot.actions.commands import completion_of, run_command
from bot.discordbot.actions.handler import InteractionHandler, guarded, notice, show
from bot.discordbot.delivery.additions import CHANNEL, FILE, REPLY_TO, URL, to_part
from bot.discordbot.delivery.errors import POST, READ, translated_errors
from bot.discordbot.delivery.platform import APPLICATION, TOKEN
from bot.discordbot.events.translate import MESSAGE, to_address
from bot.discordbot.rendering.components import to_view
from bot.presentation.action_names import ActionName
from bot.presentation.additions import (
    ADD_TO_LIBRARY,
    READERS_HELP,
    READERS_LABELS,
    AdditionView,
    chosen_readers,
)
from core.domain.incoming import ThreadAddress, message_key
from core.domain.service import PostRef
from core.errors import BadInput
from core.features.additions import LIBRARY, LIST, REMOVE

NO_FILES = "This message has no files. Choose a message with a file, or use /library add."
ADDED_BELOW = "{count} added. My replies to the message show the progress."


def bind(tree: app_commands.CommandTree[Any], handler: InteractionHandler) -> None:
    """Add `/library` with its subcommands, and the menu of messages."""
    row = handler.parts.commands.table.get(LIBRARY)
    if row is None:
        return
    group = app_commands.Group(name=LIBRARY, description="Add, list or remove documents")

    @group.command(name="add", description="Add a file or a link. An admin confirms what others add")
    @app_commands.describe(file="the document", url="or the address of a web page or file", readers=READERS_HELP)
    @app_commands.choices(
        readers=[app_commands.Choice(name=label, value=value.value) for value, label in READERS_LABELS.items()]
    )
    async def add(
        interaction: discord.Interaction,
        file: discord.Attachment | None = None,
        url: str | None = None,
        readers: str = "",
    ) -> None:
        await guarded(interaction, _add(handler, interaction, file, url, readers))

    @group.command(name=LIST, description="List the documents that were added by hand")
    async def list_added(interaction: discord.Interaction) -> None:
        await guarded(interaction, run_command(handler, interaction, LIBRARY, {"action": LIST}))

    @group.command(name=REMOVE, description="Remove a document that was added by hand")
    @app_commands.describe(name="the document to remove")
    async def remove(interaction: discord.Interaction, name: str) -> None:
        await guarded(interaction, run_command(handler, interaction, LIBRARY, {"action": REMOVE, "name": name}))

    async def add_message(interaction: discord.Interaction, message: discord.Message) -> None:
        await guarded(interaction, _add_message(handler, interaction, message))

    remove.autocomplete("name")(completion_of(row, "name", handler))
    tree.add_command(group)
    tree.add_command(app_commands.ContextMenu(name=ADD_TO_LIBRARY, callback=add_message))


async def press(handler: InteractionHandler, interaction: discord.Interaction, name: ActionName) -> None:
    """Run a button of an addition's post, which then shows the result. Raises core errors."""
    call = await handler.call(interaction, LIBRARY)
    await handler.flow.press(
        name.verb,
        name.id,
        call.workspace,
        by=call.author,
        by_name=call.author_name,
        is_permitted=call.is_admin or call.may_add,
    )
    with translated_errors(POST):
        await interaction.response.defer()


async def receive_files(handler: InteractionHandler, message: discord.Message, workspace: str) -> bool:
    """Add the files of a message in a channel for them; return whether it is such a message."""
    if not message.attachments or message.author.bot or not handler.rules.collects(message.channel):
        return False
    author = message.author
    if not isinstance(author, discord.Member) and message.guild is not None:  # Discord's history names no roles
        with translated_errors(READ):
            author = await message.guild.fetch_member(author.id)
    permissions = author.guild_permissions if isinstance(author, discord.Member) else discord.Permissions.none()
    is_permitted = handler.rules.permits(author, permissions)
    await _add_files(handler, message, to_address(message, workspace), author, is_permitted)
    return True


async def _add(
    handler: InteractionHandler,
    interaction: discord.Interaction,
    file: discord.Attachment | None,
    url: str | None,
    readers: str,
) -> None:
    """Store the request, then answer with its post, which everyone in the channel sees."""
    call = await handler.call(interaction, LIBRARY)
    address = call.address
    if address is None:
        raise BadInput("Use /library add in a channel.")
    details = {
        CHANNEL: str(interaction.channel_id),
        MESSAGE: str(interaction.id),
        TOKEN: interaction.token,
        APPLICATION: str(interaction.application_id),
        **({URL: file.url} if file else {}),
    }
    addition, _ = await handler.parts.additions.request(
        message_key(address, str(interaction.id)),
        address,
        author=call.author,
        author_name=call.author_name,
        is_permitted=call.is_admin or call.may_add,
        name=file.filename if file else "",
        url=(url or "").strip(),
        readers=chosen_readers(readers, address.channel, call.author, is_direct=interaction.guild is None),
        details=details,
    )

    async def respond(view: AdditionView) -> PostRef:
        with translated_errors(POST):
            await interaction.response.send_message(view=to_view(to_part(view)))
            posted = await interaction.original_response()
        return f"{interaction.channel_id}/{posted.id}"

    await handler.flow.begin(addition, respond)


async def _add_message(handler: InteractionHandler, interaction: discord.Interaction, message: discord.Message) -> None:
    if not message.attachments:
        raise BadInput(NO_FILES)
    call = await handler.call(interaction, LIBRARY)
    if call.address is None:
        raise BadInput(NO_FILES)
    count = await _add_files(handler, message, call.address, interaction.user, call.is_admin or call.may_add)
    files = "1 file is" if count == 1 else f"{count} files are"
    await show(interaction, notice(ADDED_BELOW.format(count=files) if count else "This was added already."))


async def _add_files(
    handler: InteractionHandler,
    message: discord.Message,
    address: ThreadAddress,
    person: discord.abc.User,
    is_permitted: bool,
) -> int:
    """Request each file of a message, once however often it is chosen; return the number of new requests."""
    channel, count = message.channel.id, 0
    for item in message.attachments:
        addition, is_new = await handler.parts.additions.request(
            message_key(address, f"{message.id}/{item.id}"),
            address,
            author=str(person.id),
            author_name=person.display_name,
            is_permitted=is_permitted,
            name=item.filename,
            details={
                CHANNEL: str(channel),
                MESSAGE: str(message.id),
                REPLY_TO: str(message.id),
                FILE: f"{channel}/{message.id}/{item.id}",
            },
        )
        if is_new:
            count += 1
            await handler.flow.begin(addition)
    return count
