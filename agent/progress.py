"""What one run has done so far, and the account it gives at the end."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from agent.answer import Steps
from agent.apology import apology
from agent.budget import Meter
from agent.frontier import Frontier, Path
from agent.response_view import is_empty
from agent.tool_text import clean
from domain.event import (
    CallFinished,
    CandidatesConsidered,
    Event,
    Outcome,
    PathEnded,
    RunFinished,
    StepBacktracked,
    Usage,
)
from domain.plan import StepResult
from domain.tool import ToolDoc, ToolId, tool_id_parts

_NAMED = 5


_NOTHING = {"status": "failed", "note": "it found nothing"}
_OF_ARGUMENTS = frozenset({400, 404, 409, 422})
"""HTTP statuses that other arguments could change: they speak against the call, not against the tool."""


@dataclass(slots=True)
class Progress:
    """The changing part of a run. ``done``: results by step (from 1) of ``path``. ``failed``: steps that were gone around.
    ``writes``: tools of the path that change something, whose empty response means nothing. ``called``: every result of the run.
    ``lost``: paths of which a step was gone around, with that step.
    """

    meter: Meter
    state: Frontier = field(default_factory=Frontier)
    path: Path = ()
    done: dict[int, StepResult] = field(default_factory=dict[int, StepResult])
    failed: list[StepResult] = field(default_factory=list[StepResult])
    writes: set[ToolId] = field(default_factory=set[ToolId])
    called: list[StepResult] = field(default_factory=list[StepResult])
    lost: list[tuple[Path, int]] = field(default_factory=list[tuple[Path, int]])
    ended: PathEnded | None = None
    answer: str = ""
    starts: tuple[ToolId, ...] = ()
    considered: int = 0
    backtracks: int = 0
    plan_seconds: float = 0.0
    execute_seconds: float = 0.0

    def note(self, event: Event) -> None:
        """Take an event into account."""
        match event:
            case CandidatesConsidered():
                self.considered += len(event.candidates)
                if not self.starts:
                    self.starts = tuple(candidate.tool for candidate in event.candidates)
            case StepBacktracked():
                self.backtracks += 1
            case PathEnded():
                self.ended = event
                self._keep_common(event.path)
            case CallFinished():
                self.done[event.step] = event.result
                self.called.append(event.result)
            case _:
                return

    def _keep_common(self, path: Path) -> None:
        """Of the results at hand, keep those of the steps that the new path begins with."""
        common = 0
        while common < min(len(path), len(self.path)) and path[common] == self.path[common]:
            common += 1
        self.done = {step: result for step, result in self.done.items() if step <= common}
        self.path = path

    @property
    def stuck(self) -> tuple[int, StepResult] | None:
        """The step to go around, if any: one that did not succeed, or that found nothing and so left the rest without a base."""
        bad = next(((step, result) for step, result in self.done.items() if result.status != "ok"), None)
        if bad is not None and bad[1].status != "missing":
            return bad
        suspects = range(1, bad[0]) if bad else range(len(self.done), len(self.done) + 1)
        hollow = next((step for step in suspects if self._hollow(step)), None)
        return bad if hollow is None else (hollow, self.done[hollow].model_copy(update=_NOTHING))

    @property
    def unreplaced(self) -> tuple[ToolId, ...]:
        """The tools of failed steps of which the run ends with no more than what came before them: nothing took their place."""
        tools = {result.tool for result in self.done.values()}
        return tuple(path[step - 1] for path, step in self.lost if tools <= set(path[: step - 1]))

    def _hollow(self, step: int) -> bool:
        """Whether a step that was to find something found nothing."""
        result = self.done.get(step)
        return result is not None and result.tool not in self.writes and is_empty(result.response)

    def go_around(self, step: int, result: StepResult, reason: str) -> StepBacktracked:
        """Reopen the node where a step was chosen; what came after it is void."""
        self.failed.append(result)
        self.lost.append((self.path, step))
        self.done = {earlier: kept for earlier, kept in self.done.items() if earlier < step}
        self.state = self.state.reopen(step - 1, reason, ban=self._speaks_against_tool(result))
        return StepBacktracked(dropped=result.tool, path=self.state.path, reason=reason, phase="execute")

    def _speaks_against_tool(self, result: StepResult) -> bool:
        """Whether a tool is to be left alone for the rest of the run: it failed as such, or fails in the same way again."""
        again = (result.tool, result.status, result.arguments)
        if any((earlier.tool, earlier.status, earlier.arguments) == again for earlier in self.failed[:-1]):
            return True
        of_arguments = result.http_status in _OF_ARGUMENTS or result.note == _NOTHING["note"]
        return result.status == "failed" and result.attempts > 0 and not of_arguments

    def steps(self, docs: dict[ToolId, ToolDoc]) -> Steps:
        """The steps of the path with their results, then those that failed on the way."""
        failed = {(result.tool, result.status): result for result in self.failed}
        results = [*(self.done[step] for step in sorted(self.done)), *failed.values()]
        return [(docs[result.tool], result) for result in results]

    def finished(self, outcome: Outcome, error: str = "") -> RunFinished:
        """The run's last event."""
        cost = self.meter.cost
        usage = Usage(
            considered=self.considered,
            decisions=self.meter.decisions,
            backtracks=self.backtracks,
            model_calls=cost.model_calls,
            prompt_tokens=cost.prompt_tokens,
            completion_tokens=cost.completion_tokens,
            by_purpose=dict(cost.by_purpose),
            tokens_by_purpose=dict(cost.tokens_by_purpose),
            plan_seconds=self.plan_seconds,
            execute_seconds=self.execute_seconds,
            total_seconds=self.meter.elapsed,
        )
        return RunFinished(outcome=outcome, answer=self.answer, usage=usage, error=error)

    def apology(self, reason: str, failed: Sequence[tuple[ToolDoc, StepResult]]) -> str:
        """Why there is no answer, what was tried and what was considered."""
        names = ("/".join(clean(part, 60) for part in tool_id_parts(tool)[1:]) for tool in self.starts[:_NAMED])
        return apology(reason, failed, tuple(names))
