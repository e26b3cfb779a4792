"""`tokens`: the API tokens of people."""

from collections.abc import Sequence
from typing import Annotated

import typer

from bot.cli.session import Session, by_default
from bot.service import tokens as ops
from core.domain.identity import ApiToken, TokenScope
from core.serializers.objects import Json

tokens = typer.Typer(help="Manage the API tokens of people.", invoke_without_command=True)


def register(app: typer.Typer) -> None:
    tokens.callback()(by_default(list_tokens))
    app.add_typer(tokens, name="tokens")


@tokens.command("list")
def list_tokens(context: typer.Context) -> None:
    """List the tokens: their person, scope and last use."""
    session: Session = context.obj
    session.show(session.call(ops.list_tokens, None), lambda found: {"tokens": [*map(_to_json, found)]}, _view)


@tokens.command("add")
def add(
    context: typer.Context,
    person: Annotated[str, typer.Argument(metavar="PERSON", help="Its person; they see only their own sessions.")],
    scope: Annotated[
        TokenScope,
        typer.Option(help="read: documents and search. ask: questions, too. admin: also all sessions and jobs."),
    ] = TokenScope.ASK,
) -> None:
    """Make a token, and show it once."""
    session: Session = context.obj
    made = session.call(ops.add_token, ops.TokenRequest(person=person, scope=scope))
    if session.as_json:
        session.print_json({**_to_json(made.token), "token": made.secret})
        return
    session.console.print(made.secret, markup=False, soft_wrap=True)
    session.notes.print("Keep it now: it can't be shown again.", markup=False)


@tokens.command("revoke")
def revoke(context: typer.Context, id: Annotated[str, typer.Argument(metavar="ID", help="The token's ID.")]) -> None:
    """Revoke a token; it is refused from the next request on."""
    session: Session = context.obj
    gone = session.call(ops.revoke_token, id)
    if session.as_json:
        session.print_json(_to_json(gone))
    else:
        session.console.print(f"Revoked the token {gone.id} of {gone.person}.", markup=False)


def _to_json(token: ApiToken) -> Json:
    return {
        "id": token.id,
        "person": token.person,
        "scope": token.scope.value,
        "created_at": token.created_at.isoformat(),
        "used_at": token.used_at.isoformat() if token.used_at else None,
    }


def _view(found: Sequence[ApiToken]) -> str:
    lines = [f"{token.id}  {token.scope.value:5}  {token.person}, {_use(token)}" for token in found]
    return "\n".join(lines) or "No tokens yet. Make one: footnote tokens add PERSON"


def _use(token: ApiToken) -> str:
    return f"last used {token.used_at:%-d %b %Y}" if token.used_at else "never used"
