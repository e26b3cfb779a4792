"""One action item of meeting notes: the task, its owner, its due date and its state. Pure."""

import re
from dataclasses import dataclass
from datetime import date

from core.text.dates import find_dates, has_weekday
from storage.documents.meetings.lines import phrases, plain, word_list
from storage.documents.meetings.people import MAX_NAME, People, clean_name, is_name

_LED = re.compile(
    r"[(\[]?(?P<who>[@\w][^:()\[\]]{0,80}?(?:\s\([^()]{1,30}\))?)"
    r"(?:[)\]]\s?[:–—-]?\s|\s?:\s|\s[–—-]+\s|\s?(?:→|[-=]>)\s?|—)(?P<what>\S.*)",
    re.DOTALL,
)
_HANDLES = re.compile(
    r"(?P<who>@[\w-]{1,40}(?:\.[\w-]{2,40})?(?:(?:,\s?|\s|\s?[/&+]\s?|\sand\s)@[\w-]{1,40}(?:\.[\w-]{2,40})?){0,4})"
    r"\s?[:,–—-]?\s?(?:to\s)?(?P<what>.+)",
    re.DOTALL,
)
_TRAILING = re.compile(
    r"(?P<what>.*\S)\s?(?:[(\[](?P<a>[^()\[\]]{1,60})[)\]]|\s(?:[–—-]+|→|[-=]>)\s?(?P<b>@?[^\W\d_][^.!?:;–—]{0,50})"
    r"|\s(?P<c>@[\w-]{1,40}(?:[,\s&/]{1,3}@[\w-]{1,40}){0,3}))\s?\.?",
    re.DOTALL,
)
_ACRONYM = re.compile(r"(?P<who>[A-Z]{2,6})\s(?P<what>[a-z]{3,}\s.*)", re.DOTALL)
_LISTED = re.compile(r",\s|\s?[/&]\s?|,?\s(?:and|und|et|y|e|en|with)\s")
# Words between an owner and the task. Behind a promise, the whole line is the task.
_PROMISES = phrases(
    """will, shall, should, must, need to, needs to, has to, have to, is going to, are going to, agreed to, agrees to,
    offered to, volunteered to, promised to, take, takes, wird, werden, soll, sollen, kümmert, va, doit, devra, se
    charge, debe, va a, deve, zal, gaat, moet"""
)
_TO = frozenset({"to", "is to", "are to"})
_MAX_OWNER = 12  # words of several owners
_PASSIVE = re.compile(r"\s?be\s(?:\w+ly\s)?(?:\w+(?:ed|en)|sent|made|done|put|set|kept|held|built|found|left|told)\b")

_ARTICLES = frozenset("on the le el den am".split())
_SPANS = frozenset({"week", "month", "meeting", "call", "sprint", "quarter"})
_TOKEN = re.compile(r"\w[\w'’-]*")
_OPENING = " \t\n,;.(|[–—-"
_CLOSING = re.compile(r"[\s.,;:–—|-]+$")
_DATE_SIGN = re.compile(r"[📅🗓⏰⏳]\ufe0f?\s?$|@?due\($|[\s,;–—-]*[(\[]$")

_NO_VALUE = frozenset(["", "tbd", "tba", "?", "n/a", "none", "unassigned", "open", "all open"])

