"""What a revision has to be before any corpus repository stores it: the ground of every footnote's proof."""

from collections.abc import Sequence

from core.domain.corpus import Document, Page, Passage


def check_revision(document: Document, pages: Sequence[Page], passages: Sequence[Passage]) -> None:
    """ValueError, a bug of the caller, unless all parts are of this revision and each passage is what its span says."""
    if document.revision is None:
        raise ValueError(f"the document {document.path!r} has no revision to switch to")
    for page in pages:
        if (page.document_id, page.revision) != (document.id, document.revision):
            raise ValueError(f"page {page.number} is not of revision {document.revision!r} of {document.path!r}")
    by_id = {page.id: page for page in pages}
    for passage in passages:
        _check_passage(passage, by_id.get(passage.page_id), document)


def _check_passage(passage: Passage, page: Page | None, document: Document) -> None:
    if page is None or (passage.document_id, passage.revision) != (document.id, document.revision):
        raise ValueError(f"passage {passage.ordinal} is not of revision {document.revision!r} of {document.path!r}")
    if passage.page_number != page.number or passage.text != passage.span.of(page.text):
        raise ValueError(f"passage {passage.ordinal} of {document.path!r} is not what page {page.number} says there")
