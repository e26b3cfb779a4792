"""A conversation as a file: Markdown to read, PDF to print or hand on, JSON to process.

Numbers in the text equal numbers in the sources, in each of them.
"""

import asyncio
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from importlib.resources import files

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from core.answering.redaction import has_gaps
from core.domain.answer import Citation
from core.domain.channels import is_said
from core.domain.conversation import Conversation, Message, Role
from core.domain.features import ExportedFile
from core.errors import BadInput, FootnoteError
from core.serializers.conversations import conversation_json
from core.text.markup import shown_in_json, without_controls, without_directions
from core.text.words import collapse

LEFT_OUT = "Some answers are left out of this file, because not all that they rest on may be read here now."
SHORT_ID = 8  # characters of a conversation's id in a file's name


_Write = Callable[[Conversation, Sequence[Message]], bytes]


def _bytes(text: str) -> bytes:
    """UTF-8; half a surrogate pair, which some client sent, becomes a question mark."""
    return text.encode("utf-8", "replace")


async def export_conversation(conversation: Conversation, messages: Sequence[Message], name: str) -> ExportedFile:
    """The conversation in the format of that name. BadInput names the formats there are."""
    wanted = FORMATS.get(name.lower())
    if wanted is None:
        raise BadInput(f"Unknown export format {name!r}. Use {', '.join(FORMATS)}.")
    suffix, content_type, write = wanted
    data = await asyncio.to_thread(write, conversation, messages)
    return ExportedFile(name=f"conversation-{conversation.id[:SHORT_ID]}{suffix}", content_type=content_type, data=data)


def to_json(conversation: Conversation, messages: Sequence[Message]) -> str:
    """The conversation as its JSON is elsewhere, with `left_out`, a sentence, if answers were taken out."""
    notice = {"left_out": LEFT_OUT} if has_gaps(messages) else {}
    found = {**conversation_json(conversation, messages), **notice}
    return shown_in_json(json.dumps(found, ensure_ascii=False, indent=2))


def to_markdown(conversation: Conversation, messages: Sequence[Message]) -> str:
    """Title, then each question and answer; an answer's footnotes follow it as a list of their own."""
    lines = [f"# {_inert(conversation.title or 'Conversation')}", ""]
    lines += [f"*Started {conversation.created_at:%Y-%m-%d %H:%M} UTC by {_inert(conversation.owner)}*", ""]
    lines += [f"*{LEFT_OUT}*", ""] if has_gaps(messages) else []
    for message in messages:
        if message.role is Role.TOOL_RESULT:
            continue
        lines += [f"**{_inert(message.author)}** ({message.created_at:%Y-%m-%d %H:%M} UTC)", ""]
        lines += [_inert(message.content), ""]
        if message.citations:
            lines += ["Sources:", "", *(_source_line(citation) for citation in message.citations), ""]
    return without_controls("\n".join(lines).rstrip() + "\n")


def _source_line(citation: Citation) -> str:
    """`[1] Page 5 of "Annual report" > Chapter > Section: “quote” <link>`."""
    where, quote = _inert(footnote_label(citation)), _inert(collapse(citation.quote))
    link = citation.url or citation.deep_link
    return f"- [{citation.number}] {where}: “{quote}”" + (f" <{link}>" if link else "")


# Where Markdown begins a link, an image, HTML or a mention. A sign without width behind it makes it text, in code too.
_ACTIVE = re.compile(
    r"<(?=[A-Za-z/!?@#])|\](?=[(:\[])|:(?=//)|\bwww(?=\.)|(?<=\w)@(?=\w)|@(?=everyone|here|channel)", re.IGNORECASE
)


def _inert(text: str) -> str:
    """Return Markdown without links and mentions, except for links of sources."""
    return _ACTIVE.sub("\\g<0>\u200b", text)


def footnote_label(citation: Citation) -> str:
    """Return the target of a footnote without its number: `Page 5 of "Annual report" > Chapter > Section`."""
    if is_said(citation.document):
        return collapse(citation.heading_path[-1])
    name = collapse(citation.document_title) or citation.document.rsplit("/", 1)[-1]
    path = citation.heading_path
    path = path[1:] if path[:1] == (citation.document_title,) else path
    return " > ".join([f'Page {citation.page_number} of "{name}"', *path])


