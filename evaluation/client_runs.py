"""Requests served by a client's agent, judged as any run is, and kept in a file, a line each as soon as it is there."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

from pydantic.types import JsonValue

from domain.event import CallFinished, Event, Outcome, RunFinished
from domain.model import Model
from domain.plan import StepResult
from domain.tool import tool_id
from domain.usage import Usage
from evaluation.client_agent import ClientRun
from evaluation.correctness import Cause, judge
from evaluation.expected import Asked, Change
from evaluation.kept_lines import KeptLine, KeptLines


class HeardAnswer(Model):
    """What a service answered, as the service tells it."""

    operation: str
    status: int
    body: str


class KeptClientRun(KeptLine):
    """A line. ``cause`` None: right. ``path``: the operations that were called at the services; ``calls``: the client's tools."""

    request: str
    cause: Cause | None
    detail: str = ""
    expected: tuple[str, ...] = ()
    outcome: Outcome
    answer: str
    path: tuple[str, ...]
    calls: tuple[str, ...]
    replies: int
    unreadable: int
    list_tokens: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    said: tuple[tuple[str, str], ...] = ()


class ClientRunFile(KeptLines[KeptClientRun]):
    """Runs under the same conditions."""

    def __init__(self, path: Path | None, conditions: Mapping[str, JsonValue]) -> None:
        super().__init__(path, conditions, KeptClientRun)


def judged(
    asked: Asked,
    run: ClientRun,
    heard: Sequence[HeardAnswer],
    made: Sequence[Change],
    conditions: Mapping[str, JsonValue],
) -> KeptClientRun:
    """The run with its verdict. ``heard``: what the services answered in it; ``made``: what was changed."""
    verdict = judge(asked, _events(run, heard), made=made)
    return KeptClientRun(
        id=asked.id, conditions=dict(conditions), request=asked.request, cause=verdict.cause, detail=verdict.detail,
        expected=asked.expect.values, outcome=run.outcome, answer=run.answer, path=verdict.path, calls=tuple(run.calls),
        replies=run.replies, unreadable=run.unreadable, list_tokens=run.list_tokens, prompt_tokens=run.prompt_tokens,
        completion_tokens=run.completion_tokens, seconds=run.seconds, said=tuple(run.said),
    )  # fmt: skip


def client_figures(runs: Sequence[KeptClientRun]) -> dict[str, Any]:
    """What runs come to: how many are right, and what they cost."""
    spreads = ("replies", "prompt_tokens", "completion_tokens", "seconds")
    calls = [name for run in runs for name in run.calls]
    return {
        "n": len(runs),
        "right": sum(run.cause is None for run in runs),
        "list_tokens": max((run.list_tokens for run in runs), default=0),
        **{name: _spread([getattr(run, name) for run in runs]) for name in spreads},
        "tool_calls": {**_spread([len(run.calls) for run in runs]), "of": {name: calls.count(name) for name in sorted(set(calls))}},
        "service_calls": _spread([len(run.path) for run in runs]),
        "unreadable": sum(run.unreadable for run in runs),
        "failures": [
            run.model_dump(include={"id", "request", "cause", "detail", "expected", "answer", "path", "calls"}, mode="json")
            for run in runs
            if run.cause is not None
        ],
    }  # fmt: skip


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"all": sum(values), "p50": median(values), "mean": mean(values), "max": max(values)} if values else {}


def _events(run: ClientRun, heard: Sequence[HeardAnswer]) -> list[Event]:
    """The run as a run of ours would be told."""
    results = [
        StepResult(
            tool=tool_id("playground", "playground", one.operation),
            status="ok" if 200 <= one.status < 300 else "failed",
            http_status=one.status,
            response=one.body,
        )
        for one in heard
    ]
    usage = Usage(
        model_calls=run.replies, prompt_tokens=run.prompt_tokens, completion_tokens=run.completion_tokens,
        total_seconds=run.seconds,
    )  # fmt: skip
    calls = [CallFinished(step=number, result=result) for number, result in enumerate(results, start=1)]
    return [*calls, RunFinished(outcome=run.outcome, answer=run.answer, usage=usage)]
