"""The page about how the library is used: what people wrote is text, and what others may not see is not there."""

from dataclasses import replace
from functools import partial

from bot.web.pages.library import add_statistics_page
from core.access.identity import Role as WebRole
from core.domain.answer import AnswerStatus
from core.domain.conversation import Outcome, Role
from core.domain.incoming import PRIVATE_THREAD, ThreadAddress
from core.domain.replies import Usage
from core.features.statistics import UsageStatistics
from storage.database.repositories.spending import SqlSpendingStore
from tests.builders import build_citation, build_conversation, build_document, build_message, build_pages, build_source
from tests.fakes import ManualClock
from tests.unit.bot.web.conftest import OpenBrowser, Shelves, read
from tests.unit.core.features.test_statistics import FirstWord

NASTY = "<script>alert(1)</script>"


async def page(shelves: Shelves, browse: OpenBrowser, role: WebRole = WebRole.OWNER) -> str:
    asked = shelves.stores.asked(ManualClock())
    spending = SqlSpendingStore(shelves.stores.database, ManualClock())
    statistics = UsageStatistics(
        asked=asked, corpus=shelves.corpus, groups=FirstWord(), spending=spending, clock=ManualClock()
    )
    return await read(
        await browse(partial(add_statistics_page, statistics=statistics), role=role), "/library/statistics"
    )


async def test_gaps_and_documents_are_told_and_private_questions_are_not(shelves: Shelves, browse: OpenBrowser) -> None:
    await shelves.corpus.save_source(build_source())
    documents = [build_document(f"{n}.md", title=f"Title {n} {NASTY}") for n in range(2)]
    for document in documents:
        await shelves.corpus.switch_revision(document, build_pages(document, "Text."), [])
    outcome = Outcome(usage=Usage(input_tokens=200, cache_read_tokens=50))
    for id, thread, question, status in (
        ("c1", "t1", f"parking {NASTY}?", AnswerStatus.NOT_FOUND),
        ("c2", f"{PRIVATE_THREAD}ada", "secret?", AnswerStatus.NOT_FOUND),
        ("c3", "t3", "keys?", AnswerStatus.ANSWERED),
    ):
        cited = (build_citation(documents[0].id),) if status is AnswerStatus.ANSWERED else ()
        said = [
            build_message(f"{id}-q", question, conversation_id=id),
            build_message(
                f"{id}-a", "So.", conversation_id=id, role=Role.ASSISTANT, status=status.value, citations=cited,
                outcome=outcome,
            ),
        ]  # fmt: skip
        await shelves.conversations.add(build_conversation(id, thread=thread), said)
    text = await page(shelves, browse)

    assert "3 questions" in text and "2 not found" in text and "1 answered" in text
    assert "parking &lt;script&gt;" in text and NASTY not in text
    assert "secret" not in text
    assert "1 of 2 documents" in text
    assert "600 tokens in (25% of them cached)" in text


async def test_an_unused_library_says_so(shelves: Shelves, browse: OpenBrowser) -> None:
    text = await page(shelves, browse)

    assert "0 questions" in text and "No answer has cited a document yet." in text
    assert "No questions yet." in text and "No documents yet." in text


async def test_admins_other_than_the_owner_read_no_questions_of_other_platforms(
    shelves: Shelves, browse: OpenBrowser
) -> None:
    board = ThreadAddress(platform="slack", workspace="local", channel="C1BOARD", thread="1.5")
    for id, question, address in (
        ("c1", "Who pays the bribe?", {"address": board}),
        ("c2", "Where is parking?", {"address": replace(board, platform="web", channel="chat", thread="t2")}),
    ):
        answer = build_message(
            f"{id}-a", "No.", conversation_id=id, role=Role.ASSISTANT, status=AnswerStatus.NOT_FOUND.value
        )
        said = [build_message(f"{id}-q", question, conversation_id=id), answer]
        await shelves.conversations.add(build_conversation(id, **address), said)

    assert "bribe" in await page(shelves, browse)
    text = await page(shelves, browse, WebRole.ADMIN)
    assert "bribe" not in text and "parking" in text
    assert "1 asked in places that you can&#39;t read" in text
