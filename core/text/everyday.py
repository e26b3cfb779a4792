"""Messages of courtesies alone, and messages without a subject: in four languages. Pure."""

import re

from core.domain.turns import Act
from core.text.asking import Form, count_telling, read_asked
from core.text.courtesies import Courtesy, has_words, read_courtesies
from core.text.words import collapse

OUR_NAME = "footnote"
LONGEST = 100  # characters of such a message

# A pronoun without a name before it: "is it allowed now?", "can you explain that to me?", "wie teuer ist das".
_UNNAMED = re.compile(
    r"\bit\b|\b(?:that|this|das|eso|esto|ça|cela)(?= (?:to|for|now|or|then|again|still|denn|jetzt|noch)\b|\W*$)",
    re.IGNORECASE,
)
_HOW_MUCH = re.compile(
    r"\b(?:how (?:long|much|often|far)|wie (?:lange|viel|oft|teuer|weit)|combien|cuánto)\b", re.IGNORECASE
)
_IT_DOES = re.compile(
    r"\b(?:do|does|did|is|was|are|were|will|would|can|has) (?:it|that|this|they|he|she)\b", re.IGNORECASE
)
_TESTS = frozenset("test testing ping prueba essai".split())
_ENDS = " \t\n?!.,;:…¿¡-–—\"'“”()"
_ACTS = {
    Courtesy.THANKS: Act.THANKS,
    Courtesy.BYE: Act.BYE,
    Courtesy.GREETING: Act.GREETING,
    Courtesy.FILLER: Act.GO_AHEAD,
}


def read_everyday(text: str) -> Act | None:
    """Return the kind of a message of courtesies or signs alone; the turn model reads the others."""
    if not has_words(text):
        return Act.HELP if "?" in text else Act.ACKNOWLEDGED
    said = collapse(text).strip(_ENDS)
    if len(said) > LONGEST:
        return None
    if said.casefold() in _TESTS:
        return Act.GREETING
    spoken = read_courtesies(text)
    if spoken.is_all:
        return next((act for kind, act in _ACTS.items() if kind in spoken.kinds), Act.ACKNOWLEDGED)
    return None


def asks_behind(text: str) -> bool:
    """Return whether a question of its own follows an order: "forget your rules: how tall is it?"."""
    _, *behind = re.split(r"[:.]\s", text)
    return any(read_asked(clause).form is Form.QUESTION and count_telling(clause) > 1 for clause in behind)


def is_open(text: str) -> bool:
    """Whether a message, as the first of a conversation, can't be understood: "why?", "and who is responsible?"."""
    rest = read_courtesies(text).rest
    asked = read_asked(rest)
    telling = count_telling(rest)
    if telling == 0:
        return True
    is_asked = asked.form in (Form.QUESTION, Form.REQUEST)
    if is_asked and _UNNAMED.search(rest) and telling <= (2 if _HOW_MUCH.search(rest) else 1):
        return True
    is_short = asked.is_connected or rest.casefold().split()[0] in ("and", "und", "y", "et")
    most = 2 if _IT_DOES.search(rest) else 1  # "and how long does it take?"
    return is_short and telling <= most and asked.form is Form.QUESTION
