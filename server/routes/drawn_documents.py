"""What a finished run has done as a plan, and what is wrong with one that is sent."""

import asyncio
from collections.abc import Mapping

from agent.plans.executed_plan import ExecutedPlan, build_executed_plan
from agent.plans.json_paths import generalize_indices
from agent.plans.plan_validation import PlanCheckContext, PlanProblem, find_problems
from domain.errors import ConflictError
from domain.event import CallFinished
from domain.plan import PlanDocument
from domain.tool import ToolDoc, ToolId
from server.routes.tools import tools
from server.runs.event_journal import parse_events
from server.runs.given_plans import load_given_plan
from server.runs.waiting_plans import raise_plan_problems
from server.services import Services
from server.storage.runs import Run

_KINDS = (
    "run.started",
    "subtask.started",
    "path.ended",
    "plan.ready",
    "step.backtracked",
    "program.started",
    "program.looked",
    "program.failed",
    "program.ended",
    "call.finished",
)


async def drawn_from(run: Run, services: Services) -> ExecutedPlan:
    """What a run has done. ``ConflictError`` where it has not ended yet, or so long ago that its events were removed, or where no plan says it."""
    if run.status != "finished":
        raise ConflictError("the run has not ended yet; its document is there when it has")
    events = await services.storage.events.list_kinds(run.id, _KINDS)
    if not events and (await services.storage.events.find_last_numbers([run.id])).get(run.id, 0) > 1:
        raise ConflictError("the run ended long ago, and what it did in detail is kept no more; ask it anew")
    records = await parse_events(events)
    called = {record.event.result.tool for record in records if isinstance(record.event, CallFinished)}
    docs = await tools(called, services) or {}
    given = load_given_plan(run)
    return await asyncio.to_thread(build_executed_plan, run.request, records, docs, given)  # long answers are read anew


async def check_document(
    document: PlanDocument,
    docs: Mapping[ToolId, ToolDoc] | None,
    services: Services,
    proven: PlanDocument | None = None,
    *,
    template: bool = False,
) -> None:
    """``UsageError`` with all that keeps it from being carried out, or from being a template.

    ``proven``: what was carried out: the places it took from are there.
    """
    around = PlanCheckContext(docs, depth=services.settings.max_depth, is_template=template)
    wrong = await asyncio.to_thread(find_problems, document, around)
    raise_plan_problems([one for one in wrong if not (proven and _taken_before(one, document, proven))])


def _taken_before(problem: PlanProblem, document: PlanDocument, proven: PlanDocument) -> bool:
    """Whether a problem is about a value that the proven steps, the same up to here, took from where it is taken now."""
    if problem.step is None or problem.parameter is None:
        return False
    ours, theirs = document.steps[: problem.step], proven.steps[: problem.step]
    if [one.tool for one in ours] != [one.tool for one in theirs]:
        return False  # That includes a run whose calls did not get as far.
    take, before = ours[-1].takes.get(problem.parameter), theirs[-1].takes.get(problem.parameter)
    if take is None or before is None:
        return False
    return (take.step, generalize_indices(take.field)) == (before.step, generalize_indices(before.field))
