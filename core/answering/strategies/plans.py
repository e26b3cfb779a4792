"""A plan: the tool calls for a question, their order, the form of its answer, and the run of its calls.

A model plans by calling tools that don't run: the real ones by their schemas, each with a further argument `after`,
and two for other statements. All of it is checked here before any call runs.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.answering.agent.turns import OUT_OF_TIME, end_in_order, refusal
from core.answering.run import Meter
from core.answering.tools.toolbox import to_job_input
from core.domain.chat import ToolDefinition, ToolInvocation, ToolResult
from core.domain.jobs import JobKind
from core.domain.response_data import GENERAL, RESPONSE_TYPES
from core.errors import FootnoteError, ToolFailed
from core.ports import Tools
from core.text.words import collapse, shorten
from core.work.steps import Step

MOST_CALLS = 8  # of one plan: a ninth call rarely finds more
LONGEST_ARGUMENT = 1_000  # characters of one text
LONGEST_WORDS = 400  # of a reason, and of the question put completely
RESPOND = "respond_as"
REFUSE = "no_tool_can_help"
AFTER = "after"
FOUND_BY = "$"  # `"$1"`: the findings of call 1
FILLED_IN = ("page_id", "document")  # arguments that may be such

Problem = Callable[[ToolInvocation], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    key: str  # of its job: c1, c2 ... by its place in the model's turn
    invocation: ToolInvocation
    after: str | None = None  # the key of the call that has to be over first


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Without calls: nothing can be looked up, for the `reason`; without that either, it was no plan."""

    calls: tuple[PlannedCall, ...] = ()
    response_type: str | None = None  # None: the model did not say
    question: str = ""  # complete in itself; "" where the model did not put it so
    reason: str = ""
    problems: tuple[str, ...] = ()  # a sentence for each call that is left out


def planning_tools(definitions: Sequence[ToolDefinition]) -> tuple[ToolDefinition, ...]:
    """The tools as they are offered to a planning model."""
    respond = ToolDefinition(
        name=RESPOND,
        description="Says what form the answer is to have, and what is asked. Call it once, beside the others.",
        parameters=_object(
            {
                "response_type": {
                    "type": "string",
                    "enum": list(RESPONSE_TYPES),
                    "description": "; ".join(f"{name}: {kind.description}" for name, kind in RESPONSE_TYPES.items()),
                },
                "question": {
                    "type": "string",
                    "description": "The question, to be understood without the conversation.",
                },
            },
            ["response_type"],
        ),
    )
    refuse = ToolDefinition(
        name=REFUSE,
        description="Says that no tool can look up what is asked. Call it alone.",
        parameters=_object({"reason": {"type": "string", "description": "Why, in one sentence."}}, ["reason"]),
    )
    return (*(_with_after(definition) for definition in definitions), respond, refuse)


def read_plan(invocations: Sequence[ToolInvocation], problem: Problem) -> Plan:
    """Return the model's plan without invalid calls. `problem` returns a sentence about wrong arguments."""
    said = {call.name: call.arguments for call in invocations if call.name in (RESPOND, REFUSE)}
    wanted = [call for call in invocations if call.name not in (RESPOND, REFUSE)]
    read = [_read(call, place, len(wanted), problem) for place, call in enumerate(wanted, start=1)]
    problems = [item for item in read if isinstance(item, str)]
    calls, more = _runnable([item for item in read if isinstance(item, PlannedCall)])
    response_type = str(said.get(RESPOND, {}).get("response_type", ""))
    return Plan(
        calls=calls,
        response_type=response_type if response_type in RESPONSE_TYPES else None,
        question=shorten(str(said.get(RESPOND, {}).get("question", "")), LONGEST_WORDS),
        reason=shorten(str(said.get(REFUSE, {}).get("reason", "")), LONGEST_WORDS),
        problems=(*problems, *more),
    )


def filled_in(call: PlannedCall, found: Mapping[str, str]) -> ToolInvocation:
    """Return the call with an earlier finding in place of `$n`. `found` is by the name of the argument."""
    arguments = dict(call.invocation.arguments)
    for name in FILLED_IN:
        if _reference(arguments.get(name)) is not None and name in found:
            arguments[name] = found[name]
    return replace(call.invocation, arguments=arguments)


def waits_for_findings(call: PlannedCall) -> bool:
    """Return whether the call needs the findings of the one before it, and not only its end."""
    return any(_reference(call.invocation.arguments.get(name)) is not None for name in FILLED_IN)


