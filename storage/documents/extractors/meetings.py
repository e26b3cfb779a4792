"""Meetings: date, attendees, decisions and action items, from notes and minutes of any style."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby, pairwise
from pathlib import Path, PurePosixPath

from core.domain.corpus import Document
from core.domain.extracts import ActionItem, ExtractorInput, ExtractType, Found, Item, Meeting, Unread
from core.domain.passages import Span
from core.text.dates import find_date, find_date_in_name, is_day_first
from storage.documents.markup.markdown_text import is_front_matter, read_front_matter
from storage.documents.meetings.labels import Role, find_role
from storage.documents.meetings.lines import Form, NoteLine, phrases, plain, read_lines, word_list
from storage.documents.meetings.notes import read_notes
from storage.documents.meetings.people import People, names_someone_of, unique_names
from storage.documents.meetings.record import NotedItem, Notes, Sureness
from storage.documents.pdf.headers_footers import without_headers_footers

# Kinds of documents that are data or books.
_NO_NOTES = frozenset({"csv", "spreadsheet", "openapi", "epub", "kept", "channel", "notebook"})
# Kinds with tags that end the lines.
_OF_TAGS = frozenset({"foundry", "html"})
# Most characters of notes: ten times the longest known transcript.
_MAX_CHARACTERS = 2_000_000
# Lines at the front that may hold the date without a label.
_FRONT_LINES = 12
_MIN_SCORE = 3.5
# Characters: longer front matter is data.
_MAX_FRONT = 20_000
_DATES = ("date", "meeting_date", "day")
_PEOPLE = ("attendees", "participants", "people", "present")

_OCCASIONS = "meeting call sync standup stand-up session board committee team retro weekly".split()
_NOTES_OF = phrases(
    """minutes, mitschrift, compte rendu, compte-rendu, procès verbal, procès-verbal, pv, acta, minuta, verbale,
    notulen, verslag, ata, referat, protokół, протокол, council update, council report, council summary, board update,
    board report, committee update, committee report"""
) | {f"{occasion} {kind}" for occasion in _OCCASIONS for kind in ("notes", "minutes", "summary", "recap")}
_ASIAN_NOTES = ("議事録", "会议纪要", "会议记录")
_NUMBERED_NOTES = re.compile(r"\b(?:notes (?:from|of) .{0,40}(?:meeting|call|sync)|meeting \d+|\w*protokoll)\b", re.I)
_FOLDER = re.compile(r"\b(?:meeting|minute|protokoll|notulen|standup|réunion|acta|call)s?\b", re.IGNORECASE)
_GUIDES = frozenset({"how to", "guide", "template", "policy", "policies", "best practices", "tips", "checklist"})
_OTHER_DAYS = phrases(
    "next, due, deadline, by, updated, created, published, until, since, previous, last, as of, copyright"
)
_WORD = re.compile(r"\w+(?:[-:]\w+)*")
_MOST_WORDS = 3  # of a phrase above


class MeetingsExtractor:
    """One meeting for each document, dated heading of running notes, or mail."""

    name = "meetings"
    version = 7
    types = frozenset({ExtractType.MEETING})

    def reads(self, document: Document) -> bool:
        return document.kind not in _NO_NOTES

    def extract(self, given: ExtractorInput) -> Iterator[Found | Unread]:
        if sum(len(page.text) for page in given.pages) > _MAX_CHARACTERS:
            yield Unread(page_number=1, reason=f"notes of more than {_MAX_CHARACTERS:,} characters are not read")
            return
        pages = without_headers_footers(given.pages) if given.document.kind == "pdf" else given.pages
        pages = [
            page for page in pages if not is_front_matter(page.title, page.text)
        ]  # read from the file, with its types
        lines = read_lines(pages, wrapped=given.document.kind not in _OF_TAGS)
        day_first = is_day_first(line.raw for line in lines)
        is_folder = given.document.kind == "mail" and len(given.pages) > 1
        parts = [] if is_folder else _dated_parts(lines, day_first)
        several = bool(parts)
        properties = ("", ()) if parts else _read_properties(given.path)
        if given.document.kind == "mail" and not parts:  # each message has its own page
            parts = [list(part) for _, part in groupby(lines, key=lambda line: line.page_number)]
        for part in parts or [lines]:
            found = _read_meeting(part, given.document, day_first, properties, several=several)
            if found is not None:
                yield found


@dataclass(frozen=True, slots=True)
class _Title:
    text: str
    line: NoteLine | None  # its place


def _dated_parts(lines: Sequence[NoteLine], day_first: bool | None) -> list[Sequence[NoteLine]]:
    """Return the meetings of running notes, each from its dated heading on; [] for fewer than two."""
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
    notes = read_notes(lines, People(attendees), date.fromisoformat(day) if day else None)
    notes.attendees = first.attendees
    score = _score(notes, document, title.text, is_dated=day is not None, several=several)
    if score < _MIN_SCORE or not (attendees or notes.decisions or notes.actions or notes.agenda):
        return None
    meeting = Meeting(
        title=title.text[:2_000],
        date=day,
        attendees=attendees,
        topics=tuple(
            _item(noted)
            for noted in _once(notes.agenda or [noted for noted in notes.headings if noted.text != title.text])
        ),
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
    named = [line for line in headings if _names(line.text, word_list("meeting")) or _names_notes(line.text)]
    if several:
        return _Title(lines[0].text, lines[0])
    if named:
        title = min(named, key=lambda line: line.level)
        return _Title(title.text, title)
    short = [line for line in lines[:3] if len(line.raw) < 120 and line.form is not Form.ROW]
    plain_title = next((line for line in short if _names_notes(line.text)), None)
    if plain_title is None and short and short[0] is lines[0] and _names(lines[0].text, word_list("meeting")):
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
    """Return the day of the meeting: the first one after a label, in the title, at the front, in the file's name."""
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
        *(text for text in front if not _names(text, _OTHER_DAYS)),
    )
    written = next((day for text in texts if (day := find_date(text, day_first=day_first))), None)
    if written is None and not several:
        written = find_date_in_name(path.stem) or find_date_in_name(path.parent.name)
    if written is None:
        written = next((day for text in notes.dates if (day := find_date(text, day_first=day_first))), None)
    return written.iso() if written else None


