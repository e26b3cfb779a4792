"""One action item of meeting notes: the task, its owner, its due date and its state. Pure."""

import re
from dataclasses import dataclass
from datetime import date

from core.text.dates import find_dates, has_weekday
from storage.documents.meetings.lines import phrases, plain, word_list
from storage.documents.meetings.people import MAX_NAME, People, clean_name, is_listed_name, is_name

_FIELD = re.compile(
    r"[\s,;.|(\[–—-]*\b(?P<label>[^\W\d_]+(?:\s[^\W\d_]+)?)\s?[:=]\s?(?P<who>@?[^,;|()\[\]:=–—]{2,60}?)"
    r"(?=\s?(?:[,;|()\[\]–—]|\.?$|\b(?:due|deadline|by|status)\b))[)\]]?",
    re.IGNORECASE,
)
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
_BOLD = re.compile(r"\s?(?:\*\*|__)(?P<who>[^*_]{1,60}?):?(?:\*\*|__)\s?[:–—-]?\s?(?:to\s)?(?P<what>\S.*)", re.DOTALL)
_TRAILING = re.compile(
    r"(?P<what>.*\S)\s?(?:[(\[](?P<a>[^()\[\]]{1,60})[)\]]|\s(?:[–—-]+|→|[-=]>)\s?(?P<b>@?[^\W\d_][^.!?:;–—]{0,50})"
    r"|\s(?P<c>@[\w-]{1,40}(?:[,\s&/]{1,3}@[\w-]{1,40}){0,3})|:\s(?P<d>[^\W\d_][^.!?:;,]{0,40}))\s?\.?",
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
_JOINTS = re.compile(r"(?<=\w)(?:[,;]\s+(?:(?:and|und|et|y)\s+)?|\s+(?:and|und|et|y)\s+)(?=[^\W\d_a-z])")
_MAX_OWNER = 12  # words of several owners
_PASSIVE = re.compile(r"\s?be\s(?:\w+ly\s)?(?:\w+(?:ed|en)|sent|made|done|put|set|kept|held|built|found|left|told)\b")

_MONTHS = frozenset("january february march april may june july august september october november december".split())
_OCCASIONS = frozenset("meeting call week month quarter sprint session sync release".split()) | {"board meeting"}
_COMING = frozenset("this next coming following nächsten kommenden prochain próximo".split())
_NUMBERS = frozenset("one two three four five six".split())
_ARTICLES = frozenset("on the le el den am".split())
_ON = frozenset("on am le el op".split())
_TOKEN = re.compile(r"\w[\w'’-]*")
_MOST_VAGUE = 5  # words
_OPENING = " \t\n,;.(|[–—-"
_CLOSING = re.compile(r"(?<![\s.,;:–—|-])[\s.,;:–—|-]++$")
_DATE_SIGN = re.compile(r"[📅🗓⏰⏳]\ufe0f?\s?$|@?due\($|(?<![\s,;–—-])[\s,;–—-]*+[(\[]$")

_OFFICE_LEAD = re.compile(r"(?:the )?(?:vice[- ]?|co-?|deputy )?", re.IGNORECASE)
_NO_VALUE = frozenset(["", "tbd", "tba", "?", "n/a", "none", "unassigned", "open", "all open"])

_OPEN_WORDS = tuple(
    phrases(
        """open, todo, to do, pending, in progress, not done, not started, not yet, wip, ongoing, new, no, started,
        blocked, on hold, offen, nein, en cours, à faire, abierto, pendiente, aperto, bezig, ❌, ⬜, ☐"""
    )
)
_STATE = re.compile(
    r"(?:(?<!\s)\s++)?[(\[]\s?(?P<word>[^()\[\]]{1,14}?)\s?[)\]]\s*|\s[-–—|]++\s?(?P<last>[\w ]{1,12}?)\.?$"
)
_TICK = re.compile(r"(?:(?<!\s)\s++)?[✅✔☑✓]\ufe0f?\s*|^(?:done|completed?|erledigt)\s?[:–—-]\s+", re.IGNORECASE)


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
    state, text = take_state(raw, done)
    bold = _BOLD.match(text)
    text = plain(text)
    owner, named = clean_owner(who), bool(who)
    for field in _FIELD.finditer(text):
        if field["label"].casefold() in word_list("owner_labels") and is_listed_name(clean_name(field["who"])):
            owner, named = owner or clean_owner(field["who"]), True
            text = f"{text[: field.start()]} {text[field.end() :]}".strip(" ,;|")
            break
    text, due = take_due(text, held_on)
    if owner is None and bold and is_name(clean_name(bold["who"])):
        owner, named = clean_owner(bold["who"]), True
        text = plain(bold["what"]) if due is None else take_due(plain(bold["what"]), held_on)[0]
    elif owner is None:
        owner, text, named = find_owner(text, people)
    if due is None:
        text, due = take_due(text, held_on)
    text = _CLOSING.sub("", text) if text[-1:] in ",;:–—|-" else text
    if not any(letter.isalpha() for letter in text):
        return None
    return Action(description=text[:2_000], owner=owner, due_date=due, done=state, named=named)


def split_tasks(text: str, people: People) -> list[str]:
    """Return the tasks of a sentence that gives each its own owner: "Ann to write and Ben to print"; else the text."""
    for joint in _JOINTS.finditer(text):
        left, right = text[: joint.start()], text[joint.end() :]
        first, second = find_owner(plain(left), people), find_owner(plain(right), people)
        ends_in_person = people.knows(left.split()[-1]) or is_name(left.split()[-1])
        if first[2] and second[2] and first[0] != second[0] and not ends_in_person and _opens_with_owner(right):
            return [left, *split_tasks(right, people)]
    return [text]


def _opens_with_owner(text: str) -> bool:
    return bool(_split_at(plain(text), _TO | _PROMISES))


def find_owner(text: str, people: People) -> tuple[str | None, str, bool]:
    """Return (owner, task, whether only tasks have this form) of "Ann to ...", "@ann ...", "... (Ann)"."""
    handles = _HANDLES.fullmatch(text)
    if handles:
        return clean_owner(handles["who"]), handles["what"], True
    promised = _split_at(text, _PROMISES)
    if promised and (_are_people(promised[0], people) or _is_office(promised[0], or_all=False)):
        return clean_owner(promised[0]), text, True
    given = _split_at(text, _TO)
    if given and (_are_people(given[0], people) or _is_office(given[0], or_all=True)):
        return clean_owner(given[0]), given[1], True
    led = _LED.fullmatch(text)
    if led and (_are_people(led["who"], people) or _is_office(led["who"], or_all=True)):
        return clean_owner(led["who"]), led["what"], False
    trailing = _TRAILING.fullmatch(text)
    if trailing:
        who = next(group for group in (trailing[name] for name in "abcd") if group)
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
        # the start of "due on", "(by" or a calendar sign at the end of the text before a date
        sign = _DATE_SIGN.search(before)
        words = list(_TOKEN.finditer(before.rstrip(" :=(.,")))
        while words and words[-1][0].lower() in word_list("days") | _ARTICLES:
            words.pop()
        start = _marker_start(before, words)
        begin = start if start is not None else sign.start() if sign else None
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
    return _take_vague(text)


def _marker_start(text: str, words: list[re.Match[str]]) -> int | None:
    """Return the start of the words like "no later than" that end `words`, with the punctuation before them."""
    for length in (3, 2, 1):
        phrase = " ".join(word[0].lower() for word in words[-length:])
        if len(words) >= length and phrase in word_list("before_day"):
            return len(text[: words[-length].start()].rstrip(_OPENING))
    return None


def _take_vague(text: str) -> tuple[str, str | None]:
    """As take_due, for days like "next Friday" and "end of June"."""
    words = list(_TOKEN.finditer(text))
    for place in range(len(words) - 1, -1, -1):
        for length in range(min(_MOST_VAGUE, len(words) - place), 0, -1):
            written = text[words[place].start() : words[place + length - 1].end()]
            if not _is_vague(written.lower().split()):
                continue
            rest = text[words[place + length - 1].end() :].strip(" .)]")
            begin = _vague_start(text[: words[place].start()], words[:place], written.lower(), is_last=not rest)
            if begin is not None:
                left = text if rest and rest[:1] not in ",;:|(–—-" else f"{text[:begin]} {rest}".strip(" ,;")
                return left + ")" * (left.count("(") - left.count(")")), written
    return text, None


def _vague_start(before: str, words: list[re.Match[str]], day: str, *, is_last: bool) -> int | None:
    """Return the start of the words and signs that mark a day as due, None without such a mark."""
    marker = words[:-1] if words and words[-1][0].lower() in _ARTICLES else words
    is_next = bool(words) and not before[words[-1].end() :].strip(" :=")
    begin = _marker_start(before, marker) if is_next and day not in _MONTHS else None
    if begin is not None or not is_last:
        return begin
    head, is_day = before.rstrip(), day.split()[-1] in word_list("days")
    if head.endswith(("(", "[")):
        return len(head[:-1].rstrip())
    if is_day and head.endswith((",", " -", "–", "—")):
        return len(head.rstrip(" -–—,"))
    return words[-1].start() if is_day and is_next and words[-1][0].lower() in _ON else None


def _is_vague(words: list[str]) -> bool:
    """Return whether words name a day without a date: "next Friday", "end of June", "in two weeks"."""
    phrase = " ".join(words)
    if phrase in word_list("vague_days") or phrase in word_list("days") or (len(words) == 1 and phrase in _MONTHS):
        return True
    words = words[1:] if words[0] == "the" and len(words) > 1 else words
    if len(words) > 1 and words[0] in _COMING:
        if words[1] in word_list("days"):
            return len(words) == 2 or words[2:] == ["next", "week"]
        return words[0] != "this" and " ".join(words[1:]) in _OCCASIONS
    if len(words) > 1 and words[0] in word_list("days"):
        return words[1:] in (["next", "week"], ["prochain"])
    if words[:2] == ["end", "of"]:
        return len([word for word in words[2:] if word not in ("the", "this", "next")]) == 1
    if words[0] == "eod":
        return words[-1] in word_list("days") and words[1:-1] in ([], ["on"])
    if words[0] == "in" and len(words) == 3:
        return (words[1] in _NUMBERS or words[1].isdigit()) and words[2].rstrip("s") in ("day", "week", "month")
    if words[0] in ("ende", "fin") and len(words) == 2:
        return words[1] != "de"
    is_month = words[0] in _MONTHS or words[0] in ("q1", "q2", "q3", "q4")
    return is_month and (len(words) == 1 or (len(words) == 2 and words[1].isdigit() and len(words[1]) == 4))


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


def _is_office(text: str, *, or_all: bool) -> bool:
    """Return whether an office gets the task ("Treasurer to ..."), or everyone ("Everyone: ...")."""
    lower = text.lower()
    bare = _OFFICE_LEAD.sub("", lower, count=1)
    return bare in word_list("offices") or (or_all and lower in ("everyone", "everybody", "all"))


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


def take_state(raw: str, done: bool | None) -> tuple[bool | None, str]:
    """Return (state, task without its words of state); `done` is the state of its check box."""
    if re.fullmatch(r"\s*~~.*~~\s*\.?", raw, re.DOTALL):
        return True, raw.replace("~~", "")
    tick = _TICK.search(raw)
    if tick:
        return True if done is None else done, f"{raw[: tick.start()]} {raw[tick.end() :]}".strip()
    for match in _STATE.finditer(raw):
        word = (match["word"] or match["last"]).casefold().strip()
        state = True if word in word_list("done") else False if word in _OPEN_WORDS else None
        if state is not None and word not in ("yes", "no", "ja", "new", "started"):
            return state if done is None else done, f"{raw[: match.start()]} {raw[match.end() :]}".strip()
    return done, raw
