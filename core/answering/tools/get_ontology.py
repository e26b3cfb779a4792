"""The `get_ontology` tool: which kinds of things and relations there are, and other names of the same thing."""

from collections.abc import Iterator, Sequence

from pydantic import Field

from core.answering.tools.base import Arguments, Finding, ToolContext
from core.knowledge.facts import KindCount, Ontology
from core.knowledge.facts.matching import stem
from core.text.words import words

MAX_KINDS = 40
MAX_ALIASES = 60


class GetOntologyArguments(Arguments):
    about: str | None = Field(default=None, description="Only kinds and names with these words.")


class GetOntologyTool:
    name = "get_ontology"
    description = (
        "Types of entities, relations and extracts with counts and examples, and other names of a thing: searching "
        "for those as well finds more."
    )
    arguments = GetOntologyArguments

    async def run(self, arguments: GetOntologyArguments, context: ToolContext) -> Finding:
        ontology = await context.facts.ontology(context.scope)
        lines = list(_lines(ontology, arguments.about))
        if not lines:
            about = f" about {arguments.about!r}" if arguments.about else ""
            return Finding(text=f"Nothing was extracted{about}: use search.")
        return Finding(text="\n".join(lines))


def _lines(ontology: Ontology, about: str | None) -> Iterator[str]:
    if about is None and ontology.extracts:
        yield f"Extracts: {', '.join(f'{kind.value} {count}' for kind, count in sorted(ontology.extracts.items()))}."
    yield from _kinds("Entity types", ontology.entities, about)
    yield from _kinds("Relation types", ontology.relations, about)
    names = [
        f"- {name}: {', '.join(others)}"
        for name, others in ontology.aliases.items()
        if _is_about(" ".join([name, *others]), about)
    ]
    if names:
        yield "Aliases (all names find the same rows):"
        yield from names[:MAX_ALIASES]
        if len(names) > MAX_ALIASES:
            yield f"- and {len(names) - MAX_ALIASES} more: ask with `about`."


def _kinds(title: str, kinds: Sequence[KindCount], about: str | None) -> Iterator[str]:
    shown = [item for item in kinds if _is_about(" ".join([item.kind, *item.examples]), about)]
    if shown:
        yield f"{title}:"
        yield from (f"- {item.kind} ({item.count}): {', '.join(item.examples)}" for item in shown[:MAX_KINDS])


def _is_about(text: str, about: str | None) -> bool:
    there = {stem(word) for word in words(text)}
    return about is None or all(stem(word) in there for word in words(about))
