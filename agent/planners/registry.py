"""The planners that find paths, by name, with their descriptions and search options.

Besides depth-first search (:mod:`agent.search.dfs`) these are ReAct, one decision for the whole path, and retrieval
alone.
"""

from dataclasses import replace
from typing import Protocol

from agent.budget import BudgetMeter
from agent.memory.short_term import render_move_history
from agent.offer.candidates import ToolCandidate
from agent.policy.protocol import MoveQuestion, NextMove, PathQuestion
from agent.search.dfs import (
    THESIS,
    EmitStep,
    SearchDeps,
    SearchNode,
    SearchOptions,
    SearchResult,
    build_considered_event,
    search,
)
from agent.search.state import SearchState
from domain.errors import UsageError
from domain.event import PathEnded, StepChosen


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
    ) -> SearchResult: ...


async def plan_next_step(
    request: str, clauses: tuple[str, ...], state: SearchState, deps: SearchDeps, meter: BudgetMeter, emit: EmitStep
) -> SearchResult:
    """Choose one step with the results so far in view (ReAct, Yao et al. 2023).

    The path ends as ``open``: the step is called, and the planner is asked again with its result.
    """

    async def choose(situation: MoveQuestion) -> NextMove:
        return await deps.choose_move(replace(situation, results=deps.get_results()))

    step_deps = replace(deps, choose_move=choose, several_steps=False, step_by_step=True)
    return await search(request, clauses, state, step_deps, meter, emit)


DEFAULT_START_TOOLS = 2
"""Number of tools that ``retrieve`` takes: the one with the best F1 on recorded requests (docs/benchmarks.md)."""


def build_retrieve_planner(start_count: int = DEFAULT_START_TOOLS) -> Planner:
    """Build a planner whose path is the best ``start_count`` start tools that are still open, without regard to edges."""

    async def plan(
        request: str,  # noqa: ARG001  the candidates were found for it
        clauses: tuple[str, ...],  # noqa: ARG001
        state: SearchState,
        deps: SearchDeps,
        meter: BudgetMeter,
        emit: EmitStep,
    ) -> SearchResult:
        node = await deps.expand(state)
        start_candidates = sorted(
            (c for c in node.candidates if c.origin == "start" and state.is_open(c.tool.id)),
            key=lambda c: (-c.weight, c.tool.id),
        )
        state = state.offer([c.tool.id for c in node.candidates], node.value)
        await emit(build_considered_event(state, node.candidates, node), state)
        for candidate in start_candidates[: max(0, min(start_count, meter.budget.depth) - len(state.path))]:
            reason = f"score {candidate.weight:.2f}"
            state = state.offer([c.tool.id for c in start_candidates]).push(candidate.tool.id, reason)
            await emit(StepChosen(tool=candidate.tool.id, path=state.path, reason=reason), state)
        if not state.path:
            return PathEnded(path=(), how="gave_up", reason="no tool is left to start with"), state
        return PathEnded(path=state.path, how="finished", reason=f"the first {len(state.path)} start tools"), state

    return plan


