"""Which workspace a request is about, what it may read there, and whether there is anything to read."""

from aiohttp import web

from bot.web.api.problems import Problem
from bot.web.parts import PARTS, WebParts
from core.domain.corpus import SearchScope
from core.errors import NotFound

AUTHOR = "api"  # who asks and reads over the API
# A workspace that had documents is not looked through again for so long: listing thousands takes a tenth of a second.
FILLED_SECONDS = 30.0
FILLED = web.AppKey("filled", dict[str, float])  # workspace -> until when, on the clock's `monotonic`


def workspace_of(request: web.Request) -> str:
    """The workspace of the address. NotFound when this service does not serve it."""
    workspace = request.match_info["workspace"]
    if workspace != request.app[PARTS].workspace:
        raise NotFound(f"There is no workspace {workspace!r} here: this service has {request.app[PARTS].workspace!r}.")
    return workspace


async def scope_of(parts: WebParts, workspace: str) -> SearchScope:
    """Whoever has the token may read the whole workspace: the one that this service has (see `workspace_of`).

    The API is a reader of its own: what it asks and what it looks up end at the same reading positions.
    """
    return await parts.scope(None, AUTHOR)


async def require_documents(request: web.Request) -> None:
    """Problem 400 while the workspace has no document that could be read."""
    parts, workspace, filled = request.app[PARTS], workspace_of(request), request.app[FILLED]
    if parts.clock.monotonic() < filled.get(workspace, 0.0):
        return
    documents = await parts.library.documents(await scope_of(parts, workspace))
    if not any(document.revision is not None for document in documents):
        raise Problem(
            400, "nothing_indexed", "Nothing is indexed in this workspace yet: add documents with `footnote ingest`."
        )
    filled[workspace] = parts.clock.monotonic() + FILLED_SECONDS
