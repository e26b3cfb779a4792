"""The platforms that a process can post to, all in one place: its worker claims entries of these alone.

Chat page, API and terminal keep their posts in the history, so every process on the database can post to them; those
who look on are told by the process that serves them (bot/web/inbox_poller.py, the requests and commands that wait). A
platform elsewhere gets its line here, too: with a client that only posts, where its token is configured, a worker
alone can answer there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

from bot.discordbot.delivery.platform import DiscordPlatform
from bot.discordbot.events.translate import PLATFORM as DISCORD
from bot.discordbot.events.translate import to_private
from bot.runtime.metrics import MeteredRun, Metrics
from bot.slackbot.delivery.platform import SlackPlatform
from bot.slackbot.events.teams import PLATFORM as SLACK
from bot.slackbot.events.translate import to_private as to_private_on_slack
from bot.terminal.platform import TerminalPlatform
from bot.web.api.platform import ApiPlatform
from bot.web.client import WebPlatform
from bot.web.events import EventHub
from bot.wiring.parts import Parts
from bot.wiring.pipeline import build_pipeline
from core.answering.pipeline import Pipeline
from core.ports.service import ChatPlatform, ThreadReader


@dataclass(frozen=True, kw_only=True)
class Platforms:
    """What a process can post to."""

    hub: EventHub
    chat: WebPlatform
    api: ApiPlatform
    terminal: TerminalPlatform
    discord: DiscordPlatform | None = None  # where a token is configured
    slack: SlackPlatform | None = None  # likewise, or where teams can install the app

    @cached_property
    def by_name(self) -> dict[str, ChatPlatform]:
        own: list[ChatPlatform] = [self.chat, self.api, self.terminal, *self._elsewhere]
        return {platform.name: platform for platform in own}

    @property
    def readers(self) -> dict[str, ThreadReader]:
        """Those whose threads hold more than our history, by name."""
        return {platform.name: platform for platform in self._elsewhere}

    @property
    def _elsewhere(self) -> list[DiscordPlatform | SlackPlatform]:
        return [platform for platform in (self.discord, self.slack) if platform is not None]

    def heard_by(self, around: Callable[[ChatPlatform], ChatPlatform]) -> dict[str, ChatPlatform]:
        """By name, each wrapped by `around`."""
        return {name: around(platform) for name, platform in self.by_name.items()}


def build_platforms(
    app: Parts, discord: DiscordPlatform | None = None, slack: SlackPlatform | None = None
) -> Platforms:
    """Of this process; nothing is connected to."""
    hub = EventHub()
    chat = WebPlatform(hub, app.conversations, app.clock)
    return Platforms(hub=hub, chat=chat, api=ApiPlatform(), terminal=TerminalPlatform(), discord=discord, slack=slack)


def build_answers(app: Parts, platforms: Platforms, metrics: Metrics | None = None) -> Pipeline:
    """Build the pipeline for the questions of these platforms; `metrics` counts the outcomes."""
    own_threads = {DISCORD: to_private, SLACK: to_private_on_slack}
    keep = app.cassettes.keep if app.config.replay.record else None
    return build_pipeline(
        app,
        readers=platforms.readers,
        to_private={name: to_own for name, to_own in own_threads.items() if name in platforms.by_name},
        observe=partial(MeteredRun, metrics, keep) if metrics else None,
    )
