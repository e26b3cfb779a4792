"""An answer in the making: what browsers see of it while it grows, piece by piece."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field

from bot.web.events import EventHub
from bot.web.render import step_view
from core.domain.conversation import ThreadAddress
from core.domain.jobs import Job
from core.serializers.objects import Json

# Browsers get at most one piece of a draft in this time.
FLUSH_SECONDS = 0.04
# A draft that comes in one burst grows by a quarter of what waits, and never by less than this many characters: people
# see it begin to be written, and it is whole within a fifth of a second.
LEAST_PIECE = 48
# Steps shown under a running answer.
SHOWN_STEPS = 100


@dataclass(slots=True, kw_only=True)
class LivePost:
    """An answer in the making, as a browser that comes late has to see it."""

    key: str
    address: ThreadAddress
    author: str
    question: str
    turn: int  # rises whenever the draft begins anew, over all answers of the process
    text: str = ""  # what browsers were told of the draft in this turn
    steps: dict[str, Json] = field(default_factory=dict)

    def to_view(self) -> Json:
        return {
            "key": self.key,
            "author": self.author,
            "question": self.question,
            "turn": self.turn,
            "text": self.text,
            "steps": list(self.steps.values())[-SHOWN_STEPS:],
        }


class LiveProgress:
    """ProgressSink that shows a draft in even pieces; each says where in which draft it stands, in characters.

    So a browser can tell what it knows already from what it missed, whichever of events and state it got first.
    """

    def __init__(self, live: LivePost, hub: EventHub, turns: Iterator[int]) -> None:
        self.live = live
        self._hub = hub
        self._turns = turns
        self._topic = str(live.address)
        self._waiting = ""
        self._timer: asyncio.TimerHandle | None = None

    def text(self, piece: str) -> None:
        self._waiting += piece
        if self._timer is None and self._waiting:
            self._flush()

    def reset(self) -> None:
        self.end()
        self.live.text, self.live.turn = "", next(self._turns)
        self._hub.publish(self._topic, "reset_text", {"key": self.live.key, "turn": self.live.turn})

    def step(self, job: Job) -> None:
        view = step_view(job)
        self.live.steps[job.id] = view
        self._hub.publish(self._topic, "step", {"key": self.live.key, "step": view})

    def end(self) -> None:
        """Show no more of this draft."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._waiting = None, ""

    def _flush(self) -> None:
        self._timer = None
        if not self._waiting:
            return
        length = max(LEAST_PIECE, len(self._waiting) // 4)
        piece, self._waiting = self._waiting[:length], self._waiting[length:]
        place, self.live.text = len(self.live.text), self.live.text + piece
        told = {"key": self.live.key, "turn": self.live.turn, "at": place, "piece": piece}
        self._hub.publish(self._topic, "text", told)
        self._timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._flush)
