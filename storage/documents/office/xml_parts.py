"""XML parts of Office files: parsed without entities and network, and what several of their readers look for."""

from collections.abc import Iterator
from typing import Any

from core.errors import ReadError


def parse_part(data: bytes, part: str, what: str) -> Any:
    """The root element of a part. ReadError, which names the part and the file ("Word document"), when it is broken."""
    from lxml import etree

    try:
        return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True))
    except (etree.XMLSyntaxError, ValueError) as error:
        raise ReadError(f"corrupt: {part!r} of the {what} can't be read ({error})") from error


def check_part(data: bytes, part: str, what: str) -> None:
    """ReadError when a part is no whole XML; nothing of it is kept in memory."""
    from xml.parsers import expat

    try:
        expat.ParserCreate().Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise ReadError(f"corrupt: {part!r} of the {what} can't be read ({error})") from error


def outermost(element: Any, tag: str, *, but_in: str = "") -> Iterator[Any]:
    """The elements of that name below `element` that are in no other of them, nor in one named `but_in`."""
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag != but_in:
            yield from outermost(child, tag, but_in=but_in)
