"""One subtask of a run: serving it by a given plan, a program or a path, and judging the result."""

from dataclasses import replace
from functools import partial

from pydantic.types import JsonValue

from agent.conversation import StepReferences
from agent.execution.provenance import ProvenanceTracker
from agent.failure_message import explain_step_failure
from agent.files.file_origins import FileOrigins
from agent.offer.tool_evidence import ToolEvidence
from agent.outcome import collect_unserved_parts, find_missing_changes, has_unreplaced_step
from agent.planners.path_planner import PathPlanner
from agent.planners.plan_execution import execute_plan
from agent.planners.program_planner import ProgramPlanner
from agent.plans.plan_approval import PlanQuestionBuilder
from agent.policy.ask_user import AskUserPolicy
from agent.policy.protocol import Policy, Subtask, take_notices
from agent.programs.open_values import OpenValues
from agent.programs.program_request import build_earlier_results
from agent.programs.program_runner import CallEnvironment, StepCounter
from agent.request_reader import RequestReview
from agent.resume import ReplayPolicy
from agent.run_context import RunContext, build_call_context
from agent.step_numbers import ExecutedSteps
from agent.subtask_context import PriorSteps, SubtaskContext
from agent.subtask_progress import SubtaskProgress
from agent.text import format_tool_title
from domain.event import CallFinished, Event, PathEnded, ProgramEnded, RunOutcome
from domain.plan import StepResult
from domain.program import Answered
from domain.provenance import ValueKind
from domain.tool import ToolDoc, ToolId

_OUTCOME_BY_VERDICT: dict[Answered, RunOutcome] = {"yes": "answered", "partly": "partly", "no": "gave_up"}
"""Outcome of a subtask by the verdict on the answer of its program."""

_NEAR_BEST_SHARE = 0.9
"""Share of the best relevance from which a tool counts as fitting about as well."""
_MAX_SETTING_NOTES = 2
"""Limit of tools whose missing settings are reported."""
_CHANGE_NOT_MADE = "a change that it takes was not made"
"""Reason for a refused change; the report of changes says why it was refused."""


