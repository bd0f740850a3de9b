"""A running program within the time that its run has left."""

import asyncio
from collections.abc import AsyncIterator, Mapping

from agent.scheduler import closing
from agent.subtask_progress import Progress
from domain.event import CallFinished, CallStarted, Event
from domain.plan import StepResult
from domain.tool import ToolDoc


async def in_time(
    events: AsyncIterator[Event], tools: Mapping[str, ToolDoc], progress: Progress
) -> AsyncIterator[Event]:
    """The events as they come. Where the time runs out, the calls that are under way are told as cut off, and nothing follows.

    The seconds that each event took are added to the progress.
    """
    clock = asyncio.get_running_loop().time
    docs = {tool.id: tool for tool in tools.values()}
    under_way: dict[int, CallStarted] = {}
    async with closing(events):
        while True:
            began = clock()
            try:
                async with progress.meter.within_time():
                    event = await anext(events, None)
            except TimeoutError:
                for call in under_way.values():
                    yield _cut_off(call, docs[call.tool])
                return
            finally:
                progress.execute_seconds += clock() - began
            if event is None:
                return
            match event:
                case CallStarted(step=step):
                    under_way[step] = event
                case CallFinished(step=step):
                    under_way.pop(step, None)
                case _:
                    pass
            yield event


def _cut_off(call: CallStarted, tool: ToolDoc) -> CallFinished:
    """Of a change, its effect is unknown."""
    result = StepResult(
        tool=call.tool,
        arguments=call.arguments,
        provenance=call.provenance,
        status="failed" if tool.safe else "unknown",
        note="the budget's time was used up during this call",
    )
    return CallFinished(step=call.step, result=result)
