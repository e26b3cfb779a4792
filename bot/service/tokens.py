"""Operations on the API tokens of people."""

from dataclasses import dataclass

from bot.service.calls import OperationContext, operation
from bot.service.pages import build_tokens
from core.domain.identity import ApiToken, TokenScope
from core.errors import NotFound


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    person: str
    scope: TokenScope


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A token with its secret, which is shown once."""

    token: ApiToken
    secret: str


@operation
async def add_token(context: OperationContext, request: TokenRequest) -> NewToken:
    """Store a new token."""
    token, secret = await build_tokens(context.parts).add(request.person, request.scope)
    return NewToken(token=token, secret=secret)


@operation
async def list_tokens(context: OperationContext, request: None) -> list[ApiToken]:
    return await context.parts.stores.identity.list_tokens()


@operation
async def revoke_token(context: OperationContext, request: str) -> ApiToken:
    """Remove a token by its ID; return it. NotFound for an unknown one."""
    found = next((token for token in await context.parts.stores.identity.list_tokens() if token.id == request), None)
    if found is None:
        raise NotFound(f"There is no token {request!r}. `footnote tokens` lists them.")
    await context.parts.stores.identity.remove_token(found.id)
    return found
