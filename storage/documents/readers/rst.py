"""reStructuredText, converted to Markdown."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from core.text.dates import stated_day
from core.text.words import collapse
from storage.documents.markup.writers import MarkdownWriter
from storage.documents.tables.text import Merge, fill_merged, to_table
from storage.documents.texts.encodings import clean, decode

# Directives of docutils, Sphinx and its extensions that show nothing from this file.
_DROPPED = frozenset(
    "toctree index highlight currentmodule module py:module py:currentmodule tabularcolumns literalinclude automodule "
    "autoclass autofunction automethod autosummary autodata autoattribute graphviz digraph graph mermaid plantuml uml "
    "date meta title default-role class rst-class contents sectnum target-notes header footer raw include "
    "default-domain program testsetup testcleanup".split()
)
# Those whose content is code; docutils' own `code-block` refuses the options that Sphinx gives it.
_CODE = frozenset("code code-block sourcecode doctest testcode testoutput productionlist prompt ipython".split())
_VERSIONS = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}
_DIRECTIVE = re.compile(
    r"^[ \t]*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?([A-Za-z][\w:.+-]{0,60}?)[ \t]?::(?:\s|$)", re.MULTILINE
)
_ROLE = re.compile(r":([A-Za-z][\w:.+-]{0,60}):`|`:([A-Za-z][\w:.+-]{0,60}):")
_TARGETED = re.compile(r"(.*\S)\s*<[^<>]*>", re.DOTALL)
# The header of a Python proposal, and of mail: names and values from the first line on.
_HEADER = re.compile(r"(?:[A-Z][\w-]{0,40}:[ \t][^\n]*+\n(?:[ \t]++[^\s][^\n]*+\n)*+){2,}+(?=\s*\n)")
_HEADER_NAME = re.compile(r"^(?=[A-Z][\w-]{0,40}: )", re.MULTILINE)
_SETTINGS: dict[str, object] = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "report_level": 5,
    "halt_level": 5,
    "warning_stream": False,
    "syntax_highlight": "none",
    "smart_quotes": False,
    "doctitle_xform": True,
    "sectsubtitle_xform": False,
    "embed_stylesheet": False,
    "line_length_limit": 1_000_000,
    "output_encoding": "unicode",
    "record_dependencies": None,
    "traceback": True,  # errors are raised, and not printed on the way to the end of the process
}


def parse(text: str) -> Any:
    """Return the document node. Raises ReadError if it is nested too deeply or docutils can't read it."""
    from docutils.core import publish_doctree
    from docutils.utils import SystemMessage

    _teach(text)
    try:
        return publish_doctree(_with_fields(text), settings_overrides=dict(_SETTINGS))
    except RecursionError as error:
        raise ReadError("nested too deeply to be read") from error
    except SystemMessage as error:
        raise ReadError(f"broken reStructuredText: {error}") from error


def _with_fields(text: str) -> str:
    header = _HEADER.match(text)
    return _HEADER_NAME.sub(":", header[0]) + text[header.end() :] if header else text


def _teach(text: str) -> None:
    """Register stand-ins for the directives and roles that the text uses and docutils does not know or has to leave."""
    from docutils.parsers.rst import directives, roles
    from docutils.parsers.rst.languages import en

    for name in {match.lower() for match in _DIRECTIVE.findall(text)}:
        if name in _DROPPED or name in _CODE or name not in en.directives:
            directives.register_directive(name, _stand_in())
    defined, known = vars(roles)["_roles"], vars(roles)["_role_registry"]
    defined.clear()  # definitions of one document would apply to the next
    for pair in _ROLE.findall(text):
        name = (pair[0] or pair[1]).lower()
        if name not in en.roles and name not in known:
            roles.register_local_role(name, _plain_role)


# Directives of sphinxcontrib-httpdomain, named after the HTTP methods of their paths.
_HTTP = frozenset(f"http:{method}" for method in "get post put patch delete head options trace".split())


