"""Protocol of a planner, which turns decisions into a path.

All planners use the same policy, retriever, weights and budget.
"""

from typing import Protocol

from agent.budget import BudgetMeter
from agent.search.dfs import EmitStep, SearchDeps, WalkResult
from agent.search.state import SearchState


class Planner(Protocol):
    """Searches for a path from a state, as :func:`agent.search.dfs.search` does.

    It emits its events, and returns how the search ended and in which state. All planners share policy, retriever,
    weights and budget.
    """

    async def __call__(
        self,
        request: str,
        clauses: tuple[str, ...],
        state: SearchState,
        deps: SearchDeps,
        meter: BudgetMeter,
        emit: EmitStep,
    ) -> WalkResult: ...
