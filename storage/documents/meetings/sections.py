"""The lines under "Attendees", "Decisions", "Action items" and their like, as what their heading says. Pure."""

import re
from dataclasses import dataclass, field

from storage.documents.meetings.labels import Role
from storage.documents.meetings.lines import BOLD_LEVEL, Form, NoteLine
from storage.documents.meetings.people_names import is_name, read_listed_name, read_names
from storage.documents.meetings.prose import find_speaker, is_decision
from storage.documents.meetings.record import Record, Sureness, is_question

# What is a list under its heading.
LISTED = (Role.ATTENDEES, Role.ABSENT, Role.DECISIONS, Role.ACTIONS, Role.TOPICS)
# Characters: a paragraph under "Decisions" that is longer is read for its sentences.
_MAX_PARAGRAPH = 400
# Characters of a line among people that is no sentence.
_MAX_PERSON = 60

# Who is listed together under "Attendees".
_GROUP = re.compile(
    r"(?:(?:core |voting |other |board |regular )?(?:team|members?|guests?|observers?|staff|committee"
    r"|board)(?: members?)?"
    r"|others?|remote|online|on site|in person|also)",
    re.IGNORECASE,
)
_WITH_TITLE = re.compile(r"[^\s,]+(?:\s[^\s,]+){1,3},\s[^\s,]+")  # "Ann Lee, Treasurer"
_NEXT_MEETING = re.compile(
    r"(?:the )?(?:next|following) (?:meeting|call|sync|session|stand-?up)\b(?! (?:to|will)\b)", re.I
)
_AND = re.compile(r"[,;、]|\s(?:and|&|und|et|y)\s")


@dataclass(slots=True)
class Section:
    """What the lines under a heading or label are, and how they have looked so far."""

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
    hangs_from: int | None = None  # how far its label is indented, where names stand in the label's own line already
    one_a_line: bool = False  # whether that line holds one name
    ticks: list[tuple[str, bool | None]] = field(default_factory=list)


class SectionReader:
    def __init__(self, record: Record) -> None:
        self._record = record

    def is_over(self, section: Section, line: NoteLine, text: str) -> bool:
        """Whether a line is of another form than those that stand under the heading, and so none of them."""
        if section.hangs_from is not None:
            return not _hangs(section, line, text)
        if line.form is not Form.TEXT or section.form is None:
            return False
        if section.role in (Role.PAST, Role.ABSENT):
            return section.level > BOLD_LEVEL and line.after_gap
        if section.role not in LISTED:
            return False
        if section.role is Role.ATTENDEES and len(text) > _MAX_PERSON and not _AND.search(text):
            return True
        if section.form is Form.TEXT:
            said = section.role is Role.DECISIONS and find_speaker(text) is not None
            return said or (section.tight and line.after_gap)
        return line.after_gap

    def read(self, section: Section, line: NoteLine, text: str, following: NoteLine | None) -> bool:
        """Take what the line says; False where it is to be read as any other."""
        if section.role in (Role.PAST, Role.ABSENT):
            section.form = section.form or line.form
            return True
        if section.role not in LISTED:
            return False
        section.lines += 1
        if section.lines == 2:
            section.tight = not line.after_gap
        if section.form is None:
            section.form, section.first_indent = line.form, line.level
        if section.role is Role.ATTENDEES:
            return self._read_attendee(section, line, text)
        return self._read_item(section, line, text, following)

    def _read_item(self, section: Section, line: NoteLine, text: str, following: NoteLine | None) -> bool:
        deeper = line.form is Form.ITEM and line.level > section.first_indent
        if section.role is Role.TOPICS:
            if line.form is Form.ITEM and not deeper:
                self._record.topic(line, self._record.notes.agenda)
            return False
        if deeper and not section.parent_open and not section.who and line.done is None:
            return True  # says more of the item above
        if not deeper:
            section.parent_open = line.form is Form.ITEM and text.endswith(":")
        if line.form is Form.TEXT and len(text) > _MAX_PARAGRAPH:
            return False
        if section.role is Role.ACTIONS:
            self._read_task(section, line, text, following)
        elif not section.parent_open or deeper:
            self._read_decided(line, text)
        return True

    def _read_attendee(self, section: Section, line: NoteLine, text: str) -> bool:
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
            return True  # says more of the one above
        section.ticks += [(name, line.done) for name in names]
        return bool(names) or line.form is Form.ITEM

    def _read_task(self, section: Section, line: NoteLine, text: str, following: NoteLine | None) -> None:
        if self._names_owner(section, line, text, following):
            return
        if section.who and line.level <= section.who_indent:
            section.who = ""
        if (section.parent_open and text.endswith(":")) or (is_question(text) and line.done is None):
            return
        if _NEXT_MEETING.match(text) and line.done is None:
            return
        if is_decision(text) and not self._record.is_task_line(text):
            self._record.decision(line, text, Sureness.PROSE)
        else:
            self._record.action(line, line.raw, Sureness.LISTED, who=section.who)

    def _names_owner(self, section: Section, line: NoteLine, text: str, following: NoteLine | None) -> bool:
        """Whether a line is only a name, with the tasks of that person below."""
        bare = text.strip(" :")
        alone = text.endswith(":") or is_below(following, line) or line.form is Form.TEXT
        if not alone or following is None or following.form is not Form.ITEM or not self._record.is_person(bare):
            return False
        section.who, section.who_indent = bare, line.level
        if line.form is Form.TEXT:
            section.form, section.who_indent = None, -1
        return True

    def _read_decided(self, line: NoteLine, text: str) -> None:
        if line.done is not None:
            self._record.action(line, line.raw, Sureness.LISTED)
        elif not is_question(text):
            self._record.decision(line, text, Sureness.LISTED)


def _hangs(section: Section, line: NoteLine, text: str) -> bool:
    """Whether a line goes on with the names that stand after a label: below them, and indented or one a line."""
    if line.form is not Form.TEXT or line.after_gap or ":" in text or section.hangs_from is None:
        return False
    names = read_names(text)
    if line.level > section.hangs_from:
        return section.role is Role.ABSENT or bool(names)
    return section.one_a_line and bool(names) and all(is_name(name) and " " in name for name in names)


def is_below(following: NoteLine | None, line: NoteLine) -> bool:
    """Whether the next line is an item under this one."""
    return following is not None and following.form is Form.ITEM and following.level > line.level
