"""`tokens`: the API tokens of people."""

from collections.abc import Sequence
from typing import Annotated

import typer

from bot.cli.session import Session, by_default
from bot.service import tokens as ops
from core.access.identity import LIVE_FORMS, parse_token_readers
from core.domain.identity import ApiToken, TokenScope
from core.domain.readers import MEMBERS, READER_FORMS
from core.errors import BadInput
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
        typer.Option(
            help="metrics: counts and costs alone. read: documents and search. ask: questions, too. "
            "admin: all of these, all sessions and jobs."
        ),
    ] = TokenScope.ASK,
    readers: Annotated[
        list[str] | None,
        typer.Option(
            "--as",
            metavar="READER",
            help=f"Which readers its person is: {READER_FORMS}; or at each request what {LIVE_FORMS} is then. "
            "Repeatable; members without it.",
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--everything", help="It reads every source, as this machine does.")
    ] = False,
) -> None:
    """Make a token, and show it once."""
    session: Session = context.obj
    if everything and readers:
        raise BadInput("Use --as or --everything, not both.")
    default = [] if scope is TokenScope.METRICS else [MEMBERS]
    reads_all = everything or (scope is TokenScope.ADMIN and not readers)
    found = None if reads_all else parse_token_readers(words) if (words := readers or default) else frozenset[str]()
    made = session.call(ops.add_token, ops.TokenRequest(person=person, scope=scope, readers=found))
    if session.as_json:
        session.print_json({**_to_json(made.token), "token": made.secret})
        return
    session.console.print(made.secret, markup=False, soft_wrap=True)
    session.notes.print(f"It reads {_reads(made.token)}.", markup=False, soft_wrap=True)
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
        "as": None if token.readers is None else sorted(token.readers),
        "created_at": token.created_at.isoformat(),
        "used_at": token.used_at.isoformat() if token.used_at else None,
    }


def _view(found: Sequence[ApiToken]) -> str:
    lines = [
        f"{token.id}  {token.scope.value:7}  {token.person}, reads {_reads(token)}, {_use(token)}" for token in found
    ]
    return "\n".join(lines) or "No tokens yet. Make one: footnote tokens add PERSON"


def _reads(token: ApiToken) -> str:
    if token.scope is TokenScope.METRICS:
        return "metrics, and no documents"
    return "every source" if token.readers is None else f"what {' + '.join(sorted(token.readers))} may read"


def _use(token: ApiToken) -> str:
    return f"last used {token.used_at:%-d %b %Y}" if token.used_at else "never used"
