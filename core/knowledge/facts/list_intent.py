"""Which questions clearly ask for a list of extracted rows, so that no search and no model is needed. Pure.

The rule, in one sentence: it is one request whose subject is a kind of rows in the plural ("decisions", "open action
items", "NPCs"),
and whatever else it says can be compared with rows. It refuses rather than guesses: what points to something said
before ("those", "he"), asks a second thing, ranks ("the latest") or excludes is left to the usual way; so is, later,
whatever no row fits.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from core.knowledge.facts.rows import FactType
from core.text.words import collapse

LONGEST = 200  # characters: a longer text tells a story before it asks

# Kinds of entities by what people call them.
_KINDS: Mapping[str, str] = {
    "npc": "actor",
    "monster": "actor",
    "creature": "actor",
    "person": "person",
    "people": "person",
    "place": "place",
    "location": "place",
    "organisation": "organisation",
    "organization": "organisation",
    "company": "organisation",
}
_STATE = (
    r"(?:open|outstanding|pending|unfinished|undone|incomplete|overdue|late|past due|done|finished|completed|closed|"
    r"unassigned)"
)
_LEAD = (
    r"(?:(?:please|can you|could you)\s+)?(?:(?:(?:list|show|give|tell|name)(?:\s+(?:me|us))?|find|what\s+(?:are|were)|"
    r"which(?:\s+(?:are|were))?|what|are\s+there)\s+)?(?:(?:a\s+)?(?:complete|full)?\s*list\s+of\s+)?"
    r"(?:(?:all|every|each|any|the|of|our|these)\s+)*"
)
_NOUNS = (
    (FactType.ACTION_ITEM, rf"(?:{_STATE}\s+)*(?:action[ -]?(?:items|points)|to-?dos)"),
    (FactType.ACTION_ITEM, rf"(?:{_STATE}\s+)+(?:tasks|actions)"),
    (FactType.DECISION, r"(?:decisions|resolutions)"),
    (FactType.ENDPOINT, r"(?:api\s+)?(?:endpoints|routes|paths)(?=\s+(?:of|in|from)\b.*\bapi\b)"),
    (FactType.ENDPOINT, r"(?:api\s+)?endpoints"),
    (FactType.ENTITY, r"(?:npcs|monsters|creatures|persons|people|places|locations|organi[sz]ations|companies)"),
)
_DECIDED = re.compile(
    r"what\s+(?:(?:was|were|has been|have been|have we|did we|did the \w+)\s+)(?:decided?|agreed?)(?:\s+(?:on|to))?\b",
    re.IGNORECASE,
)
_SUBJECTS = [
    (kind, re.compile(rf"{_LEAD}(?P<noun>{noun})(?![\w-])(?P<rest>.*)\Z", re.IGNORECASE)) for kind, noun in _NOUNS
]
_SPAN = r"(?:week|month|year|quarter|monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
# What a row can't be compared with: it points back, asks more, ranks, excludes, or goes on to another subject.
_BEYOND = re.compile(
    rf"\b(?:he|she|they|them|it|its|his|her|hers|their|that|those|these|this(?!\s+{_SPAN})|there|same|i|my|me|mine|"
    rf"why|how|who|whom|whose|what|which|when|where|if|"
    rf"latest|newest|recent|recently|last(?!\s+{_SPAN})|first|next(?!\s+{_SPAN})|most|least|longest|shortest|largest|"
    rf"smallest|highest|lowest|more|less|than|top|important|best|worst|many|much|"
    rf"except|excluding|other|another|but|unless|or|nor|never|instead|versus|vs|compare[ds]?|changed?|differ\w*|"
    rf"explain\w*|summari[sz]e\w*|means?|because)\b|[?!.;]\s+\S",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What to look up: arguments of `find_extracts`, and what the rows are called."""

    query: str
    type: FactType
    noun: str


def asked_facts(text: str) -> Asked | None:
    """What a question clearly asks to be listed; None for every other question."""
    question = collapse(text).rstrip("?.! ")
    if not question or len(question) > LONGEST:
        return None
    if match := _DECIDED.match(question):
        rest = question[match.end() :]
        return (
            None if _goes_beyond(rest) else Asked(query=f"decisions {rest}", type=FactType.DECISION, noun="decisions")
        )
    for kind, subject in _SUBJECTS:
        if match := subject.match(question):
            if _goes_beyond(match["rest"]):
                return None
            if kind is FactType.ENTITY:
                return _of_entities(match["noun"], match["rest"])
            asked = f"{match['noun']}{match['rest']}"
            return Asked(query=asked, type=kind, noun=_said(match["noun"]))
    return None


def _goes_beyond(rest: str) -> bool:
    return _BEYOND.search(rest) is not None


def _of_entities(noun: str, rest: str) -> Asked:
    single = noun.casefold().removesuffix("s").replace("companie", "company")
    return Asked(query=f"kind={_KINDS[single]} {rest.strip()}".strip(), type=FactType.ENTITY, noun=_said(noun))


def _said(noun: str) -> str:
    return "NPCs" if noun.casefold() == "npcs" else noun.lower()
