"""The plan that a run was asked to carry out, as its settings hold it."""

from collections.abc import Awaitable, Callable, Iterable, Mapping

from agent.plans.stored_plan import collect_stored_tools, dump_plan, restore_plan
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.tool import ToolDoc, ToolId
from server.storage.runs import Run

_PLAN = "plan"
_STEPS = "document"
"""Key under which earlier versions stored the steps of a plan."""
ToolDocLoader = Callable[[Iterable[ToolId]], Awaitable[Mapping[ToolId, ToolDoc]]]
"""Loads the documents of the given tools, as far as there are any."""


def build_plan_settings(plan: ProgramPlan, run: Run | None = None) -> JsonObject:
    """Return the settings of a run that carries out a plan; the rest is taken from another run."""
    dropped = ("stop_at_plan", "solution", _PLAN, _STEPS)
    others = {name: value for name, value in (run.settings if run else {}).items() if name not in dropped}
    return {**others, _PLAN: dump_plan(plan)}


def load_plan_without_documents(run: Run) -> ProgramPlan | None:
    """Load the plan without its tools' documents: enough to know which values it contains."""
    stored = _get_stored_plan(run)
    return None if stored is None else restore_plan(stored, {})


async def load_given_plan(run: Run, documents: ToolDocLoader) -> ProgramPlan | None:
    """Load the plan with its values; None where the run is to make its own.

    ``ConflictError``: it cannot be read any more.
    """
    stored = _get_stored_plan(run)
    return None if stored is None else restore_plan(stored, await documents(collect_stored_tools(stored)))


def _get_stored_plan(run: Run) -> JsonObject | None:
    stored = run.settings.get(_PLAN) or run.settings.get(_STEPS)
    return stored if isinstance(stored, dict) else None
