"""search, pages, documents and jobs: what the library holds, and how an answer was made."""

from collections.abc import Sequence

from aiohttp import web

from bot.web.api.bodies import ListParameters, NoParameters, SearchParameters, read_query
from bot.web.api.workspaces import require_documents, scope_of, workspace_of
from bot.web.parts import PARTS
from core.domain.corpus import SearchQuery
from core.domain.jobs import Job
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
