"""A plan that is edited: each change gives a new document, in which places of earlier steps still mean the same steps.

Steps count from 1; ``given`` is how many steps of other subtasks come before the document's own, which a ``Take`` counts, too.
"""

from collections.abc import Callable

from pydantic import JsonValue

from domain.plan import PlanDocument, PlannedStep, Take
from domain.tool import ToolId

Place = Callable[[int], int | None]


def moved(document: PlanDocument, step: int, by: int, given: int = 0) -> PlanDocument:
    """A step changes places with the one above (-1) or below (1) it."""
    other = step + by
    if not 1 <= min(step, other) <= max(step, other) <= len(document.steps):
        return document
    steps = list(document.steps)
    steps[step - 1], steps[other - 1] = steps[other - 1], steps[step - 1]
    return _renumbered(document, steps, lambda old: {step: other, other: step}.get(old, old), given)


def removed(document: PlanDocument, step: int, given: int = 0) -> PlanDocument:
    """Without a step; what was taken from it is left open."""
    steps = [one for number, one in enumerate(document.steps, 1) if number != step]
    return _renumbered(document, steps, lambda old: None if old == step else old - (old > step), given)


def added(
    document: PlanDocument, tool: ToolId, after: int, fills: dict[str, Take] | None = None, given: int = 0
) -> PlanDocument:
    """With one more step. ``fills``: what it takes from earlier ones; they count as before it was added."""
    place: Place = lambda old: old + (old > after)  # noqa: E731  # said in place, as the others
    new = PlannedStep(tool=tool, takes=fills or {})
    steps = [*document.steps[:after], new, *document.steps[after:]]
    return _renumbered(document, steps, place, given)


def filled(document: PlanDocument, step: int, parameter: str, value: JsonValue | Take | None) -> PlanDocument:
    """With a value that stands, a place that it is taken from, or (None) the parameter left open."""
    old = document.steps[step - 1]
    arguments = {name: one for name, one in old.arguments.items() if name != parameter}
    takes = {name: one for name, one in old.takes.items() if name != parameter}
    named = {name: one for name, one in old.named.items() if name != parameter}
    if isinstance(value, Take):
        takes[parameter] = value
    elif value is not None:
        arguments[parameter] = value
    new = old.model_copy(update={"arguments": arguments, "takes": takes, "named": named})
    steps = (*document.steps[: step - 1], new, *document.steps[step:])
    return document.model_copy(update={"steps": steps})


def _renumbered(document: PlanDocument, steps: list[PlannedStep], place: Place, given: int) -> PlanDocument:
    """``place``: where a step of the document's own is now; None: nowhere."""

    def still(take: Take) -> Take | None:
        if take.step <= given:
            return take
        now = place(take.step - given)
        return None if now is None else take.model_copy(update={"step": now + given})

    def with_places(step: PlannedStep) -> PlannedStep:
        takes = {name: now for name, take in step.takes.items() if (now := still(take)) is not None}
        return step.model_copy(update={"takes": takes})

    return document.model_copy(update={"steps": tuple(with_places(step) for step in steps)})
