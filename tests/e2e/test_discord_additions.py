"""The real service on Discord: documents are added, proposed, refused and taken back, whatever ends the service."""

import discord
import pytest

from tests.discord_server import DiscordServer, text_of
from tests.discord_server.world import AnyMessage
from tests.e2e.discord_service import DiscordService, buttons, history
from tests.e2e.platform_service import TEAM

pytestmark = pytest.mark.slow
TOWERS = b"# Towers\n\nThe tower of Brix was built by the mason Halva.\n"
QUESTION = "Who built the tower of Brix?"
ANSWER = "built by the mason Halva"
CALLBACK, EDIT = ("POST", "/interactions/*"), ("PATCH", "/channels/*")
# Where the service is killed, by the call that hangs: method, path, carried out before, what it says.
BEFORE_THE_POST = (*CALLBACK, False, "")
POST_MADE = (*CALLBACK, True, "")  # but nobody was told
BEFORE_THE_END = (*EDIT, False, "Added")
END_SHOWN = (*EDIT, True, "Added")  # but the database does not know
MOMENTS = (BEFORE_THE_POST, POST_MADE, BEFORE_THE_END, END_SHOWN)


async def post_with(service: DiscordService, place: discord.abc.Snowflake, words: str) -> AnyMessage:
    """The one post with these words, when there is one, as something to click on."""

    def found() -> list[int]:
        posts = service.server.answers(place)  # type: ignore[arg-type]
        return [one.id for one in posts if not one.is_ephemeral and words in text_of(one)]

    await service.until(found, f"{words!r}")
    [post] = found()
    return next(one for one in history(place) if one.id == post)  # type: ignore[arg-type]


async def kill_in_download(service: DiscordService, server: DiscordServer, downloads: int) -> None:
    await service.until(lambda: server.downloads == downloads, "a download")
    await service.process.kill()
    server.files_open.set()
    await service.start()


async def test_an_addition_that_a_kill_breaks_off_is_finished_in_its_one_post(discord_service: DiscordService) -> None:
    service, server = discord_service, discord_service.server
    guild = service.join("House", TEAM)
    general, eve = guild.create_text_channel("general"), server.person("eve", guild, manage_guild=True)
    await service.start()

    for number, (method, path, after, saying) in enumerate(MOMENTS):
        hang = server.hang_next(method, path, after=after, saying=saying)
        server.world.ack_seconds = 1.0  # one that hangs is not waited for
        await eve.slash(general, "library add", file=(f"towers-{number}.md", TOWERS))
        await service.until(hang.reached.is_set, f"{method} {path} {saying}")
        await service.process.kill()
        hang.release()
        await service.start()
        await post_with(service, general, f"Added towers-{number}.md: 1 page.")
        assert len(server.answers(general)) == number + 1

    server.world.ack_seconds = 30.0
    thread = await service.ask(eve, general, QUESTION)
    assert ANSWER in (await service.answered(thread))[0]
    assert "Traceback" not in service.process.printed


async def test_documents_are_proposed_confirmed_refused_and_taken_back(discord_service: DiscordService) -> None:
    service, server = discord_service, discord_service.server
    service.settings["FOOTNOTE_INGEST__MAX_FILE_MB"] = "1"
    guild = service.join("House", TEAM)
    general, ben = guild.create_text_channel("general"), server.person("ben", guild)
    eve = server.person("eve", guild, manage_guild=True)
    await service.start()

    server.files_open.clear()
    await ben.slash(general, "library add", file=("towers.md", TOWERS))
    await kill_in_download(service, server, 1)
    proposal = await post_with(service, general, "ben proposes towers.md. An admin can add it.")
    await service.restart()
    refused = await ben.click(proposal, label="Add")
    assert refused.acknowledged
    assert "Added" not in text_of(server.answers(general)[0])
    await eve.click(proposal, label="Add")
    added = await post_with(service, general, "Added towers.md: 1 page. ben proposed it, eve added it.")

    for name, data, reason in (
        ("notes.pages", b"PK\x03\x04", "Pages files can't be read"),
        ("long.txt", b"a " * 600_000, "arger than 1 MB"),
    ):
        await eve.slash(general, "library add", file=(name, data))
        post = await post_with(service, general, f"I didn't add {name}.")
        assert reason in text_of(server.world.stored(post))
    await eve.slash(general, "library add", url="http://127.0.0.1:9/secret")
    await post_with(service, general, "is an address of your own network")

    await service.restart()
    await eve.click(added, label="Undo")
    await post_with(service, general, "eve took towers.md back.")
    assert buttons(server.world.stored(added)) == {}
    listed = await service.run("documents")
    assert [item["document"] for item in listed["documents"]] == ["kites.md"]
    assert server.gaps == []


async def test_a_server_that_is_joined_is_greeted_once(discord_service: DiscordService) -> None:
    service, server = discord_service, discord_service.server
    service.join("House", TEAM).create_text_channel("general")
    await service.start()
    guild = server.world.create_guild("Club")
    lounge = guild.create_text_channel("lounge")
    await post_with(service, lounge, "I have no documents to read here yet.")
    await service.restart()
    await server.person("ben", guild).mention(lounge, "hello")
    await service.until(lambda: len(server.answers(lounge)) + len(lounge.threads) > 1, "an answer")
    assert sum("Add documents with /library add." in text_of(one) for one in server.answers(lounge)) == 1
