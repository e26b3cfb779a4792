"""The proof of a typed answer: lines of a fixed form (`Draft.data_items`), each backed by its footnotes.

A line without a footnote, or with a number that the passages of its footnotes lack, is removed from text and data, and
counted among the gaps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from core.answering.citations import ProvedText, prove, strip_markers
from core.answering.grounding import is_backed, names_only, texts_behind
from core.domain.answer import Citation, DataItem, DataPath, Draft
from core.domain.corpus import Page
from core.domain.replies import CitedText


def prove_typed(draft: Draft, pages: Mapping[str, Page]) -> tuple[Draft, ProvedText]:
    """Return the draft with its proved data and text. Without any proved line, it has no data."""
    proved = prove(draft, pages)
    behind = _with_names(texts_behind(draft, proved), proved.citations)
    kept = _backed(draft.data_items, proved.segments, behind)
    gone = [item for item in draft.data_items if item not in kept]
    if gone:
        proved = prove(_without(draft, gone), pages)
    data = _to_data(draft.data or {}, draft.data_items, gone, proved.segments) if proved.citations else None
    lost = sum(not item.is_heading for item in gone)
    gaps = (*draft.data_gaps, *_left_out(lost))
    return replace(draft, data=data, data_items=(), data_gaps=gaps), proved


def _with_names(behind: Mapping[int, Sequence[str]], citations: Sequence[Citation]) -> dict[int, list[str]]:
    """Add the title and the file name of each cited document: often its only date is there."""
    names = {c.number: [c.document_title, PurePosixPath(c.document).stem] for c in citations}
    return {number: [*texts, *names.get(number, ())] for number, texts in behind.items()}


def _backed(items: Sequence[DataItem], segments: Sequence[str], behind: Mapping[int, Sequence[str]]) -> list[DataItem]:
    """Return the backed items, and the headings that still have one below them.

    A heading needs no footnote of its own; one with an unknown number is removed with everything below it.
    """
    anything = [part for parts in behind.values() for part in parts]
    made_up = [item for item in items if item.is_heading and not names_only(_text(item, segments), anything)]
    stands = [
        item
        for item in items
        if not item.is_heading
        and is_backed(_text(item, segments), behind, needs_footnote=item.needs_footnote)
        and not any(_is_below(item, heading) for heading in made_up)
    ]
    return [
        item
        for item in items
        if item in stands or (item.is_heading and any(_is_below(below, item) for below in stands))
    ]


def _text(item: DataItem, segments: Sequence[str]) -> str:
    return "".join(segments[item.first : item.last + 1])


def _is_below(item: DataItem, heading: DataItem) -> bool:
    depth = len(heading.path)
    return len(item.path) > depth and item.path[:depth] == heading.path


def _without(draft: Draft, gone: Sequence[DataItem]) -> Draft:
    """Empty the segments of removed items, so that places stay."""
    empty = {place for item in gone for place in range(item.first, item.last + 1)}
    segments = (CitedText(text="") if place in empty else item for place, item in enumerate(draft.segments))
    return replace(draft, segments=tuple(segments))


def _to_data(
    data: Mapping[str, object], items: Sequence[DataItem], gone: Sequence[DataItem], segments: Sequence[str]
) -> Mapping[str, object]:
    written: Any = _stripped(data)
    for item in items:
        for place, path in item.strings.items():
            _put(written, path, "" if item in gone else segments[place])
    for item in reversed(gone):  # from the last on: the places of those before it stay
        _take_out(written, item)
    return {str(key): value for key, value in written.items()}


def _stripped(value: object) -> object:
    """A copy without markers: their numbers are the evidence's, not the answer's."""
    match value:
        case str():
            return strip_markers(value)
        case Mapping():
            return {key: _stripped(item) for key, item in value.items()}
        case list() | tuple():
            return [_stripped(item) for item in value]
    return value


def _put(data: Any, path: DataPath, value: object) -> None:
    *above, last = path
    for part in above:
        data = data[part]
    data[last] = value


def _take_out(data: Any, item: DataItem) -> None:
    """Elements of lists go; cells and fields are left empty, and lists under a heading as they are."""
    *above, last = item.path
    for part in above:
        data = data[part]
    if isinstance(last, int) and not item.is_cell:
        del data[last]
    elif isinstance(data[last], str):
        data[last] = ""


def _left_out(count: int) -> tuple[str, ...]:
    if count == 0:
        return ()
    if count == 1:
        return ("One statement was left out, because no passage backs it.",)
    return (f"{count} statements were left out, because no passage backs them.",)
