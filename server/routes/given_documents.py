"""Plans that are sent: of a bounded size, so that whatever is done with one later takes little time."""

from collections.abc import Sized
from typing import Annotated, cast

from pydantic import AfterValidator, BeforeValidator

from domain.plan import PlanDocument, PlannedStep
from server.runs.waiting_plans import MAX_LISTED_STEPS

MOST_PARAMETERS = 100
"""Of a step, and of the plan itself."""
MOST_CHARACTERS = 200_000
"""Of a plan as JSON."""


def _few_steps(given: object) -> object:
    """Looked at before each step is read, and told to be wrong by itself."""
    if isinstance(given, dict):
        steps = cast("dict[str, object]", given).get("steps")
        if isinstance(steps, list) and (count := len(cast("list[object]", steps))) > MAX_LISTED_STEPS:
            raise ValueError(f"has {count:,} steps: a plan has at most {MAX_LISTED_STEPS}")
    return cast("object", given)


def _bounded(document: PlanDocument) -> PlanDocument:
    """The document. ``ValueError`` where it is larger than any plan that could be carried out."""
    if max(map(len, _named(document)), default=0) > MOST_PARAMETERS:
        raise ValueError(f"has more than {MOST_PARAMETERS} parameters in one place: leave some out")
    if (size := len(document.model_dump_json())) > MOST_CHARACTERS:
        raise ValueError(f"has {size:,} characters as JSON: a plan has at most {MOST_CHARACTERS:,}; shorten its values")
    return document


def _named(document: PlanDocument) -> list[Sized]:
    return [document.parameters, *(part for step in document.steps for part in _parts(step))]


def _parts(step: PlannedStep) -> tuple[Sized, ...]:
    return step.arguments, step.takes, step.named


GivenDocument = Annotated[PlanDocument, BeforeValidator(_few_steps), AfterValidator(_bounded)]
