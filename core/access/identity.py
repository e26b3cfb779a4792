"""Signed-in browsers and API tokens: each is a secret, of which only a hash under the service's key is stored."""

import hmac
import secrets
from datetime import timedelta

from core.domain.audit import Audit
from core.domain.identity import ApiToken, Role, TokenScope, WebSession
from core.errors import BadInput
from core.ports import Clock
from core.ports.identity import IdentityRepository, OneTimeCodes
from core.text.words import collapse

OWNER_LASTS = timedelta(days=30)  # the session of a link's browser, also through restarts
LINK_SECONDS = 24 * 3600.0  # an unused link
_ENTER = "open the web app as its owner"
TOKEN_PREFIX = "footnote_"  # noqa: S105 - of each token, so that scanners of repositories find a lost one
MAX_PERSON = 80  # characters
_SECRET_BYTES = 32


class Sessions:
    """Sessions of browsers, and the links of the terminal that begin them."""

    def __init__(self, repository: IdentityRepository, codes: OneTimeCodes, clock: Clock, key: str) -> None:
        """Another `key` ends all sessions."""
        self._repository = repository
        self._codes = codes
        self._clock = clock
        self._key = key.encode()
        self.service_id = self.hash_of("service")[:8]  # tells apart the cookies of several services on a machine

    async def new_code(self) -> str:
        """Return a code that begins a session of the owner, once."""
        return await self._codes.issue(_ENTER, LINK_SECONDS)

    async def enter(self, code: str) -> str | None:
        """Exchange a code for the secret of a session of the owner; None for an invalid or expired one."""
        if not await self._codes.consume(_ENTER, code):
            return None
        return await self.begin("", "", Role.OWNER, OWNER_LASTS)

    async def begin(self, person: str, name: str, role: Role, lasts: timedelta) -> str:
        """Store a session; return its secret."""
        secret, now = secrets.token_urlsafe(_SECRET_BYTES), self._clock.now()
        hashed = self.hash_of(secret)
        await self._repository.add_session(
            WebSession(secret_hash=hashed, person=person, name=name, role=role, created_at=now, expires_at=now + lasts)
        )
        return secret

    async def meet(self, identity: str, author: str, name: str) -> str:
        """Return the author of a person's messages: that of their first sign-in, `author` for a new person."""
        return await self._repository.meet(identity, author, name)

    async def names(self) -> dict[str, str]:
        """Return the present names of all people who signed in, by author."""
        return await self._repository.names()

    async def find(self, secret: str) -> WebSession | None:
        """Return the session of a secret; None for an invalid or expired one."""
        return await self._repository.find_session(self.hash_of(secret), self._clock.now()) if secret else None

    async def end(self, session: WebSession) -> None:
        await self._repository.remove_session(session.secret_hash)

    def hash_of(self, secret: str) -> str:
        """Return a hash that only this service can compute."""
        return _hash(self._key, "session", secret)


class Tokens:
    """API tokens of people."""

    def __init__(self, repository: IdentityRepository, clock: Clock, key: str) -> None:
        """Another `key` ends all tokens."""
        self._repository = repository
        self._clock = clock
        self._key = key.encode()

    async def add(self, person: str, scope: TokenScope, *, audit: Audit = None) -> tuple[ApiToken, str]:
        """Store a new token; return it with its secret, which can't be read again. BadInput for a bad name."""
        name = collapse(person)
        if not name.isprintable() or not 0 < len(name) <= MAX_PERSON:
            raise BadInput(f"A token is for a person: name them with 1 to {MAX_PERSON} characters.")
        secret = TOKEN_PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        token = ApiToken(
            id=secrets.token_hex(4),
            secret_hash=_hash(self._key, "token", secret),
            person=name,
            scope=scope,
            created_at=self._clock.now(),
        )
        await self._repository.add_token(token, audit=audit)
        return token, secret

    async def find(self, secret: str) -> ApiToken | None:
        """Return the token of a secret, and note its use; None for an unknown or revoked one."""
        if not secret.startswith(TOKEN_PREFIX):
            return None
        return await self._repository.use_token(_hash(self._key, "token", secret), self._clock.now())


def _hash(key: bytes, kind: str, secret: str) -> str:
    return hmac.digest(key, f"footnote {kind}\x1f{secret}".encode("utf-8", "replace"), "sha256").hex()
