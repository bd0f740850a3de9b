"""The events of an execution within the time that a run has left."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from agent.execute import ExecutionEvent
from agent.progress import Progress
from agent.streams import closing
from domain.event import CallFinished, CallStarted
from domain.plan import StepResult
from domain.tool import ToolDoc


async def in_time(
    calls: AsyncIterator[ExecutionEvent], tools: Sequence[ToolDoc], progress: Progress
) -> AsyncIterator[ExecutionEvent]:
    """The events as they come, to the first step that did not succeed. A step that the time runs out on is one.

    ``tools``: those of all steps, by their numbers. The seconds that each event took are added to the progress.
    """
    clock = asyncio.get_running_loop().time
    started: CallStarted | None = None
    async with closing(calls):
        while True:
            began = clock()
            try:
                async with asyncio.timeout(progress.meter.seconds_left):
                    event = await anext(calls, None)
            except TimeoutError:
                event = _out_of_time(tools, started, progress.given + len(progress.done) + 1)
            progress.execute_seconds += clock() - began
            if event is None:
                return
            started = event if isinstance(event, CallStarted) else None
            yield event
            if isinstance(event, CallFinished) and event.result.status != "ok":
                return


def _out_of_time(tools: Sequence[ToolDoc], started: CallStarted | None, step: int) -> CallFinished:
    """What is to be said of a step that the budget's seconds cut off: of a write, that its effect is unknown."""
    if started is not None:
        step = started.step
    tool = tools[step - 1]
    lost = started is not None and not tool.safe
    result = StepResult(
        tool=tool.id,
        arguments=started.arguments if started else {},
        provenance=started.provenance if started else (),
        status="unknown" if lost else "failed",
        note="the budget's time was used up during this step",
    )
    return CallFinished(step=step, result=result)
