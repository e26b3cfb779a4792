"""Meeting notes, line by line: which heading, label or table says what a line is. Pure."""

import re
from collections.abc import Sequence
from datetime import date

from storage.documents.meetings.labels import Label, Role, find_label, find_role
from storage.documents.meetings.lines import BOLD_LEVEL, Form, NoteLine, plain
from storage.documents.meetings.parts import split_labels
from storage.documents.meetings.people_names import People, read_listed_name
from storage.documents.meetings.record import Notes, Record, Sureness
from storage.documents.meetings.sections import LISTED, Section, SectionReader, is_below
from storage.documents.meetings.tables import Column, cell_of, find_columns, is_away, role_of_table, text_of_row

# Words of a heading that only groups people or decisions.
_MAX_GROUP = 4
# Characters of a line that is a heading without any mark of one.
_MAX_TITLE = 50

# Marks of scribes and meeting bots, which need no colon.
_MARK = re.compile(
    r"(?:(?P<action>#(?:action|todo)|ACTIONS?|TODO)|(?P<decision>#(?:agreed|decision|accepted)|DECIDED"
    r"|DECISION|AGREED|RESOLVED|RESOLUTION))"
    r"\b(?!\s?[-/&]?\s?[A-Z]{3})(?:\s#?\d{1,4}(?:[.-]\d{1,4}){1,3}(?=\s))?\s*[:\-–—]{0,2}\s*(?P<rest>\S.*)",
    re.DOTALL,
)
_MARKED_WHO = re.compile(
    r"(?:action(?: item)?s?|ACTION|TODO|task|AI|AP)\s(?:on |for |- )?(?P<who>@?[^\W\d_][^:\d]{1,40}):\s(?P<rest>\S.*)",
    re.I | re.S,
)


def read_notes(lines: Sequence[NoteLine], people: People, held_on: date | None = None) -> Notes:
    """What the lines hold. `people` are those known to be there; with none, names are told by their form alone."""
    walk = _Walk(Record(people, held_on))
    parts = [part for line in lines for part in split_labels(line)]
    for place, line in enumerate(parts):
        walk.read(line, parts[place + 1] if place + 1 < len(parts) else None)
    walk.close()
    return walk.notes


class _Walk:
    def __init__(self, record: Record) -> None:
        self.notes = record.notes
        self._record = record
        self._reader = SectionReader(record)
        self._section: Section | None = None
        self._columns: tuple[Column, ...] = ()
        self._table_role: Role | None = None
        self._parents: list[NoteLine] = []  # the items that the present one is under

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
            self._read_line(line, following)

    def close(self) -> None:
        """End the section, where one is open."""
        section, self._section = self._section, None
        if section and section.role is Role.ATTENDEES:
            ticked = any(tick for _, tick in section.ticks)
            self.notes.attendees += [name for name, tick in section.ticks if tick or not ticked or tick is None]

    def _open(self, section: Section) -> None:
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
            if self._record.labelled(line, label.role, rest, label.who):
                return
        role = find_role(text)
        if role is not None:
            self._open(Section(role, line.level))
        elif not self._groups(line, text):
            if self._section and self._section.role is not Role.TOPICS:
                self.close()
            self._record.topic(line, self.notes.headings)

    def _groups(self, line: NoteLine, text: str) -> bool:
        """Whether a heading stands within a list and groups it: by owners, organisations, topics."""
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
            said = find_role(plain(kind))
            role = said if said in (Role.ACTIONS, Role.DECISIONS) else role if section else None
        if section:
            section.form = section.form or Form.ROW
        self._take_row(line, role)

    def _take_row(self, line: NoteLine, role: Role | None) -> None:
        if role is Role.ACTIONS:
            self._record.action_row(line, self._columns)
        elif role is Role.DECISIONS:
            self._record.decision(line, text_of_row(line.cells, self._columns, role), Sureness.LISTED)
        elif role is Role.ATTENDEES and not is_away(line.cells, self._columns):
            cell = cell_of(line.cells, self._columns, Column.NAME, Column.OWNER) or line.cells[0]
            self.notes.attendees += read_listed_name(cell)

    def _read_pair(self, line: NoteLine) -> bool:
        """A row of a table that has its labels on the left: "| Attendees | Ann, Ben |"."""
        role = find_role(plain(line.cells[0]))
        if role is None or role is Role.OTHER or find_columns((line.cells[1],)):
            return False
        if self._columns and not line.header and role in (Role.ACTIONS, Role.DECISIONS):
            return False
        return self._record.labelled(line, role, plain(line.cells[1]))

    def _read_line(self, line: NoteLine, following: NoteLine | None) -> None:
        self._parents = [item for item in self._parents if item.level < line.level]
        text = line.text
        if self._section and line.form is Form.ITEM and line.level <= self._section.indent:
            self.close()
        if not self._read_label(line, text, following) and not self._read_section(line, text, following):
            self._record.prose(line, text, self._parents[-1] if self._parents else None)
        if line.form is Form.ITEM:
            self._parents.append(line)

    def _read_section(self, line: NoteLine, text: str, following: NoteLine | None) -> bool:
        section = self._section
        if section is None:
            return False
        if self._reader.is_over(section, line, text):
            self.close()
            return False
        return self._reader.read(section, line, text, following)

    def _read_label(self, line: NoteLine, text: str, following: NoteLine | None) -> bool:
        """A line with a label before it, or that is nothing but one."""
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
        self._open(Section(label.role, indent=line.level if item else -1))
        return True

    def _read_labelled(self, line: NoteLine, label: Label, rest: str) -> bool:
        is_read = self._record.labelled(line, label.role, rest, label.who)
        if (
            label.role in (Role.ATTENDEES, Role.ABSENT)
            and line.form is Form.TEXT
            and (is_read or label.role is Role.ABSENT)
        ):
            self._open(Section(label.role, hangs_from=line.level, one_a_line="," not in rest))
        return is_read

    def _read_mark(self, line: NoteLine, text: str) -> bool:
        mark = _MARK.fullmatch(text)
        if mark:
            self._record.labelled(line, Role.ACTIONS if mark["action"] else Role.DECISIONS, mark["rest"])
            return True
        who = _MARKED_WHO.fullmatch(text)
        if who and self._record.is_person(who["who"]):
            self._record.labelled(line, Role.ACTIONS, who["rest"], who["who"])
            return True
        return False

    def _read_bare_label(self, line: NoteLine, text: str, following: NoteLine | None) -> bool:
        """A label without a colon: a line of its own, or an item with others under it."""
        heads = line.after_gap if line.form is Form.TEXT else is_below(following, line)
        if not heads or len(text) > _MAX_TITLE or text.endswith("."):
            return False
        role = find_role(text)
        if role is None or role not in (*LISTED, Role.PAST):
            return False
        self._open(Section(role, indent=line.level if line.form is Form.ITEM else -1))
        return True
