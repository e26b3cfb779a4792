"""Documents added on Slack: by an admin, proposed by others, refused, taken back; by each way there is."""

import asyncio

import pytest

from bot.presentation.additions import ADD_TO_LIBRARY
from bot.slackbot.actions import additions
from bot.slackbot.events.directory import ROLE_UNKNOWN
from bot.slackbot.events.manifest import ADD_DOCUMENTS, ADD_MESSAGE
from bot.slackbot.rendering.forms import ADDRESS, FILES, READERS
from core.features.uploads import UPLOADS
from core.ports.documents import WebFile
from tests.integration.platform_files import LIMITS
from tests.integration.slackbot.house import House, buttons, shown_of
from tests.integration.slackbot.place import SlackPlace
from tests.slack_server import Channel, Message, View

NOTE = b"# Ferries\n\nThe ferry Marigold leaves pier 7.\n"
FERRY = ("ferries.md", NOTE)
PIER = ("piers.md", b"# Piers\n\nPier 7 is the last one.\n")
PIERS = "https://docs.example.org/piers"
PIERS_PAGE = WebFile(
    name="docs.example.org/piers.html",
    content=b"<html><title>Piers</title><body><h1>Piers</h1><p>Pier 7 is the last one of all.</p></body></html>",
)
TRANSPORTS = pytest.mark.parametrize("over_http", [False, True], ids=["socket", "http"])


def said_in(message: Message | View) -> str:
    """What is read, without the signs that keep names from being links."""
    return shown_of(message).replace("\u200b", "").replace("\\", "")


async def post_with(house: House, words: str, place: Channel | None = None) -> Message:
    """The one post about an addition, when it has these words."""
    there = place or house.channel

    def found() -> list[Message]:
        return [one for one in house.posts(there) if words in said_in(one)]

    await house.until(found, f"{words!r} in {[said_in(one) for one in house.posts(there)]}")
    [post] = found()
    return post


async def read(place: SlackPlace) -> list[str]:
    """The readable documents that were added."""
    listed = await place.shelf.corpus.list_documents("local")
    return sorted(item.path for item in listed if item.source_kind == UPLOADS and item.revision is not None)


async def add_by_shortcut(house: House, files: list[tuple[str, bytes]], *, by_admin: bool = True) -> Message:
    """Ada shares files in the channel, and adds them from the message's menu."""
    if by_admin:
        house.ada.become_admin()
    message = await house.ada.say(house.channel, "look", files)
    outcome = await house.ada.shortcut(message, ADD_MESSAGE)
    assert (outcome.acknowledged, outcome.error) == (True, None)
    return message


# ------------------------------------------------------------------ who adds


@TRANSPORTS
async def test_an_admin_adds_the_files_of_a_message_in_its_thread(place: SlackPlace, over_http: bool) -> None:
    place.over_http = over_http
    async with place.open() as house:
        message = await add_by_shortcut(house, [FERRY])
        post = await post_with(house, "Added ferries.md: 1 page.")
        assert post.root == message.ts
        assert "It can be read in:" in said_in(post)
        assert list(buttons(post)) == ["Undo"]
        assert await read(place) == ["ferries.md"]
        assert house.server.gaps == []


async def test_a_member_proposes_and_only_an_admin_confirms(place: SlackPlace) -> None:
    async with place.open() as house:
        house.ben.become_admin()
        await add_by_shortcut(house, [FERRY], by_admin=False)
        proposal = await post_with(house, "ada proposes ferries.md. An admin can add it.")
        assert await read(place) == []
        await house.ada.click(proposal, "Add")
        await house.told(house.ada, "Only an admin")
        assert await read(place) == []
        await house.ben.click(proposal, "Add")
        added = await post_with(house, "Added ferries.md: 1 page. ada proposed it, ben added it.")
        assert added.ts == proposal.ts
        assert await read(place) == ["ferries.md"]


async def test_a_proposal_is_dismissed_after_a_restart(place: SlackPlace) -> None:
    async with place.open() as house:
        house.ben.become_admin()
        await add_by_shortcut(house, [FERRY], by_admin=False)
        proposal = await post_with(house, "An admin can add it.")
        await place.restart()
        await house.ada.click(proposal, "Dismiss")
        await house.told(house.ada, "Only an admin")
        await house.ben.click(proposal, "Dismiss")
        dismissed = await post_with(house, "ben dismissed ferries.md, which ada proposed.")
        assert buttons(dismissed) == {}
        assert await read(place) == []


