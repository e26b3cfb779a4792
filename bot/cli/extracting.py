"""Extracted data: `extract`, `extracts`, `facts`, `ontology`."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from bot.cli.session import Session
from bot.service import operations as ops
from bot.terminal.render_extracts import extraction_view, extracts_view, facts_view, ontology_view, troubles_view
from bot.terminal.reports import ingest_progress
from bot.web.queries import ALL, MOST_FACTS, ExtractsRequest, FactsRequest
from core.domain.extracts import ExtractType
from core.domain.ingest_report import ExtractionReport
from core.errors import BadInput
from core.knowledge.facts import FactQuery, read_query
from core.serializers.library import facts_json, ontology_json

MOST_SHOWN = 1_000  # extracts in a terminal
Document = Annotated[str | None, typer.Option(help="Only this document (path, title or alias).")]


def register(app: typer.Typer) -> None:
    app.command("extract")(extract)
    app.command("extracts")(extracts)
    app.command("facts")(facts)
    app.command("ontology")(ontology)


def extract(
    context: typer.Context,
    document: Document = None,
    extractor: Annotated[str | None, typer.Option(help="Only this extractor: tables, meetings ...")] = None,
    force: Annotated[bool, typer.Option("--force", help="Extract up-to-date documents again.")] = False,
) -> None:
    """Extract data from documents that changed, or whose extractors did. Ingests do this by themselves."""
    session: Session = context.obj
    request = ops.ExtractionRequest(document=document, extractor=extractor, force=force)
    with ingest_progress(session.notes) as progress:
        report = session.call(ops.extract, request, ops.report_ingest(progress))
    session.show(report, ExtractionReport.to_json, extraction_view)


def extracts(
    context: typer.Context,
    kind: Annotated[str | None, typer.Option("--type", help="Only this type: meeting, table, api ...")] = None,
    document: Document = None,
    filter: Annotated[
        str | None, typer.Option("--filter", help="Only those with a matching row: owner:Ann due<2026-12-01 open")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help=f"Maximum number of extracts (default: {MOST_SHOWN:,}; with --json, all).")
    ] = None,
) -> None:
    """List extracted data, with page, span and values."""
    session: Session = context.obj
    request = ExtractsRequest(
        type=_type(kind),
        document=document,
        filter=_query(filter, MOST_FACTS) if filter is not None else None,
        limit=limit or (ALL if session.as_json else MOST_SHOWN),
    )
    found = session.call(ops.list_extracts, request)
    if session.as_json:
        session.print_json(found.to_json())
        return
    session.console.print(extracts_view(found.extracts) if found.rows is None else facts_view(found.rows))
    if len(found.extracts) < found.total and found.rows is None:
        shown = f"{len(found.extracts):,} of {found.total:,} extracts"
        session.notes.print(f"{shown}; use --limit {found.total} to see all.")
    if found.troubles:
        session.notes.print(troubles_view(found.troubles))


def facts(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="owner:Ann due<2026-12-01 type:action_item open, or in English.")],
    document: Document = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST_FACTS, help="Maximum number of rows.")] = 50,
) -> None:
    """Answer from extracted data only: rows with proved footnotes. Needs no model and no search."""
    session: Session = context.obj
    found = session.call(ops.find_facts, FactsRequest(query=_query(question, limit), document=document))
    session.show(found, facts_json, facts_view)


def ontology(context: typer.Context) -> None:
    """Show the kinds of entities and relations, and the aliases of each entity."""
    session: Session = context.obj
    session.show(session.call(ops.show_ontology, None), ontology_json, ontology_view)


def _type(name: str | None) -> ExtractType | None:
    try:
        return ExtractType(name.strip().lower()) if name is not None else None
    except ValueError as error:
        raise BadInput(f"Unknown type {name!r}. Use one of {', '.join(ExtractType)}.") from error


def _query(text: str, limit: int) -> FactQuery:
    return read_query(text, datetime.now(UTC).date(), limit=limit)
