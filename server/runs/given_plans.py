"""The plan that a run was asked for with, as its settings keep it."""

from collections.abc import Awaitable, Callable, Iterable, Mapping

from agent.plans.kept import kept, kept_plan, tools_of_kept
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.tool import ToolDoc, ToolId
from server.storage.runs import Run

_PLAN = "plan"
_STEPS = "document"
"""Where versions before kept the steps of one."""
Documents = Callable[[Iterable[ToolId]], Awaitable[Mapping[ToolId, ToolDoc]]]
"""The documents of those tools that there are."""


def settings_with(plan: ProgramPlan, run: Run | None = None) -> JsonObject:
    """The settings of a run that carries a plan out; the rest as another run had them."""
    dropped = ("stop_at_plan", "solution", _PLAN, _STEPS)
    others = {name: value for name, value in (run.settings if run else {}).items() if name not in dropped}
    return {**others, _PLAN: kept(plan)}


def without_documents(run: Run) -> ProgramPlan | None:
    """The plan, with nothing known of its tools: enough to tell what values stand in it."""
    stored = _stored(run)
    return None if stored is None else kept_plan(stored, {})


async def given_plan(run: Run, documents: Documents) -> ProgramPlan | None:
    """The plan with its values; None where the run is to make its own. ``ConflictError``: it cannot be read any more."""
    stored = _stored(run)
    return None if stored is None else kept_plan(stored, await documents(tools_of_kept(stored)))


def _stored(run: Run) -> JsonObject | None:
    stored = run.settings.get(_PLAN) or run.settings.get(_STEPS)
    return stored if isinstance(stored, dict) else None
