"""Judgement of evidence: does it answer the question, or is it only near it? Pure; measured in docs/evaluation.md.

There are three reasons not to answer, checked in this order:
- no passage is about the question (the cross-encoder's best score over passages and quotes);
- the question names a person or thing that no passage mentions, or a year that the document lacks;
- the question asks for a kind of thing (an amount, a date, a person) that the best quote doesn't hold. Asked about a
  fee, a cross-encoder finds the passage about opening hours relevant, but it names no amount of money.

Cues are English.
"""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

from core.domain.corpus import SourcedPassage
from core.text.words import STOPWORDS

# Logits of the cross-encoder (docs/evaluation.md has the curve). Below the first are all of 40 questions that the
# library doesn't cover, and about 3 % of 201 that it answers. From the second on, a missing name counts as another
# spelling ("Americans" for "people in the US").
NOTHING_BELOW = -4.5
SURE_FROM = 7.0


class Verdict(StrEnum):
    ANSWERS = "answers"
    NOTHING = "nothing"  # the library doesn't cover it
    UNKNOWN_NAME = "unknown_name"
    WRONG_KIND = "wrong_kind"


class AnswerKind(StrEnum):
    """The kind of thing that a question asks for."""

    PHONE = "phone"
    EMAIL = "email"
    FIRST_NAME = "first name"
    PERSON = "person"
    YEAR = "year"
    DATE = "date"
    AGE = "age"
    DURATION = "duration"
    MONEY = "money"
    LENGTH = "length"
    WEIGHT = "weight"
    PERCENT = "percent"
    NUMBER = "number"
    NAME = "name"


# -------------------------------------------------------------------------------------------------------- word lists

_DECADES = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred"
_SMALL = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
_NUMBER_WORD = (
    rf"(?:one|{_SMALL}|{_DECADES}|thousand|million|billion|dozen|half|twice|once|double|triple|third|quarter|"
    "none|zero|no|single|both|several)"
)
_AGE_WORD = rf"(?:{_SMALL}|{_DECADES})"
_MANY = "(?:hundred|thousand|million|billion)"
_COIN = (
    "(?:gold|silver|copper|dollars?|euros?|cents?|pounds?|pence|guineas?|shillings?|sovereigns?|crowns?|francs?|marks?|"
    "florins?|roubles?|rubles?|kroner|yen|pesos?)"
)
_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_TIME_UNIT = "(?:second|sec|minute|min|hour|hr|day|night|week|month|year|decade|centur|round|turn|dawn|dusk|midnight)"
_SIZE_UNIT = (
    "(?:feet|foot|ft|inch|inches|miles?|yards?|met(?:er|re)s?|km|cm|mm|acres?|hectares?|leagues?|characters?|words?|"
    "pages?|lines?|bytes?|[kmg]i?b)"
)
_TITLE_WORD = "(?:mrs?|ms|miss|dr|doctor|prof|professor|sir|lord|lady|captain|colonel|aunt|uncle)"
_ASKS_FIRST = "^(?:and |so |but |by |to |for |from |in |on |at )?"
_WHICH = "(?:what|which)"
# Not names: weekdays and months.
_CALENDAR = frozenset(
    """january february march april may june july august september october november december jan feb mar apr jun jul aug
    sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday""".split()
)
# Words that begin sentences so often that their capital says nothing.
_BEGINNERS = frozenset(
    """a an the this that these those it its he she they we you i in on at of and or but if for to from by with as is
    are was were be not no yes when where what which who whom how there here then now also each any all some one two
    three after before during since while because however although once unless until""".split()
)

# ------------------------------------------------------------------------------------------- cues of the question

