"""Links between documents, documents cited together, and the threads that cite one, within a reader's scope.

Links are the extracted relations ("links to", "embeds"). Each resolves by path or name to a live document. Private
threads are never counted. For a reader with a position in a book, threads that cite it are hidden, because their
titles may reveal more.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

from core.domain.corpus import Document, SearchScope
from core.domain.extracts import Extract, ExtractQuery, ExtractType
from core.domain.features import CitedIn, CitingThread, Connection, DocumentConnections, DocumentGraph, Neighbour
from core.domain.service import TO_THE_END
from core.knowledge.search.documents import DocumentNames, NamesOfWorkspaces
from core.ports import ConversationRepository, CorpusRepository
from core.ports.documents import ExtractRepository
from core.ports.service import CitedRepository

KINDS = ("links to", "embeds")
MOST_LINKS = 50_000  # of a library that are followed
MOST_OF_ONE = 1_000  # of one document, and to one
MOST_RELATED = 10
MOST_THREADS = 50
MOST_DOCUMENTS = 500  # of a graph
# Documents of one conversation that are counted as cited together: a thread about everything connects nothing.
MOST_TOGETHER = 20

_Pair = tuple[str, str]


class Connections:
    def __init__(
        self,
        *,
        extracts: ExtractRepository,
        corpus: CorpusRepository,
        names: NamesOfWorkspaces,
        cited: CitedRepository,
        conversations: ConversationRepository,
    ) -> None:
        self._extracts = extracts
        self._corpus = corpus
        self._names = names
        self._cited = cited
        self._conversations = conversations

    async def of(self, document_id: str, scope: SearchScope) -> DocumentConnections:
        """Return the connections of one document. NotFound outside the scope."""
        document = await self._corpus.get_document(document_id, scope)
        targets = _Targets(await self._names.of(scope.workspace), scope)
        own, to_it, cited = await asyncio.gather(
            self._links(ExtractQuery(document_ids=frozenset({document.id}), limit=MOST_OF_ONE), scope),
            self._links_to(document, scope),
            self._cited_within(scope),
        )
        links_to = Counter(target for _, target in targets.pairs(own) if target != document.id)
        linked_from = Counter(source for source, target in targets.pairs(to_it) if target == document.id)
        linked_from.pop(document.id, None)
        together = Counter[str]()  # in how many conversations each other document is cited together with this one
        for pair, count in _all_together(cited).items():
            if document.id in pair:
                together[pair[1] if pair[0] == document.id else pair[0]] = count
        neighbours = [
            Neighbour(
                document=item, links_to=links_to[item.id], linked_from=linked_from[item.id], together=together[item.id]
            )
            for item in targets.documents({*links_to, *linked_from, *together})
        ]
        neighbours.sort(key=lambda item: (-item.weight, item.document.path))
        return DocumentConnections(
            document=document,
            links=tuple(item for item in neighbours if item.links_to),
            backlinks=tuple(item for item in neighbours if item.linked_from),
            related=tuple(neighbours[:MOST_RELATED]),
            threads=await self._threads(document, cited),
        )

    async def graph(self, scope: SearchScope, most: int = MOST_DOCUMENTS) -> DocumentGraph:
        """The whole library's, cut to the `most` best connected documents."""
        targets = _Targets(await self._names.of(scope.workspace), scope)
        found, cited = await asyncio.gather(
            self._links(ExtractQuery(limit=MOST_LINKS), scope), self._cited_within(scope)
        )
        links = Counter((min(pair), max(pair)) for pair in targets.pairs(found) if pair[0] != pair[1])
        together = _all_together(cited)
        readable = {
            document.id: document for document in targets.documents({id for pair in (*links, *together) for id in pair})
        }
        connections = [
            Connection(first=pair[0], second=pair[1], links=links[pair], together=together[pair])
            for pair in sorted({*links, *together})
            if pair[0] in readable and pair[1] in readable
        ]
        weights: Counter[str] = Counter()
        for item in connections:
            weights.update({item.first: item.links + item.together, item.second: item.links + item.together})
        kept = sorted(weights, key=lambda id: (-weights[id], readable[id].path))[:most]
        shown = set(kept)
        return DocumentGraph(
            documents=tuple(readable[id] for id in kept),
            connections=tuple(item for item in connections if item.first in shown and item.second in shown),
            total=len(weights),
        )

    async def cited_in(self, document: Document, scope: SearchScope) -> tuple[CitingThread, ...]:
        """Return the open threads with answers that cite a document, the last used first; none outside the scope."""
        if not scope.allows(document):
            return ()
        return await self._threads(document, await self._cited_within(scope, document.id))

    async def _cited_within(self, scope: SearchScope, document_id: str | None = None) -> list[CitedIn]:
        """Return citations in open threads, without books that have a reading position."""
        return [
            item
            for item in await self._cited.cited(scope.workspace, document_id)
            if not item.is_private and scope.positions.get(item.document_id, TO_THE_END) >= TO_THE_END
        ]

    async def _links(self, query: ExtractQuery, scope: SearchScope) -> list[Extract]:
        """Relations of the kinds that are links."""
        links: list[Extract] = []
        for kind in KINDS:
            wanted = replace(query, type=ExtractType.RELATION, text=f"{kind} {query.text}")
            found = await self._extracts.list_extracts(wanted, scope)
            links += [extract for extract in found if extract.data.get("kind") == kind]
        return links

    async def _links_to(self, document: Document, scope: SearchScope) -> list[Extract]:
        """Return links that may lead to a document: they contain the words of one of its names."""
        stem = document.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
        names = dict.fromkeys(name.casefold() for name in (stem, document.title, *document.aliases) if name.strip())
        listed = await asyncio.gather(
            *(self._links(ExtractQuery(text=name, limit=MOST_OF_ONE), scope) for name in names)
        )
        return list({extract.id: extract for extracts in listed for extract in extracts}.values())

    async def _threads(self, document: Document, cited: Sequence[CitedIn]) -> tuple[CitingThread, ...]:
        answers = {item.conversation_id: item.answers for item in cited if item.document_id == document.id}
        if not answers:
            return ()
        listed = await self._conversations.list_conversations(document.workspace, document.id)
        citing = [CitingThread(conversation=item, answers=answers[item.id]) for item in listed if item.id in answers]
        return tuple(citing[:MOST_THREADS])


