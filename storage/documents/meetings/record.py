"""The findings of one meeting: people, decisions, tasks and topics with their places. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import IntEnum

from core.domain.passages import Span
from storage.documents.meetings.action_items import Action, read_action, read_due, read_state, split_tasks
from storage.documents.meetings.labels import Column, Role, cell_of, text_of_row, without_number
from storage.documents.meetings.lines import Form, NoteLine, plain
from storage.documents.meetings.people import People, is_name, read_names

# Topics of one meeting, and characters of each.
MAX_TOPICS = 60
_MAX_TOPIC = 200
# Characters between a topic and its outcome below: a line end, an indent and a bullet.
_NEAR = 12
# Characters of a name.
MAX_PERSON = 60
# Characters and words of a sentence that is a decision.
_MAX_SENTENCE = 500
_MIN_WORDS = 4

_NUMBER = re.compile(
    r"[*_]{0,3}(?:[A-Z]{0,4}-?\d{1,4}(?:\.\d{1,4}){0,2}[*_]{0,3}\s?[—–:.)](?!\d)|(?:D|A|R|AI|AP|DEC"
    r"|ACT)-?\d{1,4}[*_]{0,3}\s-|#\d{1,4}:)[*_]{0,3}\s*"
)
_STRUCK = re.compile(r"\W{0,4}~~[^~]*~~\W{0,2}")
_ISSUE_LINK = re.compile(r"(?<!\s)\s*+[(\[]?#\d{1,6}[)\]]?$")
_NOTHING = re.compile(
    r"(?:\W*|n/?a|no(?:ne| (?:new |formal |open |further )?(?:decisions?|actions?|action items|resolutions?|items?"
    r"|motions?|tasks?)(?: .{0,20})?)|tb[dac]|nothing|nil|keine|aucune?|ninguno|ninguna|nessuna|geen|\W*\.\.\.)\W*",
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
TURN = re.compile(r"[^\W\d_a-z][\w.'’ -]{0,60}:\s")  # of a speaker in a transcript


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


class Record:
    """Takes the notes of one meeting. `people` are the known participants, `held_on` is its day."""

    def __init__(self, people: People, held_on: date | None) -> None:
        self.notes = Notes()
        self._people = people
        self._held_on = held_on

    def is_person(self, text: str) -> bool:
        return len(text) <= MAX_PERSON and (self._people.knows(text) or is_name(text))

    def add_topic(self, line: NoteLine, into: list[NotedItem]) -> None:
        text = _ISSUE_LINK.sub("", without_number(line.text)).strip(" :")
        if text and len(text) <= _MAX_TOPIC and len(into) < MAX_TOPICS and not _NOTHING.fullmatch(text):
            into.append(_noted(line, text, Sureness.LISTED))

    def add_labelled(self, line: NoteLine, role: Role, rest: str, who: str = "") -> bool:
        """Add the text after a label in its line; False if it is not of the label's role."""
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
            if not self.add_decision(line, rest, Sureness.LABELLED):
                return False
        elif role is Role.ACTIONS:
            return self.add_action(line, rest, Sureness.LABELLED, who=who)
        elif role is Role.TOPICS:
            return False
        notes.roles.add(role)
        return True

    def add_decision(self, line: NoteLine, text: str, sureness: Sureness) -> bool:
        if _STRUCK.fullmatch(line.raw):
            return True  # taken back
        words = plain(text)
        number = _NUMBER.match(words)
        words = words[number.end() if number else 0 :].strip(" -–—:")
        if not words or _is_nothing(words):
            return False
        self.notes.decisions.append(_noted(line, words, sureness))
        return True

    def add_action(self, line: NoteLine, text: str, sureness: Sureness, *, who: str = "") -> bool:
        number = _NUMBER.match(text)
        task = text[number.end() :] if number else text
        tasks = [task] if who else split_tasks(task, self._people)
        read = [read_action(each, self._people, who=who, done=line.done, held_on=self._held_on) for each in tasks]
        added = [self._add(line, action, sureness) for action in read]
        return any(added)

    def add_action_row(self, line: NoteLine, columns: Sequence[Column]) -> None:
        text = text_of_row(line.cells, columns, Role.ACTIONS)
        who = plain(cell_of(line.cells, columns, Column.OWNER))
        status = read_state(cell_of(line.cells, columns, Column.STATUS))
        action = read_action(text, self._people, who=who, done=status, held_on=self._held_on)
        due = read_due(cell_of(line.cells, columns, Column.DUE), self._held_on)
        self._add(line, replace(action, due_date=due or action.due_date) if action else None, Sureness.LISTED)

    def _add(self, line: NoteLine, action: Action | None, sureness: Sureness) -> bool:
        if action is None or _is_nothing(action.description):
            return False
        self.notes.actions.append(_noted(line, action.description, sureness, action))
        self.notes.roles.add(Role.ACTIONS)
        return True

    def is_task(self, text: str) -> bool:
        """Return whether the form of a line makes it a task ("Ann to ...")."""
        action = read_action(text, self._people)
        return action is not None and action.named

    def read_prose(self, line: NoteLine, text: str, parent: NoteLine | None) -> None:
        """Read a line outside of lists; `parent` is the item above it."""
        if line.done is not None:
            self.add_action(line, line.raw, Sureness.LABELLED)
        elif parent is not None and line.form is Form.ITEM and _OUTCOME.fullmatch(text):
            self._add_outcome(line, parent)
        elif not TURN.match(text):
            for span in _sentences(line.raw):
                sentence = plain(span.of(line.raw))
                if is_decision(sentence):
                    place = Span(line.span.start + span.start, line.span.start + span.end)
                    self.add_decision(replace(line, span=place), sentence, Sureness.PROSE)

    def _add_outcome(self, line: NoteLine, parent: NoteLine) -> None:
        """Add the topic whose outcome the line gives."""
        text = _ISSUE_LINK.sub("", parent.text).strip(" :")
        near = parent.page_number == line.page_number and line.span.start - parent.span.end < _NEAR
        span = Span(parent.span.start, line.span.end) if near else parent.span
        if text:
            self.notes.decisions.append(_noted(replace(parent, span=span), text, Sureness.PROSE))


def is_decision(sentence: str) -> bool:
    """Return whether a sentence opens with a decision."""
    if len(sentence) > _MAX_SENTENCE or len(sentence.split()) < _MIN_WORDS or is_question(sentence):
        return False
    return _DECIDES.match(sentence) is not None


def is_question(text: str) -> bool:
    return _QUESTION.search(text) is not None


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
