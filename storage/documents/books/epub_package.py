"""The package of an EPUB: its title, its files in reading order, its table of contents, and the role of each file."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit
from xml.etree.ElementTree import Element, ParseError

from core.errors import ReadError
from storage.documents.archives import Archive
from storage.documents.texts.encodings import clean, decode

# Levels of a table of contents, and entries of it, that are read: more is a broken file, not a book.
MAX_LEVELS = 8
MAX_ENTRIES = 20_000

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_FONT_SCHEMES = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
# HTML has no such short form: its parsers would take `<title/>` for a title that never ends.
_SHORT_FORM = re.compile(
    r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)([a-zA-Z][\w:.-]*)((?:\s[^<>]*)?)/>"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A line of the table of contents. `path` is a part of the container, `fragment` an id in it or ""."""

    title: str
    path: str
    fragment: str
    level: int  # from 0
    parent: int | None  # its place in the list of entries


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """An EPUB's package. `files` are in reading order; `roles` maps some of them to a role: "cover", "toc"."""

    title: str
    files: tuple[str, ...]
    entries: tuple[Entry, ...]
    roles: dict[str, frozenset[str]]


def read_book(archive: Archive) -> Book:
    """Read the package document and the table of contents. Raises ReadError if the package is missing or locked."""
    package_path = _package_path(archive)
    package = read_xml(archive.read(package_path), package_path)
    items = {item.get("id", ""): item for item in _all(package, "item")}
    paths = {key: _resolve(archive, package_path, item.get("href", "")) for key, item in items.items()}
    spine = next(_all(package, "spine"), None)
    ordered = [] if spine is None else [paths.get(ref.get("idref", "")) for ref in _all(spine, "itemref")]
    files = tuple(dict.fromkeys(path for path in ordered if path))
    _refuse_locked(archive, files)
    navigation = next((paths[key] for key, item in items.items() if "nav" in item.get("properties", "").split()), None)
    roles: dict[str, set[str]] = {navigation: {"toc"}} if navigation else {}
    entries: Sequence[Entry] = ()
    if navigation:
        entries, landmarks = _read_navigation(archive, navigation)
        _add_roles(roles, landmarks)
    if not entries:
        entries = _read_ncx(archive, _ncx_path(items, paths, spine))
    _add_roles(
        roles,
        [
            (_whole_file(archive, package_path, ref.get("href", "")), ref.get("type", ""))
            for ref in _all(package, "reference")
        ],
    )
    return Book(
        title=next((text for item in _all(package, "title") if (text := _text(item))), ""),
        files=files,
        entries=tuple(entries),
        roles={path: frozenset(names) for path, names in roles.items()},
    )


