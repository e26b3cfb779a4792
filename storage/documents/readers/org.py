"""Org files: a page for each top-level heading, as Markdown."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from core.text.dates import stated_day
from core.text.words import collapse
from storage.documents.markup.writers import MarkdownWriter
from storage.documents.texts.encodings import decode

_LINK = re.compile(r"\[\[([^\[\]\n]+)\](?:\[([^\[\]\n]+)\])?\]")
_BLOCK = re.compile(r"^([ \t]*)#\+(begin|end)_(\w++)(?:[ \t]++([\w+-]++))?.*$", re.IGNORECASE)
_KEYWORD = re.compile(r"^[ \t]*(?:#\+\w+:.*|#(?: .*)?)$")
_TITLE = re.compile(r"^#\+title:[ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE)
_DATE = re.compile(r"^#\+date:[ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE)
_OUTSIDE = ("http:", "https:", "mailto:")
_CODE = frozenset({"src", "example", "export"})


class OrgReader:
    """Reads `.org`. Headings keep their state and tags; drawers, comments and settings are left out.

    Anchors are the ids of headings; links within the folder are listed by their targets.
    """

    kind = "org"
    suffixes = frozenset({".org"})
    expects = "an Org file"

    def accepts(self, path: Path, head: bytes) -> bool:
        return True

    def read(self, path: Path, root: Path) -> ParsedDocument:
        import orgparse

        decoded = decode(path.read_bytes())
        try:
            tree = orgparse.loads(decoded.text)
        except (ValueError, OverflowError, RecursionError) as error:  # a date that there is not
            raise ReadError(f"broken Org file: {error}") from error
        title = collapse(" ".join(_TITLE.findall(decoded.text)))
        writer = MarkdownWriter()
        for node in tree:
            _write(node, writer)
        links = (target for node in tree for target in _targets(node))
        titles = [title, *(heading.title for heading in writer.headings[:1])]
        empty = "nothing but settings and comments"
        return writer.to_document(
            path,
            self.kind,
            titles,
            empty=empty,
            links=links,
            warnings=decoded.warnings,
            dated=stated_day(" ".join(_DATE.findall(decoded.text))),
        )


def _write(node: Any, writer: MarkdownWriter) -> None:
    if not node.is_root():
        state = f"{node.todo} " if node.todo else ""
        anchors = [str(node.properties[key]) for key in ("CUSTOM_ID", "ID") if node.properties.get(key)]
        writer.add_heading(node.level, state + _plain(node.get_heading(format="raw")), anchors=anchors)
    writer.add("\n".join(_lines(node.get_body(format="raw"))))


def _lines(body: str) -> Iterator[str]:
    """Yield lines of Markdown: code in fences, links as links, without comments and settings."""
    in_code = False
    for line in body.split("\n"):
        block = _BLOCK.match(line)
        if block and block[3].lower() in _CODE:
            in_code = block[2].lower() == "begin"
            yield f"{block[1]}```{block[4] or '' if in_code else ''}"
        elif in_code:
            yield line
        elif not block and not _KEYWORD.match(line):
            yield _plain(line)


def _plain(text: str) -> str:
    def to_words(match: re.Match[str]) -> str:
        target, label = match.groups()
        if target.startswith(("http://", "https://")):
            return f"[{label}]({target})" if label and "](" not in label else target
        return str(label or target.removeprefix("file:").removeprefix("*"))

    return _LINK.sub(to_words, text)


def _targets(node: Any) -> list[str]:
    heading = "" if node.is_root() else node.get_heading(format="raw")
    targets = [target for target, _ in _LINK.findall(f"{heading}\n{node.get_body(format='raw')}")]
    return [target.removeprefix("file:") for target in targets if not target.startswith(_OUTSIDE)]
