"""Extracted data as rich renderables. Pure; text of documents is never markup."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bot.terminal.console import one_line
from bot.terminal.render import footnote_view
from core.domain.extracts import Extract
from core.text.words import shorten

if TYPE_CHECKING:
    from core.domain.ingest_report import ExtractionReport
    from core.knowledge.facts import CitedFact, FoundFacts, KindCount, Ontology, Trouble

FIELD_LENGTH = 160
ALIASES_LISTED = 50
TROUBLES_LISTED = 20


def extraction_view(report: "ExtractionReport") -> RenderableType:
    """Return the results of a run by type, and its failures and warnings."""
    found = ", ".join(f"{count:,} {kind.value}" for kind, count in sorted(report.counts.items())) or "nothing"
    lines = [
        Text(f"Documents: {report.documents} extracted, {report.unchanged} up to date, {report.seconds:.1f} s."),
        Text(f"Found: {found}."),
    ]
    if report.spent.requests:
        lines.append(Text(f"Asked a model {report.spent.requests:,} times, for {report.spent.tokens:,} tokens."))
    if report.stopped is not None:
        left = f"{report.waiting:,} document{'s' * (report.waiting != 1)} left"
        lines.append(Text(f"Asking the model stopped, {left}: {one_line(report.stopped)}", style="yellow"))
    told = [*report.failures, *report.warnings]
    failed = [Text(f"  {one_line(path)}: {name}: {one_line(reason)}") for path, name, reason in told]
    return Group(*lines, *([Text("Could not be extracted, or not whole:", style="yellow"), *failed] if failed else []))


def troubles_view(troubles: Sequence["Trouble"]) -> RenderableType:
    """Return the failures and omissions of extractors in the listed documents."""
    shown = [
        Text(f"  {one_line(item.document)}: {item.extractor}: {one_line(item.reason)}")
        for item in troubles[:TROUBLES_LISTED]
    ]
    more = len(troubles) - len(shown)
    rest = [Text(f"  and {more:,} more: --json lists them")] if more > 0 else []
    return Group(Text("Could not be extracted, or not whole:", style="yellow"), *shown, *rest)


def extracts_view(extracts: Sequence[Extract]) -> RenderableType:
    """Return a line each: type, place, confidence, and abridged data."""
    if not extracts:
        return Text("Nothing was extracted here: `footnote ingest` and `footnote extract` do so.")
    table = Table("Type", "Document", "Page", "Span", "Sure", "Data", box=None, pad_edge=False)
    for item in extracts:
        span = f"{item.span.start}-{item.span.end}"
        data = shorten(_in_short(item.data), FIELD_LENGTH)
        sure = f"{item.confidence:.2f}"
        table.add_row(
            item.type.value,
            Text(one_line(item.document_title)),
            str(item.page_number),
            span,
            sure,
            Text(one_line(data)),
        )
    return table


def facts_view(found: "FoundFacts") -> RenderableType:
    """Return the rows with their footnote numbers, then the footnotes."""
    asked = Text(f"Asked: {one_line(str(found.query))}", style="dim")
    unknown = [Text(f"{found.unknown} more can't be compared.", style="dim")] if found.unknown else []
    if not found.rows:
        return Group(asked, Text("Nothing fits."), *unknown)
    shown = f"{len(found.rows)} of {found.total}" if found.total > len(found.rows) else str(found.total)
    rows = [_row(row) for row in found.rows]
    notes = [footnote_view(row.citation) for row in found.rows]
    return Group(asked, Text(f"Rows: {shown}", style="bold"), *rows, *unknown, Text(), *notes)


def ontology_view(ontology: "Ontology") -> RenderableType:
    counts = ", ".join(f"{count:,} {kind.value}" for kind, count in sorted(ontology.extracts.items())) or "nothing"
    aliases = [
        Text(f"  {one_line(name)}: {one_line(', '.join(others))}")
        for name, others in list(ontology.aliases.items())[:ALIASES_LISTED]
    ]
    more = len(ontology.aliases) - len(aliases)
    return Group(
        Text(f"Extracted: {counts}."),
        _kinds("Entities", ontology.entities),
        _kinds("Relations", ontology.relations),
        Text("Other names", style="bold"),
        *(aliases or [Text("  none")]),
        *([Text(f"  and {more} more: --json lists them")] if more > 0 else []),
    )


def _kinds(title: str, kinds: Sequence["KindCount"]) -> RenderableType:
    lines = [Text(f"  {kind.kind} ({kind.count}): {one_line(', '.join(kind.examples))}") for kind in kinds]
    return Group(Text(title, style="bold"), *(lines or [Text("  none")]))


def _row(row: "CitedFact") -> Text:
    fields = ", ".join(f"{_words(name)}: {_in_short(value)}" for name, value in row.fact.fields.items())
    return Text.assemble(
        (f"[{row.citation.number}] ", "bold cyan"),
        (f"{_words(row.fact.type.value)}  ", "dim"),
        one_line(shorten(fields, 3 * FIELD_LENGTH)),
    )


def _words(name: str) -> str:
    return name.replace("_", " ")


def _in_short(value: object) -> str:
    """Return data on one line, without places and unknown values."""
    if isinstance(value, Mapping):
        said = {name: item for name, item in value.items() if item not in (None, "", [], ()) and name not in _PLACES}
        return ", ".join(f"{name}: {_in_short(item)}" for name, item in said.items())
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return "; ".join(_in_short(item) for item in value)
    return str(value)


_PLACES = ("page_number", "span", "row_spans")
