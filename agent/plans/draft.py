"""A path as a plan that people can read: what is known of each value before any call is made."""

from collections.abc import Sequence
from datetime import date

from agent.policy.protocol import ArgumentsQuestion
from domain.model import JsonObject
from domain.plan_document import PlanDocument, PlannedStep, Take
from domain.tool import ToolDoc
from offline.grounding_of_changes import not_asked_for
from offline.slots.binding import WHOLE, bind, fillable


def drafted(
    request: str, tools: Sequence[ToolDoc], given: Sequence[ToolDoc] = (), today: date | None = None
) -> PlanDocument:
    """The steps with the values that the request names, and the fields of earlier steps' documented answers that fit.

    What neither gives is left open, and so is what a call that changes something would take from the request unasked. ``given``: the
    steps of other subtasks, which come first.
    """
    path = [*given, *tools]
    return PlanDocument(
        steps=tuple(_step(request, tool, path[: len(given) + at], today) for at, tool in enumerate(tools))
    )


def _step(request: str, tool: ToolDoc, before: Sequence[ToolDoc], today: date | None) -> PlannedStep:
    takes = {
        feed.parameter: Take(step=feed.step, field=feed.field) for feed in fillable(tool, request, before, today).feeds
    }
    return PlannedStep(tool=tool.id, arguments=_named(request, tool, takes, today), takes=takes)


def _named(request: str, tool: ToolDoc, takes: dict[str, Take], today: date | None) -> JsonObject:
    question = ArgumentsQuestion(request, tool, ())
    bound = bind(question, today)
    if not_asked_for(question, bound):
        return {}
    whole = {binding.parameter for binding in bound.provenance if binding.reference == WHOLE}
    return {name: value for name, value in bound.values.items() if name not in takes and name not in whole}