def read_xml(data: bytes, name: str) -> Element:
    """Parse an XML part without entities of its own. Raises ReadError if it is broken."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root: Element = fromstring(data)
    except DefusedXmlException as error:
        raise ReadError(f"its part {name!r} defines entities, which are not read") from error
    except (ParseError, ValueError, LookupError) as error:  # the last two: an unknown encoding
        raise ReadError(f"corrupt: its part {name!r} is broken XML ({error})") from error
    return root


def to_html(data: bytes) -> str:
    """Return the text of an XHTML part in a form for HTML parsers."""
    return _SHORT_FORM.sub(r"<\1\2></\1>", decode(data).text)


def _package_path(archive: Archive) -> str:
    container = archive.find(_CONTAINER)
    if container:
        for root in _all(read_xml(archive.read(container), container), "rootfile"):
            path = archive.find(unquote(root.get("full-path", "")))
            if path:
                return path
    path = next((name for name in archive.names if name.lower().endswith(".opf")), None)
    if path is None:
        raise ReadError("not an EPUB: the file has no package document (.opf)")
    return path


def _refuse_locked(archive: Archive, files: Sequence[str]) -> None:
    path = archive.find(_ENCRYPTION)
    if path is None:
        return
    for data in _all(read_xml(archive.read(path), path), "EncryptedData"):
        schemes = [method.get("Algorithm", "") for method in _all(data, "EncryptionMethod")]
        locked = {unquote(reference.get("URI", "")) for reference in _all(data, "CipherReference")}
        if locked & set(files) and not any(scheme in _FONT_SCHEMES for scheme in schemes):
            raise ReadError("encrypted: the book is protected (DRM); ingest a copy without protection")


def _read_navigation(archive: Archive, path: str) -> tuple[list[Entry], list[tuple[str | None, str]]]:
    """Return the entries and the landmarks (path, role) of an EPUB 3 navigation document."""
    from selectolax.lexbor import LexborHTMLParser

    contents = _Contents(archive, path)
    landmarks: list[tuple[str | None, str]] = []
    for nav in LexborHTMLParser(to_html(archive.read(path))).css("nav"):
        kinds = f"{nav.attributes.get('epub:type') or ''} {nav.attributes.get('role') or ''}".split()
        if "landmarks" in kinds:
            landmarks += [
                (_whole_file(archive, path, link.attributes.get("href") or ""), link.attributes.get("epub:type") or "")
                for link in nav.css("a")
            ]
        elif not contents.entries and ("toc" in kinds or "doc-toc" in kinds or not kinds):
            contents.add_list(nav.css_first("ol"))
    return contents.entries, landmarks


def _ncx_path(items: dict[str, Element], paths: dict[str, str | None], spine: Element | None) -> str | None:
    named = paths.get(spine.get("toc", "")) if spine is not None else None
    ncx = (paths[key] for key, item in items.items() if item.get("media-type") == "application/x-dtbncx+xml")
    return named or next(ncx, None)


def _read_ncx(archive: Archive, path: str | None) -> list[Entry]:
    table = None if path is None else next(_all(read_xml(archive.read(path), path), "navMap"), None)
    contents = _Contents(archive, path or "")
    if table is not None:
        contents.add_points(table)
    return contents.entries


class _Contents:
    """The entries of a table of contents, which is the part `path` of the container."""

    def __init__(self, archive: Archive, path: str) -> None:
        self.entries: list[Entry] = []
        self._archive = archive
        self._path = path

    def add_list(self, ordered: Any, level: int = 0, parent: int | None = None) -> None:
        for item in _children(ordered, "li") if ordered is not None and level < MAX_LEVELS else ():
            label = next(_children(item, "a"), None) or next(_children(item, "span"), None)
            href = (label.attributes.get("href") or "") if label is not None else ""
            self._add(" ".join(label.text().split()) if label is not None else "", href, level, parent)
            self.add_list(next(_children(item, "ol"), None), level + 1, len(self.entries) - 1)

    def add_points(self, above: Element, level: int = 0, parent: int | None = None) -> None:
        for point in (child for child in above if _is(child, "navPoint") and level < MAX_LEVELS):
            label = next((child for child in point if _is(child, "navLabel")), None)
            content = next((child for child in point if _is(child, "content")), None)
            href = content.get("src", "") if content is not None else ""
            self._add("" if label is None else _text(label), href, level, parent)
            self.add_points(point, level + 1, len(self.entries) - 1)

    def _add(self, title: str, href: str, level: int, parent: int | None) -> None:
        if len(self.entries) >= MAX_ENTRIES:
            raise ReadError(f"too many entries in its table of contents: at most {MAX_ENTRIES:,} are read")
        target = _resolve(self._archive, self._path, href) or ""
        fragment = unquote(href.partition("#")[2])
        self.entries.append(Entry(title=clean(title), path=target, fragment=fragment, level=level, parent=parent))


def _children(node: Any, tag: str) -> Iterator[Any]:
    child = node.child
    while child is not None:
        if child.tag == tag:
            yield child
        child = child.next


def _add_roles(roles: dict[str, set[str]], found: Sequence[tuple[str | None, str]]) -> None:
    for path, names in found:
        if path:
            roles.setdefault(path, set()).update(names.lower().split())


def _whole_file(archive: Archive, base: str, href: str) -> str | None:
    return None if "#" in href else _resolve(archive, base, href)


def _resolve(archive: Archive, base: str, href: str) -> str | None:
    try:
        target = urlsplit(href)
    except ValueError:
        return None
    if target.scheme or target.netloc:
        return None
    if not target.path:
        return base if href.startswith("#") else None
    return archive.find(posixpath.join(posixpath.dirname(base), unquote(target.path)))


def _all(root: Element, name: str) -> Iterator[Element]:
    return (element for element in root.iter() if _is(element, name))


def _is(element: Element, name: str) -> bool:
    return str(element.tag).rpartition("}")[2] == name


def _text(element: Element) -> str:
    return clean(" ".join("".join(element.itertext()).split()))
