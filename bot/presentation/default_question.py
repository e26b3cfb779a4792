"""The question of a person who mentions the bot without text, but with a file or about a message. Pure."""

from collections.abc import Sequence

from core.domain.conversation import Attachment, Talk


def default_question(attachments: Sequence[Attachment], about: Talk | None) -> str:
    """Return a question about files or a message; "" without either."""
    if attachments:
        return f"What is in {' and '.join(item.name for item in attachments)}?"
    return "What do the documents say about this?" if about is not None else ""
