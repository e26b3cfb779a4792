"""The real service with a writing model on a Slack on loopback: what people see while an answer is written."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from tests.anthropic_server import AnthropicServer, Call, Cite, Fault, Reply, Say
from tests.e2e.platform_service import ANSWER, QUESTION
from tests.e2e.slack_service import ACK_SECONDS, TRANSPORTS, SlackService, buttons
from tests.slack_server import Channel, Message, SlackServer, pings_of, text_of
from tests.slack_server.state import STREAM_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]
QUOTE = "The red kite of Ondar flies at noon on Thursdays."
SEARCH = Reply.of("Let me look.", Call("search", {"query": "red kite of Ondar"}))
WORDS = "I have read all that the notes of the harbour say about kites and about what people saw of them there. "
NEVER = Fault(-1)


def answer(*texts: str, gap_seconds: float = 0.0) -> Reply:
    """A reply whose first text has a footnote."""
    first, *more = texts
    said = (Say(first, cites=(Cite(QUOTE),)), *map(Say, more))
    return Reply(parts=said, gap_seconds=gap_seconds)


SLOW = Reply.of(Say(WORDS * 3), Say(f"It {ANSWER}.", cites=(Cite(QUOTE),)), gap_seconds=0.05)  # some three seconds


@dataclass
class Writing:
    """A service that runs, and its model."""

    service: SlackService
    model: AnthropicServer

    @property
    def server(self) -> SlackServer:
        return self.service.server

    async def streaming(self, place: Channel, asked: Message) -> Message:
        """The answer to a message, when some of it has been streamed."""

        def begun() -> list[Message]:
            own = self.server.answers(place, thread=asked)
            return [one for one in own if one.stream is not None and "I have read" in one.text]

        await self.service.until(begun, "a stream with words")
        return begun()[0]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=TRANSPORTS)
async def writing(
    request: pytest.FixtureRequest, notes: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Writing]:
    async with (
        AnthropicServer() as model,
        SlackServer(ack_seconds=ACK_SECONDS, trigger_seconds=ACK_SECONDS) as server,
    ):
        service = SlackService(server, notes, tmp_path_factory.mktemp("slack"), request.param)
        service.answer_by(model)
        await service.start()
        yield Writing(service, model)
        await service.stop()
        assert "Traceback" not in service.process.printed


async def test_an_answer_is_streamed_with_its_steps_and_proved_in_the_same_message(writing: Writing) -> None:
    service, server = writing.service, writing.server
    general, ada = service.settle_in()
    writing.model.script(SEARCH, SLOW)

    asked = await ada.mention(general, QUESTION)
    message = await writing.streaming(general, asked)
    assert message.stream is not None
    assert set(buttons(message)) == {"Stop", "Show steps"}
    assert "[1]" not in message.text  # numbers come with the proof
    [said] = await service.answered(general, thread=asked)
    assert server.answers(general, thread=asked) == [message]
    assert f"It {ANSWER}.[[1]](https://notes.example/" in said
    assert message.stream.ended
    steps = {task["title"]: task["status"] for task in message.stream.tasks}
    assert steps["Searching for “red kite of Ondar”"] == "complete"
    assert not server.status(general, asked)
    assert [len(server.posts(general)), message.edits] == [1, 1]


@pytest.mark.parametrize("how", ["expired", "gone wrong", "refused"])
async def test_a_stream_that_ends_early_is_recovered_in_the_same_message(writing: Writing, how: str) -> None:
    service, server = writing.service, writing.server
    general, ada = service.settle_in()
    writing.model.script(SEARCH, SLOW)

    asked = await ada.mention(general, QUESTION)
    message = await writing.streaming(general, asked)
    if how == "expired":
        server.advance(STREAM_SECONDS)
    elif how == "gone wrong":
        server.fail_next("chat.appendStream", status=500)
    else:
        server.fail_next("chat.appendStream", "message_not_in_streaming_state")
        server.fail_next("chat.stopStream", "message_not_in_streaming_state")
    [said] = await service.answered(general, thread=asked)
    assert server.answers(general, thread=asked) == [message]
    assert f"It {ANSWER}." in said
    assert len(server.posts(general)) == 1


async def test_where_no_stream_may_be_begun_the_answer_comes_whole(writing: Writing) -> None:
    service, server = writing.service, writing.server
    general, ada = service.settle_in()
    writing.model.script(SEARCH, SLOW)

    server.fail_next("chat.startStream", status=429, times=1, retry_after_seconds=60)
    asked = await ada.mention(general, QUESTION)
    [said] = await service.answered(general, thread=asked)
    assert f"It {ANSWER}." in said
    assert len(server.posts(general)) == 1


@pytest.mark.parametrize("how", ["button", "command"])
async def test_the_asker_alone_stops_an_answer(writing: Writing, how: str) -> None:
    service, server = writing.service, writing.server
    general, ada = service.settle_in()
    ben = server.person("ben", general)
    writing.model.script(SEARCH, NEVER)

    asked = await ada.mention(general, QUESTION)
    await service.until(
        lambda: [one for one in server.answers(general, thread=asked) if "Stop" in buttons(one)], "a Stop button"
    )
    [message] = server.answers(general, thread=asked)
    if how == "button":
        await ben.click(message, "Stop")
        await service.told(ben, general, "Only ada or a moderator can stop this answer")
        await ada.click(message, "Stop")
    else:
        await ben.mention(general, "stop", thread=asked)
        await service.told(ben, general, "You don't have a question in progress here")
        await ada.mention(general, "stop", thread=asked)
    await service.until(lambda: "Stopped" in text_of(message), "the answer's end")
    assert message.stream is not None
    assert message.stream.ended
    assert "Stop" not in buttons(message)


async def test_a_long_answer_is_split_within_the_limits_and_nothing_is_lost(writing: Writing) -> None:
    service, server = writing.service, writing.server
    general, ada = service.settle_in()
    paragraphs = [f"Sighting {number}: {WORDS}\n\n" for number in range(260)]
    writing.model.script(SEARCH, answer(f"It {ANSWER}.\n\n", *paragraphs))

    asked = await ada.mention(general, QUESTION)
    await service.until(lambda: service.finals(general, asked), "the last part")
    parts = server.answers(general, thread=asked)
    said = "\n".join(text_of(one) for one in parts)
    assert len(parts) > 2
    assert [f"Part {number} of {len(parts)}" in text_of(one) for number, one in enumerate(parts, 1)] == [True] * len(
        parts
    )
    assert [said.count(f"Sighting {number}:") for number in range(260)] == [1] * 260
    assert [len(server.posts(general)), len(service.finals(general, asked))] == [len(parts), 1]


async def test_markdown_is_what_slack_renders_and_is_read_aloud_without_it(writing: Writing) -> None:
    service, server = writing.service, writing.server
    general, ada = service.settle_in()
    table = "\n\n## Times\n\n| Day | Kite |\n|---|---|\n| Monday | **red** |\n\n```\nfly(kite)\n```\n"
    writing.model.script(SEARCH, answer(f"It {ANSWER}.", table))

    asked = await ada.mention(general, QUESTION)
    await service.answered(general, thread=asked)
    [message] = server.answers(general, thread=asked)
    [text] = [block["text"] for block in message.blocks if block["type"] == "markdown"]
    assert "## Times" in text
    assert "| Monday | **red** |" in text
    assert "```\nfly(kite)\n```" in text
    assert "fly(kite)" in message.text
    assert "**" not in message.text
    assert not [call for call in server.calls("chat.postMessage") if call.params.flag("unfurl_links", True)]


async def test_what_documents_and_models_say_pings_nobody_and_leads_nowhere(writing: Writing) -> None:
    service, server = writing.service, writing.server
    general, ada = service.settle_in()
    evil = f"<!channel> <!here> {ada.mention_text} <!subteam^S1> @everyone [a prize](https://evil.example/win) "
    writing.model.script(SEARCH, answer(f"It {ANSWER}. {evil}", evil, gap_seconds=0.02))

    asked = await ada.mention(general, f"{QUESTION} <!channel>")
    await service.answered(general, thread=asked)
    [message] = server.answers(general, thread=asked)
    assert message.stream is None or "](https://evil" not in repr(message.stream.chunks)
    assert pings_of(message) == []
    assert "](https://evil" not in repr(message.blocks)
    assert "<https://evil" not in repr(message.blocks)


async def test_a_choice_is_made_in_a_menu(writing: Writing) -> None:
    service, server = writing.service, writing.server
    general, ada = service.settle_in()
    more = service.folder / "more"
    more.mkdir()
    for name in ("Astrid", "Bela"):
        (more / f"{name}.md").write_text(f"# Journal of {name}\n\nAt noon I saw the kite.\n", encoding="utf-8")
    await service.run("ingest", str(more))
    writing.model.script(Reply.of(Call("query_journal", {"query": "what was seen at noon?"})))

    asked = await ada.mention(general, "What was seen at noon?")
    await service.until(
        lambda: any("Please choose" in text_of(one) for one in server.answers(general, thread=asked)), "a choice"
    )
    [message] = server.answers(general, thread=asked)
    writing.model.script(Reply.of("Understood: the second."))
    await ada.choose(message, "Journal of Bela")
    await service.until(lambda: len(server.answers(general, thread=asked)) == 3, "the answer to the choice")
    assert " asks: Journal of Bela" in server.transcript(general, thread=asked)
