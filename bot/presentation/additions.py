"""Progress posts of documents that people add through a chat, from the request to Undo, on every platform.

An adapter stores a request with `Additions.request` and hands it to `AdditionFlow.begin`. The flow makes its one post,
changes it with each step, and continues after a restart (`resume`). The adapter posts and edits (`AdditionPosts`).
"""

import asyncio
import logging
from collections.abc import AsyncIterable, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from bot.presentation.action_names import Verb
from bot.presentation.answer_buttons import ActionButton, Emphasis, action_name
from bot.presentation.platform_parts import Pause
from bot.presentation.throttled_progress import ThrottledProgress
from core.domain.additions import Addition, AdditionKind, AdditionState
from core.domain.jobs import Job
from core.domain.readers import readers_label
from core.domain.service import PostRef
from core.errors import AccessDenied, FootnoteError
from core.features.additions import NOT_PERMITTED, Additions, Progress, count_pages

ADD_TO_LIBRARY = "Add to the library"  # of a message's menu
EDIT_SECONDS = 1.2  # between two edits of a post
RETRY_SECONDS = 30.0  # after an error of the database, the disk or the platform
RENEW_SECONDS = 5.0  # a lease lasts much longer
LOOK_SECONDS = 2.0  # between two looks at the work of another process

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdditionView:
    """A post: Markdown, and the buttons below it."""

    text: str
    buttons: tuple[ActionButton, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Facts about a document that was read, or restored."""

    readers: Sequence[str] = ()  # places with access to it
    is_for: str = ""  # its readers in chats, in words
    is_readable_here: bool = True
    replaces: bool = False  # a document of the same name, which Undo restores


class ReadersChoice(StrEnum):
    """The choice of a person who adds a document: its readers in chats, among the readers of uploads."""

    ALL = "all"
    CHANNEL = "channel"
    OWN = "me"


READERS_LABELS = {
    ReadersChoice.ALL: "Everyone who may read added documents",
    ReadersChoice.CHANNEL: "Everyone who can read this channel",
    ReadersChoice.OWN: "Only me",
}
READERS_HELP = "Who may read it in chats?"


def chosen_readers(choice: str, channel: str, author: str, *, is_direct: bool) -> frozenset[str] | None:
    """Return the readers that a choice stands for; None for all."""
    if choice == ReadersChoice.OWN or (choice == ReadersChoice.CHANNEL and is_direct):
        return frozenset({f"person:{author}"})
    return frozenset({f"channel:{channel}"}) if choice == ReadersChoice.CHANNEL else None


class AdditionPosts(Protocol):
    """The posts of one platform. Raises PlatformError and its like, with sentences for the log."""

    @property
    def name(self) -> str:
        """The platform of its addresses."""

    def plain(self, text: str) -> str:
        """Return a name or a text as Markdown that shows it as it is."""

    async def post(self, addition: Addition, view: AdditionView) -> PostRef:
        """Post in the place of the request.

        A crashed process may have posted it: look for the post first, by its buttons (`find_addition`).
        """

    async def edit(self, addition: Addition, view: AdditionView) -> None:
        """Change the post `addition.post_ref`; one that was deleted, or is out of reach, is ignored."""

    def open_file(self, addition: Addition) -> AsyncIterable[bytes]:
        """Return the bytes of a file from the platform. Raises FootnoteError with a sentence for people, or
        ConnectionError if it breaks off.
        """


def addition_view(progress: Progress, plain: Callable[[str], str], outcome: Outcome | None = None) -> AdditionView:
    """Return the post of an addition as it is now."""
    addition, outcome = progress.addition, outcome or Outcome()
    name, author, decider = map(plain, (addition.name, addition.author_name, addition.decided_by_name))
    undo = (_button("Undo", Verb.UNDO, addition),)
    dismiss = _button("Dismiss", Verb.DISMISS, addition)
    match addition.state:
        case AdditionState.PROPOSED if addition.is_waiting:
            add = replace(_button("Add", Verb.ADD, addition), emphasis=Emphasis.PRIMARY)
            chosen = addition.readers
            wanted = "" if chosen is None else f" In chats, it would be for {plain(readers_label(chosen))}."
            return AdditionView(text=f"{author} proposes {name}.{wanted} An admin can add it.", buttons=(add, dismiss))
        case AdditionState.PROPOSED:
            return AdditionView(text=f"{author} proposes {name}. I'm receiving it.", buttons=(dismiss,))
        case AdditionState.ACCEPTED:
            verb = "Opening" if addition.kind is AdditionKind.LINK else "Receiving"
            return AdditionView(text=f"{verb} {name}.", buttons=undo)
        case AdditionState.READING:
            page = f": page {progress.page:,} of {progress.pages:,}" if progress.page and progress.pages else "."
            text = f"{name} has to wait. {plain(progress.reason)}" if progress.reason else f"Reading {name}{page}"
            return AdditionView(text=text, buttons=undo)
        case AdditionState.READ:
            return AdditionView(text=" ".join(_added(addition, name, author, decider, outcome)), buttons=undo)
        case AdditionState.FAILED:
            return AdditionView(text=f"I kept {name}, but it can't be read. {plain(addition.reason)}", buttons=undo)
        case AdditionState.REFUSED:
            return AdditionView(text=f"I didn't add {name}. {plain(addition.reason)}")
        case AdditionState.DISMISSED:
            return AdditionView(text=f"{decider} dismissed {name}, which {author} proposed.")
        case AdditionState.UNDONE:
            after = "The earlier document of this name is back." if outcome.replaces else "It can't be read any more."
            return AdditionView(text=f"{decider} took {name} back. {after}")


def _added(addition: Addition, name: str, author: str, decider: str, outcome: Outcome) -> list[str]:
    """Return the sentences about a document that was read."""
    proposed = f" {author} proposed it, {decider} added it." if decider else ""
    said = [f"Added {name}: {count_pages(addition.pages)}.{proposed}"]
    if outcome.replaces:
        said.append("It replaces the earlier document of this name.")
    if outcome.readers:
        said.append(f"It can be read in: {', '.join(outcome.readers)}.")
    if outcome.is_for:
        said.append(f"In chats, it is for {outcome.is_for}.")
    if not outcome.is_readable_here:
        said.append("This channel may not read it yet. An admin can allow its source with /settings sources.")
    return said


def _button(label: str, verb: Verb, addition: Addition) -> ActionButton:
    return ActionButton(label=label, name=action_name(verb, addition.id))


class AdditionFlow:
    """The additions of one platform in this process, each in a task of its own."""

    def __init__(self, additions: Additions, posts: AdditionPosts, pause: Pause) -> None:
        self._additions = additions
        self._posts = posts
        self._pause = pause
        self._running: dict[str, asyncio.Task[None]] = {}

    async def begin(
        self, addition: Addition, respond: Callable[[AdditionView], Awaitable[PostRef]] | None = None
    ) -> None:
        """Post a new request, and carry it out in the background. `respond` posts it as the reply to a command."""
        if respond is not None:
            try:
                addition = replace(addition, post_ref=await respond(await self._view(Progress(addition=addition))))
            except FootnoteError as error:  # the task posts it
                _log.info("The reply to %s was not posted: %s", addition.id, error)
            else:
                await self._additions.note_post(addition, addition.post_ref or "")
        self._start(addition)

    async def press(
        self, verb: Verb, addition_id: str, workspace: str, *, by: str, by_name: str, is_permitted: bool
    ) -> None:
        """Add or dismiss a proposal, or undo an addition. Raises AccessDenied, NotFound and InvalidState."""
        addition = await self._additions.get(addition_id, workspace)
        if not is_permitted:
            raise AccessDenied(NOT_PERMITTED.format(what="add or remove"))
        if verb is Verb.UNDO:
            addition = await self._additions.undo(addition, by=by, by_name=by_name)
        else:
            addition = await self._additions.decide(addition, by=by, by_name=by_name, is_added=verb is Verb.ADD)
        await self._stop(addition.id)
        self._start(addition, takes_over=True)

    async def resume(self) -> None:
        """Continue the unfinished additions of earlier processes. Safe to repeat. Raises StorageError."""
        for addition in await self._additions.unsettled(self._posts.name):
            self._start(addition)

    async def idle(self) -> None:
        """Wait until all tasks have ended, for tests."""
        while self._running:
            await asyncio.wait(self._running.values())
            await asyncio.sleep(0)

    async def close(self) -> None:
        """Stop all tasks; they continue at the next start."""
        for addition_id in list(self._running):
            await self._stop(addition_id)

    def _start(self, addition: Addition, *, takes_over: bool = False) -> None:
        if addition.id not in self._running:
            task = self._running[addition.id] = asyncio.create_task(self._carry_out(addition, takes_over))
            task.add_done_callback(lambda done: self._end(addition.id, done))

    def _end(self, addition_id: str, task: "asyncio.Task[None]") -> None:
        if self._running.get(addition_id) is task:
            del self._running[addition_id]
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("The addition %s stopped", addition_id, exc_info=error)

    async def _stop(self, addition_id: str) -> None:
        task = self._running.pop(addition_id, None)
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def _carry_out(self, addition: Addition, takes_over: bool) -> None:
        """Run an addition to its end. Errors of the storage and of the platform are tried again.

        While another process works on it, wait until that has finished, or has died.
        """
        while True:
            try:
                ours = await self._additions.claim(addition, takes_over=takes_over)
                if ours is not None:
                    if not ours.is_settled:
                        await self._run_claimed(ours)
                    return
                await self._pause(LOOK_SECONDS)
                if (await self._additions.get(addition.id, addition.workspace)).is_settled:
                    return
            except FootnoteError as error:
                _log.warning("The addition %s has to wait: %s", addition.id, error)
                await self._pause(RETRY_SECONDS)

    async def _run_claimed(self, addition: Addition) -> None:
        """Run an addition while this process owns it, and leave it to the one that takes over."""
        running = asyncio.create_task(self._run(addition))
        try:
            while not (await asyncio.wait({running}, timeout=RENEW_SECONDS))[0]:
                if not await self._additions.repository.renew(addition.id):
                    _log.info("Another process took over the addition %s", addition.id)
                    return
            running.result()
        finally:
            running.cancel()
            await asyncio.wait({running})
            await self._additions.repository.release(addition.id)

    async def _run(self, addition: Addition) -> None:
        if addition.post_ref is None:
            ref = await self._posts.post(addition, await self._view(Progress(addition=addition)))
            await self._additions.note_post(addition, ref)
            addition = replace(addition, post_ref=ref)
        live = _LivePost(self._show, self._pause)
        progress = Progress(addition=addition)
        try:
            async for progress in self._additions.run(addition, self._posts.open_file):
                progress = replace(progress, addition=replace(progress.addition, post_ref=addition.post_ref))
                live.put(progress)
        finally:
            await live.close()
        await self._show(progress)
        await self._additions.settle(progress.addition)

    async def _show(self, progress: Progress) -> None:
        await self._posts.edit(progress.addition, await self._view(progress))

    async def _view(self, progress: Progress) -> AdditionView:
        addition, outcome = progress.addition, Outcome()
        if addition.state is AdditionState.READ:
            outcome = Outcome(
                readers=[self._posts.plain(reader) for reader in await self._additions.readers(addition)],
                is_for=await self._additions.uploads.readers_label(addition.workspace, addition.path),
                is_readable_here=await self._additions.is_readable_here(addition),
                replaces=await self._additions.replaces(addition),
            )
        elif addition.state is AdditionState.UNDONE:
            outcome = Outcome(replaces=await self._additions.replaces(addition))
        return addition_view(progress, self._posts.plain, outcome)


class _LivePost(ThrottledProgress):
    """The post of an addition, changed while it runs."""

    def __init__(self, show: Callable[[Progress], Awaitable[None]], pause: Pause) -> None:
        super().__init__(pause)
        self._show = show
        self._progress: Progress | None = None

    def put(self, progress: Progress) -> None:
        self._progress = progress
        if not progress.addition.state.is_final:  # the last one is shown after `close`
            self.mark_changed()

    async def render(self, text: str, jobs: Sequence[Job]) -> float:
        if self._progress is not None:
            try:
                await self._show(self._progress)
            except FootnoteError as error:  # the last edit tries again, and reports it
                _log.info("A step could not be shown: %s", error)
        return EDIT_SECONDS
