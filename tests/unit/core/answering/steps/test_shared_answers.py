"""A private answer is shown to a channel by its reader alone, and only what everybody there may read."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import pytest

from core.access.scopes import ATTACHMENTS, attached_name
from core.answering.steps.private_answers import CANT_SHARE, SHARED, Sharing
from core.domain.answer import Answer, AnswerStatus, Citation, Reference, ReferenceType
from core.domain.incoming import ChannelAddress, IncomingMessage, ThreadAddress
from core.domain.jobs import JobStatus
from core.domain.passages import Span
from core.domain.service import ChannelSettings, PersonAddress
from core.errors import StorageError
from core.work.attempts import Attempt
from core.work.conversations import Conversations
from tests.builders import build_citation, build_source
from tests.scripted import says
from tests.unit.core.answering.test_service import SEARCH, Desk
from tests.unit.core.library_builder import Shelf

HERE = ThreadAddress(platform="chat", workspace="local", channel="c", thread="t")
ADAS = replace(HERE, thread="private:ada")
PAGES = 3
TOWER = "local/handbook/tower.md"


def secret(page: int) -> str:
    return f"Secret number {page} is told on this page."


def share(message_id: str, by: str = "ada", address: ThreadAddress = HERE) -> IncomingMessage:
    key = f"shared {message_id} by {by}"
    return IncomingMessage(
        address=address, author=by, text="What is told?", event_key=key, metadata={SHARED: message_id}
    )


class Tower:
    """A book of three pages, and Ada's private answers about it."""

    def __init__(self) -> None:
        self.shelf = Shelf()
        self.desk = Desk(self.shelf, pipeline={"readers": {"chat": None}})
        conversations = Conversations(self.desk.store, self.desk.clock)
        self.sharing = Sharing(conversations=conversations, corpus=self.shelf.corpus, access=self.shelf.access)
        self.answers = self.desk.service

    async def build(self) -> "Tower":
        texts = [f"# Page {page}\n\n{secret(page)}" for page in range(1, PAGES + 1)]
        document = await self.shelf.add("tower.md", *texts, title="Tower")
        assert document.id == TOWER
        return self

    async def answered(self, pages: Sequence[int], address: ThreadAddress = ADAS, **fields: object) -> str:
        """The id of a stored answer that cites these pages."""
        cited = [await self._cited(number, page) for number, page in enumerate(pages, start=1)]
        values: dict[str, Any] = {"status": AnswerStatus.ANSWERED, "grounded": True, **fields}
        text = " ".join(f"{item.quote}[{item.number}]" for item in cited)
        question = IncomingMessage(address=address, author="ada", text="What is told?", event_key=f"asked {pages}")
        answer = Answer(text=text, citations=tuple(cited), **values)
        return (await self.desk.service.settle(question, answer)).message_id

    async def shared(self, message_id: str, by: str = "ada", address: ThreadAddress = HERE) -> Answer:
        return await self.answers.answer(share(message_id, by, address), self.desk.progress, Attempt())

    async def read_to(self, channel: int | None, ada: int | None) -> None:
        await self.shelf.settings.save_position(ChannelAddress.of(HERE), TOWER, channel)
        await self.shelf.settings.save_position(PersonAddress(workspace="local", person="ada"), TOWER, ada)

    async def _cited(self, number: int, page: int) -> Citation:
        found = (await self.shelf.library.page_by_number("Tower", page, self.shelf.scope())).page
        start = found.text.index(secret(page))
        span = Span(start, start + len(secret(page)))
        return build_citation(
            TOWER, number=number, page_id=found.id, page_number=page, quote=secret(page), span=span, url=None
        )


@pytest.fixture
async def tower() -> Tower:
    return await Tower().build()


async def test_the_stored_answer_is_shown_whole_with_its_footnotes_and_no_model_is_asked(tower: Tower) -> None:
    answer = await tower.shared(await tower.answered([1, 3]))

    assert (answer.status, answer.text) == (AnswerStatus.ANSWERED, f"{secret(1)}[1] {secret(3)}[2]")
    assert [(item.number, item.page_number) for item in answer.citations] == [(1, 1), (2, 3)]
    assert answer.grounded
    stored = await tower.desk.store.list_messages(answer.conversation_id)
    assert [item.content for item in stored] == ["What is told?", answer.text]
    assert tower.desk.provider.requests == []
    assert (answer.jobs[0].status, answer.jobs[0].error) == (JobStatus.DONE, None)


async def test_a_message_that_shares_nothing_is_answered_as_ever(tower: Tower) -> None:
    desk = Desk(tower.shelf, SEARCH, says("Secret number 1 is told on this page [1]."))
    answers = desk.service
    asked = replace(share(""), metadata={"other": "thing"}, text="Which secret is told on page 1?")
    answer = await answers.answer(asked, desk.progress, Attempt())

    assert len(desk.provider.requests) == 2
    assert [item.page_number for item in answer.citations] == [1]


async def test_what_was_listed_for_its_reader_stays_behind(tower: Tower) -> None:
    reference = Reference(type=ReferenceType.SEARCH, label="found", document="tower.md", snippet=secret(2))
    message_id = await tower.answered(
        [1], references=(reference,), suggestions=("What does page 2 say?",), choices=("page 2",)
    )
    answer = await tower.shared(message_id)

    assert (answer.status, answer.references, answer.suggestions, answer.choices) == (
        AnswerStatus.ANSWERED, (), (), ()
    )  # fmt: skip


