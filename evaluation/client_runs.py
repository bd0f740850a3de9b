"""Run the agent of an ordinary tool client against a server, judge its runs, and store them line by line."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

from pydantic.types import JsonValue

from domain.event import CallFinished, Event, RunFinished, RunOutcome
from domain.model import Model
from domain.plan import StepResult
from domain.tool import make_tool_id
from domain.usage import Usage
from evaluation.client_agent import ClientRun
from evaluation.correctness import Cause, judge
from evaluation.evaluation_cases import EvaluationCase, ServiceChange
from evaluation.result_files import ResultFile, ResultLine


class ServiceAnswer(Model):
    """An answer of a service, as the service reports it."""

    operation: str
    status: int
    body: str


class ClientRunRecord(ResultLine):
    """One line of the file: a run of a client's agent with its verdict."""

    request: str
    cause: Cause | None
    """Why the answer is wrong; None: it is right."""
    detail: str = ""
    """What is wrong, in words."""
    expected: tuple[str, ...] = ()
    """The expected values, in words."""
    outcome: RunOutcome
    answer: str
    path: tuple[str, ...]
    """Operations that were called at the services."""
    calls: tuple[str, ...]
    """Tools that the client called."""
    replies: int
    unreadable: int
    """Replies of the model that had none of the three forms."""
    list_tokens: int
    """Tokens of the server's tools and instructions."""
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    """Wall time of the run."""
    said: tuple[tuple[str, str], ...] = ()
    """Role and text of each message after the system message."""


class ClientRunFile(ResultFile[ClientRunRecord]):
    """A file of runs under the same conditions."""

    def __init__(self, path: Path | None, conditions: Mapping[str, JsonValue]) -> None:
        super().__init__(path, conditions, ClientRunRecord)


def judge_client_run(
    case: EvaluationCase,
    run: ClientRun,
    answers: Sequence[ServiceAnswer],
    changes: Sequence[ServiceChange],
    conditions: Mapping[str, JsonValue],
) -> ClientRunRecord:
    """Return the run with its verdict.

    Args:
        case: the request with its expected values.
        run: the run of the client's agent.
        answers: the answers of the services during the run.
        changes: the changes that it made.
        conditions: the settings of the evaluation, stored with the verdict.
    """
    verdict = judge(case, _to_events(run, answers), changes=changes)
    return ClientRunRecord(
        id=case.id, conditions=dict(conditions), request=case.request, cause=verdict.cause, detail=verdict.detail,
        expected=case.expect.values, outcome=run.outcome, answer=run.answer, path=verdict.path, calls=tuple(run.calls),
        replies=run.replies, unreadable=run.unreadable, list_tokens=run.list_tokens, prompt_tokens=run.prompt_tokens,
        completion_tokens=run.completion_tokens, seconds=run.seconds, said=tuple(run.said),
    )  # fmt: skip


def compute_client_figures(runs: Sequence[ClientRunRecord]) -> dict[str, Any]:
    """Return how many runs are right, and what they cost."""
    spreads = ("replies", "prompt_tokens", "completion_tokens", "seconds")
    calls = [name for run in runs for name in run.calls]
    return {
        "n": len(runs),
        "right": sum(run.cause is None for run in runs),
        "list_tokens": max((run.list_tokens for run in runs), default=0),
        **{name: _describe_spread([getattr(run, name) for run in runs]) for name in spreads},
        "tool_calls": {**_describe_spread([len(run.calls) for run in runs]), "of": {name: calls.count(name) for name in sorted(set(calls))}},
        "service_calls": _describe_spread([len(run.path) for run in runs]),
        "unreadable": sum(run.unreadable for run in runs),
        "failures": [
            run.model_dump(include={"id", "request", "cause", "detail", "expected", "answer", "path", "calls"}, mode="json")
            for run in runs
            if run.cause is not None
        ],
    }  # fmt: skip


def _describe_spread(values: Sequence[float]) -> dict[str, float]:
    return {"all": sum(values), "p50": median(values), "mean": mean(values), "max": max(values)} if values else {}


def _to_events(run: ClientRun, answers: Sequence[ServiceAnswer]) -> list[Event]:
    """Convert the client's run to the events that a run of the product would have."""
    results = [
        StepResult(
            tool=make_tool_id("playground", "playground", one.operation),
            status="ok" if 200 <= one.status < 300 else "failed",
            http_status=one.status,
            response=one.body,
        )
        for one in answers
    ]
    usage = Usage(
        model_calls=run.replies, prompt_tokens=run.prompt_tokens, completion_tokens=run.completion_tokens,
        total_seconds=run.seconds,
    )  # fmt: skip
    calls = [CallFinished(step=number, result=result) for number, result in enumerate(results, start=1)]
    return [*calls, RunFinished(outcome=run.outcome, answer=run.answer, usage=usage)]
