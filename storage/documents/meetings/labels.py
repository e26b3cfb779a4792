"""Headings, labels and table columns of meeting notes: present people, decisions, tasks. Pure.

words.toml has the words.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

from core.domain.passages import Span
from storage.documents.meetings.lines import Form, NoteLine, load_phrases, plain, word_list

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


_FIXED = frozenset({Role.OTHER, Role.DATE, Role.NOTES_BY})  # roles of whole phrases only
_BEHIND_ACTIONS = re.compile(r"\s(?:for|from|as a result)\s.{2,30}$")
# Beginnings of words that make the noun behind them one of another meeting.
_EARLIER = ("prior", "earlier", "old", "last")
_EARLIER_NOUNS = """meeting minute action item business decision task todo to-do note topic agenda week time
call""".split()
_NEXT = """next upcoming following future nächst letzt prochain derni próxim últim prossim volgende""".split()
_NEXT_NOUNS = """meeting call date sync session treffen sitzung termin besprechung réunion séance reunión reunião
sesión riunion incontro vergadering overleg""".split()

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
    r"\s?(?:[(\[](?P<who>[^()\[\]]{1,60})[)\]]|(?P<handles>(?:@[\w-]{1,40}[,\s]{0,2}){1,4}))?"
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
    phrase, roles = " ".join(words), load_phrases("roles")
    if phrase in roles:
        return Role(roles[phrase])
    for begin in range(len(words)):
        if begin and words[begin - 1] not in word_list("before_label"):
            break
        for end in range(len(words), begin, -1):
            if end < len(words) and words[end] not in word_list("behind_label"):
                break
            role = roles.get(" ".join(words[begin:end]))
            if role and role not in _FIXED:
                return Role(role)
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
    phrases = load_phrases("columns")
    columns = tuple(Column(phrases.get(plain(cell).casefold(), Column.OTHER)) for cell in cells)
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