@cache
def _stand_in() -> type[Any]:
    from docutils import nodes
    from docutils.parsers.rst import Directive, directives

    class AnyOption(dict[str, Any]):
        def __missing__(self, name: str) -> Any:
            return directives.unchanged

    class StandIn(Directive):
        """Shows the arguments and the content of an unknown directive."""

        optional_arguments = 1
        final_argument_whitespace = True
        has_content = True
        option_spec = AnyOption(name=directives.unchanged)

        def run(self) -> list[nodes.Node]:
            name = self.name.lower()
            argument = self.arguments[0] if self.arguments else ""
            if name in _DROPPED:
                return []
            if name in _CODE:
                code = "\n".join(self.content)
                return [nodes.literal_block(code, code, language=argument)]
            shown = nodes.container()
            if name in _VERSIONS:
                shown += nodes.paragraph(
                    argument, "", *self.state.inline_text(_version(name, argument), self.lineno)[0]
                )
            elif argument:
                method = name.removeprefix("http:").upper() + " " if name in _HTTP else ""
                shown += nodes.paragraph(argument, method + argument)
            self.state.nested_parse(self.content, self.content_offset, shown)
            return [shown]

    return StandIn


def _version(directive: str, argument: str) -> str:
    number, *said = argument.split(None, 1) or [""]
    return f"{_VERSIONS[directive]} {number}{f': {said[0]}' if said else ''}"


def _plain_role(
    name: str, rawtext: str, text: str, lineno: int, inliner: Any, options: Any = None, content: Any = ()
) -> tuple[list[Any], list[Any]]:
    from docutils import nodes, utils

    shown = utils.unescape(text)
    targeted = _TARGETED.fullmatch(shown)
    shown = targeted[1] if targeted else shown.lstrip("!")
    if shown.startswith("~"):
        shown = shown.rpartition(".")[2].lstrip("~")
    return [nodes.inline(rawtext, shown)], []


_SILENT = frozenset(
    "comment substitution_definition system_message raw pending meta target decoration generated title subtitle".split()
)
_ADMONITIONS = frozenset("attention caution danger error hint important note tip warning".split())
_LISTS = frozenset("bullet_list enumerated_list".split())
_EMPHASIS = {"strong": "**", "emphasis": "*", "literal": "`"}


def write(document: Any, writer: MarkdownWriter) -> None:
    """Write a document; its own title is the h1, sections are below it."""
    title = _first(document, "title")
    if title is not None:
        writer.add_heading(1, title.astext(), anchors=document.get("ids", ()))
        subtitle = _first(document, "subtitle")
        writer.add(_inline(subtitle) if subtitle is not None else "")
    _write(document, writer, 1 if title is None else 2)


def fields_of(document: Any) -> dict[str, str]:
    """Return names and values of the field list or bibliography at the front, names in lower case."""
    found: dict[str, str] = {}
    for node in document.children:
        if _name(node) in ("docinfo", "field_list"):
            for field in node.children:
                name, value = _field(field)
                found.setdefault(name.lower(), value)
        elif _name(node) not in ("title", "subtitle", "comment", "system_message"):
            break
    return found


def _write(parent: Any, writer: MarkdownWriter, level: int) -> None:
    for node in parent.children:
        if _name(node) == "section":
            title = _first(node, "title")
            writer.add_heading(level, title.astext() if title is not None else "", anchors=node.get("ids", ()))
            _write(node, writer, level + 1)
        else:
            writer.add(_block(node))


def _block(node: Any) -> str:
    """Return a block as Markdown, without white space at its ends; "" for a block that shows nothing."""
    name = _name(node)
    if name in _SILENT:
        return ""
    if name in _LISTS:
        return _list(node)
    if name in _ADMONITIONS:
        return f"**{name.capitalize()}:** {_blocks(node)}"
    write = _WRITERS.get(name)
    if write is not None:
        return write(node)
    if any(_is_block(child) for child in node.children):
        return _blocks(node)
    return _inline(node).strip()


