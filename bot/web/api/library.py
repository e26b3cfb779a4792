"""The API's library: search, pages, documents, extracts, connections and jobs."""

from collections.abc import Sequence

from aiohttp import web

from bot.web import queries
from bot.web.api.auth import is_own, reading, require_documents, workspace_of
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
from bot.web.queries import MOST_FACTS, ExtractsRequest, FactsRequest, SearchRequest
from core.answering.redaction import Histories
from core.domain.corpus import Document
from core.domain.features import Neighbour
from core.domain.jobs import Job
from core.serializers.library import document_json, facts_json, ontology_json
from core.serializers.objects import Json, job_json, job_tree_json


async def search(request: web.Request) -> web.Response:
    """Search pages by meaning and by words, best first."""
    parts, scope = await reading(request)
    asked = read_query(request, SearchParameters)
    await require_documents(request)
    wanted = SearchRequest(query=asked.query, limit=asked.limit, kind=asked.kind, document=asked.document)
    return web.json_response((await queries.search(parts, scope, wanted)).to_json())


async def get_page(request: web.Request) -> web.Response:
    parts, scope = await reading(request)
    read_query(request, NoParameters)
    view = await parts.library.page(request.match_info["page_id"], scope)
    return web.json_response((await queries.show_page(parts, scope, view)).to_json())


async def list_documents(request: web.Request) -> web.Response:
    """List documents by source, then path, with a reason for each that couldn't be read."""
    parts, scope = await reading(request)
    read_query(request, NoParameters)
    return web.json_response({"documents": [document_json(item) for item in await parts.library.documents(scope)]})


async def list_extracts(request: web.Request) -> web.Response:
    """List extracts by document and place; with a filter, those with a matching row, and these rows."""
    parts, scope = await reading(request)
    asked = read_query(request, ExtractParameters)
    query = parts.facts.read(asked.filter, MOST_FACTS) if asked.filter is not None else None
    wanted = ExtractsRequest(type=asked.type, document=asked.document, filter=query, limit=asked.limit)
    found = (await queries.list_extracts(parts, scope, wanted)).to_json()
    return web.json_response(found if query is None else {k: v for k, v in found.items() if k != "warnings"})


async def find_facts(request: web.Request) -> web.Response:
    """Return the rows that fit a question, each with its footnote."""
    parts, scope = await reading(request)
    asked = read_query(request, FactParameters)
    wanted = FactsRequest(query=parts.facts.read(asked.query, asked.limit), document=asked.document)
    return web.json_response(facts_json(await queries.find_facts(parts, scope, wanted)))


async def get_ontology(request: web.Request) -> web.Response:
    """Return the kinds of entities and relations, and the aliases of each entity."""
    parts, scope = await reading(request)
    read_query(request, NoParameters)
    return web.json_response(ontology_json(await parts.facts.ontology(scope)))


async def list_jobs(request: web.Request) -> web.Response:
    """List the newest requests, without the jobs below them."""
    parameters = read_query(request, ListParameters)
    trees = await request.app[PARTS].jobs.recent(workspace_of(request), parameters.limit)
    return web.json_response({"jobs": [job_json(tree[0], tree) for tree in trees if tree]})


async def get_job(request: web.Request) -> web.Response:
    """Return the whole tree that a job belongs to: a list with the root first, and the nested IDs."""
    read_query(request, NoParameters)
    parts, scope = await reading(request)
    tree = await parts.jobs.tree(request.match_info["job_id"], scope.workspace)
    shown = await Histories(parts.conversations, parts.corpus).show_jobs(tree, scope)
    return web.json_response({"jobs": job_tree_json(shown), "tree": _nested(tree[0], tree)})


async def get_graph(request: web.Request) -> web.Response:
    """Return the best connected documents, and the connections between them."""
    _, scope = await reading(request)
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
    """Return a document's links, backlinks, related documents and citing threads."""
    _, scope = await reading(request)
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
                if is_own(request, item.conversation.owner, item.conversation.address.platform)
            ],
        }
    )


def _nested(job: Job, tree: Sequence[Job]) -> Json:
    children = [_nested(child, tree) for child in tree if child.parent_id == job.id]
    return {"id": job.id, "name": job.name, "status": job.status.value, "children": children}


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