def to_json(plan: Plan) -> dict[str, object]:
    """For the planning job's output; `from_json` reads it."""
    return {
        "calls": [
            {
                "key": call.key,
                "id": call.invocation.id,
                "tool": call.invocation.name,
                "arguments": dict(call.invocation.arguments),
                "after": call.after,
            }
            for call in plan.calls
        ],
        "response_type": plan.response_type,
        "question": plan.question,
        "reason": plan.reason,
        "problems": list(plan.problems),
    }


def from_json(written: Mapping[str, Any]) -> Plan:
    return Plan(
        calls=tuple(
            PlannedCall(
                key=call["key"],
                invocation=ToolInvocation(id=call["id"], name=call["tool"], arguments=call["arguments"]),
                after=call["after"],
            )
            for call in written["calls"]
        ),
        response_type=written["response_type"],
        question=written["question"],
        reason=written["reason"],
        problems=tuple(written["problems"]),
    )


def response_type_of(plan: Plan, by_rule: str | None) -> str:
    """Return the form of the answer: the model's choice, else by the question's wording."""
    return plan.response_type or by_rule or GENERAL


def _read(call: ToolInvocation, place: int, count: int, problem: Problem) -> PlannedCall | str:
    """The call, or why it is left out."""
    name = f"Call {place} ({shorten(call.name, 60)})"
    if place > MOST_CALLS:
        return f"{name} was left out: at most {MOST_CALLS} are made."
    arguments = {key: value for key, value in call.arguments.items() if key != AFTER}
    long = [key for key, value in arguments.items() if len(value if isinstance(value, str) else "") > LONGEST_ARGUMENT]
    if long:
        return f"{name} was left out: {long[0]!r} is longer than {LONGEST_ARGUMENT} characters."
    named = [number for key in FILLED_IN if (number := _reference(arguments.get(key))) is not None]
    after = call.arguments.get(AFTER)
    numbers = {*named, *([after] if after is not None else [])}
    if len(numbers) > 1:
        return f"{name} was left out: it can follow one other call, not two."
    if any(not isinstance(number, int) or not 1 <= number <= count or number == place for number in numbers):
        return f"{name} was left out: it is to follow {', '.join(map(repr, numbers))}, which is no other call."
    if (wrong := problem(replace(call, arguments=arguments))) is not None:
        return f"{name} was left out: {wrong}"
    before = next((f"c{number}" for number in numbers), None)
    return PlannedCall(key=f"c{place}", invocation=replace(call, arguments=arguments), after=before)


def _runnable(calls: Sequence[PlannedCall]) -> tuple[tuple[PlannedCall, ...], list[str]]:
    """Without calls that repeat others, follow one that is left out, or wait for each other; and why."""
    unique: dict[str, PlannedCall] = {}
    same: dict[str, str] = {}
    for call in calls:
        asked = f"{call.invocation.name} {sorted(call.invocation.arguments.items())!r} {call.after}"
        first = unique.setdefault(asked, call)
        same[call.key] = first.key
    left = [replace(call, after=same.get(call.after, call.after) if call.after else None) for call in unique.values()]
    kept: dict[str, PlannedCall] = {}
    while ready := [call for call in left if call.after is None or call.after in kept]:
        kept |= {call.key: call for call in ready}
        left = [call for call in left if call.key not in kept]
    order = [call.key for call in unique.values()]
    problems = [
        f"Call {call.key[1:]} ({call.invocation.name}) was left out: the call that it is to follow is never over."
        for call in left
    ]
    return tuple(kept[key] for key in order if key in kept), problems


def _reference(value: object) -> int | None:
    """The place of the call that `"$2"` stands for; None for every other value."""
    text = collapse(value) if isinstance(value, str) else ""
    return int(text[1:]) if text.startswith(FOUND_BY) and text[1:].isdecimal() else None


def _with_after(definition: ToolDefinition) -> ToolDefinition:
    properties = definition.parameters.get("properties")
    after = {
        "type": "integer",
        "description": "The place of the call in this reply that has to be over first, counted from 1. Leave it out "
        "unless this call needs it.",
    }
    given = properties if isinstance(properties, Mapping) else {}
    return replace(definition, parameters={**definition.parameters, "properties": {**given, AFTER: after}})


def _object(properties: Mapping[str, object], required: Sequence[str]) -> dict[str, object]:
    return {"type": "object", "properties": dict(properties), "required": list(required), "additionalProperties": False}


