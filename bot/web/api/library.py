"""The API's library: search, pages, documents, extracts, connections and jobs."""

from collections.abc import Sequence

from aiohttp import web

from bot.web.api.auth import require_documents, scope_of, workspace_of
from bot.web.api.bodies import (
    ExtractParameters,
    FactParameters,
    ListParameters,
    NoParameters,
    SearchParameters,
    read_query,
)
from bot.web.pages.library import CONNECTIONS
from bot.web.parts import PARTS
from core.domain.corpus import Document, SearchQuery, SearchScope
from core.domain.extracts import ExtractQuery
from core.domain.features import Neighbour
from core.domain.jobs import Job
from core.knowledge.facts import of_extracts
from core.knowledge.library import Library
from core.serializers.extracts import extract_json, facts_json, ontology_json, troubles_json
from core.serializers.objects import Json, document_json, job_json, page_hit_json, page_json


async def search(request: web.Request) -> web.Response:
    """Pages by meaning and by words, best first."""
    parts, workspace = request.app[PARTS], workspace_of(request)
    asked = read_query(request, SearchParameters)
    await require_documents(request)
    scope = await scope_of(parts, workspace)
    document = await parts.library.find_document(asked.document, scope) if asked.document else None
    ids = frozenset({document.id}) if document else frozenset[str]()
    query = SearchQuery(text=asked.query, limit=asked.limit, kind=asked.kind, document_ids=ids)
    hits = await parts.library.search(query, scope)
    summaries = await parts.facts.summaries(hits, scope)
    return web.json_response({"hits": [page_hit_json(hit, summaries) for hit in hits]})


async def get_page(request: web.Request) -> web.Response:
    parts = request.app[PARTS]
    scope = await scope_of(parts, workspace_of(request))
    read_query(request, NoParameters)
    view = await parts.library.page(request.match_info["page_id"], scope)
    return web.json_response(page_json(view, await parts.facts.of_pages([view.page.id], scope)))


async def list_documents(request: web.Request) -> web.Response:
    """By source, then path; failed ones with their reason."""
    parts = request.app[PARTS]
    scope = await scope_of(parts, workspace_of(request))
    read_query(request, NoParameters)
    return web.json_response({"documents": [document_json(item) for item in await parts.library.documents(scope)]})


async def list_jobs(request: web.Request) -> web.Response:
    """The newest requests, without what is below them."""
    parameters = read_query(request, ListParameters)
    trees = await request.app[PARTS].jobs.recent(workspace_of(request), parameters.limit)
    return web.json_response({"jobs": [job_json(tree[0], tree) for tree in trees if tree]})


async def get_job(request: web.Request) -> web.Response:
    """The whole tree that a job belongs to: its jobs as a list, the root first, and their ids nested."""
    read_query(request, NoParameters)
    tree = await request.app[PARTS].jobs.tree(request.match_info["job_id"], workspace_of(request))
    return web.json_response({"jobs": [job_json(job, tree) for job in tree], "tree": _nested(tree[0], tree)})


def _nested(job: Job, tree: Sequence[Job]) -> Json:
    children = [_nested(child, tree) for child in tree if child.parent_id == job.id]
    return {"id": job.id, "name": job.name, "status": job.status.value, "children": children}


MOST_FACTS = 10_000  # rows that a filter looks through for their extracts


async def list_extracts(request: web.Request) -> web.Response:
    """By document and place; with a filter those with a row that fits, and these rows."""
    parts = request.app[PARTS]
    scope = await scope_of(parts, workspace_of(request))
    asked = read_query(request, ExtractParameters)
    ids = await _ids(parts.library, asked.document, scope)
    if asked.filter is None:
        query = ExtractQuery(type=asked.type, document_ids=ids, limit=asked.limit)
        listed = await parts.facts.list_extracts(query, scope)
        told = {"warnings": troubles_json(await parts.facts.troubles(scope, ids))}
        return web.json_response({"extracts": [extract_json(item) for item in listed], **told})
    found = await parts.facts.find(of_extracts(parts.facts.read(asked.filter, MOST_FACTS), asked.type), scope, ids)
    fitting = {row.fact.extract.id: row.fact.extract for row in found.rows}
    listing: list[Json] = [extract_json(item) for item in list(fitting.values())[: asked.limit]]
    return web.json_response({"extracts": listing, **facts_json(found)})


async def find_facts(request: web.Request) -> web.Response:
    """Rows that fit a question, each with its footnote."""
    parts = request.app[PARTS]
    scope = await scope_of(parts, workspace_of(request))
    asked = read_query(request, FactParameters)
    ids = await _ids(parts.library, asked.document, scope)
    return web.json_response(facts_json(await parts.facts.find(parts.facts.read(asked.query, asked.limit), scope, ids)))


async def get_ontology(request: web.Request) -> web.Response:
    """Kinds of entities and relations, and other names of the same thing."""
    parts = request.app[PARTS]
    scope = await scope_of(parts, workspace_of(request))
    read_query(request, NoParameters)
    return web.json_response(ontology_json(await parts.facts.ontology(scope)))


async def _ids(library: Library, name: str | None, scope: SearchScope) -> frozenset[str]:
    return frozenset({(await library.find_document(name, scope)).id}) if name else frozenset()


async def get_graph(request: web.Request) -> web.Response:
    """The best connected documents, and the connections between them."""
    scope = await scope_of(request.app[PARTS], workspace_of(request))
    graph = await request.app[CONNECTIONS].graph(scope, read_query(request, ListParameters).limit)
    return web.json_response(
        {
            "documents": [_document(item) for item in graph.documents],
            "connections": [
                {"documents": [item.first, item.second], "links": item.links, "cited_together": item.together}
                for item in graph.connections
            ],
            "total": graph.total,
        }
    )


async def get_connections(request: web.Request) -> web.Response:
    """Links, backlinks, related documents and citing threads of one."""
    scope = await scope_of(request.app[PARTS], workspace_of(request))
    read_query(request, NoParameters)
    found = await request.app[CONNECTIONS].of(request.match_info["document_id"], scope)
    return web.json_response(
        {
            "document": _document(found.document),
            "links": _neighbours(found.links),
            "backlinks": _neighbours(found.backlinks),
            "related": _neighbours(found.related),
            "threads": [
                {
                    "conversation_id": item.conversation.id,
                    "title": item.conversation.title,
                    "thread": str(item.conversation.address),
                    "answers": item.answers,
                    "last_message_at": item.conversation.last_message_at.isoformat(),
                }
                for item in found.threads
            ],
        }
    )


def _neighbours(neighbours: Sequence[Neighbour]) -> list[Json]:
    return [
        {
            **_document(item.document),
            "links_to": item.links_to,
            "linked_from": item.linked_from,
            "cited_together": item.together,
        }
        for item in neighbours
    ]


def _document(document: Document) -> Json:
    return {"id": document.id, "document": document.path, "title": document.title, "source": document.source}
