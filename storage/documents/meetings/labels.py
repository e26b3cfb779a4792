"""Headings, labels and table columns of meeting notes: present people, decisions, tasks. Pure.

English words, and the usual ones of German, French, Spanish, Italian, Portuguese, Dutch, Polish, Swedish, Danish,
Norwegian, Russian, Japanese and Chinese. In the tables, "(s)" means with and without an s.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import TypeVar

from core.domain.corpus import Span
from storage.documents.meetings.lines import Form, NoteLine, phrases, plain

# Characters and words of a label; a longer text is a sentence.
MAX_LABEL = 70
_MAX_WORDS = 9


class Role(StrEnum):
    """The meaning of the lines under a label."""

    ATTENDEES = "attendees"
    ABSENT = "absent"
    CHAIR = "chair"  # usually present
    NOTES_BY = "notes by"  # maybe absent: notes are also written from recordings
    DATE = "date"
    DECISIONS = "decisions"
    ACTIONS = "actions"
    TOPICS = "topics"
    PAST = "past"  # decisions of an earlier meeting, or the next meeting
    OTHER = "other"


class Column(StrEnum):
    NUMBER = "number"
    ACTION = "action"
    DECISION = "decision"
    TEXT = "text"  # of the kind that the section or the row's type gives
    OWNER = "owner"
    DUE = "due"
    STATUS = "status"
    TYPE = "type"
    NAME = "name"
    PRESENT = "present"
    OTHER = "other"


KindT = TypeVar("KindT", Role, Column)


def _expand(table: Mapping[KindT, str]) -> dict[str, KindT]:
    """Return phrase -> kind; the first kind of a phrase wins."""
    found: dict[str, KindT] = {}
    for kind, listed in table.items():
        for phrase in phrases(listed):
            for written in (phrase.replace("(s)", ""), phrase.replace("(s)", "s")):
                found.setdefault(written, kind)
    return found


_ROLES = _expand(
    {
        Role.ABSENT: """absent, absentee(s), absence(s), apologies, apologies for absence, regret(s), excused, not
        present, not attending, unable to attend, not able to attend, did not attend, not in attendance, missing, sent
        apologies, members absent, directors absent, away, out, out of office, out today, out sick, ooo, on leave, on
        vacation, on holiday, abwesend, abwesende, entschuldigt, entschuldigte, fehlend, fehlende, excusé(s),
        excusée(s), absent(s), absente(s), absents et excusés, ausentes, disculpas, assenti, afwezig, afwezigen,
        afgemeld, nieobecni, frånvarande, fraværende, afbud, отсутствовали, 欠席, 欠席者, 缺席""",
        Role.ATTENDEES: """attendee(s), attendance, participant(s), participant list, attending, attended, attended
        by, present(s), in attendance, in the room, on the call, joined, joined by, those present, people, member(s),
        director(s), trustee(s), staff, guest(s), observer(s), visitor(s), officer(s), councillor(s), commissioner(s),
        councilmember(s), present at the meeting, present were, present was, those present were, remote, online, in
        person, here, who was there, who was here, who was present, who is there, who is here, who's there, who's
        here, who attended, roll call, rollcall, quorum present, list of attendees, list of participants, teilnehmer,
        teilnehmerinnen, teilnehmer*innen, teilnehmer:innen, teilnehmer_innen, teilnehmende, teilnehmerliste,
        anwesend, anwesende, dabei, présent(s), présente(s), présents à la réunion, personnes présentes, étaient
        présents, participante(s), participanti, asistentes, asistencia, presente(s), presenti, partecipanti,
        aanwezig, aanwezigen, deelnemers, obecni, uczestnicy, närvarande, deltagare, til stede, tilstede, deltakere,
        deltagere, присутствовали, присутствующие, участники, 出席, 出席者, 参加者, 与会人员, 参会人员, 参会人""",
        Role.NOTES_BY: "note(s), note(s) by, note(s) from, notes taken by, recorded by, written by, author",
        Role.CHAIR: """chair, chairperson, chairman, chairwoman, chaired by, moderator(s), moderated by,
        facilitator(s), facilitated by, host(s), hosted by, presiding, presiding officer, led by, organizer,
        organiser, called by, meeting lead, secretary, recording secretary, minutes by, minutes taken, minutes taken
        by, minute taker, minute-taker, minute taking, note taker(s), note-taker(s), notetaker(s), scribe(s), minutes
        scribe, action item scribe, recorder, timekeeper, sitzungsleitung, leitung, vorsitz, vorsitzende,
        vorsitzender, moderation, protokoll, protokollführer, protokollführerin, protokollführung, protokollant,
        protokollantin, schriftführer, schriftführerin, schriftführung, président, présidente, président de séance,
        animateur, animatrice, secrétaire, secrétaire de séance, moderador, moderadora, secretario, secretaria,
        segretario, segretaria, voorzitter, notulist, ordförande, sekreterare, møteleder, referent, председатель,
        секретарь""",
        Role.DECISIONS: """decision(s), resolution(s), agreement(s), agreed, decided, resolved, approved, what we
        agreed, what was agreed, what we decided, what was decided, motion(s), motions passed, motions carried,
        outcome(s), consensus, beschlüsse, beschluss, entscheidung, entscheidungen, festlegung, festlegungen,
        beschlossen, décision(s), décisions prises, résolution(s), relevé de décisions, decisión, decisiones,
        decisiones tomadas, acuerdo(s), decisione, decisioni, decisioni prese, delibera, delibere, besluit, besluiten,
        besluitenlijst, beslissing, beslissingen, decisão, decisões, deliberações, decyzje, decyzja, ustalenia,
        beslut, beslutninger, beslutning, решения, решение, решили, постановили, 決定事項, 决定事项, 决定, 决议,
        決議""",
        Role.ACTIONS: """action(s), action item(s), action-item(s), action point(s), action list, action log, action
        register, action step(s), action plan, action required, actions required, ai, ais, a.i., ap, aps, todo(s),
        to-do(s), to do(s), todo list, to-do list, to do list, to-do's, task(s), homework, assignment(s),
        commitment(s), next step(s), next steps and owners, next steps & owners, follow-up(s), follow up(s),
        followup(s), who does what, aufgabe, aufgaben, aufgabenliste, maßnahme(s), maßnahmen, massnahme, massnahmen,
        nächste schritte, offene punkte, arbeitsaufträge, actions à mener, actions à faire, actions à entreprendre,
        actions à suivre, plan d'action(s), plan d’action(s), prochaines étapes, tâches, à faire, acción, acciones,
        tarea(s), próximos pasos, pendientes, compromisos, azione, azioni, prossimi passi, compiti, attività, da fare,
        actie(s), actiepunt, actiepunten, actielijst, taken, vervolgstappen, ação, ações, tarefa(s), próximos passos,
        encaminhamentos, zadanie, zadania, do zrobienia, åtgärd, åtgärder, att göra, oppgaver, opgaver, handlinger,
        задачи, задача, поручения, поручение, アクションアイテム, アクション, 宿題, 行动项, 待办事项, 待办""",
        Role.DATE: """date, meeting date, held, held on, when, date and time, meeting date and time, day, date/time,
        date / time, date & time, meeting date/time, date of meeting, date of the meeting, datum, datum der sitzung,
        date de réunion, date de la réunion, fecha, data, kiedy, dato, дата, 日期, 日時, 日付, 时间""",
        Role.TOPICS: """agenda, action/agenda, actions/agenda, topic(s), items for discussion, discussion item(s),
        order of business, tagesordnung, tagesordnungspunkte, themen, top(s), ordre du jour, sujets, sujets abordés,
        points abordés, orden del día, temas, temas tratados, ordine del giorno, odg, argomenti, agendapunten,
        onderwerpen, pauta, porządek obrad, dagordning, dagsorden, sakliste, повестка, повестка дня, 議題, アジェンダ,
        议程""",
        Role.OTHER: """location, place, venue, where, time, start, started, end, ended, duration, link(s), recording,
        conclusion(s), video, zoom, resources, references, attachment(s), appendix, annex, background, context,
        summary, introduction, update(s), discussion, minutes, notes, q&a, q & a, q &a, q& a, question(s),
        announcement(s), any other business, aob, adjourn, adjourned, adjournment, parking lot, risk(s), issues, chat,
        chat log, blocker(s), done, yesterday, today, ort, raum, zeit, dauer, beginn, ende, verschiedenes, sonstiges,
        lieu, heure, divers, lugar, hora, varios, luogo, ora, varie, plaats, tijd, rondvraag, feedback, transcript,
        purpose, goal(s), objective(s), from, to, subject, cc, sent, status, title, type, version""",
    }
)
# Words before and after a phrase of the table that don't change its role.
_LEADS = frozenset(
    """key main final our new open the outstanding carried over summary list of meeting call board committee council
    team staff voting non-voting other members members' also people those follow-up proposed draft today's
    discussion""".split()
)
_TAILS = frozenset(
    """items item made taken log reached points point passed adopted register summary list needed required arising
    agreed assigned on upon by present attending attendance in was were discussed covered topics attendees
    participants""".split()
)
_FIXED = frozenset({Role.OTHER, Role.DATE, Role.NOTES_BY})  # roles of whole phrases only
_BEHIND_ACTIONS = re.compile(r"\s(?:for|from|as a result)\s.{2,30}$")
# Beginnings of words that make the noun behind them one of another meeting.
_EARLIER = ("prior", "earlier", "old", "last")
_EARLIER_NOUNS = """meeting minute action item business decision task todo to-do note topic agenda week time
call""".split()
_NEXT = """next upcoming following future nächst letzt prochain derni próxim últim prossim volgende""".split()
_NEXT_NOUNS = """meeting call date sync session treffen sitzung termin besprechung réunion séance reunión reunião
sesión riunion incontro vergadering overleg""".split()

_COLUMNS = _expand(
    {
        Column.NUMBER: """#, no, no., nr, nr., num, number, id, ref, reference, n°, №, decision item, decision id,
        decision no, decision no., decision #, action id, action no, action no., action #""",
        Column.ACTION: """action(s), task(s), todo(s), to-do(s), to do(s), action item(s), action point(s), action
        required, next step(s), follow-up(s), follow up(s), followup(s), action description, task description,
        aufgabe, aufgaben, maßnahme, maßnahmen, tâche(s), action à mener, actions à mener, tarea(s), acción, acciones,
        azione, azioni, actie(s), actiepunt, actiepunten, tarefa(s), ação, ações, zadanie, zadania""",
        Column.DECISION: """decision(s), resolution(s), agreement(s), decision made, decisions made, decision taken,
        decisions taken, decision description, decision text, resolution text, outcome, motion, beschluss, beschlüsse,
        entscheidung, entscheidungen, décision(s), decisión, decisiones, acuerdo(s), decisione, decisioni, besluit,
        besluiten, decisão, decisões""",
        Column.OWNER: """owner(s), action owner(s), task owner(s), assignee(s), assigned, assigned to, responsible,
        responsibility, responsible person, responsible party, who, lead, dri, person, person responsible, by whom,
        verantwortlich, verantwortliche, verantwortlicher, zuständig, wer, responsable, qui, quién, encargado,
        encargada, chi, responsabile, wie, verantwoordelijk, verantwoordelijke, eigenaar, responsável, quem, kto""",
        Column.DUE: """due, deadline, due date, target, target date, by when, when, eta, date due, complete by,
        timeline, due by, frist, fällig, fällig am, bis, bis wann, termin, échéance, délai, quand, pour le, fecha,
        fecha límite, plazo, cuándo, scadenza, entro, quando, wanneer, prazo, termin wykonania""",
        Column.STATUS: """status, state, done, done?, complete, complete?, completed, completed?, progress, stand,
        erledigt, statut, état, fait, estado, stato, gereed""",
        Column.TYPE: "type, kind, category, art, typ, tipo",
        Column.PRESENT: """present, present?, attended, attendance, attending, attended?, here, here?, anwesend,
        anwesend?, présence, présent, présent?, asistencia, presente""",
        Column.NAME: """name(s), full name, member name, attendee(s), participant(s), member, teilnehmer,
        teilnehmende, teilnehmerin, nom(s), participante(s), nombre, nome, partecipanti, naam, deelnemer(s)""",
        Column.TEXT: """description, what, item, detail(s), text, topic, subject, summary, was, beschreibung, inhalt,
        thema, quoi, descripción, qué, descrizione, cosa, wat, omschrijving, descrição""",
    }
)
_AWAY = frozenset("no n nein non absent regret regrets apologies excused ✗ ✘ ❌ x̶ - –".split()) | {""}

