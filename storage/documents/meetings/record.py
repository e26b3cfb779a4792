"""What is noted of a meeting while its lines are read: people, decisions, tasks, topics, with their places. Pure."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import IntEnum

from core.domain.corpus import Span
from storage.documents.meetings.action_items import Action, read_action, read_due
from storage.documents.meetings.attendance import find_present
from storage.documents.meetings.labels import Role, find_role, without_number
from storage.documents.meetings.lines import Form, NoteLine, plain
from storage.documents.meetings.people_names import People, is_name, read_names
from storage.documents.meetings.prose import find_speaker, is_decision, is_state, is_talk, is_vote, sentences
from storage.documents.meetings.tables import Column, cell_of, text_of_row
from storage.documents.meetings.task_states import read_state
from storage.documents.meetings.tasks import find_task, takes_on

# Topics of one meeting that are kept, and characters that each has at most.
MAX_TOPICS = 60
_MAX_TOPIC = 200
# Characters between a topic and the word under it that says it was decided: a line end, indent and bullet.
_NEAR = 12

_NUMBER = re.compile(
    r"[*_]{0,3}(?:[A-Z]{0,4}-?\d{1,4}(?:\.\d{1,4}){0,2}[*_]{0,3}\s?[—–:.)](?!\d)|(?:D|A|R|AI|AP|DEC"
    r"|ACT)-?\d{1,4}[*_]{0,3}\s-|#\d{1,4}:)[*_]{0,3}\s*"
)
_STRUCK = re.compile(r"\W{0,4}~~[^~]*~~\W{0,2}")
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
_ASSIGNED = re.compile(r"@[\w-]+(?:,?\s(?:and\s)?@[\w-]+)*\s(?:to|will)\s")
_HANDED = re.compile(r"\s(?:→|[-=]>)\s?(?P<who>@?[^\W\d_][\w .&-]{0,40})$")


class Sureness(IntEnum):
    """How plainly an item says what it is."""

    SAID = 0  # by a speaker, of what they will do
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
    talks: int = 0  # sentences that tell what a group discussed or did


class Record:
    """Takes the notes of one meeting. `people` are those known to be there, `held_on` is its day."""

    def __init__(self, people: People, held_on: date | None) -> None:
        self.notes = Notes()
        self._people = people
        self._held_on = held_on

    def is_person(self, text: str) -> bool:
        return len(text) <= 60 and (self._people.knows(text) or is_name(text))

    def topic(self, line: NoteLine, into: list[Noted]) -> None:
        text = _ISSUE_LINK.sub("", without_number(line.text)).strip(" :")
        if text and len(text) <= _MAX_TOPIC and len(into) < MAX_TOPICS and not _NOTHING.fullmatch(text):
            into.append(_noted(line, text, Sureness.LISTED))

    def labelled(self, line: NoteLine, role: Role, rest: str, who: str = "") -> bool:
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
            if is_question(rest):
                return True
            if not self.decision(line, rest, Sureness.LABELLED):
                return False
        elif role is Role.ACTIONS:
            return self.action(line, rest, Sureness.LABELLED, who=who)
        elif role is Role.TOPICS:
            return False
        notes.roles.add(role)
        return True

    def decision(self, line: NoteLine, text: str, sureness: Sureness) -> bool:
        if _STRUCK.fullmatch(line.raw):
            return True  # taken back: it was decided once, and is no longer
        words = plain(text)
        number = _NUMBER.match(words)
        words = words[number.end() if number else 0 :].strip(" -–—:")
        if not words or _is_nothing(words):
            return False
        self.notes.decisions.append(_noted(line, words, sureness))
        return True

    def action(self, line: NoteLine, text: str, sureness: Sureness, *, who: str = "") -> bool:
        number = _NUMBER.match(text)
        task = text[number.end() :] if number else text
        action = read_action(task, self._people, who=who, done=line.done, held_on=self._held_on)
        if action is None or _is_nothing(action.description):
            return False
        self.notes.actions.append(_noted(line, action.description, sureness, action))
        self.notes.roles.add(Role.ACTIONS)
        return True

    def action_row(self, line: NoteLine, columns: Sequence[Column]) -> None:
        """A row of a table of tasks."""
        text = text_of_row(line.cells, columns, Role.ACTIONS)
        who = plain(cell_of(line.cells, columns, Column.OWNER))
        status = read_state(cell_of(line.cells, columns, Column.STATUS))
        action = read_action(text, self._people, who=who, done=status, held_on=self._held_on)
        if action is None or _is_nothing(action.description):
            return
        due = read_due(cell_of(line.cells, columns, Column.DUE), self._held_on)
        action = replace(action, due_date=due or action.due_date)
        self.notes.actions.append(_noted(line, action.description, Sureness.LISTED, action))

    def is_task_line(self, text: str) -> bool:
        """Whether a line is a task by its form alone ("Ann to ...")."""
        action = read_action(text, self._people)
        return action is not None and action.named

    def prose(self, line: NoteLine, text: str, parent: NoteLine | None) -> None:
        """A line that stands under no heading of a list; `parent` is the item above it."""
        if line.done is not None:
            self.action(line, line.raw, Sureness.LABELLED)
        elif self._is_said(line, text):
            return
        elif is_state(text) and parent is not None and line.form is Form.ITEM:
            self._outcome(line, parent)
        elif line.form is Form.ITEM and self._is_assigned(text):
            self.action(line, line.raw, Sureness.PROSE)
        else:
            self._sentences(line)

    def _is_said(self, line: NoteLine, text: str) -> bool:
        """Whether a line is what someone said: that decides nothing, but may take something on."""
        speaker = find_speaker(text)
        if speaker is None:
            return False
        if find_role(speaker) is None and line.level == 0:
            self.notes.speakers[speaker] += 1
        is_said = self._people.knows(speaker) or not self._people or self.notes.speakers[speaker] > 1
        if is_said:
            self._take_on(line, speaker)
        return is_said

    def _take_on(self, line: NoteLine, speaker: str) -> None:
        """What a speaker says that they will do."""
        for span in sentences(line.raw):
            raw = span.of(line.raw)
            if takes_on(plain(raw)):
                place = Span(line.span.start + span.start, line.span.start + span.end)
                self.action(replace(line, span=place, raw=raw), raw, Sureness.SAID, who=speaker)

    def _is_assigned(self, text: str) -> bool:
        """Whether an item that stands anywhere is a task all the same: "@ann to ...", "... -> Ann"."""
        handed = _HANDED.search(text)
        return _ASSIGNED.match(text) is not None or (handed is not None and self._people.knows(handed["who"]))

    def _outcome(self, line: NoteLine, parent: NoteLine) -> None:
        """A topic of which the line below says that it was decided."""
        text = _ISSUE_LINK.sub("", parent.text).strip(" :")
        near = parent.page_number == line.page_number and line.span.start - parent.span.end < _NEAR
        span = Span(parent.span.start, line.span.end) if near else parent.span
        if text:
            self.notes.decisions.append(_noted(replace(parent, span=span), text, Sureness.PROSE))

    def _sentences(self, line: NoteLine) -> None:
        before: Span | None = None
        for span in sentences(line.raw):
            raw = span.of(line.raw)
            sentence = plain(raw)
            place = Span(line.span.start + span.start, line.span.start + span.end)
            moved, before = before, span
            if moved and is_vote(sentence):
                whole = Span(line.span.start + moved.start, place.end)
                self.decision(replace(line, span=whole), moved.of(line.raw), Sureness.PROSE)
                continue
            present = find_present(sentence)
            if present:
                self.notes.attendees += present
                continue
            self.notes.talks += is_talk(sentence)
            task, decides = find_task(sentence, self._people), is_decision(sentence)
            if decides and not (task and task.leads):
                self.decision(replace(line, span=place), sentence, Sureness.PROSE)
            if task and (task.is_named or not decides):
                self.action(replace(line, span=place, raw=raw), raw, Sureness.PROSE, who=task.who)


def is_question(text: str) -> bool:
    return _QUESTION.search(text) is not None


def _noted(line: NoteLine, text: str, sureness: Sureness, action: Action | None = None) -> Noted:
    return Noted(page_number=line.page_number, span=line.span, text=text[:2_000], sureness=sureness, action=action)


def _is_nothing(text: str) -> bool:
    return bool(_NOTHING.fullmatch(text) or _TEMPLATE.search(text))
