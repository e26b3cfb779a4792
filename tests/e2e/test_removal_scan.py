"""What was removed is nowhere any more: in no row, no file, no index and no post, whatever was made from it."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from simcord.builders import ChannelHandle

from tests.discord_server import text_of
from tests.e2e.discord_service import DiscordService, buttons, history
from tests.e2e.platform_service import NEXT_QUESTION, QUESTION, TEAM, PlatformService
from tests.e2e.remnants import find_on_discord, find_on_slack
from tests.e2e.slack_service import SlackService
from tests.postgres import postgres_schema
from tests.qdrant_server import qdrant_server
from tests.scanning import find_in_database, find_in_files
from tests.slack_server import Message
from tests.slack_server import Person as SlackPerson
from tests.slack_server import text_of as slack_text

pytestmark = pytest.mark.slow
# In the text, the title, a table and an alias of a document, and in no question.
MARKS = ("Zarquelba", "Plimforth", "Quibbleweir", "Vornaxia")
DOCUMENT = """---
aliases: [Vornaxia]
---
# The Plimforth lantern

The lantern of Ondar burns with Zarquelba oil on Sundays.

| lamp | oil |
|---|---|
| lantern | Quibbleweir |

- [ ] Fill the Zarquelba lantern before 2026-05-01
"""
ASKED = "What does the lantern of Ondar burn with?"
# In a person's question, and their name.
PERSON = "Glimmerfax"
PERSONAL = f"When does the red kite of Ondar fly, asks the {PERSON}?"
NAME = "adalindra"
# A workspace, its document and a question there.
PLACE = "quorvantia"
PLACE_MARKS = (PLACE, "Tessarine", "Wumblecroft")
PLACE_TEXT = "# Tessarine\n\nThe harbour of Tessarine opens at dawn.\n"
PLACE_ASKED = "When does the harbour of Tessarine open, Wumblecroft?"


@pytest.fixture(params=["sqlite", "postgres"])
def stores(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """The variables that choose the database and the index."""
    with ExitStack() as stack:
        if request.param == "sqlite":
            yield {}
        else:
            database, index = stack.enter_context(postgres_schema()), stack.enter_context(qdrant_server())
            yield {"FOOTNOTE_DATABASE_URL": database, "FOOTNOTE_INDEX__URL": index}


def find_left(service: PlatformService, words: Sequence[str]) -> list[str]:
    """The places in the database and in the files of the data directory."""
    url = service.settings.get("FOOTNOTE_DATABASE_URL", f"sqlite:///{service.data / 'footnote.db'}")
    return [*find_in_database(url, words), *find_in_files(service.data, words)]


async def until_posts_are_settled(service: PlatformService, words: Sequence[str]) -> None:
    """Wait until no entry waits for its post to be taken back: it is deleted right after the post."""

    def find() -> list[str]:
        url = service.settings.get("FOOTNOTE_DATABASE_URL", f"sqlite:///{service.data / 'footnote.db'}")
        return [line for line in find_in_database(url, words) if line.startswith("inbox.")]

    await service.until(lambda: not find(), "entries of removed people and workspaces gone")


def has_words(posts: Iterable[str], words: Sequence[str]) -> list[str]:
    return [word for post in posts for word in words if word.lower() in post.lower()]


async def prepare(service: PlatformService, folder: Path) -> None:
    """Add a document with marks, and a workspace of its own."""
    for name, text in (("lamps", DOCUMENT), ("harbour", PLACE_TEXT)):
        (folder / name).mkdir()
        (folder / name / "one.md").write_text(text)
    await service.run("ingest", str(folder / "lamps"), "--source", "lamps")
    await service.run("ingest", str(folder / "harbour"), workspace=PLACE)
    if "FOOTNOTE_DATABASE_URL" in service.settings:
        await service.run("ingest", str(service.notes), "--source", "notes")
    await service.run("extract")


async def remove_document(service: PlatformService) -> None:
    """Remove the document with marks, after it was asked about in the terminal, too."""
    answer = await service.run("ask", ASKED)
    await service.run("conversations", "recap", answer["conversation_id"])
    await service.restart()  # what is in SQLite's log by now goes into its file
    before = {line.partition(":")[0] for line in find_left(service, MARKS)}
    assert before >= {"cassette.data", "extract.data", "message.citations", "message.content", "summary.text"}
    removed = await service.run("documents", "remove", "one.md")
    assert removed["documents"] == 1
    assert (await service.run("documents", "list"))["documents"]


async def test_nothing_of_what_was_removed_is_left_with_discord(
    discord_service: DiscordService, tmp_path: Path, stores: dict[str, str]
) -> None:
    service, server = discord_service, discord_service.server
    service.settings |= stores
    guild, other = service.join("House", TEAM), service.join("Port", PLACE)
    general, dock = guild.create_text_channel("general"), other.create_text_channel("dock")
    ada, ben = server.person(NAME, guild, other), server.person("ben", guild, manage_guild=True)
    await service.start()
    await prepare(service, tmp_path)

    thread = await service.ask(ada, general, ASKED)
    own = await service.ask(ada, general, PERSONAL)
    await ben.say(own, NEXT_QUESTION)
    await service.answered(own, 2)
    shared = await service.ask(ben, general, QUESTION)
    await ada.say(shared, PERSONAL)
    await service.answered(shared, 2)
    port = await service.ask(ada, dock, PLACE_ASKED)
    await ada.slash(thread, "keep")
    await ben.slash(general, "inbox", action="share")
    await service.until(lambda: "Proposed" in text_of(server.answers(general)[-1]), "a review inbox")
    await ada.slash(general, "ask", question=PERSONAL)
    await service.until(lambda: len(server.answers(general)) == 2, "a question of a command")
    [rated, _] = service.finals(own)
    [clickable] = [message for message in history(own) if message.id == rated.id]
    await ada.click(clickable, custom_id=buttons(rated)["👍"])

    def posts(*places: ChannelHandle) -> list[str]:
        """The texts that everyone in these places reads."""
        wanted = places or (thread, own, shared, port, ada.dm)
        return [text_of(post) for place in wanted for post in server.answers(place) if not post.is_ephemeral]

    assert has_words(posts(), MARKS) and has_words(posts(general), MARKS)
    await remove_document(service)
    await service.until(lambda: not find_on_discord(server, MARKS), "a note in place of the answer")
    assert "This answer was deleted" in text_of(server.answers(thread)[0])

    removed = await service.run("person", "remove", str(ada.id), "--platform", "discord", "--yes")
    assert removed["questions"] == 4
    await service.until(lambda: len(posts(own)) == len(posts(shared)) == 1, "the posts gone")
    await service.until(lambda: not find_on_discord(server, (PERSON, NAME, str(ada.id))), "all of the person")
    assert len(posts(port)) == 1

    removed = await service.run("workspaces", "remove", PLACE, "--yes")
    assert (removed["documents"], removed["conversations"], removed["posts"]) == (1, 1, 1)
    await service.until(lambda: not posts(port), "the posts of the workspace gone")
    await until_posts_are_settled(service, (*PLACE_MARKS, PERSON, NAME, str(ada.id)))
    await service.stop()
    assert find_left(service, (*MARKS, *PLACE_MARKS, PERSON, NAME, str(ada.id))) == []
    assert (await service.run("ask", QUESTION))["status"] == "answered"


async def post_more_on_slack(service: SlackService, asked: Message, ada: SlackPerson, ben: SlackPerson) -> None:
    """Posts of commands, a file, a review inbox and a home tab, all with the marks."""
    general = asked.channel
    await ada.mention(general, "keep", thread=asked)
    await service.told(ada, general, "Proposed:")
    await ben.slash(general, "inbox share")
    await service.told(ada, general, "said by")
    await ben.say(ben.dm, ASKED)
    await service.answered(ben.dm)
    [answer] = service.finals(ben.dm)
    for command, words in (("source 1", MARKS[0]), ("page one.md 1", MARKS[1]), ("search lantern Ondar", MARKS[0])):
        await ben.say(ben.dm, command, thread=answer)
        await service.told(ben, ben.dm, words)
    await ben.say(ben.dm, "export", thread=answer)
    await service.until(lambda: any(one.files for one in service.server.answers(ben.dm)), "a file")
    await ben.open_home()
    await service.until(lambda: ben.home, "a home tab")


async def test_nothing_of_what_was_removed_is_left_with_slack(slack_service: SlackService, tmp_path: Path) -> None:
    service, server = slack_service, slack_service.server
    other = server.create_team("port")
    service.documents_of(other, PLACE)
    general, ada = service.settle_in()
    ben = server.person("ben", general)
    ben.become_admin()
    await service.start()
    await prepare(service, tmp_path)

    asked = await service.ask(ada, general, ASKED)
    await post_more_on_slack(service, asked, ada, ben)
    own = await service.ask(ada, general, PERSONAL)
    await ben.reply(own, NEXT_QUESTION)
    await service.answered(general, 2, thread=own)

    before = {line.split()[0] for line in find_on_slack(server, MARKS)}
    assert before == {"message", "file", "home"}, find_on_slack(server, MARKS)
    await remove_document(service)
    await service.until(lambda: not find_on_slack(server, MARKS), "a note in place of the answer")
    assert "This answer was deleted" in slack_text(server.answers(general, thread=asked)[0])

    removed = await service.run("person", "remove", ada.id, "--platform", "slack", "--yes")
    assert (removed["questions"], removed["posts"]) == (2, 3)
    await service.until(lambda: not find_on_slack(server, (PERSON, ada.id)), "the posts gone")

    await service.run("workspaces", "remove", TEAM, "--yes")
    await service.until(
        lambda: not [one for place in (general, ben.dm) for one in server.answers(place) if not one.files],
        "the posts of the workspace gone",
    )
    await service.stop()
    assert find_on_slack(server, (*MARKS, "noon on Thursdays", "Marigold")) == []
    assert find_left(service, (*MARKS, "noon on Thursdays", "Marigold", PERSON, ada.id)) == []