def build_single_decision_planner(*, reasoned: bool) -> Planner:
    """Build a planner that chooses the whole path in one decision.

    With ``reasoned``, every step is justified before it is named (chain of thought, Wei et al. 2022). The candidates
    are those of the current node and what past paths called right after them. There is no backtracking: if a step
    fails when called, the rest of the path is decided again.
    """

    async def plan(
        request: str, clauses: tuple[str, ...], state: SearchState, deps: SearchDeps, meter: BudgetMeter, emit: EmitStep
    ) -> SearchResult:
        if meter.exhausted:
            return PathEnded(path=state.path or state.best, how="budget", reason=meter.exhausted), state
        node = await deps.expand(state)
        offered = [c for c in node.candidates if state.is_open(c.tool.id)]
        offered += [f.candidate for f in await deps.find_followers(state, node) if state.is_open(f.candidate.tool.id)]
        state = state.offer([c.tool.id for c in offered], node.value)
        await emit(build_considered_event(state, tuple(offered), node), state)
        remaining_depth = meter.budget.depth - len(state.path)
        if offered and remaining_depth > 0:
            answer = await deps.choose_path(
                _build_path_question(request, clauses, state, node, tuple(offered), remaining_depth, reasoned)
            )
            meter.decisions += 1
            for place in [place for place in answer.steps if 0 <= place < len(offered)][:remaining_depth]:
                state = state.offer([c.tool.id for c in offered])
                if state.is_open(tool := offered[place].tool.id):
                    state = state.push(tool, answer.reason)
                    await emit(StepChosen(tool=tool, path=state.path, reason=answer.reason), state)
            reason, unserved = answer.reason, answer.unserved
        else:
            reason, unserved = "no tool is left to go on with", ""
        how = "finished" if state.path else "gave_up"
        return PathEnded(path=state.path, how=how, reason=reason, unserved=unserved), state

    return plan


def _build_path_question(
    request: str,
    clauses: tuple[str, ...],
    state: SearchState,
    node: SearchNode,
    offered: tuple[ToolCandidate, ...],
    max_steps: int,
    reasoned: bool,
) -> PathQuestion:
    return PathQuestion(
        request=request,
        clauses=clauses,
        path=node.path,
        path_relevance=node.path_relevance,
        candidates=offered,
        best_relevance=node.best_relevance,
        max_steps=max_steps,
        with_reasons=reasoned,
        memory=render_move_history(state.trail),
    )


PLANNERS: dict[str, Planner] = {
    "program": search,
    "solution": search,
    "dfs": search,
    "thesis": search,
    "react": plan_next_step,
    "cot": build_single_decision_planner(reasoned=True),
    "basic": build_single_decision_planner(reasoned=False),
    "retrieve": build_retrieve_planner(),
}
"""Search for a path by the name of the planner. ``program`` and ``solution`` search only if no program serves."""


PLANNER_DESCRIPTIONS: dict[str, str] = {
    "program": "Writes a short program that calls the tools offered for the request, and runs it.",
    "solution": "Chooses among the solutions of the library, and writes a program after the chosen one.",
    "dfs": "Searches the tool graph step by step, and goes back where a way leads nowhere.",
    "thesis": "Finds the whole path by graph search before the first call, one step at a time, and reviews every path.",
    "react": "Sees each result before it chooses the next step.",
    "cot": "Chooses the whole path at once, with a reason for each step.",
    "basic": "Chooses the whole path at once.",
    "retrieve": "Takes the tools that are nearest to the request, without any choice.",
}
"""Description of each planner for users."""
PLANNER_OPTIONS: dict[str, SearchOptions] = {
    "thesis": THESIS,
    "react": SearchOptions(repeats_tools=True, ends_in_program=False),
    "retrieve": SearchOptions(adopts_paths=False, ends_in_program=False),
}
"""Search options of planners that do not have the defaults."""


def get_planner(name: str, start_count: int = DEFAULT_START_TOOLS) -> Planner:
    """Return a planner by name. ``start_count`` is how many start tools ``retrieve`` takes.

    Raises:
        UsageError: there is no such planner.
    """
    if name == "retrieve":
        return build_retrieve_planner(start_count)
    if name not in PLANNERS:
        raise UsageError(f"no planner is called {name!r}; there are: {', '.join(PLANNERS)}")
    return PLANNERS[name]


def get_search_options(name: str) -> SearchOptions:
    """Return the search options of a planner."""
    return PLANNER_OPTIONS.get(name, SearchOptions())


def choose_default_planner(policy: str) -> str:
    """Return the planner to use if none is named.

    A model or the offline rules can write programs; any other policy, such as one that knows the answers, searches
    the graph.
    """
    return "program" if policy in ("llm", "offline") else "dfs"
