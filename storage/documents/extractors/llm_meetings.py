"""Decisions, action items and attendees in the prose of notes, found by a model."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Literal

from pydantic import Field

from core.domain.corpus import Document
from core.domain.extracts import ActionItem, ExtractType, Found, Item, Meeting, Unproved
from core.text.dates import find_date, find_dates
from storage.documents.extractors.llm import NO_PROSE, ModelFinding, ProseExtractor, ProvedFinding
from storage.documents.meetings.people import unique_names
from storage.documents.texts.quotes import is_within

_KNOWN = re.compile(r"\W+")


class MeetingFinding(ModelFinding):
    kind: Literal["decision", "action_item", "attendee"]
    description: str = Field(default="", description="action_item: what is to be done, in words of the quote.")
    owner: str = Field(default="", description="action_item: who does it, as the text names them.")
    due_date: str = Field(default="", description="action_item: until when, as the text writes it.")
    done: bool = Field(default=False, description="action_item: whether the text says that it is done.")
    name: str = Field(default="", description="attendee: the name of somebody who was there.")


class ModelMeetingsExtractor(ProseExtractor[MeetingFinding, Meeting]):
    """One meeting for each document, without the findings of rules."""

    name = "model_meetings"
    finds = ExtractType.MEETING
    schema = Meeting
    item = MeetingFinding
    asks = (
        "Where the text records a meeting or a discussion of a group: each decision that was taken (not what was only "
        "proposed, asked or reported), each action item that somebody took on or was given, and each attendee."
    )
    left_out = NO_PROSE | {"epub"}

    def choose(
        self, proved: Sequence[ProvedFinding[MeetingFinding]], known: Sequence[tuple[int, Meeting]], document: Document
    ) -> Iterator[Found | Unproved]:
        meetings = [meeting for _, meeting in known]
        days = [meeting.date for meeting in meetings if meeting.date]
        held_on = date.fromisoformat(days[0]) if days else None
        seen = _SeenItems(meetings)
        new = [item for item in proved if seen.is_new(item)]
        names = []
        for item in new:
            if item.said.kind == "attendee" and is_within(item.said.name, item.quote):
                names.append(item.said.name)
            elif item.said.kind == "attendee":
                yield item.unproved(f"the attendee {item.said.name!r} is not in the quote")
        meeting = Meeting(
            title=document.title[:2_000],
            date=days[0] if len(set(days)) == 1 else None,
            attendees=unique_names(names),
            decisions=tuple(Item(**item.place, text=item.quote) for item in new if item.said.kind == "decision"),
            action_items=tuple(_action(item, held_on) for item in new if item.said.kind == "action_item"),
        )
        if meeting.attendees or meeting.decisions or meeting.action_items:
            yield self.found(new[0].page_number, new[0].span, meeting)


class _SeenItems:
    """The findings of rules and earlier ones of the model; none is given twice."""

    def __init__(self, meetings: Sequence[Meeting]) -> None:
        self._names = {_plain(name) for meeting in meetings for name in meeting.attendees}
        self._texts = {
            "decision": {_plain(item.text) for meeting in meetings for item in meeting.decisions},
            "action_item": {_plain(item.description) for meeting in meetings for item in meeting.action_items},
        }
        self._spans = {
            "decision": [(item.page_number, item.span) for meeting in meetings for item in meeting.decisions],
            "action_item": [(item.page_number, item.span) for meeting in meetings for item in meeting.action_items],
        }

    def is_new(self, item: ProvedFinding[MeetingFinding]) -> bool:
        if item.said.kind == "attendee":
            name = _plain(item.said.name)
            is_new = bool(name) and name not in self._names
            self._names.add(name)
            return is_new
        texts, spans = self._texts[item.said.kind], self._spans[item.said.kind]
        own = {_plain(item.quote), _plain(item.said.description)} - {""}
        if own & texts or any(_overlap(item, *place) for place in spans):
            return False
        texts.update(own)
        spans.append((item.page_number, (item.span.start, item.span.end)))
        return True


def _overlap(item: ProvedFinding[MeetingFinding], page_number: int, span: tuple[int, int]) -> bool:
    return item.page_number == page_number and item.span.start < span[1] and span[0] < item.span.end


def _plain(text: str) -> str:
    return _KNOWN.sub(" ", text.casefold()).strip()


def _action(item: ProvedFinding[MeetingFinding], held_on: date | None) -> ActionItem:
    """Return an action item in the text's own words; other words of the model are dropped."""
    said = item.said
    return ActionItem(
        **item.place,
        description=said.description if is_within(said.description, item.quote) else item.quote,
        owner=said.owner if said.owner and item.is_shown(said.owner) else None,
        due_date=_due(said.due_date, item.quote, held_on),
        done=True if said.done else None,
    )


def _due(due: str, quote: str, held_on: date | None) -> str | None:
    """Return a due day if the quote has it, as written or as the same date."""
    if not due:
        return None
    if is_within(due, quote):
        written = find_date(due)
        return (written.iso(held_on) if written else None) or due
    return due if due in {written.iso(held_on) for written in find_dates(quote)} else None