# "Mrs. Hill's first name", "the first name of Mrs. Hill": of this person, not of a relative.
_FIRST_NAMES = (
    re.compile(
        rf"^what(?:'s|’s| is| was)? (?:{_TITLE_WORD}\.? )?(?P<of>[\w-]+)['’]s? (?:first|given|christian) name\W*$",
        re.IGNORECASE,
    ),
    re.compile(rf"\b(?:first|given|christian) name of (?:{_TITLE_WORD}\.? )?(?P<of>[\w-]+)\W*$", re.IGNORECASE),
)
# The first kind with a cue in the question decides.
_CUES: Mapping[AnswerKind, tuple[str, ...]] = {
    AnswerKind.PHONE: (r"\b(?:phone|telephone|fax|mobile) (?:number|no)\b",),
    AnswerKind.EMAIL: (r"\be-?mail address\b",),
    AnswerKind.FIRST_NAME: tuple(pattern.pattern for pattern in _FIRST_NAMES),
    AnswerKind.PERSON: (
        rf"{_ASKS_FIRST}(?:who|whom|whose)\b",
        r"[,;?] (?:and )?(?:who|whom|whose)\b",
        r"\band who\b",
        r"\b(?:first|last) name\b|\bsurname\b",
        rf"^{_WHICH} (?:people|person|man|woman|author|illustrator|artist|speakers?)\b",
    ),
    AnswerKind.YEAR: (rf"\b{_WHICH} year\b",),
    AnswerKind.DATE: (
        r"^(?:and |so |but )?when\b|[,;.?] when\b|\b(?:since|until|till) when\b",
        rf"\b{_WHICH} (?:date|day|month|time|weekday)\b",
        r"\b(?:due|release|start|end|publication|birth) date\b|\bdeadline\b|\bdate of\b",
    ),
    AnswerKind.AGE: (rf"\bhow old\b|\b{_WHICH} age\b",),
    AnswerKind.DURATION: (
        r"\bhow (?:soon|quickly)\b|\bhow long\b(?! may| can (?:a|the) \w+ (?:name|text|title|message) be)",
        r"\bhow many (?:seconds|minutes|hours|days|weeks|months|years)\b|\bhow much (?:time|longer)\b",
        r"\bin (?:seconds|minutes|hours|days)\b|\bduration\b",
    ),
    AnswerKind.MONEY: (
        r"\bhow (?:much|many)\b.*\b(?:costs?|pay|paid|charged?|price|money|dollars|euros|earn|funding|spend|spent|"
        r"lose|lost|fee|salary|borrow(?:ed)?|grant|raised?)\b",
        r"\bhow expensive\b|\bat what price\b|^(?:\w+ ){0,3}(?:price|cost|fee|salary|donations)\b(?! market)",
        r"^(?:and |so )?what\b.*\b(?:prices?|costs?|fees?|salary|wages?|rent|fare|budget|revenue|income|bounty|"
        r"charges?|pay)\b",
    ),
    AnswerKind.LENGTH: (
        r"\bhow (?:far(?! behind)|tall|wide|high|deep|thick|long)\b|\b(?:height|width|depth|diameter|distance)\b",
    ),
    AnswerKind.WEIGHT: (r"^(?:and )?(?:what|how)\b.*\bweighs?\b(?! up)|\bhow heavy\b|^(?:and )?what\b.* weight of\b",),
    AnswerKind.PERCENT: (
        rf"\bpercent|\bper cent\b|\b{_WHICH} (?:share|fraction|portion|proportion|percentage)\b|\brate\b",
    ),
    AnswerKind.NUMBER: (
        r"\bhow (?:many|much|often|big|large)\b|\bnumber of\b|\b(?:version|block) number\b|\bupper bound\b",
        rf"{_ASKS_FIRST}{_WHICH}(?:'s| is| was| are)?(?: the)? (?:number|level|score|dc|ac|count|bonus|factor|"
        r"multiplier|version|ratio|capacity|armou?r class|challenge rating|block number)\b",
    ),
    AnswerKind.NAME: (
        r"\bname of\b|\bnamed\b|\bcalled\b|^what(?:'s| is| was)?\b.*\bname\b",
        rf"{_ASKS_FIRST}{_WHICH} (?:\w+ )?(?:company|firm|city|country|countries|town|state|river|ship|bank|"
        r"school|university|organi[sz]ation|foundation)\b",
    ),
}
_WHO_IS_NAMED = re.compile(r"^(?:And |and )?[Ww]ho(?:['’]s| is| was| are| were) [A-Z]")

# ------------------------------------------------------------------------------------------------ signs in the answer

