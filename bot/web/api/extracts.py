"""extracts, facts and the ontology: the data that was found in documents, within what may be read."""

from aiohttp import web

from bot.web.api.bodies import ExtractParameters, FactParameters, NoParameters, read_query
from bot.web.api.workspaces import scope_of, workspace_of
from bot.web.parts import PARTS
from core.domain.corpus import SearchScope
from core.domain.extracts import ExtractQuery
from core.knowledge.facts import of_extracts
from core.knowledge.library import Library
from core.serializers.extracts import extract_json, facts_json, ontology_json, troubles_json
from core.serializers.objects import Json

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
