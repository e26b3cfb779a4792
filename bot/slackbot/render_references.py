"""All that an answer refers to, as messages for the one who asks. Pure."""

from collections.abc import Sequence

from bot.presentation.answer_text import ALL_REFERENCES_LABEL, NO_REFERENCES, ReferenceRow, pack_items, reference_line
from bot.slackbot.blocks import Row, plain_of, rich_text, stack, text
from bot.slackbot.layout import TEXT_BUDGET, SlackMessage, SlackPost
from bot.slackbot.plain_text import fallback

# Characters of a list in one message; the rest of its budget is for its blocks.
_ROOM = TEXT_BUDGET - 1_000


def references_post(rows: Sequence[ReferenceRow]) -> SlackPost:
    """A numbered list, in as many messages as it takes."""
    lines = [Row((text(f"{number}. {reference_line(row)}"),)) for number, row in enumerate(rows, start=1)]
    lines = lines or [Row((text(NO_REFERENCES),))]
    rooms = pack_items(lines, lambda row: row.size, _ROOM - len(ALL_REFERENCES_LABEL), _ROOM)
    return SlackPost(parts=tuple(_message(room, is_first=place == 0) for place, room in enumerate(rooms)))


def _message(rows: Sequence[Row], *, is_first: bool) -> SlackMessage:
    head = [Row((text(ALL_REFERENCES_LABEL, bold=True),))] if is_first else []
    block = rich_text(*stack([*head, *rows]))
    return SlackMessage(text=fallback(plain_of(block)), blocks=(block,))
