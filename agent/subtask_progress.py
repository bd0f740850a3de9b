"""What one subtask of a run has done so far."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from agent.budget import Meter
from agent.execution.error_bodies import is_empty
from agent.failure_message import failure_message
from agent.search.state import Frontier, Path
from agent.text import clean
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
from domain.tool import ToolDoc, ToolId, tool_id_parts

_NAMED = 5


_NOTHING = {"status": "failed", "note": "it found nothing"}
_OF_ARGUMENTS = frozenset({400, 404, 409, 422})
"""HTTP statuses that other arguments could change: they speak against the call, not against the tool."""


@dataclass(slots=True)
class Progress:
    """The changing part of a subtask. ``given``: how many steps of earlier subtasks it builds on; the first of ``path`` has the number
    after them. ``done``: results of ``path`` by step. ``failed``: steps that were gone around. ``writes``: tools of its paths that
    change something, whose empty response means nothing. ``called``: every result of the subtask. ``lost``: paths of which a step
    was gone around, with that step's place among their own (from 1). ``lost_changes``: the
    tools by which the rest of such a path was to change something, with the changes that were made before. ``programs``: how many were run;
    ``program``: the end of the one that counts, ``broken``: how it broke off; ``by_program``: ``done`` are its calls, each under a
    number of its own. ``plan_seconds`` hold those in which programs were written and checked; ``heard_seconds``: that it waited until its events were seen to.
    ``done_already``: its walk ended since nothing was left to do; ``chosen``: its steps are a person's, who may have left something of the request aside.
    """

    meter: Meter
    given: int = 0
    state: Frontier = field(default_factory=Frontier)
    path: Path = ()
    done: dict[int, StepResult] = field(default_factory=dict[int, StepResult])
    failed: list[StepResult] = field(default_factory=list[StepResult])
    writes: set[ToolId] = field(default_factory=set[ToolId])
    called: list[StepResult] = field(default_factory=list[StepResult])
    lost: list[tuple[Path, int]] = field(default_factory=list[tuple[Path, int]])
    lost_changes: list[tuple[Path, frozenset[tuple[ToolId, str]]]] = field(
        default_factory=list[tuple[Path, frozenset[tuple[ToolId, str]]]]
    )
    ended: PathEnded | None = None
    programs: int = 0
    program: ProgramEnded | None = None
    broken: ProgramFailed | None = None
    by_program: bool = False
    ends: dict[int, dict[int, StepResult]] = field(default_factory=dict[int, dict[int, StepResult]])
    starts: tuple[ToolId, ...] = ()
    considered: int = 0
    backtracks: int = 0
    plan_seconds: float = 0.0
    write_seconds: float = 0.0
    check_seconds: float = 0.0
    execute_seconds: float = 0.0
    done_already: bool = False
    chosen: bool = False
    heard_seconds: float = 0.0

    @contextmanager
    def spends(self, on: Literal["plan", "write", "check", "execute"]) -> Generator[None]:
        """Add the seconds until this is left, but for those in which the run waits for its user, or for whoever follows it."""
        began, heard = self.meter.elapsed, self.heard_seconds
        try:
            yield
        finally:
            seconds = self.meter.elapsed - began - (self.heard_seconds - heard)
            self.plan_seconds += seconds if on != "execute" else 0.0
            self.write_seconds += seconds if on == "write" else 0.0
            self.check_seconds += seconds if on == "check" else 0.0
            self.execute_seconds += seconds if on == "execute" else 0.0

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
                self._leave_programs()
                self._keep_common(event.path)
            case PlanReady():
                self._leave_programs()
            case ProgramStarted():
                self._begin_program(event)
            case ProgramFailed():
                self.broken = event
            case ProgramEnded():
                self._end_program(event)
            case CallFinished():
                self.done[event.step] = event.result
                self.called.append(event.result)
            case _:
                return

    def _begin_program(self, event: ProgramStarted) -> None:
        """One that begins anew leaves behind what came before it."""
        self.programs, self.program, self.broken = event.number, None, None
        if not event.goes_on:
            self.failed += [result for result in self.done.values() if result.status != "ok"]
            self.done = {}
        self.by_program = True

    def _end_program(self, event: ProgramEnded) -> None:
        """Its calls are those that count; where it is told again, it is put back in its place."""
        self.done = dict(self.ends.setdefault(event.number, dict(self.done)))
        self.program, self.broken, self.by_program = event, None, True

    def _leave_programs(self) -> None:
        """Steps are those of a path again."""
        if self.by_program:
            self.program, self.broken, self.by_program, self.done = None, None, False, {}

    def _keep_common(self, path: Path) -> None:
        """Of the results at hand, keep those of the steps that the new path begins with."""
        common = 0
        while common < min(len(path), len(self.path)) and path[common] == self.path[common]:
            common += 1
        self.done = {step: result for step, result in self.done.items() if step <= self.given + common}
        self.path = path

    @property
    def stuck(self) -> tuple[int, StepResult] | None:
        """The step to go around, if any: one that did not succeed, or that found nothing and so left the rest without a base.

        A program goes around its calls by itself.
        """
        if self.by_program:
            return None
        bad = next(((step, result) for step, result in self.done.items() if result.status != "ok"), None)
        if bad is not None and bad[1].status != "missing":
            return bad
        last = self.given + len(self.done)
        suspects = range(self.given + 1, bad[0]) if bad else range(last, last + 1)
        hollow = next((step for step in suspects if self._hollow(step)), None)
        return bad if hollow is None else (hollow, self.done[hollow].model_copy(update=_NOTHING))

    @property
    def unspoken(self) -> bool:
        """Whether it is served by a plan that says nothing at its end: its answer is put together from what was called."""
        return self.by_program and self.program is not None and not self.program.spoken

    @property
    def changes_made(self) -> frozenset[tuple[ToolId, str]]:
        """The calls that changed something: each tool with its arguments."""
        made = (result for result in self.called if result.status == "ok" and result.tool in self.writes)
        return frozenset((result.tool, repr(result.arguments)) for result in made)

    @property
    def left(self) -> str:
        """What the path leaves undone, as whoever finished it said."""
        return self.ended.unserved if self.ended else ""

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
        self.lost.append((self.path, step - self.given))
        changes = tuple(tool for tool in self.path[step - self.given - 1 :] if tool in self.writes)
        if changes:
            self.lost_changes.append((changes, self.changes_made))
        self.done = {earlier: kept for earlier, kept in self.done.items() if earlier < step}
        ban = self._speaks_against_tool(result)
        self.state = self.state.reopen(step - 1 - self.given, reason, ban=ban, replace=result.status != "missing")
        return StepBacktracked(dropped=result.tool, path=self.state.path, reason=reason, phase="execute")

    def _speaks_against_tool(self, result: StepResult) -> bool:
        """Whether a tool is to be left alone for the rest of the run: it failed as such, or fails in the same way again."""
        again = (result.tool, result.status, result.arguments)
        if any((earlier.tool, earlier.status, earlier.arguments) == again for earlier in self.failed[:-1]):
            return True
        of_arguments = result.http_status in _OF_ARGUMENTS or result.note == _NOTHING["note"]
        return result.status == "failed" and result.attempts > 0 and not of_arguments

    def failure_message(
        self, reason: str, failed: Sequence[tuple[ToolDoc, StepResult]], settings: Sequence[str] = ()
    ) -> str:
        """Why there is no answer, what was tried, which settings would help and what was considered."""
        names = ("/".join(clean(part, 60) for part in tool_id_parts(tool)[1:]) for tool in self.starts[:_NAMED])
        return failure_message(reason, failed, tuple(names), settings)
