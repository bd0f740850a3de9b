"""Execution of a given or approved plan, or of a path step by step, without any change of course."""

from agent import resume_decisions as decisions
from agent.execution.step_execution import execute_steps, rebuild_compression_event
from agent.policy.protocol import Policy
from agent.programs.plan_runner import PlanRunner, load_program_path
from agent.programs.program_request import EARLIER
from agent.subtask_context import SubtaskContext
from domain.errors import UsageError
from domain.event import PathEnded, PlanReady
from domain.model import JsonObject
from domain.plan import Plan
from domain.program import ProgramPlan
from domain.source_text import parse_source

APPROVED_REASON = "its user approved this plan"
"""Reason of the path of an approved plan."""


async def execute_plan(context: SubtaskContext, plan: ProgramPlan, planned: PathEnded | None = None) -> None:
    """Execute a plan unchanged; if it breaks off, nothing replaces it.

    ``planned`` is the path that the user was asked about; None if the plan was given with the request.

    Raises:
        UsageError: the run has no sandbox.
    """
    context.progress.is_users_plan = True
    path = await load_program_path(plan, context.evidence)
    ended = PathEnded(path=path, how="finished", reason="its plan is given" if planned is None else APPROVED_REASON)
    if planned is None:
        await context.emit(ended)
    else:  # the search has emitted its end already
        context.progress.apply_event(ended)
    if planned is None or (planned.path, planned.how) != (path, "finished"):
        await context.emit(PlanReady(plan=Plan(path=path, complete=True, reason=ended.reason)))
    if context.deps.planning.sandbox is None:
        raise UsageError("there is no sandbox to carry a plan out in; give the run one")
    earlier_results = context.build_program_request(wider=False).select_inputs(
        parse_source(plan.program.text).read_names - {*plan.inputs}
    )
    names: JsonObject = {"today": context.today, EARLIER: [], **earlier_results}
    runner_parts = (
        context.open_values,
        context.deps.planning.sandbox,
        context.evidence,
        context.call_environment,
        context.progress,
        context.memo,
    )
    await PlanRunner(plan, names, *runner_parts, wrong_answers=context.deps.user.wrong_answers).run(
        context.deps.calls.field_choices
    )


async def execute_path(context: SubtaskContext, ended: PathEnded, policy: Policy) -> None:
    """Replay the recorded calls of a path, then make the others within the remaining time."""
    progress = context.progress
    tools = (*context.prior_tools, *context.evidence.docs(ended.path))
    progress.changing_tools |= {tool.id for tool in tools[progress.prior_count :] if not tool.safe}
    recorded_step = None
    for recorded_step in context.memo.collect_recorded_steps():
        if recorded_step.result is not None:
            context.executor.record_host_result(tools[recorded_step.step - 1].url, recorded_step.result)
        await context.emit(recorded_step.event)
    ended_before = context.memo.recall(decisions.read_steps_ended)
    if ended_before is None:
        compression_event = await rebuild_compression_event(
            recorded_step.event if recorded_step else None, tools, policy, context.deps.calls.field_choices
        )
        if compression_event is not None:
            await context.emit(compression_event)
    if (ended_before and ended_before.value) or any(result.status != "ok" for result in progress.step_results.values()):
        return
    done = dict(enumerate((result for _, result in context.prior_steps), start=1))
    done |= {step: context.references.to_subtask_result(result) for step, result in progress.step_results.items()}
    if any(not tool.safe for step, tool in enumerate(tools, start=1) if step not in done):
        await context.wait_for_turn()  # changes are made in the order in which the request asks for them
    limit_time, choices = progress.meter.limit_time, context.deps.calls.field_choices
    with progress.measure_time("execute"):
        await execute_steps(
            context.request,
            tools,
            policy,
            context.executor,
            done,
            context.emit,
            field_choices=choices,
            limit_time=limit_time,
        )
