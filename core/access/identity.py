"""Signed-in browsers and API tokens: each is a secret, of which only a hash under the service's key is stored."""

import hmac
import re
import secrets
from collections.abc import Iterable, Mapping
from datetime import timedelta

from core.domain.audit import Audit
from core.domain.identity import ApiToken, Role, TokenScope, WebSession
from core.domain.incoming import ThreadAddress
from core.domain.readers import EVERYONE, READER_FORMS, Audience, parse_readers
from core.errors import BadInput, PlatformError
from core.ports import Clock, ConversationRepository
from core.ports.identity import IdentityRepository, OneTimeCodes, SignedInPeople
from core.ports.service import Audiences
from core.text.words import collapse

OWNER_LASTS = timedelta(days=30)  # the session of a link's browser, also through restarts
LINK_SECONDS = 24 * 3600.0  # an unused link
_ENTER = "open the web app as its owner"
NO_PERSON = "api"  # author of the API's requests without a token of a person: the operator's
_LIVE = re.compile(r"(?:discord|slack):[A-Za-z0-9]{1,64}|web:[0-9a-f]{16}")
LIVE_FORMS = "discord:ID, slack:ID, web:MARK"
TOKEN_PREFIX = "footnote_"  # noqa: S105 - of each token, so that scanners of repositories find a lost one
MAX_PERSON = 80  # characters
_SECRET_BYTES = 32


class Sessions:
    """Sessions of browsers, and the links of the terminal that begin them."""

    def __init__(self, repository: IdentityRepository, codes: OneTimeCodes, clock: Clock, key: str) -> None:
        """Another `key` ends all sessions."""
        self._repository = repository
        self.people: SignedInPeople = repository
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

    async def add(
        self, person: str, scope: TokenScope, readers: frozenset[str] | None, *, audit: Audit = None
    ) -> tuple[ApiToken, str]:
        """Store a new token; return it with its secret, which can't be read again.

        `readers` are those that its person is (see `parse_token_readers`); None: it reads all documents.
        BadInput for a bad name, for an admin's token that doesn't read all, and for one for metrics that reads any.
        """
        name = collapse(person)
        if not name.isprintable() or not 0 < len(name) <= MAX_PERSON or name == NO_PERSON:
            raise BadInput(f"A token is for a person: name them with 1 to {MAX_PERSON} characters, not {NO_PERSON!r}.")
        if scope is TokenScope.ADMIN and readers is not None:
            raise BadInput("An admin's token sees all sessions and jobs, and so all documents: leave --as out.")
        if scope is TokenScope.METRICS and readers != frozenset():
            raise BadInput("A token for metrics reads no documents: leave --as and --everything out.")
        secret = TOKEN_PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        token = ApiToken(
            id=secrets.token_hex(4),
            secret_hash=_hash(self._key, "token", secret),
            person=name,
            scope=scope,
            created_at=self._clock.now(),
            readers=readers,
        )
        await self._repository.add_token(token, audit=audit)
        return token, secret

    async def find(self, secret: str) -> ApiToken | None:
        """Return the token of a secret, and note its use; None for an unknown or revoked one."""
        if not secret.startswith(TOKEN_PREFIX):
            return None
        return await self._repository.use_token(_hash(self._key, "token", secret), self._clock.now())


def parse_token_readers(words: Iterable[str]) -> frozenset[str]:
    """Read which readers the person of a token is, as people write them. BadInput for anything else.

    `slack:ID`, `discord:ID` and `web:MARK` are all readers that the person is on the platform, at each request.
    """
    found = {word.strip() for word in words}
    live = {word for word in found if _LIVE.fullmatch(word)}
    if not found:
        raise BadInput(f"Say who the token's person is: {READER_FORMS}, or {LIVE_FORMS}.")
    return parse_readers(found - live) | live


class ApiAudiences:
    """The people who read the API's sessions (implements Audiences): each session is one person's.

    Several tokens of a person together read what each of them may read, apart from those that read all.
    """

    def __init__(
        self,
        conversations: ConversationRepository,
        repository: IdentityRepository,
        platforms: Mapping[str, Audiences],
    ) -> None:
        """`platforms` know the people of Discord, Slack and the web app, by platform."""
        self._conversations = conversations
        self._repository = repository
        self._platforms = platforms

    async def of_place(self, address: ThreadAddress, named: frozenset[str]) -> Audience:
        """Return the person who began the session; an unknown session has an unknown person."""
        conversation = await self._conversations.find_by_address(address)
        if conversation is None:
            return Audience()
        return await self.of_person(address.workspace, conversation.owner, named)

    async def of_person(self, workspace: str, person: str, named: frozenset[str]) -> Audience:
        """Return the person of tokens; requests without a person are the operator's."""
        if person == NO_PERSON:
            return Audience(is_operator=True)
        tokens = [
            token
            for token in await self._repository.list_tokens()
            if token.person == person and token.scope is not TokenScope.METRICS
        ]
        limited = [token.readers for token in tokens if token.readers is not None]
        if tokens and not limited:
            return Audience(is_operator=True)
        parts = [part for readers in limited for part in await self._parts(workspace, readers, named)]
        own = f"api:{person}"  # no reader: it tells apart people who may read the same
        return Audience.of(*({*part, own} for part in parts))

    async def _parts(self, workspace: str, readers: frozenset[str], named: frozenset[str]) -> Iterable[frozenset[str]]:
        """Return the readers of one token's person: the given ones, else those of their platforms."""
        live = sorted(word for word in readers if _LIVE.fullmatch(word))
        if not live:
            return [readers | {EVERYONE}]
        given = readers.difference(live)
        found: list[frozenset[str]] = []
        for word in live:
            platform, _, id = word.partition(":")
            audiences = self._platforms.get(platform)
            if audiences is None:
                raise PlatformError(f"{platform} isn't connected, so it is not known what {word} may read")
            audience = await audiences.of_person(workspace, _author(platform, id), named)
            found += [part | given for part in audience.parts] or [frozenset()]
        return found


def _author(platform: str, id: str) -> str:
    """Return a person as the audiences of their platform call them: web authors end with their mark."""
    return f"{platform} {id}" if platform == "web" else id


def _hash(key: bytes, kind: str, secret: str) -> str:
    return hmac.digest(key, f"footnote {kind}\x1f{secret}".encode("utf-8", "replace"), "sha256").hex()
