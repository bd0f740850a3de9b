"""What a run came to and what it used, over all its subtasks: its last event."""

from collections.abc import Sequence

from agent.budget import Meter
from agent.progress import Progress
from domain.event import Outcome, RunFinished
from domain.usage import Usage


def finished(outcome: Outcome, answer: str, meter: Meter, subtasks: Sequence[Progress], error: str = "") -> RunFinished:
    """The run's last event."""
    cost = meter.cost
    usage = Usage(
        considered=sum(progress.considered for progress in subtasks),
        decisions=meter.decisions,
        backtracks=sum(progress.backtracks for progress in subtasks),
        reflections=meter.reflections,
        model_calls=cost.model_calls,
        prompt_tokens=cost.prompt_tokens,
        completion_tokens=cost.completion_tokens,
        by_purpose=dict(cost.by_purpose),
        tokens_by_purpose=dict(cost.tokens_by_purpose),
        plan_seconds=sum(progress.plan_seconds for progress in subtasks),
        execute_seconds=sum(progress.execute_seconds for progress in subtasks),
        total_seconds=meter.elapsed,
    )
    return RunFinished(outcome=outcome, answer=answer, usage=usage, error=error)


def outcome_of(outcomes: Sequence[Outcome]) -> Outcome:
    """A run is answered where all its subtasks are; else what kept one of them from it, a used-up budget first."""
    if outcomes and all(outcome == "answered" for outcome in outcomes):
        return "answered"
    return "budget" if "budget" in outcomes else "gave_up"
