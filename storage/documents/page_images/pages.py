"""Images of PDF pages for people and models, drawn in a child process with limits."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections import OrderedDict
from pathlib import Path
from time import monotonic

from core.domain.chat import PageImage, PagePart
from core.domain.corpus import Document, Page, Source
from core.domain.passages import PageBox, Span
from core.errors import NotFound
from core.ports import CorpusRepository
from storage.documents.files import SourceFile, stamp_of
from storage.documents.page_images.boxes import boxes_of_words

KEPT_BYTES = 24 * 1024 * 1024  # of pictures in memory: some 300 pages
AT_ONCE = 2  # children drawing: each takes a core
SECONDS = 120.0  # for one page by the clock; the child limits its processor time, which takes longer where all is busy
MODEL_PIXELS = 1_568  # of a picture's longer side: vendors shrink larger ones, after charging for them
FAILED_SECONDS = 600.0  # before drawing a failed page again
FAILURES = 1_000  # remembered
NO_PICTURE = "This page can't be shown as a picture."
_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "LD_LIBRARY_PATH")

KEPT_BOXES = 2_000  # quotes whose places are remembered
KEPT_PAGES = 100  # scanned pages whose words are remembered, some 30 KB each
NO_WIDTH = "0"  # of a picture: asks the child for boxes
WORDS = "-1"  # in its place: for the words of a scanned page

_Key = tuple[str, str, int, int]  # document, revision, page, width
_Place = tuple[str, str, int, Span]  # document, revision, page, part of its text
_Words = tuple[tuple[str, PageBox], ...]


class Pictures:
    """Draws pages of PDFs whose files are unchanged since they were read; with `has_ocr`, finds words on scans."""

    def __init__(self, *, has_ocr: bool = False) -> None:
        self.has_ocr = has_ocr
        self._kept: OrderedDict[_Key, bytes] = OrderedDict()
        self._failed: OrderedDict[_Key, float] = OrderedDict()  # when, by the monotonic clock
        self._room = asyncio.Semaphore(AT_ONCE)
        self._boxes: OrderedDict[_Place, tuple[PageBox, ...]] = OrderedDict()
        self._finding = asyncio.Semaphore(AT_ONCE)  # its own: a page waits for its boxes, not for pictures of others
        self._words: OrderedDict[tuple[str, str, int], _Words] = OrderedDict()
        self._recognising = asyncio.Lock()  # one page at a time: it takes all cores

    async def of_page(self, source: Source, document: Document, page: Page, width: int) -> bytes:
        """Return the page as WebP. Raises NotFound if the file is missing, has changed, or can't be drawn."""
        key = (document.id, page.revision, page.number, width)
        if key not in self._kept:
            file = await asyncio.to_thread(_unchanged_file, source, document)
            async with self._room:
                await self._draw(key, file)
        self._kept.move_to_end(key)
        return self._kept[key]

    async def boxes_of(self, source: Source, document: Document, page: Page, span: Span) -> tuple[PageBox, ...]:
        key = (document.id, page.revision, page.number, span)
        if key not in self._boxes:
            file = await asyncio.to_thread(_unchanged_file, source, document)
            async with self._finding:
                if key not in self._boxes:
                    self._boxes[key] = await _find_boxes(file, page, span)
            while len(self._boxes) > KEPT_BOXES:
                self._boxes.popitem(last=False)
        self._boxes.move_to_end(key)
        return self._boxes[key]

    async def boxes_on_scan(self, source: Source, document: Document, page: Page, span: Span) -> tuple[PageBox, ...]:
        if not self.has_ocr:
            return ()
        key = (document.id, page.revision, page.number)
        if key not in self._words:
            file = await asyncio.to_thread(_unchanged_file, source, document)
            async with self._recognising:
                if key not in self._words:
                    self._words[key] = await _find_words(file, page)
            while len(self._words) > KEPT_PAGES:
                self._words.popitem(last=False)
        self._words.move_to_end(key)
        return tuple(await asyncio.to_thread(boxes_of_words, self._words[key], page.text, span))

    async def _draw(self, key: _Key, file: Path) -> None:
        """Draw it, unless another task did while this one waited, or it failed recently."""
        if key in self._kept:
            return
        if monotonic() - self._failed.get(key, -FAILED_SECONDS) < FAILED_SECONDS:
            raise NotFound(NO_PICTURE)
        try:
            self._keep(key, await _draw(file, *key[2:]))
        except NotFound:
            self._failed[key] = monotonic()
            while len(self._failed) > FAILURES:
                self._failed.popitem(last=False)
            raise

    def _keep(self, key: _Key, picture: bytes) -> None:
        self._kept[key] = picture
        size = sum(map(len, self._kept.values()))
        while size > KEPT_BYTES and len(self._kept) > 1:
            size -= len(self._kept.popitem(last=False)[1])


