"""Meeting notes, line by line: each heading, label or table gives the lines below it their meaning. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import IntEnum

from core.domain.corpus import Span
from storage.documents.meetings.action_items import Action, read_action, read_due, read_state
from storage.documents.meetings.labels import (
    Column,
    Role,
    cell_of,
    find_columns,
    find_label,
    find_role,
    is_away,
    role_of_table,
    text_of_row,
    without_number,
)
from storage.documents.meetings.lines import BOLD_LEVEL, Form, NoteLine, plain
from storage.documents.meetings.people import People, is_name, read_listed_name, read_names

# Topics of one meeting, and characters of each.
MAX_TOPICS = 60
_MAX_TOPIC = 200
# Characters between a topic and its outcome below: a line end, an indent and a bullet.
_NEAR = 12
# Characters of a name, of a heading without any mark of one, and of a paragraph that is one decision.
_MAX_PERSON = 60
_MAX_TITLE = 50
_MAX_PARAGRAPH = 400
# Characters and words of a sentence that is a decision, and words of a heading that only groups people or decisions.
_MAX_SENTENCE = 500
_MIN_WORDS = 4
_MAX_GROUP = 4
# Roles whose lines are a list.
_LISTED = (Role.ATTENDEES, Role.ABSENT, Role.DECISIONS, Role.ACTIONS, Role.TOPICS)

_NUMBER = re.compile(
    r"[*_]{0,3}(?:[A-Z]{0,4}-?\d{1,4}(?:\.\d{1,4}){0,2}[*_]{0,3}\s?[—–:.)](?!\d)|(?:D|A|R|AI|AP|DEC"
    r"|ACT)-?\d{1,4}[*_]{0,3}\s-|#\d{1,4}:)[*_]{0,3}\s*"
)
_STRUCK = re.compile(r"\W{0,4}~~[^~]*~~\W{0,2}")
_ISSUE_LINK = re.compile(r"\s*[(\[]?#\d{1,6}[)\]]?$")
_NOTHING = re.compile(
    r"(?:\W*|n/?a|no(?:ne| (?:new |formal |open |further )?(?:decisions?|actions?|action items|resolutions?|items?"
    r"|motions?|tasks?)(?: .{0,20})?)|tb[dac]|nothing|nil|keine|aucune?|\W*\.\.\.)\W*",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"\?\W{0,3}(?:https?://\S+)?\s*$")
_TEMPLATE = re.compile(r"\{\{|<[^<>]{2,40}>$|^\[[^\]]{0,60}\]$|^\.{3}$|…$")
_SENTENCE = re.compile(r"(?<=[^\s.].[.!?])[)\"”’]?\s+(?=[\"“'(]?[^\W\da-z_])")
# Sentences that open with a decision ("Agreed to wait"), or put something off ("Pause the work until May").
_DECIDES = re.compile(
    r"(?:we )?(?:unanimously |tentatively )?(?:decided?|agreed?|resolved)\s(?:to|that|on|not|against|upon)\s\w"
    r"|(?:pause|postpone|defer|table|park|hold off|put on hold|delay)\b[^?]*\buntil\s\w",
    re.IGNORECASE,
)
# The outcome of the topic above, in a line of its own: "merged", "Approved unanimously."
_OUTCOME = re.compile(
    r"(?:unanimously )?(?:merged|approved|accepted|adopted|landed|agreed|passed|carried|ratified)"
    r"(?: unanimously)?\W{0,3}",
    re.IGNORECASE,
)
_TURN = re.compile(r"[^\W\d_a-z][\w.'’ -]{0,60}:\s")  # of a speaker in a transcript
_GROUP = re.compile(r"(?:team|members?|guests?|observers?|staff|committee|board|others?|remote|online|also)", re.I)
_WITH_TITLE = re.compile(r"[^\s,]+(?:\s[^\s,]+){1,3},\s[^\s,]+")  # "Ann Lee, Treasurer"
_AND = re.compile(r"[,;、]|\s(?:and|&|und|et|y)\s")


class Sureness(IntEnum):
    """The evidence that an item is a decision or a task."""

    PROSE = 1  # its sentence
    LABELLED = 2  # "Decision: ..."
    LISTED = 3  # an item or row under such a heading


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedItem:
    """A decision, task or topic at its place."""

    page_number: int
    span: Span
    text: str
    sureness: Sureness
    action: Action | None = None


@dataclass(slots=True)
class Notes:
    """The findings, in text order."""

    attendees: list[str] = field(default_factory=list)
    chairs: list[str] = field(default_factory=list)
    writers: list[str] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)  # texts after "Date:"
    decisions: list[NotedItem] = field(default_factory=list)
    actions: list[NotedItem] = field(default_factory=list)
    agenda: list[NotedItem] = field(default_factory=list)
    headings: list[NotedItem] = field(default_factory=list)
    roles: set[Role] = field(default_factory=set)  # of headings and labels


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
    who: str = ""  # the heading with the owner of the following tasks
    parent_open: bool = False  # whether the last item at `first_indent` ends with a colon
    ticks: list[tuple[str, bool | None]] = field(default_factory=list)


def read_notes(lines: Sequence[NoteLine], people: People, held_on: date | None = None) -> Notes:
    """Return the findings of one meeting, held on that day.

    `people` are the known participants; without any, only the form tells names.
    """
    reader = _Reader(people, held_on)
    for place, line in enumerate(lines):
        reader.read(line, lines[place + 1] if place + 1 < len(lines) else None)
    reader.close()
    return reader.notes


def is_decision(sentence: str) -> bool:
    """Return whether a sentence opens with a decision."""
    if len(sentence) > _MAX_SENTENCE or len(sentence.split()) < _MIN_WORDS or _QUESTION.search(sentence):
        return False
    return _DECIDES.match(sentence) is not None


class _Reader:
    def __init__(self, people: People, held_on: date | None) -> None:
        self.notes = Notes()
        self._people = people
        self._held_on = held_on
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
            self._read_line(line, following)

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
        self._parents = []
        section, label, role = self._section, find_label(line.text), find_role(line.text)
        rest = line.text[label.rest_start :].strip() if label else ""
        if label and rest and label.role not in (Role.OTHER, Role.CHAIR, Role.NOTES_BY):
            if section and line.level <= section.level:
                self.close()
            if self._add_labelled(line, label.role, rest, label.who):
                return
        if role is not None:
            self._open(_Section(role, line.level))
        elif not self._groups(line):
            if self._section and self._section.role is not Role.TOPICS:
                self.close()
            self._add_topic(line, self.notes.headings)

    def _groups(self, line: NoteLine) -> bool:
        """Return whether a heading within a list groups it: by owners, organisations, topics."""
        section = self._section
        if section is None or line.level <= section.level:
            return False
        if section.role is Role.ACTIONS:
            is_person = len(line.text) <= _MAX_PERSON and (self._people.knows(line.text) or is_name(line.text))
            section.who = line.text if is_person else ""
        elif section.role not in (Role.ATTENDEES, Role.DECISIONS) or len(line.text.split()) > _MAX_GROUP:
            return False
        section.form = None
        return True

    def _read_row(self, line: NoteLine) -> None:
        columns, section = find_columns(line.cells), self._section
        named = len([column for column in columns if column is not Column.OTHER])
        if line.header or (not self._columns and named > 1):
            self._columns = columns or tuple(Column.OTHER for _ in line.cells)
            self._table_role = role_of_table(self._columns)
            return
        role = self._table_role or (section.role if section else None)
        if section:
            section.form = section.form or Form.ROW
        if role is Role.ACTIONS:
            self._add_action_row(line)
        elif role is Role.DECISIONS:
            self._add_decision(line, text_of_row(line.cells, self._columns, role), Sureness.LISTED)
        elif role is Role.ATTENDEES and not is_away(line.cells, self._columns):
            cell = cell_of(line.cells, self._columns, Column.NAME, Column.OWNER) or line.cells[0]
            self.notes.attendees += read_listed_name(cell)

    def _read_line(self, line: NoteLine, following: NoteLine | None) -> None:
        self._parents = [item for item in self._parents if item.level < line.level]
        if self._section and line.form is Form.ITEM and line.level <= self._section.indent:
            self.close()
        is_label = self._read_label(line, following)
        if not is_label and self._section and _is_over(self._section, line):
            self.close()
        if not is_label and not self._read_in_section(line):
            self._read_prose(line, self._parents[-1] if self._parents else None)
        if line.form is Form.ITEM:
            self._parents.append(line)

    def _read_label(self, line: NoteLine, following: NoteLine | None) -> bool:
        """Take a line that begins with a label, or is only one."""
        section, text, is_item = self._section, line.text, line.form is Form.ITEM
        if section and section.role is Role.PAST and section.level < BOLD_LEVEL:
            return False
        label = find_label(text)
        if label is None:  # maybe one without a colon: a line of its own, or an item with others under it
            heads = _is_below(following, line) if is_item else line.after_gap
            role = find_role(text) if heads and len(text) <= _MAX_TITLE and not text.endswith(".") else None
            if role not in (*_LISTED, Role.PAST):
                return False
        elif rest := text[label.rest_start :].strip("*_ "):
            return label.role is not Role.OTHER and self._add_labelled(line, label.role, rest, label.who)
        elif label.role is Role.OTHER and is_item and section and section.role in (Role.DECISIONS, Role.ACTIONS):
            return False
        else:
            role = label.role
        self._open(_Section(role, indent=line.level if is_item else -1))
        return True

    def _read_in_section(self, line: NoteLine) -> bool:
        """Take a line under "Attendees", "Decisions", "Action items"; False for one to be read like any other."""
        section = self._section
        if section is None:
            return False
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
        deeper = line.form is Form.ITEM and line.level > section.first_indent
        if section.role is Role.ATTENDEES:
            return self._read_attendee(section, line, deeper=deeper)
        return self._read_item(section, line, deeper=deeper)

    def _read_attendee(self, section: _Section, line: NoteLine, *, deeper: bool) -> bool:
        group, colon, rest = line.text.partition(":")
        if colon and not rest.strip():
            return True  # the name of a group
        names = read_names(rest) if colon else []
        if not (_GROUP.fullmatch(group) or (len(names) > 1 and all(map(is_name, names)))):
            several = line.form is Form.TEXT and _AND.search(line.text) and not _WITH_TITLE.fullmatch(line.text)
            names = read_names(line.raw) if several else read_listed_name(line.raw)
            if deeper and not all(map(is_name, names)):
                return True  # a detail of the item above
        section.ticks += [(name, line.done) for name in names]
        return bool(names) or line.form is Form.ITEM

    def _read_item(self, section: _Section, line: NoteLine, *, deeper: bool) -> bool:
        text = line.text
        if section.role is Role.TOPICS:
            if line.form is Form.ITEM and not deeper:
                self._add_topic(line, self.notes.agenda)
            return False
        if deeper and not section.parent_open and not section.who and line.done is None:
            return True  # a detail of the item above
        if not deeper:
            section.parent_open = line.form is Form.ITEM and text.endswith(":")
        if line.form is Form.TEXT and len(text) > _MAX_PARAGRAPH:
            return False
        is_open = line.done is None and (_QUESTION.search(text) or (section.parent_open and text.endswith(":")))
        if is_open:
            return True
        if section.role is Role.ACTIONS:
            self._add_task(line, section.who)
        elif line.done is not None:
            self._add_action(line, line.raw, Sureness.LISTED)
        else:
            self._add_decision(line, text, Sureness.LISTED)
        return True

    def _add_task(self, line: NoteLine, who: str) -> None:
        action = read_action(line.text, self._people) if is_decision(line.text) else None
        if action is not None and not action.named:
            self._add_decision(line, line.text, Sureness.PROSE)
        else:
            self._add_action(line, line.raw, Sureness.LISTED, who=who)

    def _read_prose(self, line: NoteLine, parent: NoteLine | None) -> None:
        """Read a line outside of lists; `parent` is the item above it."""
        if line.done is not None:
            self._add_action(line, line.raw, Sureness.LABELLED)
        elif parent is not None and line.form is Form.ITEM and _OUTCOME.fullmatch(line.text):
            text = _ISSUE_LINK.sub("", parent.text).strip(" :")
            near = parent.page_number == line.page_number and line.span.start - parent.span.end < _NEAR
            span = Span(parent.span.start, line.span.end) if near else parent.span
            if text:
                self.notes.decisions.append(_noted(replace(parent, span=span), text, Sureness.PROSE))
        elif not _TURN.match(line.text):
            for span in _sentences(line.raw):
                sentence = plain(span.of(line.raw))
                if is_decision(sentence):
                    place = Span(line.span.start + span.start, line.span.start + span.end)
                    self._add_decision(replace(line, span=place), sentence, Sureness.PROSE)

    def _add_labelled(self, line: NoteLine, role: Role, rest: str, who: str) -> bool:
        """Add the text after a label in its line; False if it is not of the label's role."""
        notes = self.notes
        people = {Role.ATTENDEES: notes.attendees, Role.CHAIR: notes.chairs, Role.NOTES_BY: notes.writers}
        if role in people:
            names = read_names(rest)
            people[role] += names
            is_added = bool(names)
        elif role is Role.DATE:
            notes.dates.append(rest)
            is_added = True
        elif role is Role.DECISIONS and _QUESTION.search(rest):
            return True
        elif role is Role.DECISIONS:
            is_added = self._add_decision(line, rest, Sureness.LABELLED)
        elif role is Role.ACTIONS:
            is_added = self._add_action(line, rest, Sureness.LABELLED, who=who)
        else:
            is_added = role is not Role.TOPICS
        if is_added:
            notes.roles.add(role)
        return is_added

    def _add_topic(self, line: NoteLine, into: list[NotedItem]) -> None:
        text = _ISSUE_LINK.sub("", without_number(line.text)).strip(" :")
        if text and len(text) <= _MAX_TOPIC and len(into) < MAX_TOPICS and not _NOTHING.fullmatch(text):
            into.append(_noted(line, text, Sureness.LISTED))

    def _add_decision(self, line: NoteLine, text: str, sureness: Sureness) -> bool:
        if _STRUCK.fullmatch(line.raw):
            return True  # taken back
        words = plain(text)
        number = _NUMBER.match(words)
        words = words[number.end() if number else 0 :].strip(" -–—:")
        if not words or _is_nothing(words):
            return False
        self.notes.decisions.append(_noted(line, words, sureness))
        return True

    def _add_action(self, line: NoteLine, text: str, sureness: Sureness, *, who: str = "") -> bool:
        number = _NUMBER.match(text)
        task = text[number.end() :] if number else text
        action = read_action(task, self._people, who=who, done=line.done, held_on=self._held_on)
        return self._note_action(line, action, sureness)

    def _add_action_row(self, line: NoteLine) -> None:
        text = text_of_row(line.cells, self._columns, Role.ACTIONS)
        who = plain(cell_of(line.cells, self._columns, Column.OWNER))
        status = read_state(cell_of(line.cells, self._columns, Column.STATUS))
        action = read_action(text, self._people, who=who, done=status, held_on=self._held_on)
        due = read_due(cell_of(line.cells, self._columns, Column.DUE), self._held_on)
        action = replace(action, due_date=due or action.due_date) if action else None
        self._note_action(line, action, Sureness.LISTED)

    def _note_action(self, line: NoteLine, action: Action | None, sureness: Sureness) -> bool:
        if action is None or _is_nothing(action.description):
            return False
        self.notes.actions.append(_noted(line, action.description, sureness, action))
        self.notes.roles.add(Role.ACTIONS)
        return True


