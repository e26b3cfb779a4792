"""Answers what the inbox holds: each thread in order, threads side by side, every message in exactly one post.

`Worker.run` claims, `_attempt` is one try at one message. An error ends in `core/retries.py`'s decision; a kill at any
moment leaves the entry claimed, and whoever claims it next finds in the history and on the platform how far it got.
"""

from collections.abc import Mapping
from typing import Protocol

from core.domain.answer import Answer
from core.domain.conversation import IncomingMessage
from core.domain.inbox import InboxEntry
from core.ports import Clock, ProgressSink
from core.service_ports import ChatPlatform, InboxStore

DEFAULT_PARALLEL = 64  # questions at once: they wait for models, not for the processor
DEFAULT_TRIES = 4  # with the pauses between them well under a minute: the thread waits behind it
DEFAULT_TIMEOUT_SECONDS = 300.0  # of one try; the agent's own budget (90 s) ends long before


class Answering(Protocol):
    """What the worker needs of AnswerService."""

    async def answer(self, message: IncomingMessage, progress: ProgressSink) -> Answer: ...


class Worker:
    """One process's worker. `run` until `stop`; `wake` and `cancel` may be called from anywhere in the event loop."""

    def __init__(
        self,
        store: InboxStore,
        answers: Answering,
        platforms: Mapping[str, ChatPlatform],
        clock: Clock,
        *,
        parallel: int = DEFAULT_PARALLEL,
        tries: int = DEFAULT_TRIES,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    ) -> None:
        """`platforms` by name; entries of other platforms are left for other workers."""
        self._store = store

    async def run(self) -> None:
        """Work until `stop`. Storage errors are logged and tried again; anything else raised here is a bug."""

    async def stop(self) -> None:
        """Claim nothing more, leave unfinished work for the next start, and let `run` end; within about a second."""

    def wake(self) -> None:
        """There may be something to claim: look now instead of at the next poll."""

    async def cancel(self, message_key: str, by: str) -> list[InboxEntry]:
        """Stop the answer to a message; its post will say so. By its asker alone: AccessDenied.

        InvalidState when nothing of it is open. Gives the entries concerned.
        """
        return await self._store.cancel(message_key, by)

    @property
    def running(self) -> tuple[InboxEntry, ...]:
        """What is being worked on."""
        return ()