async def test_whoever_loses_the_role_before_the_press_confirms_nothing(place: SlackPlace) -> None:
    async with place.open() as house:
        house.ben.become_admin()
        await add_by_shortcut(house, [FERRY], by_admin=False)
        proposal = await post_with(house, "An admin can add it.")
        await house.ben.slash(house.channel, "settings language German")  # so that the role was seen once
        await house.shows("Set for this channel")
        house.ben.user.is_admin = False
        await house.ben.click(proposal, "Add")
        await house.told(house.ben, "Only an admin")
        outcome = await house.ben.shortcut(await house.ben.say(house.channel, "look", [PIER]), ADD_MESSAGE)
        assert outcome.error is None
        await post_with(house, "ben proposes piers.md. An admin can add it.")
        await house.ben.slash(house.channel, "settings language French")
        await house.told(house.ben, "Only an admin can change this channel's settings.")
        assert await read(place) == []


async def test_whoever_leaves_the_user_group_before_the_press_confirms_nothing(place: SlackPlace) -> None:
    place.library_groups = ("S1",)
    async with place.open() as house:
        assert house.team.install is not None
        house.team.install.scopes.add("usergroups:read")
        house.team.groups["S1"] = [house.ben.id]
        await add_by_shortcut(house, [FERRY], by_admin=False)
        proposal = await post_with(house, "An admin can add it.")
        await house.ben.slash(house.channel, "library list")
        await house.told(house.ben, "No documents were added")
        house.team.groups["S1"] = []
        await house.ben.click(proposal, "Add")
        await house.told(house.ben, "Only an admin")
        assert await read(place) == []


@pytest.mark.parametrize("fault", ["fatal_error", "user_not_found"])
async def test_while_slack_tells_no_roles_a_press_changes_nothing(place: SlackPlace, fault: str) -> None:
    async with place.open() as house:
        house.ben.become_admin()
        await add_by_shortcut(house, [FERRY], by_admin=False)
        proposal = await post_with(house, "An admin can add it.")
        house.server.fail_next("users.info", fault, times=10)
        await house.ben.click(proposal, "Add")
        await house.told(house.ben, ROLE_UNKNOWN)
        await house.ben.slash(house.channel, "library remove ferries.md")
        await house.until(lambda: len(house.whispered(house.ben, ROLE_UNKNOWN, house.channel)) == 2)
        assert "An admin can add it." in said_in(await post_with(house, "ada proposes ferries.md"))
        assert await read(place) == []


async def test_people_of_a_named_user_group_add_without_an_admin(place: SlackPlace) -> None:
    place.library_groups = ("S1",)
    async with place.open() as house:
        assert house.team.install is not None
        house.team.install.scopes.add("usergroups:read")
        house.team.groups["S1"] = [house.ada.id]
        await add_by_shortcut(house, [FERRY], by_admin=False)
        await post_with(house, "Added ferries.md: 1 page.")
        assert await read(place) == ["ferries.md"]


# ------------------------------------------------------------------ what is refused


async def test_a_type_that_cannot_be_read_is_named_with_the_reason(place: SlackPlace) -> None:
    async with place.open() as house:
        await add_by_shortcut(house, [("notes.pages", b"PK\x03\x04 nothing")])
        post = await post_with(house, "I didn't add notes.pages.")
        assert "PDF" in said_in(post) or "can't be read" in said_in(post)
        assert buttons(post) == {}
        assert await read(place) == []


async def test_a_file_over_the_limit_is_refused_before_it_is_downloaded(place: SlackPlace) -> None:
    async with place.open() as house:
        await add_by_shortcut(house, [("long.txt", b"a" * (LIMITS.file_bytes + 1))])
        post = await post_with(house, "I didn't add long.txt.")
        assert "arger than" in said_in(post)
        assert house.server.calls("download") == []


async def test_a_link_into_the_own_network_is_refused(place: SlackPlace) -> None:
    async with place.open() as house:
        house.ada.become_admin()
        await house.ada.slash(house.channel, "library add http://127.0.0.1:9/secret.html")
        post = await post_with(house, "I didn't add")
        assert "own network, which is not read. Save the page, and add the file." in said_in(post)
        assert await read(place) == []


async def test_a_file_that_the_bot_may_not_see_is_refused(place: SlackPlace) -> None:
    async with place.open() as house:
        elsewhere = house.server.create_channel(house.team, "elsewhere", house.ada, with_bot=False)
        house.ada.become_admin()
        message = await house.ada.say(elsewhere, "look", [FERRY])
        await house.ada.shortcut(message, ADD_MESSAGE)
        await house.told(house.ada, "isn't shared with me", house.ada.dm)
        assert house.posts(elsewhere) == []


async def test_where_another_company_reads_nothing_is_added_before_an_admin_chose_sources(place: SlackPlace) -> None:
    async with place.open() as house:
        house.channel.is_external = True
        await add_by_shortcut(house, [FERRY])
        await house.told(house.ada, "People from another company can read this channel")
        assert house.posts() == []


