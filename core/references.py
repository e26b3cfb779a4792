"""References: the documents a question names by [[wikilink]], and those the tools found. Never proof, always a hint."""

import re
from collections.abc import Iterable, Sequence

from core.domain.answer import Citation, Evidence, Reference, ReferenceType
from core.domain.corpus import Document, SearchScope
from core.errors import BadInput, NotFound
from core.library import Library
from core.texts import code_spans, shorten

WIKILINK = re.compile(r"(?<!\\)!?\[\[([^\[\]\n]+)\]\]")
SNIPPET_LENGTH = 160
# More than this is a list, not a hint; what is left out is reachable by `search`.
SEARCH_REFERENCES = 10


def find_wikilinks(text: str) -> list[str]:
    """Targets of [[wikilinks]] in order, each once, without heading and label; links in code are code."""
    code = code_spans(text)
    targets = [
        re.split(r"[#|]", match.group(1))[0].strip()
        for match in WIKILINK.finditer(text)
        if not any(span.start <= match.start() < span.end for span in code)
    ]
    return list(dict.fromkeys(target for target in targets if target))


async def direct_references(
    question: str, library: Library, scope: SearchScope
) -> tuple[list[Reference], list[Document]]:
    """One reference a wikilink of the question, and the documents that were found. A link to nothing is `broken`."""
    references: list[Reference] = []
    documents: list[Document] = []
    for target in find_wikilinks(question):
        try:
            document = await library.find_document(target, scope)
        except (NotFound, BadInput) as error:
            references.append(
                Reference(
                    type=ReferenceType.DIRECT, label=f"[[{target}]]", document=None, summary=str(error), broken=True
                )
            )
            continue
        documents.append(document)
        references.append(
            Reference(type=ReferenceType.DIRECT, label=f"[[{target}]]", document=document.path, summary=document.title)
        )
    return references, documents


def search_references(evidence: Evidence, citations: Sequence[Citation]) -> list[Reference]:
    """One reference a document that the tools showed: cited ones first, then in the order they were found."""
    first: dict[str, Reference] = {}
    for item in evidence.passages.values():
        document = item.source.document
        first.setdefault(
            document.id,
            Reference(
                type=ReferenceType.SEARCH,
                label=document.title,
                document=document.path,
                summary=" > ".join(title for title in item.source.passage.heading_path if title != document.title),
                snippet=shorten(item.source.passage.text, SNIPPET_LENGTH),
            ),
        )
    cited = dict.fromkeys(citation.document_id for citation in citations)
    order = [*(key for key in cited if key in first), *(key for key in first if key not in cited)]
    return [first[key] for key in order][:SEARCH_REFERENCES]


def labels(references: Iterable[Reference]) -> str:
    """Names for a sentence: “A”, “B” and “C”."""
    names = [f"“{reference.label}”" for reference in references]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
