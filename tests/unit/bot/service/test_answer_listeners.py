"""Listeners for the answers of a platform."""

import asyncio
from dataclasses import replace

from bot.service.answer_listeners import AnswerListeners
from core.domain.answer import Answer, AnswerStatus
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.service import ACCEPTED, InboxEntry, InboxStatus
from core.ports import ProgressSink
from tests.builders import NOON, build_job
from tests.fakes import RecordingProgress

ADDRESS = ThreadAddress(platform="fake", workspace="local", channel="c", thread="t")
INCOMING = IncomingMessage(address=ADDRESS, author="ada", text="Where?", event_key="k")
ENTRY = InboxEntry(
    seq=1,
    incoming=INCOMING,
    message_key="k",
    status=InboxStatus.RUNNING,
    decision=ACCEPTED,
    created_at=NOON,
    attempts=1,
)


class FakePlatform:
    """Keeps what is posted, by key."""

    name = "fake"

    def __init__(self) -> None:
        self.progress = RecordingProgress()
        self.posts: dict[str, str] = {}

    async def open(self, entry: InboxEntry) -> ProgressSink:
        return self.progress

    async def post(self, address: ThreadAddress, message_key: str, answer: Answer, *, look_first: bool) -> str:
        self.posts[message_key] = answer.text
        return f"ref {look_first}"

    async def fail(self, address: ThreadAddress, message_key: str, sentence: str) -> str:
        self.posts[message_key] = sentence
        return "failed"

    async def remove(self, entry: InboxEntry) -> None:
        raise AssertionError(entry)

    async def redact(self, entry: InboxEntry, sentence: str) -> None:
        raise AssertionError(entry)


async def test_progress_goes_to_the_platform_and_to_its_listeners() -> None:
    listeners, inner, mine = AnswerListeners(), FakePlatform(), RecordingProgress()
    platform = listeners.wrap(inner)
    with listeners.listen("k", mine), listeners.listen("other", RecordingProgress()) as other:
        sink = await platform.open(ENTRY)
        sink.text("Un")
        sink.reset()
        sink.text("Under")
        sink.step(build_job("j1"))
        again = await platform.open(replace(ENTRY, attempts=2))

        assert (mine.shown, inner.progress.shown) == ("", "Under")
        again.text("The")
        assert mine.shown == "The"
        assert [job.id for job in mine.steps] == ["j1"]
        assert not other.done()
    assert await platform.open(ENTRY) is inner.progress


async def test_a_post_reaches_the_platform_and_then_each_listener() -> None:
    listeners, inner = AnswerListeners(), FakePlatform()
    platform = listeners.wrap(inner)
    answer = Answer(status=AnswerStatus.ANSWERED, text="Here.")
    with listeners.listen("k", RecordingProgress()) as one, listeners.listen("k", RecordingProgress()) as two:
        assert await platform.post(ADDRESS, "k", answer, look_first=True) == "ref True"
        await platform.post(ADDRESS, "k", replace(answer, text="Later."), look_first=True)

        assert await asyncio.gather(one, two) == [answer, answer]
    assert await platform.post(ADDRESS, "k", answer, look_first=False) == "ref False"
    assert (platform.name, inner.posts) == ("fake", {"k": "Here."})


async def test_an_error_post_reaches_listeners_as_an_answer_of_status_error() -> None:
    listeners, inner = AnswerListeners(), FakePlatform()
    with listeners.listen("k", RecordingProgress()) as posted:
        assert await listeners.wrap(inner).fail(ADDRESS, "k", "It broke.") == "failed"

        assert (await posted).status is AnswerStatus.ERROR
    assert inner.posts == {"k": "It broke."}
