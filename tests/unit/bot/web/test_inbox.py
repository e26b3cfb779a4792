"""The page of the review inbox: for the owner and admins, with what each of them may read."""

import html
import re
from functools import partial

import pytest

from bot.web.pages.inbox import add_inbox
from core.access.identity import Role
from core.domain.answer import AnswerStatus
from core.domain.conversation import Role as Speaker
from core.domain.incoming import ThreadAddress
from core.domain.kept_answers import KeptAnswer, KeptState
from core.features.kept_answers import KeptAnswers, Said
from core.features.staleness.stale_answers import Staleness
from tests.builders import build_conversation, build_message
from tests.integration.platform_files import Files, build_kept, build_reviews
from tests.unit.bot.web.conftest import Browser, OpenBrowser, read
from tests.unit.core.library_builder import Shelf

NASTY = "<script>alert(1)</script>"
BOARD = ThreadAddress(platform="discord", workspace="local", channel="9", thread="8")


class Reviewed:
    """A proposal of a private channel on Discord, and a question there without an answer."""

    def __init__(self) -> None:
        self.shelf = Shelf()
        stores, clock = self.shelf.stores, self.shelf.clock
        self.kept: KeptAnswers = build_kept(self.shelf, Files(self.shelf.corpus, self.shelf.index), clock)
        staleness = Staleness(
            stores.stale,
            conversations=stores.conversations,
            inbox=stores.inbox(clock),
            settings=stores.settings,
            clock=clock,
            noted=(),
        )
        self.page = partial(add_inbox, reviews=build_reviews(self.shelf, self.kept, staleness, clock))

    async def fill(self) -> KeptAnswer:
        await self.shelf.add("safe.md", "# Safe\n\nThe safe of the board opens at 10:30.", title="Rules")
        answer = build_message("a", "Not found.", role=Speaker.ASSISTANT, status=AnswerStatus.NOT_FOUND.value)
        asked = [build_message("q", f"Who pays the bribe {NASTY}?"), answer]
        await self.shelf.conversations.add(build_conversation(address=BOARD), asked)
        said = Said(
            text=f"The safe of the board opens at 9:15 {NASTY}.",
            link="https://discord.com/channels/1/9/3",
            address=BOARD,
            by="7",
            by_name="Carla",
        )
        return await self.kept.propose(said, question="When does the safe open?", author="5", author_name="Ada")


@pytest.fixture
def reviewed() -> Reviewed:
    return Reviewed()


async def press(browser: Browser, act: str, kept: KeptAnswer) -> str:
    response = await browser.post(f"/inbox/{act}/{kept.id}")
    assert response.status == 200, await response.text()
    return await response.text()


async def test_the_owner_accepts_a_proposal_after_reading_what_documents_say_and_undoes_it(
    reviewed: Reviewed, browse: OpenBrowser
) -> None:
    kept, browser = await reviewed.fill(), await browse(reviewed.page)
    text = await read(browser, "/inbox")
    for words in ("When does the safe open?", "Said by Carla, proposed by Ada", "Says otherwise", "10:30", "bribe"):
        assert words in text
    assert f'action="/inbox/accept/{kept.id}"' in text and NASTY not in text
    again = re.search(r'<form method="post" action="/ask"><button [^>]*name="text" value="([^"]*)"', text)
    assert again is not None and html.unescape(again.group(1)) == f"Who pays the bribe {NASTY}?"

    assert "accepted by" in await press(browser, "accept", kept)
    _, document = await reviewed.shelf.library.documents(await reviewed.shelf.access.scope("local"))
    assert document.title == "Said by Carla: When does the safe open?"
    assert "Keep this answer" in await press(browser, "undo", kept)
    assert len(await reviewed.shelf.library.documents(await reviewed.shelf.access.scope("local"))) == 1
    assert "declined by" in await press(browser, "decline", kept)
    refused = await browser.post(f"/inbox/accept/{kept.id}")
    assert refused.status == 409 and "declined this" in await refused.text()


async def test_an_admin_of_the_web_app_sees_no_text_of_other_platforms_and_decides_nothing_there(
    reviewed: Reviewed, browse: OpenBrowser
) -> None:
    kept, browser = await reviewed.fill(), await browse(reviewed.page, role=Role.ADMIN)
    text = await read(browser, "/inbox")
    assert "safe" not in text and "bribe" not in text
    assert "1 asked in places that you can&#39;t read" in text
    response = await browser.post(f"/inbox/accept/{kept.id}")
    assert response.status == 409 and "in your inbox" in await response.text()
    assert [one.state for one in await reviewed.kept.repository.list_kept()] == [KeptState.PROPOSED]


@pytest.mark.parametrize("role", [Role.MEMBER, None])
async def test_it_is_for_nobody_else(reviewed: Reviewed, browse: OpenBrowser, role: Role | None) -> None:
    kept, browser = await reviewed.fill(), await browse(reviewed.page, role=role)
    assert (await browser.get("/inbox")).status == 403
    assert (await browser.post(f"/inbox/accept/{kept.id}")).status == 403
    assert [one.state for one in await reviewed.kept.repository.list_kept()] == [KeptState.PROPOSED]


async def test_what_is_no_action_is_not_there_and_an_empty_inbox_says_so(
    reviewed: Reviewed, browse: OpenBrowser
) -> None:
    browser = await browse(reviewed.page)
    assert "Nothing waits for you." in await read(browser, "/inbox")
    assert (await browser.post("/inbox/ask/1")).status == 404
