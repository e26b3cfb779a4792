"""People at the web app and programs at the API, with their rights."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Role(StrEnum):
    """The rights of a signed-in person. Each role has the rights of the roles after it."""

    OWNER = "owner"  # opened a link of the terminal: may do everything, and sees all threads
    ADMIN = "admin"  # adds and removes documents, changes settings
    MEMBER = "member"  # asks and reads


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSession:
    """A browser that signed in. Its secret is only in the browser."""

    secret_hash: str
    person: str  # the author of their messages, under any name; "" for the owner
    name: str  # for people
    role: Role
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """A person whom a provider or a proxy signed in, as it names them now."""

    identity: str  # hexadecimal; the same at each sign-in
    name: str
    role: Role
    groups: frozenset[str] = frozenset()  # of the provider


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonOnPlatform:
    """A person, as a platform knows them, in a workspace."""

    workspace: str
    platform: str
    id: str

    @property
    def account(self) -> str:
        """The name of their account in the ledger of model calls."""
        return f"{self.platform}:{self.id}"


class TokenScope(StrEnum):
    """The rights of an API token."""

    METRICS = "metrics"  # counts and costs of the whole service, and no documents
    READ = "read"  # documents, search and extracted data
    ASK = "ask"  # also questions, and the sessions of its own person
    ADMIN = "admin"  # all of these, and all sessions and jobs

    def includes(self, needed: "TokenScope") -> bool:
        return self in (needed, TokenScope.ADMIN) or (self, needed) == (TokenScope.ASK, TokenScope.READ)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiToken:
    """A person's key to the API. Its secret was shown once."""

    id: str
    secret_hash: str
    person: str
    scope: TokenScope
    created_at: datetime
    used_at: datetime | None = None
    readers: frozenset[str] | None = None  # which readers its person is (core/access/identity.py); None: it reads all
