"""An answer while it is made: the draft so far and the live job tree; and the tree afterwards. Pure."""

from collections.abc import Sequence

from bot.slackbot.blocks import Element
from bot.slackbot.layout import SlackMessage, View
from core.domain.jobs import Job

Chunk = Element  # of a stream, as chat.startStream and chat.appendStream take it


def running_message(text: str, jobs: Sequence[Job], *, post_id: str) -> SlackMessage:
    """The draft without footnotes (numbers come with the proved answer), the steps so far, Stop and How.

    Of a draft that is longer than a message, its beginning: the final post has it all.
    """
    raise NotImplementedError


def start_chunks(post_id: str) -> list[Chunk]:
    """What a stream begins with: Stop and How in a block that marks it as the post's first part, and a plan's title."""
    raise NotImplementedError


def task_chunks(jobs: Sequence[Job]) -> list[Chunk]:
    """A task_update for every job given (those that changed); of the request itself the plan's title."""
    raise NotImplementedError


def text_chunk(piece: str) -> Chunk:
    """A piece of `draft_text`, behind what was sent of it before."""
    return {"type": "markdown_text", "text": piece}


def draft_text(text: str) -> str:
    """The draft as it can be streamed: harmless, without footnotes, and only as far as nothing can change any more.

    What it gives for the beginning of a text is the beginning of what it gives for the text: so a stream is sent
    `draft_text(text)[len(sent):]`. At most 8,000 characters of it, and a word that there is more.
    """
    raise NotImplementedError


def how_view(jobs: Sequence[Job]) -> View:
    """“How this was answered”: the whole tree in a modal."""
    raise NotImplementedError
