"""The contract of SettingsRepository, on every database."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from core.domain.incoming import ChannelAddress, ThreadAddress
from core.domain.service import TO_THE_END, AutoAnswer, ChannelSettings, Listening, PersonAddress, PositionHolder
from core.ports.service import SettingsRepository
from storage.database import Database
from storage.database.repositories.settings import SqlSettingsRepository
from tests.builders import NOON
from tests.waiting import until

THREAD = ThreadAddress(platform="web", workspace="local", channel="general", thread="t1")
CHANNEL = ChannelAddress.of(THREAD)
ALL = ChannelSettings(
    auto_answer=AutoAnswer.SHADOW,
    auto_answer_by="eve",
    auto_answer_since=NOON,
    answer_posts=True,
    sources=frozenset({"wiki", "handbook", "Łódź, 1900"}),
    language="German",
    strategy="plan_and_synthesise",
    questions_per_minute=3,
)


@pytest.fixture
def settings(database: Database) -> SettingsRepository:
    return SqlSettingsRepository(database)


async def test_what_nobody_set_is_the_default(settings: SettingsRepository) -> None:
    assert await settings.channel(CHANNEL) == ChannelSettings()
    assert await settings.listening(THREAD) is Listening.NORMAL


async def test_settings_come_back_as_they_were_saved_last(settings: SettingsRepository) -> None:
    for saved in (ALL, replace(ALL, sources=frozenset(), auto_answer=AutoAnswer.OFF), replace(ALL, sources=None), ALL):
        await settings.save_channel(CHANNEL, saved)
        assert await settings.channel(CHANNEL) == saved


async def test_listening_comes_back_as_it_was_saved_last(settings: SettingsRepository) -> None:
    for saved in (Listening.MUTED, Listening.HELD, Listening.LISTENING, Listening.NORMAL):
        await settings.save_listening(THREAD, saved)
        assert await settings.listening(THREAD) is saved


async def test_talk_is_decided_by_what_this_process_saved_last(settings: SettingsRepository) -> None:
    assert await settings.lately(THREAD, opens_thread=False) == (Listening.NORMAL, ChannelSettings())
    await settings.save_channel(CHANNEL, ALL)
    await settings.save_listening(THREAD, Listening.MUTED)
    assert await settings.lately(THREAD, opens_thread=False) == (Listening.MUTED, ALL)
    assert await settings.lately(THREAD, opens_thread=True) == (Listening.NORMAL, ALL)


async def test_talk_is_decided_by_what_another_process_saved_soon_after(
    settings: SettingsRepository, database_location: Path | str
) -> None:
    assert await settings.lately(THREAD, opens_thread=True) == (Listening.NORMAL, ChannelSettings())
    async with AsyncExitStack() as stack:
        other = await Database.open(database_location)
        stack.push_async_callback(other.close)
        await SqlSettingsRepository(other).save_channel(CHANNEL, ALL)

    async def is_heard() -> bool:
        return await settings.lately(THREAD, opens_thread=True) == (Listening.NORMAL, ALL)

    assert await until(is_heard)


async def test_two_processes_may_set_the_same_at_once(database_location: Path | str) -> None:
    async with AsyncExitStack() as stack:
        both = []
        for _ in range(2):
            database = await Database.open(database_location)
            stack.push_async_callback(database.close)
            both.append(SqlSettingsRepository(database))
        for number in range(30):
            channel = replace(CHANNEL, channel=f"channel {number}")
            await asyncio.gather(*(settings.save_channel(channel, ALL) for settings in both))
            thread = replace(THREAD, thread=f"t{number}")
            await asyncio.gather(*(settings.save_listening(thread, Listening.MUTED) for settings in both))
        assert await both[0].channel(channel) == ALL
        assert await both[1].listening(thread) is Listening.MUTED


@pytest.mark.parametrize(("field", "value"), [("platform", "api"), ("workspace", "elsewhere"), ("channel", "other")])
async def test_channels_are_kept_apart(settings: SettingsRepository, field: str, value: str) -> None:
    await settings.save_channel(CHANNEL, ALL)
    await settings.save_listening(THREAD, Listening.MUTED)

    assert await settings.channel(replace(CHANNEL, **{field: value})) == ChannelSettings()
    assert await settings.listening(replace(THREAD, **{field: value})) is Listening.NORMAL


async def test_threads_of_a_channel_are_kept_apart(settings: SettingsRepository) -> None:
    await settings.save_listening(THREAD, Listening.MUTED)

    assert await settings.listening(replace(THREAD, thread="t2")) is Listening.NORMAL


async def test_names_that_no_database_keeps_are_found_again(settings: SettingsRepository) -> None:
    odd = replace(THREAD, channel="a\x00b\ud800")
    for _ in range(2):
        await settings.save_channel(ChannelAddress.of(odd), replace(ALL, language="x\x00"))
        await settings.save_listening(odd, Listening.LISTENING)

    assert (await settings.channel(ChannelAddress.of(odd))).language == "x\ufffd"
    assert await settings.listening(odd) is Listening.LISTENING


ADA = PersonAddress(workspace="local", person="ada")
HOLDERS = (
    CHANNEL,
    replace(CHANNEL, channel="other"),
    replace(CHANNEL, platform="api"),
    replace(CHANNEL, workspace="elsewhere"),
    ADA,
    replace(ADA, alone=True),
    replace(ADA, person="general"),
    replace(ADA, person="a\x00b"),
    replace(ADA, workspace="elsewhere"),
)


async def test_positions_come_back_as_they_were_saved_last_for_each_holder(settings: SettingsRepository) -> None:
    assert [await settings.positions(holder) for holder in HOLDERS] == [{}] * len(HOLDERS)
    for last, holder in enumerate(HOLDERS):
        await settings.save_position(holder, "book", 100)
        await settings.save_position(holder, "book", last)
        await settings.save_position(holder, "other", TO_THE_END)

    assert [await settings.positions(holder) for holder in HOLDERS] == [
        {"book": last, "other": TO_THE_END} for last in range(len(HOLDERS))
    ]
    assert await settings.positions_of([*reversed(HOLDERS)]) == [
        {"book": last, "other": TO_THE_END} for last in reversed(range(len(HOLDERS)))
    ]
    assert await settings.positions_of([]) == []


async def test_documents_that_somebody_still_reads_are_those_of_the_workspace_alone(
    settings: SettingsRepository,
) -> None:
    assert await settings.positioned("local") == frozenset()
    await settings.save_position(ADA, "book", 3)
    await settings.save_position(CHANNEL, "novel", 0)
    await settings.save_position(ADA, "finished", TO_THE_END)
    await settings.save_position(replace(ADA, workspace="elsewhere"), "other", 3)

    assert await settings.positioned("local") == {"book", "novel"}


@pytest.mark.parametrize("holder", [CHANNEL, ADA])
async def test_a_position_that_is_taken_away_leaves_the_others(
    settings: SettingsRepository, holder: PositionHolder
) -> None:
    for each in (CHANNEL, ADA):
        await settings.save_position(each, "book", 3)
        await settings.save_position(each, "other", 4)
    for _ in range(2):
        await settings.save_position(holder, "book", None)

    [kept] = {CHANNEL, ADA} - {holder}
    assert await settings.positions(holder) == {"other": 4}
    assert await settings.positions(kept) == {"book": 3, "other": 4}