def _attendees(notes: Notes) -> tuple[str, ...]:
    names = list(notes.attendees)
    for name in notes.chairs if names else [*notes.chairs, *notes.writers]:
        if not names_someone_of(name, names):
            names.append(name)
    return unique_names(names)


def _sure(found: Sequence[NotedItem]) -> list[NotedItem]:
    """Return the listed and labelled items if any item is listed, else all."""
    is_listed = any(noted.sureness is Sureness.LISTED for noted in found)
    return [noted for noted in found if not is_listed or noted.sureness >= Sureness.LABELLED]


def _once(found: Sequence[NotedItem]) -> list[NotedItem]:
    """Return each item once, in text order: minutes often repeat decisions in a summary."""
    kept: dict[str, NotedItem] = {}
    for noted in sorted(found, key=lambda item: (item.page_number, item.span)):
        key = re.sub(r"\W+", " ", noted.text.lower()).strip()
        before = kept.get(key)
        if before is None or (before.action and noted.action and not before.action.owner and noted.action.owner):
            kept[key] = noted
    return sorted(kept.values(), key=lambda item: (item.page_number, item.span))


def _item(noted: NotedItem) -> Item:
    return Item(page_number=noted.page_number, span=(noted.span.start, noted.span.end), text=noted.text)


def _action_item(noted: NotedItem) -> ActionItem:
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
    """Return the place from the title to a date soon after it, else the title's line."""
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


def _names(text: str, phrases: frozenset[str]) -> bool:
    """Return whether a text holds one of the phrases, in whole words."""
    words = _WORD.findall(text.casefold())
    return any(
        " ".join(words[place : place + length]) in phrases
        for place in range(len(words))
        for length in range(1, _MOST_WORDS + 1)
    )


def _names_notes(text: str) -> bool:
    is_named = _names(text, _NOTES_OF) or any(word in text for word in _ASIAN_NOTES)
    return is_named or _NUMBERED_NOTES.search(text) is not None


def _score(notes: Notes, document: Document, title: str, *, is_dated: bool, several: bool) -> float:
    """Return how likely the document is about a meeting, by its names, headings and labels."""
    path = PurePosixPath(document.path)
    names = f"{title} | {document.title if several else ''} | {path.stem.replace('_', ' ').replace('-', ' ')}"
    of_notes, of_meeting = _names_notes(names), _names(names, word_list("meeting"))
    score = 2.5 if of_notes else 1.5 if of_meeting else 0.0
    score -= 0 if of_notes or of_meeting or _FOLDER.search(path.parent.name) else 0.8
    score += 1 if any(_FOLDER.search(part) for part in path.parent.parts) else 0
    score -= 2 if _names(names, _GUIDES) else 0
    score += 1 if is_dated else 0
    score += min(len(notes.attendees), 2) * 0.9 + (0.5 if Role.ABSENT in notes.roles else 0)
    score += 0.5 if notes.chairs or notes.writers else 0
    score += 0.7 if Role.TOPICS in notes.roles else 0
    score += 0.8 if any(noted.sureness > Sureness.PROSE for noted in notes.decisions) else 0
    score += 0.8 if any(noted.sureness > Sureness.PROSE for noted in notes.actions) else 0
    return score + (0.5 if Role.PAST in notes.roles else 0)


def _read_properties(path: Path | None) -> tuple[str, tuple[str, ...]]:
    """Return (date, attendees) of a note's front matter; ("", ()) without any."""
    if path is None or path.suffix.lower() not in (".md", ".markdown", ".mdx"):
        return "", ()
    try:
        with path.open(encoding="utf-8-sig") as file:
            front = read_front_matter(file.read(_MAX_FRONT))
    except (OSError, UnicodeDecodeError):
        return "", ()  # the pages are still read; the next sync reports the missing file
    day = next((str(front.values[key]) for key in _DATES if front.values.get(key)), "")
    return day, tuple(plain(name) for name in front.strings(*_PEOPLE))