def _blocks(parent: Any) -> str:
    return "\n\n".join(filter(None, map(_block, parent.children)))


def _list(node: Any) -> str:
    items = []
    first = int(node.get("start", 1))
    for number, item in enumerate(node.children, first):
        mark = f"{number}." if _name(node) == "enumerated_list" else "-"
        parts = [part for part in map(_block, item.children) if part]
        text = parts[0] if parts else ""
        for before, part in zip(item.children, parts[1:], strict=False):
            text += ("\n" if _name(before) == "paragraph" and part.startswith(("- ", "1. ")) else "\n\n") + part
        items.append(f"{mark} {_indented(text, len(mark) + 1)}")
    return "\n".join(items)


def _indented(text: str, width: int) -> str:
    return "\n".join(f"{' ' * width}{line}" if place and line else line for place, line in enumerate(text.split("\n")))


def _definitions(node: Any) -> str:
    items = []
    for item in node.children:
        terms = ", ".join(_inline(child) for child in item.children if _name(child) == "term")
        kinds = [_inline(child) for child in item.children if _name(child) == "classifier"]
        body = "\n\n".join(filter(None, (_block(child) for child in item.children if _name(child) == "definition")))
        items.append(f"**{terms}**{''.join(f' ({kind})' for kind in kinds)}\n{body}")
    return "\n\n".join(items)


def _fields(node: Any) -> str:
    lines = ((name, collapse(value) if "\n\n" not in value else value) for name, value in map(_field, node.children))
    return "\n".join(f"{name}: {value}" if value else name for name, value in lines)


def _field(node: Any) -> tuple[str, str]:
    name = _first(node, "field_name")
    if name is None:  # a field of the bibliography is a node of its name
        if _name(node) == "authors":
            return "Authors", ", ".join(_inline(child) for child in node.children)
        return _name(node).capitalize(), _inline(node)
    body = _first(node, "field_body")
    return _inline(name), _blocks(body) if body is not None else ""


def _options(node: Any) -> str:
    items = []
    for item in node.children:
        names = ", ".join(child.astext() for group in item.children[:1] for child in group.children)
        items.append(f"- `{names}`: {_indented(_blocks(item.children[-1]), 2)}")
    return "\n".join(items)


def _code(node: Any) -> str:
    language = node.get("language", "") or next((name for name in node.get("classes", ()) if name != "code"), "")
    code = node.astext().strip("\n")
    fence = "````" if "```" in code else "```"
    return f"{fence}{language}\n{code}\n{fence}" if code.strip() else ""


def _lines(node: Any, level: int = 0) -> str:
    lines = []
    for child in node.children:
        if _name(child) == "line_block":
            lines.append(_lines(child, level + 1))
        else:
            lines.append("  " * level + _inline(child))
    return "\n".join(lines)


def _quote(node: Any) -> str:
    return "\n".join(f"> {line}".rstrip() for line in _blocks(node).split("\n"))


def _titled(node: Any) -> str:
    title = _first(node, "title")
    if "contents" in node.get("classes", ()):
        return ""
    return "\n\n".join(filter(None, (f"**{_inline(title)}**" if title is not None else "", _blocks(node))))


def _note(node: Any) -> str:
    label = _first(node, "label")
    body = "\n\n".join(filter(None, (_block(child) for child in node.children if _name(child) != "label")))
    return f"[{label.astext()}] {body}" if label is not None else body


def _image(node: Any) -> str:
    return f"[{node['alt']}]" if node.get("alt") else ""


def _table(node: Any) -> str:
    title = _first(node, "title")
    parts = [_inline(title)] if title is not None else []
    for group in (child for child in node.children if _name(child) == "tgroup"):
        head: list[list[str]] = []
        body: list[list[str]] = []
        for part in group.children:
            if _name(part) in ("thead", "tbody"):
                (head if _name(part) == "thead" else body).extend(_rows(part))
        columns = [" ".join(filter(None, dict.fromkeys(cells))) for cells in zip(*head, strict=False)]
        parts.append(to_table(body, columns=columns if head else [""] * max(map(len, body), default=0)))
    return "\n\n".join(filter(None, parts))


