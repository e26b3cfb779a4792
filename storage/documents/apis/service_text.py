"""What an API's documentation says of the service as a whole: where it is, and how its callers prove who they are."""

import re
from collections.abc import Sequence

from core.domain.corpus import Page
from storage.documents.markup.marked_text import Line, MarkedText, plain

_URL = r"(?:https?://|\{\w+\}://|//)[^\s`'\"<>|()]{2,300}"
_BASE = re.compile(
    r"\b(?:base|root|api|server|production|service)[ _-]?(?:urls?|uris?|address|endpoint|host)\b"
    rf"[^\n]{{0,60}}?(?P<url>{_URL})"
    rf"|\brelative to[^\n]{{0,60}}?(?P<relative>{_URL})"
    r"|\b(?:(?:paths?|endpoints?|routes?|requests?|calls?|resources?)\b[^\n.]{0,30}\b(?:below|under|starts? with"
    r"|begin with|prefixed (?:with|by)|served (?:from|at|under)|(?:sent|made|go) to|live at)"
    r"|(?:service|server|api) (?:listens|runs|lives|is (?:served|available|hosted|reachable|exposed))"
    r" (?:on|at|under|from))"
    rf"\b[^\n]{{0,30}}?(?P<told>{_URL})"
    rf"|^[\W_]{{0,6}}(?:servers?|host|root|base|url|address)[*_ ]{{0,3}}:[*_` <]{{1,6}}(?P<labelled>{_URL})",
    re.IGNORECASE,
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
    """The address that paths are added to: as it is stated, or else the one host that all of `addresses` name."""
    for page in pages:
        stated = _stated_base(MarkedText(page))
        if stated:
            return stated
    hosts = {address for address in addresses if address}
    return hosts.pop() if len(hosts) == 1 else None


def find_authentication(pages: Sequence[Page]) -> str | None:
    """Ways to prove who one is, joined by commas: "OAuth 2.0, API key"; None where nothing is said of it."""
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
        match = _BASE.search(line.text[:2_000])
        if match and not line.is_row:
            return _clean(match["url"] or match["relative"] or match["told"] or match["labelled"])
        if match and "base" in line.text.lower():
            return _clean(match["url"] or match["relative"] or match["told"] or match["labelled"])
    return None


def _clean(url: str) -> str:
    return url.rstrip(".,;:!*_/")
