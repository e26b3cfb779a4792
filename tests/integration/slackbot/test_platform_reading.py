"""What the platform reads for a question: the talk before it, and the files sent with it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from aiohttp import web

from bot.config.slack import SlackSettings
from bot.slackbot.connection import SlackConnection
from bot.slackbot.events.audiences import SlackAudiences
from bot.slackbot.events.directory import ROLE_SECONDS, WAIT_SECONDS, People
from bot.slackbot.events.translate import to_attachment
from bot.slackbot.web_api import build_client
from core.domain.incoming import Attachment, IncomingMessage, ThreadAddress
from core.domain.service import Decision, InboxEntry
from core.errors import AccessDenied, InvalidState, NotFound, PlatformError
from core.service.inbox import MAY_NOT_ASK, OTHER_CHANNEL
from tests.fakes import ManualClock
from tests.integration.slackbot.bench import Bench
from tests.slack_server import File

PDF = b"%PDF-1.7 the whole manual"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


# ------------------------------------------------------------------ talk


async def in_a_thread(bench: Bench) -> IncomingMessage:
    """A question at the end of a talk of two."""
    ben = bench.server.person("ben", bench.general)
    root = await bench.ada.say(bench.general, "the shed is locked")
    await ben.reply(root, f"{bench.ada.mention_text} have you got the key?")
    return (await bench.ask("where is it?", thread=root)).incoming


async def test_what_people_said_in_the_thread_is_read_with_their_names(bench: Bench) -> None:
    question = await in_a_thread(bench)
    talk = await bench.platform.talk_before(question, 10)
    assert [(said.author, said.text) for said in talk] == [
        ("ada", "the shed is locked"),
        ("ben", "@ada have you got the key?"),
    ]


async def test_only_the_last_things_said_are_read(bench: Bench) -> None:
    question = await in_a_thread(bench)
    assert [said.author for said in await bench.platform.talk_before(question, 1)] == ["ben"]


async def test_what_was_said_after_the_question_is_not_before_it(bench: Bench) -> None:
    question = await in_a_thread(bench)
    await bench.ada.say(bench.general, "never mind", thread=question.address.thread)
    assert "never mind" not in [said.text for said in await bench.platform.talk_before(question, 10)]


async def test_the_bots_own_answers_are_left_out(bench: Bench) -> None:
    first = await bench.ask()
    await bench.post(first)
    await bench.store.finish(first.seq, first.status.DONE)
    second = await bench.ask("and the shed?", thread=bench.general.messages[first.address.thread])
    talk = await bench.platform.talk_before(second.incoming, 10)
    assert [said.author for said in talk] == ["ada"]


async def test_before_a_question_that_opens_its_thread_the_last_minutes_of_the_channel_are_read(bench: Bench) -> None:
    await bench.ada.say(bench.general, "hello")
    bench.server.advance(16 * 60)
    root = await bench.ada.say(bench.general, "the gate is stuck again")
    await bench.ada.say(bench.general, "in its own thread", thread=root.ts)
    question = (await bench.ask("since when?")).incoming
    await bench.ada.say(bench.general, "never mind")
    assert [said.text for said in await bench.platform.talk_before(question, 10)] == ["the gate is stuck again"]


async def test_nothing_said_in_the_channel_is_read_for_a_private_question(bench: Bench) -> None:
    await bench.ada.say(bench.general, "hello")
    assert await bench.platform.talk_before((await bench.ask_privately()).incoming, 10) == []


async def test_talk_that_slack_does_not_give_now_is_an_error_that_passes(bench: Bench) -> None:
    question = await in_a_thread(bench)
    bench.server.fail_next("conversations.replies", status=429, retry_after_seconds=60)
    with pytest.raises(PlatformError):
        await bench.platform.talk_before(question, 10)


# ------------------------------------------------------------------ files


async def with_file(bench: Bench, name: str = "manual.pdf", data: bytes = PDF) -> tuple[InboxEntry, Attachment, File]:
    message = await bench.ada.say(bench.general, "what is in it?", [(name, data)])
    [file] = message.files
    attachment = to_attachment(bench.ours, bench.server.world.file_json(file))
    return await bench.take_in(message), attachment, file


async def test_a_file_is_read_with_the_token(bench: Bench) -> None:
    entry, attachment, _ = await with_file(bench)
    assert await bench.platform.read_attachment(entry.incoming, attachment) == PDF


async def test_a_page_of_html_is_a_file_like_others(bench: Bench) -> None:
    page = b"<html><title>House rules</title></html>"
    entry, attachment, _ = await with_file(bench, "rules.html", page)
    assert await bench.platform.read_attachment(entry.incoming, attachment) == page


async def test_the_page_to_log_in_is_no_file(bench: Bench) -> None:
    """A token that was good for looking the file up, but not for reading it."""
    entry, attachment, _ = await with_file(bench)
    assert bench.team.install is not None
    bench.teams.add(replace(bench.ours, token="xoxb-old"))
    with pytest.raises(AccessDenied, match="files:read"):
        await bench.platform.read_attachment(entry.incoming, attachment)


async def with_canvas(bench: Bench) -> tuple[InboxEntry, Attachment]:
    message = await bench.ada.share_canvas(bench.general, "Launch plan", "<h1>Plan</h1><p>On Friday.</p>")
    attachment = to_attachment(bench.ours, bench.server.world.file_json(message.files[0]))
    return await bench.take_in(message), attachment


async def test_a_canvas_is_read_as_the_page_that_slack_makes_of_it(bench: Bench) -> None:
    entry, attachment = await with_canvas(bench)
    assert attachment.name == "Launch plan.html"
    page = b'<div class="quip-canvas-content"><h1>Plan</h1><p>On Friday.</p></div>'
    assert await bench.platform.read_attachment(entry.incoming, attachment) == page


async def test_the_page_to_log_in_is_no_canvas(bench: Bench) -> None:
    entry, attachment = await with_canvas(bench)
    bench.teams.add(replace(bench.ours, token="xoxb-old"))
    with pytest.raises(AccessDenied, match="files:read"):
        await bench.platform.read_attachment(entry.incoming, attachment)


async def test_a_file_that_was_deleted_is_not_found(bench: Bench) -> None:
    entry, attachment, file = await with_file(bench)
    file.deleted = True
    with pytest.raises(NotFound, match="deleted"):
        await bench.platform.read_attachment(entry.incoming, attachment)


async def test_a_download_that_fails_may_be_tried_again(bench: Bench) -> None:
    entry, attachment, _ = await with_file(bench)
    bench.server.fail_next("download", status=503)
    with pytest.raises(PlatformError):
        await bench.platform.read_attachment(entry.incoming, attachment)
    assert await bench.platform.read_attachment(entry.incoming, attachment) == PDF


async def test_without_the_scope_it_is_named(bench: Bench) -> None:
    entry, attachment, _ = await with_file(bench)
    assert bench.team.install is not None
    bench.team.install.scopes -= {"files:read"}
    with pytest.raises(AccessDenied, match="files:read"):
        await bench.platform.read_attachment(entry.incoming, attachment)


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """Somebody else's server."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    try:
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()


