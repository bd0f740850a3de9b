"""Planning alone: a request to a path, without any call. For evaluation, and for a person who wants to see the plan first."""

from collections.abc import AsyncIterator

from agent.budget import Budget, Meter
from agent.memory.long_term import Recalls
from agent.offer.tool_facts import Evidence, GraphReads, ToolFinder
from agent.planners.protocol import Planner
from agent.policy.protocol import Policy
from agent.request_reader import PlainReader, RequestReader
from agent.scheduler import closing
from agent.search.dfs import Step, search
from agent.search.settings import WalkSettings
from agent.search.state import Frontier
from agent.search.walk import walk_deps
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
    memory: Recalls | None = None,
    recalled: int = 8,
    reader: RequestReader | None = None,
) -> AsyncIterator[Step]:
    """The events of planning a request, each with the walk's state after it. A planner that waits for results goes on without any.
    ``recalled``: how many memories are shown.
    """
    reader = reader or PlainReader()
    parts = reader.parts(request)
    evidence = Evidence(parts, store, finder, weights or WeightParameters(), reader=reader)
    if memory is not None:
        evidence.recalled = tuple(await memory.recall(request, recalled, evidence.present))
    deps = walk_deps(request, evidence, settings or WalkSettings(), policy)
    state, meter, open_path = Frontier(), Meter(budget or Budget(), policy.cost), True
    while open_path:
        open_path = False
        async with closing(planner(request, parts, state, deps, meter)) as steps:
            async for event, state in steps:
                open_path = isinstance(event, PathEnded) and event.how == "open"
                yield event, state


async def path_of(steps: AsyncIterator[Step]) -> PathEnded:
    """How a walk ended."""
    ended = PathEnded(path=(), how="gave_up", reason="the path search did not end")
    async for event, _ in steps:
        if isinstance(event, PathEnded):
            ended = event
    return ended
