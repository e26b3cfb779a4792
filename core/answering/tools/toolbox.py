"""The toolbox of one question: it checks arguments, numbers passages, and keeps the evidence."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

from pydantic import ValidationError

from core.answering.pipeline import QuestionContext
from core.answering.run import DEFAULT_TOKENS, NO_OBSERVER, RunObserver
from core.answering.tools.base import Arguments, Finding, Pictures, Tool, ToolContext
from core.answering.tools.search import find_pages
from core.answering.tools.section_notes import ModelSectionReader
from core.domain.answer import Evidence, ListedFacts, PicturedPage
from core.domain.chat import ChatMessage, ChatRole, NumberedPassage, ToolDefinition, ToolInvocation, ToolResult
from core.domain.corpus import SearchQuery, SourcedPassage
from core.domain.jobs import Job, JobKind
from core.errors import ToolFailed, ToolRetry
from core.knowledge.covering import WholeDocuments
from core.knowledge.facts import Facts, FactType
from core.knowledge.facts.list_intent import detect_list_intent
from core.knowledge.facts.lookup import MOST_LISTED, Listing, Tables
from core.knowledge.facts.table_words import continued, read_table_question
from core.knowledge.library import Library
from core.knowledge.references.linked_context import LinkedContext, to_turns
from core.ports import ChatProvider, CorpusRepository, PagePictures
from core.ports.service import SummaryRepository
from core.text.courtesies import read_courtesies
from core.text.words import shorten
from core.work.steps import CALL, KEPT

# A job row shows the query, and not whole texts that a model may put into an argument.
JOB_INPUT_CHARACTERS = 300
FINAL = "Calling again will not help: tell the reader."  # ends the message of a final failure
# The tool that a model would have called for a list of rows.
FACTS_TOOL = "find_extracts"
TABLE_PAGES = 10  # that a search for a table finds


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolboxMaker:
    """Makes the toolbox of each question. `provider` returns the model of a workspace."""

    tools: Sequence[Tool[Any]]
    library: Library
    corpus: CorpusRepository
    facts: Facts
    summaries: SummaryRepository
    pictures: PagePictures
    provider: Callable[[str], ChatProvider]
    rerank: bool
    tokens: int = DEFAULT_TOKENS  # of a question

    def __call__(self, context: QuestionContext, observer: RunObserver) -> "Toolbox":
        provider = self.provider(context.scope.workspace)
        bound = ToolContext(
            scope=context.scope,
            library=self.library,
            corpus=self.corpus,
            facts=self.facts,
            focus=context.focus,
            linked=frozenset(document.id for document in context.linked),
            document_ids=frozenset({context.document.id}) if context.document else frozenset(),
            rerank=self.rerank,
            pictures=Pictures(of=self.pictures, sees=lambda: provider.capabilities.images),
            sections=None
            if provider.capabilities.quotes_only
            else ModelSectionReader(provider, self.summaries, self.tokens),
            window_tokens=0 if provider.capabilities.quotes_only else provider.capabilities.context_tokens,
        )
        return Toolbox(self.tools, bound, context.offer, observer, context.background)


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
        background: str = "",
    ) -> None:
        self.background = background
        self._observer = observer
        self._tools = {tool.name: tool for tool in tools}
        self._context = context
        self._offer = offer
        self._passages: dict[str, NumberedPassage] = {}
        self._searches: list[str] = []
        self._pictures: list[PicturedPage] = []
        self._last_call: asyncio.Event | None = None
        self._highest = 0
        self._before: list[str] = []  # the last things asked or said
        self._answer_before = ""

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        return tuple(to_definition(tool, self._context) for tool in self._tools.values())

    @property
    def evidence(self) -> Evidence:
        return Evidence(
            passages=dict(self._passages),
            searches=tuple(dict.fromkeys(self._searches)),
            pictures=tuple(dict.fromkeys(self._pictures)),
        )

    def adopt(self, history: Sequence[ChatMessage]) -> None:
        for turn in history:
            for result in turn.tool_results:
                self._passages.update((item.source.passage.id, item) for item in result.passages)
        self._highest = max((item.number for item in self._passages.values()), default=0)
        self._before = _asked_before(history)
        said = (turn.text for turn in reversed(history) if turn.role is ChatRole.ASSISTANT and turn.text)
        self._answer_before = next(said, "")

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
            validate(tool.name, arguments_of(tool, self._context), invocation.arguments)
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
            self._pictures.extend(finding.pictures)
            result = self._to_result(invocation, finding, is_error=is_error)
            self._observer.record_call(invocation, result)
            return result
        finally:
            done.set()

    async def list_facts(self, question: str, *, computes: bool = False) -> ListedFacts | None:
        intent = detect_list_intent(question)
        if intent is None:
            return (await self._compute(question) or await self._cover(question)) if computes else None
        arguments = {"query": intent.query, "type": intent.type.value, "limit": MOST_LISTED}
        invocation = self._facts_call(arguments)
        async with self._observer.root.step(JobKind.TOOL, FACTS_TOOL, input=to_job_input(arguments)) as job:
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
            is_whole=found.is_whole,
            noun=intent.noun,
            invocation=invocation,
            result=self._to_result(invocation, finding),
        )
        self._observer.record_facts(listed)
        return listed

    def _facts_call(self, arguments: Mapping[str, object]) -> ToolInvocation:
        """Return a call with an ID of its own in the conversation, also where it finds no further passage."""
        return ToolInvocation(id=f"facts{self._highest}-{len(self._searches)}", name=FACTS_TOOL, arguments=arguments)

    async def _compute(self, question: str) -> ListedFacts | None:
        """Answer a question, by itself or with the one before, from one table that accounts for all its words."""
        found = await self._from_table(question, [question])
        if found is None and self._before:
            readings = continued(question, self._before, self._answer_before)
            found = await self._from_table(f"{self._before[0]} {question}", readings)
        if found is None:
            return None
        question, text, listing = found
        arguments: dict[str, object] = {"query": question[:JOB_INPUT_CHARACTERS], "type": FactType.ROW.value}
        invocation = self._facts_call(arguments)
        async with self._observer.root.step(JobKind.TOOL, FACTS_TOOL, input=to_job_input(arguments)) as job:
            finding = Finding(text=text, passages=tuple(source for _, source in listing.rows))
            job.output = _to_output(finding)
        self._searches.append(question)
        listed = ListedFacts(
            rows=tuple(row for row, _ in listing.rows),
            total=listing.total,
            unknown=0,
            noun="rows",
            invocation=invocation,
            result=self._to_result(invocation, finding),
            heading=text,
        )
        self._observer.record_facts(listed)
        return listed

    async def _from_table(self, search: str, readings: Sequence[str]) -> tuple[str, str, Listing] | None:
        """Return the first reading that a table answers, with the line and the rows."""
        wanted = [(text, read) for text in readings if (read := read_table_question(text)) is not None]
        if not wanted:
            return None
        context, tables = self._context, dict[str, Tables]()
        query = SearchQuery(text=search, limit=TABLE_PAGES, document_ids=context.document_ids)
        pages = [hit.page_id for hit in await find_pages(query, context)]
        for text, read in wanted:
            if (found := await context.facts.compute(read, pages, context.scope, tables)) is not None:
                return text, *found
        return None

    async def _cover(self, question: str) -> ListedFacts | None:
        """Sum up or compare the documents that a question names as wholes."""
        context = self._context
        focus = next(iter(context.document_ids), None) or (context.focus.document_id if context.focus else None)
        known = await context.corpus.find_documents([focus], context.scope) if focus is not None else []
        found = await WholeDocuments(context.corpus).answer(question, context.scope, next(iter(known), None))
        if found is None:
            return None
        arguments: dict[str, object] = {"query": question[:JOB_INPUT_CHARACTERS]}
        invocation = self._facts_call(arguments)
        async with self._observer.root.step(JobKind.TOOL, FACTS_TOOL, input=to_job_input(arguments)) as job:
            finding = Finding(text=found.heading, passages=found.passages)
            job.output = _to_output(finding)
        self._searches.append(question)
        listed = ListedFacts(
            rows=found.rows,
            total=len(found.rows),
            unknown=0,
            noun="quotes",
            invocation=invocation,
            result=self._to_result(invocation, finding),
            heading=found.heading,
        )
        self._observer.record_facts(listed)
        return listed

    async def _run(self, invocation: ToolInvocation, key: str | None, *, uses_models: bool) -> tuple[Finding, bool]:
        """Return the finding, and whether it is an error."""
        call, root = to_digest(invocation, self._context), self._observer.root
        done = root.finished_before(JobKind.TOOL, call)
        if done is not None and (again := await self._restore(done)) is not None:
            root.adopt(done)
            return again, False
        given = to_job_input(invocation.arguments)
        try:
            async with root.step(JobKind.TOOL, invocation.name, input=given, key=key) as job:
                tool = self._tools.get(invocation.name)
                if tool is None:
                    raise self._no_tool(invocation.name)
                sections = self._context.sections if uses_models else None
                context = replace(self._context, sections=sections, call=job)
                finding = await tool.run(
                    validate(tool.name, arguments_of(tool, self._context), invocation.arguments), context
                )
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
        kept, ids = job.output.get(KEPT), job.output.get("passage_ids")
        if not isinstance(kept, Mapping) or not isinstance(ids, Sequence):
            return None
        passages = await self._context.corpus.list_passages(ids, self._context.scope)
        if len(passages) != len(ids):
            return None
        return Finding(text=kept["text"], passages=tuple(passages), searches=tuple(kept["searches"]))

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


MOST_BEFORE = 2


def _asked_before(history: Sequence[ChatMessage]) -> list[str]:
    """Return the last two messages of people, the last first; a question that a table answered, as it was read."""
    asked: list[str] = []
    is_read = False
    for turn in reversed(history):
        for call in turn.tool_invocations:
            if call.name == FACTS_TOOL and call.arguments.get("type") == FactType.ROW.value:
                asked.append(str(call.arguments.get("query", "")))
                is_read = True
        if turn.role is ChatRole.USER and read_courtesies(turn.text).rest:
            if not is_read:
                asked.append(" ".join(turn.text.split()))
            is_read = False
        if len(asked) == MOST_BEFORE:
            break
    return asked


def to_definition(tool: Tool[Any], context: ToolContext) -> ToolDefinition:
    """Return the tool's definition for the question's model."""
    parameters = to_parameters(arguments_of(tool, context))
    return ToolDefinition(name=tool.name, description=tool.description, parameters=parameters)


def arguments_of(tool: Tool[Any], context: ToolContext) -> type[Arguments]:
    """Return the tool's arguments for the model's abilities at this moment."""
    sees = context.pictures is not None and context.pictures.sees()
    return (tool.arguments.with_pictures if sees else None) or tool.arguments


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


def to_digest(invocation: ToolInvocation, context: ToolContext) -> str:
    """Return a key that two calls share if they ask the same within the same scope."""
    scope = context.scope
    decides = [
        [invocation.name, dict(invocation.arguments), scope.workspace, scope.digest],
        [sorted(context.document_ids), sorted(context.linked), context.rerank],
        [context.focus.document_id, *context.focus.sections] if context.focus is not None else [],
    ]
    written = json.dumps(decides, sort_keys=True, ensure_ascii=True, default=repr)
    return hashlib.sha256(written.encode()).hexdigest()


def to_kept(finding: Finding) -> dict[str, object]:
    """Return the finding for a restart, without its passages; nothing if it has more than text and passages.

    Choices end the question, and pictures are drawn again.
    """
    if finding.choices or finding.images or len(finding.text) > KEPT_CHARACTERS:
        return {}
    return {KEPT: {"text": finding.text, "searches": list(finding.searches)}}


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
