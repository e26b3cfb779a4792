"""What browsers see of a draft: even pieces, each with its place, none after the end."""

import asyncio
from itertools import count

from bot.web.client import FLUSH_SECONDS, LEAST_PIECE, LivePost, LiveProgress
from bot.web.events import Event, EventHub
from bot.web.translate import thread_address
from tests.builders import build_job

ADDRESS = thread_address("local", "general", "t1")


def begin() -> tuple[EventHub, LivePost, LiveProgress]:
    hub = EventHub()
    hub.cursor(str(ADDRESS))
    live = LivePost(key="k1", address=ADDRESS, author="Ada", question="Where?", turn=1)
    return hub, live, LiveProgress(live, hub, count(2))


async def events(hub: EventHub, until: str = "", *, length: int = 0) -> list[Event]:
    """A topic's events from its beginning to the first of one kind, or until a draft is so long."""
    found: list[Event] = []
    async for event in hub.read(str(ADDRESS), f"{hub.cursor(str(ADDRESS)).rpartition('-')[0]}-0"):
        found.append(event)
        if event.kind == until or (length and sum(len(str(item.data["piece"])) for item in found) >= length):
            break
    return found


async def test_a_draft_that_comes_at_once_grows_in_pieces_that_make_it_whole() -> None:
    hub, live, progress = begin()
    draft = "Under the mat, or not. " * 20
    progress.text(draft)
    first = live.text
    pieces = [event.data for event in await events(hub, length=len(draft))]

    assert first == draft[: len(draft) // 4], "something is seen at once"
    assert len(pieces) > 3
    assert "".join(str(piece["piece"]) for piece in pieces) == draft
    assert [draft[int(str(piece["at"])) :].startswith(str(piece["piece"])) for piece in pieces] == [True] * len(pieces)


async def test_small_pieces_are_gathered() -> None:
    hub, _, progress = begin()
    for letter in "x" * LEAST_PIECE:
        progress.text(letter)

    assert [event.data["piece"] for event in await events(hub, length=LEAST_PIECE)] == ["x", "x" * (LEAST_PIECE - 1)]


async def test_what_is_taken_back_or_over_is_not_shown_later() -> None:
    hub, live, progress = begin()
    progress.text("a" * 1_000)
    progress.reset()
    progress.text("b" * 1_000)
    progress.end()
    await asyncio.sleep(FLUSH_SECONDS * 2)
    progress.step(build_job("j1/t0", parent_id="j1"))

    assert (set(live.text), live.to_view()["turn"]) == ({"b"}, 2)
    assert [(event.kind, event.data.get("turn")) for event in await events(hub, "step")] == [
        ("text", 1),
        ("reset_text", 2),
        ("text", 2),
        ("step", None),
    ]
    assert [step["id"] for step in live.to_view()["steps"]] == ["j1/t0"]
