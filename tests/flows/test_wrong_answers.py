"""What a user has said is wrong is not said again: by no walk, no plan that is given, and however a program's words were put."""

from pathlib import Path

import pytest

from agent.learning.user_verdict import collect_answers
from agent.programs.program_verdict import FinishedProgram, ProgramClaim, judge_claim
from agent.wrong_answers import is_known_wrong
from domain.event import EventRecord, RunFinished
from tests.flows.test_carried_programs import TITLE, plan
from tests.flows.test_given_plans import TWO_BOOKS, Unasked, deps
from tests.flows.test_resuming import told
from tests.flows.test_runs import WEATHER, asked
from tests.flows.test_runs import deps as walking
from tests.support.run_deps import change_deps
from tests.support.small_world import FORECAST, FOUND, ScriptedExecutor, ok

SAYS = 'found = await search_books(title=about)\n{"answered": "yes", "answer": found["books"][0]["title"]}'


def end(records: list[EventRecord]) -> RunFinished:
    event = records[-1].event
    assert isinstance(event, RunFinished)
    return event


async def test_by_no_walk(tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_places=FOUND, get_forecast=FORECAST)
    given = await walking(tmp_path, executor)
    first, _ = await asked(WEATHER, given)
    assert end(first).outcome == "answered"
    again, _ = await asked(WEATHER, change_deps(given, wrong_answers=frozenset(collect_answers(first))))
    assert (end(again).outcome, "4.5" in end(again).answer) == ("gave_up", False)
    assert "you said that this answer is wrong" in end(again).answer
    other, _ = await asked(WEATHER, change_deps(given, wrong_answers=frozenset({"It rains."})))
    assert (end(other).outcome, end(other).answer) == ("answered", end(first).answer)


async def test_by_no_plan_that_is_given(tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_books=TWO_BOOKS, delete_book=ok({}))
    given = await deps(tmp_path, executor, plan(SAYS, TITLE, about="e"), policy=Unasked())
    first = await told("Which book is it?", given)
    assert (end(first).outcome, collect_answers(first)) == ("answered", ("Emma",))
    again = await told("Which book is it?", change_deps(given, wrong_answers=frozenset(collect_answers(first))))
    assert (end(again).outcome, "Emma" in end(again).answer.partition("Based on")[0]) == ("gave_up", False)


@pytest.mark.parametrize(
    ("answer", "wrong", "same"),
    [
        ("Emma", "Emma", True),
        ("Emma", "Emma\nBased on: [1] Books/search_books\n", True),
        ("Emma", "Emma\nDune\nBased on: [1] Books/search_books\n", False),
        ("Emma", "Emma\nDune", False),
        ("", "", False),
    ],
)
def test_an_answer_is_another_where_it_says_less_or_more(answer: str, wrong: str, same: bool) -> None:
    assert is_known_wrong(answer, [wrong], "") is same


def test_nor_by_a_program_that_says_that_it_has_none() -> None:
    claim = ProgramClaim("no", "Emma")
    assert judge_claim(claim, FinishedProgram("'Emma'", wrong_answers=["Emma"])).veto
    assert not judge_claim(claim, FinishedProgram("'Emma'")).veto
