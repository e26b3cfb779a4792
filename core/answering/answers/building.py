"""From a draft, or an error, to the answer people see: its proved text and data, its status and its notes.

A typed answer is lines of a fixed form (`Draft.data_items`). A line without a footnote, or with a number that the
passages of its footnotes lack, is removed from text and data, and counted among the gaps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.answering.citations import ProvedText, cited_page_ids, prove, strip_markers
from core.answering.grounding import ground, is_backed, names_only, only_says_not_found, texts_behind
from core.domain.answer import Answer, AnswerStatus, DataItem, DataPath, Draft, Reference
from core.domain.chat import CitedText
from core.domain.corpus import Page, SearchScope
from core.errors import Ambiguous, FootnoteError, NotFound, ProviderRefused
from core.knowledge.references.service import all_references, labels
from core.ports import CorpusRepository


async def live_pages(draft: Draft, corpus: CorpusRepository, scope: SearchScope) -> Mapping[str, Page]:
    """Return pages by id, within scope, without those replaced or removed while the draft was written."""
    pages: dict[str, Page] = {}
    for page_id in cited_page_ids(draft):
        try:
            pages[page_id] = await corpus.get_page(page_id, scope)
        except NotFound:
            continue  # its claims lose their footnotes
    return pages


def prove_draft(draft: Draft, pages: Mapping[str, Page]) -> tuple[Draft, ProvedText]:
    """Return the draft, with the proved part of its data, and its proved text."""
    return (draft, prove(draft, pages)) if draft.data is None else prove_typed(draft, pages)


PARTIAL_NOTE = "(Incomplete: I reached a limit before I finished searching. This answer uses what I had found by then.)"
UNANSWERABLE = "None of the tools can look this up:"
NOT_FROM_DOCUMENTS = "(This is not from the documents.)"


def build_answer(draft: Draft, proved: ProvedText, direct: Sequence[Reference], question: str) -> Answer:
    """Build the answer of a draft: proved footnotes, marked unsupported claims, and the status that follows."""
    references = all_references(direct, draft, proved.citations)
    common = Answer(
        status=AnswerStatus.ANSWERED,
        text=proved.text.strip(),
        citations=proved.citations,
        references=references,
        partial=draft.partial,
        response_type=draft.response_type,
        data=draft.data,
        data_sources=_data_sources(draft, proved),
        data_gaps=draft.data_gaps,
        usage=draft.usage,
        model=draft.model,
    )
    if draft.unanswerable:
        text = f"{UNANSWERABLE} {draft.unanswerable}"
        return replace(common, status=AnswerStatus.NOT_FOUND, text=text, data_gaps=(draft.unanswerable,))
    if draft.choices:
        return replace(common, status=AnswerStatus.CLARIFY, choices=draft.choices, citations=())
    behind = texts_behind(draft, proved)
    grounding = ground(common.text, behind, question)
    if proved.citations:
        notes = [PARTIAL_NOTE] * draft.partial
        text = "\n\n".join([grounding.text, *notes, *draft.notes])
        return replace(common, text=text, unsupported=grounding.unsupported, grounded=not grounding.unsupported)
    if draft.evidence.searches or draft.new_messages:
        text = common.text if only_says_not_found(common.text) else _not_found(draft, references)
        return replace(common, status=AnswerStatus.NOT_FOUND, text="\n\n".join([text, *draft.notes]))
    return replace(common, text="\n\n".join([common.text, NOT_FROM_DOCUMENTS, *draft.notes]))


def _data_sources(draft: Draft, proved: ProvedText) -> tuple[str, ...]:
    """Paths of the documents that typed data is proved from."""
    return tuple(dict.fromkeys(c.document for c in proved.citations)) if draft.data is not None else ()


def _not_found(draft: Draft, references: Sequence[Reference]) -> str:
    searches = ", ".join(f"“{search}”" for search in dict.fromkeys(draft.evidence.searches))
    text = "I couldn't find an answer in the documents."
    text += f" I searched for {searches}." if searches else ""
    return f"{text} Closest matches: {labels(references[:3])}." if references else text


def bounded(answer: Answer, positions: Mapping[str, int]) -> Answer:
    """Add the reading positions of the answer, which its follow-ups keep to."""
    citations = tuple(replace(item, last_page=positions.get(item.document_id)) for item in answer.citations)
    return replace(answer, citations=citations, read_to=dict(positions))


def with_notes(answer: Answer, notes: Sequence[str]) -> Answer:
    """Add notes about failed preparations, for people and for programs."""
    if not notes:
        return answer
    return replace(answer, text="\n\n".join([answer.text, *notes]).strip(), data_gaps=(*answer.data_gaps, *notes))


def build_error_answer(error: FootnoteError) -> Answer:
    """An error people can act on, as the answer they see."""
    if isinstance(error, Ambiguous):
        return Answer(status=AnswerStatus.CLARIFY, text=str(error), choices=error.candidates)
    status = AnswerStatus.REFUSED if isinstance(error, ProviderRefused) else AnswerStatus.ERROR
    return Answer(status=status, text=str(error))


def prove_typed(draft: Draft, pages: Mapping[str, Page]) -> tuple[Draft, ProvedText]:
    """Return the draft with its proved data and text. Without any proved line, it has no data."""
    proved = prove(draft, pages)
    behind = texts_behind(draft, proved)
    kept = _backed(draft.data_items, proved.segments, behind)
    gone = [item for item in draft.data_items if item not in kept]
    if gone:
        proved = prove(_without(draft, gone), pages)
    data = _to_data(draft.data or {}, draft.data_items, gone, proved.segments) if proved.citations else None
    lost = sum(not item.is_heading for item in gone)
    gaps = (*draft.data_gaps, *_left_out(lost))
    return replace(draft, data=data, data_items=(), data_gaps=gaps), proved


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
