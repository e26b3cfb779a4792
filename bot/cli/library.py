"""The library and its usage: `ingest`, `search`, `page`, `documents`, `stats`."""

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.session import Session, by_default, to_path
from bot.service import operations as ops
from bot.terminal.render import document_table, hits_view, page_view
from bot.terminal.reports import ingest_progress, numbered_workspaces, report_view, statistics_view
from bot.web.queries import PageResult, SearchRequest, SearchResult
from core.domain.corpus import Source
from core.domain.ingest_report import IngestReport
from core.domain.readers import MEMBERS_ONLY, READER_FORMS, parse_readers, readers_label
from core.errors import BadInput
from core.features.statistics import statistics_json
from core.features.workspaces import describe_readers
from core.knowledge.library import Removal
from core.serializers.library import document_json

MAX_DAYS = 36_500  # of statistics

documents = typer.Typer(help="Manage the documents of the library.", invoke_without_command=True)
DocumentName = Annotated[str, typer.Argument(metavar="DOCUMENT", help="Path, title or alias.")]


def register(app: typer.Typer) -> None:
    app.command("ingest")(ingest)
    app.command("search")(search)
    app.command("page")(page)
    app.command("stats")(stats)
    documents.callback()(by_default(list_documents))
    app.add_typer(documents, name="documents")


def ingest(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(help="Folders or files to read.", parser=to_path, metavar="PATH")],
    source: Annotated[str | None, typer.Option(help="Name of the source (default: the folder's).")] = None,
    kind: Annotated[str, typer.Option(help="Read every file as this kind: auto, markdown, text, html ...")] = "auto",
    readers: Annotated[
        list[str] | None,
        typer.Option(help="Who may read a new source: members (the default), everyone, channel:ID, role:ID ..."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Read unchanged files again.")] = False,
) -> None:
    """Read documents into the library. Reports each file that can't be read, with the reason."""
    session: Session = context.obj
    if session.workspace is None and session.is_interactive:
        _choose_workspace(session)
    absolute = [path.expanduser().absolute() for path in paths]  # of this process, not of the service
    chosen = parse_readers(readers) if readers is not None else _choose_readers(session, absolute)
    request = ops.IngestRequest(paths=absolute, source=source, kind=kind, readers=chosen, force=force)
    try:
        with ingest_progress(session.notes) as progress:
            report = session.call(ops.ingest, request, ops.report_ingest(progress))
    except KeyboardInterrupt:
        session.notes.print("Documents stored so far are kept. Run the command again to continue.")
        raise
    session.show(report, IngestReport.to_json, report_view)
    if not session.as_json:
        used = session.settings.workspace
        states = session.call(ops.list_workspaces, None)
        session.notes.print(f"Workspace {used!r}. {describe_readers(states, used)}", markup=False, soft_wrap=True)
        for known in _holding(session, absolute):
            told = f"In chats, {known.name!r} is for {readers_label(known.readers)}. To change this: "
            command = f"footnote sources readers {shlex.quote(known.name)} READER..."
            session.notes.print(f"{told}{command}", markup=False, soft_wrap=True)


def _holding(session: Session, paths: Sequence[Path]) -> list[Source]:
    """Return the sources that any of the paths is in."""
    found = session.call(ops.list_library_sources, None)
    real = [Path(os.path.realpath(path)) for path in paths]
    return [source for source in found if any(path.is_relative_to(source.location) for path in real)]


def _choose_readers(session: Session, paths: Sequence[Path]) -> frozenset[str]:
    """Ask for the readers of a new source at a terminal; elsewhere they are the workspace's members."""
    if not session.is_interactive or _holding(session, paths):
        return MEMBERS_ONLY
    try:
        return ask_readers(session, "these documents", MEMBERS_ONLY)
    except EOFError as error:
        raise BadInput("Nothing was read. Repeat the command with --readers.") from error


def ask_readers(session: Session, what: str, default: frozenset[str]) -> frozenset[str]:
    """Ask who may read something in chats, until the answer can be used. EOFError at the end of the input."""
    session.notes.print(f"Who may read {what} in chats? Enter for {readers_label(default)}.", markup=False)
    session.notes.print(f"Or type readers, with spaces between them: {READER_FORMS}", markup=False, soft_wrap=True)
    while True:
        typed = session.notes.input("Readers: ", markup=False).split()
        try:
            return parse_readers(typed) if typed else default
        except BadInput as error:
            session.notes.print(str(error), markup=False, soft_wrap=True)


def _choose_workspace(session: Session) -> None:
    """Ask for the workspace if there are several. BadInput at the end of the input."""
    states = session.call(ops.list_workspaces, None)
    if len(states) < 2:
        return None
    session.notes.print("Which workspace should get these documents?")
    session.notes.print(numbered_workspaces(states), soft_wrap=True)
    default = session.settings.workspace
    while True:
        try:
            typed = session.notes.input(f"Number, or Enter for {default}: ", markup=False).strip()
        except EOFError as error:
            raise BadInput("Nothing was read. Repeat the command with --workspace NAME.") from error
        chosen = [state.name for number, state in enumerate(states, start=1) if typed in (str(number), state.name)]
        if chosen or not typed:
            return session.use_workspace(chosen[0] if chosen else default)
        session.notes.print(f"Enter a number from 1 to {len(states)}.")


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="Words or a question.")],
    limit: Annotated[int, typer.Option(min=1, max=20, help="Maximum number of pages.")] = 10,
    kind: Annotated[str | None, typer.Option(help="Only documents of this kind.")] = None,
    document: Annotated[str | None, typer.Option(help="Only this document.")] = None,
) -> None:
    """Search pages by meaning and by words."""
    session: Session = context.obj
    if not any(character.isalnum() for character in query):
        raise BadInput("Enter at least one word to search for.")
    request = SearchRequest(query=query, limit=limit, kind=kind, document=document)
    found = session.call(ops.search, replace(request, rerank=session.settings.index.rerank))
    reason = None if found.hits or session.as_json else session.call(ops.explain_empty, None)
    session.show(found, SearchResult.to_json, lambda result: reason or hits_view(result.hits))


