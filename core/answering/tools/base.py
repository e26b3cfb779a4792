"""Tools, and the toolbox of one question: it checks arguments, numbers passages, and keeps the evidence.

To add a tool, copy `get_page.py`, add it to the list in the composition root and to the contract test's parameters.
"""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from core.answering.observer import NO_OBSERVER, RunObserver
from core.answering.tools.section_notes import SectionReader
from core.domain.answer import (
    ChatMessage,
    Evidence,
    ListedFacts,
    NumberedPassage,
    PageImage,
    ToolDefinition,
    ToolInvocation,
    ToolResult,
)
from core.domain.conversation import Focus
from core.domain.corpus import Document, SearchScope, SourcedPassage
from core.domain.jobs import Job, JobKind
from core.errors import BadInput, NotFound, ToolFailed, ToolRetry
from core.knowledge.facts import Facts
from core.knowledge.facts.list_intent import detect_list_intent
from core.knowledge.facts.lookup import MOST_LISTED
from core.knowledge.library import Library
from core.knowledge.references.linked_context import LinkedContext, to_turns
from core.ports import CorpusRepository
from core.text.words import shorten
from core.work.steps import CALL, KEPT, adopt, finished_before, step


class Arguments(BaseModel):
    """The arguments of a tool. Unknown ones are refused; null and blank text stand for "not given"."""

    model_config = ConfigDict(extra="forbid", frozen=True)


G = TypeVar("G", bound=Arguments)


def to_parameters(arguments: type[Arguments]) -> dict[str, Any]:
    """A plain JSON Schema: an object, optional properties without null unions."""
    schema = _schema_of(arguments)
    properties = {name: _to_plain(value) for name, value in schema.get("properties", {}).items()}
    return {
        "type": "object",
        "properties": properties,
        "required": schema.get("required", []),
        "additionalProperties": False,
    }


def validate(tool: str, arguments: type[G], given: Mapping[str, object]) -> G:
    """Return the arguments as the tool's own type. ToolRetry names all unknown and wrong ones."""
    meant = {name: value for name, value in given.items() if value is not None and not _is_blank(value)}
    try:
        return arguments.model_validate(meant)
    except ValidationError as error:
        problems = "; ".join(_to_problem(item["type"], item["loc"], item["msg"]) for item in error.errors())
        known = ", ".join(arguments.model_fields)
        raise ToolRetry(f"{tool} could not run: {problems}. It takes {known}.") from error


@cache
def _schema_of(arguments: type[Arguments]) -> dict[str, Any]:
    """Made once: it takes as long as the rest of a toolbox together."""
    return arguments.model_json_schema()


def _to_plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Without titles, null defaults and the union with null that pydantic writes for optional fields."""
    plain = {key: value for key, value in schema.items() if key not in ("title", "anyOf")}
    if plain.get("default", "") is None:
        del plain["default"]
    variants = [variant for variant in schema.get("anyOf", ()) if variant.get("type") != "null"]
    return {**plain, **variants[0]} if variants else plain


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()


def _to_problem(kind: str, place: Sequence[str | int], message: str) -> str:
    name = ".".join(str(part) for part in place)
    if kind == "extra_forbidden":
        return f"unknown argument {name!r}"
    if kind == "missing":
        return f"{name!r} is missing"
    return f"{name!r}: {message[:1].lower()}{message[1:]}"


# A job row shows the query, and not whole texts that a model may put into an argument.
JOB_INPUT_CHARACTERS = 300
FINAL = "Calling again will not help: tell the reader."  # ends the message of a final failure
# The tool that a model would have called for a list of rows.
FACTS_TOOL = "find_extracts"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """The context of tools: bound to one question, never shown to the model."""

    scope: SearchScope
    library: Library
    corpus: CorpusRepository
    facts: Facts
    focus: Focus | None = None  # the conversation's subject: searched first
    linked: frozenset[str] = frozenset()  # ids of documents the question names by [[wikilinks]]: searched first, too
    document_ids: frozenset[str] = frozenset()  # the question is only about these; empty: no such limit
    rerank: bool = False  # see SearchQuery.rerank
    sections: SectionReader | None = None  # reads texts that are too long for one prompt; None: they are cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of a tool: `passages` is the text to quote, in reading order, `text` the rest."""

    text: str
    passages: tuple[SourcedPassage, ...] = ()
    searches: tuple[str, ...] = ()  # the queries, for an answer without results
    choices: tuple[str, ...] = ()  # the reader has to choose one; the text asks which
    images: tuple[PageImage, ...] = ()  # for models that see; never evidence


A = TypeVar("A", bound=Arguments, contravariant=True)