async def test_a_message_without_files_and_links_says_so(place: SlackPlace) -> None:
    async with place.open() as house:
        message = await house.ben.say(house.channel, "nothing here")
        await house.ada.shortcut(message, ADD_MESSAGE)
        await house.told(house.ada, additions.NOTHING_TO_ADD)
        assert house.posts() == []


# ------------------------------------------------------------------ undo


async def test_undo_removes_the_document_after_a_restart(place: SlackPlace) -> None:
    async with place.open() as house:
        await add_by_shortcut(house, [FERRY])
        post = await post_with(house, "Added ferries.md")
        await place.restart()
        await house.ben.click(post, "Undo")
        await house.told(house.ben, "Only an admin")
        assert await read(place) == ["ferries.md"]
        await house.ada.click(post, "Undo")
        gone = await post_with(house, "ada took ferries.md back.")
        assert (gone.ts, buttons(gone)) == (post.ts, {})
        assert await read(place) == []


# ------------------------------------------------------------------ the ways there are


async def test_links_of_a_message_are_added_where_it_has_no_files(place: SlackPlace) -> None:
    place.pages[PIERS] = PIERS_PAGE
    async with place.open() as house:
        house.ada.become_admin()
        message = await house.ben.say(house.channel, f"see {PIERS}")
        await house.ada.shortcut(message, ADD_MESSAGE)
        post = await post_with(house, "Added")
        assert post.root == message.ts
        [path] = await read(place)
        assert "/piers" in path


@TRANSPORTS
async def test_files_and_a_link_of_the_form_are_added_in_the_direct_channel(place: SlackPlace, over_http: bool) -> None:
    place.over_http = over_http
    place.pages[PIERS] = PIERS_PAGE
    async with place.open() as house:
        house.ada.become_admin()
        form = await house.modal(await house.ada.shortcut(None, ADD_DOCUMENTS))
        assert form.payload["title"]["text"] == "Add documents"
        empty = await house.ada.submit(form, {READERS: "all"})
        assert (empty.errors, form.open) == ({FILES: additions.NOTHING_CHOSEN}, True)
        wrong = await house.ada.submit(form, {ADDRESS: "piers", READERS: "all"})
        assert "isn't a web address" in wrong.errors[ADDRESS]
        sent = await house.ada.submit(form, {FILES: [FERRY], ADDRESS: PIERS, READERS: "all"})
        assert (sent.errors, sent.error, form.open) == ({}, None, False)
        await house.until(
            lambda: sum("Added" in said_in(one) for one in house.posts(house.ada.dm)) == 2, "both documents"
        )
        assert len(await read(place)) == 2