_NUMBERING = re.compile(
    r"(?:\(?(?:\d{1,3}(?:\.\d{1,3}){0,3}|[IVX]{1,4}|[A-Za-z])[.):]|\d{1,3}(?:\.\d{1,3}){1,3}|[§#]\d*)\s+"
)
_EDGE = re.compile(r"^[^\w(]+|[^\w)]+$")
_TAIL = re.compile(r"\s*(?:\([^()]{0,40}\)|\[[^\[\]]{0,40}\]|[:：].*|\s[-–—]\s.*)$")
_INLINE = re.compile(
    r"(?P<label>[^:：|]{2,60}?)\s?(?:[:：]|\s[-–—]+(?=\s)|[—–](?=\S)|=(?=\s))\s?(?P<rest>.*)", re.DOTALL
)
# Numbers of a labelled item: "Decision 4:", "ACTION 77.1:", "Action item #3 (Ben):", "AI-12:", "ACTION [ann]:".
_COUNTED = re.compile(
    r"(?P<label>[^\W\d_][^\d(\[#:：@]{0,30}?)\s?(?:(?:no\.?|nr\.?|#|-)?\s?[A-Z]?\d{1,4}(?:[./-]\d{1,4}){0,3}[a-z]?)?"
    r"\s?(?:[(\[](?P<who>[^()\[\]]{1,60})[)\]]|(?P<handles>(?:@[\w-]{1,40}[,\s]{0,2}){1,4}))?",
)
_CELL_NUMBER = re.compile(r"\W*[A-Z]{0,4}-?\d{0,4}(?:\.\d{1,4}){0,2}\W*")
# Labels that share a line at the front of notes: "Chair: Ann. Present: Ben, Carla. Apologies: Dan".
_FRONT = frozenset({Role.ATTENDEES, Role.ABSENT, Role.CHAIR, Role.NOTES_BY, Role.DATE})
_NEXT_LABEL = re.compile(
    r"(?:[.;|,·]\s+|\s{2,}|\s+(?=[*_]{2}))[*_]{0,2}(?P<label>[^\W\d_][^\W\d_]*(?: [^\W\d_]+){0,3})[*_]{0,2}:[*_]{0,2}\s"
)