def _rows(part: Any) -> list[list[str]]:
    """Return the cells of a table's part; the text of a merged cell is in each cell it covers."""
    rows: list[list[str]] = []
    merges: list[Merge] = []
    taken: set[tuple[int, int]] = set()
    for number, row in enumerate(part.children):
        cells: list[str] = []
        for entry in row.children:
            while (number, len(cells)) in taken:
                cells.append("")
            down, across = int(entry.get("morerows", 0)), int(entry.get("morecols", 0))
            merges.append(Merge(row=number, column=len(cells), rows=down + 1, columns=across + 1))
            taken |= {(number + below, len(cells)) for below in range(1, down + 1)}
            cells += [" ".join(_blocks(entry).split()), *[""] * across]
        rows.append(cells)
    return fill_merged(rows, merges)


def _inline(node: Any) -> str:
    return "".join(_pieces(node))


def _pieces(node: Any) -> Iterator[str]:
    for child in node.children:
        name = _name(child)
        if name == "Text":
            yield child.astext()
        elif name in ("footnote_reference", "citation_reference"):
            yield f"[{child.astext()}]"
        elif name in _EMPHASIS:
            mark = "``" if name == "literal" and "`" in child.astext() else _EMPHASIS[name]
            yield f"{mark}{child.astext() if name == 'literal' else _inline(child)}{mark}"
        elif name == "reference":
            yield _link(child)
        elif name == "image":
            yield _image(child)
        elif name not in _SILENT or name == "target":
            yield _inline(child)


def _link(node: Any) -> str:
    text, address = _inline(node), node.get("refuri", "")
    shown = address.removeprefix("mailto:")
    is_web = address.startswith(("http://", "https://"))
    return f"[{text}]({address})" if is_web and text != shown and "[" not in text else text


def _is_block(node: Any) -> bool:
    from docutils import nodes

    return isinstance(node, nodes.Body | nodes.Part | nodes.Structural) and not isinstance(node, nodes.Inline)


def _first(node: Any, name: str) -> Any:
    return next((child for child in node.children if _name(child) == name), None)


def _name(node: Any) -> str:
    name: str = node.tagname.lstrip("#") if node.tagname != "#text" else "Text"
    return name


_WRITERS = {
    "definition_list": _definitions,
    "docinfo": _fields,
    "field_list": _fields,
    "option_list": _options,
    "literal_block": _code,
    "doctest_block": _code,
    "math_block": _code,
    "line_block": _lines,
    "block_quote": _quote,
    "admonition": _titled,
    "topic": _titled,
    "sidebar": _titled,
    "footnote": _note,
    "citation": _note,
    "image": _image,
    "table": _table,
}


class RstReader:
    """Reads `.rst` and `.rest`, including Sphinx.

    Reads no included files and runs nothing. Unknown directives are read as text. Anchors are the labels of
    sections.
    """

    kind = "rst"
    suffixes = frozenset({".rst", ".rest"})
    expects = "a reStructuredText file"

    def accepts(self, path: Path, head: bytes) -> bool:
        return True

    def read(self, path: Path, root: Path) -> ParsedDocument:
        decoded = decode(path.read_bytes())
        tree = parse(decoded.text)
        writer = MarkdownWriter()
        try:
            write(tree, writer)
        except RecursionError as error:
            raise ReadError("nested too deeply to be read") from error
        fields = fields_of(tree)
        titles = [collapse(clean(fields.get("title", "")))]
        titles += [heading.title for heading in writer.headings[:1] if heading.level == 1]
        empty = "nothing but comments and directives that show nothing"
        dated = stated_day(fields.get("date", ""))
        return writer.to_document(path, self.kind, titles, empty=empty, warnings=decoded.warnings, dated=dated)
