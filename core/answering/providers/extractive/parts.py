"""What a question asks for: the form of the answer, and the parts of a question with several interrogatives. Pure.

Each part is searched and quoted apart.
"""

import re
from enum import StrEnum

from core.knowledge.covering import read_pair_request
from core.text.courtesies import read_courtesies
from core.text.words import content_words


class RequestKind(StrEnum):
    QUESTION = "question"
    SUMMARY = "summary"
    LIST = "list"


_LIST = re.compile(
    r"^\W*(?:please )?(?:list|enumerate|name)\b(?! of)|\blist (?:of|all)\b|^give (?:me )?all\b|^what are all\b"
    r"|^(?:and )?(?:which|what) (?:\w+ ){0,3}(?:decisions|action items|actions|items|members|steps)\b"
    r"|^(?:and )?who (?:attended|took part|participated|(?:was|were) (?:all )?(?:present|there|at|in|on))\b",
    re.IGNORECASE,
)
_SUMMARY = re.compile(
    r"^\W*(?:please )?(?:summari[sz]e|sum up|give (?:me )?an? (?:summary|overview)|recap)\b|\b(?:summary|overview) of\b"
    r"|^what (?:is|was) .{0,80}\babout\W*$",
    re.IGNORECASE,
)


def request_kind(question: str, system: str = "") -> RequestKind:
    """Return the form of answer that the question or the prompt (agent/prompts.py) asks for."""
    if 'query_type "summary"' in system or _SUMMARY.search(question):
        return RequestKind.SUMMARY
    if 'query_type "extraction"' in system or _LIST.search(question):
        return RequestKind.LIST
    return RequestKind.QUESTION


MOST_PARTS = 3
# "and" joins two questions only if another question word follows: "what is the fare, and who sets it?".
_JOINED = re.compile(
    r"(?:[?;] (?:and |also |und |y )?|,? (?:and|also|und|y) (?:also )?)"
    r"(?=(?:(?:by|until|since|for|from|to|in|at|with) )?(?:what|who|whom|whose|when|where|which|why|how"
    r"|was|wer|wann|wo|welche[rsn]?|wie|warum|qué|quién|cuándo|dónde|cómo"
    r"|is|are|does|do|did|can)(?:['’]s)? )",
    re.IGNORECASE,
)
_LEADING = re.compile(r"^(?:hi|hello|hey|please|also|and)[ ,!.]+", re.IGNORECASE)
# A question word that another one shares its question with: "when and where does it meet?".
_BARE = re.compile(r"(?:what|who|when|where|which|why|how|wann|wo|wer|wie|was)", re.IGNORECASE)
# The first part may have the thing that a part without a word of its own points at: "who does it?".
_POINTS = re.compile(
    r"\b(?:it|that|this|they|them|he|she|him|her|there|those)\b|^(?:by|until|since|for|from)\b", re.IGNORECASE
)

# "Which was higher: the fare of May or the fare of June?"
_EITHER = re.compile(
    r"^(?:which|what|who)\b[^:?]{2,60}: (?P<first>[^:?]{4,100}) or (?P<second>[^:?]{4,100})$", re.IGNORECASE
)

# "What is the address of the museum, and the fare of the ferry?", not "the name of the mate, and the captain?".
_BOTH = re.compile(
    r"^(?P<verb>what(?:['’]s| is| are| was| were)) (?P<first>the [^,:;?]{4,80})"
    r", and (?P<second>the [^,:;?]{2,60} (?:of|for|in|at|from) [^,:;?]{2,60})$",
    re.IGNORECASE,
)

# Longer ones are clauses: "what he said".
THING_WORDS = 4


def _are_things(*said: str) -> bool:
    return all(content_words(thing) and len(thing.split()) <= THING_WORDS for thing in said)


def parts_of(question: str) -> list[str]:
    """Return the parts of a question in order, each ending in "?"; one if it has no parts, or too many."""
    line = " ".join((read_courtesies(question).rest or question).split())
    if (either := _EITHER.match(line.rstrip("?. "))) is not None:
        return [f"{part.strip()}?" for part in either.group("first", "second")]
    if (pair := read_pair_request(line)) is not None and not pair.changed and _are_things(pair.first, pair.second):
        return [f"What is {pair.first}?", f"What is {pair.second}?"]
    if (both := _BOTH.match(line.rstrip("?. "))) is not None:
        return [f"{both['verb']} {part}?" for part in both.group("first", "second")]
    parts = [part.strip(" ,;.?") for part in _JOINED.split(_LEADING.sub("", line).rstrip("?"))]
    alone = [question.strip()]
    if not 1 < len(parts) <= MOST_PARTS or any(_BARE.fullmatch(part) for part in parts):
        return alone
    if not content_words(parts[0]) or not all(content_words(part) or _POINTS.search(part) for part in parts):
        return alone
    return [f"{part}?" for part in parts]
