"""The real service is killed between the removal of a document and the edits of the posts that quote it."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing

import pytest

from tests.discord_server import text_of
from tests.e2e.discord_service import DiscordService
from tests.e2e.platform_service import NEXT_QUESTION, QUESTION, TEAM, PlatformService
from tests.e2e.slack_service import SlackService
from tests.platform_faults import Hang
from tests.slack_server import text_of as slack_text

pytestmark = pytest.mark.slow
TOLD = "This answer was deleted, because a document that it rests on was removed."
MARKS = ("noon on Thursdays", "pier 7")


async def remove_and_kill(service: PlatformService, hang: Hang) -> None:
    removed = await service.run("documents", "remove", "kites.md")
    assert removed["documents"] == 1
    await service.until(hang.reached.is_set, "an edit")
    await service.process.kill()
    hang.release()
    await service.start()


def check(edits: Callable[[int], int], count: int, *, after: bool) -> None:
    """Each post is edited once; the edit that Footnote never heard of may be repeated."""
    made = [edits(number) for number in range(count)]
    assert sorted(made) in ([[1] * count, [*[1] * (count - 1), 2]] if after else [[1] * count]), made


def is_done(service: PlatformService) -> bool:
    """Whether no post waits to be taken back."""
    with closing(sqlite3.connect(service.data / "footnote.db")) as database:
        return not database.execute("SELECT 1 FROM post_removal").fetchall()


def is_told(posts: Sequence[str]) -> bool:
    return all(TOLD in post and not any(mark in post for mark in MARKS) for post in posts)


@pytest.mark.parametrize("after", [False, True], ids=["before the first edit", "after it"])
async def test_posts_of_discord_become_a_note_once_after_a_kill(discord_service: DiscordService, after: bool) -> None:
    service, server = discord_service, discord_service.server
    guild = service.join("House", TEAM)
    general, ada = guild.create_text_channel("general"), server.person("ada", guild)
    await service.start()
    thread = await service.ask(ada, general)
    await ada.say(thread, NEXT_QUESTION)
    await service.answered(thread, 2)
    other = await service.ask(ada, general, NEXT_QUESTION)
    before = [post.id for place in (thread, other) for post in server.answers(place)]

    def posts() -> list[str]:
        return [text_of(post) for place in (thread, other) for post in server.answers(place)]

    def edits(number: int) -> int:
        made = [call for call in server.calls("PATCH", f"/channels/*/messages/{before[number]}") if call.status == 200]
        return sum(TOLD in json.dumps(call.json) for call in made)

    await remove_and_kill(service, server.hang_next("PATCH", "/channels/*/messages/*", after=after, saying=TOLD))
    await service.until(lambda: is_told(posts()) and is_done(service), "a note in place of each answer")
    assert [post.id for place in (thread, other) for post in server.answers(place)] == before
    check(edits, len(before), after=after)
    assert "Traceback" not in service.process.printed


@pytest.mark.parametrize(("slack_service", "after"), [("socket", False), ("http", True)], indirect=["slack_service"])
async def test_posts_of_slack_become_a_note_once_after_a_kill(slack_service: SlackService, after: bool) -> None:
    service, server = slack_service, slack_service.server
    general, ada = service.settle_in()
    await service.start()
    for question in (QUESTION, NEXT_QUESTION, QUESTION):
        await service.ask(ada, general, question)
    before = [post.ts for post in server.answers(general)]

    def posts() -> list[str]:
        return [slack_text(post) for post in server.answers(general)]

    def edits(number: int) -> int:
        made = [call for call in server.calls("chat.update") if call.carried_out]
        return sum(call.params["ts"] == before[number] and TOLD in str(call.params) for call in made)

    await remove_and_kill(service, server.hang_next("chat.update", after=after, saying=TOLD))
    await service.until(lambda: is_told(posts()) and is_done(service), "a note in place of each answer")
    assert [post.ts for post in server.answers(general)] == before
    check(edits, len(before), after=after)
    assert "Traceback" not in service.process.printed
