"""A worker alone posts to Discord what the process that serves has heard: one database, one index, two processes."""

from pathlib import Path

import pytest

from tests.e2e.discord_service import DiscordService
from tests.e2e.platform_service import ANSWER, NEXT_ANSWER, NEXT_QUESTION, QUESTION, TEAM
from tests.postgres import postgres_schema
from tests.qdrant_server import qdrant_server

pytestmark = pytest.mark.slow


async def test_a_worker_alone_answers_on_discord_what_the_service_hears(
    discord_service: DiscordService, tmp_path: Path
) -> None:
    service, server = discord_service, discord_service.server
    guild = service.join("House", TEAM)
    general, ada = guild.create_text_channel("general"), server.person("ada", guild)
    with postgres_schema() as database, qdrant_server() as index:
        service.settings.update(
            FOOTNOTE_DATABASE_URL=database,
            FOOTNOTE_INDEX__URL=index,
            FOOTNOTE_SERVICE__LEASE_SECONDS="12",  # longer than a busy machine lets a worker wait
            FOOTNOTE_SERVICE__PARALLEL="0",
            FOOTNOTE_WEB_KEY="one key for all processes",
        )
        await service.run("ingest", str(service.notes))
        await service.start()
        asked = await ada.mention(general, QUESTION)
        worker = service.command(
            "--data-dir", str(tmp_path / "worker"), "worker", log="worker.log", FOOTNOTE_SERVICE__PARALLEL="8"
        )
        worker.start()
        thread = await service.thread_on(general, asked.id)
        [answer] = await service.answered(thread)
        assert ANSWER in answer
        assert "flies at noon" in await service.follow(answer)  # signed by one process, read by the other

        hang = server.hang_next("PATCH", "/channels/*/messages/*")
        await ada.say(thread, NEXT_QUESTION)
        await hang.reached.wait()
        await worker.kill()
        hang.release()
        worker.start()
        assert NEXT_ANSWER in (await service.answered(thread, 2))[1]

        said = await ada.say(general, "The kite is late again.")
        talk = await ada.open_thread(said, "The kite")
        await ada.mention(talk, QUESTION)  # among people, whose talk is read before
        await service.answered(talk)
        await ada.say(ada.dm, QUESTION)
        await service.answered(ada.dm)
        await ada.slash(general, "ask", question=QUESTION, private=True)
        await service.answered(general)
        await worker.stop()
        await service.stop()
    assert len(server.answers(thread)) == 2
    assert server.gateway.identified == 1  # the worker does not listen
    assert "Traceback" not in service.process.printed + worker.printed


async def test_a_worker_that_could_not_sign_footnotes_says_so(discord_service: DiscordService) -> None:
    worker = discord_service.command(
        "worker",
        log="worker.log",
        FOOTNOTE_DATABASE_URL="postgresql://nobody@127.0.0.1:9/none",
        FOOTNOTE_INDEX__URL="http://127.0.0.1:9",
    )
    worker.start()
    await discord_service.until(lambda: not worker.running, "the end of the worker")
    assert worker.exit_code == 1
    assert "FOOTNOTE_WEB_KEY" in worker.printed
