"""Operations on people: their API tokens, signed-in browsers, the audit log, and the data of a person."""

from dataclasses import dataclass

from bot.service.calls import OperationContext, operation
from bot.service.pages import build_tokens
from core.domain.audit import AuditEntry, AuditNote, Deed
from core.domain.features import ExportedFile
from core.domain.identity import ApiToken, PersonOnPlatform, TokenScope
from core.errors import NotFound
from core.features.personal_data import export_person


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    person: str
    scope: TokenScope
    readers: frozenset[str] | None  # which readers its person is; None: it reads all


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A token with its secret, which is shown once."""

    token: ApiToken
    secret: str


@operation
async def add_token(context: OperationContext, request: TokenRequest) -> NewToken:
    """Store a new token."""
    audit = AuditNote(workspace=context.workspace, actor=context.reader, deed=Deed.TOKEN_ADDED, about=request.person)
    token, secret = await build_tokens(context.parts).add(request.person, request.scope, request.readers, audit=audit)
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
    about = f"{found.id} of {found.person}"
    audit = AuditNote(workspace=context.workspace, actor=context.reader, deed=Deed.TOKEN_REVOKED, about=about)
    await context.parts.stores.identity.remove_token(found.id, audit=audit)
    return found


@operation
async def end_sessions(context: OperationContext, request: None) -> int:
    """Sign all browsers out of the web app; return their number."""
    audit = AuditNote(workspace=context.workspace, actor=context.reader, deed=Deed.SIGNED_OUT)
    return await context.parts.stores.identity.remove_sessions(audit=audit)


# The audit log


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    is_everywhere: bool  # of all workspaces
    limit: int


@operation
async def list_audit(context: OperationContext, request: AuditRequest) -> list[AuditEntry]:
    """List the actions of admins, the newest first."""
    workspace = None if request.is_everywhere else context.workspace
    return await context.parts.stores.audit.newest(workspace, request.limit)


@operation
async def export_person_data(context: OperationContext, request: PersonOnPlatform) -> ExportedFile:
    return await export_person(context.parts.stores.people, request)
