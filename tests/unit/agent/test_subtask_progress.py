"""What a subtask has done, folded from its events."""

from agent.budget import Budget, BudgetMeter
from agent.policy.protocol import PolicyCost
from agent.subtask_progress import SubtaskProgress
from domain.event import CallFinished, Event, ProgramEnded, ProgramStarted
from domain.plan import StepResult
from domain.program import Program
from domain.tool import ToolId


def test_an_end_that_is_told_again_rests_on_its_own_calls_alone() -> None:
    progress, program = SubtaskProgress(BudgetMeter(Budget(), PolicyCost())), Program(text="1", tools={})
    calls = [StepResult(tool=ToolId(name), arguments={}, status="ok") for name in ("one", "two")]
    ends = [ProgramEnded(number=number, answered="partly", answer="", verdict="partly") for number in (1, 2)]
    events: list[Event] = [
        ProgramStarted(number=1, program=program), CallFinished(step=1, result=calls[0]), ends[0],
        ProgramStarted(number=2, program=program, goes_on=True), CallFinished(step=2, result=calls[1]), ends[1],
    ]  # fmt: skip
    for event in events:
        progress.apply_event(event)
    assert progress.step_results == {1: calls[0], 2: calls[1]}
    progress.apply_event(ends[0])
    assert progress.step_results == {1: calls[0]}
