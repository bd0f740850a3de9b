"""Each planner over the same small graph: what it asks, what it walks, how it ends."""

from dataclasses import replace

import pytest

from agent.budget import Budget, BudgetMeter
from agent.offer.candidates import FollowingCandidate, ToolCandidate
from agent.planners.registry import PLANNER_DESCRIPTIONS, PLANNER_OPTIONS, PLANNERS, Planner, get_planner
from agent.policy.protocol import MoveQuestion, NextMove, PathQuestion, PolicyCost, Results, WholePath
from agent.search.dfs import SearchDeps, SearchNode
from agent.search.state import SearchState
from domain.errors import UsageError
from domain.event import PathEnded, StepChosen
from domain.plan import StepResult
from domain.tool import ToolDoc, make_tool_id
from tests.unit.agent.search.test_dfs import Step, walked_by
from ui.replies import PLANNERS as LABELS


def doc(name: str) -> ToolDoc:
    return ToolDoc(id=make_tool_id("c", "s", name), category="c", toolset="s", api=name, function=name)


A, B, C = doc("a"), doc("b"), doc("c")


def candidate(tool: ToolDoc, weight: float = 0.5) -> ToolCandidate:
    return ToolCandidate(tool, weight, None, (0.5,), "start")


class Told:
    """Decisions in order; what was asked is kept."""

    def __init__(self, *moves: NextMove, path: WholePath | None = None) -> None:
        self._moves = list(moves)
        self._path = path or WholePath((), "none")
        self.situations: list[MoveQuestion] = []
        self.questions: list[PathQuestion] = []

    async def expand(self, state: SearchState) -> SearchNode:
        path = tuple(next(t for t in (A, B, C) if t.id == step) for step in state.path)
        left = tuple(candidate(tool, 0.9 - 0.1 * n) for n, tool in enumerate((A, B)) if tool not in path)
        return SearchNode(path, ((0.5,),) * len(path), (0.5,), left, 0.1, value=float(len(path)))

    async def choose(self, situation: MoveQuestion) -> NextMove:
        self.situations.append(situation)
        return self._moves.pop(0)

    async def whole_path(self, question: PathQuestion) -> WholePath:
        self.questions.append(question)
        return self._path

    async def followers(self, state: SearchState, node: SearchNode) -> tuple[FollowingCandidate, ...]:
        del state
        return (FollowingCandidate(0, candidate(C)),) if node.candidates else ()

    def deps(self, results: Results = ()) -> SearchDeps:
        return SearchDeps(self.expand, self.choose, self.whole_path, self.followers, get_results=lambda: results)


async def steps(
    planner: Planner, deps: SearchDeps, state: SearchState | None = None, budget: Budget | None = None
) -> tuple[list[Step], BudgetMeter]:
    meter = BudgetMeter(budget or Budget(), PolicyCost())
    return await walked_by(planner, deps, meter, state), meter


def end(walked: list[Step]) -> PathEnded:
    last = walked[-1][0]
    assert isinstance(last, PathEnded)
    return last


async def test_react_ends_openly_behind_each_step_and_is_shown_what_it_gave() -> None:
    told = Told(NextMove("advance", "first", 0), NextMove("finish", "enough"))
    walked, _ = await steps(get_planner("react"), told.deps())
    assert (end(walked).how, end(walked).path) == ("open", (A.id,))
    given: Results = ((A, StepResult(tool=A.id, arguments={}, status="ok", response="1")),)
    walked, _ = await steps(get_planner("react"), told.deps(given), walked[-1][1])
    assert (end(walked).how, end(walked).path) == ("finished", (A.id,))
    assert [situation.results for situation in told.situations] == [(), given]
    assert told.situations[0].followers == ()


async def test_the_planner_that_walks_is_shown_no_results() -> None:
    told = Told(NextMove("advance", "first", 0), NextMove("finish", "enough"))
    await steps(get_planner("dfs"), told.deps(((A, StepResult(tool=A.id, arguments={}, status="ok")),)))
    assert [situation.results for situation in told.situations] == [None, None]


