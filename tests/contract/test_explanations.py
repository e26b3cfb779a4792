"""Explanations of access (core/features/access_explanation) over every database."""

from dataclasses import replace
from typing import NamedTuple

import pytest

from core.access.scopes import ATTACHMENTS, Access, Ground, attached_name
from core.domain.corpus import Document
from core.domain.incoming import ChannelAddress, ThreadAddress
from core.domain.service import TO_THE_END, ChannelSettings, PersonAddress
from core.features.access_explanation import AccessQuestion, Explanations, Holder, Verdict, explanation_json
from core.knowledge.library import Library
from core.ports import CorpusRepository
from core.ports.service import SettingsRepository
from storage.database import Database
from storage.database.repositories.conversations import SqlConversationRepository
from storage.database.repositories.corpus import SqlCorpusRepository
from storage.database.repositories.settings import SqlSettingsRepository
from tests.builders import build_document, build_pages, build_source
from tests.fakes import WordIndex

HERE = ThreadAddress(platform="web", workspace="local", channel="club", thread="t1")
ADA = PersonAddress(workspace="local", person="ada")
TEXT = "Nobody prints what stands on a page."


class Stores(NamedTuple):
    corpus: CorpusRepository
    settings: SettingsRepository
    explanations: Explanations

    async def add(self, source: str, path: str, *, kind: str = "folder", pages: int = 3) -> Document:
        where = build_source(source, kind=kind)
        await self.corpus.save_source(where)
        document = build_document(path, where, title=path.partition(".")[0].title())
        await self.corpus.switch_revision(document, build_pages(document, *[TEXT] * pages), ())
        return document


@pytest.fixture
def stores(database: Database) -> Stores:
    corpus: CorpusRepository = SqlCorpusRepository(database)
    settings: SettingsRepository = SqlSettingsRepository(database)
    library = Library(corpus=corpus, index=WordIndex(), conversations=SqlConversationRepository(database))
    return Stores(corpus, settings, Explanations(Access(corpus, settings), library, corpus))


async def test_every_source_has_its_ground_and_every_book_its_position(stores: Stores) -> None:
    emma = await stores.add("novels", "emma.txt")
    log = await stores.add("board", "log.txt")
    await stores.add(attached_name(HERE), "photo.txt", kind=ATTACHMENTS)
    await stores.add(attached_name(replace(HERE, thread="t2")), "plan.txt", kind=ATTACHMENTS)
    await stores.settings.save_channel(ChannelAddress.of(HERE), ChannelSettings(sources=frozenset({"novels"})))
    for holder, document, last in (
        (ChannelAddress.of(HERE), emma, 2),
        (ADA, emma, 3),
        (replace(ADA, alone=True), emma, TO_THE_END),
        (ADA, log, 1),
    ):
        await stores.settings.save_position(holder, document.id, last)
    question = AccessQuestion(workspace="local", address=HERE, reader="ada", document="emma")
    there = await stores.explanations.of(question)
    alone = await stores.explanations.of(replace(question, alone=True))

    assert {item.name: item.ground for item in there.sources} == {
        attached_name(HERE): Ground.ATTACHED_HERE,
        attached_name(replace(HERE, thread="t2")): Ground.ATTACHED_ELSEWHERE,
        "board": Ground.NOT_ALLOWED,
        "novels": Ground.ALLOWED,
    }
    assert [(item.document.path, item.holder, item.last_page) for item in there.positions] == [
        ("emma.txt", Holder.CHANNEL, 2)
    ]
    assert there.document is not None and alone.document is not None
    assert (there.document.verdict, there.document.last_page, there.document.chapter) == (Verdict.UP_TO, 2, "Page 2")
    assert (alone.document.verdict, alone.positions[0].holder) == (Verdict.WHOLE, Holder.LIFTED)
    assert TEXT not in str(explanation_json(there)) + str(there) + str(alone)


async def test_what_was_attached_in_another_thread_is_read_in_that_one(stores: Stores) -> None:
    elsewhere = replace(HERE, thread="t2")
    await stores.add(attached_name(elsewhere), "plan.txt", kind=ATTACHMENTS)
    question = AccessQuestion(workspace="local", address=HERE, document="plan")
    there = await stores.explanations.of(replace(question, address=elsewhere))
    here, nowhere = (
        await stores.explanations.of(question),
        await stores.explanations.of(replace(question, address=None)),
    )

    assert there.document is not None and here.document is not None and nowhere.document is not None
    assert there.document.verdict is Verdict.WHOLE
    assert there.document.changes[0] == "It is deleted with its conversation: /delete in the thread."
    assert here.document.sentence == (
        "“Plan” can't be read here: it was attached in another thread, and is only readable there."
    )
    assert here.document.changes == (
        "Ask in the thread that it was attached in: web:local:club:t2",
        "Add it for everyone: footnote --workspace local ingest FILE",
    )
    assert nowhere.document.sentence == (
        "“Plan” can't be read here: it was attached in a thread, and is only readable there."
    )


@pytest.mark.parametrize("held", [{}, {1: 2}])
async def test_outside_of_channels_a_person_reads_all_but_what_lies_beyond_their_position(
    stores: Stores, held: dict[int, int]
) -> None:
    emma = await stores.add("novels", "emma.txt")
    for last in held.values():
        await stores.settings.save_position(ADA, emma.id, last)
    found = explanation_json(
        await stores.explanations.of(AccessQuestion(workspace="local", reader="ada", document="emma.txt"))
    )

    assert found["sources"] == [
        {
            "source": "novels",
            "source_type": "folder",
            "readable": True,
            "reason": "no_channel",
            "sentence": "May be read: without a channel all sources of the workspace may be.",
        }
    ]
    assert (found["workspace"], found["thread"], found["person"], found["alone"]) == ("local", None, "ada", True)
    names = {"document": "emma.txt", "source": "novels", "title": "Emma"}
    held_by = [{"holder": "person", "last_page": last} for last in held.values()]
    assert found["positions"] == ([{**names, "last_page": 2, "holder": "person", "held": held_by}] if held else [])
    assert isinstance(found["document"], dict)
    assert found["document"].items() >= {**names, "verdict": "up_to" if held else "whole"}.items()
    assert (found["document"]["reason"], found["document"]["last_page"]) == (
        ("position", 2) if held else ("no_channel", None)
    )