_log = logging.getLogger(__name__)

Called = tuple[ToolInvocation, ToolResult]


async def run_plan(plan: Plan, tools: Tools, meter: Meter, root: Step) -> list[Called]:
    """Return each call with its result, in the plan's order; an error if it failed or time ran out.

    `root` is of the tools' job tree. Raises the first call's error (StorageError) if all failed, so that the question
    can be retried.
    """
    for call in plan.calls:
        root.queue(JobKind.TOOL, call.invocation.name, input=to_job_input(call.invocation.arguments), key=call.key)
    run = _Run(tools, root)
    for call in sorted(plan.calls, key=lambda call: call.after is not None):
        run.tasks[call.key] = asyncio.create_task(run.make(call))
    tasks = list(run.tasks.values())
    try:
        await asyncio.wait(tasks, timeout=meter.seconds_left)
    finally:
        await end_in_order(tasks)
    if any(task.cancelled() for task in tasks):
        meter.expire()
    await root.flush()  # finished calls aren't repeated after a kill
    if run.raised and len(run.raised) == len(plan.calls):
        raise run.raised[0]
    return [
        (call.invocation, refusal(call.invocation, OUT_OF_TIME)) if task.cancelled() else task.result()
        for call in plan.calls
        for task in [run.tasks[call.key]]
    ]


class _Run:
    def __init__(self, tools: Tools, root: Step) -> None:
        self._tools = tools
        self._root = root
        self.tasks: dict[str, asyncio.Task[Called]] = {}
        self.raised: list[FootnoteError] = []

    async def make(self, call: PlannedCall) -> Called:
        """Run one call. This is the outermost frame of a job: after any failure, the other calls continue."""
        invocation = call.invocation
        try:
            if call.after is not None:
                invocation = await self._follow(call, call.after)
            return invocation, await self._tools.invoke(invocation, call.key, uses_models=False)
        except ToolFailed as error:
            return invocation, refusal(invocation, str(error))
        except FootnoteError as error:
            self.raised.append(error)
            return invocation, refusal(invocation, str(error))
        except Exception:
            _log.exception("The planned call of %s failed", invocation.name)
            return invocation, refusal(invocation, "It failed for a reason of its own; the log has it.")

    async def _follow(self, call: PlannedCall, after: str) -> ToolInvocation:
        """Return the call with the findings of the one before it. Raises ToolFailed, as a failed job, without any."""
        before, result = await asyncio.shield(self.tasks[after])
        if not waits_for_findings(call):
            return call.invocation
        found = _found(result)
        if not found:
            given = to_job_input(call.invocation.arguments)
            async with self._root.step(JobKind.TOOL, call.invocation.name, input=given, key=call.key):
                raise ToolFailed(f"It was not run: it needs a page from {before.name}, which found none.")
        return filled_in(call, found)


def _found(result: ToolResult) -> Mapping[str, str]:
    """The first page of a result, and its document, by the names of the arguments that take them."""
    if result.is_error or not result.passages:
        return {}
    first = result.passages[0].source
    return {"page_id": first.passage.page_id, "document": first.document.path}


# The first that matches decides.
_CUES: tuple[tuple[str, str], ...] = (
    (
        "comparison",
        r"\bcompar(?:e|es|ed|ing|ison)\b|\bdifferences? between\b|\b(?:versus|vs\.?)\b|\bdiffers? from\b"
        r"|\bpros and cons\b",
    ),
    (
        "timeline",
        r"\btime ?line\b|\bchronolog(?:y|ical|ically)\b|\b(?:in|by) order of (?:date|time)\b"
        r"|\bwhat happened when\b|\bsequence of events\b",
    ),
    (
        "meeting_brief",
        r"\b(?:meeting|agenda) brief(?:ing)?\b|\bbrief(?:ing)? (?:me )?(?:on|for|about) .{0,40}\bmeeting\b",
    ),
    ("stat_block", r"\bstat(?:s|istics)? ?block\b|\bstats (?:of|for)\b"),
    (
        "financial_summary",
        r"\bfinancial (?:summary|overview|results|figures)\b|\bsummar\w+ .{0,30}\b(?:financials?|revenues?|earnings)\b",
    ),
)
_RULES = tuple((name, re.compile(cue, re.IGNORECASE)) for name, cue in _CUES)


def wording_of(question: str) -> str | None:
    """Return the response type that the words ask for, or None."""
    return next((name for name, cue in _RULES if cue.search(question)), None)