@pytest.mark.parametrize("name", ["cot", "basic"])
async def test_a_path_at_once_is_one_decision_over_two_levels(name: str) -> None:
    told = Told(path=WholePath((2, 0), "c before a"))
    walked, meter = await steps(get_planner(name), told.deps())
    assert end(walked) == PathEnded(path=(C.id, A.id), how="finished", reason="c before a")
    assert [event.tool for event, _ in walked if isinstance(event, StepChosen)] == [C.id, A.id]
    assert [c.tool.api for c in told.questions[0].candidates] == ["a", "b", "c"]
    assert told.questions[0].with_reasons == (name == "cot")
    assert (meter.decisions, len(told.questions)) == (1, 1)


async def test_a_path_at_once_leaves_out_what_is_not_on_offer_or_too_long() -> None:
    told = Told(path=WholePath((7, 1, 1, 0, 2), "much"))
    walked, _ = await steps(get_planner("basic"), told.deps(), budget=Budget(depth=2))
    assert end(walked).path == (B.id,)
    assert told.questions[0].max_steps == 2
    nothing, _ = await steps(get_planner("basic"), Told().deps())
    assert (end(nothing).how, end(nothing).path) == ("gave_up", ())


async def test_behind_what_failed_the_rest_is_decided_anew() -> None:
    first = Told(path=WholePath((0,), "a serves it"))
    walked, _ = await steps(get_planner("cot"), first.deps())
    failed = walked[-1][1].reopen(0, "HTTP 503", ban=True)
    told = Told(path=WholePath((0,), "then b"))
    walked, _ = await steps(get_planner("cot"), told.deps(), failed)
    assert end(walked).path == (B.id,)
    assert told.questions[0].memory == (
        "went to s/a: a serves it", "the call failed, went back before s/a: HTTP 503",
    )  # fmt: skip
    assert A not in [c.tool for c in told.questions[0].candidates]


@pytest.mark.parametrize("name", ["dfs", "thesis", "react", "cot", "basic"])
async def test_a_budget_that_is_used_up_ends_every_planner(name: str) -> None:
    told = Told()
    walked, _ = await steps(get_planner(name), told.deps(), budget=Budget(decisions=0))
    assert end(walked).how == "budget"
    assert (told.situations, told.questions) == ([], [])


async def test_retrieve_takes_the_best_start_tools() -> None:
    for k, path in ((1, (A.id,)), (2, (A.id, B.id)), (5, (A.id, B.id))):
        walked, meter = await steps(get_planner("retrieve", k), Told().deps())
        assert (end(walked).path, meter.decisions) == (path, 0)
        reasons = [event.reason for event, _ in walked if isinstance(event, StepChosen)]
        assert [move.reason for move in walked[-1][1].trail] == reasons == ["score 0.90", "score 0.80"][: len(path)]


def test_an_unknown_name_says_which_there_are() -> None:
    with pytest.raises(
        UsageError,
        match="no planner is called 'magic'; there are: program, solution, dfs, thesis, react, cot, basic, retrieve",
    ):
        get_planner("magic")
    assert set(PLANNERS) == {"program", "solution", "dfs", "thesis", "react", "cot", "basic", "retrieve"}
    assert set(PLANNER_DESCRIPTIONS) == set(PLANNERS) == set(LABELS)
    assert set(PLANNER_OPTIONS) <= set(PLANNERS)


async def test_several_steps_of_one_decision_are_walked_without_asking_again() -> None:
    told = Told(NextMove("advance", "both", 0, next_tools=(B.id,), completes_path=True))
    walked, meter = await steps(get_planner("dfs"), replace(told.deps(), several_steps=True))
    assert (end(walked).how, end(walked).path, meter.decisions) == ("finished", (A.id, B.id), 1)
    assert told.situations[0].followers[0].candidate.tool == C


async def test_where_one_step_is_named_at_a_time_nothing_else_of_a_decision_is_walked() -> None:
    told = Told(
        NextMove("advance", "both", 0, next_tools=(B.id,), completes_path=True), NextMove("finish", "a was enough")
    )
    walked, meter = await steps(get_planner("thesis"), told.deps())
    assert (end(walked).how, end(walked).path, meter.decisions) == ("finished", (A.id,), 2)
    assert [situation.allows_several for situation in told.situations] == [False, False]
