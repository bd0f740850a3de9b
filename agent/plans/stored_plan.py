"""Plans as they are stored: programs with inputs."""

from pydantic import ValidationError

from domain.errors import ConflictError
from domain.model import JsonObject, describe_errors
from domain.program import ProgramPlan
from domain.tool import ToolId


def dump_plan(plan: ProgramPlan) -> JsonObject:
    """Return a plan in its stored form."""
    return plan.model_dump(mode="json")


def restore_plan(stored: JsonObject) -> ProgramPlan:
    """Return a plan from its stored form.

    Raises:
        ConflictError: this version cannot read the plan; the message says why. The row stays as it is.
    """
    try:
        return ProgramPlan.model_validate(stored)
    except ValidationError as error:
        raise ConflictError(
            f"its plan was kept in a form that this version cannot read ({describe_errors(error)}); it stays as it was"
        ) from error


def list_stored_tools(stored: JsonObject) -> frozenset[ToolId]:
    """Return the tools that a stored plan names.

    Raises:
        ConflictError: this version cannot read the plan.
    """
    return frozenset(restore_plan(stored).program.tools.values())
