"""Jupyter notebooks: notes, code and its output; headings make pages."""

import re
from collections.abc import Iterator
from pathlib import Path

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from core.text.words import collapse
from storage.documents.html.text import html_to_text
from storage.documents.markup.writers import MarkdownWriter, tidy
from storage.documents.texts.encodings import decode
from storage.documents.texts.structured import Value, at, list_of, read_json, string_of

# Maximum characters of one cell's output; longer output is a log or data.
MAX_OUTPUT = 10_000

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_EMBEDDED_PICTURE = re.compile(r"!\[([^\]\n]*)\]\((?:data|attachment):[^)\n]*\)")


class NotebookReader:
    """Reads `.ipynb` of all formats since version 3. Pictures are left out, long outputs are cut."""

    kind = "notebook"
    suffixes = frozenset({".ipynb"})
    expects = "a Jupyter notebook"

    def accepts(self, path: Path, head: bytes) -> bool:
        return True

    def read(self, path: Path, root: Path) -> ParsedDocument:
        decoded = decode(path.read_bytes())
        notebook = read_json(decoded.text)
        cells = _cells(notebook)
        writer = MarkdownWriter()
        links, cut = _write(cells, _language(notebook), writer)
        titles = [collapse(tidy(_strings(at(notebook, "metadata", "title"))))]
        titles += [heading.title for heading in writer.headings if heading.level == 1]
        empty = "no cell of the notebook has text"
        warnings = [*decoded.warnings]
        if cut:
            warnings.append(f"{cut} long output{'s' * (cut > 1)} cut after {MAX_OUTPUT:,} characters")
        return writer.to_document(path, self.kind, titles, empty=empty, links=links, warnings=warnings)


def _cells(notebook: Value) -> list[Value]:
    cells = at(notebook, "cells")
    if isinstance(cells, list):
        return cells
    sheets = at(notebook, "worksheets")
    if not isinstance(sheets, list):
        raise ReadError("not a Jupyter notebook: it has no cells")
    return [cell for sheet in sheets for cell in list_of(at(sheet, "cells"))]


def _language(notebook: Value) -> str:
    for place in (("language_info", "name"), ("kernelspec", "language")):
        name = at(notebook, "metadata", *place)
        if isinstance(name, str) and name.isidentifier():
            return name
    return ""


def _write(cells: list[Value], language: str, writer: MarkdownWriter) -> tuple[list[str], int]:
    """Write the cells; return the targets of wikilinks and the number of cut outputs."""
    links: list[str] = []
    cut = 0
    for cell in cells:
        source = _strings(at(cell, "source")) or _strings(at(cell, "input"))
        kind = at(cell, "cell_type")
        if kind == "heading":  # version 3
            level = at(cell, "level")
            source = f"{'#' * (level if isinstance(level, int) and 0 < level < 7 else 1)} {source}"
        if kind == "code":
            writer.add_code(source, language)
            for output in _outputs(cell):
                cut += len(output) > MAX_OUTPUT
                writer.add_code(output[:MAX_OUTPUT])
        elif source.strip():
            links += writer.add_markdown(_EMBEDDED_PICTURE.sub(r"\1", source))
    return links, cut


def _outputs(cell: Value) -> Iterator[str]:
    """Return the output, result or error of a cell as text."""
    for output in list_of(at(cell, "outputs")):
        if at(output, "ename") is not None:
            yield f"{_strings(at(output, 'ename'))}: {_strings(at(output, 'evalue'))}"
            continue
        data = at(output, "data") or output
        plain = _strings(at(data, "text/plain")) or _strings(at(output, "text"))
        page = _strings(at(data, "text/html"))
        note = _strings(at(data, "text/markdown"))
        text = (
            html_to_text(page).text if "<table" in page else note or plain or (html_to_text(page).text if page else "")
        )
        if text.strip():
            yield _ANSI.sub("", text)


def _strings(value: Value) -> str:
    return "".join(map(string_of, value)) if isinstance(value, list) else string_of(value)