Node = Mapping[str, object]

_MARKER = re.compile(r"\[(\d{1,3})\]")
# Names of markdown-it's nodes with a form of their own; all others contribute their content.
_BLOCKS = {"paragraph": "p", "bullet_list": "ul", "list_item": "li", "blockquote": "quote"}
_INLINE = {"strong": "b", "em": "i", "s": "del"}


def to_nodes(text: str, notes: Collection[int] = ()) -> list[Node]:
    """The blocks of a message. `[n]` becomes a note where `n` is one of `notes`, and stays text elsewhere.

    Links are text: only sources are links.
    """
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
        # Rows of cells; Markdown's tables have as many cells in each row as in the head.
        rows = [row for part in node.children for row in part.children]
        yield {"t": "table", "rows": [[_content(cell, notes) for cell in row.children] for row in rows]}
    elif node.type == "inline":
        for child in node.children:
            yield from _inline(child, notes)
    else:
        yield {"t": "p", "c": [{"t": "s", "text": node.content}]}


def _content(node: SyntaxTreeNode, notes: frozenset[int]) -> list[Node]:
    return [found for child in node.children for found in _block(child, notes)]


def _inline(node: SyntaxTreeNode, notes: frozenset[int]) -> Iterator[Node]:
    if node.type == "text":
        yield from _text(node.content, notes)
    elif node.type in ("softbreak", "hardbreak"):
        yield {"t": "br"}  # chats keep the lines that people and models write
    elif node.type == "code_inline":
        yield {"t": "code", "text": node.content}
    elif node.type in _INLINE:
        yield {"t": _INLINE[node.type], "c": _inlines(node, notes)}
    elif node.type == "image":
        yield {"t": "s", "text": node.content}  # its alternative text: a printed page fetches nothing
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


def to_pdf(conversation: Conversation, messages: Sequence[Message]) -> bytes:
    """Return the same bytes for the same conversation. Takes about 50 ms: call it in a thread.

    FootnoteError if Typst can't set it, naming the other formats.
    """
    import typst  # 34 MB of a library that few commands need

    template = files("core.features").joinpath("conversation.typ").read_bytes()
    data = {
        "title": conversation.title or "Conversation",
        "started": f"Started {conversation.created_at:%Y-%m-%d %H:%M} UTC by {conversation.owner}",
        "notice": LEFT_OUT if has_gaps(messages) else "",
        "messages": [_message(message) for message in messages if message.role is not Role.TOOL_RESULT],
    }
    try:
        given = without_directions(json.dumps(data, ensure_ascii=False))
        return typst.compile(template, sys_inputs={"data": _bytes(given).decode()})
    except typst.TypstError as error:
        raise FootnoteError(
            f"This conversation can't be set as a PDF ({error}): export it as markdown or json instead."
        ) from error


def _message(message: Message) -> dict[str, object]:
    numbers = {citation.number for citation in message.citations}
    return {
        "id": message.id,
        "author": message.author,
        "is_answer": message.role is Role.ASSISTANT,
        "time": f"{message.created_at:%Y-%m-%d %H:%M} UTC",
        "content": to_nodes(message.content, numbers),
        "sources": [_source(citation) for citation in message.citations],
    }


def _source(citation: Citation) -> dict[str, object]:
    return {
        "number": citation.number,
        "where": footnote_label(citation),
        "quote": collapse(citation.quote),
        "url": citation.url if citation.url and citation.url.startswith(("http://", "https://")) else None,
    }


# Name -> suffix, content type, writer.
FORMATS: Mapping[str, tuple[str, str, _Write]] = {
    "markdown": (".md", "text/markdown", lambda found, messages: _bytes(to_markdown(found, messages))),
    "pdf": (".pdf", "application/pdf", to_pdf),
    "json": (".json", "application/json", lambda found, messages: _bytes(to_json(found, messages))),
}
