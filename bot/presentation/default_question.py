"""What somebody asks who mentions the bot with a file, or about a message, and with no words of their own. Pure."""

from collections.abc import Sequence

from core.domain.conversation import Attachment, Talk


def default_question(attachments: Sequence[Attachment], about: Talk | None) -> str:
    """Nothing, where there is nothing to ask about."""
    if attachments:
        return f"What is in {' and '.join(item.name for item in attachments)}?"
    return "What do the documents say about this?" if about is not None else ""