@dataclass(frozen=True, slots=True)
class Label:
    """A label at the start of a line; for "Decision 4 (Ann): ...", `who` is "Ann"."""

    role: Role
    who: str
    rest_start: int  # in the given text


def without_number(text: str) -> str:
    """Return a title without the number or letter before it."""
    number = _NUMBERING.match(text)
    return text[number.end() :].strip() if number else text


def find_role(title: str) -> Role | None:
    """Return the role of a heading or label, None for one of the document's own. `title` is plain text."""
    bare = _EDGE.sub("", without_number(title.strip()))
    for text in (bare, _EDGE.sub("", _TAIL.sub("", bare)), *_halves(bare)):
        words = text.casefold().split()
        if words and len(text) <= MAX_LABEL and len(words) <= _MAX_WORDS and (role := _look_up(words)):
            return role
    return None


def _look_up(words: Sequence[str]) -> Role | None:
    if _is_of_other_meeting(words):
        return Role.PAST
    phrase = " ".join(words)
    if phrase in _ROLES:
        return _ROLES[phrase]
    for begin in range(len(words)):
        if begin and words[begin - 1] not in _LEADS:
            break
        for end in range(len(words), begin, -1):
            if end < len(words) and words[end] not in _TAILS:
                break
            role = _ROLES.get(" ".join(words[begin:end]))
            if role and role not in _FIXED:
                return role
    cut = _BEHIND_ACTIONS.sub("", phrase)
    return Role.ACTIONS if cut != phrase and _look_up(cut.split()) is Role.ACTIONS else None


