"""Sentences and labels that are the same on every chat platform, and the texts of conversation lists. Pure."""

from bot.presentation.answer_text import ThreadItem
from core.domain.service import Receipt
from core.service.commands import ThreadRow

NOT_SAVED = "I couldn't save your message because of a storage problem. Send it again in a few minutes."
FAULT = "Something went wrong in Footnote. Try again. If it keeps happening, tell your Footnote admin."
OLD_FORM = "This form is from an earlier version. Choose the message again."
OPEN_SOURCE = "Open the source"
OPEN_THREAD = "Go there"

# The two actions on a message, and the question that each one's form asks.
ASK_ABOUT = "Ask about this"
KEEP_ANSWER = "Keep as answer"
ASK_ABOUT_QUESTION = "What do you want to know about it?"
KEEP_ANSWER_QUESTION = "Which question does it answer?"
QUESTION_LENGTH = 2_000  # characters that a form takes

# Refusals that are not posted, because the message was not meant for the bot.
_SILENT = frozenset({"not_for_us", "own_message", "another_bot", "muted", "needs_mention", "posts_off"})
_LIST_HEADINGS = {"mine": "Your conversations", "here": "Conversations of this channel"}


def is_silent(receipt: Receipt) -> bool:
    """Whether a refusal stays unposted."""
    return receipt.decision.code in _SILENT


def list_heading(shown: str) -> str:
    """Return the heading of a list of conversations, by the `show` option of /threads."""
    return _LIST_HEADINGS.get(shown, "Conversations")


def to_thread_item(row: ThreadRow, url: str | None) -> ThreadItem:
    """Return a row of core's list with the address of its thread."""
    return ThreadItem(
        title=row.title or "(no title)", detail=f"last used {row.last_used_at:%Y-%m-%d %H:%M} UTC", url=url
    )