class _Targets:
    """A resolver of links to the documents of a scope; each target is looked up once."""

    def __init__(self, names: DocumentNames, scope: SearchScope) -> None:
        self._names = names
        self._scope = scope
        self._by_id = {document.id: document for document in names.documents if scope.allows(document)}
        self._by_path = {(document.source_id, document.path): document.id for document in self._by_id.values()}
        self._named: dict[str, str | None] = {}

    def pairs(self, links: Iterable[Extract]) -> list[_Pair]:
        """(id of the document with the link, id of the one it leads to); links to nowhere are left out."""
        found = ((link.document_id, self._target(link)) for link in links)
        return [(source, target) for source, target in found if target is not None]

    def documents(self, ids: Iterable[str]) -> list[Document]:
        """Return the readable ones of these IDs."""
        return [self._by_id[id] for id in ids if id in self._by_id]

    def _target(self, link: Extract) -> str | None:
        path = link.data.get("target_document")
        if isinstance(path, str) and (link.source_id, path) in self._by_path:
            return self._by_path[link.source_id, path]
        name = str(link.data.get("target", ""))
        if name not in self._named:
            found = self._names.named(name, self._scope.allows)
            self._named[name] = found.id if found is not None else None
        return self._named[name]


def _all_together(cited: Sequence[CitedIn]) -> Counter[_Pair]:
    by_conversation: dict[str, list[CitedIn]] = {}
    for item in cited:
        by_conversation.setdefault(item.conversation_id, []).append(item)
    pairs: Counter[_Pair] = Counter()
    for items in by_conversation.values():
        items.sort(key=lambda item: (-item.answers, item.document_id))
        pairs.update(combinations(sorted(item.document_id for item in items[:MOST_TOGETHER]), 2))
    return pairs
