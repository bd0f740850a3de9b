"""Planner without graph or decisions: takes the start tools nearest to the request, best first."""

from agent.budget import Meter
from agent.planners.protocol import Planner
from agent.search.dfs import SearchDeps, TellStep, Walked, considered
from agent.search.state import Frontier
from domain.event import PathEnded, StepChosen

K = 2
"""Number of start tools: the best F1 on the trajectories' own requests (docs/benchmarks.md)."""


def retrieve(k: int = K) -> Planner:
    """Build a planner whose path is the first ``k`` start tools that are still open, without regard to edges."""

    async def plan(
        request: str,  # noqa: ARG001  the candidates were found for it
        clauses: tuple[str, ...],  # noqa: ARG001
        state: Frontier,
        deps: SearchDeps,
        meter: Meter,
        tell: TellStep,
    ) -> Walked:
        node = await deps.expand(state)
        found = sorted(
            (c for c in node.candidates if c.origin == "start" and state.is_open(c.tool.id)),
            key=lambda c: (-c.weight, c.tool.id),
        )
        state = state.offer([c.tool.id for c in node.candidates], node.value)
        await tell(considered(state, node.candidates, node), state)
        for candidate in found[: max(0, min(k, meter.budget.depth) - len(state.path))]:
            reason = f"score {candidate.weight:.2f}"
            state = state.offer([c.tool.id for c in found]).push(candidate.tool.id, reason)
            await tell(StepChosen(tool=candidate.tool.id, path=state.path, reason=reason), state)
        if not state.path:
            return PathEnded(path=(), how="gave_up", reason="no tool is left to start with"), state
        return PathEnded(path=state.path, how="finished", reason=f"the first {len(state.path)} start tools"), state

    return plan
