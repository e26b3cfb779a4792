"""Ports of identity: people who signed in, API tokens, one-time codes, and the removal of people and workspaces."""

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from core.domain.audit import Audit
from core.domain.erasure import ErasedPerson, ErasedWorkspace
from core.domain.identity import ApiToken, PersonOnPlatform, WebSession


class OneTimeCodes(Protocol):
    """Codes that prove once, within a time limit, that a person comes back from a page that we sent them to."""

    async def issue(self, purpose: str, seconds: float) -> str:
        """Return a new code that is safe in a URL and can't be guessed. Deletes expired codes."""

    async def consume(self, purpose: str, code: str) -> bool:
        """Return whether the code was issued for this, in time, and is unused in all processes; it is used up then."""


class SignedInPeople(Protocol):
    """People who signed in, by the author of their messages. On disk when a write returns."""

    async def meet(self, identity: str, author: str, name: str, groups: frozenset[str] = frozenset()) -> str:
        """Store a person who signed in, their present name and groups; return the author of their first sign-in.

        `author` is that of a new person. Reads only, if nothing changed.
        """

    async def names(self) -> dict[str, str]:
        """Return the present names of all, by author."""

    async def groups_of(self, mark: str) -> frozenset[str]:
        """Return the groups of a person at their last sign-in, by the mark of their author; none of an unknown one."""


class IdentityRepository(SignedInPeople, Protocol):
    """Browsers that signed in, and API tokens: only the hashes of their secrets. On disk when a write returns."""

    async def add_session(self, session: WebSession) -> None:
        """Store a session with a new hash, and delete sessions that expired before it was created."""

    async def find_session(self, secret_hash: str, now: datetime) -> WebSession | None:
        """Return None for an unknown one and for one that has expired."""

    async def remove_session(self, secret_hash: str) -> None:
        """Ignore an unknown one."""

    async def remove_sessions(self, *, audit: Audit = None) -> int:
        """Remove all sessions; return their number."""

    async def add_token(self, token: ApiToken, *, audit: Audit = None) -> None: ...

    async def use_token(self, secret_hash: str, now: datetime) -> ApiToken | None:
        """Return the token as it was before this use, and note the use, at most once a day; None for an unknown one."""

    async def list_tokens(self) -> list[ApiToken]:
        """Return all tokens, the oldest first."""

    async def remove_token(self, id: str, *, audit: Audit = None) -> bool:
        """Return whether it existed."""


class ErasureStore(Protocol):
    """All that is stored of a person or a workspace, deleted by one commit, which is durable."""

    async def open_messages(self, workspace: str, person: PersonOnPlatform | None) -> list[tuple[str, bool]]:
        """Return the keys of open messages, each with whether a worker is at it; None: of all people."""

    async def erase_person(self, person: PersonOnPlatform, pseudonym: str, by: str, now: datetime) -> ErasedPerson:
        """Delete a person's questions with their answers, and all notes about them.

        Where rows belong to the team (costs, added documents, the audit log), the pseudonym takes their place.
        Conversations stay if others asked in them, too. Posts are deleted later, as with ConversationRepository.delete.
        """

    async def erase_workspace(
        self, workspace: str, pseudonym: str, by: str, now: datetime, posted: Collection[str]
    ) -> ErasedWorkspace:
        """Delete all rows of a workspace but its sources, which are removed before.

        Costs and the audit log stay under the pseudonym, without channels, people and names. Entries with a post on one
        of the platforms `posted` stay, empty, until it is deleted.
        """
