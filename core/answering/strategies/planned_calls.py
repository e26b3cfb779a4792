"""The calls of a plan as jobs without a model: side by side, each after the one it follows, none stopping another."""

import asyncio
import logging
from collections.abc import Mapping

from core.answering.agent.turns import OUT_OF_TIME, end_in_order, refusal
from core.answering.run import Meter
from core.answering.strategies.plans import Plan, PlannedCall, filled_in, waits_for_findings
from core.answering.tools.toolbox import to_job_input
from core.domain.answer import ToolInvocation, ToolResult
from core.domain.jobs import JobKind
from core.errors import FootnoteError, ToolFailed
from core.ports import Tools
from core.work.steps import Step

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
    return [_outcome(call, run.tasks[call.key]) for call in plan.calls]


def _outcome(call: PlannedCall, task: "asyncio.Task[Called]") -> Called:
    if task.cancelled():
        return call.invocation, refusal(call.invocation, OUT_OF_TIME)
    return task.result()


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
