"""Questions about the library itself: its documents, the new ones, their numbers of pages. Pure, English.

The model-free provider has no other way to answer them. In doubt a question isn't one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from core.knowledge.facts.dates import LONGEST_DATE, Lean, read_period
from core.text.words import collapse

LONGEST = 160  # characters

_NOUNS = r"documents?|files?|journals?|books?|notes?|pdfs?|texts?|minutes|papers?|reports?|meetings?|transcripts?"
_KINDS = {"journal": "foundry", "pdf": "pdf"}  # nouns that name a kind of document
_PLAIN = frozenset({"document", "file", "text"})  # nouns that name every document
_LEAD = r"(?:(?:hi|hello|please|so|and|ok|okay)[,!]? ){0,4}+(?:(?:can|could) you (?:please )?)?"
_FROM = r"(?:,? (?:from|starting (?:at|with)) (?:number |no\. ?)?(?P<first>\d{1,6})(?: on(?:wards)?)?)?"
_YOU_HAVE = (
    r"(?:do|can|could) (?:you|i|we) (?:currently )?(?:have(?: access to)?|know(?: of| about)?|read|see|search|hold|"
    r"access|use|ask about|ask you about)|have you(?: got)?"
)
_IT_HAS = (
    r"are (?:there|here|available|loaded|indexed|(?:there )?in (?:the|your|our) (?:library|collection))|"
    r"does (?:the|your|our) library (?:have|hold|contain)"
)
_HAVE = rf"(?:{_YOU_HAVE}|{_IT_HAS})"
_LIST = tuple(
    re.compile(rf"{_LEAD}{form}{_FROM}", re.IGNORECASE)
    for form in (
        rf"(?:which|what|how many) (?P<words>(?:[\w-]+ ){{0,3}}?)(?:kinds? of |sorts? of )?(?P<noun>{_NOUNS}) {_HAVE}"
        r"(?: (?:here|available|access to|in (?:the|your|our) library))?",
        r"(?:list|show|name|give)(?: me| us)? (?:all |a list of |every ){0,3}+(?:of )?(?:the |your |our )?"
        r"(?P<words>(?:[\w-]+ ){0,2}?)(?P<noun>documents|files|journals|pdfs)"
        r"(?: (?:you (?:have|know|can read)|there are|in (?:the|your|our) library|here))?",
        r"what(?:'s|’s| is) in (?:the|your|our) (?P<noun>library)|what does (?:the|your|our) library (?:hold|contain)",
    )
)
_HERE = r"(?: (?:here|in (?:the|your|our) library|to (?:the|your|our) library))?"
_NEW = tuple(
    re.compile(rf"\A{_LEAD}(?:{form}){_HERE}(?: (?P<when>.+))?", re.IGNORECASE)
    for form in (
        r"what(?:'s|’s| is)? (?:(?:is|are|was|has been|have been) )?(?:there )?"
        r"(?:new|changed|been added|added|updated)",
        r"what has changed|what (?:came|has come) in|anything new",
        rf"(?:is|are) there (?:anything|any) new(?: {_NOUNS})?",
        rf"(?:which|what) (?:{_NOUNS}) (?:are|were|have been) (?:new|added|changed|updated|dated)",
    )
)
_PAGE = tuple(
    re.compile(rf"\A{_LEAD}(?:{form})", re.IGNORECASE)
    for form in (
        r"(?:is|are|was) there (?:a|any|also a) page (?:number )?(?P<number>\d{1,7})"
        r"(?: (?:in|of) (?P<document>.+?))?(?: (?:too|as well|at all))?",
        r"(?:does|do|has) (?P<document>.+?) (?:have|got) (?:a |any )?page (?:number )?(?P<number>\d{1,7})",
        r"how many pages are there",
        r"how many pages does (?P<document>.+?) have",
        r"how many pages (?:are|is) (?:there )?(?:in )?(?P<document>.+?)",
    )
)
_THIS = re.compile(r"there|(?:the|this|that|its?|your|our)(?: (?:document|journal|book|file|pdf|note|one))?")
_COUNTS = {word: number for number, word in enumerate("one two three four five six seven eight nine ten".split(), 1)}
_LATEST = re.compile(
    rf"\b(?:last|latest|newest|most recent|previous)\s+(?:(?P<count>\d|10|{'|'.join(_COUNTS)})\s+)?"
    rf"(?P<words>(?:(?!of |the |in )[\w-]+\s+){{0,3}}?)(?P<noun>{_NOUNS}|sessions?|newsletters?|agendas?)\b"
    r"(?:\s+of\s+(?:the\s+)?(?P<of>[\w-]+(?:\s+[\w-]+)?))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQuestion:
    words: str = ""  # that names of the documents have
    kind: str | None = None
    first: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class NewQuestion:
    since: date | None = None  # None: the newest ones


@dataclass(frozen=True, slots=True, kw_only=True)
class PageQuestion:
    number: int | None  # None: how many there are
    document: str = ""  # as the question names it; "": the one that the talk is about


LibraryQuestion = ListQuestion | NewQuestion | PageQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestDocuments:
    """The documents that "the last two council meetings" means."""

    count: int
    words: str


def read_library_question(text: str, today: date) -> LibraryQuestion | None:
    """Return a question about the library in its parts; None for any other question."""
    said = collapse(text).rstrip("?!. ")
    if not said or len(said) > LONGEST:
        return None
    if (page := _first_match(_PAGE, said)) is not None:
        return _to_page(page)
    if (new := _first_match(_NEW, said)) is not None:
        since = _since(new["when"] or "", today)
        return NewQuestion(since=since) if since is not None or not new["when"] else None
    listed = _first_match(_LIST, said)
    return _to_list(listed) if listed is not None else None


def _first_match(forms: Sequence[re.Pattern[str]], said: str) -> re.Match[str] | None:
    return next((found for form in forms if (found := form.fullmatch(said)) is not None), None)


def latest_asked(question: str) -> LatestDocuments | None:
    """Return the newest documents that a question is about; None if it names none that way."""
    found = _LATEST.search(question)
    if found is None:
        return None
    noun = found["noun"].casefold()
    count = _COUNTS.get((found["count"] or "").casefold()) or int(found["count"] or 1)
    plural = noun.endswith("s") and noun != "minutes"
    if plural and found["count"] is None:
        return None  # "the latest reports": any number
    words = [found["words"], "" if _singular(noun) in _PLAIN else noun, found["of"] or ""]
    return LatestDocuments(count=count, words=collapse(" ".join(words)))


def _to_page(match: re.Match[str]) -> PageQuestion:
    groups = match.groupdict()
    number, document = groups.get("number"), groups.get("document") or ""
    if _THIS.fullmatch(document.casefold()):
        document = ""
    return PageQuestion(number=int(number) if number else None, document=_without_article(document))


def _to_list(match: re.Match[str]) -> ListQuestion:
    groups = match.groupdict()
    noun = _singular((groups.get("noun") or "library").casefold())
    first = int(groups["first"] or 1)
    words = " ".join(word for word in (groups.get("words") or "").casefold().split() if word not in _FILLERS)
    if noun in _KINDS:
        return ListQuestion(words=words, kind=_KINDS[noun], first=first)
    return ListQuestion(words=words if noun in _PLAIN | {"library"} else f"{words} {noun}".strip(), first=first)


_FILLERS = frozenset("other kind kinds sort sorts all the your our of different more".split())


def _since(text: str, today: date) -> date | None:
    """Return the first day of "since Monday", "this week", "in the last 7 days"."""
    said = (
        re.sub(r"^(?:since|from|after|on|in|during|as of)\s+", "", text.strip().casefold()).removeprefix("the ").strip()
    )
    if (span := re.fullmatch(r"(?:last|past|previous) (\d{1,3}|\w+) (day|week)s?", said)) is not None:
        count = int(span[1]) if span[1].isdigit() else _COUNTS.get(span[1])
        return today - timedelta(days=count * (7 if span[2] == "week" else 1)) if count else None
    if len(said.split()) > LONGEST_DATE:
        return None
    period = read_period(said, today, Lean.PAST)
    return period.start if period is not None else None


def _singular(noun: str) -> str:
    return noun if noun == "minutes" else noun.removesuffix("s")


def _without_article(name: str) -> str:
    return re.sub(r"^(?:the|this|that|our|your)\s+", "", name, flags=re.IGNORECASE).strip("\"'“”‘’ ")
