"""The pages that prove a draft, as they are stored this moment."""

from collections.abc import Mapping

from core.answering.citations import cited_page_ids
from core.domain.answer import Draft
from core.domain.corpus import Page, SearchScope
from core.errors import NotFound
from core.ports import CorpusRepository


async def live_pages(draft: Draft, corpus: CorpusRepository, scope: SearchScope) -> Mapping[str, Page]:
    """Return pages by id, within scope, without those replaced or removed while the draft was written."""
    pages: dict[str, Page] = {}
    for page_id in cited_page_ids(draft):
        try:
            pages[page_id] = await corpus.get_page(page_id, scope)
        except NotFound:
            continue  # its claims lose their footnotes
    return pages
