"""Sign-in by an OpenID Connect provider: the authorization code flow with PKCE, state and nonce.

What the browser must bring back (state, nonce, PKCE verifier, the path to return to) is signed and stays in its cookie.
"""

import hashlib
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.common.security import generate_token
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oidc.core import CodeIDToken
from itsdangerous import BadData, URLSafeSerializer
from joserfc import jwt
from joserfc.errors import ExpiredTokenError, JoseError
from joserfc.jwk import KeySet

from bot.config import Config
from bot.config.configuration import OIDC_SECRET_VARIABLE
from bot.config.sections import EVERYONE, RETURN_PATH, SIGN_IN_LASTS, OidcConfig, is_loopback
from bot.web.links import link_key
from core.domain.identity import Role, SignedIn
from core.errors import AccessDenied, ConfigError, FootnoteError, SignInUnavailable
from core.ports import Clock
from core.text.words import collapse

_METADATA_SECONDS = 600.0
_TIMEOUT_SECONDS = 10.0
_LEEWAY_SECONDS = 60  # between the clocks of the provider and of this machine
# Signatures with a public key alone: with HS256, each reader of the published key could sign.
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519"]
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_VERIFIER_CHARS = 48


@dataclass(slots=True, kw_only=True)
class OidcSignIn:
    """A provider, and who of its people may sign in."""

    settings: OidcConfig
    secret: str = field(repr=False)
    public_url: str
    key: str = field(repr=False)
    clock: Clock
    _metadata: Mapping[str, Any] = field(default_factory=dict)
    _metadata_at: float = 0.0

    @property
    def provider(self) -> str:
        """Return the provider's name for people."""
        return urlsplit(self.settings.issuer).netloc

    @property
    def lasts(self) -> timedelta:
        return timedelta(hours=self.settings.session_hours)

    async def begin(self, path: str) -> tuple[str, str]:
        """Return the provider's address for a browser that wants `path`, and the text that it must bring back."""
        state, nonce, verifier = (generate_token(_VERIFIER_CHARS) for _ in range(3))
        async with self._client() as client:
            metadata = await self._discover(client)
            address, _ = client.create_authorization_url(
                metadata["authorization_endpoint"], state=state, nonce=nonce, code_verifier=verifier
            )
        begun = [state, nonce, verifier, path, self.clock.now().timestamp()]
        return address, self._serializer.dumps(begun)

    async def finish(self, begun: str, answer: Mapping[str, str]) -> tuple[SignedIn, str]:
        """Return the person whom the provider sent back, and the path they asked for.

        AccessDenied for a forged, foreign or late answer, and for people who may not sign in.
        """
        state, nonce, verifier, path = self._read_begun(begun)
        if answer.get("state") != state:
            raise AccessDenied(
                f"This sign-in wasn't begun last in this browser. Open Footnote at {self.public_url} and sign in again."
            )
        if "code" not in answer:
            said = collapse(answer.get("error_description") or answer.get("error", ""))[:200]
            raise AccessDenied(f"{self.provider} didn't sign you in{': ' + said if said else ''}. Try it again.")
        async with self._client() as client:
            metadata = await self._discover(client)
            token = await client.fetch_token(
                metadata["token_endpoint"],
                grant_type="authorization_code",
                code=answer["code"],
                code_verifier=verifier,
                auth=client.client_auth(_auth_method(metadata)),
            )
            keys = await self._get(client, metadata["jwks_uri"])
            claims = self._verify(token, keys, nonce)
            if "userinfo_endpoint" in metadata:  # some providers name groups only there
                more = await self._get(client, metadata["userinfo_endpoint"], auth=client.token_auth)
                if more.get("sub") != claims["sub"]:
                    raise AccessDenied(f"{self.provider} described another person than it signed in. Try it again.")
                claims = {**more, **claims}
        return self._admit(claims), path

    async def check(self) -> str:
        """Reach the provider; return a line for `footnote doctor`. SignInUnavailable if it can't be used."""
        async with self._client() as client:
            await self._discover(client)
        return f"people sign in at {self.settings.issuer}, which returns them to {self.public_url}{RETURN_PATH}"

    @property
    def _serializer(self) -> URLSafeSerializer:
        options = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
        return URLSafeSerializer(self.key, salt="footnote sign-in", signer_kwargs=options)

    def _read_begun(self, begun: str) -> tuple[str, str, str, str]:
        try:
            state, nonce, verifier, path, at = self._serializer.loads(begun)
        except BadData as error:
            raise AccessDenied(
                f"This browser hasn't begun to sign in, or took too long. Open Footnote at {self.public_url} and sign "
                "in again."
            ) from error
        if self.clock.now().timestamp() >= at + SIGN_IN_LASTS.total_seconds():
            raise AccessDenied("The sign-in took too long. Sign in again.")
        return state, nonce, verifier, path

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Any]:
        """Open a client; its errors become sentences for people."""
        try:
            async with AsyncOAuth2Client(
                self.settings.client_id,
                self.secret,
                scope=" ".join(self.settings.scopes),
                redirect_uri=self.public_url + RETURN_PATH,
                code_challenge_method="S256",
                timeout=_TIMEOUT_SECONDS,
            ) as client:
                yield client
        except FootnoteError:
            raise
        except AuthlibBaseError as error:
            why = collapse(f"{error.error} {error.description or ''}")[:200]
            raise AccessDenied(f"{self.provider} refused the sign-in ({why}). Sign in again.") from error
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            raise SignInUnavailable(
                f"The sign-in at {self.provider} can't be reached or used now ({type(error).__name__}). Try again in a "
                "minute; if that doesn't help, ask an admin to run `footnote doctor`."
            ) from error

    async def _discover(self, client: Any) -> Mapping[str, Any]:
        """Return the provider's description of itself, read again after a while."""
        now = self.clock.monotonic()
        if self._metadata and now < self._metadata_at + _METADATA_SECONDS:
            return self._metadata
        issuer = self.settings.issuer
        found = await self._get(client, f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        if found.get("issuer") != issuer:
            raise SignInUnavailable(
                f"The provider at {issuer} calls itself {found.get('issuer')!r}. Set [web.oidc] issuer to that."
            )
        for name in _ENDPOINTS:
            address = urlsplit(str(found.get(name, "")))
            if address.scheme != "https" and not (address.scheme == "http" and is_loopback(address.hostname)):
                raise SignInUnavailable(f"The provider at {issuer} names no https address as its {name}.")
        self._metadata, self._metadata_at = found, now
        return found

    async def _get(self, client: Any, address: str, auth: object = None) -> dict[str, Any]:
        """Return a JSON object. ValueError for anything else."""
        reply = await client.get(address, auth=auth, headers={"Accept": "application/json"})
        reply.raise_for_status()
        found = reply.json()
        if not isinstance(found, dict):
            raise ValueError("not a JSON object")
        return found

    def _verify(self, token: Mapping[str, Any], keys: Mapping[str, Any], nonce: str) -> dict[str, Any]:
        """Return the claims of a valid ID token. AccessDenied for any other."""
        settings = self.settings
        try:
            read = jwt.decode(str(token.get("id_token", "")), KeySet.import_key_set(keys), algorithms=_ALGORITHMS)  # type: ignore[arg-type]
            claims = CodeIDToken(
                read.claims,
                read.header,
                options={
                    "iss": {"essential": True, "value": settings.issuer},
                    "aud": {"essential": True, "value": settings.client_id},
                    "sub": {"essential": True},
                },
                params={"nonce": nonce, "client_id": settings.client_id, "access_token": token.get("access_token")},
            )
            claims.validate(now=int(self.clock.now().timestamp()), leeway=_LEEWAY_SECONDS)
        except ExpiredTokenError as error:
            raise AccessDenied(
                f"The sign-in that {self.provider} sent has expired. Sign in again; if it stays so, check the clock of "
                "the machine that Footnote runs on."
            ) from error
        except (JoseError, KeyError, TypeError) as error:
            why = str(error) if isinstance(error, JoseError) else "unreadable keys"
            raise AccessDenied(
                f"The sign-in that {self.provider} sent isn't valid ({why.rstrip('.')}). Sign in again."
            ) from error
        return dict(claims)

    def _admit(self, claims: Mapping[str, Any]) -> SignedIn:
        """Return a verified person. AccessDenied if they may not sign in."""
        settings = self.settings
        groups = frozenset(_values(claims, settings.groups_claim))
        known_as = {*groups}
        email = claims.get("email")
        if claims.get("email_verified") is True and isinstance(email, str) and "@" in email:
            known_as.add(email)
        if not (EVERYONE in settings.members or known_as & {*settings.members, *settings.admins}):
            raise AccessDenied(
                f"{self.provider} signed you in, but you are in none of the groups that may use Footnote. Ask an admin "
                "to add you to one."
            )
        given = (claims.get(name) for name in ("name", "preferred_username", "email"))
        identity = f"oidc\x1f{settings.issuer}\x1f{claims['sub']}".encode("utf-8", "surrogatepass")
        return SignedIn(
            identity=hashlib.sha256(identity).hexdigest(),
            name=next((name for one in given if isinstance(one, str) and (name := collapse(one))), ""),
            role=Role.ADMIN if known_as & {*settings.admins} else Role.MEMBER,
            groups=groups,
        )


def build_oidc(config: Config, clock: Clock) -> OidcSignIn:
    """Return the configured sign-in. ConfigError names all that is missing."""
    settings, secret = config.web.oidc, config.oidc_secret()
    missing = {
        "[web] public_url": config.web.public_url,
        "[web.oidc] client_id": settings.client_id,
        f'[web.oidc] members (["{EVERYONE}"] for all whom the provider signs in)': settings.members or settings.admins,
        f"the client's secret in {OIDC_SECRET_VARIABLE} or [web.oidc] secret_file": secret,
    }
    if lacking := [name for name, value in missing.items() if not value]:
        raise ConfigError(f"The sign-in at {settings.issuer} lacks {'; '.join(lacking)}.")
    return OidcSignIn(
        settings=settings,
        secret=secret.get_secret_value() if secret else "",
        public_url=config.web.public_url or "",
        key=link_key(config),
        clock=clock,
    )


def _values(claims: Mapping[str, Any], name: str) -> Collection[str]:
    """Return the texts of a claim: a name as it is (it may be a URL), else a path such as realm_access.roles."""
    found: Any = claims.get(name)
    if found is None:
        found = claims
        for part in name.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
    if isinstance(found, str):
        return [found]
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def _auth_method(metadata: Mapping[str, Any]) -> str:
    supported = metadata.get("token_endpoint_auth_methods_supported")
    is_post_only = isinstance(supported, list) and "client_secret_basic" not in supported
    return "client_secret_post" if is_post_only else "client_secret_basic"
