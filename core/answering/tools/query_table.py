"""The `query_table` tool: rows of one table, filtered, sorted or computed, each to be cited."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from core.answering.tools.base import Arguments, Finding, ToolContext, within
from core.answering.tools.find_extracts import CITED_CHARACTERS, left_out, row_line
from core.answering.tools.search import find_pages, ids_of
from core.domain.corpus import SearchQuery
from core.errors import BadInput, ToolRetry
from core.knowledge.facts import Fact, FactQuery, FactType
from core.knowledge.facts.matching import Match, match
from core.knowledge.facts.query import to_field_name
from core.knowledge.facts.table_grids import Grid, plain_rows, sorted_rows
from core.knowledge.facts.table_results import calculate
from core.knowledge.facts.table_words import Operation
from core.text.words import shorten, tokens

DEFAULT_LIMIT = 20
MAX_LIMIT = 50
MOST_TABLES = 20  # described in one result
NAME_CHARACTERS = 200
FOUND_PAGES = 10  # of a search for a table without a document


class QueryTableArguments(Arguments):
    table: str | None = Field(default=None, description="Words of the table's title or columns, e.g. `fares`.")
    document: str | None = Field(default=None, description="Path, title or alias of its document.")
    operation: Literal["describe", "rows", "highest", "lowest", "sum", "average", "count"] = Field(
        default="describe",
        description="describe: the tables and their columns; rows: rows as they are; the others are computed over the "
        "rows, totals left out.",
    )
    column: str | None = Field(default=None, description="To compute, or to sort by.")
    where: str | None = Field(
        default=None,
        description='Filters as of find_extracts: `Harbour:Linden Year>2020 "Pier name"="North pier"`.',
    )
    order: Literal["rising", "falling"] = Field(default="falling", description="Of sorted rows.")
    limit: int = Field(default=DEFAULT_LIMIT, ge=1, description="How many.", json_schema_extra={"maximum": MAX_LIMIT})


@dataclass(frozen=True, slots=True)
class _Table:
    grid: Grid
    rows: Sequence[Fact]

    @property
    def name(self) -> str:
        extract = self.rows[0].extract
        title = f'"{self.grid.title}" in ' if self.grid.title else ""
        return f'{title}"{extract.document_title}" ({extract.document}, page {self.rows[0].page_number})'

    @property
    def line(self) -> str:
        columns = shorten(", ".join(self.grid.columns), NAME_CHARACTERS)
        return f"- {self.name}: {_rows(len(self.rows))}; columns: {columns}"


class QueryTableTool:
    name = "query_table"
    description = (
        "Read or compute one table of a document, with the formula and the rows to cite. Describe first, to learn the "
        "columns. Use it for every figure from a table; never add up yourself."
    )
    arguments = QueryTableArguments

    async def run(self, arguments: QueryTableArguments, context: ToolContext) -> Finding:
        tables = await _find(arguments, context)
        if not tables:
            raise ToolRetry("No table fits. Leave `table` or `document` out, or use search.")
        if arguments.operation == "describe":
            lines = [table.line for table in tables[:MOST_TABLES]]
            more = [f"{len(tables) - MOST_TABLES} more: name a document or words of the table."]
            return Finding(text="\n".join([*lines, *more * (len(tables) > MOST_TABLES)]))
        if len(tables) > 1:
            shown = "\n".join(table.line for table in tables[:MOST_TABLES])
            raise ToolRetry(f"{len(tables)} tables fit: name the document, or more words of one table.\n{shown}")
        return await _query(tables[0], arguments, context)


async def _find(arguments: QueryTableArguments, context: ToolContext) -> list[_Table]:
    ids = await ids_of(arguments.document, context)
    if not ids and arguments.table is not None:
        hits = await find_pages(SearchQuery(text=arguments.table, limit=FOUND_PAGES), context)
        ids = frozenset(hit.document.id for hit in hits)
    if not ids:
        raise ToolRetry("query_table needs a document, or words of a table.")
    wanted = set(tokens(arguments.table or ""))
    tables = [_Table(grid, rows) for grid, rows in await context.facts.tables(ids, context.scope) if rows]
    held = [len(wanted.intersection(tokens(f"{each.grid.title} {' '.join(each.grid.columns)}"))) for each in tables]
    most = max(held, default=0)
    return [table for table, own in zip(tables, held, strict=True) if own == most]


async def _query(table: _Table, arguments: QueryTableArguments, context: ToolContext) -> Finding:
    chosen = _filtered(table, arguments.where, context)
    column = _column(table, arguments.column)
    if not chosen:
        raise ToolRetry(f"No row fits `{arguments.where}`. {table.line}")
    if arguments.operation == "count":
        heading, rows = _fit(chosen), chosen
    elif arguments.operation == "rows":
        rows = (
            chosen if column is None else sorted_rows(table.grid, column, chosen, falling=arguments.order == "falling")
        )
        heading = _fit(rows)
    else:
        if column is None:
            raise ToolRetry(f"{arguments.operation} needs a column. {table.line}")
        plain = set(plain_rows(table.grid))
        counted = [row for row in chosen if row in plain]
        computed = calculate(Operation(arguments.operation), table.grid, column, counted) if counted else None
        if computed is None:
            raise ToolRetry(
                f"Some cells of {arguments.column!r} are no numbers of one unit: leave rows out by `where`."
            )
        heading, rows = computed.text, [*computed.rows]
    cited = await context.facts.cite(
        [table.rows[row] for row in rows[: min(arguments.limit, MAX_LIMIT)]], context.scope
    )
    passages = await context.facts.passages(cited, context.scope)
    shown = within(passages, CITED_CHARACTERS)
    more = [f"{len(rows) - len(cited)} more rows are not shown."] * (len(rows) > len(cited))
    lines = [f"{table.name}: {heading}.", *map(row_line, cited), *more, *left_out(shown, passages)]
    return Finding(text="\n".join(lines), passages=shown, searches=(arguments.where or arguments.table or table.name,))


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _fit(rows: Sequence[int]) -> str:
    return f"{_rows(len(rows))} {'fits' if len(rows) == 1 else 'fit'}"


def _filtered(table: _Table, where: str | None, context: ToolContext) -> list[int]:
    if where is None:
        return list(range(len(table.rows)))
    try:
        asked = context.facts.read(where)
    except BadInput as error:
        raise ToolRetry(str(error)) from error
    columns = {to_field_name(column) for column in table.grid.columns}
    unknown = [item.field for item in asked.conditions if item.field not in columns]
    if unknown or not asked.conditions:
        raise ToolRetry(f"`where` needs filters over the columns, such as Column:word. {table.line}")
    query = FactQuery(types=frozenset({FactType.ROW}), conditions=asked.conditions, words=asked.words)
    return [place for place, row in enumerate(table.rows) if match(row, query, {}) is Match.YES]


def _column(table: _Table, name: str | None) -> int | None:
    if name is None:
        return None
    names = [to_field_name(column) for column in table.grid.columns]
    wanted = to_field_name(name)
    places = [place for place, each in enumerate(names) if each == wanted] or [
        place for place, each in enumerate(names) if wanted in each
    ]
    if len(places) != 1:
        raise ToolRetry(f"{name!r} is not one of the columns. {table.line}")
    return places[0]