_OPEN_WORDS = tuple(
    phrases(
        """open, todo, to do, pending, in progress, not done, not started, not yet, wip, ongoing, new, no, started,
        blocked, on hold, offen, nein, en cours, à faire, abierto, pendiente, aperto, bezig, ❌, ⬜, ☐"""
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    description: str
    owner: str | None = None
    due_date: str | None = None
    done: bool | None = None
    named: bool = False  # whether a form that only tasks have gave the owner ("Ann to ...", "@ann ...")


def read_action(
    raw: str, people: People, *, who: str = "", done: bool | None = None, held_on: date | None = None
) -> Action | None:
    """Return the action item of a line in a list of them, None for a line without words.

    `who` is the owner from a label or heading above, `held_on` the day of the meeting, for dates without a year.
    "Ann to call Ben by Friday" is "call Ben", owner "Ann", due "Friday".
    """
    if re.fullmatch(r"\s*~~.*~~\s*\.?", raw, re.DOTALL):
        raw, done = raw.replace("~~", ""), True
    owner, named = clean_owner(who), bool(who)
    text, due = take_due(plain(raw), held_on)
    if owner is None:
        owner, text, named = find_owner(text, people)
    if due is None:
        text, due = take_due(text, held_on)
    text = _CLOSING.sub("", text) if text[-1:] in ",;:–—|-" else text
    if not any(letter.isalpha() for letter in text):
        return None
    return Action(description=text[:2_000], owner=owner, due_date=due, done=done, named=named)


def find_owner(text: str, people: People) -> tuple[str | None, str, bool]:
    """Return (owner, task, whether only tasks have this form) of "Ann to ...", "@ann ...", "... (Ann)"."""
    handles = _HANDLES.fullmatch(text)
    if handles:
        return clean_owner(handles["who"]), handles["what"], True
    promised = _split_at(text, _PROMISES)
    if promised and _are_people(promised[0], people):
        return clean_owner(promised[0]), text, True
    given = _split_at(text, _TO)
    if given and _are_people(given[0], people):
        return clean_owner(given[0]), given[1], True
    led = _LED.fullmatch(text)
    if led and _are_people(led["who"], people):
        return clean_owner(led["who"]), led["what"], False
    trailing = _TRAILING.fullmatch(text)
    if trailing:
        who = next(group for group in (trailing[name] for name in "abc") if group)
        first = _LISTED.split(clean_name(who))[0]
        if who.startswith("@") or (_are_people(who, people) and (trailing["a"] or people.knows(first))):
            return clean_owner(who), trailing["what"].rstrip(" ,;–—-"), True
    acronym = _ACRONYM.fullmatch(text)
    if acronym and acronym["who"].lower() not in word_list("no_owner"):
        return acronym["who"], acronym["what"], False
    return None, text, False


def _split_at(text: str, verbs: frozenset[str]) -> tuple[str, str] | None:
    """Return the words before the first of some verbs and the words behind it; None without one."""
    words = text.split(maxsplit=_MAX_OWNER + 4)
    for place in range(1, min(len(words) - 1, _MAX_OWNER)):
        for length in (3, 2, 1):
            if " ".join(words[place : place + length]).lower() in verbs and place + length < len(words):
                what = text.split(maxsplit=place + length)[-1]
                return None if _PASSIVE.match(what) else (" ".join(words[:place]), what)
    contracted = re.match(r"(\S+)['’]ll\s(.*)", text, re.DOTALL)
    return (contracted[1], contracted[2]) if contracted and "will" in verbs else None


def clean_owner(text: str) -> str | None:
    """Return one or several names as written, a handle without its @; None for no name."""
    names = re.sub(r"(?<!\w)@(?=\w)", "", plain(text)).strip(" ,;:.()[]–—-")
    return None if len(names) > MAX_NAME or names.lower() in _NO_VALUE else names


def take_due(text: str, held_on: date | None) -> tuple[str, str | None]:
    """Return the text without its due day, and that day: YYYY-MM-DD if it is a date, else as written."""
    for written in reversed(find_dates(text)):
        before, closing = text[: written.span.start], text[written.span.end :].lstrip(" )].")
        begin = _due_start(before)
        if begin is None and not closing:
            on = re.search(r"\s+on\s*$", before, re.IGNORECASE)
            ends = before.rstrip().endswith(("–", "—", " -", "|", ","))
            begin = on.start() if on else len(before) if ends else None
        if begin is None:
            continue
        left = text
        if not closing or closing.startswith((",", ";", "|", "(", "–", "—", "-")):
            left = f"{text[:begin]}{' ' if closing else ''}{closing}".strip(" ,;–—-(|")
            left += ")" if left.count("(") > left.count(")") else ""
        return left, written.iso(held_on) or written.span.of(text)
    return _take_weekday(text)


def _due_start(before: str) -> int | None:
    """Return the start of "due on", "(by" or a calendar sign at the end of the text before a date."""
    sign = _DATE_SIGN.search(before)
    words = list(_TOKEN.finditer(before.rstrip(" :=(.,")))
    while words and words[-1][0].lower() in word_list("days") | _ARTICLES:
        words.pop()
    start = _marker_start(before, words)
    return start if start is not None else sign.start() if sign else None


def _marker_start(text: str, words: list[re.Match[str]]) -> int | None:
    """Return the start of the words like "no later than" that end `words`, with the punctuation before them."""
    for length in (3, 2, 1):
        phrase = " ".join(word[0].lower() for word in words[-length:])
        if len(words) >= length and phrase in word_list("before_day"):
            return len(text[: words[-length].start()].rstrip(_OPENING))
    return None


def _take_weekday(text: str) -> tuple[str, str | None]:
    """As take_due, for days without a date after "by" or at the end: "next Friday", "next week", "end of month"."""
    words = list(_TOKEN.finditer(text))
    for place in range(len(words) - 1, -1, -1):
        first = place - 1 if place and words[place - 1][0].lower() in ("next", "this", "nächsten", "eod") else place
        if [word[0].lower() for word in words[max(place - 2, 0) : place]] == ["end", "of"]:
            first = place - 2
        if words[place][0].lower() not in word_list("days") and (first == place or words[place][0] not in _SPANS):
            continue
        day, before = text[words[first].start() : words[place].end()], text[: words[first].start()]
        rest = text[words[place].end() :].strip(" .)]")
        begin = _marker_start(before, [word for word in words[:first] if word[0].lower() not in _ARTICLES])
        if begin is None and not rest:
            begin = len(re.sub(r"(?:\son)?[\s,(\[–—-]*$", "", before, flags=re.IGNORECASE))
        if begin is not None:
            left = text if rest and rest[:1] not in ",;:|(–—-" else f"{text[:begin]} {rest}".strip(" ,;")
            return left + ")" * (left.count("(") - left.count(")")), day
    return text, None


def read_due(cell: str, held_on: date | None) -> str | None:
    """Return the day in a cell of a column of due dates."""
    text = plain(cell).strip(" .-–—")
    if text.lower() in _NO_VALUE:
        return None
    dates = find_dates(text)
    if dates:
        return dates[0].iso(held_on) or dates[0].span.of(text)
    return text if len(text) <= 60 else None


def _are_people(text: str, people: People) -> bool:
    """Return whether all parts before a task are people: certain names, or known ones in any letters."""
    parts = [part for part in _LISTED.split(clean_name(text)) if part]
    return bool(parts) and all(_is_person(part, people) for part in parts)


def _is_person(text: str, people: People) -> bool:
    if people.knows(text):
        return True
    first = text.split()[0].lower() if text.split() else ""
    if first in word_list("no_owner") or find_dates(text) or has_weekday(text):
        return False
    return is_name(text) and len(text.split()) <= 3


def read_state(cell: str) -> bool | None:
    """Return whether a cell of a status column means done; None if it means neither."""
    text = plain(cell).casefold()
    if text.startswith(_OPEN_WORDS):
        return False
    words = re.findall(r"\w+|[✓✔✅☑]", text)
    return True if words and words[0] in word_list("done") else None
