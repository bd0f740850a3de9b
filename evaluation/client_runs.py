"""Requests served by a client's agent, judged as any run is, and kept in a file, a line each as soon as it is there."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

from pydantic import ValidationError
from pydantic.types import JsonValue

from domain.errors import BrokenInputError, UsageError
from domain.event import CallFinished, Event, Outcome, RunFinished
from domain.model import Model, what_is_wrong
from domain.plan import StepResult
from domain.tool import tool_id
from domain.usage import Usage
from evaluation.client_agent import ClientRun
from evaluation.correctness import Cause, judge
from evaluation.expected import Asked, Change
from graph.importers.lines import Line, read_lines


class HeardAnswer(Model):
    """What a service answered, as the service tells it."""

    operation: str
    status: int
    body: str


class KeptClientRun(Model):
    """A line. ``cause`` None: right. ``path``: the operations that were called at the services; ``calls``: the client's tools."""

    id: str
    conditions: dict[str, JsonValue]
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


class ClientRunFile:
    """A file of runs under the same conditions. None: nothing is kept."""

    def __init__(self, path: Path | None, conditions: Mapping[str, JsonValue]) -> None:
        self._path, self.conditions = path, dict(conditions)

    def read(self, asked: Iterable[Asked]) -> dict[str, KeptClientRun]:
        """What is there already of these requests.

        Raises:
            UsageError: it was measured under other conditions. BrokenInputError: a line cannot be used.
        """
        ids = {one.id for one in asked}
        if self._path is None or not self._path.is_file():
            return {}
        kept = [_kept(line, self._path) for line in read_lines(self._path)]
        if strange := next((one.conditions for one in kept if one.conditions != self.conditions), None):
            raise UsageError(f"{self._path} was measured under other conditions ({strange}); name another")
        return {one.id: one for one in kept if one.id in ids}

    def add(self, run: KeptClientRun) -> None:
        """Write a run down."""
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(run.model_dump_json() + "\n")


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


def _kept(line: object, path: Path) -> KeptClientRun:
    if not isinstance(line, Line):
        raise UsageError(f"{line} cannot be read; name another file")
    try:
        return KeptClientRun.model_validate_json(line.body)
    except ValidationError as error:
        raise BrokenInputError(what_is_wrong(error), file=str(path), line=line.number) from error
