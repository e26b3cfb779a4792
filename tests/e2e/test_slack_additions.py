"""The real service on Slack: documents are added, proposed, refused and taken back there, whatever ends the service."""

from collections.abc import Sequence

import pytest

from bot.presentation.additions import ADD_TO_LIBRARY
from bot.slackbot.events.manifest import ADD_MESSAGE
from tests.e2e.slack_service import SlackService, buttons
from tests.slack_server import Channel, Message, text_of

pytestmark = pytest.mark.slow
TOWERS = b"# Towers\n\nThe tower of Brix was built by the mason Halva.\n"
QUESTION = "Who built the tower of Brix?"
ANSWER = "built by the mason Halva"
ADDED = "Added towers-{}.md: 1 page."

# Where the service is killed, by the call that hangs: method, carried out before, what it says.
BEFORE_THE_POST = ("chat.postMessage", False, "")
POST_MADE = ("chat.postMessage", True, "")  # but nobody was told
BEFORE_THE_DOWNLOAD = ("files.info", False, "")
BEFORE_THE_END = ("chat.update", False, "Added")
END_SHOWN = ("chat.update", True, "Added")  # but the database does not know
ALL = (BEFORE_THE_POST, POST_MADE, BEFORE_THE_DOWNLOAD, BEFORE_THE_END, END_SHOWN)


def said_in(message: Message) -> str:
    """What is read, without the signs that keep names from being links."""
    return text_of(message).replace("\u200b", "").replace("\\", "")


async def post_with(service: SlackService, place: Channel, words: str) -> Message:
    """The one post with these words, when there is one."""

    def found() -> list[Message]:
        return [one for one in service.server.answers(place) if one.only_to is None and words in said_in(one)]

    await service.until(found, f"{words!r}")
    [post] = found()
    return post


@pytest.mark.parametrize(
    ("slack_service", "moments"), [("socket", ALL), ("http", (POST_MADE,))], indirect=["slack_service"]
)
async def test_an_addition_that_a_kill_breaks_off_is_finished_in_its_one_post(
    slack_service: SlackService, moments: Sequence[tuple[str, bool, str]]
) -> None:
    service, server = slack_service, slack_service.server
    general, ada = service.settle_in()
    ada.become_admin()
    await service.start()

    for number, (method, after, saying) in enumerate(moments):
        message = await ada.share(general, f"towers-{number}.md", TOWERS)
        hang = server.hang_next(method, after=after, saying=saying)
        outcome = await ada.shortcut(message, ADD_MESSAGE)
        assert outcome.acknowledged
        await service.until(hang.reached.is_set, f"{method} {saying}")
        await service.process.kill()
        hang.release()
        await service.start()
        post = await post_with(service, general, ADDED.format(number))
        assert post.root == message.ts
        assert len(server.answers(general, thread=message)) == 1

    asked = await ada.mention(general, QUESTION)
    [answer] = await service.answered(general, thread=asked)
    assert ANSWER in answer
    assert "towers-" in answer or "Towers" in answer
    assert "Traceback" not in service.process.printed


@pytest.mark.parametrize("slack_service", ["socket"], indirect=True)
async def test_documents_are_proposed_confirmed_refused_and_taken_back(slack_service: SlackService) -> None:
    service, server = slack_service, slack_service.server
    service.settings["FOOTNOTE_INGEST__MAX_FILE_MB"] = "1"
    general, ada = service.settle_in()
    ben = server.person("ben", general)
    ben.become_admin()
    await service.start()

    message = await ada.share(general, "towers-0.md", TOWERS)
    await ada.shortcut(message, ADD_MESSAGE)
    proposal = await post_with(service, general, "ada proposes towers-0.md. An admin can add it.")
    await service.restart()
    await ada.click(proposal, "Add")
    await service.told(ada, general, "Only an admin")
    await ben.click(proposal, "Add")
    added = await post_with(service, general, ADDED.format(0))
    assert "ada proposed it, ben added it." in said_in(added)
    assert "It can be read in:" in said_in(added)

    for name, data, reason in (
        ("notes.pages", b"PK\x03\x04", "notes.pages"),
        ("long.txt", b"a " * 600_000, "arger than 1 MB"),
    ):
        await ben.shortcut(await ben.share(general, name, data), ADD_MESSAGE)
        assert reason in said_in(await post_with(service, general, f"I didn't add {name}."))
    await ben.slash(general, "library add http://127.0.0.1:9/secret")
    assert "own network" in said_in(await post_with(service, general, "I didn't add http"))

    await ben.slash(general, "library list")
    await service.told(ben, general, "added by ada")
    await service.restart()
    await ben.click(added, "Undo")
    await post_with(service, general, "ben took towers-0.md back.")
    listed = await service.run("documents")
    assert [item["document"] for item in listed["documents"]] == ["kites.md"]
    assert server.gaps == []


@pytest.mark.parametrize("slack_service", ["socket"], indirect=True)
async def test_files_of_a_direct_message_are_offered_and_a_new_channel_is_greeted_once(
    slack_service: SlackService,
) -> None:
    service, server = slack_service, slack_service.server
    _, ada = service.settle_in()
    ada.become_admin()
    await service.start()

    await ada.share(ada.dm, "towers-0.md", TOWERS)
    offer = await post_with(service, ada.dm, "Add towers-0.md to the library")
    await service.process.kill()
    await service.start()
    await ada.click(offer, ADD_TO_LIBRARY)
    await post_with(service, ada.dm, ADDED.format(0))
    assert list(buttons(offer)) == []

    fresh = server.create_channel(service.team, "fresh", ada, with_bot=False)
    hang = server.hang_next("chat.postMessage", after=True)
    await ada.invite(fresh)
    await service.until(hang.reached.is_set, "the greeting")
    await service.process.kill()
    hang.release()
    await service.start()
    greeting = await post_with(service, fresh, "I answer questions from 2 documents here")
    assert "/footnote library add" in said_in(greeting)
    await ada.remove(fresh)
    await ada.invite(fresh)
    asked = await ada.mention(fresh, QUESTION)
    assert ANSWER in (await service.answered(fresh, thread=asked))[0]
    assert len(server.answers(fresh)) == 2
