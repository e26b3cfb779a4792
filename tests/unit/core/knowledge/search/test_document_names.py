from dataclasses import replace

import pytest

from core.domain.corpus import Document
from core.knowledge.search.document_names import KEPT, NamesOfWorkspaces
from storage.database.repositories.corpus import SqlCorpusRepository
from tests.builders import build_document, build_pages, build_passages, build_source
from tests.stores import InMemoryDatabase


class CountingCorpus(SqlCorpusRepository):
    """Counts how often all documents were read."""

    reads = 0

    async def list_documents(self, workspace: str, source_ids: frozenset[str] | None = None) -> list[Document]:
        self.reads += 1
        return await super().list_documents(workspace, source_ids)

    async def put(self, document: Document) -> None:
        pages = build_pages(document, "Text.")
        await self.switch_revision(document, pages, build_passages(pages))


@pytest.fixture
async def corpus() -> CountingCorpus:
    corpus = CountingCorpus(InMemoryDatabase())
    await corpus.save_source(build_source())
    await corpus.put(build_document())
    return corpus


async def test_documents_are_read_again_only_after_a_change(corpus: CountingCorpus) -> None:
    names = NamesOfWorkspaces(corpus)
    for _ in range(3):
        assert [document.path for document in (await names.of("local")).documents] == ["guide.md"]
    assert corpus.reads == 1
    await corpus.put(replace(build_document(), title="Renamed"))

    assert (await names.of("local")).find("renamed").path == "guide.md"
    assert corpus.reads == 2


async def test_only_so_many_workspaces_are_kept(corpus: CountingCorpus) -> None:
    names = NamesOfWorkspaces(corpus)
    for number in range(KEPT + 1):
        await names.of(f"w{number}")
    await names.of(f"w{KEPT}")
    assert corpus.reads == KEPT + 1
    await names.of("w0")

    assert corpus.reads == KEPT + 2
