"""Stored form of plans: programs with inputs.

Plans that earlier versions stored as steps are compiled when they are read, not by a migration: compiling needs the
documents of the tools, which are in the tool store and not in the database. Rows are never rewritten.
"""

from collections.abc import Mapping

from pydantic import ValidationError

from agent.plans.compilation import compile_plan
from domain.errors import ConflictError
from domain.model import JsonObject, describe_errors
from domain.plan import PlanDocument
from domain.program import ProgramPlan
from domain.tool import ToolDoc, ToolId

_STEPS = "steps"
"""Key by which a plan that was stored as steps is recognized."""


def dump_plan(plan: ProgramPlan) -> JsonObject:
    """Return a plan in its stored form."""
    return plan.model_dump(mode="json")


def collect_stored_tools(stored: JsonObject) -> frozenset[ToolId]:
    """Return the tools that a stored plan names, whose documents :func:`restore_plan` needs.

    Raises:
        ConflictError: this version cannot read the plan.
    """
    read = _parse_stored(stored)
    return frozenset(
        (step.tool for step in read.steps) if isinstance(read, PlanDocument) else read.program.tools.values()
    )


def restore_plan(stored: JsonObject, docs: Mapping[ToolId, ToolDoc]) -> ProgramPlan:
    """Return a plan from its stored form.

    A tool without a document becomes a function with the parameters that the plan names; running the plan is refused
    with a message that names the tool.

    Raises:
        ConflictError: this version cannot read the plan; the message says why. The row stays as it is.
    """
    read = _parse_stored(stored)
    return compile_plan(read, docs) if isinstance(read, PlanDocument) else read


def _parse_stored(stored: JsonObject) -> ProgramPlan | PlanDocument:
    """Return a stored plan as a program, or as steps if an earlier version stored it."""
    form = PlanDocument if _STEPS in stored else ProgramPlan
    try:
        return form.model_validate(stored)
    except ValidationError as error:
        raise ConflictError(
            f"its plan was kept in a form that this version cannot read ({describe_errors(error)}); it stays as it was"
        ) from error
