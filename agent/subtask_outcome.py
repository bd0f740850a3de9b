"""The judgement of one subtask: its steps, its outcome, and what it leaves unserved."""

from pydantic.types import JsonValue

from agent.execution.provenance import ProvenanceTracker
from agent.offer.tool_evidence import ToolEvidence
from agent.outcome import find_missing_changes, find_unserved, has_unreplaced_step
from agent.policy.protocol import Policy
from agent.policy.subtasks import Subtask
from agent.request_reader import RequestReview
from agent.step_notes import explain_failure
from agent.step_numbers import ExecutedSteps
from agent.subtask_progress import SubtaskProgress
from agent.text import format_tool_title
from domain.event import CallFinished, Event, RunOutcome
from domain.plan import StepResult
from domain.program import Answered
from domain.provenance import ValueKind
from domain.tool import ToolDoc, ToolId

_OUTCOME_BY_VERDICT: dict[Answered, RunOutcome] = {"yes": "answered", "partly": "partly", "no": "gave_up"}
"""Outcome of a subtask by the verdict on the answer of its program."""

_NEAR = 0.9
"""Share of the best relevance from which a tool counts as fitting about as well."""
_MAX_ADVICE = 2
"""Limit of tools whose missing settings are reported."""
_UNCHANGED = "a change that it takes was not made"
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

    def note_event(self, event: Event) -> None:
        """Add an event to the progress.

        The values of a response are added to the provenance, since later calls may use them.
        """
        self.progress.note(event)
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
        if progress.by_program:
            return self._program_outcome
        if self.progress.done_already:
            return "gave_up" if self.unserved else "answered"
        if progress.meter.exhausted and (
            progress.stuck or progress.ended is None or progress.ended.how in ("budget", "open")
        ):
            return "budget"
        # A change that the budget for changes did not allow.
        if progress.stuck and progress.stuck[1].status == "skipped" and not progress.meter.may_change:
            return "budget"
        if progress.stuck or not progress.done or progress.ended is None or progress.ended.how != "finished":
            return "answered" if self._empty_tool else "gave_up"
        # A person chose the steps, so nothing of the request counts as missing.
        if progress.is_users_plan:
            return "answered"
        review = self.review
        unrelated = review.mismatches or review.is_unrelated
        lacking = self.missing_changes or self.unserved or unrelated or has_unreplaced_step(progress, self.evidence)
        if lacking:
            return "gave_up"
        return "partly" if review.unapplied_filters else "answered"

    @property
    def _empty_tool(self) -> str:
        """Name of the tool whose empty result is the answer ("there are none"); empty if there is no such tool."""
        if self.progress.by_program or self.progress.done or self.missing_changes or self.unserved:
            return ""
        return self.review.empty_tool

    @property
    def _program_outcome(self) -> RunOutcome:
        """The outcome of a subtask whose program ended or broke off."""
        progress = self.progress
        if progress.program_end is not None:
            return _OUTCOME_BY_VERDICT[progress.program_end.verdict]
        denied = any(result.status == "skipped" for result in progress.done.values())
        return "budget" if progress.meter.exhausted or (denied and not progress.meter.may_change) else "gave_up"

    @property
    def served(self) -> bool:
        """Return whether there are results that dependent subtasks may use."""
        return self.outcome in ("answered", "partly")

    @property
    def unserved(self) -> tuple[str, ...]:
        """Parts of the request that the path did not serve, requested changes included.

        Empty for a program, whose answer reports them itself.
        """
        if self.progress.by_program:
            return ()
        return find_unserved(self.progress, self.evidence, self.policy)

    @property
    def review(self) -> RequestReview:
        """Comparison of the request with the calls that were made for it."""
        results = self.done if self.progress.by_program else (*self.done, *self.failed)
        steps = tuple((self.evidence.doc(result.tool), result) for result in results)
        return self.evidence.reader.review(self.subtask.description, steps, tuple(self.prior_steps))

    @property
    def missing_changes(self) -> tuple[ToolDoc, ...]:
        """Tools of planned changes that were not made."""
        return find_missing_changes(self.progress, self.evidence)

    @property
    def done(self) -> list[StepResult]:
        """Results of the subtask's own steps, in order."""
        return [self.progress.done[step] for step in sorted(self.progress.done)]

    @property
    def failed(self) -> list[StepResult]:
        """Abandoned steps; of each tool, one per status with which it failed."""
        return list({(result.tool, result.status): result for result in self.progress.failed}.values())

    def to_executed_steps(self) -> ExecutedSteps:
        """Return the steps executed so far, for the numbering of the run."""
        return ExecutedSteps(
            self.subtask.number, self.subtask.depends_on, self.progress.done, len(self.subtask.earlier)
        )

    def get_step(self, number: int) -> tuple[ToolDoc, StepResult]:
        """Return one of the subtask's own steps, with its tool."""
        result = self.progress.done[number]
        return self.evidence.doc(result.tool), result

    def format_failure(self) -> str:
        """Explain why there is no answer, what was tried, and which tools were considered."""
        ended, stuck = self.progress.ended, self.progress.stuck
        if none := self._empty_tool:
            return f"There are none: {none} gave an empty list.\n"
        if self.progress.by_program:
            done, writes = self.progress.done.values(), self.progress.writes
            refused = any(one.status == "skipped" and one.tool in writes for one in done)
            return self.progress.format_failure(
                _UNCHANGED if refused else self.failure_reason, (), self._describe_settings()
            )
        reason = ended.reason if ended else "the path search did not end"
        if stuck is not None and stuck[1].status == "skipped":
            # The report of changes already gives the reason of a refused change.
            reason = stuck[1].note if self.evidence.doc(stuck[1].tool).safe else _UNCHANGED
        failed = [(self.evidence.doc(result.tool), result) for result in (*self.done, *self.failed)]
        return self.progress.format_failure(reason, failed, self._describe_settings())

    def _describe_settings(self) -> list[str]:
        """Describe the settings missing for tools that fit about as well as the best start candidate."""
        available = [tool for tool in self.progress.starts if self.evidence.has(tool)]
        fit = {tool: max(self.evidence.relevance(tool), default=0.0) for tool in available}
        near = [tool for tool, value in fit.items() if value >= _NEAR * max(fit.values())]
        lacking = [(format_tool_title(self.evidence.doc(tool)), self.evidence.advice(tool)) for tool in near]
        lines = [f"To call {name}: {'; '.join(advice)}." for name, advice in lacking if advice]
        return lines[:_MAX_ADVICE]

    @property
    def failure_reason(self) -> str:
        """The reason why the subtask is not answered, from its program or its search."""
        progress = self.progress
        if progress.by_program:
            denied = [result.note for result in progress.done.values() if result.status in ("skipped", "unknown")]
            end, broken = progress.program_end, progress.program_failure
            if end is not None:
                return end.missing or end.veto or end.answer
            used_up = progress.meter.exhausted
            return denied[0] if denied else used_up or (broken.error if broken else "its program did not end")
        stuck = self.progress.stuck
        if stuck is not None:
            return explain_failure(stuck[1])
        return self.progress.ended.reason if self.progress.ended else "its path search did not end"
