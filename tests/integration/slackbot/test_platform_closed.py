"""Places that are closed for good: the asker is told where they surely can read, else the log; never in a loop."""

import logging

import pytest

from core.domain.service import InboxEntry
from core.errors import AccessDenied, FootnoteError, InvalidState, NotFound, PlatformError
from tests.integration.slackbot.bench import SHOWN, Bench, reads

SORRY = "The answer took too long."


async def refused(bench: Bench, entry: InboxEntry) -> FootnoteError:
    """Why the answer can't be posted."""
    with pytest.raises(FootnoteError) as error:
        await bench.post(entry)
    return error.value


async def told_after(bench: Bench, entry: InboxEntry, error: FootnoteError) -> str:
    """The error post as the worker makes it; gives its reference."""
    entry = await bench.give_up(entry, str(error))
    return await bench.fail(entry, str(error))


async def test_in_an_archived_channel_the_asker_is_told_directly(bench: Bench) -> None:
    entry = await bench.ask()
    await bench.ada.archive(bench.general)
    error = await refused(bench, entry)
    assert isinstance(error, InvalidState)
    ref = await told_after(bench, entry, error)
    said = bench.the_post(bench.ada.dm)
    assert "archived. Unarchive it" in reads(said)
    assert ref == f"{bench.ada.dm.id}/{said.ts}"
    assert bench.posts() == []


async def test_where_the_bot_was_removed_the_asker_is_told_how_to_invite_it(bench: Bench) -> None:
    entry = await bench.ask()
    await bench.ada.remove(bench.general)
    error = await refused(bench, entry)
    assert isinstance(error, AccessDenied)
    await told_after(bench, entry, error)
    assert "/invite" in reads(bench.the_post(bench.ada.dm))


async def test_of_a_channel_that_was_deleted_the_asker_is_told_directly(bench: Bench) -> None:
    entry = await bench.ask()
    await bench.ada.delete_channel(bench.general)
    error = await refused(bench, entry)
    assert isinstance(error, NotFound)
    await told_after(bench, entry, error)
    assert "deleted" in reads(bench.the_post(bench.ada.dm))


async def test_a_question_that_was_deleted_with_its_thread_is_told_of_directly(bench: Bench) -> None:
    entry = await bench.ask()
    bench.server.world.remove(bench.general.messages[entry.address.thread])
    error = await refused(bench, entry)
    assert isinstance(error, NotFound)
    await told_after(bench, entry, error)
    assert "first message of this thread was deleted" in reads(bench.the_post(bench.ada.dm))


async def test_another_error_is_told_with_why_it_comes_directly(bench: Bench) -> None:
    entry = await bench.ask()
    await bench.ada.archive(bench.general)
    await bench.fail(await bench.give_up(entry, SORRY), SORRY)
    assert SORRY in reads(bench.the_post(bench.ada.dm))
    assert "archived" in reads(bench.the_post(bench.ada.dm))


async def test_who_takes_no_direct_messages_is_told_of_in_the_log(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    entry = await bench.ask()
    bench.ada.refuse_messages()
    await bench.ada.archive(bench.general)
    with caplog.at_level(logging.WARNING, "bot.slackbot.delivery.platform"):
        ref = await told_after(bench, entry, await refused(bench, entry))
    assert ref == ""
    assert "can't be reached" in caplog.text


@pytest.mark.parametrize("reason", ["token_revoked", "account_inactive", "invalid_auth"])
async def test_without_a_token_the_log_has_it_and_the_work_ends(
    bench: Bench, caplog: pytest.LogCaptureFixture, reason: str
) -> None:
    entry = await bench.ask()
    bench.server.revoke(bench.team, reason)
    error = await refused(bench, entry)
    assert isinstance(error, AccessDenied)
    assert "install the app again" in str(error)
    with caplog.at_level(logging.WARNING, "bot.slackbot.delivery.platform"):
        assert await told_after(bench, entry, error) == ""
    assert "can't be reached" in caplog.text


async def test_of_a_team_without_the_app_the_log_has_it(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    entry = await bench.ask()
    await bench.teams.remove(bench.team.id)
    error = await refused(bench, entry)
    assert isinstance(error, NotFound)
    assert await told_after(bench, entry, error) == ""
    assert "can't be reached" in caplog.text


async def test_a_missing_scope_is_named(bench: Bench) -> None:
    assert bench.team.install is not None
    bench.team.install.scopes -= {"chat:write"}
    error = await refused(bench, await bench.ask())
    assert isinstance(error, AccessDenied)
    assert "chat:write" in str(error)


async def test_a_draft_in_a_closed_channel_does_not_stop_the_work(bench: Bench) -> None:
    entry = await bench.ask()
    await bench.ada.archive(bench.general)
    live = await bench.open(entry)
    live.text("The key ")
    await bench.until(lambda: bench.count("chat.postMessage") == 1)  # neither streamed nor posted
    assert isinstance(await refused(bench, entry), InvalidState)


async def test_the_direct_message_comes_once_though_nobody_told_that_it_arrived(bench: Bench) -> None:
    entry = await bench.give_up(await bench.ask(), SORRY)
    bench.server.fail_next("chat.postMessage", "is_archived")
    bench.server.lose_reply_of_next("chat.postMessage")
    with pytest.raises(PlatformError):
        await bench.fail(entry, SORRY)
    bench.server.fail_next("chat.postMessage", "is_archived")
    ref = await bench.fail(await bench.claim(), SORRY)
    assert ref == f"{bench.ada.dm.id}/{bench.the_post(bench.ada.dm).ts}"


async def test_a_channel_that_is_open_again_takes_the_answer_of_the_next_try(bench: Bench) -> None:
    entry = await bench.ask()
    await bench.ada.archive(bench.general)
    await refused(bench, entry)
    await bench.ada.unarchive(bench.general)
    await bench.post(await bench.claim())
    assert SHOWN in reads(bench.the_post())


async def test_trouble_that_passes_keeps_the_error_post_due(bench: Bench) -> None:
    entry = await bench.give_up(await bench.ask(), SORRY)
    bench.server.fail_next("chat.postMessage", status=503)
    with pytest.raises(PlatformError):
        await bench.fail(entry, SORRY)
    await bench.fail(await bench.claim(), SORRY)
    assert SORRY in reads(bench.the_post())
