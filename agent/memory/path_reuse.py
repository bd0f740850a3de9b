"""Reuse of a remembered path for a nearly identical request, after one decision by the policy (thesis 4.3.2.4)."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from agent.budget import BudgetMeter
from agent.memory.long_term import compute_vote
from agent.offer.failing_tools import has_rival, is_working
from agent.planners.registry import Planner
from agent.policy.protocol import AdoptionQuestion, PathAdoption
from agent.request_reader import RequestReader
from agent.search.dfs import EmitStep, SearchDeps, SearchNode, SearchResult
from agent.search.state import Path, SearchState
from domain.event import PathEnded, StepChosen
from domain.memory import RecalledMemory
from domain.tool import FINISH, ToolDoc, ToolId

MIN_REUSE_SIMILARITY = 0.75
"""Similarity from which a memory's path is proposed as a whole (measured in docs/memory.md)."""
MIN_VOTE_SHARE = 0.75
"""Share of the votes of all recalled memories that the path must have (measured in docs/memory.md)."""

PathAdoptionDecider = Callable[[AdoptionQuestion], Awaitable[PathAdoption]]
"""Decides whether a remembered path is taken."""


@dataclass(frozen=True, slots=True)
class _WalkablePath:
    """A remembered path that the search could take now."""

    recalled: RecalledMemory
    path: tuple[ToolDoc, ...]
    """Its tools."""
    states: tuple[SearchState, ...]
    """State of the search after each tool."""


def build_reusing_planner(
    planner: Planner, adopt: PathAdoptionDecider, recalled: Sequence[RecalledMemory], reader: RequestReader
) -> Planner:
    """Wrap a planner so that it first proposes the path of a nearly identical request.

    ``planner`` plans if none is adopted or the search has begun already. If the request may ask the same of several
    things, it also continues at the end of an adopted path, since more calls may be needed.
    """

    async def plan(
        request: str, clauses: tuple[str, ...], state: SearchState, deps: SearchDeps, meter: BudgetMeter, emit: EmitStep
    ) -> SearchResult:
        walkable = await _find_walkable_path(recalled, state, deps, meter)
        if walkable is not None:
            verdict = await adopt(AdoptionQuestion(request, walkable.recalled, walkable.path))
            meter.decisions += 1
            if verdict.adopted:
                for state in walkable.states:
                    memory, tool = walkable.recalled.memory.id, state.path[-1]
                    chosen = StepChosen(tool=tool, path=state.path, reason=verdict.reason, memory=memory)
                    await emit(chosen, state)
                if reader.count_repetitions(request) == 1:
                    return PathEnded(path=state.path, how="finished", reason=verdict.reason), state
        return await planner(request, clauses, state, deps, meter, emit)

    return plan


async def _find_walkable_path(
    recalled: Sequence[RecalledMemory], state: SearchState, deps: SearchDeps, meter: BudgetMeter
) -> _WalkablePath | None:
    """Return the path that the memories agree on among those that can be taken; None after a first step or failure."""
    if state.path or state.dead or state.banned or meter.exhausted:
        return None
    remaining = [memory for memory in recalled if len(memory.memory.path) <= meter.budget.depth]
    while (other := find_agreed_memory(remaining)) is not None:
        walkable = await _try_path(other, state, deps)
        if walkable is not None:
            return walkable
        remaining = [memory for memory in remaining if memory.memory.path != other.memory.path]
    return None


def find_agreed_memory(
    recalled: Sequence[RecalledMemory], min_similarity: float = MIN_REUSE_SIMILARITY, min_share: float = MIN_VOTE_SHARE
) -> RecalledMemory | None:
    """Return the most similar memory of the path with the most votes.

    None if its similarity is below ``min_similarity``, or the path has less than ``min_share`` of the votes.
    """
    votes: dict[Path, float] = {}
    for memory in recalled:
        votes[memory.memory.path] = votes.get(memory.memory.path, 0.0) + compute_vote(memory)
    path = max(votes, key=lambda path: votes[path], default=())
    best = max(
        (memory for memory in recalled if memory.memory.path == path), key=lambda one: one.similarity, default=None
    )
    if best is None or best.similarity < min_similarity or votes[path] < min_share * sum(votes.values()):
        return None
    return best


async def _try_path(recalled: RecalledMemory, state: SearchState, deps: SearchDeps) -> _WalkablePath | None:
    """Follow a memory's path from ``state``; None if it cannot be taken now.

    Each tool must be a working candidate with all its inputs. No candidate that is tried again or stands in for a
    failing tool may rival it, since the adopted path would keep that one from ever being tried.
    """
    path: list[ToolDoc] = []
    states: list[SearchState] = []
    for tool in recalled.memory.path:
        node: SearchNode = await deps.expand(state)
        offered = next((candidate for candidate in node.candidates if candidate.tool.id == tool), None)
        if offered is None or offered.missing or not is_working(offered.availability):
            return None
        if has_rival(node.candidates, tool):
            return None
        state = state.offer([candidate.tool.id for candidate in node.candidates], node.value, node.again).push(
            tool, "it served a nearly identical request"
        )
        path.append(offered.tool)
        states.append(state)
    return _WalkablePath(recalled, tuple(path), tuple(states))


def find_next_tool(remembered_path: Sequence[ToolId], path: Sequence[ToolId]) -> ToolId | None:
    """Return the next tool on a remembered path after ``path``, ``FINISH`` at its end, None if ``path`` has left it.

    Remembered paths contain each tool once, so repeated calls in ``path`` count at their first position.
    """
    walked = tuple(dict.fromkeys(path))
    if tuple(remembered_path[: len(walked)]) != walked:
        return None
    return remembered_path[len(walked)] if len(remembered_path) > len(walked) else FINISH