_SIGNS: Mapping[AnswerKind, tuple[str, ...]] = {
    AnswerKind.PHONE: (r"\+?\d[\d\s().-]{6,}\d",),
    AnswerKind.EMAIL: (r"\S+@\S+\.\S+",),
    AnswerKind.YEAR: (r"\b1\d{3}\b|\b20\d\d\b|\b\d+(?:st|nd|rd|th) century",),
    AnswerKind.DATE: (
        rf"\b{_MONTH}\b|\b{_WEEKDAY}\b",
        r"\b1[6-9]\d\d\b|\b20\d\d\b|\d{1,2}[:.]\d\d|\d\d?/\d\d?",
        r"\b(?:after|before|until|when|once|every|daily|dawn|dusk|midnight|noon|next|week|month|morning|evening|"
        r"night|spring|summer|autumn|winter)\b",
    ),
    AnswerKind.AGE: (rf"\d|\b{_AGE_WORD}\b|\b(?:aged|teens|(?:twen|thir|for|fif|six|seven|eigh|nine)ties)\b",),
    AnswerKind.DURATION: (
        rf"(?:\d|\b{_NUMBER_WORD}\b|\ban?\b|\bfew\b)[\w\s().+/–-]{{0,30}}?\b{_TIME_UNIT}",
        rf"\d[- ]{_SIZE_UNIT}",
        r"\b\d+ ?(?:ms|s|m|h)\b|\b(?:permanent|instant|indefinite|until|midnight|forever|lasts?)",
        r"\b(?:once|twice|\w+ (?:times|uses))\b",
    ),
    AnswerKind.MONEY: (
        r"[$€£¥]|\b\d[\d,.]*\s*(?:gp|sp|cp|pp|ep|usd|eur|xp|dollars?|euros?|cents?|pounds?|pence)\b",
        r"\b(?:gold|silver|copper) pieces?\b|\b(?:free|half|dollars?|cents)\b|\d,\d{3}\b|\d\.\d\d\b",
        r"×\s?\d|\btimes (?:the|its|their|his|her|as|that|what)\b|\b(?:\w+pence|(?:\w+-)?penny|\w+penny)\b",
        rf"\b(?:{_NUMBER_WORD}|{_MANY}|\d[\d,.]*)[\s-]{_COIN}\b",
        rf"\b{_NUMBER_WORD}[\s-]{_MANY}\b",
    ),
    AnswerKind.LENGTH: (
        rf"(?:\d|\b{_NUMBER_WORD}\b)[\s-]{{0,3}}(?:\w+\s)?{_SIZE_UNIT}\b",
        r"\d+\s?['′″\"]|\d-\d",
    ),
    AnswerKind.WEIGHT: (r"\d|\b(?:pounds?|kilo\w*|grams?|ounces?|tons?|tonnes?)\b",),
    AnswerKind.PERCENT: (r"%|\bper ?cent|\d|\b(?:half|third|quarter|fifth|tenth|majority|most|all|none|double)\b",),
    AnswerKind.NUMBER: (rf"\d|\b{_NUMBER_WORD}\b|\b[IVXL]{{2,}}\b",),
}


def _compiled(table: Mapping[AnswerKind, tuple[str, ...]]) -> Mapping[AnswerKind, tuple[re.Pattern[str], ...]]:
    return {kind: tuple(re.compile(each, re.IGNORECASE) for each in patterns) for kind, patterns in table.items()}


_CUE_PATTERNS, _SIGN_PATTERNS = _compiled(_CUES), _compiled(_SIGNS)
_DIGITS = re.compile(r"\d[\d.,]*\d|\d")
_CAPITAL = re.compile(r"[A-Z][\w'’&.-]*")
_NAME = re.compile(r"(?<![\w'’@.+#-])[\w'’@.+#-]*\w")
_YEAR = re.compile(r"(?<!\d)(?:1[6-9]|20)\d\d(?!\d)")


def judge_evidence(
    question: str, quote: str, document_id: str, strength: float, passages: Sequence[SourcedPassage]
) -> Verdict:
    """Judge the best quote of a document.

    `question` is as the reader wrote it, `strength` the best logit over passages and quotes, `passages` all that were
    found. Titles above the quote aren't part of it: "Meeting 77" is no number and no name that answers.
    """
    if strength < NOTHING_BELOW:
        return Verdict.NOTHING
    if strength < SURE_FROM and (unknown_names(question, passages) or unknown_years(question, document_id, passages)):
        return Verdict.UNKNOWN_NAME
    kind = expected_kind(question)
    if kind is not None and not holds_kind(quote, kind, question):
        return Verdict.WRONG_KIND
    return Verdict.ANSWERS


