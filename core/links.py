"""Where a page can be opened: a web address, and a deep link into the program the document lives in. Pure."""

from urllib.parse import quote

from core.domain.corpus import Document, Page


def page_links(document: Document, page: Page) -> tuple[str | None, str | None]:
    """(url, deep link) of a page; None where the document has no such address.

    `document.url` may be a template: `{path}`, `{page}` and `{anchor}` are filled in, URL-quoted. A page whose own link
    is a web address has that one.
    """
    if page.deep_link is not None and page.deep_link.startswith(("http://", "https://")):
        return page.deep_link, None
    return fill_template(document.url, document.path, page.number, page.title), page.deep_link


def fill_template(template: str | None, path: str, page_number: int, anchor: str) -> str | None:
    if not template:
        return None
    values = {"{path}": quote(path), "{page}": str(page_number), "{anchor}": quote(anchor, safe="")}
    for name, value in values.items():
        template = template.replace(name, value)
    return template
