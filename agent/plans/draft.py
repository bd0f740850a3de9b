"""A path as a plan that people can read: what is known of each value before any call is made."""

from collections.abc import Sequence

from agent.request_reader import RequestReader
from domain.plan_document import PlanDocument, PlannedStep, Take
from domain.tool import ToolDoc


def drafted(
    request: str, tools: Sequence[ToolDoc], reader: RequestReader, given: Sequence[ToolDoc] = ()
) -> PlanDocument:
    """The steps with the values that the request names, and the fields of earlier steps' documented answers that fit.

    What neither gives is left open. ``given``: the
    steps of other subtasks, which come first.
    """
    path = [*given, *tools]
    return PlanDocument(
        steps=tuple(_step(request, tool, path[: len(given) + at], reader) for at, tool in enumerate(tools))
    )


def _step(request: str, tool: ToolDoc, before: Sequence[ToolDoc], reader: RequestReader) -> PlannedStep:
    feeds = reader.fillable(tool, request, before).feeds
    takes = {feed.parameter: Take(step=feed.step, field=feed.field) for feed in feeds}
    known = {name: value for name, value in reader.known_values(request, tool).items() if name not in takes}
    return PlannedStep(tool=tool.id, arguments=known, takes=takes)
