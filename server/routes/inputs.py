"""What runs ask their users, and the answers."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, cast

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field, StringConstraints

from agent.asking import LONGEST_ANSWER, UserQuestion
from domain.errors import NotFoundError, UsageError
from domain.model import JsonObject
from domain.origin import AskedCall, ValueKind, ValueOrigin
from domain.plan_document import PlanDocument
from domain.program import ProgramPlan
from server.dependencies import CurrentServices, CurrentUser
from server.problems import problems
from server.routes.plans import approved
from server.routes.texts import RowId
from server.services import Services
from server.storage.allowed_tools import Reach
from server.storage.inputs import Input, InputKind

router = APIRouter(prefix="/runs/{run_id}/inputs", tags=["runs"], responses=problems(401, 404))
InputId = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9:-]+$"),
    Path(description="The question's id."),
]
Decision = Literal["allow", "deny", "happened", "did_not_happen", "leave", "answer"]
_LEAVE: tuple[Decision, ...] = ("allow", "deny")
DECISIONS: Mapping[InputKind, tuple[Decision, ...]] = {
    "plan": _LEAVE,
    "call": _LEAVE,
    "flow": _LEAVE,
    "unknown_outcome": ("happened", "did_not_happen", "leave"),
    "question": ("answer", "deny"),
}


class DecisionBody(BaseModel):
    """``allow`` and ``deny`` are about a call, a plan or a flow from host to host; ``answer`` and ``deny`` about a question; the others about a call of
    which nobody knows whether it took effect.
    """

    decision: Decision = Field(
        examples=["allow"],
        description="happened: it counts as made. did_not_happen: it is made again, once. leave: it stays unknown. "
        "deny of a question: it is not answered.",
    )
    answer: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_ANSWER)] | int | None = Field(
        default=None,
        description="With answer: what is said to the question, or the place of one of its choices, from 0.",
    )
    always: bool = Field(
        default=False,
        description="With allow: do not ask for this tool again, in any run, while it is where it is and its values have such origins.",
    )


class ShownInput(BaseModel):
    """``decision`` None: it is open. ``answer``: what was said to a question. ``host``: where the call goes; ``origins``: where each of its arguments really comes from. ``calls``: all that
    one answer is about, where they are several calls of one tool.
    """

    id: str
    asks: InputKind
    tool: str
    arguments: JsonObject
    reason: str
    plan: PlanDocument | None = None
    program: ProgramPlan | None = None
    choices: tuple[str, ...] = ()
    summary: str = ""
    undo: str = ""
    host: str = ""
    origins: tuple[ValueOrigin, ...] = ()
    calls: tuple[AskedCall, ...] = ()
    asked_at: datetime
    decision: Decision | None
    answer: str = ""
    answered_at: datetime | None


@router.get("", summary="What a run asks, and what was answered")
async def inputs(run_id: RowId, user: CurrentUser, services: CurrentServices) -> list[ShownInput]:
    if await services.storage.runs.get(run_id, user.id) is None:
        raise NotFoundError("there is no such run")
    return [_shown(one) for one in await services.storage.inputs.all(run_id)]


@router.post("/{input_id}", summary="Answer a run, which then goes on", responses=problems(400, 409))
async def answer(
    run_id: RowId, input_id: InputId, body: DecisionBody, user: CurrentUser, services: CurrentServices
) -> ShownInput:
    asked = await _asked(services, run_id, input_id, user.id)
    kind = asked.kind
    if body.decision not in DECISIONS[kind]:
        raise UsageError(f"this question is answered with one of: {', '.join(DECISIONS[kind])}")
    if body.always and (body.decision != "allow" or kind != "call"):
        raise UsageError("only a call that is allowed can be allowed always")
    if kind == "plan" and body.decision == "allow":
        answered = _shown(await approved(services, run_id, input_id, user.id))
    else:
        said: JsonObject = {"decision": body.decision, **_said(asked, body)}
        answered = _shown(await services.storage.inputs.answer(run_id, input_id, user.id, said))
    if body.always:
        reach = Reach.model_validate(_question(asked).get("reach", {}))
        await services.storage.allowed_tools.allow(user.id, answered.tool, reach, _kinds(answered))
    if kind == "flow":
        hosts, allowed = _question(asked)["flow"], body.decision == "allow"
        await services.storage.host_transfers.decide(user.id, hosts["source"], hosts["target"], allowed=allowed)
    services.worker.look()
    return answered


def _said(asked: Input, body: DecisionBody) -> JsonObject:
    """What answers a question, in its user's words."""
    if (body.decision == "answer") != (body.answer is not None):
        raise UsageError("answer goes with the decision answer, which needs it")
    if body.answer is None:
        return {}
    said = UserQuestion("", "", tuple(_question(asked).get("choices", ()))).chosen(body.answer)
    if not said:
        raise UsageError("the answer says nothing, or there is no choice at that place; the first is 0")
    return {"answer": said}


async def _asked(services: Services, run_id: str, input_id: str, user_id: str) -> Input:
    run = await services.storage.runs.get(run_id, user_id)
    asked = None if run is None else await services.storage.inputs.get(run_id, input_id)
    if asked is None:
        raise NotFoundError("no run of yours asks this")
    return asked


def _question(asked: Input) -> dict[str, Any]:
    return cast("dict[str, Any]", asked.question)


def _kinds(shown: ShownInput) -> set[ValueKind]:
    """What leave is given for that was asked for with these values: for such, and for what a user says."""
    each = (shown.origins, *(one.origins for one in shown.calls))
    return {"said", *(one.kind for origins in each for one in origins)}


def _shown(one: Input) -> ShownInput:
    told = cast("dict[str, Any]", one.answer or {})
    return ShownInput(
        id=one.key,
        asks=one.kind,
        asked_at=one.asked_at,
        decision=told.get("decision"),
        answer=told.get("answer", ""),
        answered_at=one.answered_at,
        **_question(one),
    )
