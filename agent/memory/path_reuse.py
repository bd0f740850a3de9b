"""Reuse of a remembered path for a nearly identical request, after one decision by the policy (thesis 4.3.2.4)."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from agent.budget import BudgetMeter
from agent.memory.long_term import vote
from agent.offer.exploration import has_rival, is_working
from agent.planners.protocol import Planner
from agent.policy.path_questions import AdoptionQuestion, PathAdoption
from agent.request_reader import RequestReader
from agent.search.dfs import EmitStep, SearchDeps, SearchNode, WalkResult
from agent.search.state import Path, SearchState
from domain.event import PathEnded, StepChosen
from domain.memory import RecalledMemory
from domain.tool import FINISH, ToolDoc, ToolId

IDENTICAL = 0.75
"""Similarity from which a memory's path is proposed as a whole (measured in docs/memory.md)."""
AGREED = 0.75
"""Share of the votes of all recalled memories that the path must have (measured in docs/memory.md)."""

Adopt = Callable[[AdoptionQuestion], Awaitable[PathAdoption]]
"""Decides whether a remembered path is taken."""


@dataclass(frozen=True, slots=True)
class _Walked:
    """A remembered path that the search could take now."""

    recalled: RecalledMemory
    path: tuple[ToolDoc, ...]
    """Its tools."""
    states: tuple[SearchState, ...]
    """State of the search after each tool."""


def remembering(planner: Planner, adopt: Adopt, recalled: Sequence[RecalledMemory], reader: RequestReader) -> Planner:
    """Wrap a planner so that it first proposes the path of a nearly identical request.

    ``planner`` plans if none is adopted or the search has begun already. If the request may ask the same of several
    things, it also continues at the end of an adopted path, since more calls may be needed.
    """

    async def plan(
        request: str, clauses: tuple[str, ...], state: SearchState, deps: SearchDeps, meter: BudgetMeter, emit: EmitStep
    ) -> WalkResult:
        known = await _walkable(recalled, state, deps, meter)
        if known is not None:
            verdict = await adopt(AdoptionQuestion(request, known.recalled, known.path))
            meter.decisions += 1
            if verdict.adopted:
                for state in known.states:
                    memory, tool = known.recalled.memory.id, state.path[-1]
                    chosen = StepChosen(tool=tool, path=state.path, reason=verdict.reason, memory=memory)
                    await emit(chosen, state)
                if reader.count_repetitions(request) == 1:
                    return PathEnded(path=state.path, how="finished", reason=verdict.reason), state
        return await planner(request, clauses, state, deps, meter, emit)

    return plan


async def _walkable(
    recalled: Sequence[RecalledMemory], state: SearchState, deps: SearchDeps, meter: BudgetMeter
) -> _Walked | None:
    """Return the path that the memories agree on among those that can be taken; None after a first step or failure."""
    if state.path or state.dead or state.banned or meter.exhausted:
        return None
    left = [one for one in recalled if len(one.memory.path) <= meter.budget.depth]
    while (one := agreed(left)) is not None:
        found = await _walk(one, state, deps)
        if found is not None:
            return found
        left = [other for other in left if other.memory.path != one.memory.path]
    return None


def agreed(
    recalled: Sequence[RecalledMemory], least: float = IDENTICAL, share: float = AGREED
) -> RecalledMemory | None:
    """Return the most similar memory of the path with the most votes.

    None if its similarity is below ``least``, or the path has less than ``share`` of the votes.
    """
    votes: dict[Path, float] = {}
    for one in recalled:
        votes[one.memory.path] = votes.get(one.memory.path, 0.0) + vote(one)
    path = max(votes, key=lambda path: votes[path], default=())
    best = max((one for one in recalled if one.memory.path == path), key=lambda one: one.similarity, default=None)
    if best is None or best.similarity < least or votes[path] < share * sum(votes.values()):
        return None
    return best


async def _walk(one: RecalledMemory, state: SearchState, deps: SearchDeps) -> _Walked | None:
    """Follow a memory's path from ``state``; None if it cannot be taken now.

    Each tool must be a working candidate with all its inputs. No candidate that is tried again or stands in for a
    failing tool may rival it, since the adopted path would keep that one from ever being tried.
    """
    path: list[ToolDoc] = []
    states: list[SearchState] = []
    for tool in one.memory.path:
        node: SearchNode = await deps.expand(state)
        offered = next((c for c in node.candidates if c.tool.id == tool), None)
        if offered is None or offered.missing or not is_working(offered.availability):
            return None
        if has_rival(node.candidates, tool):
            return None
        state = state.offer([c.tool.id for c in node.candidates], node.value, node.again).push(
            tool, "it served a nearly identical request"
        )
        path.append(offered.tool)
        states.append(state)
    return _Walked(one, tuple(path), tuple(states))


def next_of(remembered: Sequence[ToolId], path: Sequence[ToolId]) -> ToolId | None:
    """Return the next tool on a remembered path after ``path``, ``FINISH`` at its end, None if ``path`` has left it.

    Remembered paths contain each tool once, so repeated calls in ``path`` count at their first position.
    """
    walked = tuple(dict.fromkeys(path))
    if tuple(remembered[: len(walked)]) != walked:
        return None
    return remembered[len(walked)] if len(remembered) > len(walked) else FINISH
