"""Draft a plan for a path: the values that are known before any call is made."""

from collections.abc import Sequence

from agent.request_reader import RequestReader
from domain.plan import PlanDocument, PlannedStep, Take
from domain.tool import ToolDoc


def draft_plan(
    request: str, tools: Sequence[ToolDoc], reader: RequestReader, earlier_tools: Sequence[ToolDoc] = ()
) -> PlanDocument:
    """Return a plan that calls these tools in order, with all arguments that are known before any call.

    Arguments come from documented fields of earlier responses, or from the request; others are left open.
    ``earlier_tools``: tools of the steps of other subtasks, which come first.
    """
    path = [*earlier_tools, *tools]
    return PlanDocument(
        steps=tuple(
            _draft_step(request, tool, path[: len(earlier_tools) + at], reader) for at, tool in enumerate(tools)
        )
    )


def _draft_step(request: str, tool: ToolDoc, before: Sequence[ToolDoc], reader: RequestReader) -> PlannedStep:
    """Return one step; a field of an earlier response takes precedence over a value of the request."""
    feeds = reader.check_inputs(tool, request, before).feeds
    takes = {feed.parameter: Take(step=feed.step, field=feed.field) for feed in feeds}
    known_values = {name: value for name, value in reader.find_known_values(request, tool).items() if name not in takes}
    return PlannedStep(tool=tool.id, arguments=known_values, takes=takes)
