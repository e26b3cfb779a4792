"""Lists of the references of an answer: all, named, looked at, undescribed. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from core.domain.answer import Answer, Citation, Draft, Reference, ReferenceType
from core.domain.conversation import Message, Role
from core.domain.corpus import SourcedPassage
from core.domain.incoming import IncomingMessage
from core.knowledge.links import find_links
from core.knowledge.references.linked_context import OPENED
from core.text.markup import preview
from core.text.notation import join_with_and
from core.work.history import FOCUS_IDLE

SNIPPET_LENGTH = 160
SHOWN = 10  # without a click
MOST_IN_FOCUS = 10  # documents of earlier questions that a follow-up searches first
MOST_KEPT = 100  # with a message


def all_references(direct: Sequence[Reference], draft: Draft, citations: Sequence[Citation]) -> tuple[Reference, ...]:
    """Return the documents that the question named, then cited ones, then the others that tools showed, each once.

    At most MOST_KEPT. Documents of earlier turns count if they are cited.
    """
    named = {reference.document_id for reference in direct if reference.document_id}
    found = [item for item in search_references(draft, citations) if item.document_id not in named]
    return (*direct, *found)[:MOST_KEPT]


def search_references(draft: Draft, citations: Sequence[Citation]) -> list[Reference]:
    """Return a reference for each document in the tools' passages, cited ones first, in their order."""
    cited = [citation.document_id for citation in citations]
    shown = {passage.passage.id: passage for passage in _returned(draft)}
    for item in draft.evidence.passages.values():
        if item.source.document.id in cited:
            shown.setdefault(item.source.passage.id, item.source)
    first: dict[str, Reference] = {}
    for passage in shown.values():
        first.setdefault(passage.document.id, _to_reference(passage))
    order = [*(key for key in dict.fromkeys(cited) if key in first), *(key for key in first if key not in cited)]
    return [first[key] for key in order]


def direct_of(references: Iterable[Reference]) -> list[Reference]:
    """Return the references that the question named."""
    return [reference for reference in references if reference.type is ReferenceType.DIRECT]


def looked_at(references: Sequence[Reference], citations: Sequence[Citation]) -> list[Reference]:
    """Return the references that tools found and the answer doesn't cite."""
    by_id = {citation.document_id for citation in citations}
    by_path = {citation.document for citation in citations}  # for references stored before they had ids
    return [
        reference
        for reference in references
        if reference.type is ReferenceType.SEARCH
        and reference.document_id not in by_id
        and (reference.document_id is not None or reference.document not in by_path)
    ]


def labels(references: Iterable[Reference]) -> str:
    """Return names for a sentence: “A”, “B” and “C”."""
    return join_with_and([f"“{reference.label}”" for reference in references])


def _returned(draft: Draft) -> Iterator[SourcedPassage]:
    for turn in draft.new_messages:
        for result in turn.tool_results:
            if result.name != OPENED:
                yield from (item.source for item in result.passages)


def _to_reference(passage: SourcedPassage) -> Reference:
    document, text = passage.document, passage.passage.text
    return Reference(
        type=ReferenceType.SEARCH,
        label=document.title,
        document=document.path,
        document_id=document.id,
        heading=" > ".join(title for title in passage.passage.heading_path if title != document.title),
        snippet=preview(text, document.kind, SNIPPET_LENGTH),
    )


def names_documents(message: IncomingMessage) -> bool:
    """Return whether a question, or the message that it is about, has links or files."""
    texts = [message.text, *([message.about.text] if message.about is not None else [])]
    return bool(message.attachments) or (any("[[" in text for text in texts) and bool(find_links(*texts)))


def undescribed(answer: Answer) -> set[str]:
    """Return the ids of the documents that an answer shows without a line about them."""
    listed = looked_at(answer.references, answer.citations)[:SHOWN]
    return {reference.document_id for reference in listed if reference.document_id and not reference.summary}


def in_focus(history: Sequence[Message], now: datetime) -> list[Reference]:
    """Return references that recent questions named, the last ones first."""
    found: dict[str, Reference] = {}
    for message in reversed(history):
        if message.role is Role.ASSISTANT and now - message.created_at <= FOCUS_IDLE:
            for reference in direct_of(message.references):
                if reference.document_id:
                    found.setdefault(reference.document_id, reference)
    return [*found.values()][:MOST_IN_FOCUS]