class Elsewhere:
    """Another host; what it was asked for, and with what token."""

    def __init__(self) -> None:
        self.tokens: list[str | None] = []

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.tokens.append(request.headers.get("Authorization"))
        return web.Response(body=PDF, content_type="application/pdf")


async def api_that_names(url: str, *, is_external: bool = False) -> Handler:
    """Slack's API as far as files.info goes, whose downloads lead to `url`."""

    async def serve(request: web.Request) -> web.StreamResponse:
        if request.path.endswith("files.info"):
            here = f"http://{request.host}/download"
            told = {"name": "manual.pdf", "size": len(PDF), "is_external": is_external}
            told["url_private"] = url if is_external else here
            return web.json_response({"ok": True, "file": told})
        raise web.HTTPFound(url)

    return serve


async def test_a_redirect_to_another_host_never_gets_the_token(bench: Bench) -> None:
    entry, attachment, _ = await with_file(bench)
    elsewhere = Elsewhere()
    async with serving(elsewhere.serve) as other, serving(await api_that_names(other)) as slack:
        bench.teams.add(replace(bench.ours, client=build_client(bench.ours.token, f"{slack}/api/")))
        assert await bench.platform.read_attachment(entry.incoming, attachment) == PDF
    assert elsewhere.tokens == [None]


async def test_a_file_that_is_only_linked_is_not_asked_for(bench: Bench) -> None:
    entry, attachment, _ = await with_file(bench)
    elsewhere = Elsewhere()
    async with (
        serving(elsewhere.serve) as other,
        serving(await api_that_names(other, is_external=True)) as slack,
    ):
        bench.teams.add(replace(bench.ours, client=build_client(bench.ours.token, f"{slack}/api/")))
        with pytest.raises(InvalidState, match="Upload it"):
            await bench.platform.read_attachment(entry.incoming, attachment)
    assert elsewhere.tokens == []


# ------------------------------------------------------------------ names


async def test_a_name_is_looked_up_once_an_hour(bench: Bench) -> None:
    assert [await bench.people.name(bench.ours, bench.ada.id) for _ in range(3)] == ["ada"] * 3
    assert bench.count("users.info") == 1
    bench.time.advance(3601)
    await bench.people.name(bench.ours, bench.ada.id)
    assert bench.count("users.info") == 2


async def test_a_name_that_does_not_come_in_time_is_an_id_and_known_the_next_time(bench: Bench) -> None:
    hang = bench.server.hang_next("users.info")
    assert await bench.people.name(bench.ours, bench.ada.id, wait_seconds=0.01) == bench.ada.id
    assert await bench.people.names(bench.ours, [bench.ada.id], wait_seconds=0.01) == {}
    hang.release()
    await bench.until(lambda: bench.people.known(bench.ours, [bench.ada.id]))
    assert await bench.people.name(bench.ours, bench.ada.id) == "ada"
    assert bench.count("users.info") == 1
    assert WAIT_SECONDS <= 0.5


