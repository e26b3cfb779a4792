"""A sign-in provider for tests that answers wrongly on purpose: real HTTP, real keys, real PKCE.

What a right one answers is tried against `oidc-provider-mock` in tests/e2e/test_sign_in.py.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from yarl import URL

from core.ports import Clock

CLIENT_ID, CLIENT_SECRET = "footnote", "the secret of the client"


@dataclass
class Provider:
    """Each attribute can be set to something wrong before somebody signs in."""

    clock: Clock
    issuer: str = ""
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one"}))
    signing_key: Any = None  # another one than it publishes
    algorithm: str = "RS256"
    claims: dict[str, Any] = field(default_factory=dict)  # in the ID token, None to leave one out
    userinfo: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    broken: dict[str, web.Response] = field(default_factory=dict)  # by path
    asked: list[str] = field(default_factory=list)  # paths
    begun: dict[str, dict[str, str]] = field(default_factory=dict)  # code -> query

    def sign_in(self, address: str) -> dict[str, str]:
        """What the provider sends the browser back with, that came with this address."""
        query = dict(URL(address).query)
        assert query["response_type"] == "code" and query["code_challenge_method"] == "S256"
        assert query["client_id"] == CLIENT_ID and "openid" in query["scope"].split()
        code = f"code-{len(self.begun)}"
        self.begun[code] = query
        return {"code": code, "state": query["state"]}

    async def discover(self, request: web.Request) -> web.Response:
        paths = {"authorization_endpoint": "/auth", "token_endpoint": "/token", "jwks_uri": "/keys"}
        found = {name: self.issuer + path for name, path in paths.items()}
        found |= {"issuer": self.issuer, "userinfo_endpoint": f"{self.issuer}/me"} | self.metadata
        return web.json_response({name: value for name, value in found.items() if value is not None})

    async def keys(self, request: web.Request) -> web.Response:
        return web.json_response(KeySet([self.key]).as_dict(private=False))

    async def token(self, request: web.Request) -> web.Response:
        form = await request.post()
        begun = self.begun.pop(str(form["code"]), None)
        basic = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        digest = hashlib.sha256(str(form.get("code_verifier", "")).encode()).digest()
        challenge = _base64(digest)
        is_client = request.headers.get("Authorization") == f"Basic {basic}"
        if begun is None or not is_client or challenge != begun["code_challenge"]:
            return web.json_response({"error": "invalid_grant"}, status=400)
        now = int(self.clock.now().timestamp())
        claims = {"iss": self.issuer, "sub": "u1", "aud": CLIENT_ID, "iat": now, "exp": now + 300}
        claims |= {"nonce": begun["nonce"]} | self.claims
        claims = {name: value for name, value in claims.items() if value is not None}
        signed = self._sign({"alg": self.algorithm, "kid": self.key.kid}, claims)
        return web.json_response({"access_token": "at", "token_type": "Bearer", "id_token": signed})

    def _sign(self, header: dict[str, Any], claims: dict[str, Any]) -> str:
        """Sign; "none" and "HS256" by hand, as a forger does: with nothing, and the published key as secret."""
        if self.algorithm == "RS256":
            return jwt.encode(header, claims, self.signing_key or self.key)
        text = ".".join(_base64(json.dumps(part).encode()) for part in (header, claims))
        secret = self.key.as_pem(private=False)
        mark = hmac.digest(secret, text.encode(), "sha256") if self.algorithm == "HS256" else b""
        return f"{text}.{_base64(mark)}"

    async def me(self, request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == "Bearer at"
        return web.json_response({"sub": "u1", "name": "Ada Lovelace", "groups": ["team"]} | self.userinfo)


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


@asynccontextmanager
async def provided(clock: Clock) -> AsyncIterator[Provider]:
    """A running provider."""
    provider = Provider(clock)

    @web.middleware
    async def watch(request: web.Request, handler: Any) -> web.StreamResponse:
        provider.asked.append(request.path)
        return provider.broken.get(request.path) or await handler(request)

    app = web.Application(middlewares=[watch])
    app.router.add_get("/.well-known/openid-configuration", provider.discover)
    app.router.add_get("/keys", provider.keys)
    app.router.add_post("/token", provider.token)
    app.router.add_get("/me", provider.me)
    async with TestServer(app) as server:
        provider.issuer = str(server.make_url("/")).rstrip("/")
        yield provider
