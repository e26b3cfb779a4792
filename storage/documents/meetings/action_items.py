"""One action item of meeting notes: what is to be done, who does it, until when, and whether it is done. Pure."""

import re
from dataclasses import dataclass
from datetime import date

from core.text.dates import find_dates, has_weekday
from storage.documents.meetings.lines import plain
from storage.documents.meetings.people_names import MAX_NAME, People, clean_name, is_listed_name, is_name
from storage.documents.meetings.task_states import take_state

_ONE = (
    r"(?:@[\w.-]{1,40}|[^\W\d_][\w.'’-]{0,30}(?:\s(?!to\b|will\b)[^\W\d_][\w.'’-]{0,30}){0,3}?(?:\s\([^()]{1,30}\))?)"
)
_MANY = rf"(?P<who>{_ONE}(?:(?:,\s|\s?/\s?|\s?&\s?|,?\s(?:and|und|et|y|e|en)\s){_ONE}){{0,4}}?)"
_MADE = r"be\s(?:\w+ly\s)?(?:\w+(?:ed|en)|sent|made|done|put|set|kept|held|built|found|left|told)\b"
_FIELD = re.compile(
    r"[\s,;.|(\[–—-]*\b(?:owners?|assignees?|assigned to|responsible(?: person)?|who|lead|dri|verantwortlich|zuständig"
    r"|responsable|responsabile|encargad[oa]|verantwoordelijk[e]?|eigenaar)\s?[:=]\s?(?P<who>@?[^,;|()\[\]:=–—]{2,60}?)"
    r"(?=\s?(?:[,;|()\[\]–—]|\.?$|\b(?:due|deadline|by|status)\b))[)\]]?",
    re.IGNORECASE,
)
_TO = re.compile(rf"{_MANY}\s(?:is\s|are\s)?to\s(?P<what>(?!{_MADE})[^\W\d_].*)", re.DOTALL)
_WILL = re.compile(
    rf"{_MANY}(?:\s(?:will|shall|should|must|needs? to|has to|have to|is going to|are going to|agreed to|offered to"
    r"|volunteered to|promised to|takes?|agrees to|wird|werden|soll|sollen|kümmert|va|doit|devra|se charge|debe|va a"
    r"|deve|zal|gaat|moet)\b|['’]ll\b)\s?(?!{_MADE}).*",
    re.DOTALL,
)
_LED = re.compile(rf"[(\[]?{_MANY}(?:[)\]]\s?[:–—-]?\s|\s?:\s|\s[–—-]+\s|\s?(?:→|[-=]>)\s?|—)(?P<what>\S.*)", re.DOTALL)
_HANDLES = re.compile(
    r"(?P<who>@[\w-]{1,40}(?:\.[\w-]{2,40})?(?:(?:,\s?|\s|\s?[/&+]\s?|\sand\s)@[\w-]{1,40}(?:\.[\w-]{2,40})?){0,4})\s?[:,–—-]?\s?(?:to\s)?(?P<what>.+)",
    re.DOTALL,
)
_BOLD = re.compile(r"\s?(?:\*\*|__)(?P<who>[^*_]{1,60}?):?(?:\*\*|__)\s?[:–—-]?\s?(?:to\s)?(?P<what>\S.*)", re.DOTALL)
_TRAILING = re.compile(
    r"(?P<what>.*\S)\s?(?:[(\[](?P<a>[^()\[\]]{1,60})[)\]]|\s(?:[–—-]+|→|[-=]>)\s?(?P<b>@?[^\W\d_][^.!?:;–—]{0,50})"
    r"|\s(?P<c>@[\w-]{1,40}(?:[,\s&/]{1,3}@[\w-]{1,40}){0,3})|:\s(?P<d>[^\W\d_][^.!?:;,]{0,40}))\s?\.?",
    re.DOTALL,
)
_ACRONYM = re.compile(r"(?P<who>[A-Z]{2,6})\s(?P<what>[a-z]{3,}\s.*)", re.DOTALL)
_KNOWN = re.compile(r"(?P<who>[^\W\d_][\w'’-]*(?:\s[^\W\d_a-z][\w'’-]*)?)\s(?P<what>[^\W\d_].*)", re.DOTALL)
# "Renew the certificate Ann Lee", as a page with mentions of people is when it is text.
_NAMED_LAST = re.compile(
    r"(?P<what>\S+\s.*?(?P<last>[\w’'-]+))\s(?P<who>[^\W\d_a-z][\w'’.-]*(?:\s[\w'’.-]+){0,2}\s[^\W\d_a-z][\w'’.-]*)",
    re.DOTALL,
)
_BEFORE_NAME = frozenset(
    """to with for by from and or of on at in about via per the a ask tell email call contact meet invite inform thank
    help join visit nominate appoint elect add remove remind introduce onboard ping support replace mr mrs ms
    dr""".split()
)

