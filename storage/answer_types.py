"""What kind of thing a question asks for, and whether a sentence holds one. Pure; English cues only: a weak hint."""

import re
from enum import StrEnum


class AnswerType(StrEnum):
    """What an answer has to contain. ANY: the question does not say."""

    ANY = "any"
    NUMBER = "number"
    DATE = "date"
    NAME = "name"


_CUES: tuple[tuple[AnswerType, re.Pattern[str]], ...] = (
    (
        AnswerType.DATE,
        re.compile(r"\b(?:when|(?:what|which) (?:year|month|day|date|time)|since when)\b", re.IGNORECASE),
    ),
    (
        AnswerType.NUMBER,
        re.compile(
            r"\bhow (?:much|many|long|far|old|often|big|wide|high|tall|deep|fast|heavy|large)\b"
            r"|\b(?:what|which) (?:number|price|cost|percentage|amount|size|version|limit)\b",
            re.IGNORECASE,
        ),
    ),
    (
        AnswerType.NAME,
        re.compile(r"\b(?:who|whom|whose|(?:what|which) (?:person|company|city|country))\b", re.IGNORECASE),
    ),
)
_MONTH = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|"
    r"aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_NUMBER_WORD = (
    r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|"
    r"million|billion|dozen|half|once|twice"
)
_SIGNS: dict[AnswerType, re.Pattern[str]] = {
    AnswerType.ANY: re.compile(""),
    AnswerType.NUMBER: re.compile(rf"\d|\b(?:{_NUMBER_WORD})\b", re.IGNORECASE),
    AnswerType.DATE: re.compile(
        rf"\b(?:1[0-9]|20)\d\d\b|\b(?:{_MONTH})\b|\b\d{{1,2}}:\d\d\b|\b\d{{1,2}}[./]\d{{1,2}}\b"
        r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b",
        re.IGNORECASE,
    ),
    # A capital that does not begin the sentence, or @handle.
    AnswerType.NAME: re.compile(r"(?<=[^\s.!?:])\s+[A-Z]|@\w"),
}


def expected_type(question: str) -> AnswerType:
    """The first kind whose cue words stand in the question."""
    return next((kind for kind, cue in _CUES if cue.search(question)), AnswerType.ANY)


def holds(sentence: str, kind: AnswerType) -> bool:
    """Whether `sentence` contains something of the kind; every sentence holds ANY."""
    return _SIGNS[kind].search(sentence) is not None
