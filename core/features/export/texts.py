"""A conversation as text: Markdown and JSON."""

import json
from collections.abc import Sequence

from core.domain.answer import Citation
from core.domain.conversation import Conversation, Message, Role
from core.serializers.objects import conversation_json
from core.text.words import collapse


def to_json(conversation: Conversation, messages: Sequence[Message]) -> str:
    return json.dumps(conversation_json(conversation, messages), ensure_ascii=False, indent=2)


def to_markdown(conversation: Conversation, messages: Sequence[Message]) -> str:
    """Title, then each question and answer; an answer's footnotes follow it as a list of their own."""
    lines = [f"# {conversation.title or 'Conversation'}", ""]
    lines += [f"*Started {conversation.created_at:%Y-%m-%d %H:%M} UTC by {conversation.owner}*", ""]
    for message in messages:
        if message.role is Role.TOOL_RESULT:
            continue
        lines += [f"**{message.author}** ({message.created_at:%Y-%m-%d %H:%M} UTC)", "", message.content, ""]
        if message.citations:
            lines += ["Sources:", "", *(source_line(citation) for citation in message.citations), ""]
    return "\n".join(lines).rstrip() + "\n"


def source_line(citation: Citation) -> str:
    """`[1] Page 5 of "report.pdf" > Chapter > Section: “quote” <link>`."""
    where = footnote_label(citation)
    link = citation.url or citation.deep_link
    return f"- [{citation.number}] {where}: “{collapse(citation.quote)}”" + (f" <{link}>" if link else "")


def footnote_label(citation: Citation) -> str:
    """Where a footnote points, without its number: `Page 5 of "report.pdf" > Chapter > Section`."""
    name = citation.document.rsplit("/", 1)[-1]
    return " > ".join([f'Page {citation.page_number} of "{name}"', *citation.heading_path])
