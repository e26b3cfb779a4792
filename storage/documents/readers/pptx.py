"""PowerPoint presentations: a page for each slide, under the slide's own number."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.domain.corpus import ParsedDocument, ParsedPage
from core.errors import ReadError
from storage.documents.office.office_files import as_transitional, check_office, is_office
from storage.documents.office.slide_text import slide_title, write_slide
from storage.documents.office.text_writer import TextWriter, to_title

WHAT = "PowerPoint presentation"


class PptxReader:
    """Reads `.pptx` and `.pptm`: text, tables, the numbers of charts, and speakers' notes."""

    kind = "pptx"
    suffixes = frozenset({".pptx", ".pptm"})
    expects = "a PowerPoint presentation"

    def accepts(self, path: Path, head: bytes) -> bool:
        return is_office(head)

    def read(self, path: Path, root: Path) -> ParsedDocument:
        check_office(path, WHAT, newer=".pptx")
        with _opened(path) as presentation:
            slides = list(presentation.slides)
            pages = [_to_page(slide, number) for number, slide in enumerate(slides, 1)]
            title = next(map(slide_title, slides), "") or to_title(presentation.core_properties.title)
        empty = [str(page.number) for page in pages if not page.text]
        if len(empty) == len(pages):
            raise ReadError("empty: no slide has text; what pictures show is not read")
        return ParsedDocument(
            title=title or path.stem,
            kind=self.kind,
            pages=tuple(page for page in pages if page.text),
            warnings=(f"no text on slide{'s' * (len(empty) > 1)} {', '.join(empty)}",) if empty else (),
        )


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The presentation; its slides are parsed as they are asked for, so the reasons cover what is done with it."""
    import pptx
    from lxml.etree import LxmlError
    from pptx.exc import PythonPptxError

    try:
        with as_transitional(path, WHAT) as file:
            yield pptx.Presentation(file)
    # The library takes elements to be what they should be: an AttributeError says that one is not.
    except (PythonPptxError, LxmlError, zipfile.BadZipFile, KeyError, ValueError, AttributeError) as error:
        raise ReadError(f"corrupt: not a readable {WHAT} ({error})") from error


def _to_page(slide: Any, number: int) -> ParsedPage:
    writer = TextWriter()
    write_slide(slide, writer)
    text, headings = writer.finish()
    return ParsedPage(title=slide_title(slide), text=text, headings=headings, number=number)
