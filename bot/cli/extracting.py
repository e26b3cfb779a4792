"""Extracted data: `extract`, `extracts`, `facts`, `ontology`."""

from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.session import Session

if TYPE_CHECKING:
    from bot.wiring.app import App
    from core.domain.extracts import Extract, ExtractType
    from core.knowledge.facts import FactQuery, FoundFacts, Ontology, Trouble
    from storage.documents.extraction.by_rules import ExtractionReport

MOST_LISTED = 100_000
MOST_FACTS = 10_000
Document = Annotated[str | None, typer.Option(help="Only this document: its path, title or alias.")]


def register(app: typer.Typer) -> None:
    app.command("extract")(extract)
    app.command("extracts")(extracts)
    app.command("facts")(facts)
    app.command("ontology")(ontology)


def extract(
    context: typer.Context,
    document: Document = None,
    extractor: Annotated[str | None, typer.Option(help="Only this extractor: tables, meetings ...")] = None,
    force: Annotated[bool, typer.Option("--force", help="Extract again what is up to date.")] = False,
) -> None:
    """Extract data from documents that changed, or whose extractors did; ingests do so by themselves."""
    session: Session = context.obj
    from bot.terminal.progress import ingest_progress

    async def work(app: "App") -> "ExtractionReport":
        ids = [(await app.find_document(document)).id] if document else None
        return await app.extractions.run(
            app.workspace, document_ids=ids, extractor=extractor, force=force, progress=progress
        )

    with ingest_progress(session.notes) as progress:
        report = session.run(work)
    if session.as_json:
        session.print_json(report.to_json())
        return
    from bot.terminal.render_extracts import extraction_view

    session.console.print(extraction_view(report))


def extracts(
    context: typer.Context,
    kind: Annotated[str | None, typer.Option("--type", help="Only this type: meeting, table, api ...")] = None,
    document: Document = None,
    filter: Annotated[
        str | None, typer.Option("--filter", help="Only those with a row that fits: owner:Ann due<2026-12-01 open")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST_LISTED, help="Extracts at most.")] = 1_000,
) -> None:
    """List what was extracted, with its page, span and data."""
    session: Session = context.obj
    from core.domain.extracts import ExtractQuery
    from core.knowledge.facts import of_extracts

    async def work(app: "App") -> "tuple[list[Extract], FoundFacts | None, list[Trouble]]":
        scope = await app.scope()
        wanted = _type(kind)
        ids = frozenset({(await app.find_document(document)).id}) if document else frozenset[str]()
        troubles = await app.facts.troubles(scope, ids)
        if filter is None:
            query = ExtractQuery(type=wanted, document_ids=ids, limit=limit)
            return await app.facts.list_extracts(query, scope), None, troubles
        found = await app.facts.find(of_extracts(_query(filter, MOST_FACTS), wanted), scope, ids)
        fitting = {row.fact.extract.id: row.fact.extract for row in found.rows}
        return list(fitting.values())[:limit], found, troubles

    listed, found, troubles = session.run(work)
    if session.as_json:
        from core.serializers.extracts import extract_json, facts_json, troubles_json

        rows = facts_json(found) if found is not None else {}
        told = {"warnings": troubles_json(troubles)}
        session.print_json({"extracts": [extract_json(item) for item in listed], **rows, **told})
        return
    from bot.terminal.render_extracts import extracts_view, facts_view, troubles_view

    session.console.print(extracts_view(listed) if found is None else facts_view(found))
    if troubles:
        session.notes.print(troubles_view(troubles))


def facts(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="owner:Ann due<2026-12-01 type:action_item open, or in English.")],
    document: Document = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST_FACTS, help="Rows at most.")] = 50,
) -> None:
    """Answer from extracted data alone: rows with proved footnotes, no model, no search."""
    session: Session = context.obj

    async def work(app: "App") -> "FoundFacts":
        ids = frozenset({(await app.find_document(document)).id}) if document else frozenset[str]()
        return await app.facts.find(_query(question, limit), await app.scope(), ids)

    found = session.run(work)
    if session.as_json:
        from core.serializers.extracts import facts_json

        session.print_json(facts_json(found))
        return
    from bot.terminal.render_extracts import facts_view

    session.console.print(facts_view(found))


def ontology(context: typer.Context) -> None:
    """Show the kinds of entities and relations that were found, and the names of the same thing."""
    session: Session = context.obj

    async def work(app: "App") -> "Ontology":
        return await app.facts.ontology(await app.scope())

    found = session.run(work)
    if session.as_json:
        from core.serializers.extracts import ontology_json

        session.print_json(ontology_json(found))
        return
    from bot.terminal.render_extracts import ontology_view

    session.console.print(ontology_view(found))


def _type(name: str | None) -> "ExtractType | None":
    from core.domain.extracts import ExtractType
    from core.errors import BadInput

    try:
        return ExtractType(name.strip().lower()) if name is not None else None
    except ValueError as error:
        raise BadInput(f"Unknown type {name!r}: use one of {', '.join(ExtractType)}.") from error


def _query(text: str, limit: int) -> "FactQuery":
    """As of this machine's day: a running service may be asked from another."""
    from datetime import UTC, datetime

    from core.knowledge.facts import read_query

    return read_query(text, datetime.now(UTC).date(), limit=limit)
