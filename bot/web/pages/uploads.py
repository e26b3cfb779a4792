"""Uploads through the browser: files are streamed to disk, links are fetched; both are read in the background.

Only admins can add documents, also where the pages are open to the network.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from urllib.parse import quote

from aiohttp import BodyPartReader, web
from aiohttp_jinja2 import render_template

from bot.web.pages.added_links import YOU, AddedLinks
from bot.web.parts import PARTS, WebParts
from bot.web.requests import as_json, name_of, person_of
from bot.web.security import is_admin
from core.errors import AccessDenied, BadInput
from core.features.additions import Additions
from core.features.uploads import UploadedFile, Uploads, UploadState, size_words
from core.serializers.objects import Json

PATH = "/library/uploads"
LINK_PATH = f"{PATH}/link"
UNDO_PATH = f"{PATH}/undo"
UPLOADS = web.AppKey("uploads", Uploads)
LINKS = web.AppKey("added_links", AddedLinks)
KINDS = "PDF, Word, Markdown, EPUB, spreadsheets, web pages, mail, Foundry worlds"
SHOWN = 200  # files of the list, the newest
WHERE = "web"
_CHUNK_BYTES = 256 * 1024
_LONGEST_FIELD = 4_096  # bytes of a path
_WORDS = {UploadState.WAITING: "waiting", UploadState.READING: "reading"}


def add_uploads(app: web.Application, parts: WebParts, additions: Additions) -> None:
    """Add the routes of uploads and links (a WebAddition)."""
    app[UPLOADS], app[LINKS] = additions.uploads, AddedLinks(additions)
    app.router.add_get(PATH, show_uploads)
    app.router.add_post(PATH, upload)
    app.router.add_post(LINK_PATH, add_link)
    app.router.add_post(UNDO_PATH, undo_link)
    app.cleanup_ctx.append(app[LINKS].run)


def can_change(request: web.Request) -> bool:
    """Return whether this client may add and remove documents."""
    return UPLOADS in request.app and is_admin(request)


def require_admin(request: web.Request) -> None:
    """Raise AccessDenied for others."""
    if not is_admin(request):
        raise AccessDenied("Only an admin can do this. To become one, open a link of “footnote link” here.")


async def show_uploads(request: web.Request) -> web.Response:
    """Show the form and the files of this run of the service; as JSON for the script."""
    require_admin(request)
    if _wants_json(request):
        return await as_json(_state)(request)
    rows = await _rows(request)
    context = {
        "files": rows[::-1],
        "live": any(row["state"] in _WORDS for row in rows),
        "kinds": KINDS,
        "limit": size_words(request.app[UPLOADS].most_bytes),
    }
    return render_template("uploads.html", request, context)


async def upload(request: web.Request) -> web.StreamResponse:
    """Store the files of a form; `path` before a file names its place in a folder."""
    require_admin(request)
    if _wants_json(request):
        return await as_json(_receive)(request)
    await _receive(request)
    raise web.HTTPSeeOther(PATH)


async def add_link(request: web.Request) -> web.StreamResponse:
    """Add the page or file behind an address."""
    url = str((await request.post()).get("url", "")).strip()

    async def add() -> None:
        await request.app[LINKS].add(request.app[PARTS].workspace, url, name_of(request) or YOU)

    return await _change_link(request, add)


async def undo_link(request: web.Request) -> web.StreamResponse:
    """Take a link's document out of the library again."""
    addition_id = str((await request.post()).get("undo", ""))

    async def undo() -> None:
        await request.app[LINKS].undo(request.app[PARTS].workspace, addition_id, name_of(request) or YOU)

    return await _change_link(request, undo)


async def _change_link(request: web.Request, change: Callable[[], Awaitable[None]]) -> web.StreamResponse:
    """Make the change; the script gets the new state, a form leads to the list of files."""
    require_admin(request)

    async def respond(request: web.Request) -> Json:
        await change()
        return await _state(request)

    if _wants_json(request):
        return await as_json(respond)(request)
    await change()
    raise web.HTTPSeeOther(PATH)


async def _rows(request: web.Request) -> list[Json]:
    """Return the files of this run of the service, then the links."""
    files = request.app[UPLOADS].files(request.app[PARTS].workspace)
    links, paths = await request.app[LINKS].rows(files)
    return [to_json(file) for file in files if file.path not in paths][-SHOWN:] + links


async def _state(request: web.Request) -> Json:
    uploads, rows = request.app[UPLOADS], await _rows(request)
    return {
        "files": rows,
        "pending": sum(row["state"] in _WORDS for row in rows),
        "most_bytes": uploads.most_bytes,
        "limit": size_words(uploads.most_bytes),
        "kinds": KINDS,
    }


async def _receive(request: web.Request) -> Json:
    """Store each file; refused ones don't stop the others."""
    if request.content_type != "multipart/form-data":
        raise BadInput("Send the files as a form (multipart/form-data).")
    accepted: list[Json] = []
    refused: list[str] = []
    path = ""
    try:
        parts = await request.multipart()
        while (part := await parts.next()) is not None:
            if not isinstance(part, BodyPartReader):
                raise BadInput("Send each file as a field of its own.")
            if part.name == "path":
                path = (await part.read_chunk(_LONGEST_FIELD)).decode("utf-8", "replace")
            elif part.filename:
                try:
                    accepted.append(to_json(await _accept(request, path or part.filename, part)))
                except BadInput as error:
                    refused.append(str(error))
                path = ""
            await part.release()
    except ValueError as error:  # aiohttp's, for a body that is no form
        raise BadInput("The form is incomplete. Send the files again.") from error
    if not accepted and not refused:
        raise BadInput("Choose at least one file.")
    return {"files": accepted, "refused": refused}


async def _accept(request: web.Request, name: str, part: BodyPartReader) -> UploadedFile:
    async def chunks() -> AsyncIterator[bytes]:
        while chunk := await part.read_chunk(_CHUNK_BYTES):
            yield chunk

    workspace, by = request.app[PARTS].workspace, person_of(request) or ""
    return await request.app[UPLOADS].accept(workspace, name, chunks(), by=by, where=WHERE)


def to_json(file: UploadedFile) -> Json:
    """Return a file with the words that people read."""
    href = f"/library/documents/{quote(file.document_id, safe='')}" if file.state is UploadState.READ else ""
    return {
        "number": file.number,
        "path": file.path,
        "state": file.state.value,
        "words": words_of(file),
        "done": file.page / file.pages if file.pages and not file.state.is_final else None,
        "href": href,
        "undo": "",
    }


def words_of(file: UploadedFile) -> str:
    """Return the state of a file: "reading page 2 of 3", or the reason why it isn't read."""
    if file.reason:
        return file.reason
    if file.state is UploadState.READ:
        return "read, 1 page" if file.pages == 1 else f"read, {file.pages:,} pages"
    if file.state is UploadState.READING and file.pages:
        return f"reading page {file.page:,} of {file.pages:,}"
    return _WORDS[file.state]


def _wants_json(request: web.Request) -> bool:
    return "application/json" in request.headers.get("Accept", "")
