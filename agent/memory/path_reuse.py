"""A request nearly identical to one that was served: its path is proposed whole and checked in one decision (thesis 4.3.2.4)."""

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
"""Similarity from which a memory's path is proposed whole."""
AGREED = 0.75
"""The share of the votes of all that is recalled that its path must have (docs/memory.md has the measurement of both)."""

Adopt = Callable[[AdoptionQuestion], Awaitable[PathAdoption]]


@dataclass(frozen=True, slots=True)
class _Walked:
    """A remembered path that can be walked here and now: its tools, and the walk's state after each."""

    recalled: RecalledMemory
    path: tuple[ToolDoc, ...]
    states: tuple[SearchState, ...]


def remembering(planner: Planner, adopt: Adopt, recalled: Sequence[RecalledMemory], reader: RequestReader) -> Planner:
    """A planner that first proposes what served nearly identical requests, and otherwise plans as ``planner`` does.

    Only where nothing was walked or given up yet. Where the request may ask the same of several things, the path is taken up to its end
    and ``planner`` says how it ends.
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
    """What the memories agree on, of those whose paths can be walked; None after a first step or failure."""
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
    """The most similar memory of the path that most votes are for; None where it is less similar than ``least``, or the votes are divided."""
    votes: dict[Path, float] = {}
    for one in recalled:
        votes[one.memory.path] = votes.get(one.memory.path, 0.0) + vote(one)
    path = max(votes, key=lambda path: votes[path], default=())
    best = max((one for one in recalled if one.memory.path == path), key=lambda one: one.similarity, default=None)
    if best is None or best.similarity < least or votes[path] < share * sum(votes.values()):
        return None
    return best


async def _walk(one: RecalledMemory, state: SearchState, deps: SearchDeps) -> _Walked | None:
    """Each tool is on offer, works, has its inputs, and none that is to be tried again could stand in its place."""
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
    """What follows on a remembered path behind what was walked so far: a tool, ``FINISH`` at its end, None off it.

    Remembered paths hold each tool once, so a tool that was called again counts where it stood first.
    """
    walked = tuple(dict.fromkeys(path))
    if tuple(remembered[: len(walked)]) != walked:
        return None
    return remembered[len(walked)] if len(remembered) > len(walked) else FINISH
