"""Live channels: the messages of people in channels that an admin named, as a source of the library.

Messages are stored as they are heard, and read into the library soon after. What is deleted on the platform is deleted
here: its text at once, then its document with all that rests on it. As deletions are missed while the bot is away, a
channel is closed to readers until it was compared with the platform's history.
"""

import asyncio
import logging
import tempfile
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from core.access.scopes import Access
from core.domain.audit import AuditNote, Deed
from core.domain.channels import (
    LIVE_KIND,
    ChannelMessage,
    StoredMessage,
    live_source_id,
    location_of,
    path_of,
    write_thread,
)
from core.domain.corpus import Document, Source, document_id
from core.domain.identity import PersonOnPlatform
from core.domain.incoming import ChannelAddress, ThreadAddress, message_key
from core.domain.ingest_report import IngestReport
from core.domain.service import ACCEPTED
from core.errors import BadInput, FootnoteError, NotFound
from core.knowledge.library import Library
from core.ports import Clock, CorpusRepository
from core.ports.documents import ChannelHistory, ChannelMessageRepository
from core.ports.service import InboxStore
from core.thread_work import to_its_end

DEBOUNCE_SECONDS = 2.0  # people write several messages in a row
RETRY_SECONDS = 60.0
MOST_AT_ONCE = 200  # threads in one run
NOT_LIVE = "This channel isn't a source. An admin can change that: /settings live_channel on."
_NOT_CONNECTED = "I'm not connected, so I can't read the channel. Try again in a minute."
_log = logging.getLogger(__name__)


class Ingest(Protocol):
    async def __call__(
        self, source: Source, root: Path, only: Sequence[str], *, kind: str | None = None
    ) -> IngestReport:
        """Read files of a stored source, as Ingestor does."""


