"""Endpoints, addresses and authentication in API documentation written for people. Pure."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from core.domain.corpus import Page
from storage.documents.markup.marked_text import Line, MarkedText, plain, plain_path

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE")

_METHOD = "|".join(METHODS)
_SPACE = r"[ \t\xa0]"
# The address before a path, or its placeholder: https://host:1, //host, {{base}}, ${BASE}, $BASE, <base-url>, %BASE%.
_ADDRESS = (
    r"(?:(?P<{0}>https?://[^\s/`'\"<>|?#()]{{1,200}})|\{{{{[^{{}}\s]{{1,40}}\}}}}|\$\{{\w{{1,40}}\}}|\$\w{{1,40}}|"
    r"\{{\w{{1,20}}(?:[Uu][Rr][Ll]|[Hh]ost|HOST)\}}|<[\w -]{{1,20}}>|%\w{{1,20}}%)"
)
# A part of a path may be a parameter in any brackets, with white space in them.
_TAGS = r"(?:br|b|i|a|p|code|em|strong|span|td|tr|div|sup|sub)[ >]"
_PIECE = (
    rf"(?:\{{[^{{}}\n`|]{{1,100}}\}}|<(?!{_TAGS})[\w:. -]{{1,60}}>|\([\w:. ]{{1,40}}\)|\[[\w:. /]{{1,40}}\]|"
    r"[^\s`'\"<>|{}()\[\]\\])"
)
_PATH = rf"/{_PIECE}{{0,400}}"
# Text between a method and its path: " request to ", or marks and white space.
_TO = r" (?:(?:http )?(?:requests?|calls?) )?(?:to|at|against)(?: the)?(?: endpoint| path| url)? "
_BETWEEN = rf"(?:{_TO}|{_SPACE}|[`*:\])|=>~–—-]|</\w+>|<\w+>){{1,12}}"
_AND = rf"(?:{_SPACE}?[,|/]{_SPACE}?|{_SPACE}(?:or|and){_SPACE})"

_METHODS_THEN_PATH = re.compile(
    rf"(?<![\w/.$-])(?P<methods>(?:{_METHOD})(?:{_AND}(?:{_METHOD}))*)"
    rf"{_BETWEEN}{_ADDRESS.format('host')}?(?P<path>{_PATH})?"
)
_PATH_THEN_METHODS = re.compile(
    rf"(?<![\w/:.])(?P<path>{_PATH}){_SPACE}?[`*]{{0,3}}{_SPACE}?[(\[:–—-]{{0,2}}{_SPACE}?[`*]{{0,3}}"
    rf"(?P<methods>(?:{_METHOD})(?:{_SPACE}?[,|/]{_SPACE}?(?:{_METHOD}))*)(?![\w/])(?!{_SPACE}+[`*]{{0,3}}/)"
)
_ELEMENT = re.compile(
    rf"<\w{{1,40}}\b[^<>\n]{{0,300}}?\b(?:http-?)?(?:method|verb)={{0,1}}[\"'{{]{{0,2}}(?P<method>{_METHOD})\b[^<>\n]{{0,300}}>"
    r"(?P<inner>[^\n]{0,600})",
    re.IGNORECASE,
)
_ATTRIBUTE_PATH = re.compile(
    rf"\b(?:path|url|endpoint|route|uri|href)=[\"'{{]{{1,2}}{_ADDRESS.format('host')}?(?P<path>{_PATH})"
)
_DIRECTIVE = re.compile(rf"\bhttp:(?P<method>{_METHOD})::{_SPACE}+(?P<path>{_PATH})", re.IGNORECASE)
_CALL = re.compile(
    r"(?:\b(?:requests|httpx|axios|client|session|http|app|router|api|server|blueprint|bp|fastify|self)|\$http)\."
    rf"(?P<method>{_METHOD})\({_SPACE}*[frbuFRBU]?[\"'`]{_ADDRESS.format('host')}?(?P<path>{_PATH})",
    re.IGNORECASE,
)
_CURL = re.compile(r"(?:^|[\s$`(])curl(?:\.exe)?\s")
_CURL_METHOD = re.compile(r"\s(?:-X|--request)[ =]?[\"']?(?P<method>[A-Z]{2,20})\b")
_CURL_BODY = re.compile(r"(?<=\s)(?:-d|--data\S{0,12}|-F|--form\S{0,8}|--json)\b")
_CURL_HEAD = re.compile(r"(?<=\s)(?:-I|--head)\b")
_CURL_UPLOAD = re.compile(r"(?<=\s)(?:-T|--upload-file)\b")
_CURL_TARGET = re.compile(
    rf"(?<=[\s\"'=])(?:(?P<host>https?://[^\s/`'\"<>|?#()]{{1,200}})(?P<path>{_PATH})?"
    rf"|(?:{_ADDRESS.format('other')}|(?<![-\w])(?:localhost|[\w-]{{1,60}}(?:\.[\w-]{{1,60}}){{1,5}})(?::\d{{1,5}})?)"
    rf"(?P<other_path>{_PATH}))"
)
# Commands that fetch a program instead of calling a service.
_TO_SHELL = re.compile(r"\|\s*(?:sudo\s+)?(?:-\w+\s+)*(?:ba|z|k)?sh\b")
_DOWNLOAD = re.compile(r"\.(?:sh|bash|ps1|tgz|tar\.\w+|zip|deb|rpm|dmg|exe|msi|whl|jar|asc|gpg)$", re.IGNORECASE)
_LOGGED = re.compile(r"HTTP/\d(?:\.\d)?[\"']?\s+\d{3}\b")
_ONE_PATH = re.compile(rf"[`*\"'\[(]{{0,3}}{_ADDRESS.format('host')}?(?P<path>{_PATH})?[`*\"'\])]{{0,3}}\.?")
_METHOD_LIST = re.compile(
    rf"[`*\[(]{{0,3}}(?:{_METHOD})(?:[\s,/|&`*]{{1,6}}(?:and|or)?{_SPACE}?(?:{_METHOD}))*[`*\])]{{0,3}}", re.I
)
_PARAMETER = re.compile(r"\{.*\}|:.+|<.*>|\(.*\)|\[.*\]|\$.+|%\w|[A-Z][A-Z0-9]*_[A-Z0-9_]*|\*")


class Strength(IntEnum):
    """How surely a line describes an endpoint, rather than using or mentioning one."""

    MENTION = 0
    EXAMPLE = 1
    STATED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenEndpoint:
    """An endpoint as written in a line. `address` is "https://host" if the line has it."""

    method: str
    path: str
    strength: Strength
    address: str = ""


def find_endpoints(line: str, *, in_code: bool, is_stated: bool) -> list[WrittenEndpoint]:
    """Return all endpoints of a line. `is_stated`: a heading, an item or a row, where endpoints are listed."""
    if _LOGGED.search(line):
        return []
    text = plain_path(line)
    if _CURL.search(text):
        return list(_in_curl(text))
    strength = Strength.EXAMPLE if in_code else Strength.STATED if is_stated else Strength.MENTION
    found = [*_in_elements(text), *_in_directives(text)]
    return found or [*_in_words(text, strength), *(_in_calls(text) if in_code else [])]


def to_methods(cell: str) -> tuple[str, ...]:
    """Return the methods of a cell or label without other text: ("GET", "POST") of "`get`, `post`"."""
    if not _METHOD_LIST.fullmatch(cell.strip()):
        return ()
    return tuple(word.upper() for word in re.findall(r"[A-Za-z]+", cell) if word.upper() in METHODS)


def to_path(cell: str) -> tuple[str, str] | None:
    """Return (address, path) of a cell or label that is a path, None for other text."""
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


def is_use(written: WrittenEndpoint, shapes: Sequence[tuple[str, ...]]) -> bool:
    """Return whether an example or mention fills in one of some shapes, maybe after the path of its base address."""
    if written.strength is Strength.STATED:
        return False
    own = shape_of(written.path)
    for shape in shapes:
        tail = own[-len(shape) :]
        has_base = tail != own
        if own == shape or len(tail) < len(shape) or (has_base and not written.address):
            continue
        same = tail == shape != ("",) if has_base else False
        if same or ("{}" in shape and all(wanted in ("{}", part) for part, wanted in zip(tail, shape, strict=True))):
            return True
    return False


def is_alone(piece: str) -> bool:
    """Return whether a line is only there for its endpoint: it begins with a method, and is short."""
    words = plain(piece).split()
    return bool(words) and (words[0].rstrip(":").upper() == words[0].rstrip(":")) and len(words) <= 4


def repeats_with_base(written: WrittenEndpoint, base_url: str, stated: Collection[tuple[str, tuple[str, ...]]]) -> bool:
    """Return whether an example is a stated endpoint (method, shape) after the path of the base address."""
    prefix = re.sub(r"^[^/]*//[^/]*", "", base_url).rstrip("/")
    if written.strength is Strength.STATED or not prefix or not written.path.startswith(f"{prefix}/"):
        return False
    return (written.method, shape_of(written.path.removeprefix(prefix))) in stated


def _in_words(text: str, strength: Strength) -> Iterator[WrittenEndpoint]:
    found = False
    for match in _METHODS_THEN_PATH.finditer(text):
        if not (match["path"] or match["host"]):
            continue
        path = clean_path(match["path"] or "/")
        if path == "/" and strength is Strength.MENTION and "`" not in match[0]:
            continue
        found = True
        for method in re.findall(_METHOD, match["methods"]):
            yield WrittenEndpoint(method=method, path=path, strength=strength, address=match["host"] or "")
    if found:
        return
    for match in _PATH_THEN_METHODS.finditer(text):
        path = clean_path(match["path"])
        if path != "/" or strength is not Strength.MENTION:
            for method in re.findall(_METHOD, match["methods"]):
                yield WrittenEndpoint(method=method, path=path, strength=strength)


def _in_elements(text: str) -> Iterator[WrittenEndpoint]:
    for match in _ELEMENT.finditer(text):
        inner = match["inner"].split("</", 1)[0].strip()
        inside = _ATTRIBUTE_PATH.search(match[0].split(">", 1)[0])
        if inside is not None:
            address, path = inside["host"] or "", clean_path(inside["path"])
        else:
            target = to_path(inner)
            if target is None:
                continue
            address, path = target
        yield WrittenEndpoint(method=match["method"].upper(), path=path, strength=Strength.STATED, address=address)


def _in_directives(text: str) -> Iterator[WrittenEndpoint]:
    for match in _DIRECTIVE.finditer(text):
        yield WrittenEndpoint(method=match["method"].upper(), path=clean_path(match["path"]), strength=Strength.STATED)


def _in_calls(text: str) -> Iterator[WrittenEndpoint]:
    for match in _CALL.finditer(text):
        path, address = clean_path(match["path"]), match["host"] or ""
        yield WrittenEndpoint(method=match["method"].upper(), path=path, strength=Strength.EXAMPLE, address=address)


def _in_curl(text: str) -> Iterator[WrittenEndpoint]:
    target = _CURL_TARGET.search(text)
    if target is None:
        return
    named = _CURL_METHOD.search(text)
    if named and named["method"] not in METHODS:
        return
    if named:
        method = named["method"]
    elif _CURL_HEAD.search(text):
        method = "HEAD"
    elif _CURL_UPLOAD.search(text):
        method = "PUT"
    else:
        method = "POST" if _CURL_BODY.search(text) and not re.search(r"\s(?:-G|--get)\b", text) else "GET"
    path = clean_path(target["path"] or target["other_path"] or "/")
    if _TO_SHELL.search(text) or (method == "GET" and _DOWNLOAD.search(path)):
        return
    yield WrittenEndpoint(method=method, path=path, strength=Strength.EXAMPLE, address=target["host"] or "")


_URL = r"(?:https?://|\{\w+\}://|//)[^\s`'\"<>|()]{2,300}"
# Sentences and labels that give the address before all paths.
_BASES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:base|root|api|server|production|service)[ _-]?(?:urls?|uris?|address|endpoint|host)\b"
        rf"[^\n]{{0,60}}?(?P<url>{_URL})",
        rf"\brelative to[^\n]{{0,60}}?(?P<url>{_URL})",
        r"\b(?:paths?|endpoints?|routes?|requests?|calls?|resources?)\b[^\n.]{0,30}\b(?:below|under|starts? with"
        rf"|begin with|prefixed (?:with|by)|served (?:from|at|under)|(?:sent|made|go) to|live at)\b"
        rf"[^\n]{{0,30}}?(?P<url>{_URL})",
        r"\b(?:service|server|api) (?:listens|runs|lives|is (?:served|available|hosted|reachable|exposed))"
        rf" (?:on|at|under|from)\b[^\n]{{0,30}}?(?P<url>{_URL})",
        rf"^[\W_]{{0,6}}(?:servers?|host|root|base|url|address)[*_ ]{{0,3}}:[*_` <]{{1,6}}(?P<url>{_URL})",
    )
)
_BASE_HEADING = re.compile(
    r"(?:api )?(?:base|root|server)s?(?: (?:urls?|uris?|address|endpoint))?|servers", re.IGNORECASE
)
_AUTH_HEADING = re.compile(r"\b(?:authenticat|authoriz|authoris|security\b|credentials\b|api keys?\b)", re.IGNORECASE)
_AUTH_WORDS = re.compile(
    r"\bauth(?:enticat|oriz|oris)\w*|\bheader|\bcredential|\b(?:every|all|each) (?:api )?(?:request|call)s?\b"
    r"|\brequests? (?:must|need|require)|\bsigned in\b|\blog ?in\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:no|not|without|n't|never|unauthenticated)\b[^.]{0,40}\b(?:auth|key|token|credential|log)|\bpublic api\b"
    r"|\b401\b|\b403\b",
    re.IGNORECASE,
)
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
            return stated
    hosts = {address for address in addresses if address}
    return hosts.pop() if len(hosts) == 1 else None


def find_authentication(pages: Sequence[Page]) -> str | None:
    """Return the authentication schemes, joined by commas: "OAuth 2.0, API key"; None if the pages name none."""
    found: dict[str, None] = {}
    for page in pages:
        text = MarkedText(page)
        under = 0
        for line in text.lines:
            if line.heading and (not under or line.heading <= under):
                under = line.heading if _AUTH_HEADING.search(line.text) else 0
                continue
            found.update(dict.fromkeys(_schemes(line, under=bool(under))))
    return ", ".join(found) or None


def _schemes(line: Line, *, under: bool) -> list[str]:
    described = _OPENAPI_SCHEME.search(line.text) if under else None
    if described:
        kind = " ".join(filter(None, (described["kind"], described["scheme"])))
        return [f"{described['name']} ({kind})"]
    found = []
    for sentence in re.split(r"(?<=[.!?])\s", line.text):
        told = under or bool(_AUTH_WORDS.search(sentence)) or (line.in_code and "uthorization:" in sentence)
        if told and not line.is_row and not _NEGATED.search(sentence):
            found += [name for name, pattern in _SCHEMES if pattern.search(sentence)]
    return found


def _stated_base(text: MarkedText) -> str | None:
    under = False
    for line in text.lines:
        if line.heading:
            under = bool(_BASE_HEADING.fullmatch(plain(line.text)))
            continue
        if under:
            first = re.search(_URL, line.text)
            if first or not line.in_code:
                under = False
            if first:
                return _clean(first[0])
        match = next((found for base in _BASES if (found := base.search(line.text[:2_000]))), None)
        if match and (not line.is_row or "base" in line.text.lower()):
            return _clean(match["url"])
    return None


def _clean(url: str) -> str:
    return url.rstrip(".,;:!*_/")