async def test_the_home_tab_opens_the_form(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ada.open_home()
        await house.until(lambda: house.ada.home, "the home tab")
        assert house.ada.home is not None
        form = await house.modal(await house.ada.click(house.ada.home, "Add documents"))
        await house.ada.submit(form, {FILES: [FERRY], READERS: "all"})
        proposal = await post_with(house, "ada proposes ferries.md. An admin can add it.", house.ada.dm)
        assert list(buttons(proposal)) == ["Add", "Dismiss"]


async def test_the_command_without_a_link_opens_the_form_for_its_channel(place: SlackPlace) -> None:
    async with place.open() as house:
        house.ada.become_admin()
        form = await house.modal(await house.ada.slash(house.channel, "library add"))
        await house.ada.submit(form, {FILES: [FERRY], READERS: "all"})
        await post_with(house, "Added ferries.md: 1 page.")
        assert house.posts(house.ada.dm) == []


@pytest.mark.parametrize("choice", ["all", "channel", "me"])
async def test_the_form_asks_who_may_read_the_documents(place: SlackPlace, choice: str) -> None:
    async with place.open() as house:
        form = await house.modal(await house.ada.slash(house.channel, "library add"))
        asked = next(block for block in form.payload["blocks"] if block["block_id"] == READERS)
        assert not asked.get("optional") and "initial_option" not in asked["element"]
        house.ben.become_admin()
        await house.ada.submit(form, {FILES: [FERRY], READERS: choice})
        readers = {"all": None, "channel": f"channel:{house.channel.id}", "me": f"person:{house.ada.id}"}[choice]
        proposal = await post_with(house, "An admin can add it.")
        assert ("it would be for" in said_in(proposal), str(readers) in said_in(proposal)) == (
            (False, False) if readers is None else (True, True)
        )
        await house.ben.click(proposal, "Add")
        added = await post_with(house, "Added ferries.md: 1 page.")
        told = "." if readers is None else f" who are also among {readers}."
        assert f"In chats, it is for all members, without guests{told}" in said_in(added)
        narrowed = await place.shelf.corpus.narrowed("local")
        assert [*narrowed.values()] == ([] if readers is None else [frozenset({frozenset({readers})})])


async def test_a_mention_with_files_adds_them(place: SlackPlace) -> None:
    async with place.open() as house:
        house.ada.become_admin()
        message = await house.ada.mention(house.channel, "library add", [FERRY])
        post = await post_with(house, "Added ferries.md: 1 page.")
        assert post.root == message.ts
        await house.ada.mention(house.channel, "library add")
        await house.told(house.ada, "Add a link after")


async def test_added_documents_are_listed_and_removed(place: SlackPlace) -> None:
    async with place.open() as house:
        await add_by_shortcut(house, [FERRY])
        await post_with(house, "Added ferries.md")
        await house.ada.slash(house.channel, "library list")
        listed = await house.told(house.ada, "added by ada")
        assert "ferries.md: 1 page" in said_in(listed)
        await house.ben.slash(house.channel, "library remove ferries.md")
        await house.told(house.ben, "Only an admin")
        await house.ada.slash(house.channel, "library remove ferries.md")
        await house.until(lambda: any("emoved" in said_in(one) for one in house.posts()), "the removal")
        assert await read(place) == []


async def test_a_canvas_is_added_as_it_is_read(place: SlackPlace) -> None:
    async with place.open() as house:
        house.ada.become_admin()
        message = await house.ada.share_canvas(
            house.channel, "Launch plan", "<h1>Launch plan</h1><p>The kites start on Friday at nine.</p>"
        )
        await house.ada.shortcut(message, ADD_MESSAGE)
        await post_with(house, "Added Launch plan.html: 1 page.")
        assert await read(place) == ["Launch plan.html"]


async def test_a_file_of_another_company_is_added_by_its_name(place: SlackPlace) -> None:
    async with place.open() as house:
        house.ada.become_admin()
        message = await house.ada.share_stub(house.channel, *FERRY)
        await house.ada.shortcut(message, ADD_MESSAGE)
        await post_with(house, "Added ferries.md: 1 page.")
        assert await read(place) == ["ferries.md"]


# ------------------------------------------------------------------ files in a direct message


async def test_files_without_a_question_are_offered_to_the_library(place: SlackPlace) -> None:
    async with place.open() as house:
        house.ada.become_admin()
        message = await house.ada.share(house.ada.dm, *FERRY)
        offer = await post_with(house, "Add ferries.md to the library", house.ada.dm)
        assert offer.root == message.ts
        assert await place.codes() == ["files_alone"]
        await place.restart()
        await house.ada.click(offer, ADD_TO_LIBRARY)
        post = await post_with(house, "Added ferries.md: 1 page.", house.ada.dm)
        assert post.root == message.ts
        assert buttons(offer) == {}
        assert place.provider.requests == []


async def test_offered_files_can_be_asked_about_instead(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ada.share(house.ada.dm, *FERRY)
        offer = await post_with(house, "Add ferries.md to the library", house.ada.dm)
        await house.ada.click(offer, "Ask about it")
        await house.answered(house.ada.dm)
        assert "What is in ferries.md?" in str(place.provider.requests[0].messages)
        assert await read(place) == []


async def test_an_event_that_comes_twice_offers_once(place: SlackPlace) -> None:
    async with place.open() as house:
        house.server.deliver_twice(name="message*")
        await house.ada.share(house.ada.dm, *FERRY)
        await post_with(house, "Add ferries.md to the library", house.ada.dm)
        await house.server.settle()
        assert len(house.posts(house.ada.dm)) == 1


# ------------------------------------------------------------------ in time, and once


@TRANSPORTS
async def test_a_slow_download_does_not_delay_the_acknowledgement(place: SlackPlace, over_http: bool) -> None:
    place.over_http = over_http
    async with place.open() as house:
        house.ada.become_admin()
        hang = house.server.hang_next("files.info")
        message = await house.ada.say(house.channel, "look", [FERRY])
        outcome = await house.ada.shortcut(message, ADD_MESSAGE)
        assert outcome.acknowledged
        assert (outcome.after_seconds or 9) < 3
        await hang.reached.wait()
        await post_with(house, "Receiving ferries.md.")
        hang.release()
        await post_with(house, "Added ferries.md: 1 page.")


@pytest.mark.parametrize("lost", [False, True], ids=["before the post", "after it"])
async def test_a_process_that_ends_in_the_middle_leaves_one_post(place: SlackPlace, lost: bool) -> None:
    """Its successor finds the post of which the reply was lost, and finishes it."""
    async with place.open() as house:
        house.ada.become_admin()
        message = await house.ada.say(house.channel, "look", [FERRY])
        hang = house.server.hang_next("chat.postMessage", after=lost)
        await house.ada.shortcut(message, ADD_MESSAGE)
        await hang.reached.wait()
        await place.restart()
        hang.release()
        await post_with(house, "Added ferries.md: 1 page.")
        assert len(house.posts()) == 1
        await asyncio.wait_for(place.listeners.additions.idle(), 60)
        assert await place.listeners.additions._additions.unsettled("slack") == []
