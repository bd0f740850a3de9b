"""The plan that a run was asked to carry out, as its settings hold it."""

from agent.plans.stored_plan import dump_plan, restore_plan
from domain.model import JsonObject
from domain.program import ProgramPlan
from server.storage.runs import Run

_PLAN_KEY = "plan"


def build_plan_settings(plan: ProgramPlan, run: Run | None = None) -> JsonObject:
    """Return the settings of a run that carries out a plan; the rest is taken from another run."""
    dropped = ("stop_at_plan", "solution", _PLAN_KEY)
    others = {name: value for name, value in (run.settings if run else {}).items() if name not in dropped}
    return {**others, _PLAN_KEY: dump_plan(plan)}


def load_given_plan(run: Run) -> ProgramPlan | None:
    """Return the plan with its values; None if the run makes its own.

    Raises:
        ConflictError: this version cannot read the plan.
    """
    stored = run.settings.get(_PLAN_KEY)
    return restore_plan(stored) if isinstance(stored, dict) else None
