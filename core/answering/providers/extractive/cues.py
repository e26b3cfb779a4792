"""Tables of English: cues of what a question asks for, and signs of it in an answer. Data only."""

import re
from collections.abc import Mapping
from enum import StrEnum

LIST = re.compile(
    r"^\W*(?:please )?(?:list|enumerate|name)\b(?! of)|\blist (?:of|all)\b|^give (?:me )?all\b|^what are all\b"
    r"|^(?:and )?(?:which|what) (?:\w+ ){0,3}(?:decisions|action items|actions|items|members|steps)\b"
    r"|^(?:and )?who (?:attended|was present|were present|took part|participated)\b",
    re.IGNORECASE,
)
SUMMARY = re.compile(
    r"^\W*(?:please )?(?:summari[sz]e|sum up|give (?:me )?an? (?:summary|overview)|recap)\b|\b(?:summary|overview) of\b"
    r"|^what (?:is|was) .{0,80}\babout\W*$",
    re.IGNORECASE,
)


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
MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_TIME_UNIT = "(?:second|sec|minute|min|hour|hr|day|night|week|month|year|decade|centur|round|turn|dawn|dusk|midnight)"
_SIZE_UNIT = (
    "(?:feet|foot|ft|inch|inches|miles?|yards?|met(?:er|re)s?|km|cm|mm|acres?|hectares?|leagues?|characters?|words?|"
    "pages?|lines?|bytes?|[kmg]i?b)"
)
TITLE_WORD = "(?:mrs?|ms|miss|dr|doctor|prof|professor|sir|lord|lady|captain|colonel|aunt|uncle)"
_ASKS_FIRST = "^(?:and |so |but |by |to |for |from |in |on |at )?"
_WHICH = "(?:what|which)"
# Not names: weekdays and months.
CALENDAR = frozenset(
    """january february march april may june july august september october november december jan feb mar apr jun jul aug
    sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday""".split()
)
# Words that begin sentences so often that their capital says nothing.
BEGINNERS = frozenset(
    """a an the this that these those it its he she they we you i in on at of and or but if for to from by with as is
    are was were be not no yes when where what which who whom how there here then now also each any all some one two
    three after before during since while because however although once unless until""".split()
)

# ------------------------------------------------------------------------------------------- cues of the question

