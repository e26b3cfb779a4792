"""Ports of identity: people who signed in, API tokens, and one-time codes."""

from datetime import datetime
from typing import Protocol

from core.domain.audit import Audit
from core.domain.identity import ApiToken, WebSession


class OneTimeCodes(Protocol):
    """Codes that prove once, within a time limit, that a person comes back from a page that we sent them to."""

    async def issue(self, purpose: str, seconds: float) -> str:
        """Return a new code that is safe in a URL and can't be guessed. Deletes expired codes."""

    async def consume(self, purpose: str, code: str) -> bool:
        """Return whether the code was issued for this, in time, and is unused in all processes; it is used up then."""


class IdentityRepository(Protocol):
    """Browsers that signed in, and API tokens: only the hashes of their secrets. On disk when a write returns."""

    async def add_session(self, session: WebSession) -> None:
        """Store a session with a new hash, and delete sessions that expired before it was created."""

    async def find_session(self, secret_hash: str, now: datetime) -> WebSession | None:
        """Return None for an unknown one and for one that has expired."""

    async def remove_session(self, secret_hash: str) -> None:
        """Ignore an unknown one."""

    async def remove_sessions(self, *, audit: Audit = None) -> int:
        """Remove all sessions; return their number."""

    async def meet(self, identity: str, author: str, name: str) -> str:
        """Store a person who signed in, and their present name; return the author of their first sign-in.

        `author` is that of a new person. Reads only, if nothing changed.
        """

    async def names(self) -> dict[str, str]:
        """Return the present names of all people who signed in, by author."""

    async def add_token(self, token: ApiToken, *, audit: Audit = None) -> None: ...

    async def use_token(self, secret_hash: str, now: datetime) -> ApiToken | None:
        """Return the token as it was before this use, and note the use, at most once a day; None for an unknown one."""

    async def list_tokens(self) -> list[ApiToken]:
        """Return all tokens, the oldest first."""

    async def remove_token(self, id: str, *, audit: Audit = None) -> bool:
        """Return whether it existed."""
