"""Several processes share one app on Slack: one database, one index, each question answered once."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.e2e.platform_service import ANSWER, NEXT_ANSWER, NEXT_QUESTION, QUESTION
from tests.e2e.slack_service import SlackService
from tests.postgres import postgres_schema
from tests.qdrant_server import qdrant_server
from tests.slack_server import text_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.parametrize("slack_service", ["socket"], indirect=True),
]


@pytest.fixture
async def shared(slack_service: SlackService) -> AsyncIterator[SlackService]:
    """Not yet started; its database and index are for any number of processes."""
    with postgres_schema() as database, qdrant_server() as index:
        slack_service.settings |= {
            "FOOTNOTE_DATABASE_URL": database,
            "FOOTNOTE_INDEX__URL": index,
            "FOOTNOTE_SERVICE__LEASE_SECONDS": "12",  # longer than a busy machine lets a worker wait
            "FOOTNOTE_WEB_KEY": "one key for all processes",
        }
        await slack_service.run("ingest", str(slack_service.notes))
        yield slack_service
        await slack_service.process.stop()


async def test_a_worker_alone_answers_on_slack_what_the_service_hears(shared: SlackService, tmp_path: Path) -> None:
    service, server = shared, shared.server
    general, ada = service.settle_in()
    service.settings["FOOTNOTE_SERVICE__PARALLEL"] = "0"
    await service.start()
    asked = await ada.mention(general, QUESTION)
    worker = service.command(
        "--data-dir", str(tmp_path / "worker"), "worker", log="worker.log", FOOTNOTE_SERVICE__PARALLEL="8"
    )
    worker.start()
    [answer] = await service.answered(general, thread=asked)
    assert ANSWER in await service.follow(answer)  # signed by one process, read by the other

    hang = server.hang_next("chat.appendStream")
    await ada.reply(asked, NEXT_QUESTION)
    await service.until(hang.reached.is_set, "an answer that is written")
    await worker.kill()
    hang.release()
    worker.start()
    assert NEXT_ANSWER in (await service.answered(general, 2, thread=asked))[1]

    talk = await ada.say(general, "The kite is late again.")
    await ada.mention(general, QUESTION, thread=talk)  # among people, whose talk is read before
    await service.answered(general, thread=talk)
    direct = await ada.say(ada.dm, QUESTION)
    await service.answered(ada.dm, thread=direct)
    await ada.slash(general, f"ask {QUESTION} --private")
    await service.until(lambda: any(one.only_to and ANSWER in text_of(one) for one in ada.sees(general)), "an answer")
    await worker.stop()
    assert len([one for one in server.answers(general) if one.only_to is None]) == 3
    assert server.socket.opened == 1  # the worker does not listen
    assert "Traceback" not in service.process.printed + worker.printed


async def test_two_services_with_a_connection_each_answer_once(shared: SlackService, tmp_path: Path) -> None:
    service, server = shared, shared.server
    general, ada = service.settle_in()
    await service.start()
    second = service.command("--data-dir", str(tmp_path / "second"), "serve", "--json", log="second.log")
    await service.start_process(second)
    assert len(server.socket.connected) == 2

    threads = [await ada.mention(general, question) for question in (QUESTION, NEXT_QUESTION) * 3]
    for thread in threads:
        await service.answered(general, thread=thread)
    await ada.reply(threads[0], NEXT_QUESTION)  # heard by one of them, and known to both
    await ada.reply(threads[1], QUESTION)
    for thread in threads[:2]:
        await service.answered(general, 2, thread=thread)
    await ada.edit(threads[2], f"<@{service.team.bot.id}> {NEXT_QUESTION}")
    [edited] = server.answers(general, thread=threads[2])
    await service.until(lambda: NEXT_ANSWER in text_of(edited), "the edited question's answer")

    hang = server.hang_next("chat.appendStream", 2)
    for thread in threads[3:5]:
        await ada.reply(thread, QUESTION)
    await service.until(hang.reached.is_set, "answers that are written")
    await second.kill()  # the other one takes over what it had
    hang.release()
    for thread in threads[3:5]:
        await service.answered(general, 2, thread=thread)
    last = await service.ask(ada, general)
    assert [len(server.answers(general, thread=thread)) for thread in [*threads, last]] == [2, 2, 1, 2, 2, 1, 1]
    assert len(server.posts(general)) == 11
    assert "Traceback" not in service.process.printed + second.printed
