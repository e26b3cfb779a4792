"""Which workspace a request is about, what it may read there, and whether there is anything to read."""

from aiohttp import web

from bot.webchat.api.problems import Problem
from bot.webchat.parts import PARTS, WebParts
from core.access import scope_for
from core.domain.corpus import SearchScope
from core.errors import NotFound


def workspace_of(request: web.Request) -> str:
    """The workspace of the address. NotFound when this service does not serve it."""
    workspace = request.match_info["workspace"]
    if workspace != request.app[PARTS].workspace:
        raise NotFound(f"There is no workspace {workspace!r} here: this service has {request.app[PARTS].workspace!r}.")
    return workspace


async def scope_of(parts: WebParts, workspace: str) -> SearchScope:
    """Whoever has the token may read the whole workspace."""
    return await scope_for(workspace, parts.corpus)


async def require_documents(request: web.Request) -> None:
    """Problem 400 while the workspace has no document that could be read."""
    parts = request.app[PARTS]
    documents = await parts.library.documents(await scope_of(parts, workspace_of(request)))
    if not any(document.revision is not None for document in documents):
        raise Problem(
            400, "nothing_indexed", "Nothing is indexed in this workspace yet: add documents with `footnote ingest`."
        )
