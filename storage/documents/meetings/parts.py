"""A line of notes that holds several labels, as the lines that it could have been. Pure."""

import re
from dataclasses import replace

from core.domain.corpus import Span
from storage.documents.meetings.labels import Role, find_label, find_role
from storage.documents.meetings.lines import Form, NoteLine

# What stands side by side at the front of notes: "Chair: Ann. Present: Ben, Carla. Apologies: Dan".
_FRONT = frozenset({Role.ATTENDEES, Role.ABSENT, Role.CHAIR, Role.NOTES_BY, Role.DATE})
_ALSO = _FRONT | {Role.OTHER}
_NEXT = re.compile(
    r"(?:[.;|,·]\s+|\s{2,}|\s+(?=[*_]{2}))[*_]{0,2}(?P<label>[^\W\d_][^\W\d_]*(?: [^\W\d_]+){0,3})[*_]{0,2}:[*_]{0,2}\s"
)


def split_labels(line: NoteLine) -> list[NoteLine]:
    """The parts of a line of several labels of people and dates, each with its place; any other line as it is."""
    side_by_side = line.form is Form.ROW and not line.header and not line.raw.startswith("|") and "\t" not in line.raw
    if not (side_by_side or line.form in (Form.TEXT, Form.ITEM)) or line.raw.count(":") < 2:
        return [line]
    first = find_label(line.text)
    if first is None or first.role not in _ALSO:
        return [line]
    places = [0, *(match.start("label") for match in _NEXT.finditer(line.raw) if find_role(match["label"]) in _FRONT)]
    if len(places) == 1:
        return [line]
    return [_part(line, begin, end) for begin, end in zip(places, [*places[1:], len(line.raw)], strict=True)]


def _part(line: NoteLine, begin: int, end: int) -> NoteLine:
    inside = line.raw[begin:end]
    kept = inside.rstrip(" \t\n*_;|,·")
    raw = kept if kept.strip() else inside
    start = line.span.start + begin
    form = Form.TEXT if line.form is Form.ROW else line.form
    return replace(line, form=form, cells=(), raw=raw, span=Span(start, start + len(raw)))
