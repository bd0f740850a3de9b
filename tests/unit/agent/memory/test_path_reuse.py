"""What memories agree on is proposed whole, where it can be walked here and now; else the planner goes on as ever."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from agent.budget import Budget, BudgetMeter
from agent.memory.path_reuse import MIN_REUSE_SIMILARITY, MIN_VOTE_SHARE, build_reusing_planner, find_agreed_memory
from agent.offer.candidates import ToolCandidate
from agent.policy.protocol import AdoptionQuestion, MoveQuestion, NextMove, PathAdoption, PolicyCost
from agent.search.dfs import EmitStep, SearchDeps, SearchNode, SearchResult
from agent.search.state import DeadPrefix, SearchState
from domain.event import PathEnded, StepChosen
from domain.memory import Memory, RecalledMemory
from domain.tool import ToolId
from offline.reader import EnglishReader
from tests.unit.agent.search.test_dfs import Step, doc, no_path, none_follow, walked_by

T1, T2, T3 = (doc(n).id for n in (1, 2, 3))
ASKED = "weather in Oslo"


def recalled(similarity: float, *path: ToolId, good: int = 0, bad: int = 0) -> RecalledMemory:
    name = f"{similarity}{path}"
    at = datetime(2026, 5, 4, tzinfo=UTC)
    one = Memory(id=name, request="weather in Rome", pattern="w", path=path, at=at, good=good, bad=bad)
    return RecalledMemory(memory=one, similarity=similarity)


def test_nothing_is_agreed_on_by_nobody() -> None:
    assert find_agreed_memory([]) is None


def test_the_most_similar_of_those_that_agree_speaks() -> None:
    best = recalled(0.9, T1, T2)
    assert find_agreed_memory([recalled(0.85, T1, T2), best, recalled(0.5, T3)]) is best


def test_what_is_not_similar_enough_is_not_proposed() -> None:
    assert find_agreed_memory([recalled(MIN_REUSE_SIMILARITY - 0.01, T1)]) is None
    assert find_agreed_memory([recalled(MIN_REUSE_SIMILARITY, T1)]) is not None


def test_divided_memories_agree_on_nothing() -> None:
    assert find_agreed_memory([recalled(0.99, T1), recalled(0.98, T2)]) is None


def test_how_a_path_has_done_since_weighs() -> None:
    assert find_agreed_memory([recalled(0.99, T1), recalled(0.95, T2, bad=9)]) is not None
    assert find_agreed_memory([recalled(0.99, T1, bad=9), recalled(0.95, T2)], min_share=MIN_VOTE_SHARE) == recalled(
        0.95, T2
    )


class World:
    """Every tool is on offer everywhere, changed as a test says; a planner that only says that it was asked."""

    def __init__(self, changes: Mapping[str, Mapping[str, Any]] | None = None, *, verdict: bool = True) -> None:
        self.asked: list[AdoptionQuestion] = []
        self._verdict = verdict
        self._changes = changes or {}

    async def expand(self, state: SearchState) -> SearchNode:
        shown = tuple(
            replace(ToolCandidate(doc(n), 0.5, None, (0.5,), "graph"), **self._changes.get(f"t{n}", {})) for n in (1, 2)
        )
        return SearchNode((), (), (0.5,), shown, 0.1)

    async def adopt(self, proposal: AdoptionQuestion) -> PathAdoption:
        self.asked.append(proposal)
        return PathAdoption(adopted=self._verdict, reason="as before")

    async def planner(
        self,
        request: str,
        clauses: tuple[str, ...],
        state: SearchState,
        deps: SearchDeps,
        meter: BudgetMeter,
        emit: EmitStep,
    ) -> SearchResult:
        del request, clauses, deps, meter, emit
        return PathEnded(path=(), how="gave_up", reason="the planner's own"), state

    async def walk(
        self, *memories: RecalledMemory, state: SearchState | None = None, request: str = ASKED
    ) -> list[Step]:
        async def choose(situation: MoveQuestion) -> NextMove:
            raise AssertionError(situation)

        self.meter = BudgetMeter(Budget(), PolicyCost())
        deps = SearchDeps(self.expand, choose, no_path, none_follow)
        plan = build_reusing_planner(self.planner, self.adopt, memories, EnglishReader())
        return await walked_by(plan, deps, self.meter, state, request)


async def test_an_adopted_path_is_walked_in_one_decision() -> None:
    world, memory = World(), recalled(0.9, T1, T2)
    steps = await world.walk(memory)
    events = [event for event, _ in steps]
    assert [e.tool for e in events if isinstance(e, StepChosen)] == [T1, T2]
    assert {e.memory for e in events if isinstance(e, StepChosen)} == {memory.memory.id}
    assert isinstance(events[-1], PathEnded)
    assert (events[-1].how, events[-1].path, steps[-1][1].path) == ("finished", (T1, T2), (T1, T2))
    assert world.meter.decisions == len(world.asked) == 1


async def test_a_path_that_is_refused_costs_a_decision_and_is_planned_anew() -> None:
    world = World(verdict=False)
    (event, _), *more = await world.walk(recalled(0.9, T1))
    assert not more
    assert isinstance(event, PathEnded)
    assert event.reason == "the planner's own"
    assert world.meter.decisions == 1


@pytest.mark.parametrize(
    "change",
    [
        {"t2": {"missing": ("q",)}},
        {"t2": {"availability": 0.2}},
        {"t1": {"returning": True}},
    ],
    ids=["lacks an input", "fails of late", "another is to be tried again"],
)
async def test_what_cannot_be_walked_is_not_proposed(change: dict[str, dict[str, Any]]) -> None:
    world = World(change)
    await world.walk(recalled(0.9, T2))
    assert world.asked == []


async def test_where_the_first_cannot_be_walked_the_others_may_agree() -> None:
    world = World()
    await world.walk(recalled(0.95, T3), recalled(0.94, T3), recalled(0.8, T1))
    assert [proposal.recalled.memory.path for proposal in world.asked] == [(T1,)]


@pytest.mark.parametrize(
    "state",
    [
        SearchState(banned=(T3,)),
        SearchState(dead=(DeadPrefix(path=(T1,), reason="so"),)),
        SearchState(path=(T1,), offered=((), ())),
    ],
)
async def test_after_a_first_step_or_failure_nothing_is_proposed(state: SearchState) -> None:
    world = World()
    await world.walk(recalled(0.9, T1), state=state)
    assert world.asked == []


async def test_where_the_same_is_asked_of_two_the_planner_says_how_it_ends() -> None:
    world = World()
    steps = await world.walk(recalled(0.9, T1), request="What is the population of Oslo and of Rome?")
    assert isinstance(steps[0][0], StepChosen)
    assert isinstance(steps[-1][0], PathEnded)
    assert steps[-1][0].reason == "the planner's own"
