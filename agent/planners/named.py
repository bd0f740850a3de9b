"""The planners by name."""

from agent.planners.at_once import at_once
from agent.planners.planner import Planner
from agent.planners.react import react
from agent.planners.retrieve import K, retrieve
from agent.search import search
from domain.errors import UsageError

PLANNERS: dict[str, Planner] = {
    "dfs": search,
    "react": react,
    "cot": at_once(reasoned=True),
    "basic": at_once(reasoned=False),
    "retrieve": retrieve(),
}


def planner_named(name: str, k: int = K) -> Planner:
    """``k``: how many start tools ``retrieve`` takes.

    Raises:
        UsageError: there is no such planner.
    """
    if name == "retrieve":
        return retrieve(k)
    if name not in PLANNERS:
        raise UsageError(f"no planner is called {name!r}; there are: {', '.join(PLANNERS)}")
    return PLANNERS[name]
