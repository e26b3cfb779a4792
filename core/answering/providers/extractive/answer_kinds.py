"""What kind of thing a question asks for (a price, a date, a person ...), and whether a text holds one. Pure.

This is what tells a near miss from an answer: "what is the fee?" finds the passage about opening hours, and a
cross-encoder finds it relevant; only that it names no amount of money shows that it does not answer. English cues.
"""

import re
from enum import StrEnum


class AnswerKind(StrEnum):
    """What an answer has to hold. Order of the rules below decides where a question fits several."""

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


_NUMBER_WORD = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    r"eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|dozen|"
    r"half|twice|once|double|triple|third|quarter|none|zero|no|single|both|several)"
)
_MANY = r"(?:hundred|thousand|million|billion)"
_COIN = (
    r"(?:gold|silver|copper|dollars?|euros?|cents?|pounds?|pence|guineas?|shillings?|sovereigns?|crowns?|francs?|marks?|"
    r"florins?|roubles?|rubles?|kroner|yen|pesos?)"
)
_AGE_WORD = (
    r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|seventy|"
    r"eighty|ninety|hundred)"
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_TIME_UNIT = r"(?:second|sec|minute|min|hour|hr|day|night|week|month|year|decade|centur|round|turn|dawn|dusk|midnight)"
_SIZE_UNIT = (
    r"(?:feet|foot|ft|inch|inches|miles?|yards?|met(?:er|re)s?|km|cm|mm|acres?|hectares?|leagues?|characters?|words?|"
    r"pages?|lines?|bytes?|[kmg]i?b)"
)
_ASKS_FIRST = r"^(?:and |so |but |by |to |for |from |in |on |at )?"

_TITLE_WORD = r"(?:mrs?|ms|miss|dr|doctor|prof|professor|sir|lord|lady|captain|colonel|aunt|uncle)"
# "Mrs. Hill's first name", "the first name of Mrs. Hill": of the very person, not of somebody of theirs.
_FIRST_NAME_OF = (
    rf"^what(?:'s|’s| is| was)? (?:{_TITLE_WORD}\.? )?(?P<of>[\w-]+)['’]s? (?:first|given|christian) name\W*$"
    rf"|\b(?:first|given|christian) name of (?:{_TITLE_WORD}\.? )?(?P<named>[\w-]+)\W*$"
)

# The first that matches decides.
_CUES: tuple[tuple[AnswerKind, str], ...] = (
    (AnswerKind.PHONE, r"\b(?:phone|telephone|fax|mobile) (?:number|no)\b"),
    (AnswerKind.EMAIL, r"\be-?mail address\b"),
    (AnswerKind.FIRST_NAME, _FIRST_NAME_OF),
    (
        AnswerKind.PERSON,
        rf"{_ASKS_FIRST}(?:who|whom|whose)\b|[,;?] (?:and )?(?:who|whom|whose)\b|\band who\b"
        r"|\b(?:first|last) name\b|\bsurname\b"
        r"|^(?:what|which) (?:people|person|man|woman|author|illustrator|artist|speakers?)\b",
    ),
    (AnswerKind.YEAR, r"\b(?:what|which) year\b"),
    (
        AnswerKind.DATE,
        r"^(?:and |so |but )?when\b|[,;.?] when\b|\b(?:what|which) (?:date|day|month|time|weekday)\b"
        r"|\b(?:due|release|start|end|publication|birth) date\b|\b(?:since|until|till) when\b|\bdeadline\b|\bdate of\b",
    ),
    (AnswerKind.AGE, r"\bhow old\b|\b(?:what|which) age\b"),
    (
        AnswerKind.DURATION,
        r"\bhow (?:soon|quickly)\b|\bhow long\b(?! may| can (?:a|the) \w+ (?:name|text|title|message) be)"
        r"|\bhow many (?:seconds|minutes|hours|days|weeks|months|years)\b|\bhow much (?:time|longer)\b"
        r"|\bin (?:seconds|minutes|hours|days)\b|\bduration\b",
    ),
    (
        AnswerKind.MONEY,
        r"\bhow (?:much|many)\b.*\b(?:costs?|pay|paid|charged?|price|money|dollars|euros|earn|funding|spend|spent|"
        r"lose|lost|fee|salary|borrow(?:ed)?|grant|raised?)\b|\bhow expensive\b|\bat what price\b"
        r"|^(?:and |so )?what\b.*\b(?:prices?|costs?|fees?|salary|wages?|rent|fare|budget|revenue|income|bounty|"
        r"charges?|pay)\b|^(?:\w+ ){0,3}(?:price|cost|fee|salary|donations)\b(?! market)",
    ),
    (
        AnswerKind.LENGTH,
        r"\bhow (?:far(?! behind)|tall|wide|high|deep|thick|long)\b|\b(?:height|width|depth|diameter|distance)\b",
    ),
    (AnswerKind.WEIGHT, r"^(?:and )?(?:what|how)\b.*\bweighs?\b(?! up)|\bhow heavy\b|^(?:and )?what\b.* weight of\b"),
    (
        AnswerKind.PERCENT,
        r"\bpercent|\bper cent\b|\b(?:what|which) (?:share|fraction|portion|proportion|percentage)\b|\brate\b",
    ),
    (
        AnswerKind.NUMBER,
        r"\bhow (?:many|much|often|big|large)\b|\bnumber of\b|\b(?:version|block) number\b|\bupper bound\b"
        rf"|{_ASKS_FIRST}(?:what|which)(?:'s| is| was| are)?(?: the)? (?:number|level|score|dc|ac|count|bonus|factor|"
        r"multiplier|version|ratio|capacity|armou?r class|challenge rating|block number)\b",
    ),
    (
        AnswerKind.NAME,
        r"\bname of\b|\bnamed\b|\bcalled\b|^what(?:'s| is| was)?\b.*\bname\b"
        rf"|{_ASKS_FIRST}(?:which|what) (?:\w+ )?(?:company|firm|city|country|countries|town|state|river|ship|bank|"
        r"school|university|organi[sz]ation|foundation)\b",
    ),
)
_FIRST_NAME = re.compile(_FIRST_NAME_OF, re.IGNORECASE)
_RULES = tuple((kind, re.compile(cue, re.IGNORECASE)) for kind, cue in _CUES)

_WHO_IS_NAMED = re.compile(r"^(?:And |and )?[Ww]ho(?:['’]s| is| was| are| were) [A-Z]")

_SIGNS: dict[AnswerKind, re.Pattern[str]] = {
    kind: re.compile(sign, re.IGNORECASE)
    for kind, sign in {
        AnswerKind.PHONE: r"\+?\d[\d\s().-]{6,}\d",
        AnswerKind.EMAIL: r"\S+@\S+\.\S+",
        AnswerKind.YEAR: r"\b1\d{3}\b|\b20\d\d\b|\b\d+(?:st|nd|rd|th) century",
        AnswerKind.DATE: (
            rf"\b{_MONTH}\b|\b{_WEEKDAY}\b|\b1[6-9]\d\d\b|\b20\d\d\b|\d{{1,2}}[:.]\d\d|\d\d?/\d\d?"
            r"|\b(?:after|before|until|when|once|every|daily|dawn|dusk|midnight|noon|next|week|month|morning|evening|"
            r"night|spring|summer|autumn|winter)\b"
        ),
        AnswerKind.AGE: (rf"\d|\b{_AGE_WORD}\b|\b(?:aged|teens|(?:twen|thir|for|fif|six|seven|eigh|nine)ties)\b"),
        AnswerKind.DURATION: (
            rf"(?:\d|\b{_NUMBER_WORD}\b|\ban?\b|\bfew\b)[\w\s().+/–-]{{0,30}}?\b{_TIME_UNIT}|\b\d+ ?(?:ms|s|m|h)\b"
            rf"|\d-{_SIZE_UNIT}|\d {_SIZE_UNIT}|\b(?:permanent|instant|indefinite|until|midnight|forever|lasts?)"
            r"|\b(?:once|twice|\w+ (?:times|uses))\b"
        ),
        AnswerKind.MONEY: (
            r"[$€£¥]|\b\d[\d,.]*\s*(?:gp|sp|cp|pp|ep|usd|eur|xp|dollars?|euros?|cents?|pounds?|pence)\b"
            r"|\b(?:gold|silver|copper) pieces?\b|\b(?:free|half|dollars?|cents)\b|\d,\d{3}\b|\d\.\d\d\b"
            r"|×\s?\d|\btimes (?:the|its|their|his|her|as|that|what)\b"
            rf"|\b(?:{_NUMBER_WORD}|{_MANY}|\d[\d,.]*)[\s-]{_COIN}\b|\b{_NUMBER_WORD}[\s-]{_MANY}\b"
            r"|\b(?:\w+pence|(?:\w+-)?penny|\w+penny)\b"
        ),
        AnswerKind.LENGTH: rf"(?:\d|\b{_NUMBER_WORD}\b)[\s-]{{0,3}}(?:\w+\s)?{_SIZE_UNIT}\b|\d+\s?['′″\"]|\d-\d",
        AnswerKind.WEIGHT: r"\d|\b(?:pounds?|kilo\w*|grams?|ounces?|tons?|tonnes?)\b",
        AnswerKind.PERCENT: r"%|\bper ?cent|\d|\b(?:half|third|quarter|fifth|tenth|majority|most|all|none|double)\b",
        AnswerKind.NUMBER: rf"\d|\b{_NUMBER_WORD}\b|\b[IVXL]{{2,}}\b",
    }.items()
}
_DIGITS = re.compile(r"\d[\d.,]*\d|\d")
_CAPITAL = re.compile(r"[A-Z][\w'’&.-]*")
# Words that begin sentences so often that their capital says nothing.
_BEGINNERS = frozenset(
    """a an the this that these those it its he she they we you i in on at of and or but if for to from by with as is
    are was were be not no yes when where what which who whom how there here then now also each any all some one two
    three after before during since while because however although once unless until""".split()
)


def expected_kind(question: str) -> AnswerKind | None:
    """What the question asks for; None where it does not say. "Who is Ann?" asks for more than a name."""
    if _WHO_IS_NAMED.match(question):
        return None
    return next((kind for kind, cue in _RULES if cue.search(question)), None)


def holds_kind(text: str, kind: AnswerKind, question: str) -> bool:
    """Whether `text` has something of the kind that the question itself did not name."""
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
    return _SIGNS[kind].search(rest) is not None


def _holds_first_name(text: str, question: str) -> bool:
    """A name before the surname asked about, or after it and a comma: "Ann Hill", "Hill, Ann"; no title."""
    match = _FIRST_NAME.search(question)
    if match is None:
        return False
    surname = re.escape(match["of"] or match["named"])
    given = re.findall(rf"\b([A-Z][\w'’-]+) (?:[A-Z]\. )?{surname}\b", text)
    titled = re.compile(_TITLE_WORD, re.IGNORECASE)
    if any(not titled.fullmatch(name) and name.lower() not in _BEGINNERS for name in given):
        return True
    return re.search(rf"\b{surname}, [A-Z]\w+", text) is not None


def _holds_name(text: str, question: str, *, anywhere: bool) -> bool:
    """A capitalised word that the question does not have. Unless `anywhere`, one capital that begins a sentence does
    not count; code does (`names` of options and commands).
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
