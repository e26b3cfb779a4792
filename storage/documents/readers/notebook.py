"""Jupyter notebooks: notes, code and its output; headings make pages."""

import re
from collections.abc import Iterator
from pathlib import Path

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.html.text import html_to_text
from storage.documents.markup.markdown_writer import MarkdownWriter, tidy
from storage.documents.texts.encodings import decode
from storage.documents.texts.sections import split_sections
from storage.documents.texts.structured import Value, read_json

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
        text, headings, _ = writer.finish()
        if not text.strip():
            raise ReadError("empty: no cell of the notebook has text")
        first = next((heading.title for heading in headings if heading.level == 1), "")
        named = _strings(_at(notebook, "metadata", "title"))
        return ParsedDocument(
            title=" ".join(tidy(named).split()) or first or path.stem,
            kind=self.kind,
            pages=split_sections(text, headings),
            links=tuple(dict.fromkeys(links)),
            warnings=(*decoded.warnings, *_warnings(cut)),
        )


def _warnings(cut: int) -> list[str]:
    many = "s" * (cut > 1)
    return [f"{cut} long output{many} cut after {MAX_OUTPUT:,} characters"] if cut else []


def _cells(notebook: Value) -> list[Value]:
    cells = _at(notebook, "cells")
    if isinstance(cells, list):
        return cells
    sheets = _at(notebook, "worksheets")
    if not isinstance(sheets, list):
        raise ReadError("not a Jupyter notebook: it has no cells")
    lists = [_at(sheet, "cells") for sheet in sheets]
    return [cell for cells in lists if isinstance(cells, list) for cell in cells]


def _language(notebook: Value) -> str:
    for place in (("language_info", "name"), ("kernelspec", "language")):
        name = _at(notebook, "metadata", *place)
        if isinstance(name, str) and name.isidentifier():
            return name
    return ""


def _write(cells: list[Value], language: str, writer: MarkdownWriter) -> tuple[list[str], int]:
    """Write the cells; return the targets of wikilinks and the number of cut outputs."""
    links: list[str] = []
    cut = 0
    for cell in cells:
        source = _strings(_at(cell, "source")) or _strings(_at(cell, "input"))
        kind = _at(cell, "cell_type")
        if kind == "heading":  # version 3
            level = _at(cell, "level")
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
    outputs = _at(cell, "outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if _at(output, "ename") is not None:
            yield f"{_strings(_at(output, 'ename'))}: {_strings(_at(output, 'evalue'))}"
            continue
        data = _at(output, "data") or output
        plain = _strings(_at(data, "text/plain")) or _strings(_at(output, "text"))
        page = _strings(_at(data, "text/html"))
        note = _strings(_at(data, "text/markdown"))
        text = (
            html_to_text(page).text if "<table" in page else note or plain or (html_to_text(page).text if page else "")
        )
        if text.strip():
            yield _ANSI.sub("", text)


def _at(value: Value, *keys: str) -> Value:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _strings(value: Value) -> str:
    if isinstance(value, list):
        return "".join(item for item in value if isinstance(item, str))
    return value if isinstance(value, str) else ""
