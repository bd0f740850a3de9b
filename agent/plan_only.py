"""Planning without any call: finds the path for a request, for evaluation or to show the plan first."""

from agent.budget import Budget, BudgetMeter
from agent.memory.long_term import Recalls
from agent.offer.tool_evidence import NeighbourhoodReader, ToolEvidence, ToolFinder
from agent.planners.protocol import Planner
from agent.policy.protocol import Policy
from agent.request_reader import PlainReader, RequestReader
from agent.search.dfs import WalkEvent, search
from agent.search.settings import SearchOptions, WalkSettings
from agent.search.state import SearchState
from agent.search.walk import build_search_deps
from domain.event import PathEnded
from graph.weights import WeightParameters


async def plan_path(
    request: str,
    store: NeighbourhoodReader,
    finder: ToolFinder,
    policy: Policy,
    *,
    planner: Planner = search,
    options: SearchOptions | None = None,
    weights: WeightParameters | None = None,
    settings: WalkSettings | None = None,
    budget: Budget | None = None,
    memory: Recalls | None = None,
    recalled: int = 8,
    reader: RequestReader | None = None,
) -> PathEnded:
    """Plan a request without calling anything, and return how the search ended.

    A planner that stops for the result of each call continues without one. ``options`` are the planner's search options;
    ``recalled`` is how many memories are recalled at most.
    """
    reader = reader or PlainReader()
    parts = reader.split_request(request)
    evidence = ToolEvidence(parts, store, finder, weights or WeightParameters(), reader=reader)
    if memory is not None:
        evidence.recalled = tuple(await memory.recall(request, recalled, evidence.find_documented))
    deps = build_search_deps(request, evidence, settings or WalkSettings(), policy, options=options)
    state, meter = SearchState(), BudgetMeter(budget or Budget(), policy.cost)
    while True:
        ended, state = await planner(request, parts, state, deps, meter, _ignore_event)
        if ended.how != "open":
            return ended


async def _ignore_event(event: WalkEvent, state: SearchState) -> None:
    """Ignore an event: nobody follows the search."""
