"""From a draft, or an error, to the answer people see: its proved text and data, its status and its notes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.answering.answers.typed import prove_typed
from core.answering.citations import ProvedText, cited_page_ids, prove
from core.answering.grounding import ground, only_says_not_found, texts_behind
from core.domain.answer import Answer, AnswerStatus, Draft, Reference
from core.domain.corpus import Page, SearchScope
from core.errors import Ambiguous, BudgetSpent, FootnoteError, NotFound, ProviderRefused
from core.knowledge.references.lists import all_references, labels
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
    status = AnswerStatus.REFUSED if isinstance(error, ProviderRefused | BudgetSpent) else AnswerStatus.ERROR
    return Answer(status=status, text=str(error))
