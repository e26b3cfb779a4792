"""Pages of PDFs as pictures for models, drawn in a child process with limits."""

import asyncio

from core.domain.answer import PageImage
from core.domain.corpus import Document, Page
from core.errors import NotFound
from core.ports import CorpusRepository
from storage.documents.page_images.pages import AT_ONCE, draw_for_model


class PdfPictures:
    """Implements core.ports.PagePictures; one for the process, as each drawing takes a core."""

    def __init__(self, corpus: CorpusRepository) -> None:
        self._corpus = corpus
        self._room = asyncio.Semaphore(AT_ONCE)

    async def picture_of(self, document: Document, page: Page) -> PageImage:
        sources = await self._corpus.list_sources(document.workspace)
        source = next((item for item in sources if item.id == document.source_id), None)
        if source is None or document.kind != "pdf":
            raise NotFound("Only pages of PDFs have pictures.")
        async with self._room:
            data = await draw_for_model(source, document, page)
        return PageImage(label=f'"{document.title}", page {page.number}', media_type="image/jpeg", data=data)
