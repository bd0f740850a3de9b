"""Planning alone: a request to a path, without any call. For evaluation, and for a person who wants to see the plan first."""

from collections.abc import AsyncIterator

from agent.budget import Budget, Meter
from agent.clauses import clauses
from agent.evidence import Evidence, GraphReads, ToolFinder
from agent.expand import Expander, WalkSettings
from agent.frontier import Frontier
from agent.planners.planner import Planner
from agent.policy import Policy
from agent.search import SearchDeps, Step, search
from agent.streams import closing
from domain.event import PathEnded
from graph.weights import WeightParameters


async def walk(
    request: str,
    store: GraphReads,
    finder: ToolFinder,
    policy: Policy,
    *,
    planner: Planner = search,
    weights: WeightParameters | None = None,
    settings: WalkSettings | None = None,
    budget: Budget | None = None,
) -> AsyncIterator[Step]:
    """The events of planning a request, each with the walk's state after it."""
    parts = clauses(request) or (request,)
    evidence = Evidence(parts, store, finder, weights or WeightParameters())
    deps = SearchDeps(Expander(request, evidence, settings or WalkSettings()), policy.choose)
    async with closing(planner(request, parts, Frontier(), deps, Meter(budget or Budget(), policy.cost))) as steps:
        async for step in steps:
            yield step


async def path_of(steps: AsyncIterator[Step]) -> PathEnded:
    """How a walk ended."""
    ended = PathEnded(path=(), how="gave_up", reason="the walk did not end")
    async for event, _ in steps:
        if isinstance(event, PathEnded):
            ended = event
    return ended
