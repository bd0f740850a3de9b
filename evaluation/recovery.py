"""Going around: of the runs that met an operation that is dead, how many were answered rightly all the same.

Dead is what no other argument would mend: no connection, a key that is refused, an error of the server or too many calls after all
repetitions. That a call names something that does not exist (400, 404, 409, 422) speaks against the call and does not count.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from domain.event import CallFinished, Event
from domain.tool import tool_id_parts
from evaluation.expected import Asked

_OF_ARGUMENTS = frozenset({400, 404, 409, 422})

Figures = dict[str, Any]


class Judged(Protocol):
    """What is known of a finished run. ``dead``: the operations that failed it for good; ``called``: all whose answer came."""

    @property
    def asked(self) -> Asked: ...
    @property
    def right(self) -> bool: ...
    @property
    def dead(self) -> tuple[str, ...]: ...
    @property
    def called(self) -> tuple[str, ...]: ...


class Breakable(Protocol):
    """Services of which single operations can be broken."""

    async def reset(self) -> None:
        """Undo every change, mend everything."""
        ...

    async def effects(self) -> list[str]:
        """The operations that have changed something since the reset."""
        ...

    async def switch(self, operation: str, broken: bool) -> None:
        """Break an operation, or mend it."""
        ...


def dead_operations(events: Sequence[Event]) -> tuple[str, ...]:
    """The operations of a run whose calls failed for good, each once."""
    results = (event.result for event in events if isinstance(event, CallFinished))
    return tuple(
        dict.fromkeys(
            tool_id_parts(result.tool)[2]
            for result in results
            if result.status == "failed" and result.attempts and result.http_status not in _OF_ARGUMENTS
        )
    )


def recovered(runs: Iterable[Judged]) -> Figures:
    """Of the answerable requests whose run met a dead operation: how many, and how many of them are right; by group and overall."""
    met = [run for run in runs if run.asked.answerable and run.dead]
    groups = {name: _share([run for run in met if run.asked.group == name]) for name in _groups(met)}
    return {"groups": groups, "overall": _share(met)}


@dataclass(frozen=True, slots=True)
class Without:
    """Services with one operation broken: every reset breaks it anew."""

    services: Breakable
    operation: str

    async def reset(self) -> None:
        await self.services.reset()
        await self.services.switch(self.operation, True)

    async def effects(self) -> list[str]:
        return await self.services.effects()


@dataclass(frozen=True, slots=True)
class Breakage:
    """The runs of the requests that used an operation while all worked, with that operation broken. ``other`` does the same job."""

    operation: str
    other: str
    runs: tuple[Judged, ...]

    @property
    def met(self) -> tuple[Judged, ...]:
        """Those that called it, and so had to go around it."""
        return tuple(run for run in self.runs if self.operation in run.dead)


async def break_each(
    whole: Sequence[Judged],
    pairs: Sequence[tuple[str, str]],
    services: Breakable,
    ask: Callable[[Sequence[Asked], Without], Awaitable[Sequence[Judged]]],
) -> list[Breakage]:
    """Each operation of ``pairs`` broken in turn, for the requests that were answered rightly with its help (``whole``: their runs
    while all worked). What is wrong anyway says nothing of going around.
    """
    found: list[Breakage] = []
    for pair in pairs:
        for operation, other in (pair, pair[::-1]):
            asked = [run.asked for run in whole if run.asked.answerable and run.right and operation in run.called]
            if asked:
                found.append(Breakage(operation, other, tuple(await ask(asked, Without(services, operation)))))
    await services.reset()
    return found


def breakages(found: Sequence[Breakage]) -> Figures:
    """The figures by operation, by group and overall; of the runs that failed, the request's name alone where it may be shown."""
    met = [run for one in found for run in one.met]
    return {
        "operations": {one.operation: {"other": one.other, **_share(one.met)} for one in found},
        "groups": {name: _share([run for run in met if run.asked.group == name]) for name in _groups(met)},
        "overall": _share(met),
    }


def _groups(runs: Sequence[Judged]) -> list[str]:
    return sorted({run.asked.group for run in runs})


def _share(runs: Sequence[Judged]) -> Figures:
    right = sum(run.right for run in runs)
    return {"n": len(runs), "right": right, "share": right / len(runs) if runs else None}
