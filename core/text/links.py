"""Addresses of pages: a web address, and a deep link into the program of the document. Pure."""

import re
from urllib.parse import quote, urlsplit

from core.domain.corpus import Document, Page

_UUID = re.compile(r"@UUID\[([^\[\]]+)\]")


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
        "{path}": quote(path),
        "{page}": str(page_number),
        "{anchor}": quote(anchor, safe=""),
        "{uuid}": quote(uuid or "", safe=""),
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
