"""What a finished run has done as a plan, and what is wrong with one that is sent."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent.plans.compiling import compiled
from agent.plans.from_run import Offered, drawn
from agent.plans.json_place import any_item
from agent.plans.lifting import Liftable, liftable, lifted
from agent.plans.standing import standing_of
from agent.plans.validation import PlanProblem, Surroundings, problems
from agent.programs.text_names import used
from agent.transcript import Transcript
from domain.errors import ConflictError, NotLinearError
from domain.event import CallFinished, EventRecord
from domain.plan_document import PlanDocument
from domain.program import ProgramPlan
from domain.tool import ToolDoc, ToolId
from server.routes.tools import tools
from server.runs.given_plans import given_plan
from server.runs.journal import records_of
from server.runs.plans import refuse
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


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a run has done. ``carried_out``: as a program; ``liftable``: what of its text may be another value next time. ``document``: its steps, where
    steps can say it, else ``why_no_steps``; ``offered``: values in them.
    """

    carried_out: ProgramPlan
    liftable: Sequence[Liftable] = ()
    document: PlanDocument | None = None
    offered: Sequence[Offered] = ()
    why_no_steps: str = ""

    @property
    def plan(self) -> ProgramPlan:
        """The program with inputs for all that may be another value next time."""
        return lifted(self.carried_out, self.liftable)


async def drawn_from(run: Run, services: Services) -> Drawn:
    """What a run has done. ``ConflictError`` where it has not ended yet, or so long ago that its events were removed, or where no plan says it."""
    if run.status != "finished":
        raise ConflictError("the run has not ended yet; its document is there when it has")
    events = await services.storage.events.of_run(run.id, _KINDS)
    if not events and (await services.storage.events.last([run.id])).get(run.id, 0) > 1:
        raise ConflictError("the run ended long ago, and what it did in detail is kept no more; ask it anew")
    records = await records_of(events)
    called = {record.event.result.tool for record in records if isinstance(record.event, CallFinished)}

    async def documents(ids: Iterable[ToolId]) -> Mapping[ToolId, ToolDoc]:
        return await tools(ids, services) or {}

    docs = await documents(called)
    given = await given_plan(run, documents)
    return await asyncio.to_thread(_drawn, run, records, docs, given)  # long answers are read anew


def _drawn(
    run: Run, records: Sequence[EventRecord], docs: Mapping[ToolId, ToolDoc], given: ProgramPlan | None
) -> Drawn:
    document, offered, why = None, list[Offered](), ""
    try:
        document, offered = drawn(records, docs)
    except NotLinearError as error:
        why = str(error)
    stands = standing_of(Transcript.of(records)) if given is None else None
    if (plan := given or (ProgramPlan(program=stands) if stands is not None else None)) is not None:
        if _builds_on_earlier(plan):
            plan = None
        else:
            found = liftable(plan, run.request, docs)
            return Drawn(plan, found, document, offered, why)
    if document is None:
        raise NotLinearError(why)
    return Drawn(compiled(document, docs), (), document, offered)


def _builds_on_earlier(plan: ProgramPlan) -> bool:
    """Whether a text takes values of earlier results: those are of its conversation, and no plan has them."""
    return any(name == "earlier" or name.startswith("earlier_") for name in used(plan.program.text))


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
    around = Surroundings(docs, depth=services.settings.max_depth, template=template)
    wrong = await asyncio.to_thread(problems, document, around)
    refuse([one for one in wrong if not (proven and _taken_before(one, document, proven))])


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
    return (take.step, any_item(take.field)) == (before.step, any_item(before.field))
