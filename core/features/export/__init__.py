"""A conversation as a file: Markdown to read, PDF to print or hand on, JSON to process.

Numbers in the text equal numbers in the sources, in each of them.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.domain.conversation import Conversation, Message
from core.errors import BadInput
from core.features.export.pdf import to_pdf as to_pdf
from core.features.export.texts import footnote_label as footnote_label
from core.features.export.texts import source_line as source_line
from core.features.export.texts import to_json as to_json
from core.features.export.texts import to_markdown as to_markdown

SHORT_ID = 8  # characters of a conversation's id in a file's name


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFile:
    """A file to hand over."""

    name: str
    content_type: str  # without a charset; text is UTF-8
    data: bytes

    @property
    def is_text(self) -> bool:
        return self.content_type != "application/pdf"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Format:
    suffix: str
    content_type: str
    write: Callable[[Conversation, Sequence[Message]], bytes]


def _bytes(text: str) -> bytes:
    """UTF-8; half a surrogate pair, which some client sent, becomes a question mark."""
    return text.encode("utf-8", "replace")


FORMATS: Mapping[str, _Format] = {
    "markdown": _Format(
        suffix=".md", content_type="text/markdown", write=lambda found, messages: _bytes(to_markdown(found, messages))
    ),
    "pdf": _Format(suffix=".pdf", content_type="application/pdf", write=to_pdf),
    "json": _Format(
        suffix=".json",
        content_type="application/json",
        write=lambda found, messages: _bytes(to_json(found, messages)),
    ),
}


async def export_conversation(conversation: Conversation, messages: Sequence[Message], name: str) -> ExportedFile:
    """The conversation in the format of that name. BadInput names the formats there are."""
    wanted = FORMATS.get(name.lower())
    if wanted is None:
        raise BadInput(f"There is no export format {name!r}: use {', '.join(FORMATS)}.")
    return ExportedFile(
        name=f"conversation-{conversation.id[:SHORT_ID]}{wanted.suffix}",
        content_type=wanted.content_type,
        data=await asyncio.to_thread(wanted.write, conversation, messages),
    )
