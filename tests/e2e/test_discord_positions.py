"""The real service is killed while an answer goes to its asker privately: both places have one post in the end."""

import pytest

from tests.e2e.discord_service import DiscordService
from tests.e2e.platform_service import NEXT_ANSWER, NEXT_QUESTION, TEAM

pytestmark = pytest.mark.slow
EDITS = "/channels/*/messages/*"
SENTENCE = "The answer is beyond this channel's reading position"

# Where the service is killed: in the edit that says this, carried out before or not.
MOMENTS = ((SENTENCE, False), (SENTENCE, True), (NEXT_ANSWER, True))


async def test_a_private_answer_that_is_broken_off_is_still_one_and_never_in_the_channel(
    discord_service: DiscordService,
) -> None:
    service, server = discord_service, discord_service.server
    guild = service.join("House", TEAM)
    general, ada = guild.create_text_channel("general"), server.person("ada", guild)
    eve = server.person("eve", guild, manage_guild=True)
    await service.start()
    await eve.slash(general, "position", book="kites.md", place="kites", channel=True)
    await ada.slash(general, "position", book="kites.md", place="where does the ferry leave?")

    for number, (saying, after) in enumerate(MOMENTS, start=1):
        hang = server.hang_next("PATCH", EDITS, after=after, saying=saying)
        asked = await ada.mention(general, NEXT_QUESTION)
        await service.until(hang.reached.is_set, saying)
        await service.process.kill()
        hang.release()
        await service.start()
        thread = await service.thread_on(general, asked.id)
        [said] = await service.answered(thread)
        private = await service.answered(ada.dm, number)

        assert SENTENCE in said
        assert len(private) == number
        assert all(NEXT_ANSWER in answer for answer in private)
        assert NEXT_ANSWER not in repr([*server.posts(thread), *server.edits(thread)])
        assert NEXT_ANSWER in await service.follow(private[-1])
    assert "Traceback" not in service.process.printed
