"""What the headings and labels of meeting notes name: who was there, what was decided, who does what. Pure.

In English, and with the usual words of German, French, Spanish, Italian, Portuguese, Dutch, Polish, Swedish, Danish,
Norwegian, Russian, Japanese and Chinese.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

# Characters and words of a label; what is longer is a sentence.
MAX_LABEL = 70
_MAX_WORDS = 9


class Role(StrEnum):
    """What stands under a label."""

    ATTENDEES = "attendees"
    ABSENT = "absent"
    CHAIR = "chair"  # of those who were there, as a rule
    NOTES_BY = "notes by"  # not so: notes are also written from recordings
    DATE = "date"
    DECISIONS = "decisions"
    ACTIONS = "actions"
    TOPICS = "topics"
    PAST = "past"  # what an earlier meeting decided, or the next one is about
    OTHER = "other"


_WORDS: dict[Role, str] = {
    Role.PAST: (
        r".*\b(?:previous|last (?:meeting|week|time|call)|review of (?:past|action|decision)\w*)\b.*"
        r"|(?:.*\b)?(?:prior|earlier|old)(?:\s(?:meetings?|minutes|actions?|items?|action items|business|decisions?"
        r"|tasks?|to-?dos?|notes|topics?|agenda)\b.*)?"
        r"|(?:next|upcoming|following|future) (?:meetings?|calls?|date|sync|session)\b.*|date (?:of"
        r"|for) (?:the )?next\b.*"
        r"|(?:nächst\w+|letzt\w+) (?:treffen|sitzung|termin|besprechung)\b.*|(?:prochaine|dernière) (?:réunion"
        r"|séance)\b.*"
        r"|(?:próxima|última) (?:reunión|reunião|sesión)\b.*|prossim[ao] (?:riunione|incontro)\b.*"
        r"|volgende (?:vergadering|overleg)\b.*|review (?:previous )?(?:action|decision)s?\b.*"
    ),
    Role.ABSENT: (
        r"absent(?:ees?)?|absences?|apologies(?: for absence)?|regrets?|excused|(?:not|un)[ -]?(?:present"
        r"|attending|able"
        r" to attend)|did not attend|not in attendance|missing|sent apologies|members absent|directors absent"
        r"|away|out(?: of office| today| sick)?|ooo|on (?:leave|vacation|holiday)"
        r"|abwesend(?:e)?|entschuldigt(?:e)?|fehlend(?:e)?|excusée?s?|absent(?:e)?s(?: et excusés)?|ausentes|disculpas"
        r"|assenti|afwezig(?:en)?|afgemeld|nieobecni|frånvarande|fraværende|afbud|отсутствовали|欠席者?|缺席"
    ),
    Role.ATTENDEES: (
        r"(?:meeting |call )?(?:attendees?|attendance|participants?(?: list)?|attending|attended(?: by)?|presents?)"
        r"|in attendance|(?:also )?(?:present|in the room|on the call|joined(?: by)?)|those present|people(?: present)?"
        r"|(?:voting |other |board |committee |council |team |staff |non-voting )?(?:members|directors|trustees|staff|"
        r"guests|observers|visitors|officers|councillors|commissioners|councilmembers)(?: (?:present|in attendance|"
        r"attending))?|(?:those |members |also )?present(?: at the meeting| were| was)?|remote(?: attendees"
        r"| participants)?|online|in person"
        r"|here|who (?:was|is|'s)? ?(?:there|here|present|attended)|who attended|roll ?call|quorum present|guests?"
        r"|list of "
        r"(?:attendees|participants)|teilnehm(?:er(?:[*:_/]?(?:-?innen)?)|ende)(?:liste)?|anwesend(?:e)?|dabei"
        r"|présente?s?(?: à la réunion)?|personnes présentes|étaient présents|participant[ei]?s?|asistentes|asistencia"
        r"|presentes?|presenti|partecipanti|aanwezig(?:en)?|deelnemers|obecni|uczestnicy|närvarande|deltagare"
        r"|til ?stede|deltak?ere|deltagere|присутствовали|присутствующие|участники"
        r"|出席者?|参加者|与会人员|参会人员|参会人"
    ),
    Role.NOTES_BY: r"notes?(?: (?:by|from))?|notes taken by|recorded by|written by|author",
    Role.CHAIR: (
        r"(?:meeting )?(?:chair(?:person|man|woman|ed by)?|moderators?|moderated by|facilitators?|facilitated by|hosts?"
        r"|hosted by|presiding(?: officer)?|led by|organi[sz]er|called by|meeting lead)"
        r"|(?:recording |meeting )?secretary|minutes(?: taken)?(?: by)?|minute[- ]?tak(?:er|ing)|note[- ]?takers?"
        r"|(?:minutes |action item |meeting )?scribes?"
        r"|recorder|timekeeper|sitzungsleitung|leitung|vorsitz(?:ende[rn]?)?|moderation|protokoll(?:führ\w+"
        r"|ant(?:in)?)?"
        r"|schriftführ\w+|président(?:e)?(?: de séance)?|animat(?:eur|rice)|secrétaire(?: de séance)?|moderador[a]?"
        r"|secretari[oa]|segretari[oa]|voorzitter|notulist|ordförande|sekreterare|møteleder|referent|председатель"
        r"|секретарь"
    ),
    Role.DECISIONS: (
        r"(?:key |main |summary of |list of |final |our )?(?:decisions?|resolutions?|agreements?)(?: (?:items?"
        r"|made|taken|"
        r"log|reached|points?|passed|adopted|register|summary))?|(?:what (?:we|was) )?(?:agreed|decided|resolved"
        r"|approved)"
        r"(?: (?:items?|points?|on|upon))?|motions?(?: (?:passed|carried|adopted))?|outcomes?|consensus"
        r"|beschlüsse|beschluss|entscheidung(?:en)?|festlegung(?:en)?|beschlossen|décisions?(?: prises?)?|résolutions?"
        r"|relevé de décisions|decisi(?:ón|ones)(?: tomadas)?|acuerdos?|decision[ei](?: prese)?|delibere?"
        r"|besluit(?:en)?|besluitenlijst|beslissing(?:en)?|decisão|decisões|deliberações|decyzje|decyzja|ustalenia"
        r"|beslut|beslutninger|beslutning|решения|решение|решили|постановили|決定事項|决定事项|决定|决议|決議"
    ),
    Role.ACTIONS: (
        r"(?:new |open |key |our |the |outstanding |carried over |summary of |list of |follow[- ]?up )?"
        r"(?:actions?|action[- ]?(?:items?|points?|lists?|logs?|register|steps?|plan|required)|a\.?i\.?s?|aps?"
        r"|to[- ]?do'?s?(?: list)?|tasks?|homework|assignments?|commitments?|next steps?|follow[- ]?ups?)"
        r"(?: (?:needed|required|arising|agreed|items?|summary|assigned|for .{2,30}|as a result .{0,30}|from .{2,30}))?"
        r"|next steps (?:and|&) owners|who does what|aufgaben(?:liste)?|aufgabe|maßnahmen?|massnahmen?|nächste schritte"
        r"|to-?dos|offene punkte|arbeitsaufträge|actions? (?:à (?:mener|faire|entreprendre|suivre))|plan d['’]actions?"
        r"|prochaines étapes|tâches|à faire|acci(?:ón|ones)|tareas?|próximos pasos|pendientes|compromisos"
        r"|azion[ei]|prossimi passi|compiti|attività|da fare|acties?|actiepunt(?:en)?|actielijst|taken|vervolgstappen"
        r"|aç(?:ão|ões)|tarefas?|próximos passos|encaminhamentos|zadani[ae]|do zrobienia|åtgärd(?:er)?|att göra"
        r"|oppgaver|opgaver|handlinger|задачи|задача|поручения|поручение|アクションアイテム|アクション|宿題|行动项|待办事项|待办"
    ),
    Role.DATE: (
        r"(?:meeting )?(?:date|held|held on|when|date and time|day)(?: ?[/&] ?time| of (?:the )?meeting)?"
        r"|datum(?: der sitzung)?|date de (?:la )?réunion|fecha|data|kiedy|dato|дата|日期|日時|日付|时间"
    ),
    Role.TOPICS: (
        r"(?:(?:the |today's |proposed |draft |meeting |actions?/)?agenda(?: items?| topics?| points)?)"
        r"|(?:discussion |main )?topics?(?: (?:discussed|covered))?|items for discussion"
        r"|discussion items"
        r"|order of business|tagesordnung(?:spunkte)?|themen|tops?|ordre du jour|sujets(?: abordés)?|points abordés"
        r"|orden del día|temas(?: tratados)?|ordine del giorno|odg|argomenti|agendapunten|onderwerpen|pauta"
        r"|porządek obrad"
        r"|dagordning|dagsorden|sakliste|повестка(?: дня)?|議題|アジェンダ|议程"
    ),
    Role.OTHER: (
        r"location|place|venue|where|time|start(?:ed)?|end(?:ed)?|duration|links?(?: .{1,30})?|recording"
        r"|conclusions?|video|zoom|resources|references"
        r"|attachments?|appendix|annex|background|context|summary|introduction|updates?|discussion|minutes|notes"
        r"|q ?& ?a"
        r"|questions?|announcements?|any other business|aob|adjourn(?:ment|ed)?|parking lot|risks?|issues|chat(?: log)?"
        r"|blockers?|done|yesterday|today|ort|raum|zeit|dauer|beginn|ende|verschiedenes|sonstiges|lieu|heure|divers"
        r"|lugar|hora|varios|luogo|ora|varie|plaats|tijd|rondvraag|feedback|transcript|purpose|goals?|objectives?"
        r"|from|to"
        r"|subject|cc|sent|status|title|type|version"
    ),
}
_ROLES = tuple((role, re.compile(rf"(?:{words})", re.IGNORECASE)) for role, words in _WORDS.items())
_NUMBERING = re.compile(
    r"(?:\(?(?:\d{1,3}(?:\.\d{1,3}){0,3}|[IVX]{1,4}|[A-Za-z])[.):]|\d{1,3}(?:\.\d{1,3}){1,3}|[§#]\d*)\s+"
)
_EDGE = re.compile(r"^[^\w(]+|[^\w)]+$")
_TAIL = re.compile(r"\s*(?:\([^()]{0,40}\)|\[[^\[\]]{0,40}\]|[:：].*|\s[-–—]\s.*)$")
_INLINE = re.compile(
    r"(?P<label>[^:：|]{2,60}?)\s?(?:[:：]|\s[-–—]+(?=\s)|[—–](?=\S)|=(?=\s))\s?(?P<rest>.*)", re.DOTALL
)
# What numbers a labelled item: "Decision 4:", "ACTION 77.1:", "Action item #3 (Ben):", "AI-12:", "ACTION [ann]:".
_COUNTED = re.compile(
    r"(?P<label>[^\W\d_][^\d(\[#:：@]{0,30}?)\s?(?:(?:no\.?|nr\.?|#|-)?\s?[A-Z]?\d{1,4}(?:[./-]\d{1,4}){0,3}[a-z]?)?"
    r"\s?(?:[(\[](?P<who>[^()\[\]]{1,60})[)\]]|(?P<handles>(?:@[\w-]{1,40}[,\s]{0,2}){1,4}))?",
)


@dataclass(frozen=True, slots=True)
class Label:
    """A label before what it names: "Decision 4 (Ann): ..." has the role, "Ann" as `who`, and where the rest starts."""

    role: Role
    who: str
    rest_start: int  # in the text that was given


def without_number(text: str) -> str:
    """A title without the number or letter before it."""
    number = _NUMBERING.match(text)
    return text[number.end() :].strip() if number else text


def find_role(title: str) -> Role | None:
    """What a heading or label names; None where it is one of the document's own. `title` is plain text."""
    bare = _EDGE.sub("", without_number(title.strip()))
    for text in (bare, _EDGE.sub("", _TAIL.sub("", bare)), *_halves(bare)):
        if text and len(text) <= MAX_LABEL and len(text.split()) <= _MAX_WORDS:
            for role, words in _ROLES:
                if words.fullmatch(text):
                    return role
    return None


def find_label(text: str) -> Label | None:
    """The label that a line begins with, before a colon or dash; None where it has none. `text` is plain text."""
    match = _INLINE.match(text)
    if match is None:
        return None
    counted = _COUNTED.fullmatch(match["label"].strip())
    name, who = match["label"].strip(), ""
    if counted is not None:
        name, who = counted["label"].strip(" -"), (counted["who"] or counted["handles"] or "").strip()
    role = find_role(name)
    return Label(role, who, match.start("rest")) if role else None


def _halves(text: str) -> list[str]:
    """The parts of "Decisions and action items" and "Attendees / Teilnehmer": the last one first."""
    parts = re.split(r"\s*(?:/|&|\+|,|\band\b|\bund\b|\bet\b|\by\b)\s*", text)
    return [part for part in reversed(parts) if part] if 1 < len(parts) <= 3 else []
