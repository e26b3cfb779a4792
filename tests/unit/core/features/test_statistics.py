from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from core.domain.answer import AnswerStatus
from core.domain.features import AskedQuestion, FeedbackReason
from core.domain.incoming import ThreadAddress
from core.domain.replies import Usage
from core.features.statistics import MOST_LISTED, MOST_QUESTIONS, UsageStatistics
from storage.database.repositories.spending import SqlSpendingStore
from tests.builders import NOON
from tests.fakes import ManualClock
from tests.unit.core.library_builder import Shelf

HERE = ThreadAddress(platform="discord", workspace="local", channel="7", thread="8")


class FirstWord:
    """Texts that begin with the same word mean the same."""

    async def group(self, texts: Sequence[str]) -> list[list[int]]:
        groups: dict[str, list[int]] = {}
        for place, text in enumerate(texts):
            groups.setdefault(text.split()[0], []).append(place)
        return list(groups.values())


class Asked:
    def __init__(self, *questions: AskedQuestion) -> None:
        self.questions = list(questions)

    async def asked(self, workspace: str, days: float) -> list[AskedQuestion]:
        return self.questions if workspace == "local" else []


def question(
    text: str, status: AnswerStatus = AnswerStatus.NOT_FOUND, hours: int = 0, **fields: object
) -> AskedQuestion:
    values = {"is_private": False, "address": HERE, **fields}
    return AskedQuestion(text=text, status=status, asked_at=NOON + timedelta(hours=hours), **values)


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    for name in ("a", "b", "c"):
        await shelf.add(f"{name}.md", f"About {name}.", title=name.upper())
    return shelf


def statistics(shelf: Shelf, *questions: AskedQuestion) -> UsageStatistics:
    return UsageStatistics(
        asked=Asked(*questions),
        corpus=shelf.corpus,
        groups=FirstWord(),
        spending=SqlSpendingStore(shelf.stores.database, ManualClock()),
        clock=ManualClock(),
    )


async def test_documents_are_ranked_by_the_answers_that_cite_them(shelf):
    a, b, _ = await shelf.corpus.list_documents("local")
    cited = [
        question("x", AnswerStatus.ANSWERED, document_ids=frozenset({b.id})),
        question("y", AnswerStatus.ANSWERED, document_ids=frozenset({a.id, b.id, "gone"})),
    ]
    found = await statistics(shelf, *cited).of(shelf.scope())

    assert [(item.document.title, item.answers) for item in found.most_cited] == [("B", 2), ("A", 1)]
    assert ([item.title for item in found.never_cited], found.never_cited_count) == (["C"], 1)
    assert found.documents == 3


async def test_unanswered_questions_of_one_meaning_are_one_gap(shelf):
    asked = [
        question("parking where?", hours=5),
        question("wages this year?", hours=4),
        question("parking fee?", hours=3),
        question("parking where?", hours=2),
        question("parking at night?", hours=1),
        question("wages?", AnswerStatus.ANSWERED),
    ]
    first, second = (await statistics(shelf, *asked).of(shelf.scope())).gaps

    assert first.questions == ("parking where?", "parking fee?", "parking at night?")[:MOST_QUESTIONS]
    assert (first.count, first.last_asked_at) == (4, NOON + timedelta(hours=5))
    assert (second.questions, second.count) == (("wages this year?",), 1)


async def test_what_one_person_asked_alone_is_counted_and_never_shown(shelf):
    found = await statistics(shelf, question("secret plans?", is_private=True)).of(shelf.scope())

    assert found.by_status[AnswerStatus.NOT_FOUND] == 1
    assert found.gaps == ()


async def test_thumbs_tokens_and_the_cache_are_summed_up(shelf):
    usage, why = Usage(input_tokens=100, output_tokens=5, cache_read_tokens=75), (FeedbackReason.SOURCE,)
    disliked = question("y", usage=usage, not_helpful=1, reasons=why)
    asked = [question("x", usage=usage, helpful=2), disliked, question("z")]
    found = await statistics(shelf, *asked).of(shelf.scope())
    nothing = await statistics(shelf).of(shelf.scope())

    assert (found.helpful, found.not_helpful, found.usage.output_tokens) == (2, 1, 10)
    assert found.reasons == {FeedbackReason.SOURCE: 1}
    assert found.cache_hit_rate == 0.75
    assert (nothing.cache_hit_rate, nothing.questions, nothing.never_cited_count) == (None, 0, 3)


async def test_lists_are_bounded_and_counts_are_not(shelf):
    for number in range(MOST_LISTED + 5):
        await shelf.add(f"more-{number}.md", "More.", title="More")
    asked = [question(f"word{number} ?") for number in range(MOST_LISTED + 5)]
    found = await statistics(shelf, *asked).of(shelf.scope())

    assert (len(found.never_cited), found.never_cited_count) == (MOST_LISTED, MOST_LISTED + 8)
    assert len(found.gaps) == MOST_LISTED


async def test_documents_outside_the_scope_are_not_named(shelf):
    [a, *_] = await shelf.corpus.list_documents("local")
    cited = question("x", AnswerStatus.ANSWERED, document_ids=frozenset({a.id}))
    found = await statistics(shelf, cited).of(replace(shelf.scope(), sources=frozenset()))

    assert (found.most_cited, found.never_cited, found.documents) == ((), (), 0)
