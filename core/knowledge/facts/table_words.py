"""Questions to a table in people's words: the operation, the rows, and the kind of quantity. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.knowledge.facts.matching import stem
from core.text.dates import MONTH_OF
from core.text.words import STOPWORDS, words

LONGEST = 200  # characters of a question
MOST_ROWS = 20  # of "the 20 largest"


class Operation(StrEnum):
    VALUE = "value"
    HIGHEST = "highest"
    LOWEST = "lowest"
    SUM = "sum"
    AVERAGE = "average"
    COUNT = "count"
    DIFFERENCE = "difference"
    ROWS = "rows"  # that fit a condition


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A kind of quantity: the units of its columns, and the words of questions about it."""

    units: frozenset[str]
    words: frozenset[str]
    highest: frozenset[str] = frozenset()
    lowest: frozenset[str] = frozenset()


_IRREGULAR = {"paid": "pay", "spent": "spend", "sold": "sell", "bought": "buy", "built": "build", "taken": "take"}


def _quantity(units: str, said: str, highest: str = "", lowest: str = "") -> Quantity:
    return Quantity(
        units=frozenset(units.split()),
        words=frozenset(_IRREGULAR.get(stem(word), stem(word)) for word in [*said.split(), *units.split()]),
        highest=frozenset(highest.split()),
        lowest=frozenset(lowest.split()),
    )


