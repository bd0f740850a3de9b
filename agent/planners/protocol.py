"""The protocol of a planner: how decisions become a path. All of them use the same policy, retriever, weights and budget."""

from collections.abc import AsyncIterator
from typing import Protocol

from agent.budget import Meter
from agent.search.dfs import SearchDeps, Step
from agent.search.state import Frontier


class Planner(Protocol):
    """Walks on from a state, as :func:`agent.search.dfs.search` does; the last event is a ``PathEnded``."""

    def __call__(
        self, request: str, clauses: tuple[str, ...], state: Frontier, deps: SearchDeps, meter: Meter
    ) -> AsyncIterator[Step]: ...
