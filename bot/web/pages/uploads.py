"""Uploads through the browser: files are streamed to disk, links are fetched; both are read in the background.

Only admins can add documents, also where the pages are open to the network.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from urllib.parse import quote

from aiohttp import BodyPartReader, web
from aiohttp_jinja2 import render_template

from bot.web.api.platform import PLATFORM as API_PLATFORM
from bot.web.pages.added_links import YOU, AddedLinks
from bot.web.parts import PARTS, WebParts
from bot.web.requests import as_json, name_of, person_of
from bot.web.security import is_admin
from core.domain.readers import READER_FORMS, parse_readers, readers_label
from core.errors import AccessDenied, BadInput
from core.features.additions import Additions
from core.features.upload_files import size_words
from core.features.uploads import UploadedFile, Uploads, UploadState
from core.ports.service import Audiences
from core.serializers.objects import Json

PATH = "/library/uploads"
LINK_PATH = f"{PATH}/link"
UNDO_PATH = f"{PATH}/undo"
UPLOADS = web.AppKey("uploads", Uploads)
AUDIENCES = web.AppKey("audiences", dict[str, Audiences])  # by platform
ALL, SOME, NOBODY = "all", "some", "nobody"  # choices of readers
_CHOICES = {
    ALL: "Everyone who may read added documents",
    SOME: "Certain channels, roles, groups or people of these",
    NOBODY: "Nobody in chats",
}
UNSAID = "Say who may read them in chats, then add them again."
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
    app[AUDIENCES] = additions.access.audiences
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
        "upload_readers": await upload_readers(request),
        "reader_choices": reader_choices(request),
        "reader_forms": READER_FORMS,
    }
    return render_template("uploads.html", request, context)


async def upload_readers(request: web.Request) -> str:
    """Return who may read added documents in chats, in words; "" where none can be added."""
    if UPLOADS not in request.app:
        return ""
    return readers_label(await request.app[UPLOADS].readers(request.app[PARTS].workspace))


def reader_choices(request: web.Request) -> Mapping[str, str]:
    """Return who may be chosen to read added documents in chats, with labels; none if nobody else can read any."""
    return _CHOICES if UPLOADS in request.app and request.app[AUDIENCES].keys() - {API_PLATFORM} else {}


async def _chosen(request: web.Request, fields: Mapping[str, str]) -> frozenset[str] | None:
    """Return the readers that a form names; None if it needn't. BadInput without a choice where others can read."""
    choice, words = fields.get("readers", ""), fields.get("only_readers", "").replace(",", " ").split()
    if choice == ALL:
        return await request.app[UPLOADS].readers(request.app[PARTS].workspace)
    if choice == SOME and not words:
        raise BadInput(f"Enter who may read it: {READER_FORMS}.")
    if choice in (SOME, NOBODY):
        return parse_readers(words if choice == SOME else ())
    if reader_choices(request):
        raise BadInput(UNSAID)
    return None


async def upload(request: web.Request) -> web.StreamResponse:
    """Store the files of a form; `path` before a file names its place in a folder."""
    require_admin(request)
    if _wants_json(request):
        return await as_json(_receive)(request)
    await _receive(request)
    raise web.HTTPSeeOther(PATH)


async def add_link(request: web.Request) -> web.StreamResponse:
    """Add the page or file behind an address."""
    fields = {name: str(value) for name, value in (await request.post()).items()}

    async def add() -> None:
        readers = await _chosen(request, fields)
        url = fields.get("url", "").strip()
        await request.app[LINKS].add(request.app[PARTS].workspace, url, name_of(request) or YOU, readers)

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
        "readers": reader_choices(request),
        "forms": READER_FORMS,
    }


async def _receive(request: web.Request) -> Json:
    """Store each file; refused ones don't stop the others."""
    if request.content_type != "multipart/form-data":
        raise BadInput("Send the files as a form (multipart/form-data).")
    accepted: list[Json] = []
    refused: list[str] = []
    fields: dict[str, str] = {}
    try:
        parts = await request.multipart()
        while (part := await parts.next()) is not None:
            if not isinstance(part, BodyPartReader):
                raise BadInput("Send each file as a field of its own.")
            if part.name in ("path", "readers", "only_readers"):
                fields[part.name] = (await part.read_chunk(_LONGEST_FIELD)).decode("utf-8", "replace")
            elif part.filename:
                readers = await _chosen(request, fields)
                try:
                    name = fields.pop("path", "") or part.filename
                    accepted.append(to_json(await _accept(request, name, part, readers)))
                except BadInput as error:
                    refused.append(str(error))
            await part.release()
    except ValueError as error:  # aiohttp's, for a body that is no form
        raise BadInput("The form is incomplete. Send the files again.") from error
    if not accepted and not refused:
        raise BadInput("Choose at least one file.")
    return {"files": accepted, "refused": refused}


async def _accept(
    request: web.Request, name: str, part: BodyPartReader, readers: frozenset[str] | None
) -> UploadedFile:
    async def chunks() -> AsyncIterator[bytes]:
        while chunk := await part.read_chunk(_CHUNK_BYTES):
            yield chunk

    workspace, by = request.app[PARTS].workspace, person_of(request) or ""
    return await request.app[UPLOADS].accept(workspace, name, chunks(), readers=readers, by=by, where=WHERE)


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
