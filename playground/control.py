"""The playground's own switches, which are no tools: the ledger, the failures, and a reset. Not in the OpenAPI document."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from playground.answered import Answered
from playground.apis.service import refuse
from playground.ledger import Effect
from playground.state import State, attach, operation_of, state_of

router = APIRouter(include_in_schema=False)
Failing = dict[str, list[str]]


@router.get("/health")
async def health() -> dict[str, str]:
    """Whether it answers."""
    return {"status": "ok"}


@router.get("/_ledger")
async def effects(request: Request) -> list[Effect]:
    """All effects, the oldest first."""
    return state_of(request).ledger.effects


@router.delete("/_ledger", status_code=204)
async def forget_effects(request: Request) -> Response:
    """Empty the ledger; what was changed stays changed."""
    state_of(request).ledger.clear()
    return Response(status_code=204)


@router.get("/_answers")
async def answers(request: Request) -> list[Answered]:
    """The latest answers of operations since the reset, the oldest first."""
    return state_of(request).answers


@router.post("/_reset", status_code=204)
async def reset(request: Request) -> Response:
    """As if just started: nothing changed, nothing counted, all failures on."""
    attach(request.app)
    return Response(status_code=204)


@router.get("/_failures")
async def failures(request: Request) -> Failing:
    """The kinds of failure by operation; empty lists where they are switched off."""
    return _switched(request, state_of(request))


@router.put("/_failures/{operation}")
async def switch_failures(
    request: Request, operation: str, on: Annotated[bool, Query(description="Whether it is to fail.")]
) -> Failing:
    """Switch the failures of an operation, or of ``all``."""
    known = set(_declared(request))
    chosen = known if operation == "all" else {operation} & known
    if not chosen:
        refuse(404, f"{operation} has no failures; GET /_failures lists those that have.")
    state = state_of(request)
    state.healthy = state.healthy - chosen if on else state.healthy | chosen
    return _switched(request, state)


@router.put("/_broken/{operation}")
async def break_operation(
    request: Request,
    operation: str,
    on: Annotated[bool, Query(description="Whether it is broken.")],
    status: Annotated[int, Query(ge=400, le=599, description="What it answers then.")] = 503,
) -> dict[str, int]:
    """Break any operation, or mend it: for tests of what learns from failures."""
    if operation not in request.app.state.operations:
        refuse(404, f"{operation} is no operation of the playground.")
    broken = state_of(request).broken
    if on:
        broken[operation] = status
    else:
        broken.pop(operation, None)
    return broken


async def refuse_broken(request: Request) -> None:
    """What goes before every operation: one that was broken refuses."""
    status = state_of(request).broken.get(operation_of(request))
    if status is not None:
        refuse(status, "This service is out of order.")


def _declared(request: Request) -> Failing:
    found: Failing = request.app.state.failures
    return found


def _switched(request: Request, state: State) -> Failing:
    return {name: [] if name in state.healthy else kinds for name, kinds in _declared(request).items()}
