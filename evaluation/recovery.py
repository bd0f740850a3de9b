"""Recovery from dead operations: of the runs that met one, how many were answered correctly all the same.

An operation is dead if no other argument would help: no connection, a refused key, a server error or too many calls after all
retries. A call that names something that does not exist (400, 404, 409, 422) is a fault of the call and does not count.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from domain.event import CallFinished, Event
from domain.tool import split_tool_id
from evaluation.evaluation_cases import EvaluationCase

_OF_ARGUMENTS = frozenset({400, 404, 409, 422})
"""HTTP statuses that are the fault of a call's arguments."""

Figures = dict[str, Any]


class EvaluatedRun(Protocol):
    """A finished run with its verdict."""

    @property
    def case(self) -> EvaluationCase: ...
    @property
    def right(self) -> bool: ...
    @property
    def dead(self) -> tuple[str, ...]:
        """Operations that failed for good in the run."""
        ...

    @property
    def called(self) -> tuple[str, ...]:
        """Operations that answered."""
        ...


class BreakableServices(Protocol):
    """Services of which single operations can be broken."""

    async def reset(self) -> None:
        """Undo every change and repair every operation."""
        ...

    async def effects(self) -> list[str]:
        """Return the operations that have changed something since the reset."""
        ...

    async def switch(self, operation: str, broken: bool) -> None:
        """Break an operation, or repair it."""
        ...


def find_dead_operations(events: Sequence[Event]) -> tuple[str, ...]:
    """Return the operations of a run whose calls failed for good, each once."""
    results = (event.result for event in events if isinstance(event, CallFinished))
    return tuple(
        dict.fromkeys(
            split_tool_id(result.tool)[2]
            for result in results
            if result.status == "failed" and result.attempts and result.http_status not in _OF_ARGUMENTS
        )
    )


def compute_recovery(runs: Iterable[EvaluatedRun]) -> Figures:
    """Return how many answerable requests met a dead operation and how many of them are right, by group and overall."""
    met = [run for run in runs if run.case.answerable and run.dead]
    groups = {name: _compute_share([run for run in met if run.case.group == name]) for name in _list_groups(met)}
    return {"groups": groups, "overall": _compute_share(met)}


@dataclass(frozen=True, slots=True)
class PartlyBrokenServices:
    """Services with one operation broken: every reset breaks it again."""

    services: BreakableServices
    operation: str

    async def reset(self) -> None:
        await self.services.reset()
        await self.services.switch(self.operation, True)

    async def effects(self) -> list[str]:
        return await self.services.effects()


@dataclass(frozen=True, slots=True)
class BreakageRuns:
    """Runs, with one operation broken, of the requests that used it while everything worked."""

    operation: str
    other: str
    """The operation that does the same job."""
    runs: tuple[EvaluatedRun, ...]

    @property
    def affected(self) -> tuple[EvaluatedRun, ...]:
        """The runs that called the broken operation, and so had to work around it."""
        return tuple(run for run in self.runs if self.operation in run.dead)


async def break_each(
    baseline: Sequence[EvaluatedRun],
    pairs: Sequence[tuple[str, str]],
    services: BreakableServices,
    ask: Callable[[Sequence[EvaluationCase], PartlyBrokenServices], Awaitable[Sequence[EvaluatedRun]]],
) -> list[BreakageRuns]:
    """Break each operation of ``pairs`` in turn, and run the requests that were answered correctly with its help.

    Requests that are answered wrongly anyway say nothing about recovery.

    Args:
        baseline: the runs while everything worked.
        pairs: operations that do the same job.
        services: the services to break.
        ask: runs requests against the broken services.
    """
    results: list[BreakageRuns] = []
    for pair in pairs:
        for operation, other in (pair, pair[::-1]):
            cases = [run.case for run in baseline if run.case.answerable and run.right and operation in run.called]
            if cases:
                results.append(
                    BreakageRuns(operation, other, tuple(await ask(cases, PartlyBrokenServices(services, operation))))
                )
    await services.reset()
    return results


def summarize_breakages(results: Sequence[BreakageRuns]) -> Figures:
    """Return the figures by operation, by group and overall."""
    met = [run for one in results for run in one.affected]
    return {
        "operations": {one.operation: {"other": one.other, **_compute_share(one.affected)} for one in results},
        "groups": {name: _compute_share([run for run in met if run.case.group == name]) for name in _list_groups(met)},
        "overall": _compute_share(met),
    }


def _list_groups(runs: Sequence[EvaluatedRun]) -> list[str]:
    return sorted({run.case.group for run in runs})


def _compute_share(runs: Sequence[EvaluatedRun]) -> Figures:
    right = sum(run.right for run in runs)
    return {"n": len(runs), "right": right, "share": right / len(runs) if runs else None}
