"""An answer that was kept is found by the next question: the real app, from the command to the index."""

from pathlib import Path

from bot.config import Config
from bot.wiring.parts import open_parts
from core.domain.answer import AnswerStatus
from core.domain.conversation import Role
from core.domain.corpus import SearchQuery
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.work.commands import CommandCall
from tests.builders import build_message

HERE = ThreadAddress(platform="web", workspace="local", channel="general", thread="t1")
LINK = "https://chat.example/general/t1"


async def test_a_kept_answer_is_found_and_linked_from_then_on(tmp_path: Path) -> None:
    async with open_parts(Config(data_dir=tmp_path)) as app:
        asked = IncomingMessage(address=HERE, author="ada", text="Who winds the tower clock?", event_key="1")
        conversation = await app.conversations.create(asked)
        answer = build_message(
            "m2",
            "The verger winds the tower clock on Mondays [1].",
            role=Role.ASSISTANT,
            status=AnswerStatus.ANSWERED.value,
        )
        await app.conversations.record(conversation, [build_message("m1", asked.text), answer])
        call = CommandCall(
            name="keep", workspace="local", conversation=conversation, author="ada", address=HERE, link=LINK
        )
        kept = await app.build_commands().run(call)
        hits = await app.library.search(
            SearchQuery(text="who winds the tower clock"), await app.access.scope(app.workspace)
        )
        page = await app.library.page(hits[0].page_id, await app.access.scope(app.workspace))

    assert "Kept as “Who winds the tower clock?" in kept.text
    assert "The verger winds the tower clock on Mondays" in page.page.text
    assert page.url is not None and page.url.startswith(LINK)