def _is_of_other_meeting(words: Sequence[str]) -> bool:
    if "previous" in words or words[-1] in ("prior", "earlier", "old"):
        return True
    if words[0] == "review" and any(word.startswith(("past", "action", "decision")) for word in words[1:3]):
        return True
    return any(
        (one.startswith(_EARLIER) and other.startswith(tuple(_EARLIER_NOUNS)))
        or (one.startswith(tuple(_NEXT)) and other.startswith(tuple(_NEXT_NOUNS)))
        for one, other in pairwise(words)
    )


def _halves(text: str) -> list[str]:
    """Return the parts of "Decisions and action items" and "Attendees / Teilnehmer", last one first."""
    parts = re.split(r"\s*(?:/|&|\+|,|\band\b|\bund\b|\bet\b|\by\b)\s*", text)
    return [part for part in reversed(parts) if part] if 1 < len(parts) <= 3 else []


def find_label(text: str) -> Label | None:
    """Return the label before a colon or dash at the start of a line, None without one. `text` is plain text."""
    match = _INLINE.match(text)
    if match is None:
        return None
    counted = _COUNTED.fullmatch(match["label"].strip())
    name, who = match["label"].strip(), ""
    if counted is not None:
        name, who = counted["label"].strip(" -"), (counted["who"] or counted["handles"] or "").strip()
    role = find_role(name)
    return Label(role, who, match.start("rest")) if role else None