async def draw_for_model(source: Source, document: Document, page: Page, part: PagePart) -> bytes:
    """Return a part of the page as JPEG in the size that models look at. Raises NotFound like `of_page`."""
    file = await asyncio.to_thread(_unchanged_file, source, document)
    return await _draw(file, page.number, MODEL_PIXELS, str(MODEL_PIXELS), "JPEG", part)


def _unchanged_file(source: Source, document: Document) -> Path:
    """Return the document's file inside its source's folder if it is unchanged since it was read."""
    root = Path(source.location).resolve()
    file = (root / document.path).resolve()
    try:
        found = file.stat()
    except OSError:
        raise NotFound(f"The file of {document.title!r} is not where it was: there is no picture.") from None
    if not file.is_relative_to(root):
        raise NotFound(f"The file of {document.title!r} can't be opened: there is no picture.")
    now = SourceFile(path=document.path, size=found.st_size, modified_ns=found.st_mtime_ns)
    if stamp_of(now, root, document.depends_on) != document.stamp:
        raise NotFound(f"The file of {document.title!r} has changed since it was read: ingest it to see its pages.")
    return file


async def _draw(file: Path, number: int, width: int, *more: str) -> bytes:
    """Draw a page in a child process; `more` is the maximum height, the kind, and the part."""
    return await _run_child(str(file), str(number), str(width), *more)


async def _find_boxes(file: Path, page: Page, span: Span) -> tuple[PageBox, ...]:
    """Find a part of a page's text in a child process; () if that fails: the page may be shown without boxes."""
    asked = json.dumps([page.text, span.start, span.end]).encode()
    try:
        found = await _run_child(str(file), str(page.number), NO_WIDTH, given=asked)
    except NotFound:
        return ()
    return tuple(PageBox(*box) for box in json.loads(found))


async def _find_words(file: Path, page: Page) -> _Words:
    try:
        found = await _run_child(str(file), str(page.number), WORDS)
    except NotFound:
        return ()
    return tuple((word, PageBox(*box)) for word, *box in json.loads(found))


async def _run_child(*arguments: str, given: bytes = b"") -> bytes:
    """Return the output of a child process; NotFound if it fails or takes too long."""
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "storage.documents.page_images.child", *arguments,
        stdin=PIPE if given else DEVNULL, stdout=PIPE, stderr=DEVNULL, env=environment, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    try:
        async with asyncio.timeout(SECONDS):
            written, _ = await child.communicate(given or None)
    except TimeoutError:
        written = b""
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    if child.returncode != 0 or not written:
        raise NotFound(NO_PICTURE)
    return written


class PdfPictures:
    """Implements core.ports.PagePictures; one for the process, as each drawing takes a core."""

    def __init__(self, corpus: CorpusRepository) -> None:
        self._corpus = corpus
        self._room = asyncio.Semaphore(AT_ONCE)

    async def picture_of(self, document: Document, page: Page, part: PagePart = PagePart.WHOLE) -> PageImage:
        sources = await self._corpus.list_sources(document.workspace)
        source = next((item for item in sources if item.id == document.source_id), None)
        if source is None or document.kind != "pdf":
            raise NotFound("Only pages of PDFs have pictures.")
        async with self._room:
            data = await draw_for_model(source, document, page, part)
        label = ", ".join([f'"{document.title}"', f"page {page.number}", *([part] if part.is_half else [])])
        return PageImage(label=label, media_type="image/jpeg", data=data)
