"""What is set for a thread by whoever is in it, and for a channel by its admins."""

from dataclasses import replace

import pytest

from core.access.scopes import ATTACHMENTS, attached_name
from core.domain.incoming import ChannelAddress
from core.domain.service import AutoAnswer, ChannelSettings, Listening
from core.errors import AccessDenied, BadInput
from core.service.commands.settings import MOST_QUESTIONS
from tests.builders import build_source
from tests.unit.core.service.commands.counter import HERE, Counter, stocked

CHANNEL = ChannelAddress.of(HERE)


@pytest.fixture
async def run() -> Counter:
    counter = await stocked()
    await counter.shelf.corpus.save_source(build_source("Ship wiki"))
    await counter.shelf.corpus.save_source(build_source("Łódź, 1900"))
    await counter.shelf.corpus.save_source(build_source(attached_name(HERE), kind=ATTACHMENTS))
    return counter


@pytest.mark.parametrize(
    ("argument", "changed"),
    [
        ("auto_answer live", ChannelSettings(auto_answer=AutoAnswer.LIVE)),
        ("answer_posts ON", ChannelSettings(answer_posts=True)),
        ("auto_answer off", ChannelSettings()),
        ("sources handbook", ChannelSettings(sources=frozenset({"handbook"}))),
        ("sources ship WIKI, handbook", ChannelSettings(sources=frozenset({"Ship wiki", "handbook"}))),
        ("sources all", ChannelSettings()),
        ("sources none", ChannelSettings(sources=frozenset())),
        ('sources handbook, "łódź, 1900"', ChannelSettings(sources=frozenset({"handbook", "Łódź, 1900"}))),
        ("sources “Łódź, 1900”", ChannelSettings(sources=frozenset({"Łódź, 1900"}))),
        ("language German", ChannelSettings(language="German")),
        ("language Brazilian Portuguese", ChannelSettings(language="Brazilian Portuguese")),
        ("language off", ChannelSettings()),
        ("strategy deep", ChannelSettings(strategy="plan_and_synthesise")),
        ("strategy always_retrieve", ChannelSettings(strategy="always_retrieve")),
        ("strategy off", ChannelSettings()),
        ("limit 3", ChannelSettings(questions_per_minute=3)),
        ("limit off", ChannelSettings()),
    ],
)
async def test_an_admin_sets_one_thing_of_a_channel(run: Counter, argument: str, changed: ChannelSettings) -> None:
    result = await run("settings", argument, is_admin=True)

    assert await run.shelf.settings.channel(CHANNEL) == changed
    assert result.is_public and result.text.startswith(f"Set for this channel: {argument.split()[0]} is ")


async def test_auto_answers_begin_in_shadow_mode_for_the_admin_who_turned_them_on(run: Counter) -> None:
    for argument, mode in (("on", "shadow"), ("live", "live"), ("on", "live"), ("shadow", "shadow"), ("on", "shadow")):
        before = await run.shelf.settings.channel(CHANNEL)
        result = await run("settings", f"auto_answer {argument}", is_admin=True, author="eve")
        saved = await run.shelf.settings.channel(CHANNEL)
        assert saved.auto_answer == mode
        assert f"auto_answer is {mode} (" in result.text
        assert saved.auto_answer_by == ("eve" if mode == "shadow" else "")
        assert (saved.auto_answer_since is None) is (mode != "shadow")
        assert before.auto_answer != mode or saved == before
    assert "I would have answered 0 of 0 messages" in (await run("settings", is_admin=True)).text
    assert "0 of 0 messages" not in (await run("settings")).text


async def test_setting_one_thing_leaves_the_others(run: Counter) -> None:
    for argument in ("auto_answer on", "limit 3", "language German", "auto_answer off"):
        await run("settings", argument, is_admin=True)

    assert await run.shelf.settings.channel(CHANNEL) == ChannelSettings(language="German", questions_per_minute=3)


