"""The figures of an evaluation, over runs in a small world."""

import asyncio
from pathlib import Path

import pytest

from agent.budget import Budget
from agent.execution.approval import AllowChangesApprover
from agent.execution.executor import CallResult
from agent.run_context import RunDeps
from domain.model import JsonObject
from domain.tool import ToolDoc
from evaluation.answers import AnswerEvaluation, compute_share_interval, evaluate_answers, report
from evaluation.correctness import judge
from evaluation.evaluation_cases import HELD_OUT, EvaluationCase, ExpectedValues, GoldCall
from offline.policy import OfflinePolicy
from offline.reader import EnglishReader
from tests.support.run_deps import build_deps, change_deps
from tests.support.small_world import FORECAST, FOUND, WALKS, ScriptedExecutor, finder, graph, ok
from tests.unit.evaluation.asking import asked, end, right_run

POPULATION = EvaluationCase(
    id="population",
    request="What is the population of Paris?",
    calls=(GoldCall(operation="search_places"),),
    expect=ExpectedValues(numbers=(2100000,)),
    group="one",
)
HOPELESS = EvaluationCase(
    id="hopeless", request="Sing a song for Zoe", answerable=False, why="no tool sings", group="none"
)


class Services:
    """What is called and set back, in order."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.changed: list[str] = []

    async def reset(self) -> None:
        self.seen.append("reset")
        self.changed.clear()

    async def effects(self) -> list[str]:
        return list(self.changed)

    def places(self, arguments: JsonObject) -> CallResult:
        self.seen.append("call")
        return FOUND(arguments)


async def evaluated(folder: Path, services: Services, *requests: EvaluationCase) -> AnswerEvaluation:
    store, search = await graph(WALKS), await finder(folder)
    executor = ScriptedExecutor(
        search_places=services.places, get_forecast=FORECAST, get_daily_forecast=FORECAST, search_books=ok({})
    )

    async def deps() -> RunDeps:
        return build_deps(
            store, search, OfflinePolicy(), executor, approver=AllowChangesApprover(), reader=EnglishReader()
        )

    done: list[int] = []
    evaluation = await evaluate_answers(requests, deps, Budget(), services, at_once=2, progress=done.append)
    assert done == list(range(1, len(requests) + 1))
    return evaluation


async def test_runs_are_judged_in_the_order_of_the_requests(tmp_path: Path) -> None:
    services = Services()
    other = POPULATION.model_copy(update={"id": "other", "expect": ExpectedValues(numbers=(7,))})
    verdicts = (await evaluated(tmp_path, services, HOPELESS, POPULATION, other)).verdicts
    assert [verdict.case.id for verdict in verdicts] == ["hopeless", "population", "other"]
    assert [verdict.cause for verdict in verdicts] == [None, None, "wrong value"]
    assert services.seen == ["reset", "call", "call"]


async def test_one_that_changes_something_runs_alone_after_a_reset(tmp_path: Path) -> None:
    services = Services()
    alone = [POPULATION.model_copy(update={"id": name, "alone": True}) for name in ("x", "y")]
    found = await evaluated(tmp_path, services, alone[0], POPULATION, alone[1])
    assert all(verdict.right for verdict in found.verdicts)
    assert found.unasked == ()
    assert services.seen == ["reset", "call", "reset", "call", "reset", "call"]


async def test_changes_that_nobody_asked_for_are_told(tmp_path: Path) -> None:
    """Of a request that runs alone it is known that it was the one; of those that run together, that it was one of them."""

    class Changing(Services):
        def places(self, arguments: JsonObject) -> CallResult:
            self.changed.append("delete_place")
            return super().places(arguments)

    alone = POPULATION.model_copy(update={"id": "alone", "alone": True})
    wanted = alone.model_copy(update={"id": "wanted", "effects": ("delete_place",)})
    found = await evaluated(tmp_path, Changing(), POPULATION, alone, wanted)
    assert [verdict.cause for verdict in found.verdicts] == [None, "unasked change", None]
    assert found.unasked == ("delete_place",)
    assert report(found)["unasked_changes"] == ["delete_place"]


class Crowded(ScriptedExecutor):
    """Counts how many calls are going on at once. None ends before ``expected`` have met."""

    going = most = 0
    expected = 1
    met: asyncio.Event

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        self.going += 1
        self.most = max(self.most, self.going)
        if self.going == self.expected:
            self.met.set()
        await self.met.wait()
        await asyncio.sleep(0.01)  # whoever is one too many comes meanwhile
        self.going -= 1
        return await super().call(tool, arguments)


@pytest.mark.parametrize("at_once", [1, 2])
async def test_no_more_than_allowed_at_once(tmp_path: Path, at_once: int) -> None:
    executor = Crowded(search_places=FOUND)
    executor.expected, executor.met = at_once, asyncio.Event()
    working = build_deps(
        await graph(WALKS),
        await finder(tmp_path),
        OfflinePolicy(),
        executor,
        approver=AllowChangesApprover(),
        reader=EnglishReader(),
    )
    requests = [POPULATION.model_copy(update={"id": str(number)}) for number in range(5)]

    async def deps() -> RunDeps:
        return change_deps(working, policy=OfflinePolicy())

    done = await evaluate_answers(requests, deps, Budget(), Services(), at_once=at_once)
    assert all(verdict.right for verdict in done.verdicts)
    assert executor.most == at_once


def evaluation() -> AnswerEvaluation:
    """Two right and two wrong ones; one of each is held out."""
    wrong = [end("", "gave_up")]
    verdicts = [
        judge(asked(name="a"), right_run()),
        judge(asked("x", "y", name="b", group="two"), wrong),
        judge(asked("x", "y", "z", "z", name="c", group=HELD_OUT), wrong),
        judge(asked(name="d", group=HELD_OUT), right_run()),
        judge(HOPELESS, [end("La la la.")]),
    ]
    return AnswerEvaluation(tuple(verdicts))


def test_the_figures() -> None:
    found = report(evaluation())
    assert found["groups"] == {
        "one": {"n": 1, "right": 1, "share": 1},
        "two": {"n": 1, "right": 0, "share": 0},
        HELD_OUT: {"n": 2, "right": 1, "share": 0.5},
        "unanswerable": {"n": 1, "right": 0, "share": 0},
    }
    assert {name: row["n"] for name, row in found["calls"].items()} == {"1": 2, "2": 1, "3+": 1}
    assert (found["overall"]["n"], found["overall"]["right"]) == (4, 2)
    assert (found["model_calls"], found["seconds_p50"]) == (10, 0.5)


def test_what_is_held_out_is_a_figure_unless_asked_for() -> None:
    found = report(evaluation())
    assert [failure["id"] for failure in found["failures"]] == ["b", "hopeless"]
    assert found["failures_withheld"] == 1
    everything = report(evaluation(), show_held_out=True)
    assert [failure["id"] for failure in everything["failures"]] == ["b", "c", "hopeless"]
    assert everything["failures_withheld"] == 0
    assert everything["failures"][0]["gold"] == ["x", "y"]


def test_the_interval() -> None:
    low, high = compute_share_interval([True] * 9 + [False]) or (0, 0)
    assert 0.6 <= low <= 0.8
    assert high == 1
    assert compute_share_interval([True] * 9 + [False]) == (low, high), "the same every time"
    assert compute_share_interval([True, True]) == (1, 1)
    assert compute_share_interval([]) is None


def test_of_nothing() -> None:
    found = report(AnswerEvaluation(()))
    assert found["overall"] == {"n": 0, "right": 0, "share": None, "interval": None}
    assert found["seconds_p50"] == pytest.approx(0)
