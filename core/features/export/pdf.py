"""The conversation as a PDF: questions, answers, and the numbered sources of each with their quotes and links.

Typst sets it (docs/dependencies.md): a compiled library without a network or a browser, with fonts for Latin, Greek,
Cyrillic and Hebrew in it; other scripts need a font of the machine. The template is ours and fixed, everything that
people or documents wrote goes in as JSON: it is never read as markup.
"""

import json
from collections.abc import Sequence
from importlib.resources import files

from core.domain.answer import Citation
from core.domain.conversation import Conversation, Message, Role
from core.errors import FootnoteError
from core.features.export.nodes import to_nodes
from core.features.export.texts import footnote_label
from core.text.words import collapse

_TEMPLATE = "conversation.typ"


def to_pdf(conversation: Conversation, messages: Sequence[Message]) -> bytes:
    """The same bytes for the same conversation. Takes some 50 ms: call it in a thread.

    FootnoteError where it can't be set, with the formats that are left.
    """
    import typst  # 34 MB of a library that few commands need

    template = files(__package__).joinpath(_TEMPLATE).read_bytes()
    try:
        return typst.compile(template, sys_inputs={"data": _to_json(_data(conversation, messages))})
    except typst.TypstError as error:
        raise FootnoteError(
            f"This conversation can't be set as a PDF ({error}): export it as markdown or json instead."
        ) from error


def _to_json(data: dict[str, object]) -> str:
    """Without halves of surrogate pairs, which are no text for Typst."""
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "replace").decode()


def _data(conversation: Conversation, messages: Sequence[Message]) -> dict[str, object]:
    return {
        "title": conversation.title or "Conversation",
        "started": f"Started {conversation.created_at:%Y-%m-%d %H:%M} UTC by {conversation.owner}",
        "messages": [_message(message) for message in messages if message.role is not Role.TOOL_RESULT],
    }


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
