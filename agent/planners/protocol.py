"""The protocol of a planner: how decisions become a path. All of them use the same policy, retriever, weights and budget."""

from typing import Protocol

from agent.budget import Meter
from agent.search.dfs import SearchDeps, TellStep, Walked
from agent.search.state import Frontier


class Planner(Protocol):
    """Walks on from a state, as :func:`agent.search.dfs.search` does, and returns how the walk ended; what comes before is told."""

    async def __call__(
        self, request: str, clauses: tuple[str, ...], state: Frontier, deps: SearchDeps, meter: Meter, tell: TellStep
    ) -> Walked: ...
