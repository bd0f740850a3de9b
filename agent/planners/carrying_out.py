"""Execution of plans and paths without changing them: a given or approved plan, or a path that was found."""

from agent import resume_decisions as decisions
from agent.execution.execute import execute, told_late
from agent.plans.arguments import CarryingOut
from agent.plans.compiling import as_document
from agent.policy.protocol import Policy
from agent.programs.carrying import Carrying, tools_of
from agent.programs.earlier import EARLIER
from agent.subtask_context import SubtaskContext
from domain.errors import UsageError
from domain.event import PathEnded, PlanReady
from domain.model import JsonObject
from domain.plan import Plan
from domain.program import ProgramPlan
from domain.source_text import parse_source

APPROVED = "its user approved this plan"


async def carry_out_plan(context: SubtaskContext, plan: ProgramPlan, planned: PathEnded | None = None) -> None:
    """Execute a plan unchanged; if it breaks off, nothing replaces it.

    ``planned`` is the event of its search, if there was one.
    """
    context.progress.chosen = True
    path = await tools_of(plan, context.evidence)
    ended = PathEnded(path=path, how="finished", reason="its plan is given" if planned is None else APPROVED)
    if planned is None:
        await context.tell(ended)
    else:
        context.progress.note(ended)
    if planned is None or (planned.path, planned.how) != (path, "finished"):
        await context.tell(PlanReady(plan=Plan(path=path, complete=True, reason=ended.reason)))
    if context.memo.settle(decisions.called_by_steps, lambda: False):
        await _go_on_by_steps(context, plan, ended)
        return
    if context.deps.planning.sandbox is None:
        raise UsageError("there is no sandbox to carry a plan out in; give the run one")
    found = context.asked(wider=False).found(parse_source(plan.program.text).uses - {*plan.inputs})
    names: JsonObject = {"today": context.today, EARLIER: [], **found}
    parts = (
        context.opened,
        context.deps.planning.sandbox,
        context.evidence,
        context.calling,
        context.progress,
        context.memo,
    )
    await Carrying(plan, names, *parts, wrong=context.deps.user.wrong_answers).carry_out(context.deps.calls.choices)


async def _go_on_by_steps(context: SubtaskContext, plan: ProgramPlan, ended: PathEnded) -> None:
    """Execute the rest of a plan whose first calls were made as steps.

    Earlier versions did so, when plans were not programs yet.
    """
    docs = {tool.id: tool for tool in context.evidence.docs(ended.path)}
    document = as_document(plan, docs, context.given_ids)
    await execute_path(context, ended, CarryingOut(context.deps.planning.policy, document, len(context.given)))


async def execute_path(context: SubtaskContext, ended: PathEnded, policy: Policy) -> None:
    """Make the calls of a path that are not made yet, within the remaining time. Recorded calls are replayed first."""
    progress = context.progress
    tools = (*context.given_tools, *context.evidence.docs(ended.path))
    progress.writes |= {tool.id for tool in tools[progress.given :] if not tool.safe}
    last = None
    for last in context.memo.steps():
        if last.result is not None:
            context.executor.saw(tools[last.step - 1].url, last.result)
        await context.tell(last.event)
    ended_before = context.memo.recall(decisions.steps_ended)
    if ended_before is None:
        late = await told_late(last.event if last else None, tools, policy, context.deps.calls.choices)
        if late is not None:
            await context.tell(late)
    if (ended_before and ended_before.value) or any(result.status != "ok" for result in progress.done.values()):
        return
    done = dict(enumerate((result for _, result in context.given), start=1))
    done |= {step: context.references.own(result) for step, result in progress.done.items()}
    if any(not tool.safe for step, tool in enumerate(tools, start=1) if step not in done):
        await context.turn()  # changes are made in the order in which the request asks for them
    within, choices = progress.meter.within_time, context.deps.calls.choices
    with progress.spends("execute"):
        await execute(
            context.request, tools, policy, context.executor, done, context.tell, choices=choices, within_time=within
        )
