"""Meeting notes, line by line: each heading, label or table gives the lines below it their meaning. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from storage.documents.meetings.labels import (
    Column,
    Label,
    Role,
    cell_of,
    find_columns,
    find_label,
    find_role,
    is_away,
    role_of_table,
    split_labels,
    text_of_row,
)
from storage.documents.meetings.lines import BOLD_LEVEL, Form, NoteLine, plain
from storage.documents.meetings.people import People, is_name, read_listed_name, read_names
from storage.documents.meetings.record import MAX_PERSON, TURN, Notes, Record, Sureness, is_decision, is_question

# Words of a heading that only groups people or decisions.
_MAX_GROUP = 4
# Characters of a heading without any mark of one, and of a paragraph that is one decision.
_MAX_TITLE = 50
_MAX_PARAGRAPH = 400
# Roles whose lines are a list.
_LISTED = (Role.ATTENDEES, Role.ABSENT, Role.DECISIONS, Role.ACTIONS, Role.TOPICS)

# Marks of scribes and meeting bots, which need no colon.
_MARK = re.compile(
    r"(?:(?P<action>#(?:action|todo)|ACTIONS?|TODO)|(?P<decision>#(?:agreed|decision|accepted)|DECIDED|DECISION|AGREED"
    r"|RESOLVED|RESOLUTION))\b(?!\s?[-/&]?\s?[A-Z]{3})(?:\s#?\d{1,4}(?:[.-]\d{1,4}){1,3}(?=\s))?\s*[:\-–—]{0,2}\s*"
    r"(?P<rest>\S.*)",
    re.DOTALL,
)
# Groups of people under "Attendees".
_GROUP = re.compile(
    r"(?:(?:core |voting |other |board |regular )?(?:team|members?|guests?|observers?|staff|committee|board)"
    r"(?: members?)?|others?|remote|online|on site|in person|also)",
    re.IGNORECASE,
)
_WITH_TITLE = re.compile(r"[^\s,]+(?:\s[^\s,]+){1,3},\s[^\s,]+")  # "Ann Lee, Treasurer"
_NEXT_MEETING = re.compile(
    r"(?:the )?(?:next|following) (?:meeting|call|sync|session|stand-?up)\b(?! (?:to|will)\b)", re.IGNORECASE
)
_AND = re.compile(r"[,;、]|\s(?:and|&|und|et|y)\s")


@dataclass(slots=True)
class _Section:
    """The role and the form of the lines under a heading or label."""

    role: Role
    level: int = BOLD_LEVEL + 1  # of its heading; a label is below all
    indent: int = -1  # of the item that is its label
    form: Form | None = None  # of its first line
    first_indent: int = 0  # of its first item
    lines: int = 0  # read so far
    tight: bool = False  # whether its second line followed the first without a blank one
    who: str = ""  # the heading or item with the owner of the following tasks
    who_indent: int = -1
    parent_open: bool = False  # whether the last item at `first_indent` ends with a colon
    hangs_from: int | None = None  # the indent of a label whose own line has names
    one_a_line: bool = False  # whether that line holds one name
    ticks: list[tuple[str, bool | None]] = field(default_factory=list)


def read_notes(lines: Sequence[NoteLine], people: People, held_on: date | None = None) -> Notes:
    """Return the findings. `people` are the known participants; without any, only the form tells names."""
    reader = _Reader(Record(people, held_on))
    parts = [part for line in lines for part in split_labels(line)]
    for place, line in enumerate(parts):
        reader.read(line, parts[place + 1] if place + 1 < len(parts) else None)
    reader.close()
    return reader.notes


class _Reader:
    def __init__(self, record: Record) -> None:
        self.notes = record.notes
        self._record = record
        self._section: _Section | None = None
        self._columns: tuple[Column, ...] = ()
        self._table_role: Role | None = None
        self._parents: list[NoteLine] = []  # the items above the present one

    def read(self, line: NoteLine, following: NoteLine | None) -> None:
        if line.form not in (Form.ROW, Form.RULE):
            self._columns, self._table_role = (), None
        if line.form is Form.HEADING:
            self._read_heading(line)
        elif line.form is Form.RULE:
            if "|" not in line.raw and line.after_gap and not self._columns:
                self.close()
        elif line.form is Form.ROW:
            self._read_row(line)
        else:
            self._parents = [item for item in self._parents if item.level < line.level]
            text = line.text
            if self._section and line.form is Form.ITEM and line.level <= self._section.indent:
                self.close()
            if not self._read_label(line, text, following) and not self._read_section(line, text, following):
                self._record.read_prose(line, text, self._parents[-1] if self._parents else None)
            if line.form is Form.ITEM:
                self._parents.append(line)

    def close(self) -> None:
        """End the open section, if any."""
        section, self._section = self._section, None
        if section and section.role is Role.ATTENDEES:
            ticked = any(tick for _, tick in section.ticks)
            self.notes.attendees += [name for name, tick in section.ticks if tick or not ticked or tick is None]

    def _open(self, section: _Section) -> None:
        self.close()
        self._section = section
        self.notes.roles.add(section.role)

    def _read_heading(self, line: NoteLine) -> None:
        text = line.text
        self._parents = []
        label = find_label(text)
        rest = text[label.rest_start :].strip() if label else ""
        if label and rest and label.role not in (Role.OTHER, Role.CHAIR, Role.NOTES_BY):
            if self._section and line.level <= self._section.level:
                self.close()
            if self._record.add_labelled(line, label.role, rest, label.who):
                return
        role = find_role(text)
        if role is not None:
            self._open(_Section(role, line.level))
        elif not self._groups(line, text):
            if self._section and self._section.role is not Role.TOPICS:
                self.close()
            self._record.add_topic(line, self.notes.headings)

    def _groups(self, line: NoteLine, text: str) -> bool:
        """Return whether a heading within a list groups it: by owners, organisations, topics."""
        section = self._section
        if section is None or line.level <= section.level:
            return False
        if section.role is Role.ACTIONS:
            section.who, section.who_indent = text if self._record.is_person(text) else "", -1
        elif section.role not in (Role.ATTENDEES, Role.DECISIONS) or len(text.split()) > _MAX_GROUP:
            return False
        section.form = None
        return True

    def _read_row(self, line: NoteLine) -> None:
        if len(line.cells) == 2 and self._read_pair(line):
            return
        columns = find_columns(line.cells)
        named = len([column for column in columns if column is not Column.OTHER])
        if line.header or (not self._columns and named > 1):
            self._columns = columns or tuple(Column.OTHER for _ in line.cells)
            self._table_role = role_of_table(self._columns)
            return
        section = self._section
        role = self._table_role or (section.role if section else None)
        kind = cell_of(line.cells, self._columns, Column.TYPE)
        if kind:
            own = find_role(plain(kind))
            role = own if own in (Role.ACTIONS, Role.DECISIONS) else role if section else None
        if section:
            section.form = section.form or Form.ROW
        if role is Role.ACTIONS:
            self._record.add_action_row(line, self._columns)
        elif role is Role.DECISIONS:
            self._record.add_decision(line, text_of_row(line.cells, self._columns, role), Sureness.LISTED)
        elif role is Role.ATTENDEES and not is_away(line.cells, self._columns):
            cell = cell_of(line.cells, self._columns, Column.NAME, Column.OWNER) or line.cells[0]
            self.notes.attendees += read_listed_name(cell)

    def _read_pair(self, line: NoteLine) -> bool:
        """Take a row of a table that has its labels on the left: "| Attendees | Ann, Ben |"."""
        role = find_role(plain(line.cells[0]))
        if role is None or role is Role.OTHER or find_columns((line.cells[1],)):
            return False
        if self._columns and not line.header and role in (Role.ACTIONS, Role.DECISIONS):
            return False
        return self._record.add_labelled(line, role, plain(line.cells[1]))

    def _read_section(self, line: NoteLine, text: str, following: NoteLine | None) -> bool:
        section = self._section
        if section is None:
            return False
        if self._is_over(section, line, text):
            self.close()
            return False
        return self._take(section, line, text, following)

    @staticmethod
    def _is_over(section: _Section, line: NoteLine, text: str) -> bool:
        """Return whether a line has another form than the lines under the heading, and so isn't one of them."""
        if section.hangs_from is not None:
            return not _hangs(section, line, text)
        if line.form is not Form.TEXT or section.form is None:
            return False
        if section.role in (Role.PAST, Role.ABSENT):
            return section.level > BOLD_LEVEL and line.after_gap
        if section.role not in _LISTED:
            return False
        if section.role is Role.ATTENDEES and len(text) > MAX_PERSON and not _AND.search(text):
            return True
        if section.form is Form.TEXT:
            is_turn = section.role is Role.DECISIONS and TURN.match(text) is not None
            return is_turn or (section.tight and line.after_gap)
        return line.after_gap

    def _take(self, section: _Section, line: NoteLine, text: str, following: NoteLine | None) -> bool:
        """Take a line under "Attendees", "Decisions" or the like; False for one to be read like any other."""
        if section.role in (Role.PAST, Role.ABSENT):
            section.form = section.form or line.form
            return True
        if section.role not in _LISTED:
            return False
        section.lines += 1
        if section.lines == 2:
            section.tight = not line.after_gap
        if section.form is None:
            section.form, section.first_indent = line.form, line.level
        if section.role is Role.ATTENDEES:
            return self._read_attendee(section, line, text)
        deeper = line.form is Form.ITEM and line.level > section.first_indent
        if section.role is Role.TOPICS:
            if line.form is Form.ITEM and not deeper:
                self._record.add_topic(line, self.notes.agenda)
            return False
        if deeper and not section.parent_open and not section.who and line.done is None:
            return True  # a detail of the item above
        if not deeper:
            section.parent_open = line.form is Form.ITEM and text.endswith(":")
        if line.form is Form.TEXT and len(text) > _MAX_PARAGRAPH:
            return False
        if section.role is Role.ACTIONS:
            self._read_task(section, line, text, following)
        elif line.done is not None and (deeper or not section.parent_open):
            self._record.add_action(line, line.raw, Sureness.LISTED)
        elif (deeper or not section.parent_open) and not is_question(text):
            self._record.add_decision(line, text, Sureness.LISTED)
        return True

    def _read_attendee(self, section: _Section, line: NoteLine, text: str) -> bool:
        group, colon, rest = text.partition(":")
        if colon and not rest.strip():
            return True  # the name of a group
        names = read_names(rest) if colon else []
        if _GROUP.fullmatch(group) or (len(names) > 1 and all(is_name(name) for name in names)):
            section.ticks += [(name, line.done) for name in names]
            return True
        several = line.form is Form.TEXT and _AND.search(text) and not _WITH_TITLE.fullmatch(text)
        names = read_names(line.raw) if several else read_listed_name(line.raw)
        if line.form is Form.ITEM and line.level > section.first_indent and not all(is_name(name) for name in names):
            return True  # a detail of the item above
        section.ticks += [(name, line.done) for name in names]
        return bool(names) or line.form is Form.ITEM

    def _read_task(self, section: _Section, line: NoteLine, text: str, following: NoteLine | None) -> None:
        if self._names_owner(section, line, text, following):
            return
        if section.who and line.level <= section.who_indent:
            section.who = ""
        if (section.parent_open and text.endswith(":")) or (is_question(text) and line.done is None):
            return
        if _NEXT_MEETING.match(text) and line.done is None:
            return
        if is_decision(text) and not self._record.is_task(text):
            self._record.add_decision(line, text, Sureness.PROSE)
        else:
            self._record.add_action(line, line.raw, Sureness.LISTED, who=section.who)

    def _names_owner(self, section: _Section, line: NoteLine, text: str, following: NoteLine | None) -> bool:
        """Take a line that is only a name, with the tasks of that person below."""
        bare = text.strip(" :")
        may_be = text.endswith(":") or _is_below(following, line) or line.form is Form.TEXT
        if not may_be or following is None or following.form is not Form.ITEM or not self._record.is_person(bare):
            return False
        section.who, section.who_indent = bare, line.level
        if line.form is Form.TEXT:
            section.form, section.who_indent = None, -1
        return True

    def _read_label(self, line: NoteLine, text: str, following: NoteLine | None) -> bool:
        """Take a line that begins with a label, or is only one."""
        section = self._section
        if section and section.role is Role.PAST and section.level < BOLD_LEVEL:
            return False
        label = find_label(text)
        if label is None:
            return self._read_mark(line, text) or self._read_bare_label(line, text, following)
        rest = text[label.rest_start :].strip("*_ ")
        if rest:
            return label.role is not Role.OTHER and self._read_labelled(line, label, rest)
        item = line.form is Form.ITEM
        if label.role is Role.OTHER and item and section and section.role in (Role.DECISIONS, Role.ACTIONS):
            return False
        self._open(_Section(label.role, indent=line.level if item else -1))
        return True

    def _read_labelled(self, line: NoteLine, label: Label, rest: str) -> bool:
        is_read = self._record.add_labelled(line, label.role, rest, label.who)
        lists_people = (label.role is Role.ATTENDEES and is_read) or label.role is Role.ABSENT
        if lists_people and line.form is Form.TEXT:
            self._open(_Section(label.role, hangs_from=line.level, one_a_line="," not in rest))
        return is_read

    def _read_mark(self, line: NoteLine, text: str) -> bool:
        mark = _MARK.fullmatch(text)
        if mark:
            self._record.add_labelled(line, Role.ACTIONS if mark["action"] else Role.DECISIONS, mark["rest"])
        return mark is not None

    def _read_bare_label(self, line: NoteLine, text: str, following: NoteLine | None) -> bool:
        """Take a label without a colon: a line of its own, or an item with others under it."""
        heads = line.after_gap if line.form is Form.TEXT else _is_below(following, line)
        if not heads or len(text) > _MAX_TITLE or text.endswith("."):
            return False
        role = find_role(text)
        if role is None or role not in (*_LISTED, Role.PAST):
            return False
        self._open(_Section(role, indent=line.level if line.form is Form.ITEM else -1))
        return True


def _hangs(section: _Section, line: NoteLine, text: str) -> bool:
    """Return whether a line continues the names after a label: indented below them, or one a line."""
    if line.form is not Form.TEXT or line.after_gap or ":" in text or section.hangs_from is None:
        return False
    names = read_names(text)
    if line.level > section.hangs_from:
        return section.role is Role.ABSENT or bool(names)
    return section.one_a_line and bool(names) and all(is_name(name) and " " in name for name in names)


def _is_below(following: NoteLine | None, line: NoteLine) -> bool:
    return following is not None and following.form is Form.ITEM and following.level > line.level
