"""The `follow_relation` tool: extracted, directed relations of a thing."""

from typing import Literal

from pydantic import Field
from rapidfuzz import fuzz, process

from core.answering.tools.base import Arguments, Finding, ToolContext, within
from core.answering.tools.find_extracts import CITED_CHARACTERS, left_out, nothing_found, row_line
from core.answering.tools.search import ids_of
from core.knowledge.facts.lookup import FoundRelations
from core.knowledge.facts.matching import Direction

DEFAULT_LIMIT = 30
MAX_LIMIT = 100
NAMED = 8  # similar names, if nothing fits
NEAR = 60  # of 100 points of rapidfuzz


class FollowRelationArguments(Arguments):
    name: str = Field(description="Name or alias of an entity or anchor: a person, a term, Figure 3.")
    kind: str | None = Field(default=None, description="A type that get_ontology names.")
    direction: Literal["source", "target", "both"] = Field(
        default="both",
        description="source: relations from it; target: to it.",
    )
    document: str | None = Field(default=None, description="Path, title or alias of a document.")
    limit: int = Field(default=DEFAULT_LIMIT, ge=1, description="How many.", json_schema_extra={"maximum": MAX_LIMIT})


class FollowRelationTool:
    name = "follow_relation"
    description = (
        "Follow the relations of one thing: what it links to or is part of, what defines it, what refers to it. Gives "
        "them with the passages to cite. Use it for questions about how things are connected."
    )
    arguments = FollowRelationArguments

    async def run(self, arguments: FollowRelationArguments, context: ToolContext) -> Finding:
        document_ids = await ids_of(arguments.document, context)
        found = await context.facts.follow(
            arguments.name,
            context.scope,
            kind=arguments.kind,
            direction=Direction(arguments.direction),
            document_ids=document_ids,
            limit=min(arguments.limit, MAX_LIMIT),
        )
        if not found.rows:
            return await nothing_found(_unfitting(arguments, found), arguments.name, document_ids, context)
        count = f"{len(found.rows)} of {found.total}" if found.total > len(found.rows) else str(found.total)
        lines = [f"{count} relations of {arguments.name!r}:", *(row_line(row) for row in found.rows)]
        passages = await context.facts.passages(found.rows, context.scope)
        shown = within(passages, CITED_CHARACTERS)
        return Finding(text="\n".join([*lines, *left_out(shown, passages)]), passages=shown, searches=(arguments.name,))


def _unfitting(arguments: FollowRelationArguments, found: FoundRelations) -> str:
    kind = f" of type {arguments.kind!r}" if arguments.kind else ""
    said = f"No relation{kind} of {arguments.name!r} was extracted."
    near = process.extract(
        arguments.name, found.known, scorer=fuzz.token_set_ratio, processor=str.casefold, limit=NAMED, score_cutoff=NEAR
    )
    return f"{said} Names near it: {', '.join(match[0] for match in near)}." if near else said