_DAY = (
    r"(?:mon|tues?|wednes|thurs?|fri|satur|sun)(?:day)?|mon|tue|wed|thu|fri|montag|dienstag|mittwoch|donnerstag|freitag"
    r"|samstag|sonntag|lundi|mardi|mercredi|jeudi|vendredi|lunes|martes|miércoles|jueves|viernes|lunedì|martedì"
    r"|mercoledì"
    r"|giovedì|venerdì|maandag|dinsdag|woensdag|donderdag|vrijdag|segunda|terça|quarta|quinta|sexta"
)
_VAGUE = (
    rf"(?:(?:this|next|coming|the (?:next|following)|nächsten|kommenden|prochain"
    rf"|próximo)\s)?(?:{_DAY})\b(?:\s(?:next week|prochain))?"
    r"|(?:the\s)?(?:next|following|coming)\s(?:meeting|call|week|month|quarter|sprint|session|board meeting|sync"
    r"|release)"
    r"|(?:the\s)?end\sof\s(?:the\s|this\s|next\s)?(?:day|week|month|quarter|year|sprint|q[1-4]|[a-z]{3,9})"
    r"|eod(?: on)? (?:"
    + _DAY
    + r")\b|eod|eow|eom|eoy|asap|today|tonight|tomorrow|this (?:week|month|quarter)|in (?:one|two|three|\d+) (?:days?"
    r"|weeks?|months?)"
    r"|q[1-4](?:\s20\d\d)?|ende (?:der woche|des monats|\w+)|nächste(?:r|n)? (?:woche|sitzung|monat)"
    r"|fin (?:du mois|de semaine|\w+)"
    r"|la semaine prochaine|la próxima (?:semana|reunión)|fin de mes|volgende (?:week|vergadering)|morgen|demain|mañana"
)
_BEFORE_DATE = (
    r"(?:due(?:\s(?:date|by|on))?|deadline|by|before|until|till|no later than|not later than|at the latest"
    r"|target(?: date)?"
    r"|bis(?: zum| spätestens)?|spätestens|frist|fällig|avant(?: le)?|d['’]ici(?: (?:le|au))?|pour(?: le)?"
    r"|échéance|antes del?"
    r"|para(?: el)?|fecha límite|plazo|entro(?: il)?|scadenza|voor|uiterlijk|até|prazo|do|senast|innen|eta|when"
    r"|wann|quand)"
)
_DUE = re.compile(
    rf"[\s,;.(\[|–—-]*\b{_BEFORE_DATE}\s?[:=]?\s?(?:on\s|the\s|le\s|el\s|den\s)?(?P<when>{_VAGUE})\b[)\]]?", re.I
)
_DUE_DATE = re.compile(
    rf"(?:[\s,;.(\[|–—-]*(?:\b{_BEFORE_DATE}\s?[:=(]?\s?|[📅🗓⏰⏳]\ufe0f?\s?|[@]?due\()(?:on\s|the\s|le\s|el\s|den\s"
    rf"|am\s)?"
    rf"(?:(?:{_DAY})\.?,?\s)?|[\s,;–—-]*[(\[])$",
    re.IGNORECASE,
)
_ON_DAY = re.compile(
    rf"(?:[\s,;(]*\b(?:on|am|le|el|op)\s|\s?[(\[,]\s?|\s[–—-]\s)(?P<when>(?:next\s|this\s"
    rf"|coming\s)?(?:{_DAY}))[)\]\s.]*$",
    re.IGNORECASE,
)
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_IN_BRACKETS = re.compile(rf"\s?[(\[](?P<when>{_VAGUE}|(?:{_MONTHS})(?:\s20\d\d)?)[)\]][\s.]*$", re.IGNORECASE)
_ON = re.compile(r"\s+on\s*$", re.IGNORECASE)
_CLOSING = re.compile(r"[\s.,;:–—|-]+$")

