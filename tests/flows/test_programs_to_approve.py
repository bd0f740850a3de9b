"""Programs that are shown before they run: one answer is for one plan, and what was denied is denied when the run is taken up."""

from dataclasses import replace
from pathlib import Path

from agent.plans.plan_approval import PlanQuestion
from domain.event import EventRecord, InputNeeded, PathEnded, ProgramLooked
from domain.program import ProgramPlan
from tests.support.program_world import World, code, end, the, world
from tests.support.run_deps import change_deps
from tests.support.small_world import FORECAST, FOUND, ScriptedExecutor

REQUEST = "What is the weather forecast for Paris?"
LOOK = code('found = await search_places(city="Paris")', "look(found)")


class Decides:
    """A user who decides the same of each plan; ``questions`` are what was asked."""

    def __init__(self, *, allows: bool) -> None:
        self.questions: list[PlanQuestion] = []
        self._allows = allows

    async def __call__(self, question: PlanQuestion) -> ProgramPlan | None:
        self.questions.append(question)
        return question.program if self._allows else None


def executor() -> ScriptedExecutor:
    return ScriptedExecutor(search_places=FOUND, get_forecast=FORECAST, get_daily_forecast=FORECAST)


def asking(made: World, user: Decides) -> World:
    return replace(made, deps=change_deps(made.deps, plan_approver=user))


async def test_one_answer_is_for_one_plan(tmp_path: Path) -> None:
    """No second text comes out: the walk's plan would be asked about as the first program was, and have its answer."""
    user, calls = Decides(allows=True), executor()
    async with world(tmp_path, calls, LOOK, "nothing", "nothing", "nothing") as made:
        records = await asking(made, user).told(REQUEST)
    assert len(the(records, ProgramLooked)) == 1
    assert [question.cell for question in user.questions] == [1]
    assert [api for api, _ in calls.made] == ["search_places"]
    assert end(records).outcome != "answered"


async def test_a_program_that_was_denied_is_denied_when_its_run_is_taken_up(tmp_path: Path) -> None:
    user = Decides(allows=False)
    async with world(tmp_path, executor(), LOOK) as made:
        whole = await asking(made, user).told(REQUEST)
    (question,) = user.questions
    at = next(number for number, one in enumerate(whole) if isinstance(one.event, PathEnded))
    asked = InputNeeded(input="plan-1", asks="plan", reason="?", program=question.program)
    past = [
        *whole[:at],
        whole[at].model_copy(update={"event": asked}),
        EventRecord.model_validate(whole[at].model_dump() | {"seq": whole[at].seq + 1}),
    ]
    again, calls = Decides(allows=False), executor()
    async with world(tmp_path / "again", calls, LOOK) as made:
        rest = await asking(made, again).told(REQUEST, past=past)
        assert made.written == 0
    assert [one.program.program.text for one in again.questions] == [question.program.program.text]
    assert (end(rest).outcome, end(rest).answer, calls.made) == ("gave_up", end(whole).answer, [])