class SubtaskOutcome:
    """A subtask with its progress so far, and the judgement of it.

    Everything is computed from the progress when it is asked for, so it may change until the subtask has ended.
    """

    def __init__(
        self,
        subtask: Subtask,
        evidence: ToolEvidence,
        progress: SubtaskProgress,
        provenance: ProvenanceTracker,
        policy: Policy,
        prior_steps: tuple[tuple[ToolDoc, StepResult], ...] = (),
    ) -> None:
        self.subtask = subtask
        self.evidence = evidence
        self.progress = progress
        self.policy = policy
        self.prior_steps = prior_steps
        self._provenance = provenance

    def record_event(self, event: Event) -> None:
        """Add an event to the progress.

        The values of a response are added to the provenance, since later calls may use them.
        """
        self.progress.apply_event(event)
        if isinstance(event, CallFinished) and self.evidence.has(event.result.tool):
            self._provenance.record_response(self.evidence.doc(event.result.tool), event.result)

    def find_origin(self, tool: ToolId, parameter: str, value: JsonValue) -> tuple[ValueKind, str]:
        """Return the kind of origin of an argument's value.

        The second item is its place in the response of an earlier run, if it comes from one.
        """
        return self._provenance.find_reference(self.evidence.doc(tool), parameter, value)

    @property
    def outcome(self) -> RunOutcome:
        """The outcome of the subtask so far."""
        progress = self.progress
        if progress.served_by_program:
            return self._program_outcome
        if self.progress.has_nothing_to_do:
            return "gave_up" if self.unserved_parts else "answered"
        if progress.meter.exhausted and (
            progress.blocking_step or progress.path_end is None or progress.path_end.how in ("budget", "open")
        ):
            return "budget"
        # A change that the budget for changes did not allow.
        if progress.blocking_step and progress.blocking_step[1].status == "skipped" and not progress.meter.may_change:
            return "budget"
        if (
            progress.blocking_step
            or not progress.step_results
            or progress.path_end is None
            or progress.path_end.how != "finished"
        ):
            return "answered" if self._empty_tool else "gave_up"
        # A person chose the steps, so nothing of the request counts as missing.
        if progress.is_users_plan:
            return "answered"
        review = self.review
        unrelated = review.mismatches or review.is_unrelated
        is_lacking = (
            self.missing_changes or self.unserved_parts or unrelated or has_unreplaced_step(progress, self.evidence)
        )
        if is_lacking:
            return "gave_up"
        return "partly" if review.unapplied_filters else "answered"

    @property
    def _empty_tool(self) -> str:
        """Name of the tool whose empty result is the answer ("there are none"); empty if there is no such tool."""
        if self.progress.served_by_program or self.progress.step_results or self.missing_changes or self.unserved_parts:
            return ""
        return self.review.empty_tool

    @property
    def _program_outcome(self) -> RunOutcome:
        """The outcome of a subtask whose program ended or broke off."""
        progress = self.progress
        if progress.program_end is not None:
            return _OUTCOME_BY_VERDICT[progress.program_end.verdict]
        denied = any(result.status == "skipped" for result in progress.step_results.values())
        return "budget" if progress.meter.exhausted or (denied and not progress.meter.may_change) else "gave_up"

    @property
    def is_served(self) -> bool:
        """Return whether there are results that dependent subtasks may use."""
        return self.outcome in ("answered", "partly")

    @property
    def unserved_parts(self) -> tuple[str, ...]:
        """Parts of the request that the path did not serve, requested changes included.

        Empty for a program, whose answer reports them itself.
        """
        if self.progress.served_by_program:
            return ()
        return collect_unserved_parts(self.progress, self.evidence, self.policy)

    @property
    def review(self) -> RequestReview:
        """Comparison of the request with the calls that were made for it."""
        results = self.results if self.progress.served_by_program else (*self.results, *self.abandoned_results)
        steps = tuple((self.evidence.doc(result.tool), result) for result in results)
        return self.evidence.reader.review(self.subtask.description, steps, tuple(self.prior_steps))

    @property
    def missing_changes(self) -> tuple[ToolDoc, ...]:
        """Tools of planned changes that were not made."""
        return find_missing_changes(self.progress, self.evidence)

    @property
    def results(self) -> list[StepResult]:
        """Results of the subtask's own steps, in order."""
        return [self.progress.step_results[step] for step in sorted(self.progress.step_results)]

    @property
    def abandoned_results(self) -> list[StepResult]:
        """Abandoned steps; of each tool, one per status with which it failed."""
        return list({(result.tool, result.status): result for result in self.progress.abandoned_results}.values())

    def to_executed_steps(self) -> ExecutedSteps:
        """Return the steps executed so far, for the numbering of the run."""
        return ExecutedSteps(
            self.subtask.number, self.subtask.depends_on, self.progress.step_results, len(self.subtask.earlier)
        )

    def get_step(self, number: int) -> tuple[ToolDoc, StepResult]:
        """Return one of the subtask's own steps, with its tool."""
        result = self.progress.step_results[number]
        return self.evidence.doc(result.tool), result

    def format_failure(self) -> str:
        """Explain why there is no answer, what was tried, and which tools were considered."""
        path_end, blocking_step = self.progress.path_end, self.progress.blocking_step
        if empty_tool := self._empty_tool:
            return f"There are none: {empty_tool} gave an empty list.\n"
        if self.progress.served_by_program:
            results, changing_tools = self.progress.step_results.values(), self.progress.changing_tools
            refused = any(result.status == "skipped" and result.tool in changing_tools for result in results)
            return self.progress.describe_failure(
                _CHANGE_NOT_MADE if refused else self.failure_reason, (), self._describe_settings()
            )
        reason = path_end.reason if path_end else "the path search did not end"
        if blocking_step is not None and blocking_step[1].status == "skipped":
            # The report of changes already gives the reason of a refused change.
            reason = blocking_step[1].note if self.evidence.doc(blocking_step[1].tool).safe else _CHANGE_NOT_MADE
        failed_calls = [(self.evidence.doc(result.tool), result) for result in (*self.results, *self.abandoned_results)]
        return self.progress.describe_failure(reason, failed_calls, self._describe_settings())

    def _describe_settings(self) -> list[str]:
        """Describe the settings missing for tools that fit about as well as the best start candidate."""
        available = [tool for tool in self.progress.start_candidates if self.evidence.has(tool)]
        best_relevance = {tool: max(self.evidence.relevance(tool), default=0.0) for tool in available}
        near_best = [
            tool for tool, value in best_relevance.items() if value >= _NEAR_BEST_SHARE * max(best_relevance.values())
        ]
        missing_settings = [
            (format_tool_title(self.evidence.doc(tool)), self.evidence.advice(tool)) for tool in near_best
        ]
        lines = [f"To call {name}: {'; '.join(advice)}." for name, advice in missing_settings if advice]
        return lines[:_MAX_SETTING_NOTES]

    @property
    def failure_reason(self) -> str:
        """The reason why the subtask is not answered, from its program or its search."""
        progress = self.progress
        if progress.served_by_program:
            denied = [
                result.note for result in progress.step_results.values() if result.status in ("skipped", "unknown")
            ]
            end, failure = progress.program_end, progress.program_failure
            if end is not None:
                return end.missing or end.veto or end.answer
            exhausted_limit = progress.meter.exhausted
            return denied[0] if denied else exhausted_limit or (failure.error if failure else "its program did not end")
        blocking_step = self.progress.blocking_step
        if blocking_step is not None:
            return explain_step_failure(blocking_step[1])
        return self.progress.path_end.reason if self.progress.path_end else "its path search did not end"


UNREAD_FILE_REASON = "no program came out that reads the file"
"""Reason why a request with a file is given up without a program."""


