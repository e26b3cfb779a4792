"""Commands answered from extracts, without a model: `facts`, a query; `extract`, a document's extracts."""

import re
from collections.abc import Iterator

from core.access.scopes import Access
from core.domain.corpus import SearchScope
from core.features.export import footnote_label
from core.knowledge.facts import CitedFact, FactQuery, Facts, FactType, FoundFacts, Value, read_types
from core.text.words import collapse, shorten
from core.work.commands import Command, CommandCall, CommandResult, Option, OptionKind, readable_by, required

LISTED = 10  # rows in a chat; more is a wall
FIELD_CHARACTERS = 160
QUOTE_CHARACTERS = 200
_REFERENCE = re.compile(r"\[(\d{1,3})\]")
_CHATTY = frozenset(FactType) - {FactType.TABLE, FactType.ANCHOR, FactType.PAGE}  # listed for a document

NARROW = "Narrow it down, for example with `owner:Ann`, `due<2026-12-01`, `type:decision` or a word in the row."


class FactsCommands:
    """The rows of the table about extracts. Every read goes through the scope of where the command was given."""

    def __init__(self, facts: Facts, access: Access) -> None:
        self._facts = facts
        self._access = access

    @property
    def rows(self) -> tuple[Command, ...]:
        return (
            Command(
                name="facts",
                usage="QUESTION",
                help="decisions, action items, figures, endpoints: “open action items of Ann due before May”",
                run=self._ask,
                options=(
                    Option(
                        name="question", help="in English, or owner:Ann due<2026-12-01 type:action_item", required=True
                    ),
                ),
            ),
            Command(
                name="extract",
                usage="[DOCUMENT] [--type TYPE] [--words WORDS]",
                help="show the data extracted from a document, or the totals",
                run=self._extract,
                options=(
                    Option(name="document", help="path, title or alias", kind=OptionKind.DOCUMENT),
                    Option(
                        name="type",
                        help="only this type",
                        kind=OptionKind.CHOICE,
                        choices=tuple(kind.value for kind in FactType),
                    ),
                    Option(name="words", help="as a question to /facts, to narrow it"),
                ),
            ),
        )

    async def _ask(self, call: CommandCall) -> CommandResult:
        question = required(call, "question", "a question")
        found = await self._facts.ask(question, await self._scope(call), LISTED)
        return _to_result(found)

    async def _extract(self, call: CommandCall) -> CommandResult:
        document, kind, words = (call.option(name) for name in ("document", "type", "words"))
        scope = await self._scope(call)
        if not (document or kind or words):
            return await self._counts(scope)
        query = self._facts.read(words, LISTED) if words else FactQuery(limit=LISTED)
        types = read_types(kind) if kind else query.types or (_CHATTY if document else frozenset())
        asked = FactQuery(
            types=types,
            conditions=query.conditions,
            words=query.words,
            document=document or query.document,
            limit=min(query.limit, LISTED),
        )
        return _to_result(await self._facts.find(asked, scope))

    async def _counts(self, scope: SearchScope) -> CommandResult:
        counts = await self._facts.counts(scope)
        lines = [f"- {kind.value}: {count:,}" for kind, count in sorted(counts.items())]
        if not lines:
            return CommandResult(text="Nothing was extracted from what can be read here.")
        return CommandResult(text="\n".join(["Extracted from the documents here:", *lines, "", NARROW]))

    async def _scope(self, call: CommandCall) -> SearchScope:
        return await readable_by(call, self._access)


def facts_text(found: FoundFacts) -> str:
    """The rows as Markdown, each with the number of its footnote, and the footnotes with their quotes."""
    if not found.rows:
        return "\n\n".join([f"Nothing fits `{_code(str(found.query))}`.", *_unknown(found), NARROW])
    lines = [f"{_count(found)} for `{_code(str(found.query))}`:", ""]
    lines += [f"- {row_text(row)} [{row.citation.number}]" for row in found.rows]
    lines += ["", *(note for part in _unknown(found) for note in (part, ""))]
    lines += [f"- [{row.citation.number}] {footnote_label(row.citation)}: “{_quote(row)}”" for row in found.rows]
    if found.total > len(found.rows):
        lines += ["", NARROW]
    return "\n".join(lines)


def row_text(row: CitedFact) -> str:
    """`**Mend the pump** (owner Ben, due date 2026-12-24)`."""
    first, *others = [(name, _value(value)) for name, value in row.fact.fields.items()] or [("", row.fact.type.value)]
    rest = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in others)
    return f"**{first[1]}**" + (f" ({rest})" if rest else "")


def _to_result(found: FoundFacts) -> CommandResult:
    return CommandResult(text=facts_text(found), citations=tuple(row.citation for row in found.rows))


def _value(value: Value) -> str:
    if isinstance(value, tuple):
        return _unnumbered(shorten(", ".join(value), FIELD_CHARACTERS))
    if isinstance(value, float):
        return f"{value:,.10g}"
    return _unnumbered(shorten(str(value), FIELD_CHARACTERS))


def _count(found: FoundFacts) -> str:
    if found.total > len(found.rows):
        return f"The first {len(found.rows)} of {found.total:,} rows"
    return "1 row" if found.total == 1 else f"{found.total} rows"


def _unknown(found: FoundFacts) -> Iterator[str]:
    if found.unknown:
        which = "1 more says" if found.unknown == 1 else f"{found.unknown} more say"
        yield f"{which} no date or number that could be compared."


def _quote(row: CitedFact) -> str:
    return _unnumbered(shorten(collapse(row.citation.quote), QUOTE_CHARACTERS))


def _unnumbered(text: str) -> str:
    """Without the document's own reference numbers ("[3]"): they would be taken for footnotes of this text."""
    return _REFERENCE.sub(r"(\1)", text)


def _code(text: str) -> str:
    return text.replace("`", "'")
