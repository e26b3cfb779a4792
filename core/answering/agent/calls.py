"""Tool calls of one model turn, side by side, within a question's time."""

import asyncio
from collections.abc import Sequence
from typing import Any

from core.answering.limits import Meter
from core.domain.answer import ToolInvocation, ToolResult
from core.ports import Tools
from core.work.steps import flush

# Calls of one turn; a model that wants more is guessing, and each result costs tokens.
MAX_PARALLEL_CALLS = 8
TURNS_TO_END = 3  # of the event loop: to be woken, and to return
OUT_OF_TIME = "Stopped: the time for this question is over."


async def invoke_all(tools: Tools, calls: Sequence[ToolInvocation], meter: Meter) -> tuple[ToolResult, ...]:
    """A result for each call, in their order: refused beyond MAX_PARALLEL_CALLS, an error where time ran out.

    Bugs of tools escape, and end the others.
    """
    tasks = [asyncio.create_task(tools.invoke(call)) for call in calls[:MAX_PARALLEL_CALLS]]
    try:
        await asyncio.wait(tasks, timeout=meter.seconds_left, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        await end_in_order(tasks)
    for task in tasks:
        if not task.cancelled() and (error := task.exception()) is not None:
            raise error
    if any(task.cancelled() for task in tasks):
        meter.expire()
    await flush()  # the model needs time for these results: a retry after a kill reuses them
    return tuple(
        refusal(call, f"Not run: at most {MAX_PARALLEL_CALLS} calls a turn.")
        if place >= len(tasks)
        else refusal(call, OUT_OF_TIME)
        if tasks[place].cancelled()
        else tasks[place].result()
        for place, call in enumerate(calls)
    )


async def end_in_order(tasks: Sequence["asyncio.Task[Any]"]) -> None:
    """End tasks of tool calls, given in the order in which they were begun; their errors stay in them.

    One that is over but for its numbers, which wait for the call before it, gets its turn when that one has ended.
    """
    for place, task in enumerate(tasks):
        for _ in range(TURNS_TO_END if place else 0):
            if not task.done():
                await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def refusal(call: ToolInvocation, text: str) -> ToolResult:
    """The result of a call that was not run, or not to its end."""
    return ToolResult(invocation_id=call.id, name=call.name, text=text, is_error=True)