def unknown_names(question: str, passages: Sequence[SourcedPassage]) -> list[str]:
    """Return the names of the question that are in none of the passages or the titles above them."""
    known = " ".join(map(_all_words, passages)).lower()
    return [name for name in _names(question) if _stem(name.lower()) not in known]


def unknown_years(question: str, document_id: str, passages: Sequence[SourcedPassage]) -> list[str]:
    """Return the years of the question that no passage of this document has; other documents name many years."""
    known = " ".join(_all_words(found) for found in passages if found.document.id == document_id)
    return [year for year in _YEAR.findall(question) if year not in known]


def expected_kind(question: str) -> AnswerKind | None:
    """Return the kind of thing that the question asks for; None if it isn't clear ("Who is Ann?")."""
    if _WHO_IS_NAMED.match(question):
        return None
    return next((kind for kind, cues in _CUE_PATTERNS.items() if any(cue.search(question) for cue in cues)), None)


def holds_kind(text: str, kind: AnswerKind, question: str) -> bool:
    """Return whether `text` holds something of the kind that the question itself didn't name."""
    if kind is AnswerKind.FIRST_NAME:
        return _holds_first_name(text, question)
    if kind in (AnswerKind.PERSON, AnswerKind.NAME):
        return _holds_name(text, question, anywhere=kind is AnswerKind.PERSON)
    rest = text
    for number in set(_DIGITS.findall(question)):
        rest = re.sub(rf"(?<![\d.,]){re.escape(number)}(?!\d|[.,]\d)", " ", rest)
    if kind is AnswerKind.DATE:
        for month in re.findall(rf"\b{_MONTH}\b", question, re.IGNORECASE):
            rest = re.sub(rf"\b{month}\b", " ", rest, flags=re.IGNORECASE)
    return any(sign.search(rest) for sign in _SIGN_PATTERNS[kind])


def _holds_first_name(text: str, question: str) -> bool:
    """Look for a name before the surname, or behind it and a comma: "Ann Hill", "Hill, Ann". Titles don't count."""
    found = next((match for pattern in _FIRST_NAMES if (match := pattern.search(question))), None)
    if found is None:
        return False
    surname = re.escape(found["of"])
    given = re.findall(rf"\b([A-Z][\w'’-]+) (?:[A-Z]\. )?{surname}\b", text)
    titled = re.compile(_TITLE_WORD, re.IGNORECASE)
    if any(not titled.fullmatch(name) and name.lower() not in _BEGINNERS for name in given):
        return True
    return re.search(rf"\b{surname}, [A-Z]\w+", text) is not None


def _holds_name(text: str, question: str, *, anywhere: bool) -> bool:
    """Look for a capitalised word that the question doesn't have.

    Unless `anywhere`, one capital at the beginning of a sentence doesn't count, and code does (`names` of options and
    commands).
    """
    asked = {word.rstrip("s").rstrip("'’") for word in re.findall(r"[\w'’-]+", question.lower())}
    for match in _CAPITAL.finditer(text):
        word = match.group().lower().rstrip(".'’").removesuffix("'s").removesuffix("’s")
        if len(word) < 2 or word in _BEGINNERS or word in asked or word.rstrip("s") in asked:
            continue
        before = text[: match.start()].rstrip(" \n\t*\"“-#>(|'")
        begins = not before or before[-1] in ".!?:"
        if anywhere or not begins or re.match(r"\s[A-Z]", text[match.end() : match.end() + 3]):
            return True
    return not anywhere and re.search(r"`[^`\n]+`", text) is not None


def _all_words(found: SourcedPassage) -> str:
    passage, document = found.passage, found.document
    above = " ".join((document.title, document.path, *document.aliases, *passage.heading_path, found.page_title))
    return f"{above} {passage.text}"


def _names(question: str) -> list[str]:
    """Return the capitalised words, except the first. A question in capitals throughout has none."""
    if question.isupper():
        return []
    return [
        word
        for word in _NAME.findall(question)[1:]
        if word[0].isupper() and word.lower() not in STOPWORDS | _CALENDAR and len(word) > 1
    ]


def _stem(name: str) -> str:
    """Cut a possessive or plural ending, so that "Woods's" and "Americans" are found."""
    for ending in ("'s", "’s", "s", "n"):
        if name.endswith(ending) and len(name) - len(ending) > 3:
            return name.removesuffix(ending)
    return name
