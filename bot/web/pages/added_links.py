"""Links that people add in the browser: fetched, read like an uploaded file, and taken back by Undo."""

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from aiohttp import web

from bot.presentation.action_names import Verb
from bot.presentation.additions import AdditionFlow, AdditionView, addition_view
from bot.web.translate import PLATFORM
from core.domain.additions import KEPT, Addition, AdditionState
from core.domain.incoming import ThreadAddress
from core.errors import BadInput
from core.features.additions import Additions, Progress
from core.features.uploads import UploadedFile
from core.serializers.objects import Json

CHANNEL = "library"  # of the requests; no channel of the chat
YOU = "You"
SHOWN = 200  # links, the newest


@dataclass
class AddedLinks:
    """The links of this process's run as they are now: the AdditionPosts of the browser, which posts nothing."""

    additions: Additions
    name: str = PLATFORM
    _shown: OrderedDict[str, tuple[Addition, AdditionView]] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self.flow = AdditionFlow(self.additions, self, asyncio.sleep)

    async def add(self, workspace: str, url: str, by: str, readers: frozenset[str] | None = None) -> Addition:
        """Store a request, and carry it out in the background. Raises BadInput if it is no address of the web."""
        if not url:
            raise BadInput("Paste the address of a page or a file.")
        address = ThreadAddress(platform=PLATFORM, workspace=workspace, channel=CHANNEL, thread="")
        key = f"{PLATFORM}:{secrets.token_hex(16)}"
        addition, _ = await self.additions.request(
            key, address, author=by, author_name=by, is_permitted=True, url=url.strip(), readers=readers
        )

        async def show(view: AdditionView) -> str:
            self._show(addition, view)
            return addition.id

        await self.flow.begin(addition, show)
        return addition

    async def undo(self, workspace: str, addition_id: str, by: str) -> None:
        """Remove the document in the background. Raises InvalidState if there is nothing to undo, and NotFound."""
        addition = await self.additions.get(addition_id, workspace)
        await self.flow.press(Verb.UNDO, addition_id, workspace, by=by, by_name=by, is_permitted=True)
        # Its task has not begun yet, so this is replaced by the outcome.
        self._show(replace(addition, state=AdditionState.READING), AdditionView(text=f"Removing {addition.name}."))

    async def rows(self, files: Sequence[UploadedFile]) -> tuple[list[Json], set[str]]:
        """Return the links, oldest first, and which of the `files` of the uploads are theirs."""
        found, rows, paths = {file.path: file for file in files}, [], set()
        for shown, view in list(self._shown.values()):
            addition = shown
            if not shown.state.is_final:  # its post is changed rarely
                addition = await self.additions.get(shown.id, shown.workspace)
            file = found.get(addition.path)
            if addition.state in KEPT and file is not None:
                paths.add(file.path)
            if not addition.state.is_final:
                seen = (file.page, file.pages, file.reason) if file else (0, 0, "")
                now = Progress(addition=addition, page=seen[0], pages=seen[1], reason=seen[2])
                view = addition_view(now, self.plain)
            rows.append(_to_row(shown, view, file))
        return rows, paths

    async def run(self, app: web.Application) -> AsyncIterator[None]:
        """Continue the links of an earlier process (a cleanup context of aiohttp)."""
        await self.flow.resume()
        yield
        await self.flow.close()

    def plain(self, text: str) -> str:
        return text  # pages show it as it is

    async def post(self, addition: Addition, view: AdditionView) -> str:
        self._show(addition, view)
        return addition.id

    async def edit(self, addition: Addition, view: AdditionView) -> None:
        self._show(addition, view)

    async def open_file(self, addition: Addition) -> AsyncIterator[bytes]:
        chunks: tuple[bytes, ...] = ()  # only links are added here, which are fetched
        for chunk in chunks:
            yield chunk

    def _show(self, addition: Addition, view: AdditionView) -> None:
        self._shown[addition.id] = addition, view
        while len(self._shown) > SHOWN:
            self._shown.popitem(last=False)


def _to_row(addition: Addition, view: AdditionView, file: UploadedFile | None) -> Json:
    """Return a link with the sentence that people read, in the form of a file's row."""
    is_read = addition.state is AdditionState.READ
    is_open = not addition.state.is_final
    return {
        "number": addition.id,
        "path": "",  # the sentence has the address
        "state": "reading" if is_open else addition.state.value,
        "words": view.text,
        "done": file.page / file.pages if is_open and file and file.pages else None,
        "href": f"/library/documents/{quote(addition.document_id, safe='')}" if is_read else "",
        "undo": addition.id if view.buttons else "",
    }
