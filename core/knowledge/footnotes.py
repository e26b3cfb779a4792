"""Footnotes of places in pages."""

from core.domain.answer import Citation
from core.domain.corpus import Document, Heading, Page, Span, page_links


def cite(number: int, document: Document, page: Page, span: Span, passage_id: str = "") -> Citation:
    """Return the footnote of a place in a page; not `proved` if the page has no text there."""
    url, deep_link = page_links(document, page)
    quote = span.of(page.text)
    return Citation(
        number=number,
        source=document.source,
        document=document.path,
        document_id=document.id,
        document_title=document.title,
        page_id=page.id,
        page_number=page.number,
        heading_path=heading_path_at(page, span.start),
        quote=quote,
        span=span,
        revision=page.revision,
        url=url,
        deep_link=deep_link,
        proved=bool(quote),
        passage_id=passage_id,
    )


def heading_path_at(page: Page, place: int) -> tuple[str, ...]:
    """Return the headings above a place of the page, in the form of passages (chunking.py).

    A passage may begin before a heading that is above its quote.
    """
    stack: list[Heading] = []
    for heading in page.headings:
        if heading.start > place:
            break
        while stack and stack[-1].level >= heading.level:
            stack.pop()
        stack.append(heading)
    first = page.headings[0] if page.headings else None
    opens = first is not None and first.title == page.title and not page.text[: first.start].strip()
    inside = tuple(heading.title for heading in stack if heading.title and not (opens and heading is first))
    return (*page.heading_path, *([page.title] if page.title else []), *inside)
