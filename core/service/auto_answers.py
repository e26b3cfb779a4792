"""Auto-answers in channels: the bar that a channel learns from ratings, and the reports of shadow mode."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from math import exp, log

from core.domain.answer import Provenance
from core.domain.incoming import PRIVATE_THREAD, ChannelAddress, IncomingMessage
from core.domain.service import AutoAnswer, ChannelSettings, Ratings, Trial
from core.errors import FootnoteError
from core.ports import Clock
from core.ports.auto_answers import AutoAnswerRepository, PrivateReports
from core.ports.service import InboxStore, SettingsRepository
from core.service.addressing import OVERHEARD

# Relevance (0..1, the cross-encoder's) from which a channel is answered by itself, and its bounds.
FIRST_BAR = 0.05
LOWEST_BAR = 0.02
HIGHEST_BAR = 0.9
# Log-odds that one rated answer moves the bar: an interruption costs more than a silence.
RAISED_BY = 0.5
LOWERED_BY = 0.25
RATED = 50  # newest auto-answers whose ratings count
REPORT_EVERY = timedelta(days=1)
SHOWN = 10  # messages in a report

_log = logging.getLogger(__name__)


def learned_bar(ratings: Ratings) -> float:
    """Return the bar: log-odds(bar) = log-odds(FIRST_BAR) + 0.5 * unhelpful - 0.25 * helpful, within the bounds."""
    moved = _log_odds(FIRST_BAR) + RAISED_BY * ratings.unhelpful - LOWERED_BY * ratings.helpful
    if moved <= _log_odds(LOWEST_BAR):
        return LOWEST_BAR
    return HIGHEST_BAR if moved >= _log_odds(HIGHEST_BAR) else 1 / (1 + exp(-moved))


def _log_odds(probability: float) -> float:
    return log(probability / (1 - probability))


class AutoAnswers:
    def __init__(self, repository: AutoAnswerRepository, settings: SettingsRepository, clock: Clock) -> None:
        self._repository = repository
        self._settings = settings
        self._clock = clock

    async def bar(self, channel: ChannelAddress) -> float:
        return learned_bar(await self._repository.ratings(channel, RATED))

    def switch(self, before: ChannelSettings, after: ChannelSettings, by: str) -> ChannelSettings:
        """Return the settings with the beginning of a shadow mode that `by` has just turned on."""
        if after.auto_answer is before.auto_answer:
            return after
        is_shadow = after.auto_answer is AutoAnswer.SHADOW
        return replace(
            after,
            auto_answer_by=by if is_shadow else "",
            auto_answer_since=self._clock.now() if is_shadow else None,
        )

    async def describe(
        self, channel: ChannelAddress, settings: ChannelSettings
    ) -> tuple[str, Sequence[IncomingMessage]]:
        """Return the report on a channel for an admin, with the messages that its `[n]` stand for; "" if it is off."""
        if settings.auto_answer is AutoAnswer.SHADOW and settings.auto_answer_since is not None:
            since = settings.auto_answer_since
            trial = await self._repository.decided(channel, since, OVERHEARD)
            return report_text(trial, since), _messages(trial)
        if settings.auto_answer is AutoAnswer.LIVE:
            ratings = await self._repository.ratings(channel, RATED)
            if ratings != Ratings():
                return _ratings_text(ratings), ()
        return "", ()

    async def send_reports(self, platforms: Mapping[str, PrivateReports], inbox: InboxStore) -> int:
        """Send the due reports of these platforms; return their number. Safe in several processes.

        A period without any such message has no report. One that can't be sent is tried again with the next call.
        """
        now = self._clock.now()
        due = await self._repository.list_due(now - REPORT_EVERY)
        sent = 0
        for channel, since in due:
            platform = platforms.get(channel.platform)
            if platform is None or not await self._repository.claim_report(channel, since, now):
                continue
            try:
                sent += await self._report(channel, since, platform, inbox)
            except FootnoteError as error:
                _log.warning("The report about auto-answers in %s can't be sent: %s", channel, error)
                await self._repository.claim_report(channel, now, since)
        return sent

    async def _report(
        self, channel: ChannelAddress, since: datetime, platform: PrivateReports, inbox: InboxStore
    ) -> bool:
        """Send a report, and note its post, which is taken back with the admin or the workspace."""
        trial = await self._repository.decided(channel, since, OVERHEARD)
        person = (await self._settings.channel(channel)).auto_answer_by
        if not trial.would_answer or not person:
            return False
        messages = _messages(trial)
        ref = await platform.report(person, report_text(trial, since), messages)
        key = f"{channel.platform}:{channel.workspace}:{channel.channel}:report-{ref}"
        there = replace(messages[0].address, thread=f"{PRIVATE_THREAD}{person}")
        shown = replace(messages[0], address=there, author=person, author_name="", event_key=key, message_key=key)
        await inbox.note_shown(shown, ref, Provenance())
        return True


def report_text(trial: Trial, since: datetime) -> str:
    """Return the report; `[n]` stands for the n-th message."""
    number = len(trial.would_answer)
    lines = [
        f"Auto-answer is in shadow mode: I answer nothing unasked in this channel, and only note what I would do. "
        f"Since {_when(since)} I would have answered {number} of {trial.messages} "
        f"message{'' if trial.messages == 1 else 's'}{':' if number else '.'}",
        "",
        *(f"- [{place}] {_when(item.created_at)}" for place, item in enumerate(trial.would_answer[:SHOWN], start=1)),
        *([f"- and {number - SHOWN} more"] if number > SHOWN else []),
        *([""] if number else []),
        "To have me answer such questions, use /settings auto_answer live there. To end this, use "
        "/settings auto_answer off.",
    ]
    return "\n".join(lines)


def _messages(trial: Trial) -> list[IncomingMessage]:
    return [entry.incoming for entry in trial.would_answer[:SHOWN]]


def _when(time: datetime) -> str:
    return f"{time:%d %b %H:%M} UTC"


def _ratings_text(ratings: Ratings) -> str:
    return (
        f"Of my last auto-answers here, {ratings.helpful} were rated helpful and {ratings.unhelpful} not helpful. I "
        f"answer questions from a relevance of {learned_bar(ratings):.2f} on ({FIRST_BAR} without ratings)."
    )
