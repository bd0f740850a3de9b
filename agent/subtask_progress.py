"""The state of one subtask, folded from its events."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from agent.budget import BudgetMeter
from agent.execution.error_bodies import is_empty_response
from agent.failure_message import format_failure_message
from agent.search.state import Path, SearchState
from agent.text import clean_text
from domain.event import (
    CallFinished,
    CandidatesConsidered,
    Event,
    PathEnded,
    PlanReady,
    ProgramEnded,
    ProgramFailed,
    ProgramStarted,
    StepBacktracked,
)
from domain.plan import StepResult
from domain.tool import ToolDoc, ToolId, split_tool_id

_MAX_NAMED_CANDIDATES = 5
"""Limit of start candidates that are named in a failure message."""


_NOTHING_FOUND = {"status": "failed", "note": "it found nothing"}
"""Fields of the result of a step that succeeded with an empty response, once it counts as failed."""
_ARGUMENT_ERRORS = frozenset({400, 404, 409, 422})
"""HTTP statuses for which other arguments may succeed, so that the tool is not at fault."""


@dataclass(slots=True)
class SubtaskProgress:
    """The mutable state of a subtask.

    It follows the events of the subtask (:meth:`apply_event`), so that a replay of the events rebuilds it.
    """

    meter: BudgetMeter
    prior_count: int = 0
    """Number of prior steps that the subtask builds on; the first step of ``path`` has the next number."""
    state: SearchState = field(default_factory=SearchState)
    """State of the search for a path."""
    path: Path = ()
    """The path that is being executed."""
    step_results: dict[int, StepResult] = field(default_factory=dict[int, StepResult])
    """Results by step number: of ``path``, or of the program while ``served_by_program`` is true."""
    abandoned_results: list[StepResult] = field(default_factory=list[StepResult])
    """Results of abandoned steps."""
    changing_tools: set[ToolId] = field(default_factory=set[ToolId])
    """Tools of the subtask that may change something; their empty responses are no failures."""
    call_results: list[StepResult] = field(default_factory=list[StepResult])
    """Results of all calls, in order."""
    abandoned_paths: list[tuple[Path, int]] = field(default_factory=list[tuple[Path, int]])
    """Abandoned paths, each with the position of the failed step among the path's own (from 1)."""
    abandoned_changes: list[tuple[Path, frozenset[tuple[ToolId, str]]]] = field(
        default_factory=list[tuple[Path, frozenset[tuple[ToolId, str]]]]
    )
    """For each abandoned path, the changing tools that it did not reach, and the changes made until then."""
    path_end: PathEnded | None = None
    """How the last search ended."""
    program_count: int = 0
    """Number of the last program that was run; 0 if none was."""
    program_end: ProgramEnded | None = None
    """End of the program that counts."""
    program_failure: ProgramFailed | None = None
    """Failure of the program that counts."""
    served_by_program: bool = False
    """True while ``step_results`` holds the calls of a program, each under a number of its own."""
    results_by_program: dict[int, dict[int, StepResult]] = field(default_factory=dict[int, dict[int, StepResult]])
    """Calls of each program that ended, by the program's number."""
    start_candidates: tuple[ToolId, ...] = ()
    """Candidates of the first node of the search."""
    considered_count: int = 0
    """Candidates that were considered in all nodes."""
    backtrack_count: int = 0
    """Steps that were taken back, while planning or executing."""
    plan_seconds: float = 0.0
    """Time of planning, including that of writing and checking programs."""
    write_seconds: float = 0.0
    check_seconds: float = 0.0
    execute_seconds: float = 0.0
    has_nothing_to_do: bool = False
    """True if the search ended because the prior steps already hold the answer."""
    is_users_plan: bool = False
    """True if a person chose the steps, who may have left parts of the request out on purpose."""
    emit_seconds: float = 0.0
    """Time spent waiting until the follower had handled the events."""

    @contextmanager
    def measure_time(self, activity: Literal["plan", "write", "check", "execute"]) -> Generator[None]:
        """Add the seconds spent in the context to an activity, without waiting for the user or the follower.

        Writing and checking programs count as planning, too.
        """
        began, emit_seconds = self.meter.elapsed, self.emit_seconds
        try:
            yield
        finally:
            seconds = self.meter.elapsed - began - (self.emit_seconds - emit_seconds)
            self.plan_seconds += seconds if activity != "execute" else 0.0
            self.write_seconds += seconds if activity == "write" else 0.0
            self.check_seconds += seconds if activity == "check" else 0.0
            self.execute_seconds += seconds if activity == "execute" else 0.0

    def apply_event(self, event: Event) -> None:
        """Take an event into account."""
        match event:
            case CandidatesConsidered():
                self.considered_count += len(event.candidates)
                if not self.start_candidates:
                    self.start_candidates = tuple(candidate.tool for candidate in event.candidates)
            case StepBacktracked():
                self.backtrack_count += 1
            case PathEnded():
                self.path_end = event
                self._discard_programs()
                self._keep_common_steps(event.path)
            case PlanReady():
                self._discard_programs()
            case ProgramStarted():
                self._begin_program(event)
            case ProgramFailed():
                self.program_failure = event
            case ProgramEnded():
                self._end_program(event)
            case CallFinished():
                self.step_results[event.step] = event.result
                self.call_results.append(event.result)
            case _:
                return

    def _begin_program(self, event: ProgramStarted) -> None:
        """Start a program; unless it continues the one before, the results so far are dropped."""
        self.program_count, self.program_end, self.program_failure = event.number, None, None
        if not event.goes_on:
            self.abandoned_results += [result for result in self.step_results.values() if result.status != "ok"]
            self.step_results = {}
        self.served_by_program = True

    def _end_program(self, event: ProgramEnded) -> None:
        """Make the calls of a program the ones that count.

        If the end of an earlier program is emitted again, because it was the better one, its calls are restored.
        """
        self.step_results = dict(self.results_by_program.setdefault(event.number, dict(self.step_results)))
        self.program_end, self.program_failure, self.served_by_program = event, None, True

    def _discard_programs(self) -> None:
        """Drop the calls of a program, before a path is followed."""
        if self.served_by_program:
            self.program_end, self.program_failure, self.served_by_program, self.step_results = None, None, False, {}

    def _keep_common_steps(self, path: Path) -> None:
        """Keep the results of the first steps that the new path shares with the old one."""
        common = 0
        while common < min(len(path), len(self.path)) and path[common] == self.path[common]:
            common += 1
        self.step_results = {
            step: result for step, result in self.step_results.items() if step <= self.prior_count + common
        }
        self.path = path

    @property
    def blocking_step(self) -> tuple[int, StepResult] | None:
        """The step that blocks the path, with its result; None if there is none.

        It failed, or it found nothing and so left a later step without input. A program handles failed calls itself.
        """
        if self.served_by_program:
            return None
        failed_step = next(
            ((step, result) for step, result in self.step_results.items() if result.status != "ok"), None
        )
        if failed_step is not None and failed_step[1].status != "missing":
            return failed_step
        # If a step has a missing input, an empty step before it is to blame; else only the last step may be empty.
        last = self.prior_count + len(self.step_results)
        suspects = range(self.prior_count + 1, failed_step[0]) if failed_step else range(last, last + 1)
        empty_step = next((step for step in suspects if self._is_empty_step(step)), None)
        return (
            failed_step
            if empty_step is None
            else (empty_step, self.step_results[empty_step].model_copy(update=_NOTHING_FOUND))
        )

    @property
    def lacks_answer_text(self) -> bool:
        """Return whether a plan without an answer of its own served the subtask; the policy then words the answer."""
        return self.served_by_program and self.program_end is not None and not self.program_end.spoken

    @property
    def changes_made(self) -> frozenset[tuple[ToolId, str]]:
        """Calls that changed something: each tool with its arguments."""
        results = (
            result for result in self.call_results if result.status == "ok" and result.tool in self.changing_tools
        )
        return frozenset((result.tool, repr(result.arguments)) for result in results)

    @property
    def unserved(self) -> str:
        """The part of the request that the policy reported as unserved when it finished the path."""
        return self.path_end.unserved if self.path_end else ""

    @property
    def unreplaced_tools(self) -> tuple[ToolId, ...]:
        """Tools of abandoned steps that nothing replaced: all results come from steps before them."""
        tools = {result.tool for result in self.step_results.values()}
        return tuple(path[step - 1] for path, step in self.abandoned_paths if tools <= set(path[: step - 1]))

    def _is_empty_step(self, step: int) -> bool:
        """Return whether a step that only reads found nothing."""
        result = self.step_results.get(step)
        return result is not None and result.tool not in self.changing_tools and is_empty_response(result.response)

    def abandon_step(self, step: int, result: StepResult, reason: str) -> StepBacktracked:
        """Abandon a failed step: reopen the node where it was chosen, and drop the results from it on.

        Returns:
            The event to emit.
        """
        self.abandoned_results.append(result)
        self.abandoned_paths.append((self.path, step - self.prior_count))
        changes = tuple(tool for tool in self.path[step - self.prior_count - 1 :] if tool in self.changing_tools)
        if changes:
            self.abandoned_changes.append((changes, self.changes_made))
        self.step_results = {
            earlier: earlier_result for earlier, earlier_result in self.step_results.items() if earlier < step
        }
        is_banned = self._is_tool_at_fault(result)
        self.state = self.state.reopen(
            step - 1 - self.prior_count, reason, ban=is_banned, replace=result.status != "missing"
        )
        return StepBacktracked(dropped=result.tool, path=self.state.path, reason=reason, phase="execute")

    def _is_tool_at_fault(self, result: StepResult) -> bool:
        """Return whether a tool is to be avoided from now on.

        It is if it failed for a reason other than its arguments, or twice in the same way.
        """
        outcome = (result.tool, result.status, result.arguments)
        if any((earlier.tool, earlier.status, earlier.arguments) == outcome for earlier in self.abandoned_results[:-1]):
            return True
        is_argument_error = result.http_status in _ARGUMENT_ERRORS or result.note == _NOTHING_FOUND["note"]
        return result.status == "failed" and result.attempts > 0 and not is_argument_error

    def describe_failure(
        self, reason: str, failed: Sequence[tuple[ToolDoc, StepResult]], settings: Sequence[str] = ()
    ) -> str:
        """Explain why there is no answer, with the names of the first candidates."""
        names = (
            "/".join(clean_text(part, 60) for part in split_tool_id(tool)[1:])
            for tool in self.start_candidates[:_MAX_NAMED_CANDIDATES]
        )
        return format_failure_message(reason, failed, tuple(names), settings)
