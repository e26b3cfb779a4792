"""Looks for words in all that the bot left on a platform's test server."""

import json
from collections.abc import Iterator, Sequence

from tests.discord_server import DiscordServer
from tests.slack_server import SlackServer
from tests.slack_server.state import Team


def find_on_slack(server: SlackServer, words: Sequence[str]) -> list[str]:
    """Messages, files, titles, suggestions and home tabs of all teams; not messages that vanish with the client."""
    left = (item for team in server.world.teams.values() for item in _left_on_slack(team))
    return [f"{where}: {word} in {text[:200]!r}" for where, text in left for word in _said(text, words)]


def find_on_discord(server: DiscordServer, words: Sequence[str]) -> list[str]:
    """Messages and names of threads; not replies that vanish with the client."""
    left = _left_on_discord(server)
    return [f"{where}: {word} in {text[:200]!r}" for where, text in left for word in _said(text, words)]


def _said(text: str, words: Sequence[str]) -> list[str]:
    return [word for word in words if word.casefold() in text.casefold()]


def _left_on_slack(team: Team) -> Iterator[tuple[str, str]]:
    for channel in team.channels.values():
        for message in channel.messages.values():
            if message.user == team.bot.id and not message.deleted and message.only_to is None:
                chunks = message.stream.chunks if message.stream else []
                said = [message.text, message.blocks, message.metadata, chunks if not message.edits else []]
                yield f"message in {channel.name}", json.dumps(said, ensure_ascii=False)
        for kind in ("titles", "prompts", "statuses"):
            for value in getattr(channel, kind).values():
                yield f"{kind} in {channel.name}", json.dumps(value, ensure_ascii=False)
    for file in team.files.values():
        if file.user == team.bot.id and not file.deleted:
            yield f"file {file.name}", f"{file.title} {file.data.decode(errors='replace')}"
    for view in team.homes.values():
        yield f"home of {view.user}", json.dumps(view.payload, ensure_ascii=False)


def _left_on_discord(server: DiscordServer) -> Iterator[tuple[str, str]]:
    backend = server.world.backend
    for place, messages in backend.messages.items():
        for message in messages.values():
            if message.author_id == backend.bot_user.id and not message.is_ephemeral:
                said = [message.content, message.components, message.embeds, message.attachments]
                yield f"message in {place}", json.dumps(said, ensure_ascii=False, default=str)
    for channel in backend.channels.values():
        if channel.is_thread:
            yield "thread", channel.name
