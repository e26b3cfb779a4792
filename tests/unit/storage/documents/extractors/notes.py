"""Notes as extractors are given them, built the way readers cut them."""

from typing import Any

from core.domain.corpus import Page, ParsedPage
from core.domain.extracts import ExtractorInput
from storage.documents.markup.markdown_text import read_markdown
from storage.documents.texts.sections import split_sections
from tests.builders import build_document


def build_note(text: str, path: str = "ferry.md", **fields: Any) -> ExtractorInput:
    """A note: a page for each of its sections."""
    parts = read_markdown(text)
    document = build_document(path, **{"title": "Ferry", **fields})
    pages = split_sections(text, parts.headings, parts.anchors)
    return ExtractorInput(document=document, pages=tuple(to_page(page, at) for at, page in enumerate(pages, 1)))


def to_page(page: ParsedPage, number: int) -> Page:
    return Page(
        id=f"p{number}",
        document_id="d",
        revision="r1",
        number=number,
        title=page.title,
        text=page.text,
        heading_path=page.heading_path,
        headings=page.headings,
        anchors=page.anchors,
        deep_link=page.deep_link,
    )
