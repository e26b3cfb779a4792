"""The references of an answer: what the question named, and what its tools looked at. Hints, never proof. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from core.domain.answer import Citation, Draft, Reference, ReferenceType
from core.domain.corpus import SourcedPassage
from core.knowledge.references.linked_context import OPENED
from core.knowledge.references.one_line import preview

SNIPPET_LENGTH = 160
# Shown at once; the rest opens.
SHOWN = 10
# Kept with a message: whoever looks at more than these has a search for it.
MOST_KEPT = 100


def all_references(direct: Sequence[Reference], draft: Draft, citations: Sequence[Citation]) -> tuple[Reference, ...]:
    """What the question named, then what was cited besides, then what the tools showed, each document once.

    At most MOST_KEPT. What earlier turns showed counts where it is cited.
    """
    named = {reference.document_id for reference in direct if reference.document_id}
    found = [item for item in search_references(draft, citations) if item.document_id not in named]
    return (*direct, *found)[:MOST_KEPT]


def search_references(draft: Draft, citations: Sequence[Citation]) -> list[Reference]:
    """One reference for each document that a tool of the run returned passages of, cited ones first, in their order."""
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
    """Those that the question named."""
    return [reference for reference in references if reference.type is ReferenceType.DIRECT]


def looked_at(references: Sequence[Reference], citations: Sequence[Citation]) -> list[Reference]:
    """Those that were found and not cited; what the question named is told apart."""
    by_id = {citation.document_id for citation in citations}
    by_path = {citation.document for citation in citations}  # of references of the time before they had ids
    return [
        reference
        for reference in references
        if reference.type is ReferenceType.SEARCH
        and reference.document_id not in by_id
        and (reference.document_id is not None or reference.document not in by_path)
    ]


def labels(references: Iterable[Reference]) -> str:
    """Names for a sentence: “A”, “B” and “C”."""
    names = [f"“{reference.label}”" for reference in references]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _returned(draft: Draft) -> Iterator[SourcedPassage]:
    """What the tools gave in all rounds of the run, in their order."""
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