async def test_a_repeat_after_a_crash_gets_the_same_stored_answer(tower: Tower) -> None:
    message_id = await tower.answered([1])
    first, second = await tower.shared(message_id), await tower.shared(message_id)

    assert first.message_id == second.message_id
    assert len(await tower.desk.store.list_messages(first.conversation_id)) == 2


async def test_only_its_reader_shares_it(tower: Tower) -> None:
    message_id = await tower.answered([1])
    assert "only who it was for" in refusal_of(await tower.shared(message_id, by="ben"))


async def test_an_answer_that_was_for_everybody_elsewhere_is_not_shared(tower: Tower) -> None:
    message_id = await tower.answered([1], address=replace(HERE, channel="elsewhere"))
    assert "only who it was for" in refusal_of(await tower.shared(message_id))


@pytest.mark.parametrize(
    "status", [AnswerStatus.NOT_FOUND, AnswerStatus.CLARIFY, AnswerStatus.STOPPED, AnswerStatus.ERROR]
)
async def test_what_is_no_answer_is_not_shared(tower: Tower, status: AnswerStatus) -> None:
    assert "only answers with footnotes" in refusal_of(await tower.shared(await tower.answered([1], status=status)))


async def test_an_answer_without_footnotes_is_not_shared(tower: Tower) -> None:
    assert "only answers with footnotes" in refusal_of(await tower.shared(await tower.answered([])))


async def test_a_deleted_answer_says_that_it_is_gone(tower: Tower) -> None:
    message_id = await tower.answered([1])
    [conversation] = await tower.desk.store.list_conversations("local")
    await tower.desk.store.delete(conversation.id)
    assert "may have been deleted" in refusal_of(await tower.shared(message_id))


async def test_an_answer_of_another_workspace_is_not_found(tower: Tower) -> None:
    message_id = await tower.answered([1])
    elsewhere = replace(HERE, workspace="elsewhere")
    assert "may have been deleted" in refusal_of(await tower.shared(message_id, address=elsewhere))


async def test_a_page_that_changed_since_is_not_shown(tower: Tower) -> None:
    message_id = await tower.answered([2])
    await tower.shelf.add("tower.md", "# Page 1\n\nNew.", f"# Page 2\n\nMore. {secret(2)}", title="Tower")
    assert "have changed" in refusal_of(await tower.shared(message_id))


async def test_a_source_that_the_channel_may_not_read_is_not_shown(tower: Tower) -> None:
    message_id = await tower.answered([1])
    await tower.shelf.settings.save_channel(ChannelAddress.of(HERE), ChannelSettings(sources=frozenset({"minutes"})))
    assert "not everyone in this channel" in refusal_of(await tower.shared(message_id))


async def test_what_can_not_be_read_at_this_moment_is_tried_again(
    tower: Tower, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*args: object, **fields: object) -> None:
        raise StorageError("The database is locked.")

    message_id = await tower.answered([1])
    monkeypatch.setattr(tower.shelf.corpus, "get_page", broken)
    with pytest.raises(StorageError):
        await tower.shared(message_id)


async def test_settling_goes_through(tower: Tower) -> None:
    stopped = Answer(status=AnswerStatus.STOPPED, text="Stopped.")
    assert (await tower.answers.settle(share("m"), stopped)).text == "Stopped."


@pytest.mark.parametrize("grounded", [True, False], ids=["proved throughout", "with words of its own"])
async def test_nothing_beyond_what_the_channel_has_read_is_ever_shared(grounded: bool) -> None:
    """All there is: whatever an answer cites, however far channel and reader have read (None: to the end)."""
    numbers = range(1, PAGES + 1)
    cited = [pages for size in numbers for pages in combinations(numbers, size)]
    for pages, channel, ada in product(cited, (None, *numbers), (None, *numbers)):
        tower = await Tower().build()
        message_id = await tower.answered(pages, grounded=grounded)
        await tower.read_to(channel, ada)
        answer = await tower.shared(message_id)
        shown = repr((answer, await tower.desk.store.list_messages(answer.conversation_id)))

        last, own = channel or PAGES, ada or channel or PAGES
        assert [page for page in numbers if page > last and secret(page) in shown] == []
        if max(pages) <= last and (grounded or own <= last):
            assert tuple(item.page_number for item in answer.citations) == pages, (pages, channel, ada)
        else:
            assert CANT_SHARE in refusal_of(answer)


async def test_words_without_a_footnote_may_come_from_a_file_that_the_reader_alone_gave(tower: Tower) -> None:
    message_id = await tower.answered([1], grounded=False)
    file = build_source(attached_name(ADAS), kind=ATTACHMENTS)
    await tower.shelf.corpus.save_source(file)
    assert "parts of it have no footnote" in refusal_of(await tower.shared(message_id))


def refusal_of(answer: Answer) -> str:
    """What a refusal says, which shows nothing besides."""
    assert answer.status is AnswerStatus.REFUSED
    assert answer.text.startswith(CANT_SHARE)
    assert (answer.citations, answer.references, answer.suggestions) == ((), (), ())
    assert "Secret number" not in repr(answer)
    return answer.text
