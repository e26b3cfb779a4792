"""What the columns of tables in meeting notes hold: tasks, owners, due dates, decisions, people. Pure."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

from storage.documents.meetings.labels import Role, find_role
from storage.documents.meetings.lines import plain


class Column(StrEnum):
    NUMBER = "number"
    ACTION = "action"
    DECISION = "decision"
    TEXT = "text"  # what the section or the row's type says it is
    OWNER = "owner"
    DUE = "due"
    STATUS = "status"
    TYPE = "type"
    NAME = "name"
    PRESENT = "present"
    OTHER = "other"


_HEADS: Mapping[Column, str] = {
    Column.NUMBER: r"#|no\.?|nr\.?|num(?:ber)?|id|ref(?:erence)?|n°|№|decision (?:item|id|no\.?|#)|action (?:id"
    r"|no\.?|#)",
    Column.ACTION: (
        r"(?:actions?|tasks?|to[- ]?dos?|action (?:items?|points?|required)|next steps?|follow[- ]?ups?|aufgaben?"
        r"|maßnahmen?"
        r"|tâches?|actions? à mener|tareas?|acci(?:ón|ones)|azion[ei]|acties?|actiepunt(?:en)?|tarefas?|aç(?:ão"
        r"|ões)|zadani[ea])"
        r"(?: description)?"
    ),
    Column.DECISION: (
        r"(?:decisions?|resolutions?|agreements?|beschl(?:uss|üsse)|entscheidung(?:en)?|décisions?|decisi(?:ón"
        r"|ones)|acuerdos?"
        r"|decision[ei]|besluit(?:en)?|decisão|decisões)(?: (?:made|taken|description|text))?|outcome|motion"
    ),
    Column.OWNER: (
        r"(?:action |task )?(?:owners?|assignees?|assigned(?: to)?|responsib(?:le|ility)(?: (?:person|party))?"
        r"|who|lead|dri"
        r"|person(?: responsible)?|by whom|verantwortlich(?:e[r]?)?|zuständig|wer|responsable|qui|quién"
        r"|encargad[oa]|chi"
        r"|responsabile|wie|verantwoordelijke?|eigenaar|responsável|quem|kto)"
    ),
    Column.DUE: (
        r"(?:due|deadline|due date|target(?: date)?|by when|when|eta|date due|complete by|timeline|due by|frist"
        r"|fällig(?: am)?"
        r"|bis(?: wann)?|termin|échéance|délai|quand|pour le|fecha(?: límite)?|plazo|cuándo|scadenza|entro|quando"
        r"|wanneer"
        r"|prazo|termin wykonania)"
    ),
    Column.STATUS: r"(?:status|state|done\??|complete[d]?\??|progress|stand|erledigt|statut|état|fait|estado"
    r"|stato|gereed)",
    Column.TYPE: r"(?:type|kind|category|art|typ|tipo)",
    Column.PRESENT: r"(?:present\??|attend(?:ed|ance|ing)\??|here\??|anwesend\??|présence|présent\??|asistencia"
    r"|presente)",
    Column.NAME: (
        r"(?:names?|(?:full |member )?name|attendees?|participants?|person|member|teilnehm\w+|nom|noms?"
        r"|participantes?|nombre"
        r"|nome|partecipanti|naam|deelnemers?)"
    ),
    Column.TEXT: (
        r"(?:description|what|item|details?|text|topic|subject|summary|was|beschreibung|inhalt|thema|quoi"
        r"|descripción|qué"
        r"|descrizione|cosa|wat|omschrijving|descrição)"
    ),
}
_FORMS = tuple((column, re.compile(words, re.IGNORECASE)) for column, words in _HEADS.items())
_AWAY = re.compile(r"(?:no|n|nein|non|absent|regrets?|apologies|excused|✗|✘|❌|x̶|-|–|)", re.IGNORECASE)
_NUMBER = re.compile(r"\W*[A-Z]{0,4}-?\d{0,4}(?:\.\d{1,4}){0,2}\W*")


def find_columns(cells: Sequence[str]) -> tuple[Column, ...]:
    """What each cell of a header names; () where none says that the table is one of notes."""
    columns = tuple(_find_column(plain(cell)) for cell in cells)
    if columns.count(Column.ACTION) > 1 and Column.NUMBER not in columns:
        columns = (Column.NUMBER, *columns[1:])
    known = {Column.ACTION, Column.DECISION, Column.OWNER, Column.TYPE, Column.NAME, Column.PRESENT, Column.TEXT}
    return columns if known & set(columns) else ()


def _find_column(text: str) -> Column:
    return next((column for column, form in _FORMS if form.fullmatch(text)), Column.OTHER)


def role_of_table(columns: Sequence[Column]) -> Role | None:
    """What the rows of a table are by its header alone; None where only the section can say it."""
    if Column.ACTION in columns and len(columns) > 1:
        return Role.ACTIONS
    if Column.DECISION in columns and Column.OWNER not in columns[:1]:
        return Role.DECISIONS
    if Column.OWNER in columns and Column.DUE in columns:
        return Role.ACTIONS
    if Column.NAME in columns and Column.PRESENT in columns:
        return Role.ATTENDEES
    return None


def cell_of(cells: Sequence[str], columns: Sequence[Column], *wanted: Column) -> str:
    """The cell of the first of the columns that is there and filled; "" where none is."""
    for column in wanted:
        for cell, kind in zip(cells, columns, strict=False):
            if kind is column and cell.strip():
                return cell
    return ""


def text_of_row(cells: Sequence[str], columns: Sequence[Column], role: Role) -> str:
    """The cell that says what is to be done, or was decided: by its column, else the longest one."""
    named = Column.ACTION if role is Role.ACTIONS else Column.DECISION
    text = cell_of(cells, columns, named, Column.TEXT)
    if text and not _NUMBER.fullmatch(plain(text)):
        return text
    taken = (Column.OWNER, Column.DUE, Column.STATUS, Column.TYPE)
    free = [cell for place, cell in enumerate(cells) if place >= len(columns) or columns[place] not in taken]
    return max((cell for cell in free if not _NUMBER.fullmatch(plain(cell))), key=len, default="")


def is_away(cells: Sequence[str], columns: Sequence[Column]) -> bool:
    """Whether the row of a person says that they were not there."""
    if Column.PRESENT not in columns:
        return find_role(cells[-1]) is Role.ABSENT if len(cells) > 1 else False
    return (
        _AWAY.fullmatch(
            plain(cells[columns.index(Column.PRESENT)]) if len(cells) > columns.index(Column.PRESENT) else ""
        )
        is not None
    )
