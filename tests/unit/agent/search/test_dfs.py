"""The walk on random graphs under random policies, and its single moves."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.budget import Budget, BudgetMeter
from agent.offer.candidates import FollowingCandidate, ToolCandidate
from agent.planners.registry import Planner
from agent.policy.protocol import MoveQuestion, NextMove, PathQuestion, PolicyCost, WholePath
from agent.search.dfs import SearchDeps, SearchEvent, SearchNode, search
from agent.search.state import Path, SearchState
from domain.event import CandidatesConsidered, PathEnded, StepBacktracked, StepChosen
from domain.tool import ToolDoc, ToolId, make_tool_id

Step = tuple[SearchEvent | PathEnded, SearchState]
"""An event of a walk or its end, and the state after it."""

Graph = dict[int, list[int]]
"""Successors by node number; 0 is the start."""


def doc(number: int) -> ToolDoc:
    name = f"t{number}"
    return ToolDoc(id=make_tool_id("c", "s", name), category="c", toolset="s", api=name, function=name)


def number(tool: ToolId) -> int:
    return int(tool.rsplit("t", 1)[1])


async def no_path(question: PathQuestion) -> WholePath:
    return WholePath((), f"of {len(question.candidates)} none")


async def none_follow(state: SearchState, node: SearchNode) -> tuple[FollowingCandidate, ...]:
    del state, node
    return ()


def deps(graph: Graph, seed: int = 0) -> SearchDeps:
    rng = random.Random(seed)

    async def expand(state: SearchState) -> SearchNode:
        here = number(state.path[-1]) if state.path else 0
        shown = tuple(ToolCandidate(doc(n), 0.5, None, (0.5,), "graph") for n in graph.get(here, []))
        path = tuple(doc(number(tool)) for tool in state.path)
        return SearchNode(path, ((0.5,),) * len(path), (0.5,), shown, 0.1, value=float(len(path)))

    async def at_random(situation: MoveQuestion) -> NextMove:
        moves = ["backtrack"] * 3 + ["advance"] * 6 + ["finish", "give_up", "nonsense"]
        if rng.choice(moves) == "nonsense":
            return NextMove("advance", "out of range", index=len(situation.candidates) + 3)
        action = rng.choice(["advance", "advance", "advance", "backtrack", "backtrack", "finish", "give_up"])
        if action == "advance" and situation.candidates:
            return NextMove("advance", "random", index=rng.randrange(len(situation.candidates)))
        return NextMove("backtrack" if action == "advance" else action, "random")  # type: ignore[arg-type]

    return SearchDeps(expand, at_random, no_path, none_follow)


def stubborn(graph: Graph) -> SearchDeps:
    """Takes the first candidate, goes back where there is none: walks the whole tree."""

    async def first(situation: MoveQuestion) -> NextMove:
        return NextMove("advance", "first", 0) if situation.candidates else NextMove("backtrack", "none left")

    return SearchDeps(deps(graph).expand, first, no_path, none_follow)


async def walk(dependencies: SearchDeps, budget: Budget, state: SearchState | None = None) -> list[Step]:
    return await walked_by(search, dependencies, BudgetMeter(budget, PolicyCost()), state)


async def walked_by(
    planner: Planner, dependencies: SearchDeps, meter: BudgetMeter, state: SearchState | None = None, request: str = "q"
) -> list[Step]:
    """All that a planner tells, and its end."""
    told: list[Step] = []

    async def tell(event: SearchEvent, after: SearchState) -> None:
        told.append((event, after))

    end = await planner(request, (request,), state or SearchState(), dependencies, meter, tell)
    return [*told, end]


graphs = st.dictionaries(st.integers(0, 6), st.lists(st.integers(1, 6), max_size=4, unique=True), max_size=7)
budgets = st.builds(Budget, decisions=st.integers(0, 40), depth=st.integers(1, 5))


def check(steps: list[Step], budget: Budget) -> None:
    """The invariants of every walk."""
    path = SearchState().path
    dead: set[Path] = set()
    for event, state in steps:
        assert len(state.offered) == len(state.path) + 1
        match event:
            case StepChosen():
                assert event.path == (*path, event.tool)
                assert len(event.path) <= budget.depth
                assert not any(event.path[: len(d)] == d for d in dead)
            case StepBacktracked():
                assert event.path == path[:-1]
                assert event.dropped == path[-1]
                dead.add(path)
            case CandidatesConsidered():
                assert event.path == path
            case PathEnded():
                assert event is steps[-1][0]
        path = state.path
    assert isinstance(steps[-1][0], PathEnded)
    assert sum(isinstance(event, StepChosen | StepBacktracked) for event, _ in steps) <= budget.decisions


@settings(deadline=None)
@given(graphs, budgets, st.integers(0, 2**16))
async def test_any_policy_on_any_graph_keeps_the_invariants(graph: Graph, budget: Budget, seed: int) -> None:
    check(await walk(deps(graph, seed=seed), budget), budget)


@settings(deadline=None)
@given(graphs, budgets, st.integers(0, 2**16))
async def test_a_walk_is_reproducible(graph: Graph, budget: Budget, seed: int) -> None:
    assert await walk(deps(graph, seed=seed), budget) == await walk(deps(graph, seed=seed), budget)


@settings(deadline=None)
@given(graphs)
async def test_a_walk_ends_by_itself_where_the_budget_is_ample(graph: Graph) -> None:
    budget = Budget(decisions=100_000, depth=4)
    steps = await walk(stubborn(graph), budget)
    check(steps, budget)
    last = steps[-1][0]
    assert isinstance(last, PathEnded)
    assert last.how == "gave_up"
    assert steps[-1][1].given_up


@settings(deadline=None)
@given(graphs, st.integers(0, 12))
async def test_a_state_can_be_stored_and_walked_on_from(graph: Graph, cut: int) -> None:
    budget = Budget(decisions=100_000, depth=3)
    whole = await walk(stubborn(graph), budget)
    resumable = [i for i, (event, _) in enumerate(whole[:-1]) if isinstance(event, StepChosen | StepBacktracked)]
    if not resumable:
        return
    at = resumable[cut % len(resumable)]
    stored = SearchState.model_validate_json(whole[at][1].model_dump_json())
    assert await walk(stubborn(graph), budget, stored) == whole[at + 1 :]


async def test_running_out_returns_the_best_path_marked_as_such() -> None:
    steps = await walk(stubborn({0: [1, 2], 1: [2]}), Budget(decisions=3))
    assert steps[-1][0] == PathEnded(
        path=(doc(1).id, doc(2).id), how="budget", reason="the budget of 3 decisions is used up"
    )


async def test_at_the_depth_bound_only_finish_and_going_back_are_offered() -> None:
    steps = await walk(stubborn({0: [1], 1: [2], 2: [3]}), Budget(depth=2))
    shown = [event.candidates for event, _ in steps if isinstance(event, CandidatesConsidered) and len(event.path) == 2]
    assert shown == [()]


async def test_finishing_an_empty_path_is_giving_up() -> None:
    async def finish(situation: MoveQuestion) -> NextMove:
        return NextMove("finish", "nothing to do")

    steps = await walk(SearchDeps(deps({0: [1]}).expand, finish, no_path, none_follow), Budget())
    assert steps[-1][0] == PathEnded(path=(), how="gave_up", reason="nothing to do")


async def test_no_start_tool_gives_up_without_asking_the_policy() -> None:
    steps = await walk(deps({}), Budget())
    assert [event.kind for event, _ in steps] == ["candidates.considered", "path.ended"]
    assert steps[-1][1].given_up
