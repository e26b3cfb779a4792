"""Passages as plain text, each under the number it may be cited by, for requests that hold no tool results. Pure."""

from collections.abc import Iterable, Sequence

from core.answering.context import BYTES_PER_TOKEN
from core.answering.tools.search import describe_place
from core.domain.chat import ChatMessage, ChatRole, NumberedPassage


def passage_text(item: NumberedPassage) -> str:
    """`[3] "Title" (path), page 2, Chapter > Section:` and the passage below it."""
    passage = item.source.passage
    place = describe_place(item.source.document, passage.page_number, passage.heading_path)
    return f"[{item.number}] {place}:\n{passage.text}"


def within_tokens(groups: Sequence[Sequence[NumberedPassage]], tokens: int) -> tuple[list[list[NumberedPassage]], int]:
    """Return as many passages of each group as fit, the first of all groups before the second, and the number left
    out.

    A passage of several groups is shown only in the first of them. At least one is kept.
    """
    kept: list[list[NumberedPassage]] = [[] for _ in groups]
    seen: set[int] = set()
    room, left = tokens * BYTES_PER_TOKEN, 0
    for place in range(max((len(group) for group in groups), default=0)):
        for group, shown in zip(groups, kept, strict=True):
            if place >= len(group) or group[place].number in seen:
                continue
            size = len(passage_text(group[place]).encode())
            if size > room and seen:
                left += 1
                continue
            seen.add(group[place].number)
            room -= size
            shown.append(group[place])
    return kept, left


def without_tool_turns(turns: Sequence[ChatMessage]) -> tuple[list[ChatMessage], list[NumberedPassage]]:
    """Return the turns of people and answers, and the passages of the tool turns, each once."""
    spoken = [turn for turn in turns if turn.role is not ChatRole.TOOL_RESULT and turn.text.strip()]
    shown = (item for turn in turns for result in turn.tool_results for item in result.passages)
    plain = [ChatMessage(role=turn.role, text=turn.text, speaker=turn.speaker) for turn in spoken]
    return plain, _once(shown)


def _once(passages: Iterable[NumberedPassage]) -> list[NumberedPassage]:
    return list({item.number: item for item in passages}.values())
