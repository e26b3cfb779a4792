"""Detection of questions that clearly ask for a list of extracted rows, which need no search and no model. Pure.

Such a question is one request for a kind of rows in the plural ("decisions", "open action items", "NPCs"), and the rest
of it can be compared with rows. In doubt it isn't one: a question that refers to earlier ones ("those", "he"), asks a
second thing, ranks ("the latest") or excludes takes the usual way.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.knowledge.facts.rows import FactType
from core.text.words import collapse

LONGEST = 200  # characters: a longer text tells a story before it asks

_LEAD_WORDS = frozenset(
    """please can could you list show give tell name find me us what which are were there a complete full of all every
    each any the our these""".split()
)
_STATES = frozenset(
    "open outstanding pending unfinished undone incomplete overdue done finished completed closed".split()
)
_NOUNS: Mapping[str, FactType] = {
    **dict.fromkeys(("action items", "action-items", "action points", "to-dos", "todos"), FactType.ACTION_ITEM),
    **dict.fromkeys(("decisions", "resolutions"), FactType.DECISION),
    **dict.fromkeys(("endpoints", "api endpoints"), FactType.ENDPOINT),
}
_WITH_STATE = frozenset({"tasks", "actions"})  # action items, if a state is named
_OF_API = frozenset({"paths", "routes"})  # endpoints, if "of the ... API" follows
_ENTITIES: Mapping[str, str] = {  # people's word -> kind of entities
    **dict.fromkeys(("npcs", "monsters", "creatures"), "actor"),
    **dict.fromkeys(("persons", "people"), "person"),
    **dict.fromkeys(("places", "locations"), "place"),
    **dict.fromkeys(("organisations", "organizations", "companies"), "organisation"),
}
_AGREEING = frozenset({"decide", "decided", "agree", "agreed"})
_LONGEST_POSSESSIVE = 4  # words up to "'s"
_LONGEST_AGREEING = 5  # words up to "decide" in a question about decisions

# Words that can't be compared with rows: they refer back, ask more, rank, exclude, or begin another subject.
_BEYOND = frozenset(
    """he she they them it its his her hers their that those these there same i my me mine why how who whom whose what
    which when where if latest newest recent recently first most least longest shortest largest smallest highest lowest
    more less than top important best worst many much except excluding other another but unless or nor never instead
    versus vs compare compared compares change changed changes mean means because""".split()
)
_BEYOND_STEMS = ("differ", "explain", "summaris", "summariz")
_BEFORE_SPAN = frozenset({"this", "last", "next"})  # fine before a span: "last week"
_SPANS = frozenset("week month year quarter monday tuesday wednesday thursday friday saturday sunday".split())
# Columns that a list shows anyway: "with their owners and due dates", "and who owns them".
_COLUMN = (
    r"(?:owners?|assignees?|people responsible|responsible (?:people|persons?)|names|due dates?|dates?|deadlines?"
    r"|status(?:es)?|states|methods?|summar(?:y|ies)|descriptions?)"
)
_WHOSE = r"(?:the |their |its |all |each )?"
_COLUMNS = re.compile(
    rf",? (?:with|and|plus|including|showing|along with|together with) {_WHOSE}{_COLUMN}"
    rf"(?:(?:, and |, | and | or ){_WHOSE}{_COLUMN}){{0,5}}(?=[?.! ]*$| (?:of|from|in|for|about|on|at) )"
    r"|,? and who (?:owns|has|does|is responsible for|is doing|has to do|must do) (?:them|each of them|each|it)\b",
    re.IGNORECASE,
)
_THERE = re.compile(r" (?:are|were) there$", re.IGNORECASE)
_NEXT_SENTENCE = re.compile(r"[?!.;]\s+\S")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListIntent:
    """The rows that a question asks for: arguments of `find_extracts`, and a name for the rows."""

    query: str
    type: FactType
    noun: str


def detect_list_intent(text: str) -> ListIntent | None:
    """Return the list that a question clearly asks for; None for every other question."""
    question = _THERE.sub("", without_columns(collapse(text)).rstrip("?.! "))
    if not question or len(question) > LONGEST:
        return None
    words = question.split()
    lower = [word.casefold().rstrip(",:;") for word in words]
    if (end := _after_agreeing(lower)) is not None:
        rest = words[end + 1 :] if lower[end : end + 1] in (["on"], ["to"]) else words[end:]
        return None if _goes_beyond(rest) else _intent(FactType.DECISION, "decisions", "decisions", rest)
    start = next((place for place, word in enumerate(lower) if word not in _LEAD_WORDS), len(lower))
    of = start
    if (found := _read_noun(lower, start)) is None:
        of = start + _possessive(lower[start:])  # "the council's action items"
        found = _read_noun(lower, of)
    if found is None or _goes_beyond([*words[start:of], *words[found[1] :]]):
        return None
    kind, end = found
    noun, rest = " ".join(lower[of:end]), [*words[start:of], *words[end:]]
    if kind is FactType.ENTITY:
        return _intent(kind, "NPCs" if noun == "npcs" else noun, f"kind={_ENTITIES[noun]}", rest)
    return _intent(kind, noun, noun, rest)


def without_columns(text: str) -> str:
    """Return a request for a list without the columns that it names: "list the tasks with owners" asks for tasks."""
    return _COLUMNS.sub("", text)


def _intent(kind: FactType, noun: str, query: str, rest: Sequence[str]) -> ListIntent:
    return ListIntent(query=" ".join([query, *rest]), type=kind, noun=noun)


def _possessive(words: Sequence[str]) -> int:
    """Return the number of words up to an 's, if it comes soon."""
    ends = (place + 1 for place, word in enumerate(words[:_LONGEST_POSSESSIVE]) if word.endswith(("'s", "’s")))
    return next(ends, 0)


def _after_agreeing(words: Sequence[str]) -> int | None:
    """Return the place behind "did we agree", "was decided" and the like at the beginning; else None."""
    if words[:1] != ["what"] or words[1:2] not in (["was"], ["were"], ["has"], ["have"], ["did"]):
        return None
    end = next((place + 1 for place, word in enumerate(words[:_LONGEST_AGREEING]) if word in _AGREEING), None)
    between = words[2 : end - 1] if end is not None else []
    return end if between in ([], ["we"], ["been"]) or (len(between) == 2 and between[0] == "the") else None


def _read_noun(words: Sequence[str], start: int) -> tuple[FactType, int] | None:
    """Return the type that the words at `start` name, and the place behind them."""
    first = next((place for place in range(start, len(words)) if words[place] not in _STATES), len(words))
    for end in (first + 2, first + 1):
        noun = " ".join(words[first:end])
        if noun in _NOUNS and (first == start or _NOUNS[noun] is FactType.ACTION_ITEM):
            return _NOUNS[noun], end
        if noun in _WITH_STATE and first > start:
            return FactType.ACTION_ITEM, end
        if noun in _OF_API and first == start and words[end : end + 1] in (["of"], ["in"], ["from"]):
            return (FactType.ENDPOINT, end) if "api" in words[end:] else None
        if noun in _ENTITIES and first == start:
            return FactType.ENTITY, end
    return None


def _goes_beyond(rest: Sequence[str]) -> bool:
    words = [word.strip(".,;:!?()\"'“”‘’").casefold() for word in rest]
    for word, following in zip(words, [*words[1:], ""], strict=False):
        if word in _BEYOND or word.startswith(_BEYOND_STEMS) or (word in _BEFORE_SPAN and following not in _SPANS):
            return True
    return _NEXT_SENTENCE.search(" ".join(rest)) is not None
