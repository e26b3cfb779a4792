"""Builds small EPUB files, so that tests need no books."""

import io
import zipfile
from collections.abc import Mapping, Sequence

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="EPUB/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


def build_epub(
    files: Mapping[str, str],
    contents: str = "",
    *,
    title: str = "The Ferry",
    order: Sequence[str] | None = None,
    extra: Mapping[str, str] | None = None,
    guide: str = "",
) -> bytes:
    """An EPUB of `files` (name -> body of an XHTML file) in the order given, under EPUB/.

    `contents` is the inside of the navigation's list; without it there is none. `extra` are further parts by full name.
    """
    parts = {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER}
    items = "".join(f'<item id="i{place}" href="{name}"/>' for place, name in enumerate(files))
    places = {name: place for place, name in enumerate(files)}
    spine = "".join(f'<itemref idref="i{places[name]}"/>' for name in order or files)
    if contents:
        items += '<item id="nav" href="nav.xhtml" properties="nav"/>'
        parts["EPUB/nav.xhtml"] = page(f'<nav epub:type="toc"><ol>{contents}</ol></nav>')
    if extra and "EPUB/toc.ncx" in extra:
        items += '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    parts["EPUB/book.opf"] = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></metadata>'
        f'<manifest>{items}</manifest><spine toc="ncx">{spine}</spine><guide>{guide}</guide></package>'
    )
    parts |= {f"EPUB/{name}": page(body) for name, body in files.items()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {**parts, **(extra or {})}.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    return buffer.getvalue()


def page(body: str) -> str:
    opened = body if body.lstrip().startswith("<body") else f"<body>{body}</body>"
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head><title/></head>{opened}</html>'
    )


def entry(title: str, href: str, inner: str = "") -> str:
    return f'<li><a href="{href}">{title}</a>{f"<ol>{inner}</ol>" if inner else ""}</li>'
