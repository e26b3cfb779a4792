"""Markdown as a tree of plain data, for a template that knows no markup: nothing a text holds is ever run.

A node is a JSON object whose "t" says what it is. Blocks: p, h (level), ul, ol (start), li, quote, code (text), table
(rows of cells of inline nodes, the first row the head), rule. Inline: s (text), b, i, del, code (text), a (url), br,
note (number: a footnote that the message has).
"""

import re
from collections.abc import Collection, Iterator, Mapping

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

Node = Mapping[str, object]

_MARKER = re.compile(r"\[(\d{1,3})\]")
_WEB = re.compile(r"^(?:https?|mailto):", re.IGNORECASE)
# The names of markdown-it's nodes with content of their own kind; what is not named gives its content alone.
_BLOCKS = {"paragraph": "p", "bullet_list": "ul", "list_item": "li", "blockquote": "quote"}
_INLINE = {"strong": "b", "em": "i", "s": "del"}


def to_nodes(text: str, notes: Collection[int] = ()) -> list[Node]:
    """The blocks of a message. `[n]` becomes a note where `n` is one of `notes`, and stays text elsewhere."""
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    tree = SyntaxTreeNode(parser.parse(text))
    return [node for child in tree.children for node in _block(child, frozenset(notes))]


def _block(node: SyntaxTreeNode, notes: frozenset[int]) -> Iterator[Node]:
    if node.type in _BLOCKS:
        yield {"t": _BLOCKS[node.type], "c": _content(node, notes)}
    elif node.type == "ordered_list":
        yield {"t": "ol", "start": int(node.attrs.get("start", 1)), "c": _content(node, notes)}
    elif node.type == "heading":
        yield {"t": "h", "level": int(node.tag.removeprefix("h")), "c": _content(node, notes)}
    elif node.type in ("fence", "code_block"):
        yield {"t": "code", "text": node.content.rstrip("\n")}
    elif node.type == "hr":
        yield {"t": "rule"}
    elif node.type == "table":
        yield {"t": "table", "rows": _rows(node, notes)}
    elif node.type == "inline":
        for child in node.children:
            yield from _inline(child, notes)
    else:
        yield {"t": "p", "c": [{"t": "s", "text": node.content}]}


def _content(node: SyntaxTreeNode, notes: frozenset[int]) -> list[Node]:
    return [found for child in node.children for found in _block(child, notes)]


def _rows(table: SyntaxTreeNode, notes: frozenset[int]) -> list[list[list[Node]]]:
    """Rows of cells; Markdown's tables have as many cells in each row as in the head."""
    rows = [row for part in table.children for row in part.children]
    return [[_content(cell, notes) for cell in row.children] for row in rows]


def _inline(node: SyntaxTreeNode, notes: frozenset[int]) -> Iterator[Node]:
    if node.type == "text":
        yield from _text(node.content, notes)
    elif node.type in ("softbreak", "hardbreak"):
        yield {"t": "br"}  # chats keep the lines that people and models write
    elif node.type == "code_inline":
        yield {"t": "code", "text": node.content}
    elif node.type == "link" and _WEB.match(url := str(node.attrs.get("href", ""))):
        yield {"t": "a", "url": url, "c": _inlines(node, notes)}
    elif node.type in _INLINE:
        yield {"t": _INLINE[node.type], "c": _inlines(node, notes)}
    elif node.type == "image":
        yield {"t": "s", "text": node.content}  # its words: nothing is fetched for a printed page
    else:
        yield from _inlines(node, notes) if node.children else _text(node.content, notes)


def _inlines(node: SyntaxTreeNode, notes: frozenset[int]) -> list[Node]:
    return [found for child in node.children for found in _inline(child, notes)]


def _text(text: str, notes: frozenset[int]) -> Iterator[Node]:
    """Text with its markers apart."""
    done = 0
    for marker in _MARKER.finditer(text):
        if int(marker[1]) not in notes:
            continue
        if marker.start() > done:
            yield {"t": "s", "text": text[done : marker.start()]}
        yield {"t": "note", "number": int(marker[1])}
        done = marker.end()
    if done < len(text):
        yield {"t": "s", "text": text[done:]}