class Tool(Protocol[A]):
    """Reads, never writes: safe to repeat and to run concurrently.

    `run` raises ToolRetry if other arguments could help, ToolFailed if none can; anything else is a bug.
    """

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str:
        """For the model: the tool's results, and when to use it."""
        ...

    @property
    def arguments(self) -> type[Arguments]: ...

    async def run(self, arguments: A, context: ToolContext) -> Finding: ...


class Toolbox:
    """The tools of one question (implements ports.Tools).

    A passage keeps one number for the whole question. Calls may run in parallel: passages are numbered in the order of
    the calls, and not of their ends. A call that an earlier attempt finished doesn't run again: its passages are
    reread within scope, and only if one is missing the call is repeated.
    """

    def __init__(
        self,
        tools: Sequence[Tool[Any]],
        context: ToolContext,
        offer: LinkedContext | None = None,
        observer: RunObserver = NO_OBSERVER,
    ) -> None:
        self._observer = observer
        self._tools = {tool.name: tool for tool in tools}
        self._context = context
        self._offer = offer
        self._passages: dict[str, NumberedPassage] = {}
        self._searches: list[str] = []
        self._last_call: asyncio.Event | None = None
        self._highest = 0

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        return tuple(map(to_definition, self._tools.values()))  # each time: the model's abilities decide on arguments

    @property
    def evidence(self) -> Evidence:
        return Evidence(passages=dict(self._passages), searches=tuple(dict.fromkeys(self._searches)))

    def adopt(self, history: Sequence[ChatMessage]) -> None:
        for turn in history:
            for result in turn.tool_results:
                self._passages.update((item.source.passage.id, item) for item in result.passages)
        self._highest = max((item.number for item in self._passages.values()), default=0)

    def opening(self) -> tuple[ChatMessage, ...]:
        if self._offer is None:
            return ()
        turns = to_turns(self._offer, [self._number(passage) for passage in self._offer.passages])
        self._observer.record_opening(turns)
        return turns

    def problem(self, invocation: ToolInvocation) -> str | None:
        tool = self._tools.get(invocation.name)
        try:
            if tool is None:
                raise self._no_tool(invocation.name)
            validate(tool.name, tool.arguments, invocation.arguments)
        except ToolRetry as error:
            self._observer.record_problem(invocation, str(error))
            return str(error)
        return None

    async def invoke(
        self, invocation: ToolInvocation, key: str | None = None, *, uses_models: bool = True
    ) -> ToolResult:
        # No await before the place in the queue is taken: the order of calls is the order of numbers.
        before, done = self._last_call, asyncio.Event()
        self._last_call = done
        try:
            finding, is_error = await self._run(invocation, key, uses_models=uses_models)
            if before is not None:
                await before.wait()
            self._searches.extend(finding.searches)
            result = self._to_result(invocation, finding, is_error=is_error)
            self._observer.record_call(invocation, result)
            return result
        finally:
            done.set()

    async def list_facts(self, question: str) -> ListedFacts | None:
        intent = detect_list_intent(question)
        if intent is None:
            return None
        arguments = {"query": intent.query, "type": intent.type.value, "limit": MOST_LISTED}
        invocation = ToolInvocation(id=f"facts{self._highest}", name=FACTS_TOOL, arguments=arguments)
        async with step(JobKind.TOOL, FACTS_TOOL, input=to_job_input(arguments)) as job:
            context = self._context
            found = await context.facts.list_rows(intent, context.scope, context.document_ids)
            finding = Finding(
                text="\n".join(row.text for row, _ in found.rows), passages=tuple(source for _, source in found.rows)
            )
            job.output = _to_output(finding)
        if not found.rows:
            return None
        self._searches.append(intent.query)
        listed = ListedFacts(
            rows=tuple(row for row, _ in found.rows),
            total=found.total,
            unknown=found.unknown,
            noun=intent.noun,
            invocation=invocation,
            result=self._to_result(invocation, finding),
        )
        self._observer.record_facts(listed)
        return listed

    async def _run(self, invocation: ToolInvocation, key: str | None, *, uses_models: bool) -> tuple[Finding, bool]:
        """Return the finding, and whether it is an error."""
        call = to_digest(invocation, self._context)
        done = finished_before(JobKind.TOOL, call)
        if done is not None and (again := await self._restore(done)) is not None:
            adopt(done)
            return again, False
        try:
            async with step(JobKind.TOOL, invocation.name, input=to_job_input(invocation.arguments), key=key) as job:
                tool = self._tools.get(invocation.name)
                if tool is None:
                    raise self._no_tool(invocation.name)
                context = self._context if uses_models else replace(self._context, sections=None)
                finding = await tool.run(validate(tool.name, tool.arguments, invocation.arguments), context)
                job.output = {**_to_output(finding), CALL: call, **to_kept(finding)}
        except ToolRetry as error:
            return Finding(text=str(error)), True
        except ToolFailed as error:
            return Finding(text=f"{error} {FINAL}"), True
        return finding, False

    def _no_tool(self, name: str) -> ToolRetry:
        return ToolRetry(f"There is no tool {name!r}; there are {', '.join(self._tools)}.")

    async def _restore(self, job: Job) -> Finding | None:
        """Return the result of a finished call, with its passages reread; None if one is missing."""
        kept = kept_in(job)
        if kept is None:
            return None
        passages = await self._context.corpus.list_passages(kept.passage_ids, self._context.scope)
        if len(passages) != len(kept.passage_ids):
            return None
        return Finding(text=kept.text, passages=tuple(passages), searches=kept.searches)

    def _to_result(self, invocation: ToolInvocation, finding: Finding, *, is_error: bool = False) -> ToolResult:
        return ToolResult(
            invocation_id=invocation.id,
            name=invocation.name,
            text=finding.text,
            passages=tuple(dict.fromkeys(self._number(passage) for passage in finding.passages)),
            is_error=is_error,
            choices=finding.choices,
            images=finding.images,
        )

    def _number(self, passage: SourcedPassage) -> NumberedPassage:
        known = self._passages.get(passage.passage.id)
        if known is None:
            self._highest += 1
            known = NumberedPassage(number=self._highest, source=passage)
            self._passages[passage.passage.id] = known
        return known


