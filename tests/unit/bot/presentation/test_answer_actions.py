"""Who may do what with an answer, whatever platform it is pressed on."""

from dataclasses import replace
from typing import Any

import pytest

from bot.presentation.action_names import Verb, post_id
from bot.presentation.answer_actions import AnswerActions, PlatformMessage
from bot.presentation.platform_parts import PlatformParts
from core.domain.answer import Answer, AnswerStatus, Citation
from core.domain.features import Rating
from core.domain.incoming import ChannelAddress, IncomingMessage, ThreadAddress
from core.domain.jobs import Job, JobKind, JobStatus
from core.domain.passages import Span
from core.domain.service import ACCEPTED, ChannelSettings
from core.errors import AccessDenied, BadInput, InvalidState, NotFound
from tests.builders import NOON, build_citation
from tests.fakes import ManualClock
from tests.integration.platform_place import KEY, PlatformPlace

HERE = ThreadAddress(platform="chat", workspace="local", channel="c", thread="t")
ADAS = replace(HERE, thread="private:ada")
SHED = "The garden has a shed."
HOUSE = "local/handbook/house.md"


class StoredAnswers:
    """Answers about a house of two pages, and what is done with them."""

    def __init__(self) -> None:
        self.place = PlatformPlace()
        self.place.begin(ManualClock())
        self.place.build_worker({})
        self.parts = PlatformParts(**self.place.core_parts())
        self.actions = AnswerActions(self.parts)

    async def build(self) -> "StoredAnswers":
        await self.place.shelf.add("house.md", f"# Keys\n\n{KEY}", f"# Garden\n\n{SHED}", title="House")
        return self

    async def answered(self, address: ThreadAddress = HERE, **fields: object) -> str:
        """The id of an answer that cites both pages."""
        cited = (await self._cited(1, KEY), await self._cited(2, SHED))
        values: dict[str, Any] = {"status": AnswerStatus.ANSWERED, "text": f"{KEY}[1] {SHED}[2]", **fields}
        answer = Answer(citations=cited, **values)
        return (await self.place.answers.settle(asked(address), answer)).message_id

    async def _cited(self, page: int, quote: str) -> Citation:
        found = (await self.place.shelf.library.page_by_number("House", page, self.place.shelf.scope())).page
        start = found.text.index(quote)
        span = Span(start, start + len(quote))
        return build_citation(HOUSE, number=page, page_id=found.id, page_number=page, quote=quote, span=span)


def asked(address: ThreadAddress = HERE, author: str = "ada") -> IncomingMessage:
    key = f"chat:local:c:{address.thread}"
    return IncomingMessage(address=address, author=author, text="Where is it?", event_key=key, message_key=key)


@pytest.fixture
async def stored() -> StoredAnswers:
    return await StoredAnswers().build()


async def test_passages_are_those_that_the_thread_may_read_with_their_links(stored: StoredAnswers) -> None:
    message_id = await stored.answered()
    await stored.place.settings.save_position(ChannelAddress.of(HERE), HOUSE, 1)
    shown = await stored.actions.passages(HERE, "ben", message_id)

    assert [item.quote for item in shown.answer.citations] == [KEY]
    assert (shown.around[1].before, set(shown.around)) == ("Keys", {1})
    assert shown.links == {1: "https://footnote.example.org/s/1"}
    assert shown.answer.message_id == message_id


async def test_where_no_passage_may_be_read_any_more_that_is_said(stored: StoredAnswers) -> None:
    message_id = await stored.answered()
    await stored.place.shelf.corpus.remove_documents([HOUSE])
    with pytest.raises(NotFound, match="no longer readable here"):
        await stored.actions.passages(HERE, "ben", message_id)


async def test_steps_and_suggestions_of_documents_that_were_closed_since_are_withheld(stored: StoredAnswers) -> None:
    message_id = await stored.answered(suggestions=("Why under the stairs?",))
    root = (await stored.parts.conversations.message(message_id, "local"))[1].job_id
    step = Job(
        id="s1",
        workspace="local",
        root_id=root or "",
        parent_id=root,
        kind=JobKind.TOOL,
        name="search",
        status=JobStatus.DONE,
        created_at=NOON,
        input={"query": "under the stairs"},
        output={"passages": 2},
    )
    await stored.place.job_store.save(step)
    seen = await stored.actions.steps(HERE, "ben", message_id)
    await stored.place.settings.save_channel(ChannelAddress.of(HERE), ChannelSettings(sources=frozenset()))
    closed = await stored.actions.steps(HERE, "ben", message_id)

    assert "stairs" in repr(seen) and len(closed) == len(seen)
    assert "stairs" not in repr(closed) and not any(job.output for job in closed)
    with pytest.raises(NotFound, match="no longer readable here"):
        await stored.actions.offered_question(HERE, "ben", message_id, Verb.ASK, "0")


@pytest.mark.parametrize("action", ["passages", "rate", "steps", "offered_question"])
@pytest.mark.parametrize(
    ("address", "place", "reader", "refusal"),
    [
        (HERE, replace(HERE, thread="other"), "ada", "belongs to another thread"),
        (HERE, replace(HERE, channel="other"), "ada", "belongs to another thread"),
        (ADAS, HERE, "ben", "private to another person"),
        (ADAS, ADAS, "ben", "private to another person"),
    ],
    ids=["another thread", "another channel", "another person", "another person in its place"],
)
async def test_who_may_not_see_more_of_an_answer_is_refused(
    stored: StoredAnswers, action: str, address: ThreadAddress, place: ThreadAddress, reader: str, refusal: str
) -> None:
    more = {"rate": (Rating.UP,), "offered_question": (Verb.ASK, "0")}.get(action, ())
    message_id = await stored.answered(address, suggestions=("Why?",))
    with pytest.raises(AccessDenied, match=refusal):
        await getattr(stored.actions, action)(place, reader, message_id, *more)
    assert await stored.place.feedback_store.list_feedback((await stored.parts.conversations.find(address)).id) == []