class LiveChannels:
    """The live channels of all workspaces (implements Derived). `histories` are of the platforms, by name."""

    def __init__(
        self,
        repository: ChannelMessageRepository,
        corpus: CorpusRepository,
        inbox: InboxStore,
        access: Access,
        library: Library,
        ingest: Ingest,
        *,
        alone: Callable[[], AbstractAsyncContextManager[None]],
        clock: Clock,
        keep_days: float,
        debounce_seconds: float = DEBOUNCE_SECONDS,
    ) -> None:
        """`library` removes their documents; `alone` lets one process read at a time."""
        self.histories: dict[str, ChannelHistory] = {}
        self._repository = repository
        self._corpus = corpus
        self._inbox = inbox
        self._shown = access.live
        self._library = library
        self._ingest = ingest
        self._alone = alone
        self._clock = clock
        self._keep = timedelta(days=keep_days)
        self._debounce = debounce_seconds
        self._connected: set[str] = set()  # names of platforms
        self._opened: dict[str, str] = {}  # platforms of channels that were open once, by source
        self._losses = 0  # of connections
        self._troubles: dict[str, str] = {}  # last error, by source
        self._one_at_a_time = asyncio.Lock()
        self._wake = asyncio.Event()

    # ------------------------------------------------------------------ which channels

    async def find(self, channel: ChannelAddress, *, lately: bool = False) -> Source | None:
        """Return the source of a live channel; None for any other. `lately` spares the read for each message."""
        wanted = live_source_id(channel)
        return next((one for one in await self._repository.list_sources(lately=lately) if one.id == wanted), None)

    async def sources(self) -> list[Source]:
        """Return the sources of all live channels."""
        return await self._repository.list_sources()

    def is_open(self, source: Source) -> bool:
        """Return whether people may read it now."""
        return source.id in self._shown.compared

    async def turn_on(self, channel: ChannelAddress, *, by: str) -> Source:
        """Make a channel a source, which opens once its history was read. Raises BadInput for one that can't be."""
        history = self.histories.get(channel.platform)
        if history is None:
            raise BadInput(_NOT_CONNECTED)
        if (known := await self.find(channel)) is not None:
            return known
        name = await history.name(channel)
        taken = {source.name for source in await self._corpus.list_sources(channel.workspace)}
        source = Source(
            id=live_source_id(channel),
            workspace=channel.workspace,
            name=name if name not in taken else f"{name} ({location_of(channel)})",
            kind=LIVE_KIND,
            location=location_of(channel),
            readers=frozenset({f"channel:{channel.channel}"}),
        )
        await self._corpus.save_source(
            source,
            audit=AuditNote(workspace=source.workspace, actor=by, deed=Deed.SOURCE_ADDED, about=source.name),
        )
        self._wake.set()
        return source

    async def turn_off(self, channel: ChannelAddress, *, by: str = "") -> None:
        """Remove a channel with all that was kept of it; one that isn't live is ignored."""
        if (source := await self.find(channel)) is not None:
            self._shown.compared.discard(source.id)
            with suppress(NotFound):  # another process was faster
                await self._library.remove_source(source.workspace, source.name, by=by)

    # ------------------------------------------------------------------ messages

    async def hear(self, channel: ChannelAddress, message: ChannelMessage) -> None:
        """Store a new or an edited message of a live channel; durable when it returns. Others are ignored.

        Raises StorageError.
        """
        source = await self.find(channel, lately=True)
        if source is None or message.begun_at < self._clock.now() - self._keep:
            return
        if message.root == message.id or not await self._is_question(channel, message.root):
            self._hide(source, await self._repository.save(source.id, [message]))
        await self.visit(channel, message.author, message.said_at)
        self._wake.set()

    async def name(self, channel: ChannelAddress, id: str, author_name: str) -> None:
        """Store the name of a message's author, which could not be looked up in time."""
        source = await self.find(channel)
        found = await self._repository.list_messages(source.id) if source is not None else []
        said = next((item.message for item in found if item.message.id == id and not item.is_gone), None)
        if source is not None and said is not None:
            await self._repository.save(source.id, [replace(said, author_name=author_name)])
            self._wake.set()

    async def visit(self, channel: ChannelAddress, person: str, at: datetime) -> None:
        """Note that a person was in a channel, if it is live."""
        if (source := await self.find(channel, lately=True)) is not None:
            await self._repository.note_visit(source.id, person, at)

    async def last_visit(self, source: Source, person: str, *, unknown: datetime) -> datetime:
        """Return when a person was last in a channel, or `unknown`."""
        return await self._repository.last_visit(source.id, person) or unknown

    async def said_since(self, source: Source, since: datetime) -> list[ChannelMessage]:
        """Return the messages since then by time, as the library has them."""
        await self._read(source)
        found = await self._repository.list_messages(source.id, since=since)
        return [item.message for item in found if item.is_read and not item.is_gone]

    async def _is_question(self, channel: ChannelAddress, id: str) -> bool:
        """Return whether a message asked the bot, so that its thread is no talk between people."""
        address = ThreadAddress(
            platform=channel.platform, workspace=channel.workspace, channel=channel.channel, thread=""
        )
        versions = await self._inbox.list_versions(message_key(address, id))
        return any(entry.decision.code == ACCEPTED.code for entry in versions)

    # ------------------------------------------------------------------ deletions

    async def forget_message(self, message_key: str) -> None:
        """Delete a deleted message with all that rests on it."""
        for source in await self.sources():
            before = _key_of(source)
            if message_key.startswith(before):
                await self._bury(source, {message_key.removeprefix(before)})

    async def forget_thread(self, address: ThreadAddress) -> None:
        """Delete the replies of a removed thread; its first message may be elsewhere."""
        source = await self.find(ChannelAddress.of(address))
        if source is not None and address.thread:
            found = await self._repository.list_messages(source.id, roots={address.thread})
            await self._bury(source, {item.message.id for item in found if item.message.id != address.thread})

    async def forget_channel(self, channel: ChannelAddress) -> None:
        """Remove a deleted channel, or one that the bot has left."""
        await self.turn_off(channel)

    async def leave(self, platform: str) -> None:
        """Remove the channels that the bot no longer sees, after it was removed from a server or team."""
        for source in await self.sources():
            channel = _channel_of(source)
            try:
                if channel.platform == platform and platform in self.histories:
                    await self.histories[platform].name(channel)
            except NotFound:
                await self.forget_channel(channel)
            except FootnoteError as error:
                _log.info("It is unknown whether %s is still there: %s", source.name, error)

    async def forget_person(self, person: PersonOnPlatform) -> int:
        """Delete the messages of a person; return the number."""
        count = 0
        for source in await self.sources():
            if source.workspace == person.workspace and source.location.startswith(f"{person.platform}:"):
                theirs = await self._repository.list_by(source.id, person.id)
                await self._bury(source, theirs)
                await self._repository.forget_visits(source.id, person.id)
                count += len(theirs)
        return count

    async def sweep(self) -> int:
        """Delete threads that are too old; return the number of messages."""
        count, oldest = 0, self._clock.now() - self._keep
        for source in await self.sources():
            old = await self._repository.list_older(source.id, oldest)
            await self._bury(source, old)
            await self._repository.purge(source.id, oldest)
            count += len(old)
        return count

    async def _bury(self, source: Source, ids: Collection[str]) -> None:
        """Delete the texts first, then the documents with all that rests on them."""
        roots = await self._repository.bury(source.id, ids) if ids else frozenset()
        if roots:
            self._hide(source, roots)
            await self._drop(source, roots)
            self._wake.set()

    def _hide(self, source: Source, roots: Iterable[str]) -> None:
        self._shown.changing |= {_document_id(source, root) for root in roots}

    async def _drop(self, source: Source, roots: Collection[str]) -> None:
        """Remove the documents of threads; those with messages left are read again."""
        wanted = {_document_id(source, root) for root in roots}
        await self._library.forget([item for item in await self._documents(source) if item.id in wanted])

    async def _documents(self, source: Source) -> list[Document]:
        return await self._corpus.list_documents(source.workspace, frozenset({source.id}))

    # ------------------------------------------------------------------ comparing and reading

    def note_connection(self, platform: str, is_connected: bool) -> None:
        """Close a platform's channels when its connection begins or ends, as events may have been missed.

        They open once they were compared with their histories.
        """
        self._losses += 1
        self._shown.compared -= {id for id, place in self._opened.items() if place == platform}
        if is_connected:
            self._connected.add(platform)
            self._wake.set()
        else:
            self._connected.discard(platform)

    def recheck(self, channel: ChannelAddress) -> None:
        """Close a channel that may have become unreadable, until it was compared again."""
        self._shown.compared.discard(live_source_id(channel))
        self._wake.set()

    async def tidy(self) -> int:
        """Delete messages that are too old, and compare all channels again; return the number of deleted messages."""
        count = await self.sweep()
        for source in await self.sources():
            if self.is_open(source):
                with suppress(FootnoteError):  # it is closed then, and compared again and again
                    await self.compare(source)
        self._wake.set()
        return count

    async def work(self) -> None:
        """Compare closed channels, and read new messages, forever."""
        while True:
            self._wake.clear()
            pause = None if await self._work_once() else RETRY_SECONDS
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), pause)
            await asyncio.sleep(self._debounce)

    async def _work_once(self) -> bool:
        is_done = True
        for source in await self._listed():
            try:
                if not self.is_open(source) and source.location.partition(":")[0] in self._connected:
                    await self.compare(source)
                await self._read(source)
            except (FootnoteError, OSError) as error:
                is_done = False
                if self._troubles.get(source.id) != str(error):  # once, and not with each try
                    _log.warning("The live channel %s is behind: %s", source.name, error)
                self._troubles[source.id] = str(error)
            else:
                self._troubles.pop(source.id, None)
        return is_done

    async def _listed(self) -> list[Source]:
        try:
            return await self.sources()
        except FootnoteError as error:
            _log.warning("The live channels can't be read: %s", error)
            return []

    async def compare(self, source: Source) -> None:
        """Make a channel as its platform has it now, and open it. Raises FootnoteError; it is closed then."""
        losses, channel = self._losses, _channel_of(source)
        seen = {item.message.id: item for item in await self._repository.list_messages(source.id)}
        try:
            said = await self.histories[channel.platform].read(channel, self._clock.now() - self._keep)
        except (FootnoteError, KeyError):
            self._shown.compared.discard(source.id)
            raise
        there = {message.id for message in said}
        gone = {id for id, item in seen.items() if id not in there and not item.is_gone}
        versions = {id: item.version for id, item in seen.items()}
        self._hide(source, await self._repository.save(source.id, sorted(said, key=lambda one: one.said_at), versions))
        await self._bury(source, gone)
        left = {item.message.root for item in await self._open_threads(source) if item.is_gone or item.version > 1}
        self._hide(source, left)
        if losses == self._losses and await self.find(channel) is not None:
            self._opened[source.id] = channel.platform
            self._shown.compared.add(source.id)
            _log.info("The live channel %s is open: %d messages", source.name, len(said))

    async def _open_threads(self, source: Source) -> list[StoredMessage]:
        """Return the messages of threads that the library doesn't have as they are now."""
        roots = await self._repository.list_open(source.id)
        return await self._repository.list_messages(source.id, roots=roots)

    async def _read(self, source: Source) -> None:
        """Bring the library up to date with a channel. Raises StorageError and ModelMissing."""
        async with self._one_at_a_time, self._alone():
            while roots := sorted(await self._repository.list_open(source.id))[:MOST_AT_ONCE]:
                await self._read_threads(source, roots)

    async def _read_threads(self, source: Source, roots: Sequence[str]) -> None:
        found = await self._repository.list_messages(source.id, roots=roots)
        await self._drop(source, {item.message.root for item in found if item.is_gone and not item.is_read})
        threads: dict[str, list[ChannelMessage]] = {}
        for item in found:
            if not item.is_gone:
                threads.setdefault(item.message.root, []).append(item.message)
        with tempfile.TemporaryDirectory(prefix="footnote-") as folder:
            for root, messages in threads.items():
                text = write_thread(source.name, messages)
                await to_its_end(lambda: Path(folder, path_of(root)).write_text(text, "utf-8", errors="replace"))  # noqa: B023
            report = await self._ingest(source, Path(folder), [path_of(root) for root in roots], kind=LIVE_KIND)
        for failure in report.failures:
            _log.warning("A thread of %s can't be read: %s", source.name, failure.reason)
        await self._repository.settle(source.id, found)
        behind, gone = set[str](), set[str]()
        for item in await self._open_threads(source):  # they changed while they were read
            behind.add(item.message.root)
            gone |= {item.message.root} if item.is_gone else set()
        await self._drop(source, gone & set(roots))
        self._shown.changing -= {_document_id(source, root) for root in roots if root not in behind}


def _document_id(source: Source, root: str) -> str:
    return document_id(source.workspace, source.id, path_of(root))


def _channel_of(source: Source) -> ChannelAddress:
    platform, _, channel = source.location.partition(":")
    return ChannelAddress(platform=platform, workspace=source.workspace, channel=channel)


def _key_of(source: Source) -> str:
    """Return the beginning of the keys of a channel's messages."""
    channel = _channel_of(source)
    return f"{channel.platform}:{channel.workspace}:{channel.channel}:"
