"""Meeting notes, line by line: who was there, what was decided, who does what, each with its place. Pure."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import IntEnum

from core.domain.corpus import Span
from core.ingestion.action_items import Action, read_action, read_due, read_state
from core.ingestion.note_labels import Role, find_label, find_role, without_number
from core.ingestion.note_lines import BOLD_LEVEL, Form, NoteLine, plain
from core.ingestion.note_prose import find_speaker, is_decision, is_state, is_task, is_vote, sentences
from core.ingestion.note_tables import Column, cell_of, find_columns, is_away, role_of_table, text_of_row
from core.ingestion.people_names import People, is_name, read_listed_name, read_names

# Topics of one meeting that are kept.
MAX_TOPICS = 60
# Characters: a paragraph under "Decisions" that is longer is read for its sentences.
_MAX_PARAGRAPH = 400
# Words of a heading that only groups people or decisions.
_MAX_GROUP = 4
# Characters of a line that is a heading without any mark of one.
_MAX_TITLE = 50

_LISTED = (Role.ATTENDEES, Role.ABSENT, Role.DECISIONS, Role.ACTIONS, Role.TOPICS)
_NUMBER = re.compile(
    r"[*_]{0,3}(?:[A-Z]{0,4}-?\d{1,4}(?:\.\d{1,4}){0,2}[*_]{0,3}\s?[—–:.)](?!\d)|(?:D|A|R|AI|AP|DEC"
    r"|ACT)-?\d{1,4}[*_]{0,3}\s-|#\d{1,4}:)[*_]{0,3}\s*"
)
_ISSUE_LINK = re.compile(r"\s*[(\[]?#\d{1,6}[)\]]?$")
_NOTHING = re.compile(
    r"(?:\W*|n/?a|no(?:ne| (?:new |formal |open |further )?(?:decisions?|actions?|action items|resolutions?"
    r"|items?|motions?|tasks?)"
    r"(?: (?:were )?(?:made|taken|recorded|required|needed|assigned|at this time))?)|tb[dac]|nothing|nil|keine"
    r"|aucune?|ninguno|ninguna|nessuna|geen|\W*\.\.\.)\W*",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"\?\W{0,3}(?:https?://\S+)?\s*$")
_TEMPLATE = re.compile(r"\{\{|<[^<>]{2,40}>$|^\[[^\]]{0,60}\]$|^\.{3}$|…$")
# Marks of scribes and meeting bots, which need no colon.
_MARK = re.compile(
    r"(?:(?P<action>#(?:action|todo)|ACTIONS?|TODO|AI|AP)|(?P<decision>#(?:agreed|decision|accepted)|DECIDED"
    r"|DECISION|AGREED|RESOLVED|RESOLUTION))"
    r"\b(?!\s?[-/&]?\s?[A-Z]{3})\s*[:\-–—]{0,2}\s*(?P<rest>\S.*)",
    re.DOTALL,
)
_MARKED_WHO = re.compile(
    r"(?:action(?: item)?s?|ACTION|TODO|task|AI|AP)\s(?:on |for |- )?(?P<who>@?[^\W\d_][^:\d]{1,40}):\s(?P<rest>\S.*)",
    re.I | re.S,
)


class Sureness(IntEnum):
    """How plainly an item says what it is."""

    PROSE = 1  # a sentence that reads so
    LABELLED = 2  # "Decision: ..."
    LISTED = 3  # an item or row under such a heading


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """A decision, task or topic where it stands."""

    page_number: int
    span: Span
    text: str
    sureness: Sureness
    action: Action | None = None


@dataclass(slots=True)
class Notes:
    """What was found, in text order."""

    attendees: list[str] = field(default_factory=list)
    chairs: list[str] = field(default_factory=list)
    writers: list[str] = field(default_factory=list)
    speakers: Counter[str] = field(default_factory=Counter)
    dates: list[str] = field(default_factory=list)  # what stands after "Date:"
    decisions: list[Noted] = field(default_factory=list)
    actions: list[Noted] = field(default_factory=list)
    agenda: list[Noted] = field(default_factory=list)
    headings: list[Noted] = field(default_factory=list)
    roles: set[Role] = field(default_factory=set)  # that headings or labels named


@dataclass(slots=True)
class _Section:
    role: Role
    level: int = BOLD_LEVEL + 1  # of its heading; a label that is none is below all
    indent: int = -1  # of the item that is its label
    form: Form | None = None  # of its first line
    first_indent: int = 0  # of its first item
    lines: int = 0  # read so far
    tight: bool = False  # whether its second line followed the first without a blank one
    who: str = ""  # the heading or item that names the owner of what follows
    who_indent: int = -1
    parent_open: bool = False  # whether the last item at `first_indent` ends with a colon
    ticks: list[tuple[str, bool | None]] = field(default_factory=list)


def read_notes(lines: Sequence[NoteLine], people: People, held_on: date | None = None) -> Notes:
    """What the lines hold. `people` are those known to be there; with none, names are told by their form alone."""
    walk = _Walk(people, held_on)
    for place, line in enumerate(lines):
        walk.read(line, lines[place + 1] if place + 1 < len(lines) else None)
    walk.close()
    return walk.notes


class _Walk:
    def __init__(self, people: People, held_on: date | None) -> None:
        self.notes = Notes()
        self._people = people
        self._held_on = held_on
        self._section: _Section | None = None
        self._columns: tuple[Column, ...] = ()
        self._table_role: Role | None = None
        self._parents: list[NoteLine] = []  # the items that the present one is under

    def read(self, line: NoteLine, following: NoteLine | None) -> None:
        if line.form is not Form.ROW and line.form is not Form.RULE and not self._keeps_table(line):
            self._columns, self._table_role = (), None
        if line.form is Form.HEADING:
            self._read_heading(line)
        elif line.form is Form.RULE:
            if "|" not in line.raw and line.after_gap and not self._columns:
                self.close()
        elif line.form is Form.ROW:
            self._read_row(line, following)
        else:
            self._read_line(line, following)

    def close(self) -> None:
        """End the section, where one is open."""
        section, self._section = self._section, None
        if section and section.role is Role.ATTENDEES:
            ticked = any(tick for _, tick in section.ticks)
            self.notes.attendees += [name for name, tick in section.ticks if tick or not ticked or tick is None]

    def _keeps_table(self, line: NoteLine) -> bool:
        return line.form is Form.TEXT and len(line.raw) < 5

    def _open(self, section: _Section) -> None:
        self.close()
        self._section = section
        self.notes.roles.add(section.role)

    # Headings

    def _read_heading(self, line: NoteLine) -> None:
        text = line.text
        self._parents = []
        section = self._section
        label = find_label(text)
        rest = text[label.rest_start :].strip() if label else ""
        if label and rest and label.role is not Role.OTHER:
            if section and line.level <= section.level:
                self.close()
            if self._read_labelled(line, label.role, rest, label.who):
                return
        role = find_role(text)
        if role is not None:
            self._open(_Section(role, line.level))
            return
        inside = section is not None and line.level > section.level and section.role in _LISTED
        if inside and section and section.role is Role.ACTIONS:
            section.who, section.who_indent, section.form = text if self._is_person(text) else "", -1, None
            return
        if inside and section and section.role in (Role.ATTENDEES, Role.DECISIONS) and len(text.split()) <= _MAX_GROUP:
            section.form = None
            return
        if not (inside and section and section.role is Role.TOPICS):
            self.close()
        self._note_topic(line, self.notes.headings)

    def _note_topic(self, line: NoteLine, into: list[Noted]) -> None:
        text = _ISSUE_LINK.sub("", without_number(line.text)).strip(" :")
        if text and len(text) <= 200 and len(into) < MAX_TOPICS and not _NOTHING.fullmatch(text):
            into.append(_noted(line, text, Sureness.LISTED))

    # Tables

    def _read_row(self, line: NoteLine, following: NoteLine | None) -> None:
        cells = line.cells
        if len(cells) == 2 and self._read_pair(line):
            return
        columns = find_columns(cells)
        headed = line.header or (not self._columns and len([kind for kind in columns if kind is not Column.OTHER]) > 1)
        if headed:
            self._columns = columns or tuple(Column.OTHER for _ in cells)
            self._table_role = role_of_table(self._columns)
            return
        section = self._section
        role = self._table_role or (section.role if section else None)
        kind = cell_of(cells, self._columns, Column.TYPE)
        if kind and (named := find_role(plain(kind))) in (Role.ACTIONS, Role.DECISIONS):
            role = named
        elif kind and not section:
            return
        if section:
            section.form = section.form or Form.ROW
        if role is Role.ATTENDEES:
            name = cell_of(cells, self._columns, Column.NAME, Column.OWNER) or cells[0]
            if not is_away(cells, self._columns) and section is not None:
                section.ticks += [(found, None) for found in read_listed_name(name)]
            elif not is_away(cells, self._columns):
                self.notes.attendees += read_listed_name(name)
        elif role is Role.ACTIONS:
            self._note_action_row(line)
        elif role is Role.DECISIONS:
            self._note_decision(line, text_of_row(cells, self._columns, Role.DECISIONS), Sureness.LISTED)

    def _read_pair(self, line: NoteLine) -> bool:
        """A row of a table that has its labels on the left: "| Attendees | Ann, Ben |"."""
        role = find_role(plain(line.cells[0]))
        rest = plain(line.cells[1])
        if role in (None, Role.OTHER) or (self._columns and not line.header and role in (Role.ACTIONS, Role.DECISIONS)):
            return False
        heads = {kind for kind in find_columns(line.cells) if kind is not Column.OTHER}
        if (
            role is None
            or (line.header and (len(heads) > 1 or find_columns(line.cells[1:])))
            or find_columns((line.cells[1],))
        ):
            return False
        return self._read_labelled(line, role, rest, "")

    def _note_action_row(self, line: NoteLine) -> None:
        text = text_of_row(line.cells, self._columns, Role.ACTIONS)
        who = cell_of(line.cells, self._columns, Column.OWNER)
        status = cell_of(line.cells, self._columns, Column.STATUS)
        action = read_action(text, self._people, who=plain(who), done=read_state(status), held_on=self._held_on)
        if action is None or _is_nothing(action.description):
            return
        due = read_due(cell_of(line.cells, self._columns, Column.DUE), self._held_on)
        action = replace(action, due_date=due or action.due_date)
        self.notes.actions.append(_noted(line, action.description, Sureness.LISTED, action))

    # Items and text

    def _read_line(self, line: NoteLine, following: NoteLine | None) -> None:
        self._parents = [item for item in self._parents if item.level < line.level]
        text = line.text
        if self._section and line.form is Form.ITEM and line.level <= self._section.indent:
            self.close()
        if not self._read_label(line, text, following) and not self._read_section(line, text, following):
            self._read_prose(line, text)
        if line.form is Form.ITEM:
            self._parents.append(line)

    def _read_label(self, line: NoteLine, text: str, following: NoteLine | None) -> bool:
        """A line with a label before it, or that is nothing but one."""
        section = self._section
        if section and section.role is Role.PAST and section.level < BOLD_LEVEL:
            return False
        mark = _MARK.fullmatch(text)
        if mark and not find_label(text):
            self._read_labelled(line, Role.ACTIONS if mark["action"] else Role.DECISIONS, mark["rest"], "")
            return True
        who = _MARKED_WHO.fullmatch(text)
        if who and find_label(text) is None and self._is_person(who["who"]):
            self._read_labelled(line, Role.ACTIONS, who["rest"], who["who"])
            return True
        label = find_label(text)
        if label is not None:
            rest = text[label.rest_start :].strip()
            if rest and rest.strip("*_ "):
                return label.role is not Role.OTHER and self._read_labelled(line, label.role, rest, label.who)
            if (
                label.role is Role.OTHER
                and section
                and section.role in (Role.DECISIONS, Role.ACTIONS)
                and line.form is Form.ITEM
            ):
                return False
            self._open(_Section(label.role, indent=line.level if line.form is Form.ITEM else -1))
            return True
        heads = line.after_gap if line.form is Form.TEXT else _is_below(following, line)
        role = find_role(text) if heads and len(text) < _MAX_TITLE and not text.endswith(".") else None
        if role in (*_LISTED, Role.PAST) and role is not None:
            self._open(_Section(role, indent=line.level if line.form is Form.ITEM else -1))
            return True
        return False

    def _read_labelled(self, line: NoteLine, role: Role, rest: str, who: str) -> bool:
        """What stands after a label in its line; False where it is not what the label names."""
        notes = self.notes
        if role in (Role.ATTENDEES, Role.CHAIR, Role.NOTES_BY):
            names = read_names(rest)
            if not names:
                return False
            into = {Role.ATTENDEES: notes.attendees, Role.CHAIR: notes.chairs, Role.NOTES_BY: notes.writers}[role]
            into += names
        elif role is Role.DATE:
            notes.dates.append(rest)
        elif role is Role.DECISIONS:
            if _QUESTION.search(rest) or not self._note_decision(line, rest, Sureness.LABELLED):
                return _QUESTION.search(rest) is not None
        elif role is Role.ACTIONS:
            return self._note_action(line, rest, Sureness.LABELLED, who=who)
        elif role is Role.TOPICS:
            return False
        notes.roles.add(role)
        return True

    def _read_section(self, line: NoteLine, text: str, following: NoteLine | None) -> bool:
        """A line under a heading that says what it is; False where the line is none of that."""
        section = self._section
        if section is None:
            return False
        if section.role in (Role.PAST, Role.ABSENT):
            if section.level > BOLD_LEVEL and line.form is Form.TEXT and line.after_gap and section.form is not None:
                self.close()
                return False
            section.form = section.form or line.form
            return True
        if section.role not in _LISTED:
            return False
        section.lines += 1
        if section.lines == 2:
            section.tight = not line.after_gap
        if section.form is None:
            section.form, section.first_indent = line.form, line.level
        elif self._is_over(section, line, text):
            self.close()
            return False
        if section.role is Role.ATTENDEES:
            return self._read_attendee(section, line, text)
        deeper = line.form is Form.ITEM and line.level > section.first_indent
        if section.role is Role.TOPICS:
            if line.form is Form.ITEM and not deeper:
                self._note_topic(line, self.notes.agenda)
            return False
        if deeper and not section.parent_open and not section.who and line.done is None:
            return True  # says more of the item above
        if not deeper:
            section.parent_open = line.form is Form.ITEM and text.endswith(":")
        if section.role is Role.ACTIONS:
            return self._read_task(section, line, text, following)
        if section.parent_open and not deeper:
            return True
        return self._read_decided(line, text)

    def _is_over(self, section: _Section, line: NoteLine, text: str) -> bool:
        """Whether a line is of another form than those that stand under its heading."""
        if line.form is not Form.TEXT:
            return False
        if section.form is Form.TEXT:
            said = section.role is Role.DECISIONS and find_speaker(text) is not None
            return said or (section.tight and line.after_gap)
        return line.after_gap

    def _read_attendee(self, section: _Section, line: NoteLine, text: str) -> bool:
        if line.form is Form.TEXT and len(text) > 60 and not _is_list(text):
            self.close()
            return False
        head, colon, rest = text.partition(":")
        if colon and not rest.strip():
            return True  # the name of a group
        if colon and len(names := read_names(rest)) > 1 and all(is_name(name) for name in names):
            section.ticks += [(name, line.done) for name in names]
            return True
        names = read_names(line.raw) if line.form is Form.TEXT and _is_list(text) else read_listed_name(line.raw)
        if line.form is Form.ITEM and line.level > section.first_indent and not all(is_name(name) for name in names):
            return True  # says more of the one above
        if line.form is Form.TEXT and line.after_gap and not names:
            self.close()
            return False
        section.ticks += [(name, line.done) for name in names]
        return True

    def _read_task(self, section: _Section, line: NoteLine, text: str, following: NoteLine | None) -> bool:
        bare = text.strip(" :")
        below = _is_below(following, line)
        alone = text.endswith(":") or below or line.form is Form.TEXT
        if alone and self._is_person(bare) and following is not None and following.form is Form.ITEM:
            section.who, section.who_indent = bare, line.level
            if line.form is Form.TEXT:
                section.form, section.who_indent = None, -1
            return True
        if section.who and line.level <= section.who_indent:
            section.who = ""
        if section.parent_open and text.endswith(":"):
            return True
        if line.form is Form.TEXT and len(text) > _MAX_PARAGRAPH:
            return False
        if _QUESTION.search(text) and line.done is None:
            return True
        if is_decision(text) and not self._is_task_line(text):
            return self._note_decision(line, text, Sureness.PROSE)
        return self._note_action(line, line.raw, Sureness.LISTED, who=section.who) or True

    def _is_task_line(self, text: str) -> bool:
        action = read_action(text, self._people)
        return action is not None and action.named

    def _read_decided(self, line: NoteLine, text: str) -> bool:
        if line.form is Form.TEXT and len(text) > _MAX_PARAGRAPH:
            return False
        if line.done is not None:
            return self._note_action(line, line.raw, Sureness.LISTED) or True
        if not _QUESTION.search(text):
            self._note_decision(line, text, Sureness.LISTED)
        return True

    # Prose

    def _read_prose(self, line: NoteLine, text: str) -> None:
        if line.done is not None:
            self._note_action(line, line.raw, Sureness.LABELLED)
            return
        speaker = find_speaker(text)
        if speaker and find_role(speaker) is None and line.level == 0:
            self.notes.speakers[speaker] += 1
        if speaker and (self._people.knows(speaker) or not self._people or self.notes.speakers[speaker] > 1):
            return
        parent = self._parents[-1] if self._parents else None
        if is_state(text) and parent is not None and line.form is Form.ITEM:
            self._note_outcome(line, parent)
            return
        if line.form is Form.ITEM and self._is_assigned(text):
            self._note_action(line, line.raw, Sureness.PROSE)
            return
        before: Span | None = None
        for span in sentences(line.raw):
            sentence = plain(span.of(line.raw))
            place = Span(line.span.start + span.start, line.span.start + span.end)
            moved, before = before, span
            if moved and is_vote(sentence):
                whole = Span(line.span.start + moved.start, place.end)
                self._note_decision(replace(line, span=whole), moved.of(line.raw), Sureness.PROSE)
            elif is_task(sentence, self._people):
                self._note_action(replace(line, span=place, raw=span.of(line.raw)), span.of(line.raw), Sureness.PROSE)
            elif is_decision(sentence):
                self._note_decision(replace(line, span=place), sentence, Sureness.PROSE)

    def _is_assigned(self, text: str) -> bool:
        """Whether an item that stands anywhere is a task all the same: "@ann to ...", "... -> Ann"."""
        return bool(re.match(r"@[\w-]+(?:,?\s(?:and\s)?@[\w-]+)*\s(?:to|will)\s", text)) or bool(
            (match := re.search(r"\s(?:→|[-=]>)\s?(?P<who>@?[^\W\d_][\w .&-]{0,40})$", text))
            and self._people.knows(match["who"])
        )

    def _note_outcome(self, line: NoteLine, parent: NoteLine) -> None:
        """A topic of which the line below says that it was decided."""
        text = _ISSUE_LINK.sub("", parent.text).strip(" :")
        near = parent.page_number == line.page_number and line.span.start - parent.span.end < 12
        span = Span(parent.span.start, line.span.end) if near else parent.span
        if text:
            self.notes.decisions.append(_noted(replace(parent, span=span), text, Sureness.PROSE))

    # Found

    def _note_decision(self, line: NoteLine, text: str, sureness: Sureness) -> bool:
        words = plain(text)
        number = _NUMBER.match(words)
        words = words[number.end() if number else 0 :].strip(" -–—:")
        if not words or _is_nothing(words):
            return False
        self.notes.decisions.append(_noted(line, words, sureness))
        return True

    def _note_action(self, line: NoteLine, text: str, sureness: Sureness, *, who: str = "") -> bool:
        number = _NUMBER.match(text)
        action = read_action(
            text[number.end() :] if number else text, self._people, who=who, done=line.done, held_on=self._held_on
        )
        if action is None or _is_nothing(action.description):
            return False
        self.notes.actions.append(_noted(line, action.description, sureness, action))
        self.notes.roles.add(Role.ACTIONS)
        return True

    def _is_person(self, text: str) -> bool:
        return len(text) <= 60 and (self._people.knows(text) or is_name(text))


def _noted(line: NoteLine, text: str, sureness: Sureness, action: Action | None = None) -> Noted:
    return Noted(page_number=line.page_number, span=line.span, text=text[:2_000], sureness=sureness, action=action)


def _is_below(following: NoteLine | None, line: NoteLine) -> bool:
    """Whether the next line is an item under this one."""
    return following is not None and following.form is Form.ITEM and following.level > line.level


def _is_nothing(text: str) -> bool:
    return bool(_NOTHING.fullmatch(text) or _TEMPLATE.search(text))


def _is_list(text: str) -> bool:
    return "," in text or ";" in text or "、" in text or re.search(r"\s(?:and|&|und|et|y)\s", text) is not None
