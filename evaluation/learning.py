"""Learning curves: which of two equivalent tools is called while one is broken, and after its repair.

Also what memory saves.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from domain.event import CallFinished, Event, SolutionTaken
from domain.tool import split_tool_id
from evaluation.correctness import AnswerVerdict

BEFORE, BROKEN, MENDED = 3, 10, 20
"""Runs of a curve before the breakage, while one tool is broken, and after the repair."""
PREFERS, RETURNS = 5, 15
"""Runs within which the other tool should be preferred, and within which the repaired one should answer again."""
_MOSTLY = 0.6
"""Share of the remaining runs that must call the other tool first for it to count as preferred."""

Phase = Literal["before", "broken", "mended"]


@dataclass(frozen=True, slots=True)
class CurveRun:
    """One run of a curve."""

    phase: Phase
    first: str
    """The tool of the pair that was called first; empty if neither was."""
    ok: tuple[str, ...]
    """Tools of the pair that answered."""


@dataclass(frozen=True, slots=True)
class LearningCurve:
    """The runs of one pair of equivalent tools."""

    broken: str
    """The tool that was preferred and then broken."""
    other: str
    runs: tuple[CurveRun, ...]

    @property
    def preferred_after(self) -> int | None:
        """Broken runs after which the other tool is called first and, but for retries, stays so; None if never."""
        firsts = [run.first for run in self.runs if run.phase == "broken"]
        others = [first == self.other for first in firsts]
        settled = (n for n, other in enumerate(others) if other and sum(others[n:]) >= _MOSTLY * len(others[n:]))
        return next(settled, None)

    @property
    def back_after(self) -> int | None:
        """Number of the run after the repair, from 1, in which the broken tool answers again; None if in none."""
        mended = [run for run in self.runs if run.phase == "mended"]
        return next((n for n, run in enumerate(mended, start=1) if self.broken in run.ok), None)

    def to_json(self) -> dict[str, Any]:
        """Return the figures, and the curve as one letter a run.

        ``b``: the broken tool was called first, ``o``: the other, ``-``: neither.
        """
        letter = {self.broken: "b", self.other: "o"}
        drawn = {
            phase: "".join(letter.get(run.first, "-") for run in self.runs if run.phase == phase)
            for phase in ("before", "broken", "mended")
        }
        return {
            "broken": self.broken,
            "other": self.other,
            "preferred_after": self.preferred_after,
            "back_after": self.back_after,
            "curve": drawn,
        }


async def measure_swap(
    pair: tuple[str, str],
    ask: Callable[[int], Awaitable[Sequence[Event]]],
    switch: Callable[[str, bool], Awaitable[None]],
) -> LearningCurve | None:
    """Break whichever of the two tools is used, repair it, and record the runs; None if neither is used.

    ``ask`` runs the n-th request; ``switch`` breaks (True) or repairs a tool.
    """
    runs = [_to_curve_run("before", pair, await ask(n)) for n in range(BEFORE)]
    first_tools = [run.first for run in runs if run.first]
    if not first_tools:
        return None
    broken = first_tools[-1]
    other = pair[1] if broken == pair[0] else pair[0]
    await switch(broken, True)
    runs += [_to_curve_run("broken", pair, await ask(BEFORE + n)) for n in range(BROKEN)]
    await switch(broken, False)
    runs += [_to_curve_run("mended", pair, await ask(BEFORE + BROKEN + n)) for n in range(MENDED)]
    return LearningCurve(broken, other, tuple(runs))


def _to_curve_run(phase: Phase, pair: tuple[str, str], events: Sequence[Event]) -> CurveRun:
    results = [event.result for event in events if isinstance(event, CallFinished)]
    called = [(split_tool_id(result.tool)[2], result.status) for result in results if result.attempts]
    own = [(name, status) for name, status in called if name in pair]
    ok = tuple(dict.fromkeys(name for name, status in own if status == "ok"))
    return CurveRun(phase, own[0][0] if own else "", ok)


def compute_effort(verdicts: Sequence[AnswerVerdict]) -> dict[str, float | int]:
    """Return the effort of some requests: decisions, candidates and model calls a request, and how many are right."""
    count = len(verdicts) or 1
    return {
        "n": len(verdicts),
        "right": sum(verdict.right for verdict in verdicts),
        "decisions": sum(verdict.usage.decisions for verdict in verdicts) / count,
        "considered": sum(verdict.usage.considered for verdict in verdicts) / count,
        "plan_seconds": sum(verdict.usage.plan_seconds for verdict in verdicts) / count,
        "model_calls": sum(verdict.usage.model_calls for verdict in verdicts) / count,
        "tokens": sum(verdict.usage.prompt_tokens + verdict.usage.completion_tokens for verdict in verdicts) / count,
    }


def find_lost(before: Sequence[AnswerVerdict], after: Sequence[AnswerVerdict]) -> list[str]:
    """Return the requests that were right before and are wrong after."""
    right = {verdict.case.id for verdict in before if verdict.right}
    return [verdict.case.id for verdict in after if verdict.case.id in right and not verdict.right]


def count_taken_solutions(runs: Sequence[Sequence[Event]]) -> dict[str, int]:
    """Count the runs in which a stored solution was taken, by how that came about; ``none``: runs without one."""
    kinds = [next((event.how for event in events if isinstance(event, SolutionTaken)), "none") for events in runs]
    return {how: kinds.count(how) for how in ("plain", "asked", "none")}
