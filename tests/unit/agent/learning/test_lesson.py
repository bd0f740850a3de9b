"""What a run teaches: transitions walked, scores, outcomes; nothing of runs that are no evidence."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from agent.learning.run_lesson import build_lesson
from domain.event import CallFinished, Event, EventRecord, PlanReady, RunFinished, RunStarted
from domain.plan import Binding, CallOutcome, Plan, StepResult
from domain.tool import FINISH, ToolId
from domain.usage import Usage

A, B, C, D = (ToolId(f"c/s/{name}") for name in "abcd")
ASKED = "Which train leaves for the coast tomorrow morning?"


def result(tool: ToolId, outcome: CallOutcome | None = "ok", *, uses: str = "", attempts: int = 1) -> StepResult:
    """A step's result; ``uses``: the reference of a value that it took from an earlier step."""
    bindings = (Binding(parameter="x", origin="step", reference=uses),) if uses else ()
    status = "ok" if outcome == "ok" else "missing" if outcome is None else "failed"
    return StepResult(tool=tool, status=status, outcome=outcome, attempts=attempts, provenance=bindings)


def records(*events: Event) -> list[EventRecord]:
    """Numbered events of a run called r."""
    started = RunStarted(request=ASKED, planner="dfs", policy="offline")
    numbered = enumerate((started, *events), start=1)
    return [EventRecord(run="r", seq=seq, at=datetime.now(UTC), event=event) for seq, event in numbered]


def executed(results: Sequence[StepResult]) -> list[Event]:
    """A plan of these steps, and their calls."""
    plan = PlanReady(plan=Plan(path=tuple(r.tool for r in results), complete=True))
    return [plan, *(CallFinished(step=step, result=r) for step, r in enumerate(results, start=1))]


def finished(outcome: str = "answered") -> RunFinished:
    """The end of a run."""
    return RunFinished.model_validate({"outcome": outcome, "answer": "", "usage": Usage()})


def test_an_answered_run_teaches_its_path_to_finish() -> None:
    batch = build_lesson(records(*executed([result(A), result(B, uses="1.id")]), finished()))
    assert batch is not None
    assert batch.key == "run:r"
    assert batch.transitions == {(A, B): 1, (B, FINISH): 1}
    assert batch.scores == ((A, 1.0), (B, 1.0), (FINISH, 1.0))
    assert batch.outcomes == ((A, "ok"), (B, "ok"))


def test_a_tool_that_failed_counts_against_itself_and_was_walked_to() -> None:
    first = executed([result(A), result(B, "gone")])
    second = [PlanReady(plan=Plan(path=(A, C), complete=True)), CallFinished(step=2, result=result(C, uses="1.id"))]
    batch = build_lesson(records(*first, *second, finished()))
    assert batch is not None
    assert batch.transitions == {(A, C): 1, (A, B): 1, (C, FINISH): 1}
    assert batch.scores == ((A, 1.0), (C, 1.0), (B, -1.0), (FINISH, 1.0))
    assert batch.outcomes == ((A, "ok"), (C, "ok"), (B, "gone"))


def test_a_fault_of_ours_is_no_evidence() -> None:
    batch = build_lesson(records(*executed([result(A), result(B, "caller_fault")]), finished("gave_up")))
    assert batch is not None
    assert batch.outcomes == ((A, "ok"),)
    assert batch.scores == ((A, 0.0),)
    assert (A, FINISH) not in batch.transitions


@pytest.mark.parametrize("outcome", ["absent", "refused", "unreached"])
def test_what_one_caller_met_says_nothing_of_the_tool(outcome: CallOutcome) -> None:
    batch = build_lesson(
        records(*executed([result(A), result(B, outcome)]), finished("gave_up")), policy_scores=(0.5, -1.0)
    )
    assert batch is not None
    assert batch.outcomes == ((A, "ok"),)
    assert batch.scores == ((A, 0.5),)


def absent(city: str) -> StepResult:
    """A call for something that is not there."""
    return result(B, "absent").model_copy(update={"arguments": {"city": city}})


def test_however_often_one_user_asks_for_what_is_not_there_it_is_no_evidence() -> None:
    apart = [absent(city) for city in ("Oslo", "Rome", "Lima", "Bonn")]
    batch = build_lesson(records(*executed(apart), finished("gave_up")))
    assert batch is not None
    assert (batch.transitions, batch.scores, batch.outcomes) == ({}, (), ())


@pytest.mark.parametrize("outcome", ["absent", "refused", "unreached", "caller_fault"])
def test_a_step_that_one_caller_failed_at_was_not_walked_to(outcome: CallOutcome) -> None:
    first = executed([result(A), result(B, outcome)])
    second = [PlanReady(plan=Plan(path=(A, C), complete=True)), CallFinished(step=2, result=result(C, uses="1.id"))]
    batch = build_lesson(records(*first, *second, finished()))
    assert batch is not None
    assert batch.transitions == {(A, C): 1, (C, FINISH): 1}


def test_a_repeated_answer_is_no_second_evidence() -> None:
    batch = build_lesson(records(*executed([result(A), result(A, attempts=0), result(D)]), finished()))
    assert batch is not None
    assert batch.outcomes == ((A, "ok"), (D, "ok"))
    assert (A, A) not in batch.transitions


def test_nothing_is_learnt_without_a_call_or_from_a_cancelled_run() -> None:
    assert build_lesson(records(*executed([result(A, None, attempts=0)]), finished("gave_up"))) is None
    assert build_lesson(records(*executed([result(A)]), finished("cancelled"))) is None
    assert build_lesson(records(*executed([result(A)]))) is None