# "Mrs. Hill's first name", "the first name of Mrs. Hill": of this person, not of a relative.
FIRST_NAMES = (
    re.compile(
        rf"^what(?:'s|’s| is| was)? (?:{TITLE_WORD}\.? )?(?P<of>[\w-]+)['’]s? (?:first|given|christian) name\W*$",
        re.IGNORECASE,
    ),
    re.compile(rf"\b(?:first|given|christian) name of (?:{TITLE_WORD}\.? )?(?P<of>[\w-]+)\W*$", re.IGNORECASE),
)
# The first kind with a cue in the question decides.
_CUES: Mapping[AnswerKind, tuple[str, ...]] = {
    AnswerKind.PHONE: (r"\b(?:phone|telephone|fax|mobile) (?:number|no)\b",),
    AnswerKind.EMAIL: (r"\be-?mail address\b",),
    AnswerKind.FIRST_NAME: tuple(pattern.pattern for pattern in FIRST_NAMES),
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
        r"\bhow (?:soon|quickly|long)\b|\bhow far (?:ahead|in advance)\b",
        r"\bhow many (?:seconds|minutes|hours|days|weeks|months|years)\b|\bhow much (?:time|longer)\b",
        r"\bin (?:seconds|minutes|hours|days)\b|\bduration\b",
    ),
    AnswerKind.MONEY: (
        r"(?m:^)(?:(?!\bhow (?:much|many)\b).)*+\bhow (?:much|many)\b.*"
        r"\b(?:costs?|pay|paid|charged?|price|money|dollars|euros|earn|funding|spend|spent|"
        r"lose|lost|fee|salary|borrow(?:ed)?|grant|raised?)\b",
        r"\bhow expensive\b|\bat what price\b|^(?:\w+ ){0,3}(?:price|cost|fee|salary|donations)\b(?! market)",
        r"^(?:and |so )?what\b(?! (?:if|happens|when|part|share|percentage)\b).*\b(?:prices?|costs?|fees?|salary|wages?"
        r"|rent|fare|budget|revenue|income|bounty|charges?|pay)\b",
    ),
    AnswerKind.LENGTH: (
        r"\bhow (?:far(?! behind)|tall|wide|deep|thick)\b|\b(?:height|width|depth|diameter|distance)\b",
    ),
    AnswerKind.WEIGHT: (r"^(?:and )?(?:what|how)\b.*\bweighs?\b(?! up)|\bhow heavy\b|^(?:and )?what\b.* weight of\b",),
    AnswerKind.PERCENT: (
        rf"\bpercent|\bper cent\b|\b{_WHICH} (?:share|fraction|portion|proportion|percentage)\b",
        r"\brate\b(?! (?:limit|card|plan))",
    ),
    AnswerKind.NUMBER: (
        r"\bhow (?:many|much|often|big|large|high)\b|\bnumber of\b|\b(?:version|block) number\b|\bupper bound\b",
        rf"{_ASKS_FIRST}{_WHICH}(?:'s| is| was| are)?(?: the)? (?:number|level|score|dc|ac|count|bonus|factor|"
        r"multiplier|version|ratio|capacity|armou?r class|challenge rating|block number)\b",
    ),
    AnswerKind.NAME: (
        r"\bname of\b|\bnamed\b|\bcalled\b|^what(?:'s| is| was)?\b.*\bname\b",
        rf"{_ASKS_FIRST}{_WHICH} (?:\w+ )?(?:company|firm|city|country|countries|town|state|river|ship|bank|"
        r"school|university|organi[sz]ation|foundation)\b",
    ),
}
WHO_IS_NAMED = re.compile(r"^(?:And |and )?[Ww]ho(?:['’]s| is| was| are| were) [A-Z]")

# The thing asked for: "how many ushers", "what is the dress code of", "which usher has".
_VERBS = "is|are|was|were|does|do|did|has|have|had|can|may|must|should"
ASKED_THING = re.compile(
    r"^(?:and |so |ok |but )?(?:how many (?P<counted>[a-z-]{4,30})\b"
    r"|(?:what|who)(?:'s|’s| is| was| are| were)(?: called)? (?:the|our|your) (?P<named>[a-z-]+(?: [a-z-]+){0,2}?)"
    r"(?= (?:of|for|at|in|on|to|from|called|named)\b|\W*$)"
    rf"|which (?P<which>[a-z-]{{4,30}}) (?:{_VERBS})\b)",
    re.IGNORECASE,
)
# "how many engineering teams use it": the things counted, up to a verb or a preposition.
COUNTED = re.compile(
    r"\bhow many (?P<things>(?:[\w'’-]+ ){0,3}?[\w'’-]+)(?= (?:"
    + _VERBS
    + r"|will|would|could|in|of|on|at|per|for|to|a|an"
    r"|with|from|there)\b|\W*$)",
    re.IGNORECASE,
)
# Things that a document may tell without the word.
UNSAID = frozenset(
    """name people person persons times things way reason purpose difference size point goal meaning problem cause rule
    limit kind type sort idea plan aim role result effect status maximum minimum thing answer story outcome change
    latest newest oldest first last next best worst most least total same other others""".split()
)

# ------------------------------------------------------------------------------------------------ signs in the answer

