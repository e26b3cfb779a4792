"""Random long answers, delivered by the real adapters on the test servers, and what came of them.

python -m tests.integration.long_answers slack|discord COUNT [FIRST SEED]
"""

import asyncio
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil

import discord

from bot.discordbot.delivery.platform import DiscordPlatform
from bot.discordbot.events.translate import thread_address as discord_address
from bot.presentation.markdown import weight
from bot.runtime.system import SystemClock
from bot.slackbot.events.translate import thread_address
from core.domain.answer import Answer
from core.domain.incoming import message_key
from tests.discord_launch import API_VARIABLE, GATEWAY_VARIABLE, redirect
from tests.discord_server import TOKEN, DiscordServer
from tests.discord_server.world import ServedFiles
from tests.integration.slackbot.bench import WORKSPACE, Bench
from tests.long_answers import random_answer, words_of
from tests.slack_server import SlackServer
from tests.stores import Stores

SLACK_LENGTH, DISCORD_LENGTH = 9_000, 2_700  # units of text in a message
FEW = 3  # messages of an answer, unless its text fills more
FILLED = 0.7  # of the messages of a longer one
_MARKS = re.compile(r"\[(\d+)\\?\](?:–\\?\[(\d+)\\?\])?")


@dataclass(frozen=True, kw_only=True)
class Delivered:
    """A message that was posted."""

    text: str
    sources: str  # the line below the text
    files: str = ""  # their contents


@dataclass
class Tally:
    """How many answers were lost, lack footnotes or take too many messages."""

    count: int = 0
    most_messages: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, answer: Answer, messages: Sequence[Delivered], length: int = SLACK_LENGTH) -> None:
        self.count += 1
        self.most_messages = max(self.most_messages, len(messages))
        said = "\n".join(message.text for message in messages)
        filed = "\n".join(message.files for message in messages)
        lost = set(words_of(answer)) - set(re.findall(r"x[^\W_]+x", f"{said}\n{filed}"))
        if lost or not messages:
            self.faults.append(f"{self.count}: {len(lost)} words lost in {len(messages)} messages")
        listed = set().union(*(_listed(message.sources) for message in messages))
        unlisted = {citation.number for citation in answer.citations} - listed
        if unlisted and not any(" more" in message.sources for message in messages):
            self.faults.append(f"{self.count}: footnotes {unlisted} are in no list")
        for message in messages:
            used = {int(number) for number in re.findall(r"\[(\d+)\]", message.text)}
            if not used <= _listed(message.sources) and " more" not in message.sources:
                self.faults.append(f"{self.count}: footnotes {used - _listed(message.sources)} aren't below their text")
        filled = ceil(weight(said) / length / FILLED) + sum(not message.text for message in messages)
        if len(messages) > max(FEW, filled):
            self.faults.append(f"{self.count}: {len(messages)} messages for {weight(said)} units")


def _listed(line: str) -> set[int]:
    found: set[int] = set()
    for first, last in _MARKS.findall(line):
        found |= {*range(int(first), int(last or first) + 1)}
    return found


async def on_slack(bench: Bench, answer: Answer) -> list[Delivered]:
    asked = bench.server.world.post(bench.general, bench.ada.user, "?")
    address = thread_address(WORKSPACE, bench.general.id, asked.ts)
    await bench.platform.post(address, message_key(address, asked.ts), answer, look_first=False)
    found = []
    for message in bench.server.answers(bench.general, thread=asked.ts):
        body = "".join(block["text"] for block in message.blocks if block["type"] == "markdown")
        small = [one["text"] for block in message.blocks if block["type"] == "context" for one in block["elements"]]
        files = "\n".join(file.data.decode() for file in message.files)
        found.append(Delivered(text=body, sources="".join(small[:1]), files=files))
    return found


async def on_discord(server: DiscordServer, platform: DiscordPlatform, channel: int, answer: Answer) -> list[Delivered]:
    address = discord_address("local", channel, str(channel))
    ref = await platform.post(address, message_key(address, str(channel)), answer, look_first=False)
    found = []
    for id in map(int, ref.partition("/")[2].split(",")):
        message = server.world.backend.messages[channel][id]
        texts = [one["content"] for one in message.components if one["type"] == 10]
        files = "\n".join(_data_of(server, one["url"]).decode() for one in message.attachments)
        found.append(Delivered(text=texts[0], sources="".join(texts[1:]), files=files))
    return found


def _data_of(server: DiscordServer, url: str) -> bytes:
    assert isinstance(server.world.backend.cdn, ServedFiles)
    data = server.world.backend.cdn.find(url.removeprefix(server.world.backend.cdn.base))
    assert data is not None
    return data


async def deliver_on_slack(seeds: range) -> Tally:
    tally = Tally()
    async with SlackServer() as server:
        bench = Bench(server)
        for seed in seeds:
            tally.add(random_answer(seed), await on_slack(bench, random_answer(seed)))
            bench.general.messages.clear()
            server.log.clear()
        await bench.close()
    return tally


async def deliver_on_discord(seeds: range) -> Tally:
    tally = Tally()
    async with DiscordServer() as server:
        os.environ |= {API_VARIABLE: server.environment[API_VARIABLE], GATEWAY_VARIABLE: server.gateway.address}
        redirect()
        guild = server.world.create_guild("team")
        client = discord.Client(intents=discord.Intents.none())
        await client.login(TOKEN)
        for seed in seeds:
            channel = guild.create_text_channel(f"c{seed}").id
            platform = DiscordPlatform(
                client, Stores().inbox(SystemClock()), lambda *_: None, SystemClock(), asyncio.sleep
            )
            answer = random_answer(seed)
            tally.add(answer, await on_discord(server, platform, channel, answer), DISCORD_LENGTH)
            server.log.clear()
        await client.close()
    return tally


def main() -> None:
    platform, count, *first = sys.argv[1:]
    seeds = range(int(first[0]) if first else 0, (int(first[0]) if first else 0) + int(count))
    tally = asyncio.run((deliver_on_slack if platform == "slack" else deliver_on_discord)(seeds))
    print(f"{tally.count} answers, at most {tally.most_messages} messages, {len(tally.faults)} faults")  # noqa: T201
    print("\n".join(tally.faults[:20]))  # noqa: T201
    sys.exit(1 if tally.faults else 0)


if __name__ == "__main__":
    main()
