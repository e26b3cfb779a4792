"""Questions that came before their documents: asked once more when there is something to read, or all is read.

The promise is in the stored answer, so a restart keeps it. The new answer takes the old one's place.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

from core.access.availability import ANSWERS_LATER, LOOKS_AGAIN, Availability
from core.access.scopes import Access
from core.answering.answers.stored import stored_ids
from core.domain.conversation import Conversation, Message
from core.domain.incoming import IncomingMessage, is_asked_later, later_key
from core.domain.service import InboxEntry
from core.errors import FootnoteError, InvalidState, NotFound
from core.features.staleness.stale_answers import question_again
from core.ports.service import InboxStore
from core.work.conversations import Conversations

RECENT = 100  # newest entries of the workspace among which they are looked for
MOST_VERSIONS = 4  # of a question: files that are added again and again don't ask it for ever
EVERY_SECONDS = 5.0  # an answer may have been stored after its documents were read; one small query
PAUSE_SECONDS = 0.2  # reading reports every page

_log = logging.getLogger(__name__)


class EarlyQuestions:
    def __init__(
        self,
        *,
        workspace: str,
        entries: InboxStore,
        conversations: Conversations,
        availability: Availability,
        access: Access,
        receive: Callable[[IncomingMessage], Awaitable[object]],
    ) -> None:
        """`receive` is the inbox's: it has each version of a question once."""
        self._workspace = workspace
        self._entries = entries
        self._conversations = conversations
        self._availability = availability
        self._access = access
        self._receive = receive
        self._kept: set[int] = set()  # numbers of entries without a promise

    async def work(self) -> None:
        """Ask whenever documents were read; forever."""
        changed = self._availability.work.changed
        while True:
            changed.clear()
            try:
                await self.ask()
            except FootnoteError as error:
                _log.warning("Questions that came before their documents are not asked again: %s", error)
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), EVERY_SECONDS)
            await asyncio.sleep(PAUSE_SECONDS)

    async def ask(self) -> int:
        """Ask the questions again whose time has come, oldest first; return their number. Raises StorageError."""
        recent = await self._entries.recent(self._workspace, limit=RECENT)
        newest = {entry.message_key: entry for entry in reversed(recent)}
        self._kept &= {entry.seq for entry in recent}
        waiting = [item for item in newest.values() if item.status.is_final and item.seq not in self._kept]
        return sum([await self._ask_once_more(entry) for entry in sorted(waiting, key=lambda item: item.seq)])

    async def _ask_once_more(self, entry: InboxEntry) -> bool:
        found = await self._promised(entry)
        if found is None:
            self._kept.add(entry.seq)
            return False
        conversation, answer = found
        scope = await self._access.scope(entry.workspace, entry.address)
        if ANSWERS_LATER in answer.content:
            is_time = (await self._availability.of(scope, entry.address)).is_ready
        else:
            is_time = not await self._availability.is_reading(scope)
        if not is_time:
            return False
        try:
            again = await question_again(self._entries, conversation, answer, by=entry.incoming.author)
        except (NotFound, InvalidState):  # it is old, or is being asked again already
            self._kept.add(entry.seq)
            return False
        await self._receive(replace(again, event_key=later_key(entry.message_key, answer.id)))
        return True

    async def _promised(self, entry: InboxEntry) -> tuple[Conversation, Message] | None:
        """Return the answer of an entry, with its conversation, if it promises another one."""
        if not entry.decision.accepted or entry.incoming.is_note:
            return None
        try:
            conversation, answer = await self._conversations.message(stored_ids(entry.incoming).answer, entry.workspace)
        except NotFound:
            return None
        versions = await self._entries.list_versions(entry.message_key)
        later = sum(is_asked_later(item.event_key, item.message_key) for item in versions)
        is_promise = ANSWERS_LATER in answer.content or LOOKS_AGAIN in answer.content
        return (conversation, answer) if is_promise and later < MOST_VERSIONS else None
