"""Where a document can be opened, as far as its source and its file say so. Pure."""

from urllib.parse import quote, urlsplit


def web_address(url: str | None) -> str | None:
    """`url` when it is one that may be shown as a link (http or https, with a host), else None.

    Braces are quoted: the address is no template.
    """
    if not url:
        return None
    try:
        parts = urlsplit(url.strip())
    except ValueError:  # e.g. a broken IPv6 host: not an address
        return None
    if parts.scheme not in ("http", "https") or not parts.netloc or any(map(str.isspace, url.strip())):
        return None
    return url.strip().replace("{", "%7B").replace("}", "%7D")


def obsidian_link(vault: str, path: str) -> str:
    """The link that opens a note of an Obsidian vault."""
    return f"obsidian://open?vault={quote(vault, safe='')}&file={quote(path.removesuffix('.md'), safe='')}"
