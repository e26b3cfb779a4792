"""Meetings: when, who was there, what was decided and who does what, from notes and minutes of any style."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby, pairwise
from pathlib import PurePosixPath

from core.domain.corpus import Document, Span
from core.domain.extracts import ActionItem, ExtractorInput, ExtractType, Found, Item, Meeting, Unread
from core.text.dates import find_date, find_date_in_name, is_day_first
from storage.documents.meetings.labels import Role, find_role
from storage.documents.meetings.lines import Form, NoteLine, read_lines
from storage.documents.meetings.notes import read_notes
from storage.documents.meetings.people_names import People, names_someone_of, unique_names
from storage.documents.meetings.properties import read_properties
from storage.documents.meetings.record import Noted, Notes, Sureness
from storage.documents.meetings.signs import MEETING, NOTES_OF, score_of
from storage.documents.pdf.headers_footers import without_running_lines

# Kinds of documents that are data or books, whatever words they use.
_NO_NOTES = frozenset({"csv", "spreadsheet", "openapi", "epub", "kept", "channel", "notebook"})
# Kinds whose lines end where a tag says so.
_OF_TAGS = frozenset({"foundry", "html"})
# Characters of notes that are read: ten times the longest transcript we know of.
_MAX_CHARACTERS = 2_000_000
# Lines at the front that may hold the date without a label.
_FRONT_LINES = 12
_MIN_SCORE = 3.5
# Turns of a speaker, and speakers, that make a transcript.
_MIN_TURNS = 2
_MIN_SPEAKERS = 2


class MeetingsExtractor:
    """One meeting a document, or one a dated heading where a document has several (running notes), or one a mail."""

    name = "meetings"
    version = 4
    types = frozenset({ExtractType.MEETING})

    def reads(self, document: Document) -> bool:
        return document.kind not in _NO_NOTES

    def extract(self, given: ExtractorInput) -> Iterator[Found | Unread]:
        if sum(len(page.text) for page in given.pages) > _MAX_CHARACTERS:
            yield Unread(page_number=1, reason=f"notes of more than {_MAX_CHARACTERS:,} characters are not read")
            return
        pages = without_running_lines(given.pages) if given.document.kind == "pdf" else given.pages
        lines = read_lines(pages, wrapped=given.document.kind not in _OF_TAGS)
        day_first = is_day_first(line.raw for line in lines)
        is_folder = given.document.kind == "mail" and len(given.pages) > 1
        parts = [] if is_folder else _dated_parts(lines, day_first)
        properties = ("", ()) if parts else read_properties(given.path)
        for part in parts or (_messages(lines) if given.document.kind == "mail" else [lines]):
            found = _read_meeting(part, given.document, day_first, properties, several=bool(parts))
            if found is not None:
                yield found


@dataclass(frozen=True, slots=True)
class _Title:
    text: str
    line: NoteLine | None  # where it stands


def _dated_parts(lines: Sequence[NoteLine], day_first: bool | None) -> list[Sequence[NoteLine]]:
    """The meetings of running notes, each from its dated heading on; none where a document has fewer than two."""
    dated = [
        place
        for place, line in enumerate(lines)
        if line.form is Form.HEADING and find_role(line.text) is None and _is_dated(line.text, day_first)
    ]
    levels = [lines[place].level for place in dated]
    level = min(levels, default=0)
    starts = [place for place in dated if lines[place].level == level]
    if len(starts) < 2 or any(line.form is Form.HEADING and line.level < level for line in lines[starts[0] :]):
        return []
    return [lines[start:end] for start, end in pairwise([*starts, len(lines)])]


def _messages(lines: Sequence[NoteLine]) -> list[Sequence[NoteLine]]:
    """Each message by itself: it stands on a page of its own."""
    return [list(part) for _, part in groupby(lines, key=lambda line: line.page_number)]


def _is_dated(text: str, day_first: bool | None) -> bool:
    written = find_date(text, day_first=day_first)
    return written is not None and len(f"{text[: written.span.start]} {text[written.span.end :]}".split()) <= 6


def _read_meeting(
    lines: Sequence[NoteLine],
    document: Document,
    day_first: bool | None,
    properties: tuple[str, tuple[str, ...]],
    *,
    several: bool,
) -> Found | None:
    if not lines:
        return None
    title = _find_title(lines, document, several=several)
    first = read_notes(lines, People(()))
    first.attendees = first.attendees or list(properties[1])
    day = _find_day(lines, first, document, title, day_first, several=several) or _to_iso(properties[0])
    attendees = _attendees(first)
    notes = read_notes(lines, People((*attendees, *_speakers(first))), date.fromisoformat(day) if day else None)
    notes.attendees = first.attendees
    score = score_of(notes, document, title.text, is_dated=day is not None, several=several)
    if score < _MIN_SCORE or not _holds_something(notes, attendees):
        return None
    meeting = Meeting(
        title=title.text[:2_000],
        date=day,
        attendees=attendees,
        topics=tuple(_item(noted) for noted in _once(notes.agenda or _headings(notes, title))),
        decisions=tuple(_item(noted) for noted in _once(_sure(notes.decisions))),
        action_items=tuple(_action_item(noted) for noted in _once(_sure(notes.actions))),
    )
    where = title.line or lines[0]
    return Found(
        type=ExtractType.MEETING,
        page_number=where.page_number,
        span=_front(lines, where),
        data=meeting.model_dump(),
        confidence=round(min(0.97, 0.55 + score / 20), 2),
    )


def _find_title(lines: Sequence[NoteLine], document: Document, *, several: bool) -> _Title:
    headings = [line for line in lines[:_FRONT_LINES] if line.form is Form.HEADING and find_role(line.text) is None]
    named = [line for line in headings if MEETING.search(line.text) or NOTES_OF.search(line.text)]
    if several:
        return _Title(lines[0].text, lines[0])
    if named:
        title = min(named, key=lambda line: line.level)
        return _Title(title.text, title)
    short = [line for line in lines[:3] if len(line.raw) < 120 and line.form is not Form.ROW]
    plain_title = next((line for line in short if NOTES_OF.search(line.text)), None)
    if plain_title is None and short and short[0] is lines[0] and MEETING.search(lines[0].text):
        plain_title = lines[0]
    if plain_title is not None:
        return _Title(plain_title.text, plain_title)
    same = next((line for line in lines[:5] if line.text == document.title), None)
    return _Title(document.title, same)


def _find_day(
    lines: Sequence[NoteLine],
    notes: Notes,
    document: Document,
    title: _Title,
    day_first: bool | None,
    *,
    several: bool,
) -> str | None:
    """The day of the meeting: after a label, in the title, at the front, in the file's name; the first that is
    there.
    """
    labelled = notes.dates if document.kind != "mail" else notes.dates[1:]
    front = []
    for line in lines[:_FRONT_LINES]:
        if find_role(line.text) in (Role.ACTIONS, Role.DECISIONS, Role.PAST):
            break
        front.append(line.text)
    path = PurePosixPath(document.path)
    texts = (
        *labelled,
        title.text,
        *(() if several else (document.title,)),
        *(text for text in front if not _is_other_day(text)),
    )
    written = next((day for text in texts if (day := find_date(text, day_first=day_first))), None)
    if written is None and not several:
        written = find_date_in_name(path.stem) or find_date_in_name(path.parent.name)
    if written is None:
        written = next((day for text in notes.dates if (day := find_date(text, day_first=day_first))), None)
    return written.iso() if written else None


_OTHER_DAY = re.compile(
    r"\b(?:next|due|deadline|by|last updated|updated|created|published|until|since|previous|last|as of|copyright)\b",
    re.I,
)


def _is_other_day(text: str) -> bool:
    return _OTHER_DAY.search(text) is not None


def _attendees(notes: Notes) -> tuple[str, ...]:
    names = list(notes.attendees)
    extra = notes.chairs if names else [*notes.chairs, *notes.writers]
    for name in extra:
        if not names_someone_of(name, names):
            names.append(name)
    if not notes.attendees:
        turns = _speakers(notes)
        if len(turns) >= _MIN_SPEAKERS:
            names += [name for name in turns if not names_someone_of(name, names)]
    return unique_names(names)


def _speakers(notes: Notes) -> list[str]:
    return [name for name, turns in notes.speakers.items() if turns >= _MIN_TURNS]


def _holds_something(notes: Notes, attendees: Sequence[str]) -> bool:
    return bool(attendees or notes.decisions or notes.actions or notes.agenda)


def _sure(found: Sequence[Noted]) -> list[Noted]:
    """All but what sentences only seem to say, where there is a list; what is said, where nothing is written down."""
    surest = max((noted.sureness for noted in found), default=Sureness.PROSE)
    least = {Sureness.LISTED: Sureness.LABELLED, Sureness.LABELLED: Sureness.PROSE}.get(surest, Sureness.SAID)
    return [noted for noted in found if noted.sureness >= least]


def _once(found: Sequence[Noted]) -> list[Noted]:
    """Each once, in text order: minutes often give decisions where they were taken and in a summary."""
    kept: dict[str, Noted] = {}
    for noted in sorted(found, key=lambda item: (item.page_number, item.span)):
        key = re.sub(r"\W+", " ", noted.text.lower()).strip()
        before = kept.get(key)
        if before is None or (before.action and noted.action and not before.action.owner and noted.action.owner):
            kept[key] = noted
    return sorted(kept.values(), key=lambda item: (item.page_number, item.span))


def _headings(notes: Notes, title: _Title) -> list[Noted]:
    return [noted for noted in notes.headings if noted.text != title.text]


def _item(noted: Noted) -> Item:
    return Item(page_number=noted.page_number, span=(noted.span.start, noted.span.end), text=noted.text)


def _action_item(noted: Noted) -> ActionItem:
    action = noted.action
    return ActionItem(
        page_number=noted.page_number,
        span=(noted.span.start, noted.span.end),
        description=noted.text,
        owner=action.owner if action else None,
        due_date=action.due_date if action else None,
        done=action.done if action else None,
    )


def _front(lines: Sequence[NoteLine], where: NoteLine) -> Span:
    """From the title to the line that gives the date, where that follows soon; else the title's line."""
    end = where.span.end
    for line in lines[: _FRONT_LINES + 1]:
        near = line.page_number == where.page_number and where.span.start <= line.span.start <= where.span.start + 600
        if near and find_date(line.text):
            end = max(end, line.span.end)
            break
    return Span(where.span.start, end)


def _to_iso(text: str) -> str | None:
    written = find_date(text)
    return written.iso() if written else None
