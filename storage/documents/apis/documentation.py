"""Endpoints, addresses and authentication in API documentation written for people. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.domain.corpus import Page
from storage.documents.markup.marked_text import MarkedText, plain, plain_path

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE")

_METHOD = "|".join(METHODS)
_SPACE = r"[ \t\xa0]"
# The address before a path, or its placeholder: https://host:1, {{base}}, ${BASE}, $BASE, {baseUrl}.
_ADDRESS = (
    r"(?:(?P<host>https?://[^\s/`'\"<>|?#()]{1,200})|\{\{[^{}\s]{1,40}\}\}|\$\{\w{1,40}\}|\$\w{1,40}"
    r"|\{\w{1,20}(?:[Uu][Rr][Ll]|[Hh]ost|HOST)\})"
)
# A part of a path may be a parameter in any brackets, with white space in them.
_TAGS = r"(?:br|b|i|a|p|code|em|strong|span|td|tr|div|sup|sub)[ >]"
_PIECE = (
    rf"(?:\{{[^{{}}\n`|]{{1,100}}\}}|<(?!{_TAGS})[\w:. -]{{1,60}}>|\([\w:. ]{{1,40}}\)|\[[\w:. /]{{1,40}}\]|"
    r"[^\s`'\"<>|{}()\[\]\\])"
)
_PATH = rf"/{_PIECE}{{0,400}}"
# Marks and white space between a method and its path.
_BETWEEN = rf"(?:{_SPACE}|[`*:\])|=>~–—-]|</\w+>|<\w+>){{1,12}}"
_AND = rf"(?:{_SPACE}?[,|/]{_SPACE}?|{_SPACE}(?:or|and){_SPACE})"

_METHODS_THEN_PATH = re.compile(
    rf"(?<![\w/.$-])(?P<methods>(?:{_METHOD})(?:{_AND}(?:{_METHOD}))*){_BETWEEN}{_ADDRESS}?(?P<path>{_PATH})?"
)
_ELEMENT = re.compile(
    rf"<\w{{1,40}}\b[^<>\n]{{0,300}}?\b(?:method|verb)=[\"'{{]{{0,2}}(?P<method>{_METHOD})\b[^<>\n]{{0,300}}>"
    r"(?P<inner>[^\n]{0,600})",
    re.IGNORECASE,
)
_LOGGED = re.compile(r"HTTP/\d(?:\.\d)?[\"']?\s+\d{3}\b")
_ONE_PATH = re.compile(rf"[`*\"'\[(]{{0,3}}{_ADDRESS}?(?P<path>{_PATH})?[`*\"'\])]{{0,3}}\.?")
_METHOD_LIST = re.compile(
    rf"[`*\[(]{{0,3}}(?:{_METHOD})(?:[\s,/|&`*]{{1,6}}(?:and|or)?{_SPACE}?(?:{_METHOD}))*[`*\])]{{0,3}}", re.I
)
_PARAMETER = re.compile(r"\{.*\}|:.+|<.*>|\(.*\)|\[.*\]|\$.+|%\w|[A-Z][A-Z0-9]*_[A-Z0-9_]*|\*")


@dataclass(frozen=True, slots=True)
class WrittenEndpoint:
    """An endpoint as written. `address` is "https://host" if it is written before the path."""

    method: str
    path: str
    address: str = ""


def find_endpoints(line: str) -> list[WrittenEndpoint]:
    """Return the endpoints of a line: `<Route method="GET">/boats</Route>`, else "GET /boats", "GET, PUT /boats"."""
    if _LOGGED.search(line):
        return []
    text = plain_path(line)
    found = []
    for match in _ELEMENT.finditer(text):
        target = to_path(match["inner"].split("</", 1)[0].strip())
        if target is not None:
            found.append(WrittenEndpoint(match["method"].upper(), target[1], target[0]))
    for match in _METHODS_THEN_PATH.finditer(text) if not found else ():
        if match["path"] or match["host"]:
            path, address = clean_path(match["path"] or "/"), match["host"] or ""
            found += [WrittenEndpoint(method, path, address) for method in re.findall(_METHOD, match["methods"])]
    return found


def to_methods(cell: str) -> tuple[str, ...]:
    """Return the methods of a cell without other text: ("GET", "POST") of "`get`, `post`"."""
    if not _METHOD_LIST.fullmatch(cell.strip()):
        return ()
    return tuple(word.upper() for word in re.findall(r"[A-Za-z]+", cell) if word.upper() in METHODS)


def to_path(cell: str) -> tuple[str, str] | None:
    """Return (address, path) of a cell that is a path, None for other text."""
    match = _ONE_PATH.fullmatch(plain_path(cell).strip())
    if match is None or not (match["path"] or match["host"]):
        return None
    return match["host"] or "", clean_path(match["path"] or "/")


def clean_path(path: str) -> str:
    """Return a path without query, fragment and final punctuation."""
    path = re.sub(r"\{([^{}#]*)#[^{}]*\}", r"{\1}", path)
    path = re.sub(r"\{[?&][^{}]*\}", "", path)
    path = re.split(r"[?#]", path, maxsplit=1)[0].rstrip(".,;:!*_~=")
    return path or "/"


def shape_of(path: str) -> tuple[str, ...]:
    """Return the parts of a path, parameters as "{}": the same for "/users/{id}" and "/users/:name"."""
    return tuple("{}" if _PARAMETER.fullmatch(part) else part for part in path.strip("/").split("/"))


_URL = r"(?:https?://|\{\w+\}://|//)[^\s`'\"<>|()]{2,300}"
_BASE = re.compile(
    r"\b(?:base|root|api|server|production|service)[ _-]?(?:urls?|uris?|address|endpoint|host)\b"
    rf"[^\n]{{0,60}}?(?P<url>{_URL})|^[\W_]{{0,6}}servers?[*_ ]{{0,3}}:[*_` <]{{1,6}}(?P<server>{_URL})",
    re.IGNORECASE,
)
_BASE_HEADING = re.compile(
    r"(?:api )?(?:base|root|server)s?(?: (?:urls?|uris?|address|endpoint))?|servers", re.IGNORECASE
)
_AUTH_HEADING = re.compile(r"\b(?:authenticat|authoriz|authoris|security\b|credentials\b|api keys?\b)", re.IGNORECASE)
_NEGATED = re.compile(r"\b(?:no|not|without|n't|never)\b[^.]{0,40}\b(?:auth|key|token|credential|log)", re.IGNORECASE)
# Ways to prove who one is, in the order in which they are named.
_SCHEMES = (
    ("OAuth 2.0", re.compile(r"\boauth ?(?:v?2(?:\.0)?)?\b", re.IGNORECASE)),
    (
        "API key",
        re.compile(r"\b(?:api|access|secret|subscription)[ -]?keys?\b|\bx-api-key\b|\bapi[ _-]?token\b", re.IGNORECASE),
    ),
    ("bearer token", re.compile(r"\bbearer\b|\b(?:access|personal access) tokens?\b", re.IGNORECASE)),
    ("JWT", re.compile(r"\bJWTs?\b|\bjson web tokens?\b", re.IGNORECASE)),
    ("HTTP Basic", re.compile(r"\bhttp basic\b|\bbasic auth\w*|\bauthorization: basic\b", re.IGNORECASE)),
    ("mutual TLS", re.compile(r"\bmtls\b|\bmutual tls\b|\bclient certificates?\b", re.IGNORECASE)),
    ("HMAC signature", re.compile(r"\bhmac\b|\brequest signatures?\b", re.IGNORECASE)),
    ("session cookie", re.compile(r"\bsession cookies?\b|\bcookie auth\w*", re.IGNORECASE)),
)
_OPENAPI_SCHEME = re.compile(r"\*\*(?P<name>[^*\n]{1,100})\*\*: (?P<kind>\w+)(?:, scheme (?P<scheme>[\w-]+))?")


def find_base_url(pages: Sequence[Page], addresses: Sequence[str]) -> str | None:
    """Return the address before all paths: the stated one, or else the only host of `addresses`."""
    for page in pages:
        stated = _stated_base(MarkedText(page))
        if stated:
            return stated.rstrip(".,;:!*_/")
    hosts = {address for address in addresses if address}
    return hosts.pop() if len(hosts) == 1 else None


def _stated_base(text: MarkedText) -> str | None:
    """Return the address after a label such as "Base URL", or below such a heading."""
    under = False
    for line in text.lines:
        if line.heading:
            under = bool(_BASE_HEADING.fullmatch(plain(line.text)))
            continue
        if under:
            first = re.search(_URL, line.text)
            if first:
                return first[0]
            under = line.in_code
        match = _BASE.search(line.text[:2_000])
        if match and (not line.is_row or "base" in line.text.lower()):
            return match["url"] or match["server"]
    return None


def find_authentication(pages: Sequence[Page]) -> str | None:
    """Return the schemes named below headings about authentication: "OAuth 2.0, API key"; None without any."""
    found: dict[str, None] = {}
    for page in pages:
        under = 0
        for line in MarkedText(page).lines:
            if line.heading and (not under or line.heading <= under):
                under = line.heading if _AUTH_HEADING.search(line.text) else 0
            elif under and not line.is_row:
                found.update(dict.fromkeys(_schemes(line.text)))
    return ", ".join(found) or None


def _schemes(line: str) -> Iterator[str]:
    described = _OPENAPI_SCHEME.search(line)
    if described:
        yield f"{described['name']} ({' '.join(filter(None, (described['kind'], described['scheme'])))})"
        return
    for sentence in re.split(r"(?<=[.!?])\s", line):
        if not _NEGATED.search(sentence):
            yield from (name for name, pattern in _SCHEMES if pattern.search(sentence))