ROOT = 4  # characters that forms of a word share
_ENDINGS = frozenset(["", *"e s es d ed er ers r rs ing ion ation ly al ment or".split()])
QUANTITIES = (
    _quantity(
        "€ eur euro euros £ gbp pound pounds $ usd us$ dollar dollars chf sek nok dkk crown crowns yen ¥",
        "price cost fare fee charge pay paid spend spent money expensive cheap euro eur pound gbp dollar usd",
        "dearest priciest costliest",
        "cheapest",
    ),
    _quantity(
        "s sec seconds min mins minutes h hr hrs hours days weeks",
        "time duration take took taken long lasted second minute hour",
        "longest slowest longer",
        "shortest fastest quickest shorter",
    ),
    _quantity(
        "mm cm m km mi mile miles ft feet metres",
        "length distance long far metre kilometre mile",
        "longest farthest furthest longer",
        "shortest shorter",
    ),
    _quantity("m ft metres feet", "height altitude elevation ascent climb tall high", "tallest taller"),
    _quantity("g kg t lb lbs tonnes", "weight mass load heavy weigh", "heaviest heavier", "lightest lighter"),
    _quantity(
        "m2 m² km2 km² ha sqm acres",
        "area size large square metre",
        "largest biggest",
        "smallest",
    ),
    _quantity("kwh mwh gwh wh", "electricity energy power consumption consumed"),
    _quantity("kn knots km/h kph mph", "speed fast", "fastest", "slowest"),
    _quantity("°c °f", "temperature hot cold warm", "hottest warmest", "coldest"),
    _quantity(
        "passengers people persons guests visitors riders",
        "people person passenger guest visitor rider",
        "busiest fullest",
        "quietest emptiest",
    ),
    _quantity(
        "date", "year date built opened founded since old", "latest newest last youngest", "oldest earliest first"
    ),
)
_CALLED: Mapping[str, Operation] = {
    **dict.fromkeys("highest largest biggest greatest most longest maximum max".split(), Operation.HIGHEST),
    **dict.fromkeys("lowest smallest least fewest shortest minimum".split(), Operation.LOWEST),
    **{word: Operation.HIGHEST for quantity in QUANTITIES for word in quantity.highest if word.endswith("st")},
    **{word: Operation.LOWEST for quantity in QUANTITIES for word in quantity.lowest if word.endswith("st")},
    **dict.fromkeys("total sum altogether together overall combined".split(), Operation.SUM),
    **dict.fromkeys("average mean".split(), Operation.AVERAGE),
}
_LOOSE = re.compile(r"^(?:when|how (?:quick|quickly|soon))\b", re.IGNORECASE)
# Two things compared: "is the red van faster than the blue one", "which van is older, the red or the blue one".
_COMPARATIVES: Mapping[str, str] = {
    **{f"{word.removesuffix('est')}er": word for word in _CALLED if word.endswith("est")},
    "more": "most",
    "less": "least",
    "fewer": "fewest",
}
_VERB_FIRST = re.compile(r"^(?:is|are|was|were|does|do|did|has|have|had|can) (?=.)", re.IGNORECASE)
_IS = re.compile(r"^(what|who|when|which)['’]s\b", re.IGNORECASE)
_WHICH = re.compile(r"^(?:which|what|who)\b", re.IGNORECASE)
_COUNTS = re.compile(r"^(?:how many|count the|what is the number of)\s+(\w+)", re.IGNORECASE)
_ENTITY = re.compile(
    r"^(?:(?:in|on|at|for|to|of) )?(?:which|what|list(?: all)?(?: the)?|name the)\s+"
    r"(?:(?:\w+ ){0,3}?(?=\w+ (?:has|have|had|is|are|was|were|did|does|do|costs?|took|got)\b))?(\w+)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^(?:(?:in |on |at |for |to |of )?(?:what|which)|who|when|by how (?:much|many)|how (?:many|much|long|old|tall|high"
    r"|big|far|heavy|fast|quick|quickly|soon)|(?:the )?(?:average|mean|total|sum)|the \w{2,30}est|count|give|tell"
    r"|name|list|show|sort|rank)\b",
    re.IGNORECASE,
)
# A few words without a verb: "passengers of the red van", "red van, built when?".
FRAGMENT_WORDS = 6
# Words that no table accounts for, once differences and conditions are read.
_BEYOND = frozenset(
    """why where except excluding without than compare compared between change changed increase more less fewer
    not""".split()
)
# Words of questions that no table has to have.
_ASKING = frozenset(
    """row column table list may number value figure much many there have had has does did do got get give tell name
    show amount single entry altogether carry carries carried contain contains hold holds held include includes report
    reported record recorded use used need needs end part go goes went make makes made per sort sorted rank ranked order
    ordered by how respectively take took taken spend spent fiscal segment belong high file sheet document
    page according pay pays paid fit fits happen happens happened written must might should shall could would bring
    brings brought collect collects collected earn earns earned come comes came""".split()
)
_NOT_NEEDED = _ASKING | frozenset(stem(word) for word in _ASKING)
_NUMBERS: Mapping[str, int] = dict(
    zip("one two three four five six seven eight nine ten".split(), range(1, 11), strict=True)
)
_FIGURE = rf"[-\u2212]?[£$€]? ?(?:\d[\d.,]*\d|\d|{'|'.join(_NUMBERS)})"
_ABOVE = (
    r"(?:more|greater|higher|larger|longer|bigger|heavier|taller|later|older) than|over|above|exceeding|after|since|"
    r"at least|no less than"
)
_BELOW = (
    r"(?:less|fewer|lower|smaller|shorter|cheaper|lighter|earlier) than|under|below|before|at most|no more than|up to"
)
_LIMIT = re.compile(rf"\b(?:(?P<above>{_ABOVE})|(?P<below>{_BELOW})) (?P<figure>{_FIGURE})\b", re.IGNORECASE)
_INCLUSIVE = re.compile(r"at least|no less|since|at most|no more|up to", re.IGNORECASE)
_SIDES = r"more|less|higher|lower|longer|shorter|larger|smaller|heavier|lighter|taller|cheaper|fewer"
_FALLING = r"fall|fell|drop|dropped|decreased?|declined?"
_DIFFERENCE = re.compile(
    r"\bdifference\b|^by how (?:much|many)\b|"
    rf"^how (?:much|many)\b.{{0,120}}?\b(?P<side>{_SIDES})\b(?=.{{0,120}} than\b)|"
    rf"\b(?:changed?|rise|rose|grow|grew|increased?|{_FALLING})\b(?=.{{0,120}} from .{{0,60}} to )",
    re.IGNORECASE,
)
_FALLS = re.compile(rf"\b(?:{_FALLING})\b", re.IGNORECASE)
_OF_DIFFERENCE = frozenset(
    """difference between than change changed rise rose grow grew increase increased fall fell drop dropped decrease
    decreased decline declined more less fewer and compared""".split()
)
_ENDS = re.compile(
    r"\b(?:from|between) (?:the )?(\w[\w–-]*) (?:to|until|till|through|and) (?:the )?(\w[\w–-]*)", re.IGNORECASE
)
_MOST = re.compile(
    rf"\b(?:top (?P<top>\d+|{'|'.join(_NUMBERS)})|(?P<before>\d+|{'|'.join(_NUMBERS)}) (?=most |least |\w+est\b))",
    re.IGNORECASE,
)
_PAIR = re.compile(r"(?<![\w–-])([\w–-]{1,40}),? (?:and|or) (?:the )?(?=([\w–-]{1,40}))")
_YEAR_TO = re.compile(  # "the year to March 2024": statements often call it 2024
    r"\b(?:the )?year (?:to|ended|ending)(?: the)?(?: \d{1,2}(?:st|nd|rd|th)?)? [A-Z][a-z]{2,8},?(?: \d{1,2},)? "
    r"(?=(?:19|20)\d\d\b)"
)
SHORT_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
MONTHS = {word: number for word, number in MONTH_OF.items() if word[:3] == SHORT_MONTHS[number - 1]}  # "ago" is none
CENTURY = 50  # two digits from here on are of the twentieth
_SHORT_YEARS = re.compile(r"(?<!\d)_(\d\d)_(\d\d)(?![\d_])")
_CAMEL = re.compile(r"(?<=\b[a-z]{3})(?=[A-Z][a-z])|(?<=\b[a-z]{4})(?=[A-Z][a-z])|(?<=[a-z]{5})(?=[A-Z][a-z])")
_LETTERS = re.compile(r"\b[a-z]&[a-z]\b")
_PROPER = re.compile(r"(?<=\s)[A-Z][\w’'-]*")
_EVERY = re.compile(rf"\ball (?:of )?(?:the |our )?(\d{{1,3}}|{'|'.join(_NUMBERS)}) (?=[a-z])", re.IGNORECASE)
_LISTS = re.compile(r"^(?:list|name|show)\b", re.IGNORECASE)
_SORTS = re.compile(r"\b(?:by|in order of)\b", re.IGNORECASE)
_WITHOUT = re.compile(r"\bnot (?:yet |been |be )*(\w+)", re.IGNORECASE)
_RISING = re.compile(
    r"\b(?:ascending|rising|increasing|alphabetical)\b|\b(?:lowest|smallest|least) first\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A condition: "more than 40 euros"."""

    figure: float
    is_above: bool
    is_inclusive: bool
    called: str  # the word of the comparison: "longer"

    def holds(self, value: float) -> bool:
        beyond = value > self.figure if self.is_above else value < self.figure
        return beyond or (self.is_inclusive and value == self.figure)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableQuestion:
    operation: Operation
    said: tuple[str, ...]  # its words, as `stems`
    entity: str = ""  # of "which boat", "how many boats"
    called: str = ""  # the word for the operation: "longest", "total"
    most: int = 1  # how many rows are asked for: "the three longest"
    limit: Limit | None = None
    without: str = ""  # of "not paid"
    ends: tuple[str, str] | None = None  # of "from January to June"
    falls: bool = False  # of "by how much did it fall"
    pairs: tuple[tuple[str, str], ...] = ()  # words around "and" and "or"
    every: int = 0  # of "all three": the number of rows; 0 if it isn't said
    lists: bool = False  # all rows that fit are asked for
    is_loose: bool = False  # a few words, or asked so that prose may answer as well
    letters: tuple[str, ...] = ()  # "rd" of "R&D"
    proper: frozenset[str] = frozenset()  # capitalised words behind the first
    carried: frozenset[str] = frozenset()  # words that the document has throughout: its company's name

    @property
    def needed(self) -> frozenset[str]:
        """The words that a table has to account for."""
        kept = (word for word in self.said if len(word) > 1 or word.isdigit() or word in "".join(self.letters))
        return frozenset(word for word in kept if word not in _NOT_NEEDED and word not in self.carried)

    @property
    def distinct(self) -> frozenset[str]:
        """The needed words that only a table that has them accounts for: no quantity, operation or entity."""
        spoken = frozenset[str]().union(*(quantity.words for quantity in QUANTITIES), _IRREGULAR.values())
        return self.needed - spoken - self.nouns - {self.entity, *stems([self.called])}

    @property
    def nouns(self) -> frozenset[str]:
        """Nouns behind a participle, which the name of a column may leave out: "tickets" of "sold tickets"."""
        pairs = zip(self.said, self.said[1:], strict=False)
        return frozenset(noun for word, noun in pairs if word.endswith("ed") and noun.isalpha())

    @property
    def is_computed(self) -> bool:
        """Return whether no single cell answers it."""
        return self.operation not in (Operation.VALUE, Operation.COUNT) or self.limit is not None


def read_table_question(text: str) -> TableQuestion | None:
    """Read a question, or return None if it asks for something else, or for two things."""
    question = _IS.sub(r"\1 is", spoken(" ".join(text.split()).rstrip("?!. ")))
    if len(question) > LONGEST or re.search(r"[?;!.]\s+\S", text.rstrip("?!. ")):
        return None
    compared = _as_superlative(question)
    asks = _ASKS.match(question) is not None
    if compared is None and not asks and len(question.split()) > FRAGMENT_WORDS:
        return None
    is_loose = compared is None and (not asks or _LOOSE.match(question) is not None)
    question = compared or question
    question = _YEAR_TO.sub("", question)
    counted, named = _COUNTS.match(question), _ENTITY.match(question)
    rest, limit = _read_limit(question)
    rest, most = _read_most(rest)
    every = found[1].casefold() if (found := _EVERY.search(rest)) else "0"
    rest = _EVERY.sub("all ", rest)
    without = found[1] if (found := _WITHOUT.search(rest)) else ""
    rest = _WITHOUT.sub(" ", rest)
    all_words = words(rest)
    ends = _ENDS.search(rest)
    difference = _DIFFERENCE.search(rest)
    called = [word for word in all_words if word in _CALLED and word.capitalize() not in _PROPER.findall(rest)]
    operations = {_CALLED[word] for word in called}
    if difference is not None:
        all_words = [word for word in all_words if word not in _OF_DIFFERENCE and word != difference["side"]]
        operations, called = {Operation.DIFFERENCE}, []
    if ends is not None and ends[1].isdecimal() and ends[2].isdecimal():
        all_words = [word for word in all_words if word != "between"]
    if _BEYOND & set(all_words) or len(operations) > 1:
        return None
    said = tuple(stems(word for word in all_words if word not in STOPWORDS))
    entity = counted or named
    operation = next(iter(operations), Operation.COUNT if counted else Operation.VALUE)
    if operation is Operation.VALUE and (limit is not None or without):
        operation = Operation.ROWS
    if operation in (Operation.HIGHEST, Operation.LOWEST) and _SORTS.search(rest) and "first" in all_words:
        most, said = MOST_ROWS, tuple(word for word in said if word != "first")
    wanted = TableQuestion(
        operation=operation,
        said=said,
        entity=stem(entity[1].casefold()) if entity and entity[1].casefold() not in STOPWORDS else "",
        called=called[0] if called else limit.called if limit is not None else "",
        most=most,
        limit=limit,
        without=next(stems([without]), ""),
        ends=(ends[1].casefold(), ends[2].casefold()) if ends else None,
        falls=_FALLS.search(rest) is not None,
        is_loose=is_loose,
        every=_NUMBERS[every] if every in _NUMBERS else int(every),
        letters=tuple(pair.replace("&", "") for pair in _LETTERS.findall(rest.casefold())),
        proper=frozenset(stems(_PROPER.findall(rest))),
        lists=operation is Operation.VALUE and _LISTS.match(question) is not None,
        pairs=tuple(
            (next(stems([one])), next(stems([other])))
            for one, other in _PAIR.findall(rest.casefold())
            if ends is None or ends.groups() != (one, other)
        ),
    )
    return wanted if wanted.needed else None


def _as_superlative(question: str) -> str | None:
    """Return a comparison of two things as the question which of them has most; None for other questions."""
    without_verb = _VERB_FIRST.sub("", question)
    is_which = _WHICH.match(question) is not None
    if (without_verb == question and not is_which) or _LIMIT.search(question) is not None:
        return None
    said = without_verb.casefold().split()
    plain = [word.strip(",:") for word in said]
    if not any(word in _COMPARATIVES or word in _CALLED for word in plain):
        return None
    if "or" not in plain and (is_which or "than" not in plain):
        return None
    return " ".join(
        "or" if bare == "than" else _COMPARATIVES.get(bare, word) for word, bare in zip(said, plain, strict=True)
    )


_LEANS = re.compile(
    r"^(?:(?:and|or|ok|so|then|what about|how about|same for|for|in|of|on|the|an?|with|how many|how much|what|which|who"
    r"|when|is|was|are|were|by) ?\b[ ,]*){1,8}",
    re.IGNORECASE,
)
_RUN = re.compile(r"(?<![\w’'–-])(?:[A-Z][\w’'–-]*(?: [A-Z][\w’'–-]*)*|[–:-]{0,3}\w+(?:[–:-]{1,3}\w+)*)")
MOST_LEFT_OUT = 3  # words of a question that leaves the rest to the one before
MOST_READINGS = 20


_WHICH_ONE = re.compile(
    r"(?:(?:and|so|ok|but|then)[ ,]+){0,2}which (?:one|of (?:them|these|those|the two|both))\b (?P<rest>.+)",
    re.IGNORECASE,
)
_HOW_MUCH_MORE = re.compile(
    r"(?:(?:and|so|ok|but|then)[ ,]+){0,2}(?:how (?:much|many) (?:more|less|fewer|higher|lower|bigger|smaller|longer)"
    r" (?:is|was|are|were) (?:that|it|this|the other)|(?:what['’]?s|what is|what was) the difference|by how much)"
    r"(?: (?:between|of) (?:them|these|those|the two|both))?",
    re.IGNORECASE,
)
_NEXT_YEAR = re.compile(
    r"(?:(?:and|so|ok|but|in|for|what about|how about)[ ,]+){0,3}(?:the )?"
    r"(?:(?P<back>year (?:before|earlier)|previous year|prior year)|year (?:after|later)|(?:next|following) year)"
    r"(?: that| this)?",
    re.IGNORECASE,
)
_ASKS_FOR = re.compile(r"^(?:what|how (?:many|much))(?: (?:is|was|are|were|did|do|does))?\b", re.IGNORECASE)
_A_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
MOST_DIFFERING = 4  # words


def continued(question: str, earlier: Sequence[str], answer: str = "") -> list[str]:
    """Return readings of a question that leaves something to the ones before: "and the blue van?", "the year before?".

    `earlier` has these as they were read, the last one first; `answer` is the last answer. A thing of the last one is
    replaced, or one of its things is added; "which one is older?" and "how much more is that?" compare the two things
    in which the last two questions differ. Most readings make no sense: only the ones that a table accounts for count.
    """
    line, before = " ".join(question.split()).rstrip("?!. "), earlier[0].rstrip("?!. ")
    said = [word for word in words(line) if word not in STOPWORDS and word not in _ASKING]
    if len(before) > LONGEST:
        return []
    compared = [*_compared(line, earlier), *_in_next_year(line, before, answer)]
    if compared or not said or len(said) > MOST_LEFT_OUT:
        return compared
    new = _LEANS.sub("", line).strip(" ,")
    new = str(_NUMBERS.get(new.casefold(), new))  # a table has "6", not "six"
    runs = [found for found in _RUN.finditer(before) if found[0].casefold() not in STOPWORDS | _ASKING]
    replaced = [f"{before[: run.start()]}{new}{before[run.end() :]}" for run in runs] if new else []
    alike = [_sort_of(new) == _sort_of(run[0]) for run in runs]  # a name rather replaces a name
    ordered = [text for _, text in sorted(zip(alike, replaced, strict=False), key=lambda pair: not pair[0])]
    added = [f"{line} of {run[0]}" for run in runs]
    return [*ordered, *added][:MOST_READINGS]


def _sort_of(thing: str) -> tuple[bool, bool]:
    return thing[:1].isupper(), thing.isdigit()


def _compared(line: str, earlier: Sequence[str]) -> Iterator[str]:
    """Yield the question about both things that the last two questions differ in."""
    last, one = (text.rstrip("?!. ").split() for text in earlier[:2]) if len(earlier) > 1 else ([], [])
    same = [a.casefold() == b.casefold() for a, b in zip(one, last, strict=False)]
    begin = same.index(False) if False in same else len(same)
    ending = [a.casefold() == b.casefold() for a, b in zip(one[begin:][::-1], last[begin:][::-1], strict=False)]
    end = ending.index(False) if False in ending else len(ending)
    first, second = (" ".join(text[begin : len(text) - end]) for text in (one, last))
    if not first or not second or len(f"{first} {second}".split()) > 2 * MOST_DIFFERING:
        return
    if (which := _WHICH_ONE.fullmatch(line)) is not None:
        yield f"which {which['rest']}, {first} or {second}"
    elif _HOW_MUCH_MORE.fullmatch(line):
        both = " ".join([*last[:begin], first, "and", second, *last[len(last) - end :]])
        yield f"what is the difference between {_ASKS_FOR.sub('', both).strip()}"


def _in_next_year(line: str, before: str, answer: str) -> Iterator[str]:
    """Yield the question before about the year before or after its own, else before or after that of the answer."""
    found = _NEXT_YEAR.fullmatch(line)
    year = _A_YEAR.search(before) or _A_YEAR.search(answer)
    if found is not None and year is not None:
        other = str(int(year[0]) + (-1 if found["back"] else 1))
        yield _A_YEAR.sub(other, before) if year.string is before else f"{before} in {other}"


def _read_limit(question: str) -> tuple[str, Limit | None]:
    """Return the question with a condition reduced to its unit and its measure, and the condition."""
    found = _LIMIT.search(question)
    if found is None:
        return question, None
    figure = found["figure"].strip("£$€ ").replace("\u2212", "-")
    value = float(_NUMBERS[figure.casefold()]) if figure.casefold() in _NUMBERS else float(figure.replace(",", ""))
    limit = Limit(
        figure=value,
        is_above=found["above"] is not None,
        is_inclusive=_INCLUSIVE.match(found[0]) is not None,
        called=words(found[0])[0],
    )
    return f"{question[: found.start()]} {question[found.end() :]}", limit


def _read_most(question: str) -> tuple[str, int]:
    found = _MOST.search(question)
    if found is None:
        return question, 1
    said = (found["top"] or found["before"]).casefold()
    most = _NUMBERS[said] if said in _NUMBERS else int(said)
    highest = " highest " if found["top"] else " "
    return f"{question[: found.start()]}{highest}{question[found.end() :]}", max(1, min(most, MOST_ROWS))


def operation_of(question: TableQuestion, quantities: Iterable[Quantity]) -> Operation:
    """Return the operation over a column of these quantities: the fastest is the lowest time, or the highest speed."""
    for quantity in quantities:
        if question.called in quantity.highest and question.operation is Operation.LOWEST:
            return Operation.HIGHEST
        if question.called in quantity.lowest and question.operation is Operation.HIGHEST:
            return Operation.LOWEST
    return question.operation


def quantities_called(word: str) -> Iterator[Quantity]:
    """Yield the quantities that a superlative compares: "longest" times and lengths."""
    return (quantity for quantity in QUANTITIES if word in quantity.highest or word in quantity.lowest)


def is_like(word: str, name: str) -> bool:
    """Return whether two words are forms of one: "manages" and "manager"."""
    same = next(
        (place for place, (a, b) in enumerate(zip(word, name, strict=False)) if a != b), min(len(word), len(name))
    )
    return word == name or (same >= ROOT and {word[same:], name[same:]} <= _ENDINGS)


def names(text: str) -> frozenset[str]:
    """Return the stems of a text's words that say something."""
    return frozenset(stems(word for word in words(spoken(text)) if word not in STOPWORDS))


def spoken(text: str) -> str:
    """Return names as people say them: "fatal_accidents_85_99" as "fatal accidents 1985 1999", "unitPrice" in two."""
    if "_" in text:
        text = _SHORT_YEARS.sub(lambda found: f" {_full_year(found[1])} {_full_year(found[2])}", text).replace("_", " ")
    return _CAMEL.sub(" ", text)


def _full_year(short: str) -> str:
    return f"{19 if int(short) >= CENTURY else 20}{short}"


def stems(said: Iterable[str]) -> Iterator[str]:
    found = (stem(re.sub("['’]s?$", "", word.casefold())) for word in said)
    return (_IRREGULAR.get(word, word) for word in found)