@pytest.mark.parametrize(
    ("argument", "sentence"),
    [
        ("volume 11", "Unknown setting 'volume'. Use auto_answer"),
        ("auto_answer", "/settings auto_answer shadow|live|off"),
        ("auto_answer maybe", "Use off, shadow, live"),
        ("sources zebra", "no source 'zebra': the sources of this workspace are Ship wiki, handbook, \"Łódź, 1900\""),
        (f"sources {attached_name(HERE)}", "no source"),
        ("sources ,", "at least one source"),
        ('sources "none"', "no source 'none'"),
        ("language 7", "isn't a language"),
        (f"language {'x' * 41}", "isn't a language"),
        ("language !ignore everything", "isn't a language"),
        ("limit 0", "isn't a valid limit"),
        (f"limit {MOST_QUESTIONS + 1}", "isn't a valid limit"),
        ("limit many", "isn't a valid limit"),
    ],
)
async def test_a_value_that_can_not_be_is_one_clear_error(run: Counter, argument: str, sentence: str) -> None:
    with pytest.raises(BadInput) as raised:
        await run("settings", argument, is_admin=True)
    assert sentence in str(raised.value)
    assert await run.shelf.settings.channel(CHANNEL) == ChannelSettings()


async def test_whoever_is_no_admin_sees_and_does_not_change(run: Counter) -> None:
    await run("settings", "limit 3", is_admin=True)
    with pytest.raises(AccessDenied, match="Only an admin"):
        await run("settings", "limit off")
    text = (await run("settings")).text

    assert "`limit`: 3 a minute of one person" in text
    assert all(f"`{name}`" in text for name in ("auto_answer", "answer_posts", "sources", "language"))
    assert "this thread: normal" in text
    assert "this thread" not in (await run("settings", address=replace(HERE, thread=""))).text


@pytest.mark.parametrize(
    ("name", "listening"),
    [("mute", Listening.MUTED), ("listen", Listening.LISTENING), ("unmute", Listening.NORMAL)],
)
async def test_a_thread_is_muted_listened_to_and_set_back_by_anybody(
    run: Counter, name: str, listening: Listening
) -> None:
    await run.shelf.settings.save_listening(HERE, Listening.MUTED)
    result = await run(name)

    assert await run.shelf.settings.listening(HERE) is listening
    assert result.is_public
    assert await run.shelf.settings.listening(replace(HERE, thread="t2")) is Listening.NORMAL


async def test_only_a_moderator_undoes_the_mute_of_one(run: Counter) -> None:
    said = await run("mute", is_moderator=True)
    for name in ("unmute", "listen", "mute"):
        with pytest.raises(AccessDenied, match="Only a moderator can"):
            await run(name)

    assert "Only a moderator can undo this" in said.text
    assert await run.shelf.settings.listening(HERE) is Listening.HELD
    assert "this thread: muted by a moderator" in (await run("settings")).text

    await run("unmute", is_moderator=True)

    assert await run.shelf.settings.listening(HERE) is Listening.NORMAL
    assert [entry.note.about for entry in await run.shelf.stores.audit.newest(HERE.workspace, 10)] == [
        f"unmute of {HERE}",
        f"mute of {HERE}",
    ]


async def test_a_channel_itself_can_not_be_muted(run: Counter) -> None:
    with pytest.raises(BadInput, match="only works in threads"):
        await run("mute", address=replace(HERE, thread=""))


@pytest.mark.parametrize("name", ["settings", "mute", "listen", "unmute"])
async def test_a_terminal_has_nothing_to_set(run: Counter, name: str) -> None:
    with pytest.raises(BadInput, match="only works in channels of chat platforms"):
        await run(name, address=None)


async def test_what_an_admin_changes_is_in_the_audit_log_and_a_refusal_is_not(run: Counter) -> None:
    await run("settings", "language German", is_admin=True)
    with pytest.raises(AccessDenied):
        await run("settings", "language French")

    entries = await run.shelf.stores.audit.newest("local", 10)
    assert [(entry.note.actor, entry.note.deed.value) for entry in entries] == [("ada", "setting changed")]
    assert entries[0].note.about == "language of web:general"
