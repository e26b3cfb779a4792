"""The library: `ingest`, `search`, `page`, `documents`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.paths import to_path
from bot.cli.session import Session
from core.domain.corpus import Document, PageHit, SearchQuery
from core.errors import BadInput

if TYPE_CHECKING:
    from bot.wiring.parts import Parts
    from core.domain.extracts import Extract
    from core.knowledge.library import PageView, Removal

documents = typer.Typer(help="The documents of the library.", invoke_without_command=True)
DocumentName = Annotated[str, typer.Argument(metavar="DOCUMENT", help="Its path, title or alias.")]


def register(app: typer.Typer) -> None:
    app.command("ingest")(ingest)
    app.command("search")(search)
    app.command("page")(page)
    app.add_typer(documents, name="documents")


def ingest(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(help="Folders or files to read.", parser=to_path, metavar="PATH")],
    source: Annotated[str | None, typer.Option(help="The source's name (default: the folder's).")] = None,
    kind: Annotated[str, typer.Option(help="Read every file as this kind: auto, markdown, text, html ...")] = "auto",
    force: Annotated[bool, typer.Option("--force", help="Read unchanged files again.")] = False,
) -> None:
    """Read documents into the library; files that can't be read are reported, each with its reason."""
    session: Session = context.obj
    from bot.terminal.progress import ingest_progress

    try:
        with ingest_progress(session.notes) as progress:
            report = session.run(
                lambda app: app.ingest(paths, source=source, kind=kind, force=force, progress=progress)
            )
    except KeyboardInterrupt:
        session.notes.print("What was stored so far is kept; ingest again to go on from there.")
        raise
    if session.as_json:
        session.print_json(report.to_json())
        return
    from bot.terminal.render_reports import report_view

    session.console.print(report_view(report))


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="Words or a question.")],
    limit: Annotated[int, typer.Option(min=1, max=20, help="Pages at most.")] = 10,
    kind: Annotated[str | None, typer.Option(help="Only documents of this kind.")] = None,
    document: Annotated[str | None, typer.Option(help="Only this document.")] = None,
) -> None:
    """Search pages by meaning and by words."""
    session: Session = context.obj
    if not any(character.isalnum() for character in query):
        raise BadInput("There is no word to search for: write what to look for.")

    async def work(app: "Parts") -> "tuple[list[PageHit], list[Extract]]":
        ids = frozenset({(await app.find_document(document)).id}) if document else frozenset[str]()
        asked = SearchQuery(text=query, limit=limit, kind=kind, document_ids=ids, rerank=app.config.index.rerank)
        scope = await app.scope()
        if kind is not None:
            _check_kind(kind, await app.library.documents(scope))
        hits = await app.library.search(asked, scope)
        return hits, await app.facts.summaries(hits, scope) if session.as_json else []

    hits, summaries = session.run(work)
    if session.as_json:
        from core.serializers.objects import page_hit_json

        session.print_json({"hits": [page_hit_json(hit, summaries) for hit in hits]})
        return
    from bot.terminal.render import hits_view

    session.console.print(hits_view(hits))


def _check_kind(kind: str, readable: Sequence[Document]) -> None:
    there = sorted({document.kind for document in readable if document.revision is not None})
    if kind not in there:
        raise BadInput(f"No document here is of the kind {kind!r}; there are: {', '.join(there) or 'none'}.")


def page(
    context: typer.Context,
    page_id: Annotated[str | None, typer.Argument(metavar="ID", help="The page's id.")] = None,
    document: Annotated[str | None, typer.Option(help="Its document, with --number.")] = None,
    number: Annotated[int | None, typer.Option(min=1, help="Its number in the document.")] = None,
) -> None:
    """Show a page by its id, or by document and number."""
    session: Session = context.obj
    if (page_id is None) == (document is None) or (document is None) != (number is None):
        raise typer.BadParameter("give a page id, or --document with --number")

    async def work(app: "Parts") -> "tuple[PageView, list[Extract]]":
        scope = await app.scope()
        if page_id is not None:
            view = await app.library.page(page_id, scope)
        else:
            view = await app.library.page_by_number(document or "", number or 0, scope)
        return view, await app.facts.of_pages([view.page.id], scope) if session.as_json else []

    found, extracts = session.run(work)
    if session.as_json:
        from core.serializers.objects import page_json

        session.print_json(page_json(found, extracts))
        return
    from bot.terminal.render import page_view

    session.console.print(page_view(found.document, found.page))


@documents.callback()
def documents_default(context: typer.Context) -> None:
    """Without a word more: list them."""
    if context.invoked_subcommand is None:
        list_documents(context)


@documents.command("list")
def list_documents(context: typer.Context) -> None:
    """List all documents, failed ones with their reason."""
    session: Session = context.obj

    async def work(app: "Parts") -> list[Document]:
        readable = {document.id: document for document in await app.library.documents(await app.scope())}
        return [readable.get(item.id, item) for item in await app.corpus.list_documents(app.workspace)]

    found = session.run(work)
    if session.as_json:
        from core.serializers.objects import document_json

        session.print_json({"documents": [document_json(item) for item in found]})
        return
    from bot.terminal.render import document_table

    session.console.print(document_table(found))


@documents.command("show")
def show_document(context: typer.Context, name: DocumentName) -> None:
    """Show what is known of a document."""
    session: Session = context.obj

    async def work(app: "Parts") -> Document:
        return await app.corpus.get_document((await app.find_document(name)).id, await app.scope())

    found: Document = session.run(work)
    if session.as_json:
        from core.serializers.objects import document_json

        session.print_json(document_json(found))
        return
    from bot.terminal.render import document_table

    session.console.print(document_table([found]))


@documents.command("remove")
def remove_document(context: typer.Context, name: DocumentName) -> None:
    """Remove a document with its pages and passages; the file itself stays."""
    session: Session = context.obj

    async def work(app: "Parts") -> "Removal":
        return await app.library.remove_document(name, await app.scope())

    _print_removal(session, session.run(work))


def _print_removal(session: Session, removal: "Removal") -> None:
    if session.as_json:
        session.print_json(
            {"removed": removal.name, "documents": removal.documents, "conversations": removal.conversations}
        )
        return
    session.console.print(str(removal), markup=False)