_OFFICE = re.compile(
    r"(?:the )?(?:vice[- ]?|co-?|deputy )?(?:chairs?|chair(?:man|woman|person)|president|secretary|treasurer|clerk"
    r"|editors?|moderator|director|manager|ceo|cto|cfo|coo)",
    re.IGNORECASE,
)
# Names that begin a line of an action list and are no people.
_NO_OWNER = frozenset(
    """action item todo task update issue note fyi status decision deadline reminder next step question pr bug eip rfc
    link topic background context motion vote carried agreed option phase part step milestone release version
    everyone anyone someone nobody project plan budget website docs""".split()
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
    """The action item that a line of a list of them holds; None where it holds no words.

    `who` is the owner that stood before it, in a label or heading; `held_on` the day of the meeting, for dates that
    leave the year out. "Ann to call Ben by Friday" is "call Ben", of Ann, due "Friday".
    """
    state, text = take_state(raw, done)
    bold = _BOLD.match(text)
    text = plain(text)
    field = _FIELD.search(text)
    owner, named = clean_owner(who), bool(who)
    if field and is_listed_name(clean_name(field["who"])):
        owner, named = owner or clean_owner(field["who"]), True
        text = f"{text[: field.start()]} {text[field.end() :]}".strip(" ,;|")
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


def find_owner(text: str, people: People) -> tuple[str | None, str, bool]:
    """(owner, what is to be done, whether the form is one of tasks alone) of "Ann to ...", "@ann ...", "... (Ann)"."""
    handles = _HANDLES.fullmatch(text)
    if handles:
        return clean_owner(handles["who"]), handles["what"], True
    for form, whole in ((_WILL, True), (_TO, False), (_LED, False)):
        match = form.fullmatch(text)
        if match and (_are_people(match["who"], people) or _is_office(match["who"], all_too=form is not _WILL)):
            return clean_owner(match["who"]), text if whole else match["what"], form is not _LED
    trailing = _TRAILING.fullmatch(text)
    if trailing:
        who = next(group for group in (trailing[name] for name in "abcd") if group)
        if who.startswith("@") or (_are_people(who, people) and (trailing["a"] or people.knows(_first_of(who)))):
            return clean_owner(who), trailing["what"].rstrip(" ,;–—-"), True
    known = _KNOWN.fullmatch(text)
    if known and people.knows(known["who"]) and known["what"].split()[0].islower() and not _is_no_task(known["what"]):
        return known["who"], known["what"], False
    if known and people.knows(first := known["who"].split()[0]) and " " in known["who"]:
        rest = text[len(first) :].strip()
        if rest.split()[0].islower() and not _is_no_task(rest):
            return first, rest, False
    named_last = _NAMED_LAST.fullmatch(text)
    if named_last and people.has(named_last["who"]) and named_last["last"].lower() not in _BEFORE_NAME:
        return named_last["who"], named_last["what"], False
    acronym = _ACRONYM.fullmatch(text)
    if acronym and not _is_no_task(acronym["what"]) and acronym["who"].lower() not in _NO_OWNER:
        return acronym["who"], acronym["what"], False
    return None, text, False


def clean_owner(text: str) -> str | None:
    """A name or several as written, a handle without its sign; None where there is none."""
    names = re.sub(r"(?<!\w)@(?=\w)", "", plain(text)).strip(" ,;:.()[]–—-")
    if (
        not names
        or len(names) > MAX_NAME
        or names.lower() in ("tbd", "tba", "?", "n/a", "none", "unassigned", "open", "all open")
    ):
        return None
    return names


def take_due(text: str, held_on: date | None) -> tuple[str, str | None]:
    """The text without the day it names as due, and that day: YYYY-MM-DD where it is one, else as written."""
    for written in reversed(find_dates(text)):
        before = _DUE_DATE.search(text[: written.span.start])
        closing = text[written.span.end :].lstrip(" )].")
        bare = not closing and text[: written.span.start].rstrip().endswith(("–", "—", " -", "|", ","))
        before = before or (None if closing else _ON.search(text[: written.span.start]))
        if before is None and not bare:
            continue
        begin = before.start() if before else written.span.start
        if not closing or closing.startswith((",", ";", "|", "(", "–", "—", "-")):
            text_left = f"{text[:begin]}{' ' if closing else ''}{closing}".strip(" ,;–—-(|")
            text_left += ")" if text_left.count("(") > text_left.count(")") else ""
        else:
            text_left = text
        return text_left, written.iso(held_on) or written.span.of(text)
    for form in (_DUE, _ON_DAY, _IN_BRACKETS):
        matches = list(form.finditer(text))
        if matches:
            match = matches[-1]
            rest = text[match.end() :].strip(" .)")
            left = text if rest and rest[:1] not in ",;:|(–—-" else f"{text[: match.start()]} {rest}".strip(" ,;")
            return left + ")" * (left.count("(") - left.count(")")), match["when"]
    return text, None


def read_due(cell: str, held_on: date | None) -> str | None:
    """The day that a cell of a column of due dates holds."""
    text = plain(cell).strip(" .-–—")
    if not text or text.lower() in ("tbd", "tba", "n/a", "none", "?"):
        return None
    dates = find_dates(text)
    if dates:
        return dates[0].iso(held_on) or dates[0].span.of(text)
    return text if len(text) <= 60 else None


def _are_people(text: str, people: People) -> bool:
    """Whether all that a line names before its task are people: names for sure, or known ones in any letters."""
    parts = [part for part in re.split(r",\s|\s?[/&]\s?|,?\s(?:and|und|et|y|e|en|with)\s", clean_name(text)) if part]
    return bool(parts) and all(_is_person(part, people) for part in parts)


def _is_office(text: str, *, all_too: bool) -> bool:
    """Whether a task is given to whoever holds an office ("Treasurer to ..."), or to all ("Everyone: ...")."""
    return _OFFICE.fullmatch(text) is not None or (all_too and text.lower() in ("everyone", "everybody", "all"))


def _is_person(text: str, people: People) -> bool:
    if people.knows(text):
        return True
    first = text.split()[0].lower() if text.split() else ""
    if first in _NO_OWNER or find_dates(text) or has_weekday(text):
        return False
    return is_name(text) and len(text.split()) <= 3


def _first_of(text: str) -> str:
    return re.split(r",\s|\s?[/&]\s?|\s(?:and|und|et|y|e|en)\s", clean_name(text))[0]


def _is_no_task(what: str) -> bool:
    """Whether words after a name tell of it rather than give it something to do ("was", "has been")."""
    return what.split()[0].lower() in _TELLING or re.match(r"to\sbe\s", what) is not None


_TELLING: frozenset[str] = frozenset(
    """is was has had are were be been reported said noted asked mentioned explained presented thanked joined left
    and or
    of in on for to from at with wants thinks believes suggested proposed recommended raised stated seconded
    moved""".split()
)
