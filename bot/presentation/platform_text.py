"""Sentences and labels that are the same on every chat platform, and the texts of conversation lists. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bot.presentation.answer_text import ThreadItem
from core.domain.incoming import Attachment, Talk, ThreadAddress
from core.service.commands.threads import PAGE_ROWS
from core.work.commands import CommandResult, ThreadRow

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

_LIST_HEADINGS = {"mine": "Your conversations", "here": "Conversations of this channel"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadPage:
    """A page of a list of conversations. Pages count from 1; the rows are numbered from `first`."""

    rows: Sequence[ThreadItem]
    list_id: str  # names the list in its buttons
    page: int
    pages: int
    heading: str
    first: int = 1


def to_thread_page(
    result: CommandResult, options: Mapping[str, str], link_to: Callable[[ThreadAddress], str | None]
) -> ThreadPage:
    """Return the result of /threads, run with `options`; `link_to` returns a thread's web address."""
    shown = options.get("show") or "mine"
    return ThreadPage(
        rows=[to_thread_item(row, link_to(row.address)) for row in result.rows if isinstance(row, ThreadRow)],
        list_id=shown,
        page=result.page,
        pages=result.pages,
        heading=_LIST_HEADINGS.get(shown, "Conversations"),
        first=(result.page - 1) * PAGE_ROWS + 1,
    )


def to_thread_item(row: ThreadRow, url: str | None) -> ThreadItem:
    """Return a row of core's list with the address of its thread."""
    return ThreadItem(
        title=row.title or "(no title)", detail=f"last used {row.last_used_at:%Y-%m-%d %H:%M} UTC", url=url
    )


def default_question(attachments: Sequence[Attachment], about: Talk | None) -> str:
    """Return the question of a mention without text, but with files or about a message; "" without either."""
    if attachments:
        return f"What is in {' and '.join(item.name for item in attachments)}?"
    return "What do the documents say about this?" if about is not None else ""