def split_labels(line: NoteLine) -> list[NoteLine]:
    """Return the parts of a line with several labels of people and dates; any other line unchanged."""
    side_by_side = line.form is Form.ROW and not line.header and not line.raw.startswith("|") and "\t" not in line.raw
    if not (side_by_side or line.form in (Form.TEXT, Form.ITEM)) or line.raw.count(":") < 2:
        return [line]
    first = find_label(line.text)
    if first is None or first.role not in _FRONT | {Role.OTHER}:
        return [line]
    labels = [match for match in _NEXT_LABEL.finditer(line.raw) if find_role(match["label"]) in _FRONT]
    places = [0, *(match.start("label") for match in labels), len(line.raw)]
    return [_part(line, begin, end) for begin, end in pairwise(places)] if labels else [line]


def _part(line: NoteLine, begin: int, end: int) -> NoteLine:
    inside = line.raw[begin:end]
    kept = inside.rstrip(" \t\n*_;|,·")
    raw = kept if kept.strip() else inside
    start = line.span.start + begin
    form = Form.TEXT if line.form is Form.ROW else line.form
    return replace(line, form=form, cells=(), raw=raw, span=Span(start, start + len(raw)))


def find_columns(cells: Sequence[str]) -> tuple[Column, ...]:
    """Return the kind of each cell of a header; () if no cell is one of meeting notes."""
    columns = tuple(_COLUMNS.get(plain(cell).casefold(), Column.OTHER) for cell in cells)
    if columns.count(Column.ACTION) > 1 and Column.NUMBER not in columns:
        columns = (Column.NUMBER, *columns[1:])
    known = {Column.ACTION, Column.DECISION, Column.OWNER, Column.TYPE, Column.NAME, Column.PRESENT, Column.TEXT}
    return columns if known & set(columns) else ()


def role_of_table(columns: Sequence[Column]) -> Role | None:
    """Return the role of a table's rows by its header, None if only the section can give it."""
    if Column.ACTION in columns and len(columns) > 1:
        return Role.ACTIONS
    if Column.DECISION in columns and Column.OWNER not in columns[:1]:
        return Role.DECISIONS
    if Column.OWNER in columns and Column.DUE in columns:
        return Role.ACTIONS
    return Role.ATTENDEES if Column.NAME in columns and Column.PRESENT in columns else None


def cell_of(cells: Sequence[str], columns: Sequence[Column], *wanted: Column) -> str:
    """Return the first filled cell of the wanted columns, in their order; "" without one."""
    for column in wanted:
        for cell, kind in zip(cells, columns, strict=False):
            if kind is column and cell.strip():
                return cell
    return ""


def text_of_row(cells: Sequence[str], columns: Sequence[Column], role: Role) -> str:
    """Return the cell of the task or decision: the one of its column, else the longest one."""
    named = Column.ACTION if role is Role.ACTIONS else Column.DECISION
    text = cell_of(cells, columns, named, Column.TEXT)
    if text and not _CELL_NUMBER.fullmatch(plain(text)):
        return text
    taken = (Column.OWNER, Column.DUE, Column.STATUS, Column.TYPE)
    free = [cell for place, cell in enumerate(cells) if place >= len(columns) or columns[place] not in taken]
    return max((cell for cell in free if not _CELL_NUMBER.fullmatch(plain(cell))), key=len, default="")


def is_away(cells: Sequence[str], columns: Sequence[Column]) -> bool:
    """Return whether a person's row marks them as absent."""
    if Column.PRESENT not in columns:
        return len(cells) > 1 and find_role(cells[-1]) is Role.ABSENT
    place = columns.index(Column.PRESENT)
    return len(cells) <= place or plain(cells[place]).casefold() in _AWAY
