"""Tool calls of one model turn, side by side, within a question's time."""

import asyncio
from collections.abc import Sequence

from core.domain.chat import ToolInvocation, ToolResult
from core.limits import Meter
from core.ports import Tools

# Calls of one turn; a model that wants more is guessing, and each result costs tokens.
MAX_PARALLEL_CALLS = 8
OUT_OF_TIME = "Stopped: the time for this question is over."


async def invoke_all(tools: Tools, calls: Sequence[ToolInvocation], meter: Meter) -> tuple[ToolResult, ...]:
    """A result for each call, in their order: refused beyond MAX_PARALLEL_CALLS, an error where time ran out.

    Bugs of tools escape, and end the others.
    """
    tasks = [asyncio.create_task(tools.invoke(call)) for call in calls[:MAX_PARALLEL_CALLS]]
    try:
        await asyncio.wait(tasks, timeout=meter.seconds_left, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in tasks:
        if not task.cancelled() and (error := task.exception()) is not None:
            raise error
    if any(task.cancelled() for task in tasks):
        meter.expire()
    return tuple(
        refusal(call, f"Not run: at most {MAX_PARALLEL_CALLS} calls a turn.")
        if place >= len(tasks)
        else refusal(call, OUT_OF_TIME)
        if tasks[place].cancelled()
        else tasks[place].result()
        for place, call in enumerate(calls)
    )


def refusal(call: ToolInvocation, text: str) -> ToolResult:
    """The result of a call that was not run, or not to its end."""
    return ToolResult(invocation_id=call.id, name=call.name, text=text, is_error=True)
