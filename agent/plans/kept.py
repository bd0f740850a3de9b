"""Plans as rows keep them: programs with their inputs. Versions before kept steps, which are compiled wherever they are read.

Compiling takes the documents of a plan's tools, which the store has and a row has not: so no row is written anew, and nothing is lost by it.
"""

from collections.abc import Mapping

from pydantic import ValidationError

from agent.plans.compiling import compiled
from domain.errors import ConflictError
from domain.model import JsonObject, what_is_wrong
from domain.plan_document import PlanDocument
from domain.program import ProgramPlan
from domain.tool import ToolDoc, ToolId

_STEPS = "steps"


def kept(plan: ProgramPlan) -> JsonObject:
    """A plan as it is kept."""
    return plan.model_dump(mode="json")


def tools_of_kept(stored: JsonObject) -> frozenset[ToolId]:
    """The tools that a kept plan names: those whose documents :func:`kept_plan` reads it with. ``ConflictError`` as there."""
    read = _read(stored)
    return frozenset(
        (step.tool for step in read.steps) if isinstance(read, PlanDocument) else read.program.tools.values()
    )


def kept_plan(stored: JsonObject, docs: Mapping[ToolId, ToolDoc]) -> ProgramPlan:
    """The plan that was kept. A tool that is not there any more is a function of what the plan names; a run of it is refused by its name.

    Raises:
        ConflictError: this version cannot read it; the message says what is wrong. It stays as it was.
    """
    read = _read(stored)
    return compiled(read, docs) if isinstance(read, PlanDocument) else read


def _read(stored: JsonObject) -> ProgramPlan | PlanDocument:
    form = PlanDocument if _STEPS in stored else ProgramPlan
    try:
        return form.model_validate(stored)
    except ValidationError as error:
        raise ConflictError(
            f"its plan was kept in a form that this version cannot read ({what_is_wrong(error)}); it stays as it was"
        ) from error