def _is_over(section: _Section, line: NoteLine) -> bool:
    """Return whether a line has another form than the lines under the heading, and so isn't one of them."""
    if line.form is not Form.TEXT or section.form is None:
        return False
    if section.role in (Role.PAST, Role.ABSENT):
        return section.level > BOLD_LEVEL and line.after_gap
    if section.role not in _LISTED:
        return False
    if section.role is Role.ATTENDEES and len(line.text) > _MAX_PERSON and not _AND.search(line.text):
        return True
    if section.form is not Form.TEXT:
        return line.after_gap
    is_turn = section.role is Role.DECISIONS and _TURN.match(line.text) is not None
    return is_turn or (section.tight and line.after_gap)


def _is_below(following: NoteLine | None, line: NoteLine) -> bool:
    return following is not None and following.form is Form.ITEM and following.level > line.level


def _sentences(raw: str) -> Iterator[Span]:
    """Yield the place of each sentence of a line."""
    begin = 0
    for match in _SENTENCE.finditer(raw):
        yield Span(begin, match.start())
        begin = match.end()
    if begin < len(raw):
        yield Span(begin, len(raw))


def _noted(line: NoteLine, text: str, sureness: Sureness, action: Action | None = None) -> NotedItem:
    return NotedItem(page_number=line.page_number, span=line.span, text=text[:2_000], sureness=sureness, action=action)


def _is_nothing(text: str) -> bool:
    return bool(_NOTHING.fullmatch(text) or _TEMPLATE.search(text))