async def test_a_private_answer_is_its_readers_wherever_it_came_to(stored: StoredAnswers) -> None:
    message_id = await stored.answered(ADAS)
    direct = replace(HERE, channel="ada's own", thread="")
    assert len((await stored.actions.passages(direct, "ada", message_id)).answer.citations) == 2


async def test_an_answer_of_another_workspace_is_not_there(stored: StoredAnswers) -> None:
    message_id = await stored.answered()
    with pytest.raises(NotFound):
        await stored.actions.passages(replace(HERE, workspace="elsewhere"), "ada", message_id)


async def test_the_same_rating_again_takes_it_back(stored: StoredAnswers) -> None:
    message_id = await stored.answered()
    given = [
        await stored.actions.rate(HERE, "ada", message_id, rating)
        for rating in (Rating.UP, Rating.DOWN, Rating.DOWN, Rating.UP)
    ]
    assert [sentence.split(":")[0] for sentence in given] == [
        "Noted as helpful",
        "Noted as not helpful",
        "Taken back.",
        "Noted as helpful",
    ]


@pytest.mark.parametrize("wanted", ["2", "-1", "x", "", "²"])
async def test_what_an_answer_did_not_offer_is_not_asked(stored: StoredAnswers, wanted: str) -> None:
    message_id = await stored.answered(suggestions=("Why?", "How?"))
    with pytest.raises(BadInput):
        await stored.actions.offered_question(HERE, "ada", message_id, Verb.ASK, wanted)


async def test_suggestions_and_choices_are_asked_as_openly_as_their_answer(stored: StoredAnswers) -> None:
    opened = await stored.answered(suggestions=("Why?", "How?"), choices=("One", "Two"))
    private = await stored.answered(ADAS, suggestions=("Why?", "How?"))
    asked = [
        await stored.actions.offered_question(HERE, "ada", opened, Verb.ASK, "1"),
        await stored.actions.offered_question(HERE, "ada", opened, Verb.CHOOSE, "0"),
        await stored.actions.offered_question(HERE, "ada", private, Verb.ASK, "0"),
    ]
    assert [(item.text, item.private) for item in asked] == [("How?", False), ("One", False), ("Why?", True)]


async def test_what_waits_is_stopped_by_its_asker_and_shown_by_its_posts_name(stored: StoredAnswers) -> None:
    question = asked()
    await stored.place.entries.accept(question, ACCEPTED)
    name = post_id(question.message_key)
    with pytest.raises(AccessDenied, match="Only ada or a moderator can stop"):
        await stored.actions.stop(HERE, "ben", name, is_moderator=False)
    assert await stored.actions.stop(HERE, "ada", name, is_moderator=False) == "Stopped."
    assert [entry.cancelled_by for entry in await stored.place.entries.find_open(question.message_key)] == ["ada"]


async def test_there_is_nothing_to_stop_where_nothing_runs(stored: StoredAnswers) -> None:
    with pytest.raises((NotFound, InvalidState), match="nothing to stop"):
        await stored.actions.stop(HERE, "ada", "0123456789abcdef", is_moderator=False)


def said(answer_id: str | None, *, is_ours: bool = True, is_direct: bool = False) -> PlatformMessage:
    return PlatformMessage(
        id="1",
        text="Said.",
        link="https://chat.example.org/1",
        is_ours=is_ours,
        is_direct=is_direct,
        answer_id=answer_id,
    )


async def test_nothing_is_kept_where_there_is_nowhere_to_keep_it(stored: StoredAnswers) -> None:
    message_id = await stored.answered()
    with pytest.raises(BadInput, match="nowhere to keep"):
        await stored.actions.question_behind(HERE, said(message_id))
    with pytest.raises(BadInput, match="nowhere to keep"):
        await stored.actions.keep(HERE, said(message_id), question="Where?", author="ada", author_name="Ada")


async def test_the_question_before_an_answer_is_known_and_of_people_it_is_asked_for(
    stored: StoredAnswers, tmp_path: Any
) -> None:
    stored = await _keeping(stored, tmp_path)
    message_id = await stored.answered()
    assert await stored.actions.question_behind(HERE, said(message_id)) == "Where is it?"
    assert await stored.actions.question_behind(HERE, said(None, is_ours=False)) is None


async def test_what_is_no_answer_for_all_is_not_kept(stored: StoredAnswers, tmp_path: Any) -> None:
    stored = await _keeping(stored, tmp_path)
    private = await stored.answered(ADAS)
    stopped = await stored.answered(status=AnswerStatus.STOPPED)
    for message, refusal in (
        (said(None), "Only answers can be kept"),
        (said(stopped), "Only answers can be kept"),
        (said(private), "answer is private"),
        (said(stopped, is_direct=True), "answer is private"),
        (said(None, is_ours=False, is_direct=True), "answer is private"),
    ):
        with pytest.raises(BadInput, match=refusal):
            await stored.actions.question_behind(HERE, message)
    with pytest.raises(BadInput, match="answer is private"):
        await stored.actions.keep(HERE, said(private), question="Where?", author="ada", author_name="Ada")


async def _keeping(stored: StoredAnswers, folder: Any) -> StoredAnswers:
    """The same with somewhere to keep answers."""
    stored.place.folder = folder
    stored.actions = AnswerActions(PlatformParts(**stored.place.core_parts()))
    return stored
