"""From a question in a conversation to a query that can be understood on its own. Pure.

A follow-up gets the content words of what was asked before it, in brackets; a question that stands alone is left as it
is. Measured on 53 follow-ups of our own: the right document was cited for .43 of them without the words, .96 with them;
adding words of the answer instead (.70), or of both (.89 to .92), was worse.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.domain.answer import ChatMessage, ChatRole
from core.text.words import STOPWORDS, content_words, words

# Words taken over from the question before: enough for its subject, not so many that they drown the new question.
CONTEXT_WORDS = 14
# Fewer content words than this and no name: the question is too short to be about anything by itself.
STANDALONE_WORDS = 2

_CONNECTIVE = re.compile(r"^\W*(?:and|so|but|then|also|what about|how about|or|same for)\b", re.IGNORECASE)
_POINTING = re.compile(
    r"\b(?:its|he|she|him|her|his|hers|they|them|their|theirs|those|these|(?:the|that|this) (?:one|other|same)|"
    r"the others?|there|else|altogether|instead|itself)\b|\b(?:then|one)\W*$"
    r"|\bit\b(?! (?:takes?|is|was|possible|rain|mean)\b)"
    r"|\b(?:that|this)\b(?= \w+[?]|[?]|$| (?:\w+ ){0,2}(?:need|change|mean|cost|take|get|call|file|command|work)\b)"
    r"|\b(?:get|do|did|does|was|is|will|of|for|with|to|by|about|change) (?:that|this)\b",
    re.IGNORECASE,
)
# "it" and "there" that point to nothing.
_EXPLETIVE = re.compile(
    r"\b(?:does|did|will|would|can|could|is|was) it (?:take|possible|mean|happen|matter)\b"
    r"|\b(?:is|are|was|were) there\b"
    r"|\bhow (?:long|much|many \w+) (?:does|did|will|would) it take\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"(?<![\w'’./@#+-])[\w'’./@#+-]*\w")
_LIST = re.compile(
    r"^\W*(?:please )?(?:list|enumerate|name)\b(?! of)|\blist (?:of|all)\b|^give (?:me )?all\b|^what are all\b"
    r"|^(?:and )?(?:which|what) (?:\w+ ){0,3}(?:decisions|action items|actions|items|members|steps)\b"
    r"|^(?:and )?who (?:attended|was present|were present|took part|participated)\b",
    re.IGNORECASE,
)
_SUMMARY = re.compile(
    r"^\W*(?:please )?(?:summari[sz]e|sum up|give (?:me )?an? (?:summary|overview)|recap)\b|\b(?:summary|overview) of\b"
    r"|^what (?:is|was) .{0,80}\babout\W*$",
    re.IGNORECASE,
)


class RequestKind(StrEnum):
    QUESTION = "question"
    SUMMARY = "summary"
    LIST = "list"


def request_kind(question: str, system: str = "") -> RequestKind:
    """What form of answer is asked for: by the words of the question, or by the prompt (prompts.py)."""
    if 'query_type "summary"' in system or _SUMMARY.search(question):
        return RequestKind.SUMMARY
    if 'query_type "extraction"' in system or _LIST.search(question):
        return RequestKind.LIST
    return RequestKind.QUESTION


def is_follow_up(question: str) -> bool:
    """Whether the question leans on what was said before it."""
    rest = _EXPLETIVE.sub(" ", question)
    if _CONNECTIVE.search(question) or _POINTING.search(rest):
        return True
    named = any(word[0].isupper() or any(map(str.isdigit, word)) for word in _WORD.findall(question)[1:])
    return not named and len(content_words(question)) < STANDALONE_WORDS


def asked_before(history: Sequence[ChatMessage]) -> str | None:
    """The last question of the history, self-contained: the query that was searched for it, else its text."""
    for turn in reversed(history):
        for call in turn.tool_invocations:
            query = call.arguments.get("query")
            if isinstance(query, str) and query.strip():
                return query
        if turn.role is ChatRole.USER and turn.text.strip():
            return turn.text
    return None


def in_context(question: str, before: str) -> str:
    """The question with the content words of the one before that it does not have itself."""
    own = set(words(question))
    taken: dict[str, None] = {}
    for word in _WORD.findall(before):
        if word.lower() not in own and word.lower() not in STOPWORDS:
            taken.setdefault(word)
    bare = question.strip().rstrip("?").rstrip()
    return f"{bare} ({' '.join(list(taken)[:CONTEXT_WORDS])})?" if taken else question.strip()


@dataclass(frozen=True, slots=True)
class Query:
    """What to search for, and the question that the passages found are judged by."""

    search: str
    judged: str


def queries(question: str, history: Sequence[ChatMessage]) -> list[Query]:
    """One or two, with different searches: the second is for when the first answers nothing."""
    before = asked_before(history)
    alone = question.strip()
    if before is None:
        keywords = " ".join(word for word in _WORD.findall(alone) if word.lower() not in STOPWORDS)
        order = [Query(alone, alone), Query(keywords or alone, alone)]
    else:
        joined = in_context(alone, before)
        order = [Query(alone, alone), Query(joined, joined)]
        if is_follow_up(alone):
            order = [order[1], Query(f"{before} {alone}", joined)]
    return order if order[0].search != order[1].search else order[:1]