async def test_names_of_several_are_looked_up_side_by_side(bench: Bench) -> None:
    ben = bench.server.person("ben", bench.general)
    names = await bench.people.names(bench.ours, [bench.ada.id, ben.id, "U0NOBODY", ""])
    assert names == {bench.ada.id: "ada", ben.id: "ben"}


async def test_who_can_not_be_looked_up_is_not_asked_for_again_at_once(bench: Bench) -> None:
    assert bench.team.install is not None
    bench.team.install.scopes -= {"users:read"}
    assert [await bench.people.name(bench.ours, bench.ada.id) for _ in range(3)] == [bench.ada.id] * 3
    assert bench.count("users.info") == 1
    assert not await bench.people.is_admin(bench.ours, bench.ada.id)


async def test_who_runs_the_workspace_is_known(bench: Bench) -> None:
    ben = bench.server.person("ben", bench.general)
    ben.become_admin()
    assert await bench.people.is_admin(bench.ours, ben.id)
    assert not await bench.people.is_admin(bench.ours, bench.ada.id)


async def test_admins_and_the_members_of_named_groups_may_add_documents(bench: Bench) -> None:
    assert bench.team.install is not None
    bench.team.install.scopes.add("usergroups:read")
    ben, eve = (bench.server.person(name, bench.general) for name in ("ben", "eve"))
    bench.ada.become_admin()
    bench.team.groups["S1"] = [ben.id]
    people = People(bench.clock, ("S0", "S1"))  # S0 is a group of another team
    assert [(await people.roles(bench.ours, one.id)).may_add for one in (bench.ada, ben, eve)] == [True, True, False]
    bench.team.groups["S1"] = [eve.id]
    bench.ada.user.is_admin = False
    assert [(await people.roles(bench.ours, one.id)).may_add for one in (bench.ada, ben, eve)] == [False, False, True]
    await people.close()


async def test_admins_and_the_members_of_named_groups_may_review(bench: Bench) -> None:
    assert bench.team.install is not None
    bench.team.install.scopes.add("usergroups:read")
    ben, eve = (bench.server.person(name, bench.general) for name in ("ben", "eve"))
    bench.ada.become_admin()
    bench.team.groups |= {"S1": [ben.id], "S2": [eve.id]}
    people = People(bench.clock, ("S1",), ("S2",))
    roles = [await people.roles(bench.ours, one.id) for one in (bench.ada, ben, eve)]
    assert [(one.may_add, one.may_review) for one in roles] == [(True, True), (True, False), (False, True)]
    await people.close()


async def test_without_its_scope_a_group_adds_nothing(bench: Bench) -> None:
    assert bench.team.install is not None
    bench.team.install.scopes.discard("usergroups:read")
    bench.team.groups["S1"] = [bench.ada.id]
    people = People(bench.clock, ("S1",))
    assert not (await people.roles(bench.ours, bench.ada.id)).may_add
    await people.close()


async def test_guests_and_unknown_people_are_no_full_members(bench: Bench) -> None:
    guest = bench.server.person("guest", bench.general)
    guest.user.is_restricted = True
    assert await bench.people.is_full_member(bench.ours, bench.ada.id)
    assert not await bench.people.is_full_member(bench.ours, guest.id)
    assert not await bench.people.is_full_member(bench.ours, "U0UNKNOWN")


async def test_a_role_that_is_only_read_is_a_minute_old_at_most(bench: Bench) -> None:
    bench.ada.become_admin()
    assert await bench.people.is_admin(bench.ours, bench.ada.id)
    bench.ada.user.is_admin, bench.ada.user.is_restricted = False, True
    assert await bench.people.is_full_member(bench.ours, bench.ada.id)
    bench.clock.advance(ROLE_SECONDS)
    assert not await bench.people.is_admin(bench.ours, bench.ada.id)
    assert not await bench.people.is_full_member(bench.ours, bench.ada.id)


async def test_the_gate_lets_full_members_ask_in_chosen_channels(bench: Bench) -> None:
    guest = bench.server.person("guest", bench.general)
    guest.user.is_restricted = True
    settings = SlackSettings(
        by_socket=True,
        token=None,
        app_token=None,
        signing_secret=None,
        client=None,
        has_keys=False,
        ask_channels=(bench.general.id,),
        ask_full_members=True,
    )
    gate = SlackConnection(
        settings=settings,
        teams=bench.teams,
        people=bench.people,
        platform=bench.platform,
        audiences=SlackAudiences(bench.teams, ManualClock()),
    ).askers()
    assert gate is not None and gate.for_commands

    async def decided(author: str, channel: str) -> Decision | None:
        address = ThreadAddress(platform="slack", workspace=bench.ours.workspace, channel=channel, thread="1")
        message = IncomingMessage(
            address=address, author=author, text="?", event_key="e", metadata={"team": bench.ours.id}
        )
        return await gate.check(message)

    assert await decided(bench.ada.id, bench.general.id) is None
    assert await decided(guest.id, bench.general.id) == MAY_NOT_ASK
    assert await decided(bench.ada.id, "C0OTHER") == OTHER_CHANNEL
