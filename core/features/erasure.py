"""Removal of a person or a workspace, with all that is stored of them and all posts of their answers.

Open questions end first, without a post, as a post may be on its way. Files and the search index go before the rows
that name them: after an interruption, the same command finds the rest.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from core.domain.erasure import ErasedPerson
from core.domain.identity import PersonOnPlatform
from core.domain.incoming import ThreadAddress
from core.domain.service import WITHDRAWN
from core.errors import NotFound
from core.features.kept_answers import KeptAnswers
from core.features.live_channels import LiveChannels
from core.knowledge.library import Library
from core.ports import Clock, CorpusRepository
from core.ports.identity import ErasureStore
from core.ports.service import InboxStore

PATIENCE_SECONDS = 15.0  # for answers that are being posted
LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRemoval:
    """A removed person."""

    person: PersonOnPlatform
    pseudonym: str
    erased: ErasedPerson
    kept_answers: int
    channel_messages: int

    def __str__(self) -> str:
        erased = self.erased
        return (
            f"Removed {self.person.id!r} of {self.person.platform}: {_count(erased.questions, 'question')}, "
            f"{_count(len(erased.conversations), 'whole conversation')}, {_count(self.kept_answers, 'kept answer')}, "
            f"{_count(self.channel_messages, 'message')} of live channels. "
            f"{_posts(erased.posts)} Costs and the audit log call them {self.pseudonym!r} from now on."
        )

    def to_json(self) -> dict[str, object]:
        return {
            "removed": self.person.id,
            "platform": self.person.platform,
            "workspace": self.person.workspace,
            "pseudonym": self.pseudonym,
            "questions": self.erased.questions,
            "conversations": len(self.erased.conversations),
            "kept_answers": self.kept_answers,
            "channel_messages": self.channel_messages,
            "posts": self.erased.posts,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceRemoval:
    """A removed workspace."""

    name: str
    pseudonym: str
    sources: int
    documents: int
    conversations: int
    posts: int

    def __str__(self) -> str:
        return (
            f"Removed the workspace {self.name!r}: {_count(self.sources, 'source')}, "
            f"{_count(self.documents, 'document')}, {_count(self.conversations, 'conversation')}. {_posts(self.posts)} "
            f"Costs and the audit log call it {self.pseudonym!r} from now on."
        )

    def to_json(self) -> dict[str, object]:
        return {
            "removed": self.name,
            "pseudonym": self.pseudonym,
            "sources": self.sources,
            "documents": self.documents,
            "conversations": self.conversations,
            "posts": self.posts,
        }


class Erasure:
    """Removes people and workspaces."""

    def __init__(
        self,
        store: ErasureStore,
        inbox: InboxStore,
        corpus: CorpusRepository,
        library: Library,
        kept: KeptAnswers,
        live: LiveChannels,
        forget_files: Callable[[ThreadAddress], Awaitable[None]],
        delete_folders: Callable[[str], Awaitable[None]],
        *,
        posted: Collection[str],
        clock: Clock,
    ) -> None:
        """`forget_files` deletes the files of a thread, `delete_folders` a workspace's folders in the data directory.

        `posted` names the platforms whose posts aren't read from the history.
        """
        self._store = store
        self._inbox = inbox
        self._corpus = corpus
        self._library = library
        self._kept = kept
        self._live = live
        self._forget_files = forget_files
        self._delete_folders = delete_folders
        self._posted = frozenset(posted)
        self._clock = clock

    async def remove_person(self, person: PersonOnPlatform, *, by: str) -> PersonRemoval:
        """Remove a person from a workspace. Safe to repeat. Raises StorageError.

        An unknown person is removed, too: rows may name a person without messages.
        """
        await self._withdraw(person.workspace, person)
        kept, said = await self._kept.forget_person(person), await self._live.forget_person(person)
        pseudonym = _pseudonym()
        erased = await self._store.erase_person(person, pseudonym, by, self._clock.now())
        for address in erased.conversations:
            await self._forget_files(address)
            await self._kept.forget_thread(address)
        await self._kept.sweep()
        return PersonRemoval(
            person=person, pseudonym=pseudonym, erased=erased, kept_answers=kept, channel_messages=said
        )

    async def remove_workspace(self, name: str, *, by: str) -> WorkspaceRemoval:
        """Remove a workspace. Safe to repeat. Raises StorageError."""
        await self._withdraw(name, None)
        await self._kept.forget_workspace(name)
        sources = await self._corpus.list_sources(name)
        documents = await self._corpus.list_documents(name)
        pseudonym = _pseudonym()
        erased = await self._store.erase_workspace(name, pseudonym, by, self._clock.now(), self._posted)
        for source in sources:
            await self._library.remove_source(name, source.name)
        await self._delete_folders(name)
        return WorkspaceRemoval(
            name=name,
            pseudonym=pseudonym,
            sources=len(sources),
            documents=len(documents),
            conversations=erased.conversations,
            posts=erased.posts,
        )

    async def _withdraw(self, workspace: str, person: PersonOnPlatform | None) -> None:
        """Have all open work end silently, and wait while workers are at it, but not for ever."""
        for key in {key for key, _ in await self._store.open_messages(workspace, person)}:
            await self._inbox.cancel(key, WITHDRAWN)
        for _ in range(round(PATIENCE_SECONDS / LOOK_SECONDS)):
            if not any(is_worked_on for _, is_worked_on in await self._store.open_messages(workspace, person)):
                return
            await asyncio.sleep(LOOK_SECONDS)


def check_known(name: str, known: Collection[str]) -> None:
    """Raise NotFound for an unknown workspace."""
    if name not in known:
        raise NotFound(f"Unknown workspace {name!r}. Workspaces: {', '.join(map(repr, sorted(known)))}.")


def _pseudonym() -> str:
    """Return a name that nothing can be derived from."""
    return f"removed-{secrets.token_hex(4)}"


def _count(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number} {noun}s"


def _posts(number: int) -> str:
    if not number:
        return "No post is left to delete."
    return f"{_count(number, 'post')} will be deleted by the service, as soon as the platform lets it."