_SIGNS: Mapping[AnswerKind, tuple[str, ...]] = {
    AnswerKind.PHONE: (r"\+?\d[\d\s().-]{6,}\d",),
    AnswerKind.EMAIL: (r"\S@[^\s@.]++\.\S",),
    AnswerKind.YEAR: (r"\b1\d{3}\b|\b20\d\d\b|\b\d+(?:st|nd|rd|th) century",),
    AnswerKind.DATE: (
        rf"\b{MONTH}\b|\b{_WEEKDAY}\b",
        r"\b1[6-9]\d\d\b|\b20\d\d\b|\d{1,2}[:.]\d\d|\d\d?/\d\d?",
        r"\b(?:after|before|until|when|once|every|daily|dawn|dusk|midnight|noon|next|week|month|morning|evening|"
        r"night|spring|summer|autumn|winter)\b",
        rf"\b(?:at|from|till|by) (?:\d|{_NUMBER_WORD}\b)",
    ),
    AnswerKind.AGE: (rf"\d|\b{_AGE_WORD}\b|\b(?:aged|teens|(?:twen|thir|for|fif|six|seven|eigh|nine)ties)\b",),
    AnswerKind.DURATION: (
        rf"(?:\d|\b{_NUMBER_WORD}\b|\ban?\b|\bfew\b)[\w\s().+/–-]{{0,30}}?\b{_TIME_UNIT}",
        rf"\d[- ]{_SIZE_UNIT}",
        r"\b\d+ ?(?:ms|s|m|h)\b|\b(?:permanent|instant|indefinite|until|midnight|forever|lasts?)",
        r"\b(?:once|twice|\w+ (?:times|uses))\b",
    ),
    AnswerKind.MONEY: (
        r"[$€£¥]\s?\d|\d\s?[€£¥$]|(?<![\w,.])\d[\d.,]*+\s?[km]\b|\d,\d{3}\b|(?<![\d.])\d++\.\d\d\b(?!\.\d)",
        r"(?<![\w,.])\d[\d,.]*+\s*+(?:gp|sp|cp|pp|ep|usd|eur|xp|dollars?|euros?|cents?|pounds?|pence)\b",
        r"\b(?:gold|silver|copper) pieces?\b|\b(?:free(?! the\b)|half|dollars?|cents)\b",
        r"×\s?\d|\btimes (?:the|its|their|his|her|as|that|what)\b|\b(?:\w+pence|(?:\w+-)?penny|\w+penny)\b",
        rf"\b(?:{_NUMBER_WORD}|{_MANY}|(?<![\d,.])\d[\d,.]*+)[\s-]{_COIN}\b",
        rf"\b{_NUMBER_WORD}[\s-]{_MANY}\b",
    ),
    AnswerKind.LENGTH: (
        rf"(?:\d|\b{_NUMBER_WORD}\b)[\s-]{{0,3}}(?:\w{{1,40}}+\s)?{_SIZE_UNIT}\b",
        r"\d\s?['′″\"]|\d-\d",
    ),
    AnswerKind.WEIGHT: (r"\d|\b(?:pounds?|kilo\w*|grams?|ounces?|tons?|tonnes?)\b",),
    AnswerKind.PERCENT: (r"%|\bper ?cent|\d|\b(?:half|third|quarter|fifth|tenth|majority|most|all|none|double)\b",),
    AnswerKind.NUMBER: (rf"(?<![#/\d])(?<![A-Za-z]-)\d|\b{_NUMBER_WORD}\b|\b[IVXL]{{2,}}\b",),
}


def _compiled(table: Mapping[AnswerKind, tuple[str, ...]]) -> Mapping[AnswerKind, tuple[re.Pattern[str], ...]]:
    return {kind: tuple(re.compile(each, re.IGNORECASE) for each in patterns) for kind, patterns in table.items()}


CUE_PATTERNS, SIGN_PATTERNS = _compiled(_CUES), _compiled(_SIGNS)
NUMBER_SIGNS = SIGN_PATTERNS[AnswerKind.NUMBER]
# "On which day" wants a date, a weekday or a year; "when" is content with "before the fair".
WHICH_DAY = re.compile(r"\b(?:what|which) (?:date|day)\b", re.IGNORECASE)
DAY_SIGNS = SIGN_PATTERNS[AnswerKind.DATE][:2]
LIST_MARK = re.compile(r"^[ \t]*\d{1,3}[.)]\s", re.MULTILINE)
DIGITS = re.compile(r"\d[\d.,]*\d|\d")
CAPITAL = re.compile(r"[A-Z][\w'’&.-]*")
NAME = re.compile(r"(?<![\w'’@.+#-])[\w'’@.+#-]*\w")
YEAR = re.compile(r"(?<!\d)(?:1[6-9]|20)\d\d(?!\d)")