def to_definition(tool: Tool[Any]) -> ToolDefinition:
    """Return the tool's definition for models."""
    return ToolDefinition(name=tool.name, description=tool.description, parameters=to_parameters(tool.arguments))


async def document_named(name: str, context: ToolContext) -> Document:
    """Return the document that a model names. Raises ToolRetry if it is unknown or not the question's."""
    try:
        document = await context.library.find_document(name, context.scope)
    except (NotFound, BadInput) as error:
        raise ToolRetry(f"{error} Search without a document to see which there are.") from error
    if context.document_ids and document.id not in context.document_ids:
        raise ToolRetry(f"This question is limited to another document than {document.title!r}: leave `document` out.")
    return document


def describe_place(document: Document, page_number: int, heading_path: Sequence[str]) -> str:
    """`"Title" (path), page 3, Chapter > Section`."""
    place = f'"{document.title}" ({document.path}), page {page_number}'
    return f"{place}, {join_headings(heading_path)}" if heading_path else place


def join_headings(heading_path: Sequence[str]) -> str:
    """`Chapter > Section`; a page whose first heading repeats its title is named once."""
    return " > ".join(title for title, _ in groupby(heading_path))


def to_job_input(arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments as the call's job shows them."""
    return {
        name: shorten(value if isinstance(value, str) else repr(value), JOB_INPUT_CHARACTERS)
        if not isinstance(value, int | float | bool | None)
        else value
        for name, value in arguments.items()
    }


def _to_output(finding: Finding) -> dict[str, object]:
    pages = dict.fromkeys(passage.passage.page_id for passage in finding.passages)
    output: dict[str, object] = {
        "passages": len(finding.passages),
        "passage_ids": [passage.passage.id for passage in finding.passages],
        "page_ids": list(pages),
    }
    return {**output, "choices": list(finding.choices)} if finding.choices else output


# A longer text is not kept but looked up again.
KEPT_CHARACTERS = 40_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    text: str
    passage_ids: tuple[str, ...]
    searches: tuple[str, ...]


def to_digest(invocation: ToolInvocation, context: ToolContext) -> str:
    """Return a key that two calls share if they ask the same within the same scope."""
    scope = context.scope
    decides = [
        [invocation.name, dict(invocation.arguments), scope.workspace, sorted(scope.sources)],
        [sorted(scope.positions.items()), sorted(context.document_ids), sorted(context.linked), context.rerank],
        [context.focus.document_id, *context.focus.sections] if context.focus is not None else [],
    ]
    written = json.dumps(decides, sort_keys=True, ensure_ascii=True, default=repr)
    return hashlib.sha256(written.encode()).hexdigest()


def to_kept(finding: Finding) -> dict[str, object]:
    """Return the finding for a restart, without its passages and choices (choices end the question)."""
    if finding.choices or len(finding.text) > KEPT_CHARACTERS:
        return {}
    return {KEPT: {"text": finding.text, "searches": list(finding.searches)}}


def kept_in(job: Job) -> Kept | None:
    """Return the finding that a job's output keeps, or None."""
    kept, ids = job.output.get(KEPT), job.output.get("passage_ids")
    if not isinstance(kept, Mapping) or not isinstance(ids, Sequence):
        return None
    return Kept(text=kept["text"], passage_ids=tuple(ids), searches=tuple(kept["searches"]))
