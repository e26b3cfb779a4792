"""How documents hang together: all of them as a graph, and one with what is around it."""

from collections.abc import Sequence

from aiohttp import web

from bot.web.api.bodies import ListParameters, NoParameters, read_query
from bot.web.api.workspaces import scope_of, workspace_of
from bot.web.pages.connections import CONNECTIONS
from bot.web.parts import PARTS
from core.domain.corpus import Document
from core.domain.features import Neighbour
from core.serializers.objects import Json


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