def page(
    context: typer.Context,
    page_id: Annotated[str | None, typer.Argument(metavar="ID", help="The page's ID.")] = None,
    document: Annotated[str | None, typer.Option(help="Its document; needs --number.")] = None,
    number: Annotated[int | None, typer.Option(min=1, help="Its number in the document.")] = None,
) -> None:
    """Show a page by its ID, or by document and number."""
    session: Session = context.obj
    if (page_id is None) == (document is None) or (document is None) != (number is None):
        raise typer.BadParameter("give a page ID, or --document with --number")
    request = ops.PageRequest(page_id=page_id, document=document or "", number=number or 0)
    session.show(
        session.call(ops.show_page, request),
        PageResult.to_json,
        lambda result: page_view(result.view.document, result.view.page),
    )


def stats(
    context: typer.Context, days: Annotated[float, typer.Option(help="Questions of the last so many days.")] = 90
) -> None:
    """Show the most and least cited documents, and unanswered questions."""
    session: Session = context.obj
    if not 0 < days <= MAX_DAYS:
        raise BadInput(f"--days must be above 0, and at most {MAX_DAYS}.")
    session.show(session.call(ops.show_statistics, days), statistics_json, statistics_view)


@documents.command("list")
def list_documents(context: typer.Context) -> None:
    """List all documents, with a reason for each that couldn't be read."""
    session: Session = context.obj
    found = session.call(ops.list_documents, None)
    reason = None if found or session.as_json else session.call(ops.explain_empty, None)
    as_json = {"documents": [document_json(item) for item in found]}
    session.show(found, lambda _: as_json, lambda found: reason or document_table(found))


@documents.command("show")
def show_document(context: typer.Context, name: DocumentName) -> None:
    """Show the details of a document."""
    session: Session = context.obj
    session.show(session.call(ops.show_document, name), document_json, lambda found: document_table([found]))


@documents.command("remove")
def remove_document(context: typer.Context, name: DocumentName) -> None:
    """Remove a document with its pages and passages. The file itself stays."""
    session: Session = context.obj
    session.show(session.call(ops.remove_document, name), Removal.to_json, str)
