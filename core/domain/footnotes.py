"""Footnotes of places in pages: their quotes, headings and links."""

import re
from urllib.parse import quote as quote_url
from urllib.parse import urlsplit

from core.domain.answer import Citation
from core.domain.corpus import Document, Heading, Page
from core.domain.passages import Span

_UUID = re.compile(r"@UUID\[([^\[\]]+)\]")


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


def page_links(document: Document, page: Page) -> tuple[str | None, str | None]:
    """Return (url, deep link) of a page; None for an address that the document doesn't have.

    `document.url` may be a template (see `fill_template`). A web address as the page's own link takes precedence.
    """
    if page.deep_link is not None and page.deep_link.startswith(("http://", "https://")):
        return page.deep_link, None
    return fill_template(document.url, document.path, page.number, page.title, page.deep_link), page.deep_link


def fill_template(
    template: str | None, path: str, page_number: int, anchor: str, deep_link: str | None = None
) -> str | None:
    """Fill `{path}`, `{page}`, `{anchor}` and `{uuid}` into a template, URL-quoted.

    `{uuid}` is the content of Foundry's link `@UUID[...]`. Return None if the template has it and the page doesn't.
    """
    if not template:
        return None
    uuid = found[1] if (found := _UUID.fullmatch(deep_link or "")) else None
    if uuid is None and "{uuid}" in template:
        return None
    values = {
        "{path}": quote_url(path),
        "{page}": str(page_number),
        "{anchor}": quote_url(anchor, safe=""),
        "{uuid}": quote_url(uuid or "", safe=""),
    }
    for name, value in values.items():
        template = template.replace(name, value)
    return template


def web_address(url: str | None) -> str | None:
    """Return `url` if it may be shown as a link (http or https, with a host), else None.

    Braces are quoted, so that the address is no template.
    """
    if not url:
        return None
    try:
        parts = urlsplit(url.strip())
    except ValueError:  # e.g. a broken IPv6 host
        return None
    if parts.scheme not in ("http", "https") or not parts.netloc or any(map(str.isspace, url.strip())):
        return None
    return url.strip().replace("{", "%7B").replace("}", "%7D")
