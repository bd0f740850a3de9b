"""Runs in a few words: the events that judging reads."""

from domain.event import CallFinished, Event, RunFinished, RunOutcome
from domain.plan import StepResult, StepStatus
from domain.tool import make_tool_id
from domain.usage import Usage
from evaluation.evaluation_cases import EvaluationCase, ExpectedValues, GoldCall


def asked(*operations: str, group: str = "one", name: str = "a", **expect: object) -> EvaluationCase:
    """An answerable request; ``expect`` is what :class:`Expected` takes."""
    calls = tuple(GoldCall(operation=operation) for operation in operations or ("weather",))
    expected = ExpectedValues.model_validate(expect or {"numbers": [9.6], "tolerance": 0.05})
    return EvaluationCase(id=name, request="How warm is it?", calls=calls, expect=expected, group=group)


def call(operation: str, response: str = "", status: StepStatus = "ok", note: str = "") -> CallFinished:
    """A finished call."""
    tool = make_tool_id("Weather", "Skyline", operation)
    return CallFinished(step=1, result=StepResult(tool=tool, status=status, response=response, note=note))


def end(answer: str = "", outcome: RunOutcome = "answered", error: str = "") -> RunFinished:
    """The end of a run."""
    return RunFinished(outcome=outcome, answer=answer, usage=Usage(total_seconds=0.5, model_calls=2), error=error)


def right_run() -> list[Event]:
    """A run that answers :func:`asked`."""
    return [call("weather", '{"temperature": 9.6}'), end("It is 9.6 °C.")]
