"""Failures as in the wild, declared with the operation that has them, deterministic, and switchable.

``@router.get("/x", dependencies=[fails(busy(every=3))], responses=refusals(e429="…"))``. Counts are the application's, and a
reset sets them back; what depends on the n-th call depends on no clock and no other operation.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from fastapi import Depends, Request
from fastapi.responses import JSONResponse

from playground.apis.service import refuse
from playground.state import operation_of, state_of

Kind = Literal["forbidden", "gone", "timeout", "busy", "broken", "slow", "large", "mislabelled"]


@dataclass(frozen=True, slots=True)
class Failure:
    """How an operation fails.

    ``every``: each n-th call does (1: all). ``first``: the first call with given arguments does, and no later one.
    ``status`` 0 is no refusal: the call is answered after ``seconds``, or in a way of the operation's own.
    """

    kind: Kind
    status: int = 0
    detail: str = ""
    every: int = 1
    first: bool = False
    seconds: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def forbidden(detail: str, every: int = 1) -> Failure:
    """403: a plan, a region, a right that the caller has not."""
    return Failure("forbidden", 403, detail, every)


def gone(detail: str) -> Failure:
    """404 on every call: the operation is still in the catalogue and has been withdrawn."""
    return Failure("gone", 404, detail)


def timeout(every: int) -> Failure:
    """408 on every n-th call."""
    return Failure("timeout", 408, "The request took too long to process. Please repeat it.", every)


def busy(every: int, retry_after: int = 1) -> Failure:
    """429 with Retry-After (seconds) on every n-th call; the next one works."""
    headers = {"Retry-After": str(retry_after)}
    return Failure("busy", 429, f"Too many requests. Repeat after {retry_after} s.", every, headers=headers)


def broken() -> Failure:
    """500 on the first call with given arguments; repeated, it works."""
    return Failure("broken", 500, "Internal error. It has been reported.", first=True)


def slow(seconds: float) -> Failure:
    """Answers are right and late."""
    return Failure("slow", seconds=seconds)


LARGE = Failure("large")
"""The operation's answers have 300 KB and more."""
MISLABELLED = Failure("mislabelled")
"""The answers are JSON and say that they are HTML; the operation's ``response_class`` is :class:`MislabelledJson`."""


class MislabelledJson(JSONResponse):
    """JSON that says it is HTML, as some old servers do. The OpenAPI document says JSON: that is the failure."""

    def init_headers(self, headers: Mapping[str, str] | None = None) -> None:
        super().init_headers(headers)
        self.headers["content-type"] = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """The dependency that lets calls of an operation fail."""

    failures: tuple[Failure, ...]

    async def __call__(self, request: Request) -> None:
        operation = operation_of(request)
        if operation in state_of(request).healthy:
            return
        for failure in self.failures:
            if not _due(failure, operation, request):
                continue
            await asyncio.sleep(failure.seconds)
            if failure.status:
                refuse(failure.status, failure.detail, dict(failure.headers))


def fails(*failures: Failure) -> Any:
    """What goes into ``dependencies`` of an operation."""
    call: Callable[[Request], Awaitable[None]] = Fault(failures)
    return Depends(call)


def _due(failure: Failure, operation: str, request: Request) -> bool:
    if failure.first:
        return state_of(request).visit(f"{operation} {failure.kind} {request.url.path}?{request.url.query}") == 1
    if failure.every == 1:
        return True
    return state_of(request).visit(f"{operation} {failure.kind}") % failure.every == 0