class SubtaskRun(SubtaskOutcome):
    """One subtask from start to end; an object serves one subtask."""

    def __init__(
        self, subtask: Subtask, run_context: RunContext, evidence: ToolEvidence, prior_steps: PriorSteps = ()
    ) -> None:
        """Prepare to serve a subtask. ``prior_steps`` are the steps that it builds on."""
        progress = SubtaskProgress(run_context.meter, len(prior_steps))
        super().__init__(
            subtask, evidence, progress, run_context.provenance, run_context.deps.planning.policy, prior_steps
        )
        self._run_context = run_context
        self._memo = run_context.log.get_memo(subtask.number)
        self._references = StepReferences(run_context.request, run_context.history, subtask.earlier, self.find_origin)
        # The tools of this planner were found and not chosen, so the user is not asked for their values.
        may_ask = run_context.deps.planning.planner != "retrieve"
        self._asking_policy = AskUserPolicy(
            run_context.deps.planning.policy,
            run_context.user_questions,
            subtask.number,
            self._memo.find_answer,
            is_worth_asking=may_ask,
        )
        policy = ReplayPolicy(self._asking_policy, self._memo, self._references.to_subtask_binding)
        self._context = self._build_context(replace(run_context, deps=run_context.deps.with_policy(policy)))

    def _build_context(self, run_context: RunContext) -> SubtaskContext:
        """Build the context that planners work with; ``run_context`` holds the policy of this subtask."""
        subtask, prior_steps, policy = self.subtask, self.prior_steps, run_context.deps.planning.policy
        wait_for_turn = partial(run_context.scheduler.wait_for_turn, subtask.number)
        open_values = OpenValues(subtask.description, policy, prior_steps)
        call_context, files = (
            build_call_context(run_context, [tool for tool, _ in prior_steps]),
            FileOrigins(run_context.deps.user.files.all_files),
        )
        call_parts = (
            StepCounter(len(prior_steps)),
            self._emit,
            wait_for_turn,
            run_context.user_questions,
            call_context,
            open_values,
        )
        is_whole_request = subtask.description == run_context.request
        return SubtaskContext(
            subtask=subtask,
            deps=run_context.deps,
            run_name=run_context.events.run,
            today=run_context.today,
            evidence=self.evidence,
            progress=self.progress,
            memo=self._memo,
            emit=self._emit,
            wait_for_turn=wait_for_turn,
            executor=run_context.executor,
            call_environment=CallEnvironment(
                subtask.number, {}, run_context.executor, run_context.meter, *call_parts, files=files
            ),
            open_values=open_values,
            plan_questions=PlanQuestionBuilder(subtask.number, subtask.description, prior_steps),
            references=self._references,
            prior_steps=prior_steps,
            earlier_results=build_earlier_results(
                run_context.history, subtask.earlier, prior_steps, is_original=is_whole_request
            ),
            follow_up_runs=run_context.history.runs if is_whole_request else (),
        )

    @property
    def reused_steps(self) -> PriorSteps:
        """Calls of earlier runs that the answer is based on if nothing was left to do; else empty."""
        return self.prior_steps[: len(self.subtask.earlier)] if self.progress.has_nothing_to_do else ()

    async def serve(self, *, unmet: str = "") -> None:
        """Serve the subtask as far as possible.

        ``unmet`` names dependencies that were not served; if it is not empty, the subtask is given up at once.
        """
        deps = self._context.deps
        await self._emit(self.subtask.to_event(len(self.prior_steps)))
        if unmet:
            reason = f"it builds on what could not be found: {unmet}"
            await self._emit(PathEnded(path=(), how="gave_up", reason=reason))
        elif self.subtask.needs_no_calls:
            self.progress.has_nothing_to_do = True
            await self._emit(PathEnded(path=(), how="finished", reason="earlier results hold the answer"))
        elif deps.planning.plan is not None:
            await execute_plan(self._context, deps.planning.plan)
        else:
            await self._plan()

    async def _plan(self) -> None:
        """Serve by a solution or a program if the planner uses them; else, or if that fails, by a path.

        A path cannot read files, so a request with a file is given up without a program.
        """
        deps = self._context.deps
        first_end: ProgramEnded | None = None
        if deps.tries_program_first or deps.reuses_solutions:
            program = ProgramPlanner(self._context)
            await program.serve()
            if program.is_over:
                return
            if deps.user.files.new:
                await self._emit(PathEnded(path=(), how="gave_up", reason=program.failure_reason or UNREAD_FILE_REASON))
                return
            first_end = program.reused_end
        await PathPlanner(self._context, first_end).serve()

    async def _emit(self, event: Event) -> None:
        """Emit an event, after pending events of the policy, and record it; replayed events are only recorded."""
        for extra_event in (*take_notices(self._context.deps.planning.policy), *self._asking_policy.take_events()):
            if not self._memo.replay_event(extra_event):
                await self._forward(extra_event)
        run_event = self._references.to_run_event(event)
        self.record_event(run_event)
        if not self._memo.replay_event(run_event):
            await self._forward(run_event)

    async def _forward(self, event: Event) -> None:
        """Emit an event to the stream of the run, and measure how long its follower takes."""
        # The time that the follower takes is not part of planning or executing.
        began = self.progress.meter.elapsed
        async with self._run_context.scheduler.pause_activity(self.subtask.number):
            await self._run_context.events.emit(self.subtask.number, event)
        self.progress.emit_seconds += self.progress.meter.elapsed - began
