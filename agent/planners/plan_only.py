"""Planning without calls: the path that a planner finds for a request, as evaluation compares it."""

from agent.budget import Budget, BudgetMeter
from agent.memory.long_term import MemoryRecaller
from agent.offer.tool_evidence import NeighbourhoodReader, ToolEvidence, ToolFinder
from agent.planners.registry import Planner
from agent.policy.protocol import Policy
from agent.request_reader import PlainReader, RequestReader
from agent.search.dfs import SearchEvent, SearchOptions, SearchSettings, search
from agent.search.search_deps import build_search_deps
from agent.search.state import SearchState
from domain.event import PathEnded
from graph.weights import WeightParameters


async def plan_without_calls(
    request: str,
    store: NeighbourhoodReader,
    finder: ToolFinder,
    policy: Policy,
    *,
    planner: Planner = search,
    options: SearchOptions | None = None,
    weights: WeightParameters | None = None,
    settings: SearchSettings | None = None,
    budget: Budget | None = None,
    memory: MemoryRecaller | None = None,
    max_recalled: int = 8,
    reader: RequestReader | None = None,
) -> PathEnded:
    """Plan a request without calling anything, and return how the search ended.

    A planner that stops for the result of each call continues without results.

    Args:
        request: the user's words.
        store: the tool graph.
        finder: searches tools.
        policy: takes the decisions.
        planner: searches for the path.
        options: search options of the planner.
        weights: parameters of the edge weights.
        settings: settings of the walk through the graph.
        budget: limits of the search.
        memory: memory of earlier paths; without it none are recalled.
        max_recalled: limit of memories that are recalled.
        reader: analyses the request by code.
    """
    reader = reader or PlainReader()
    parts = reader.split_request(request)
    evidence = ToolEvidence(parts, store, finder, weights or WeightParameters(), reader=reader)
    if memory is not None:
        evidence.recalled = tuple(await memory.recall(request, max_recalled, evidence.find_documented))
    deps = build_search_deps(request, evidence, settings or SearchSettings(), policy, options=options)
    state, meter = SearchState(), BudgetMeter(budget or Budget(), policy.cost)
    while True:
        ended, state = await planner(request, parts, state, deps, meter, _ignore_event)
        if ended.how != "open":
            return ended


async def _ignore_event(event: SearchEvent, state: SearchState) -> None:
    """Discard an event, since nobody follows the search."""
